"""A schema as it is handed in → a plain, bounded copy that nobody else holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from sluicegate.contracts.schemas.faults import SchemaFault
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonValue
from sluicegate.values.names import show_name
from sluicegate.values.pointers import join_segments

MAX_NESTING: Final = 100
MAX_VALUES: Final = 50_000
MAX_CHARACTERS: Final = 1_000_000
MAX_INTEGER_BITS: Final = 14_280
"""About 4,300 digits: beyond them the engine compares an integer as 0 (facts: engines 6.1)."""


class _Unfit(Exception):  # noqa: N818 - control flow inside this module, never seen outside
    def __init__(self, code: Code, at: tuple[str, ...], message: str, mend: str) -> None:
        self.fault = SchemaFault(code=code, pointer=join_segments(at), message=message, mend=mend)
        super().__init__(message)


def take_in(value: object, resource: str | None = None) -> JsonValue | SchemaFault:
    """Return a deep copy of ``value`` made of plain dicts, lists and scalars.

    Shape: JSON only; text keys; finite numbers; no lone surrogates. A value that is shared in
    several places is copied at each, and counted at each. Returns a fault, SCHEMA_TOO_COMPLEX
    beyond 100 levels, 50,000 values or a million characters, SCHEMA_META_INVALID for what is not
    JSON. Source: SPEC CON-2.
    """
    try:
        return _Copier().copy(value, ())
    except _Unfit as unfit:
        fault = unfit.fault
        return SchemaFault(
            code=fault.code,
            pointer=fault.pointer,
            message=fault.message,
            mend=fault.mend,
            resource=resource,
        )


class _Copier:
    __slots__ = ("_characters", "_values")

    def __init__(self) -> None:
        self._values = 0
        self._characters = 0

    def copy(self, value: object, at: tuple[str, ...]) -> JsonValue:
        self._values += 1
        if self._values > MAX_VALUES or len(at) > MAX_NESTING:
            raise _Unfit(
                Code.SCHEMA_TOO_COMPLEX,
                at[:8],
                f"the schema has more than {MAX_VALUES} values or {MAX_NESTING} levels.",
                "Split the tool, or move what repeats into `$defs`.",
            )
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(value, at)
        if isinstance(value, int | float):
            return _number(value, at)
        if isinstance(value, Mapping):
            return {
                self._text(name, at): self.copy(inner, (*at, str(name)))
                for name, inner in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.copy(inner, (*at, str(index))) for index, inner in enumerate(value)]
        raise _Unfit(
            Code.SCHEMA_META_INVALID,
            at,
            f"a value of the Python type {show_name(type(value).__name__)} is no JSON.",
            "Write JSON values only.",
        )

    def _text(self, text: object, at: tuple[str, ...]) -> str:
        if not isinstance(text, str):
            raise _Unfit(
                Code.SCHEMA_META_INVALID,
                at,
                "a member name is not text.",
                "Put the name into quotation marks.",
            )
        self._characters += len(text)
        if self._characters > MAX_CHARACTERS:
            raise _Unfit(
                Code.SCHEMA_TOO_COMPLEX,
                (),
                f"the schema has more than {MAX_CHARACTERS} characters.",
                "Split the tool, or move what repeats into `$defs`.",
            )
        try:
            text.encode()
        except UnicodeEncodeError:
            raise _Unfit(
                Code.SCHEMA_META_INVALID,
                (),
                "a text of the schema holds half of a surrogate pair.",
                "Write the whole character.",
            ) from None
        return str.__str__(text)


def _number(value: int | float, at: tuple[str, ...]) -> JsonValue:
    if isinstance(value, int):
        if value.bit_length() <= MAX_INTEGER_BITS:
            return int(value)
    elif math.isfinite(value):
        return float(value)
    raise _Unfit(
        Code.SCHEMA_META_INVALID,
        at,
        "a number is infinite, not a number, or has more than 4,300 digits.",
        "Write a number that JSON and the engine can hold.",
    )
