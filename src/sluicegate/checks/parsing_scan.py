"""One pass over a text that is no sound document, up to its first fault (SPEC ARG-2).

Iterative and linear; no tree is built, and nothing is read by a parser that repairs.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from enum import Enum, auto
from math import isinf
from typing import Final, NoReturn

from sluicegate.values.codes import Code
from sluicegate.values.limits import ENGINE_MAX_DIGITS
from sluicegate.values.names import show_name
from sluicegate.values.pointers import join_segments

SAFE_INTEGER: Final = 2**53 - 1
"""The greatest integer that every binary64 reader keeps. Source: RFC 7493 section 2.2."""

_BLANKS: Final = re.compile(rb"[ \t\r\n]*+")
_STRING: Final = re.compile(
    rb'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+'
)
_CUT_ESCAPE: Final = re.compile(rb"\\(?:u[0-9a-fA-F]{0,3}+)?")
_ESCAPE: Final = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_NUMBER: Final = re.compile(rb"-?(?:0|[1-9][0-9]*+)((?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+)")
_CUT_NUMBER: Final = re.compile(
    rb"-(?:(?:0|[1-9][0-9]*+)\.)?|(?:0|[1-9][0-9]*+)\."
    rb"|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+[eE][+-]?"
)
_CONTINUED: Final = re.compile(rb"[0-9A-Za-z_.+\-\x80-\xff]")
_NON_FINITE: Final = re.compile(rb"(?:NaN|-?Infinity)(?![0-9A-Za-z_.+\-\x80-\xff])")
_CUT_TRAILING_HALF: Final = re.compile(rb"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?")
# Runs that hold no fault whatever follows: the scan leaps over them, or a hostile text of a quarter
# megabyte would hold the interpreter for half a second. No comma stands in them but between items.
_PLAIN: Final = (
    rb'(?:-?(?:0|[1-9][0-9]{0,14}+)(?:\.[0-9]{1,30}+)?+|true|false|null|"[^"\\\x00-\x1f,]*+")'
)
_COMMA: Final = rb"[ \t\r\n]*+,[ \t\r\n]*+"
_NAME: Final = rb'"([^"\\\x00-\x1f,]*+)"[ \t\r\n]*+:[ \t\r\n]*+'
_PLAIN_ITEMS: Final = re.compile(
    rb"(?:(?:" + _PLAIN + rb"|\[\]|\{\}|\{" + _NAME + _PLAIN + rb"\})" + _COMMA + rb")++"
)
_PLAIN_MEMBERS: Final = re.compile(rb"(?:" + _NAME + _PLAIN + _COMMA + rb")++")
_PLAIN_NAME: Final = re.compile(_NAME + _PLAIN + _COMMA)
_LITERALS: Final = (b"true", b"false", b"null")

_STRANGERS: Final = (
    (b"<", "this looks like HTML or XML"),
    (b"```", "send the document without a Markdown fence"),
    (b"'", "strings stand in double quotes"),
    (b"//", "comments are no JSON"),
    (b"/*", "comments are no JSON"),
    (b"#", "comments are no JSON"),
    (b"True", "this looks like Python: write true"),
    (b"False", "this looks like Python: write false"),
    (b"None", "this looks like Python: write null"),
)


class _Expect(Enum):
    VALUE = auto()
    FIRST_ITEM = auto()
    FIRST_NAME = auto()
    NAME = auto()
    NEXT = auto()


@dataclass(slots=True)
class _Frame:
    is_object: bool
    segment: str | int | None
    names: set[str] = field(default_factory=set)
    may_leap: bool = True


class Found(Exception):  # noqa: N818  (carries a finding out of the scan; nothing failed)
    """The first fault: its code, its offset in bytes from 0, and a constant hint."""

    def __init__(self, code: Code, offset: int, hint: str) -> None:
        self.code, self.offset, self.hint = code, offset, hint


class Scan:
    """One pass over one text, without recursion."""

    __slots__ = ("_at", "_frames", "_i_json", "_max_depth", "_raw")

    def __init__(self, raw: bytes, max_depth: int, i_json: bool) -> None:
        self._raw = raw
        self._at = 0
        self._frames: list[_Frame] = []
        self._max_depth = max_depth
        self._i_json = i_json

    def pointer(self) -> str:
        """The pointer of the place that has been reached, its names fit to be shown."""
        return join_segments(
            [
                show_name(frame.segment) if isinstance(frame.segment, str) else frame.segment
                for frame in self._frames
                if frame.segment is not None
            ]
        )

    def run(self) -> None:
        """Scan to the end. Raises: Found at the first fault."""
        expect = _Expect.VALUE
        while True:
            self._skip_blanks()
            if expect is _Expect.NEXT and not self._frames:
                break
            expect = self._advance(expect)
        if self._at < len(self._raw):
            self._stop(Code.TRAILING_DATA, "send one document and nothing after it")

    def _advance(self, expect: _Expect) -> _Expect:
        if self._at == len(self._raw):
            self._stop(Code.TRUNCATED, "the document breaks off: send it whole")
        byte = self._raw[self._at : self._at + 1]
        if expect is _Expect.NEXT:
            return self._next(byte)
        if expect is _Expect.FIRST_NAME and byte == b"}":
            return self._close()
        if expect is _Expect.FIRST_ITEM and byte == b"]":
            return self._close()
        if expect is _Expect.FIRST_NAME or expect is _Expect.NAME:
            if self._leap_members():
                return _Expect.NAME
            return self._name(byte)
        if self._leap_items():
            return _Expect.VALUE
        if byte == b"{" or byte == b"[":
            return self._open(byte == b"{")
        if byte == b'"':
            self._string()
        elif byte in b"-0123456789" and not _NON_FINITE.match(self._raw, self._at):
            self._number()
        else:
            self._literal()
        return _Expect.NEXT

    def _leap_items(self) -> bool:
        """Leap over plain items of an array; each is followed by a comma."""
        frame = self._frames[-1] if self._frames else None
        if frame is None or not isinstance(frame.segment, int):
            return False
        if len(self._frames) == self._max_depth:  # an empty array would be too deep
            return False
        match = _PLAIN_ITEMS.match(self._raw, self._at)
        if match is None:
            return False
        frame.segment += match[0].count(b",")
        self._at = match.end()
        return True

    def _leap_members(self) -> bool:
        """Leap over plain members of an object; each is followed by a comma."""
        frame = self._frames[-1]
        match = _PLAIN_MEMBERS.match(self._raw, self._at) if frame.may_leap else None
        if match is None:
            return False
        names = [name.decode() for name in _PLAIN_NAME.findall(match[0])]
        if len(set(names)) < len(names) or not frame.names.isdisjoint(names):
            frame.may_leap = False  # go step by step to the second one, and do not try again
            return False
        frame.names.update(names)
        self._at = match.end()
        return True

    def _next(self, byte: bytes) -> _Expect:
        frame = self._frames[-1]
        if byte == (b"}" if frame.is_object else b"]"):
            return self._close()
        if byte != b",":
            self._stop_strange("a comma or a closing bracket must stand here")
        self._at += 1
        if frame.is_object:
            frame.segment = None
            return _Expect.NAME
        if isinstance(frame.segment, int):
            frame.segment += 1
        return _Expect.VALUE

    def _open(self, is_object: bool) -> _Expect:
        if len(self._frames) == self._max_depth:
            self._stop(Code.TOO_DEEP, "send a flatter document")
        self._frames.append(_Frame(is_object, None if is_object else 0))
        self._at += 1
        return _Expect.FIRST_NAME if is_object else _Expect.FIRST_ITEM

    def _close(self) -> _Expect:
        self._frames.pop()
        self._at += 1
        return _Expect.NEXT

    def _name(self, byte: bytes) -> _Expect:
        start = self._at
        if byte != b'"':
            self._stop_strange(
                "a comma stands before the closing bracket"
                if byte == b"}"
                else "a member name in double quotes must stand here"
            )
        token = self._string()
        name: str = json.loads(token) if b"\\" in token else token[1:-1].decode()
        frame = self._frames[-1]
        frame.segment = name
        if name in frame.names:
            self._at = start
            self._stop(Code.DUPLICATE_MEMBER, "name each member once")
        frame.names.add(name)
        self._skip_blanks()
        if self._at == len(self._raw):
            self._stop(Code.TRUNCATED, "the document breaks off: send it whole")
        if self._raw[self._at : self._at + 1] != b":":
            self._stop_strange("a colon must stand after a member name")
        self._at += 1
        return _Expect.VALUE

    def _string(self) -> bytes:
        start = self._at
        match = _STRING.match(self._raw, start)
        end = match.end() if match else start
        if b"\\u" in self._raw[start:end]:
            self._judge_surrogates(start, end)
        byte = self._raw[end : end + 1]
        if byte == b'"':
            self._at = end + 1
            return self._raw[start : self._at]
        self._at = end
        if not byte or _CUT_ESCAPE.fullmatch(self._raw, end):
            self._at = len(self._raw)
            self._stop(Code.TRUNCATED, "the document breaks off inside a string")
        if byte == b"\\":
            self._stop(Code.NOT_JSON, "this escape is no JSON escape")
        raise Found(Code.NOT_JSON, end, "escape control characters inside strings")

    def _judge_surrogates(self, start: int, end: int) -> None:
        """Each leading half must be followed at once by a trailing half, and none stands alone."""
        leading: int | None = None
        for match in _ESCAPE.finditer(self._raw, start, end):
            point = int(match[1], 16) if match[1] else 0
            is_trailing = 0xDC00 <= point <= 0xDFFF
            if leading is not None:
                if not is_trailing or match.start() != leading + 6:
                    break
                leading = None
            elif is_trailing or 0xD800 <= point <= 0xDBFF:
                leading = match.start()
                if is_trailing:
                    break
        else:
            if leading is None or (
                leading + 6 == end and _CUT_TRAILING_HALF.fullmatch(self._raw, end)
            ):
                return  # none, or the text breaks off where the other half could stand
        if leading is not None:
            self._at = leading
            self._stop(Code.LONE_SURROGATE, "escape a character beyond U+FFFF as a pair")

    def _number(self) -> None:
        start = self._at
        match = _NUMBER.match(self._raw, start)
        end = match.end() if match else start
        if match is None or _CONTINUED.match(self._raw, end):
            if _CUT_NUMBER.fullmatch(self._raw, start):
                self._at = len(self._raw)
                self._stop(Code.TRUNCATED, "the document breaks off inside a number")
            self._stop(Code.NOT_JSON, "this is not a JSON number")
        token = match[0]
        if match[1]:
            number = float(token)
            if isinf(number):
                self._stop(Code.NON_FINITE_NUMBER, "the number overflows binary64")
            if self._i_json and number.is_integer() and abs(number) > SAFE_INTEGER:
                self._stop(Code.UNSAFE_INTEGER, "send a whole number beyond 2^53-1 as a string")
        elif len(token.lstrip(b"-")) > ENGINE_MAX_DIGITS:
            self._stop(Code.NON_FINITE_NUMBER, f"an integer has at most {ENGINE_MAX_DIGITS} digits")
        elif self._i_json and (len(token) > 17 or abs(int(token)) > SAFE_INTEGER):
            self._stop(Code.UNSAFE_INTEGER, "send an integer beyond 2^53-1 as a string")
        self._at = end

    def _literal(self) -> None:
        raw, start = self._raw, self._at
        if _NON_FINITE.match(raw, start):
            self._stop(Code.NON_FINITE_NUMBER, "NaN and Infinity are no JSON numbers")
        for literal in _LITERALS:
            end = start + len(literal)
            if raw.startswith(literal, start) and not _CONTINUED.match(raw, end):
                self._at = end
                return
            if end > len(raw) and literal.startswith(raw[start:]):
                self._at = len(raw)
                self._stop(Code.TRUNCATED, "the document breaks off inside a literal")
        if raw.startswith(b"]", start) and self._frames:
            self._stop(Code.NOT_JSON, "a comma stands before the closing bracket")
        self._stop_strange(
            "a value must stand here"
            if self._frames
            else "the text does not begin with a JSON document: send that and nothing else"
        )

    def _skip_blanks(self) -> None:
        match = _BLANKS.match(self._raw, self._at)
        if match is not None:
            self._at = match.end()

    def _stop_strange(self, otherwise: str) -> NoReturn:
        for head, hint in _STRANGERS:
            if self._raw.startswith(head, self._at):
                self._stop(Code.NOT_JSON, hint)
        self._stop(Code.NOT_JSON, otherwise)

    def _stop(self, code: Code, hint: str) -> NoReturn:
        raise Found(code, self._at, hint)
