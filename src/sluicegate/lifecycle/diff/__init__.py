"""What changed between two versions of a contract or schema, and for whom that breaks (LIF-3)."""
