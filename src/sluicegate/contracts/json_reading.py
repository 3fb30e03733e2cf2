"""JSON documents of a contract folder: strict, and with line and column of every place."""

from __future__ import annotations

import json
import math
import re
from typing import Final, TypeAlias

import jiter

from sluicegate.contracts.marks import Document, Mark, Marks
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.quoting import WORD, is_quotable
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonValue
from sluicegate.values.names import show_name
from sluicegate.values.pointers import escape_segment

MAX_BYTES: Final = 1_048_576
MAX_DEPTH: Final = 128
BYTE_ORDER_MARK: Final = "\ufeff"

_AT: Final = re.compile(r"(?s)(.*) at line (\d+) column (\d+)")
# At the end of the text too: blanks that no token follows would be tried from each of them anew.
_TOKEN: Final = re.compile(
    r'[\s,:]*+(?:([\[{])|([\]}])|("(?:[^"\\]|\\.)*+")|([^\s,:\[\]{}"]++)|\Z)'
)

_Frame: TypeAlias = "tuple[int, bool, list[int]]"
"""Number of the place, whether it is an object, and (in a list of one) how many items began."""

_ROOT: Final = 0


class _Places:
    """The places of a text by number, each linked to the one around it.

    With its whole pointer, each item of an array would hold the long names around it once more.
    """

    __slots__ = ("_numbers", "keys", "values")

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, str], int] = {}
        self.values: dict[int, Mark] = {}
        self.keys: dict[int, Mark] = {}

    def add(self, around: int, segment: str) -> int:
        number = len(self._numbers) + 1
        self._numbers[around, segment] = number
        return number

    def find(self, pointer: str) -> int | None:
        number = _ROOT
        for segment in pointer.split("/")[1:]:
            inner = self._numbers.get((number, segment))
            if inner is None:
                return None
            number = inner
        return number


class _Marked:
    """The marks of places by pointer text."""

    __slots__ = ("_marks", "_places")

    def __init__(self, places: _Places, marks: dict[int, Mark]) -> None:
        self._places = places
        self._marks = marks

    def get(self, pointer: str) -> Mark | None:
        number = self._places.find(pointer)
        return None if number is None else self._marks.get(number)


def decode_text(name: str, raw: bytes, max_bytes: int) -> str | Problem:
    """Return the text of a document within its limits: UTF-8, no byte order mark, not blank."""
    if len(raw) > max_bytes:
        return fault_of(name, f"has more than {max_bytes} bytes.", "Split the document.")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8")
        return fault_of(
            name, "is not UTF-8 here.", "Save it as UTF-8.", locate(before, len(before))
        )
    if text.startswith(BYTE_ORDER_MARK):
        return fault_of(name, "begins with a byte order mark.", "Save it without one.", (1, 1))
    if not text.strip():
        return fault_of(name, "is empty.", "Write the document, or remove the file.", (1, 1))
    return text


def locate(text: str, offset: int) -> Mark:
    """Return line and column of ``offset``."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def read_json(name: str, raw: bytes) -> Document | tuple[Problem, ...]:
    """Read one JSON document (RFC 8259, I-JSON but for the size of integers).

    Refuses duplicate members, numbers that overflow, lone surrogates, more than 1 MiB or 128
    levels. Source: SPEC CON-1, ARG-2.
    """
    value = _parse(name, raw)
    if isinstance(value, Problem):
        return (value,)
    scanned = _scan(name, raw.decode("utf-8"))
    if isinstance(scanned, Problem):
        return (scanned,)
    return Document(name, value, lambda: scanned)


def read_value(name: str, raw: bytes) -> JsonValue | Problem:
    """Read a JSON document as ``read_json`` does, but do not find where its parts stand."""
    value = _parse(name, raw)
    return value if isinstance(value, Problem) else _find_excess(name, value) or value


def _parse(name: str, raw: bytes) -> JsonValue | Problem:
    text = decode_text(name, raw, MAX_BYTES)
    if isinstance(text, Problem):
        return text
    try:
        value: JsonValue = jiter.from_json(
            raw, catch_duplicate_keys=True, allow_inf_nan=False, cache_mode="none"
        )
    except ValueError as error:
        return _explain(name, raw, str(error))
    return value


def _find_excess(name: str, value: JsonValue) -> Problem | None:
    """Find what the parser lets pass and a scan would refuse."""
    level: list[JsonValue] = [value]
    for depth in range(MAX_DEPTH + 1):
        inner: list[JsonValue] = []
        for each in level:
            if isinstance(each, dict | list):
                if depth == MAX_DEPTH:
                    return too_deep(name, None)
                inner += each.values() if isinstance(each, dict) else each
            elif isinstance(each, int | float) and _overflows(each):
                return _too_great(name, None)
        level = inner
    return None


def _overflows(number: float) -> bool:
    try:
        return not math.isfinite(number)
    except OverflowError:  # an integer
        return True


def _explain(name: str, raw: bytes, message: str) -> Problem:
    matched = _AT.fullmatch(message)
    if matched is None:
        return fault_of(name, "is not JSON.", "Mend it, or write YAML in a .yaml file.")
    what, line, column = matched[1], int(matched[2]), int(matched[3])
    before = raw.split(b"\n")[line - 1][: max(column - 1, 0)]
    mark = (line, len(before.decode("utf-8", "replace")) + 1)
    if what.startswith("Detected duplicate key"):
        twice = what.removeprefix("Detected duplicate key").strip().strip('"')
        is_named = is_quotable(twice, WORD)  # nobody knows which place this is
        said = f"the member `{twice}`" if is_named else "a member"
        return fault_of(
            name,
            f"bears {said} twice in one object.",
            "Keep one of them.",
            mark,
            code=Code.DUPLICATE_MEMBER,
            discreet=not is_named,
        )
    if what.startswith("recursion limit"):
        return too_deep(name, mark)
    return fault_of(name, f"is not JSON: {show_name(what)}.", "Mend the text here.", mark)


def too_deep(name: str, mark: Mark | None) -> Problem:
    """Return the Problem of a document that nests deeper than ``MAX_DEPTH``."""
    return fault_of(
        name, f"nests deeper than {MAX_DEPTH} levels.", "Move inner parts into `$defs`.", mark
    )


def _too_great(name: str, mark: Mark | None) -> Problem:
    return fault_of(name, "has a number that overflows.", "Write one that fits.", mark)


def _scan(name: str, text: str) -> Marks | Problem:
    """Walk the tokens of a text that is known to be JSON."""
    places = _Places()
    frames: list[_Frame] = []
    member: int | None = None  # the place whose name was read, while its value is not
    line, line_start, seen = 1, 0, 0
    for token in _TOKEN.finditer(text):
        if token.lastindex is None:
            break
        start = token.start(token.lastindex)
        breaks = text.count("\n", seen, start)
        if breaks:
            line, line_start = line + breaks, text.rfind("\n", seen, start) + 1
        seen = start
        mark = (line, start - line_start + 1)
        opener, closer, string, plain = token.groups()
        if closer is not None:
            frames.pop()
            continue
        if frames and frames[-1][1] and member is None:
            member = places.add(frames[-1][0], escape_segment(json.loads(string)))
            places.keys[member] = mark
            continue
        place = _begin(places, frames) if member is None else member
        member = None
        places.values[place] = mark
        if opener is not None:
            frames.append((place, opener == "{", [0]))
            if len(frames) > MAX_DEPTH:
                return too_deep(name, mark)
        elif plain is not None and plain[0] in "-0123456789" and not math.isfinite(float(plain)):
            return _too_great(name, mark)
    return Marks(_Marked(places, places.values), _Marked(places, places.keys))


def _begin(places: _Places, frames: list[_Frame]) -> int:
    if not frames:
        return _ROOT
    place, _, begun = frames[-1]
    begun[0] += 1
    return places.add(place, str(begun[0] - 1))


def fault_of(
    name: str,
    message: str,
    mend: str,
    mark: Mark | None = None,
    *,
    code: Code = Code.CONTRACT_INVALID,
    discreet: bool = False,
) -> Problem:
    """Return the Problem of a document that cannot be read; ``message`` continues its name."""
    line, column = mark if mark is not None else (None, None)
    return Problem(
        code=code,
        document=name,
        message=f"The document {message}",
        mend=mend,
        line=line,
        column=column,
        discreet=discreet,
    )
