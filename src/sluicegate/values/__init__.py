"""Frozen records that every room shares. Standard library only; no I/O, no clock."""
