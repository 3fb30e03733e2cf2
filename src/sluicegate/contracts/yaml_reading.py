"""YAML as data: JSON values with a line and a column for every place (SPEC CON-1).

The subset is what two readers cannot understand differently: no anchors, tags, directives, merge
keys or second documents; a plain scalar is a JSON number, ``true``, ``false``, ``null`` or text.
Built from parser events on an own stack, so that nesting costs no recursion.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from sluicegate.contracts.file_names import SETTINGS_NAME
from sluicegate.contracts.json_reading import (
    MAX_DEPTH,
    decode_text,
    fault_of,
    locate,
    read_json,
    too_deep,
)
from sluicegate.contracts.keys import GUARDED, KEYS, is_discreet
from sluicegate.contracts.marks import Document, Mark, Marks
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.quoting import WORD, is_quotable, show_member
from sluicegate.contracts.yaml_faults import explain_fault
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonValue
from sluicegate.values.names import show_name
from sluicegate.values.pointers import escape_segment

__all__ = ["Document", "read_document", "read_yaml"]

MAX_YAML_BYTES: Final = 262_144
"""YAML is read at about 100 KB a second; a larger document is written as JSON."""

_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)
_COUNT: Final = re.compile(r"0|[1-9][0-9]*", re.ASCII)
_WORDS: Final[dict[str, JsonValue]] = {"true": True, "false": False, "null": None}
# What YAML 1.2 reads as no text although it is no JSON. Taking it as text would hide a mistake.
_DOUBTFUL: Final = re.compile(
    r"(?P<word>~|True|TRUE|False|FALSE|Null|NULL|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))"
    r"|(?P<hexadecimal>0x[0-9A-Fa-f]+)|(?P<octal>0o[0-7]+)|(?P<plus>\+[0-9.].*)"
    r"|(?P<point>-?\.[0-9].*|-?[0-9]+\.(?:[eE].*)?)",
    re.ASCII,
)
_KINDS: Final = {
    "hexadecimal": "a hexadecimal number (0x…)",
    "octal": "an octal number (0o…)",
    "plus": "a number with a plus sign (+…)",
    "point": "a number that begins or ends with its point",
}
"""A number is told by its form: keys and passwords are numbers too (SPEC ADP-5)."""

_ALL_KEYS: Final = frozenset().union(*KEYS.values())
_TAG_HANDLE: Final = re.compile(r"(tag handle) .*")
_DIRECTIVE: Final = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\r?\n)*%")
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
# The scanner takes time that is quadratic in opening brackets it meets before the first event.
_OPENERS: Final = re.compile(rf"(?:[\[{{][ \t]*+){{{MAX_DEPTH + 1}}}")


def read_document(name: str, raw: bytes) -> Document | tuple[Problem, ...]:
    """Read a document by its name: ``*.json`` as JSON, anything else as YAML.

    A ``.yaml`` document that is JSON throughout has the same value either way and is read by the
    faster reader. Returns every problem that keeps the text from being read.
    """
    if name.endswith(".json"):
        return read_json(name, raw)
    if raw.lstrip()[:1] in (b"{", b"["):
        read = read_json(name, raw)
        if isinstance(read, Document):
            return read
    return read_yaml(name, raw)


def read_yaml(name: str, raw: bytes) -> Document | tuple[Problem, ...]:
    """Read one YAML 1.2 document. Refuses what the module's head names; 256 KiB, 128 levels."""
    text = decode_text(name, raw, MAX_YAML_BYTES)
    if isinstance(text, Problem):
        return (text,)
    if _DIRECTIVE.match(text):
        return (fault_of(name, "has a directive.", "Remove the line that begins with %."),)
    opened = _OPENERS.search(text)
    if opened is not None:
        return (too_deep(name, locate(text, opened.start())),)
    builder = _Builder(name)
    try:
        for event in _events(text):
            builder.take(event)
    except _Unfit as unfit:
        said = unfit.message, unfit.mend, unfit.mark
        return (fault_of(name, *said, code=unfit.code, discreet=builder.is_discreet),)
    except MarkedYAMLError as error:
        what = show_name(_TAG_HANDLE.sub(r"\1", str(error.problem or error.context)))
        mend, where = explain_fault(text, error)
        discreet = builder.is_discreet
        return (fault_of(name, f"is not YAML: {what}.", mend, where, discreet=discreet),)
    except YAMLError as error:
        at = getattr(error, "position", None)
        where = locate(text, at) if isinstance(at, int) else None
        message = "holds a character that YAML does not admit."
        # Nobody knows yet which place this is.
        return (fault_of(name, message, "Remove it.", where, discreet=True),)
    if not builder.is_complete:
        return (fault_of(name, "is empty.", "Write the document, or remove the file.", (1, 1)),)
    marks = Marks(builder.values, builder.keys)
    return Document(name, builder.value, lambda: marks)


def _events(text: str) -> Iterator[Event]:
    yaml: Any = YAML(typ="safe", pure=True)
    yield from yaml.parse(text)


class _Unfit(Exception):  # noqa: N818  (control flow inside this module)
    def __init__(
        self, mark: Mark, message: str, mend: str, code: Code = Code.CONTRACT_INVALID
    ) -> None:
        self.mark, self.message, self.mend, self.code = mark, message, mend, code
        super().__init__(message)


@dataclass(slots=True)
class _Frame:
    pointer: str
    members: dict[str, JsonValue] | None
    items: list[JsonValue]
    name: str | None = None  # the member name that was read, while its value is not
    is_flow: bool = False


class _Builder:
    """Takes parser events one by one and builds the value with its marks."""

    def __init__(self, name: str) -> None:
        self._kind = "settings" if name.rpartition("/")[2] == SETTINGS_NAME else "contract"
        self.value: JsonValue = None
        self.values: dict[str, Mark] = {}
        self.keys: dict[str, Mark] = {}
        self.is_complete = False
        self._frames: list[_Frame] = []

    @property
    def is_discreet(self) -> bool:
        """Whether what is read next, or the mapping or list it stands in, is discreet.

        So is what stands in the place of a section with discreet keys.
        """
        frame = self._frames[-1] if self._frames else None
        at, around = _place(frame), "" if frame is None else frame.pointer
        is_section = at in GUARDED[self._kind]
        return is_section or is_discreet(self._kind, at) or is_discreet(self._kind, around)

    def take(self, event: Event) -> None:
        mark = (event.start_mark.line + 1, event.start_mark.column + 1)
        if isinstance(event, MappingEndEvent | SequenceEndEvent):
            self._frames.pop()
        elif isinstance(event, DocumentStartEvent):
            if self.is_complete:
                raise _Unfit(mark, "holds a second document.", "Put it into a file of its own.")
        elif isinstance(event, AliasEvent):
            raise _Unfit(mark, "has an alias (`*name`).", "Write the value out, or use `$ref`.")
        elif isinstance(event, ScalarEvent | MappingStartEvent | SequenceStartEvent):
            self._take_node(event, mark)

    def _take_node(
        self, event: ScalarEvent | MappingStartEvent | SequenceStartEvent, mark: Mark
    ) -> None:
        if event.anchor is not None:
            raise _Unfit(mark, "has an anchor (`&name`).", "Write the value out, or use `$ref`.")
        if event.tag is not None:
            raise _Unfit(mark, "has a tag (`!type`).", "Remove it; types come from the schema.")
        frame = self._frames[-1] if self._frames else None
        if frame is not None and frame.members is not None and frame.name is None:
            frame.name = self._member_name(event, frame, frame.members, mark)
            self.keys[f"{frame.pointer}/{escape_segment(frame.name)}"] = mark
            return
        pointer = _place(frame)
        self.values[pointer] = mark
        if isinstance(event, ScalarEvent):
            if _is_plain(event) and event.value == "":
                self._refuse_nothing(frame, pointer, mark)
            self._put(frame, _scalar(event, mark))
            return
        opened = _Frame(
            pointer,
            {} if isinstance(event, MappingStartEvent) else None,
            [],
            is_flow=bool(event.flow_style),
        )
        self._put(frame, opened.items if opened.members is None else opened.members)
        self._frames.append(opened)
        if len(self._frames) > MAX_DEPTH:
            raise _Unfit(
                mark, f"nests deeper than {MAX_DEPTH} levels.", "Move inner parts into `$defs`."
            )

    def _refuse_nothing(self, frame: _Frame | None, pointer: str, mark: Mark) -> None:
        """A value that was left out is told at its name: the scanner stands on a later line."""
        if frame is None or frame.name is None:
            raise _Unfit(mark, "has no value here.", "Write one, or remove the `-`.")
        mend = "Write its value behind the colon, or remove the line."
        if frame.is_flow:
            mend = "Write `name: value`; a text that begins with `{` stands in quotation marks."
        message = f"has no value for {self._show(frame, frame.name)}."
        raise _Unfit(self.keys.get(pointer, mark), message, mend)

    def _show(self, frame: _Frame, name: str) -> str:
        """Return the member by its name, if that may not be a value that was written there."""
        if name not in _ALL_KEYS:
            own = f"{frame.pointer}/{escape_segment(name)}"
            is_odd = is_discreet(self._kind, own) and not is_quotable(name, WORD)
            if is_odd or is_discreet(self._kind, frame.pointer):
                return "a member"
        return f"the member `{show_member(name)}`"

    def _member_name(
        self, event: Event, frame: _Frame, members: dict[str, JsonValue], mark: Mark
    ) -> str:
        if not isinstance(event, ScalarEvent):
            raise _Unfit(mark, "has a member name that is no text.", "Write a plain name.")
        name = _text(event.value, mark)
        if _is_plain(event):
            if name == "<<":
                raise _Unfit(mark, "has a merge key (`<<`).", "Write the members out.")
            # A status like 404 is written bare everywhere; it is the text "404", and nothing else.
            told = None if _COUNT.fullmatch(name) else _tell_other(name)
            if told is not None:
                raise _Unfit(
                    mark,
                    f"has {told} for a member name, which is no text.",
                    "Put it into quotation marks.",
                )
        if name in members:
            frame.name = name
            raise _Unfit(
                mark,
                f"bears {self._show(frame, name)} twice in one mapping.",
                "Keep one of them.",
                Code.DUPLICATE_MEMBER,
            )
        return name

    def _put(self, frame: _Frame | None, value: JsonValue) -> None:
        if frame is None:
            self.value, self.is_complete = value, True
        elif frame.members is None:
            frame.items.append(value)
        elif frame.name is not None:
            frame.members[frame.name] = value
            frame.name = None


def _place(frame: _Frame | None) -> str:
    if frame is None:
        return ""
    segment = len(frame.items) if frame.name is None else escape_segment(frame.name)
    return f"{frame.pointer}/{segment}"


def _is_plain(event: ScalarEvent) -> bool:
    return bool(event.implicit[0])


def _scalar(event: ScalarEvent, mark: Mark) -> JsonValue:
    text = _text(event.value, mark)
    if not _is_plain(event):
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _NUMBER.fullmatch(text):
        return _number(text, mark)
    told = _tell_doubtful(text)
    if told is not None:
        raise _Unfit(
            mark,
            f"has {told} here, which YAML readers take differently.",
            "Write true, false, null or a JSON number; or put the text into quotation marks.",
        )
    return text


def _tell_doubtful(text: str) -> str | None:
    """Return what is said of a plain text that YAML readers take differently."""
    doubtful = _DOUBTFUL.fullmatch(text)
    if doubtful is None:
        return None
    return _KINDS.get(doubtful.lastgroup or "") or f"the plain value `{text}`"


def _tell_other(name: str) -> str | None:
    """Return what is said of a plain member name that is no text in YAML."""
    if name in _WORDS:
        return f"the word `{name}`"
    if not name:
        return "nothing"
    return "a number" if _NUMBER.fullmatch(name) else _tell_doubtful(name)


def _number(text: str, mark: Mark) -> JsonValue:
    try:
        number: int | float = json.loads(text)
    except ValueError:  # more digits than Python reads
        raise _Unfit(mark, "has a number of too many digits.", "Write a shorter one.") from None
    if not math.isfinite(number):
        raise _Unfit(mark, "has a number that overflows.", "Write one that fits.")
    return number


def _text(value: str, mark: Mark) -> str:
    if _SURROGATE.search(value):
        raise _Unfit(mark, "escapes half of a surrogate pair.", "Write the character itself.")
    return value
