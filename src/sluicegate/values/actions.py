"""What a caller may want to do with a tool: the action of a question to a decision point."""

from __future__ import annotations

from typing import Final

CALL: Final = "call"
"""The one action that a gate asks about (SPEC ACC-1)."""
