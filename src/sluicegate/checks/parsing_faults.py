"""Where and how a text breaks the rules of ARG-2: told only after a refusal.

The engine's texts cannot carry the codes (NaN, a byte order mark and UTF-16 all read "expected
value") and echo member names whole (facts: engines 1, 7).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sluicegate.checks.parsing_scan import Found, Scan
from sluicegate.values.codes import Code
from sluicegate.values.limits import ENGINE_MAX_DEPTH

_STAND_IN: Final = "\ufffd".encode()
_AT_STAND_IN: Final = frozenset({Code.NOT_JSON, Code.TRAILING_DATA})


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFault:
    """The first fault: ``offset`` in bytes from 0; ``pointer`` names the place, fit to be shown."""

    code: Code
    offset: int
    pointer: str
    hint: str


def find_fault(
    raw: bytes, *, max_depth: int = ENGINE_MAX_DEPTH, i_json: bool = False
) -> TextFault | None:
    """Return the first fault of ``raw`` under ARG-2, or None if it is a sound document.

    ``max_depth`` gives TOO_DEEP; ``i_json`` refuses integers beyond ±(2^53−1). UTF-8 is judged
    first, over the whole text. Source: SPEC ARG-2, RES-2; RFC 8259; RFC 7493.
    """
    broken = _find_encoding_fault(raw)
    if broken is not None and broken.code is not Code.TRUNCATED:
        return broken
    # A text that breaks off inside a character may break off inside a string: try a stand-in.
    text = raw if broken is None else raw[: broken.offset] + _STAND_IN
    scan = Scan(text, max_depth, i_json)
    try:
        scan.run()
    except Found as found:
        if broken is not None and found.code in _AT_STAND_IN and found.offset == broken.offset:
            return _at(Code.NOT_UTF8, broken.offset, "the bytes are not UTF-8")
        return TextFault(
            code=found.code,
            offset=min(found.offset, len(raw)),
            pointer=scan.pointer(),
            hint=found.hint,
        )
    return None


def _find_encoding_fault(raw: bytes) -> TextFault | None:
    """NOT_UTF8; EMPTY; or TRUNCATED where the text breaks off inside its last character."""
    if raw.startswith(b"\xef\xbb\xbf"):
        return _at(Code.NOT_UTF8, 0, "send plain UTF-8 without a byte order mark")
    head = raw[:4]
    if len(raw) > 1 and len(raw) % 2 == 0 and (head[0] == 0) != (head[1] == 0):
        return _at(Code.NOT_UTF8, 0, "this looks like UTF-16 or UTF-32: send UTF-8")
    if len(raw) % 4 == 0 and head.count(0) == 3:
        return _at(Code.NOT_UTF8, 0, "this looks like UTF-16 or UTF-32: send UTF-8")
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            return _at(Code.TRUNCATED, error.start, "the text breaks off inside a character")
        return _at(Code.NOT_UTF8, error.start, "the bytes are not UTF-8")
    if not raw.strip(b" \t\r\n"):
        return _at(Code.EMPTY, 0, "send one JSON document")
    return None


def _at(code: Code, offset: int, hint: str) -> TextFault:
    return TextFault(code=code, offset=offset, pointer="", hint=hint)
