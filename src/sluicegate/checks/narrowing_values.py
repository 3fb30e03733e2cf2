"""The type normalisers of ``upstream.map``: exact, or refused (SPEC RES-3).

Each takes a parsed JSON value and returns another one, or REFUSED where anything is in doubt:
where digits would be lost, a text is not in canonical form, or the type is not one it names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Final


class Refused:
    """The answer of a normaliser in doubt; never confused with JSON null."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "REFUSED"


REFUSED: Final = Refused()


@dataclass(frozen=True, slots=True, kw_only=True)
class Normaliser:
    """``expected`` says, for a finding, what ``convert`` takes."""

    convert: Callable[[object], object]
    expected: str


MAX_EXACT: Final = 2**53 - 1
"""Beyond it a JSON number that was written with a fraction or an exponent has lost digits."""

_INTEGER: Final = re.compile(r"-?[1-9][0-9]{0,63}|0", re.ASCII)
_NUMBER: Final = re.compile(
    r"-?(?:0|[1-9][0-9]{0,63})(?:\.[0-9]{1,64})?(?:[eE][+-]?[0-9]{1,4})?", re.ASCII
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_S: Final = -62_135_596_800
_LAST_S: Final = 253_402_300_799
"""0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z, the years that RFC 3339 and Python share."""


def _integral(value: object) -> int | Refused:
    """A JSON number without a fraction, exactly: ``7``, ``7.0``, not ``1e300``, not ``true``."""
    if type(value) is int:
        return value
    if type(value) is float and abs(value) <= MAX_EXACT and value.is_integer():
        return int(value)
    return REFUSED


def to_integer(value: object) -> object:
    """Return the integer of an integral number or of its canonical decimal text."""
    if type(value) is str:
        return int(value) if _INTEGER.fullmatch(value) else REFUSED
    return _integral(value)


def to_number(value: object) -> object:
    """Return a number as it is, or the number that a text spells in JSON's own grammar.

    A fraction is rounded as it would be in a JSON document; overflow and ``-0`` are refused, and
    a text that would round to zero though it is not zero.
    """
    if type(value) is int:
        return value
    if type(value) is float:
        return value if math.isfinite(value) else REFUSED
    if type(value) is not str or not _NUMBER.fullmatch(value):
        return REFUSED
    if _INTEGER.fullmatch(value):
        return int(value)
    number = float(value)
    if not math.isfinite(number):
        return REFUSED
    if number == 0 and (value[0] == "-" or any(digit in "123456789" for digit in _mantissa(value))):
        return REFUSED
    return number


def _mantissa(text: str) -> str:
    return text.replace("E", "e").partition("e")[0]


def to_string(value: object) -> object:
    """Return a text as it is; an integer in decimal; a boolean as ``true`` or ``false``."""
    if type(value) is str:
        return value
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is int and -(10**64) < value < 10**64:
        return str(value)
    return REFUSED


def to_boolean(value: object) -> object:
    """Return a boolean as it is, or that of the texts ``true`` and ``false``."""
    if type(value) is bool:
        return value
    if type(value) is str and value in ("true", "false"):
        return value == "true"
    return REFUSED


def from_epoch_s(value: object) -> object:
    """Return whole seconds since 1970 as RFC 3339 text in UTC, years 1 to 9999."""
    seconds = _integral(value)
    if isinstance(seconds, Refused) or not _FIRST_S <= seconds <= _LAST_S:
        return REFUSED
    return _text_of(seconds) + "Z"


def from_epoch_ms(value: object) -> object:
    """Return whole milliseconds since 1970 as RFC 3339 text in UTC, with three digits."""
    milliseconds = _integral(value)
    if isinstance(milliseconds, Refused):
        return REFUSED
    seconds, fraction = divmod(milliseconds, 1000)
    if not _FIRST_S <= seconds <= _LAST_S:
        return REFUSED
    return f"{_text_of(seconds)}.{fraction:03}Z"


def _text_of(seconds: int) -> str:
    return (_EPOCH + timedelta(seconds=seconds)).replace(tzinfo=None).isoformat()


NORMALISERS: Final[Mapping[str, Normaliser]] = MappingProxyType(
    {
        "integer": Normaliser(
            convert=to_integer, expected="an integral number or its canonical decimal text"
        ),
        "number": Normaliser(convert=to_number, expected="a number or its text"),
        "string": Normaliser(convert=to_string, expected="a string, an integer or a boolean"),
        "boolean": Normaliser(convert=to_boolean, expected='a boolean, "true" or "false"'),
        "epoch_s": Normaliser(convert=from_epoch_s, expected="whole seconds since 1970"),
        "epoch_ms": Normaliser(convert=from_epoch_ms, expected="whole milliseconds since 1970"),
    }
)
