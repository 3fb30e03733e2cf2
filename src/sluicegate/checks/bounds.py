"""The rung that bounds bytes and nesting before a tree is built (SPEC ARG-1, RES-1).

Memory grows up to 28 times the text (facts: engines 1), and the validator dies on very deep
values (facts: security 0.2): neither may meet a text that nobody measured.
"""

from __future__ import annotations

import re
from typing import Any, Final, NewType

from sluicegate.checks.delivery import Delivered
from sluicegate.checks.positions import locate_byte
from sluicegate.values.codes import Code, Stage
from sluicegate.values.findings import Finding
from sluicegate.values.limits import Limits
from sluicegate.values.rejections import Rejected

BoundedArguments = NewType("BoundedArguments", bytes)
BoundedAnswer = NewType("BoundedAnswer", bytes)

# Possessive, or the text `"\` repeated costs more than the square of its length. The closing quote
# may be absent: brackets inside an unterminated string are text as well.
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_STRING_OR_BRACKET: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))
_OPENERS: Final = frozenset(b"[{")


def bound_arguments(raw: bytes, limits: Limits, count_nesting: bool) -> BoundedArguments | Rejected:
    """Admit the text of a call's arguments within ``limits``.

    ``count_nesting`` counts nesting exactly on the raw text, in time linear to it; without it
    only bytes are counted, for callers that bound the depth elsewhere. Rejects: TOO_LARGE,
    TOO_DEEP (stage bound). Source: SPEC ARG-1.
    """
    if count_nesting or len(raw) > limits.max_bytes:
        refused = _refuse(raw, limits, count_nesting)
        if refused is not None:
            return refused
    minted: Any = raw
    bounded: BoundedArguments = minted
    return bounded


def bound_answer(
    delivered: Delivered, limits: Limits, count_nesting: bool
) -> BoundedAnswer | Rejected:
    """Admit the text of an answer within ``limits``; as ``bound_arguments``. Source: SPEC RES-1."""
    if count_nesting or len(delivered) > limits.max_bytes:
        refused = _refuse(delivered, limits, count_nesting)
        if refused is not None:
            return refused
    minted: Any = delivered
    bounded: BoundedAnswer = minted
    return bounded


def _refuse(raw: bytes, limits: Limits, count_nesting: bool) -> Rejected | None:
    if len(raw) > limits.max_bytes:
        return _too_large(raw, limits)
    if not count_nesting:
        return None
    offset = find_excess(raw, limits.max_depth)
    return None if offset is None else too_deep(raw, offset, limits.max_depth)


def find_excess(raw: bytes, max_depth: int) -> int | None:
    """Return the offset of the first bracket that nests deeper than ``max_depth``, or None.

    Brackets inside strings do not count, also where the text is no JSON or breaks off.
    """
    if raw.count(b"[") + raw.count(b"{") <= max_depth:
        return None
    depth = 0
    for byte in _STRING.sub(b"", raw).translate(None, _NO_BRACKETS):
        if byte in _OPENERS:
            depth += 1
            if depth > max_depth:
                return _offset_of_excess(raw, max_depth)
        elif depth:
            depth -= 1
    return None


def _offset_of_excess(raw: bytes, max_depth: int) -> int:
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(raw):
        byte = raw[match.start()]
        if byte in _OPENERS:
            depth += 1
            if depth > max_depth:
                return match.start()
        elif byte != 0x22 and depth:
            depth -= 1
    raise AssertionError("both counts follow the same rule")


def too_deep(raw: bytes, offset: int, max_depth: int, pointer: str = "") -> Rejected:
    """Return the refusal for a bracket at ``offset`` that nests deeper than ``max_depth``."""
    line, column = locate_byte(raw, offset)
    return Rejected.because(
        Stage.BOUND,
        Finding(
            code=Code.TOO_DEEP,
            pointer=pointer,
            expected=f"at most {max_depth} nested arrays and objects",
            limit=str(max_depth),
            hint="send a flatter document",
            offset=offset,
            line=line,
            column=column,
        ),
    )


def _too_large(raw: bytes, limits: Limits) -> Rejected:
    return Rejected.because(
        Stage.BOUND,
        Finding(
            code=Code.TOO_LARGE,
            expected=f"at most {limits.max_bytes} bytes",
            received_size=len(raw),
            limit=str(limits.max_bytes),
            hint="send less, or ask for less",
        ),
    )
