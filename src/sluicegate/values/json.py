"""The shape of a JSON value once it has been parsed, and its one canonical text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

JsonValue: TypeAlias = (
    "str | int | float | bool | None | Sequence[JsonValue] | Mapping[str, JsonValue]"
)
JsonObject: TypeAlias = "Mapping[str, JsonValue]"

# One encoder for all: json.dumps builds a new one for each call with options.
_write_canonical = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
).encode


def identity_text(value: object) -> str:
    """Return a text that is the same for equal JSON values, however their numbers are spelt.

    ``1``, ``1.0`` and ``1e0`` are one value, and so are ``0`` and ``-0.0`` (JSON Schema, section
    4.2.2). Raises: as ``canonical_text``.
    """
    return canonical_text(_with_plain_numbers(value))


def _with_plain_numbers(value: object) -> object:
    if isinstance(value, str):  # most are; the question below asks an abstract class
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict | Mapping):
        return {name: _with_plain_numbers(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_with_plain_numbers(item) for item in value]
    return value


def canonical_text(value: object) -> str:
    """Return the canonical JSON text of ``value``: members sorted by code point, no blanks.

    Shape: any JSON value; integers are written exactly, floats as Python's shortest round trip.
    Raises: ValueError for NaN and infinities; TypeError for what is not JSON.
    Source: RFC 8785 in spirit; integers beyond 2**53 stay exact, which RFC 8785 forbids.
    """
    return _write_canonical(value)


def json_type(value: object) -> str:
    """Return the JSON Schema type name of ``value``; an integral float is ``number``."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, Mapping):
        return "object"
    return "array"
