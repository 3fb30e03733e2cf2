"""One report for every command that judges files: what was found, and how it ends (SPEC LIF-5).

lint, check, test, diff and replay hand in these records, and every reader is told from them:
``human``, ``github``, ``json_v1``, ``sarif`` and ``junit`` know no command. ``replay`` alone tells
a person in a table of its own, for it speaks of answers and not of lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from sluicegate.rendering.spans import Span
from sluicegate.values.digests import digest_of_json
from sluicegate.values.json import JsonValue
from sluicegate.values.names import show_name

Severity: TypeAlias = Literal["error", "warning", "info"]
Tone: TypeAlias = Literal["good", "open", "bad"]

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "info")
"""Worst first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing found. ``line`` and ``column`` count characters from 1; None where it has no place.

    ``file`` is empty where it is about no file, ``tool`` where it is about none; ``length`` is how
    many characters are marked. ``group`` is the checked thing that it belongs to, one of the
    report's ``cases``. ``fingerprint`` names it across commits; empty: one is made of rule, file
    and pointer. ``count`` is how often, where several places are told as one. ``way_on`` is what to
    type next. A ``discreet`` one is told without its line. ``causes`` are what it rests on, each
    with a place of its own in the same file. A person is told items of one ``family`` once, with
    how often; empty: those of one rule and name.

    ``part`` is the member of the json-v1 object that lists it, empty where a fact of the report
    tells it; ``detail`` are its further members there.
    """

    rule: str
    name: str
    severity: Severity
    message: str
    file: str
    pointer: str
    line: int | None
    column: int | None
    length: int = 1
    discreet: bool = False
    why: str = ""
    hint: str = ""
    way_on: str = ""
    fingerprint: str = ""
    count: int = 1
    tool: str = ""
    group: str = ""
    family: str = ""
    causes: tuple[Item, ...] = ()
    part: str = "items"
    detail: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one run of ``command`` found. ``checked`` is how many things were judged.

    ``summary`` is one line of counts, ``remarks`` lines that stand before it. ``cases`` names what
    was judged where it has names, what is without a fault too. ``parts`` are the members of the
    json-v1 object that list items, the empty ones too; ``facts`` are its further members.
    ``worst_last``: a person reads the worst next to the summary.
    """

    command: str
    verdict: str
    items: tuple[Item, ...]
    checked: int
    summary: str
    facts: Mapping[str, JsonValue] = field(default_factory=dict)
    parts: tuple[str, ...] = ("items",)
    cases: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    worst_last: bool = False

    def count(self, severity: Severity) -> int:
        """Return how many items are of ``severity``."""
        return sum(1 for item in self.items if item.severity == severity)

    @property
    def word(self) -> str:
        """The verdict in capitals, as it begins the summary."""
        shown = _PLAIN_WORDS.get(self.verdict, self.verdict)
        return shown.replace("-", " ").upper()

    @property
    def tone(self) -> Tone:
        """Whether the verdict is good, bad, or leaves something open."""
        return _TONES.get(self.verdict, "bad")


_PLAIN_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {"clean": "ok", "passes": "ok", "findings": "fails"}
)
_TONES: Final[Mapping[str, Tone]] = MappingProxyType(
    {
        **dict.fromkeys(("ok", "clean", "passes", "compatible", "unchanged"), "good"),
        **dict.fromkeys(("nothing-checked", "undecided"), "open"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleHelp:
    """What a reader can be told of a rule: ``text`` is one sentence, ``page`` Markdown."""

    id: str
    name: str
    text: str
    page: str = ""
    severity: Severity = "error"


def title_item(item: Item) -> str:
    """Return rule and name, once where they are the same."""
    return item.rule if item.rule == item.name else f"{item.rule} {item.name}".strip()


def tell_item(item: Item) -> list[str]:
    """Return what is said of an item, a line each, for readers without a layout of their own."""
    causes = [tell_cause(cause) for cause in item.causes]
    return [text for text in (*item.message.split("\n"), *causes, item.why, item.hint) if text]


def tell_cause(cause: Item) -> str:
    """Return one cause in one line: code, place, expectation, hint."""
    head = f"{cause.rule} at {show_pointer(cause.pointer) or 'the whole document'}"
    said = f"{head}: {cause.message}" if cause.message else head
    return f"{said}. {cause.hint}" if cause.hint else said


def show_pointer(pointer: str) -> str:
    """Return a pointer for a person: each name in it cut and escaped."""
    return "/".join(show_name(segment) for segment in pointer.split("/"))


def column_in_characters(raw: bytes, span: Span) -> int:
    """Return the column of ``span`` counted in characters from 1, as items and SARIF count."""
    start = span.offset - span.column + 1
    return len(raw[start : span.offset].decode("utf-8", "replace")) + 1


def length_in_characters(raw: bytes, span: Span) -> int:
    """Return how many characters ``span`` marks, at least one."""
    marked = raw[span.offset : span.offset + span.length]
    return max(len(marked.decode("utf-8", "replace")), 1)


def fingerprint_item(item: Item) -> str:
    """Return the name of an item across commits: its own, else of rule, file and pointer."""
    if item.fingerprint:
        return item.fingerprint
    return str(digest_of_json([item.rule, item.file, item.pointer]))
