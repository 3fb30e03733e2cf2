"""The audit record and the custody of raw bytes, behind the AuditStore port."""
