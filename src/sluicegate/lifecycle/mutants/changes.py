"""One change at one place, before it is spelt out: what an operator yields."""

from __future__ import annotations

from dataclasses import dataclass

from sluicegate.values.json import JsonValue
from sluicegate.values.pointers import Nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """``value`` stands at ``segments`` afterwards; NOTHING: the member is gone.

    ``keyword`` must refuse it; ``rule`` is the lint rule that closes the hole where it is missing.
    Empty: what the schema admits here was declared, and no change that it admits is a mutant.
    """

    operator: str
    segments: tuple[str | int, ...]
    value: JsonValue | Nothing
    keyword: str
    rule: str = ""
