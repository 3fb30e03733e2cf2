"""A schema that has been registered: what the rungs need of it, computed once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from jsonschema_rs import Draft202012Validator

from sluicegate.values.json import JsonObject

Predicate: TypeAlias = Callable[[object], bool]
"""A compiled native check over a parsed JSON value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledSchema:
    """``document`` is the effective schema: bundled, self-contained, as advertised.

    ``is_valid`` is the bound method of ``validator``. Only values that jiter parsed may be handed
    in (facts: engines 6).
    """

    document: JsonObject
    validator: Draft202012Validator
    is_valid: Predicate
