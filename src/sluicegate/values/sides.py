"""The two sides of a contract."""

from __future__ import annotations

from typing import Literal, TypeAlias

SideName: TypeAlias = Literal["arguments", "result"]
"""``arguments``: what an agent calls with; ``result``: what its tool answers."""
