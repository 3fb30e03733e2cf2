"""Strings that spell another JSON value: ``"10"`` where 10 is wanted (SPEC ARG-3, STRINGIFIED)."""

from __future__ import annotations

import re
from collections.abc import Collection
from math import isfinite
from typing import Final

import jiter

from sluicegate.values.json import json_type

_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?", re.ASCII)
_MAX_NUMBER: Final = 64
_MAX_TEXT: Final = 65_536


def spelled_type(text: str, wanted: Collection[str]) -> str | None:
    """Return which of the ``wanted`` types ``text`` spells exactly, or None.

    Blanks around it are no spelling: ``" 5"`` is a text. Null is never spelled: its word is a
    common text.
    """
    if text in {"true", "false"}:
        return "boolean" if "boolean" in wanted else None
    if len(text) <= _MAX_NUMBER and _NUMBER.fullmatch(text):
        number = float(text)
        if "integer" in wanted and number.is_integer():
            return "integer"
        return "number" if "number" in wanted and isfinite(number) else None
    bracket = {"[": "array", "{": "object"}.get(text[:1])
    if bracket in wanted and text[-1] in "]}" and len(text) <= _MAX_TEXT:
        value = parse_spelled(text)
        return bracket if json_type(value) == bracket else None
    return None


def parse_spelled(text: str) -> object:
    """Return the JSON value that ``text`` spells, or None; only to compare, never to use."""
    try:
        value: object = jiter.from_json(
            text.encode(), allow_inf_nan=False, cache_mode="none", catch_duplicate_keys=True
        )
    except ValueError:
        return None
    return value
