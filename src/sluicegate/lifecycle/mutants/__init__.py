"""Wrong documents made of accepted ones, each with the rung that must refuse it (SPEC LIF-2)."""
