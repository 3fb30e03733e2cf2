"""Lint: what a schema or contract allows although nobody may have meant it (SPEC LIF-1)."""
