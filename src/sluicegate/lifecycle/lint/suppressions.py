"""``x-lint: [{rule, reason, until}]`` at a node: what it silences, and what stands against it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date
from typing import Final

from sluicegate.contracts.schemas.keywords import Schema, walk
from sluicegate.lifecycle.lint.findings import WORD, Example, Hit, LintFinding, Rule, shown
from sluicegate.lifecycle.lint.sheet import Sheet
from sluicegate.values.json import JsonObject
from sluicegate.values.names import show_name
from sluicegate.values.pointers import join_segments

KEYWORD: Final = "x-lint"
_MEMBERS: Final = frozenset({"rule", "reason", "until"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """``node`` is the pointer of the schema that it stands in, ``at`` its own."""

    node: str
    at: str
    rule: str
    until: date


@dataclass(frozen=True, slots=True)
class Silenced:
    """``findings`` are those that are left; ``hits`` are (rule id, hit) of bad suppressions."""

    findings: tuple[LintFinding, ...]
    hits: tuple[tuple[str, Hit], ...]


def apply_suppressions(sheet: Sheet, findings: Sequence[LintFinding], today: date) -> Silenced:
    """Silence each finding whose own node suppresses its rule; say which suppressions are bad.

    A suppression counts to the end of the day ``until``. Source: SPEC LIF-1.
    """
    read, hits = _read(sheet)
    nodes = {join_segments(at) for at, _ in walk(sheet.written)}
    used: set[str] = set()
    left = []
    valid = [one for one in read if one.until >= today]
    for finding in findings:
        node = _node_of(finding.pointer, nodes)
        silencing = [
            one
            for one in valid
            if finding.resource is None
            and one.node == node
            and one.rule in (finding.rule, finding.name)
        ]
        used.update(one.at for one in silencing)
        if not silencing:
            left.append(finding)
    for one in read:
        if one.until < today:
            hits.append(("L02", Hit(one.at, f"it ended on {one.until.isoformat()}.")))
        elif one.at not in used:
            hits.append(("L01", Hit(one.at, f"`{show_name(one.rule)}` finds nothing here.")))
    return Silenced(tuple(left), tuple(hits))


def silences(schema: Schema, *names: str) -> bool:
    """Whether a well-formed entry of the schema's own names the rule; L02 tells its end."""
    given = None if isinstance(schema, bool) else schema.get(KEYWORD)
    return isinstance(given, list | tuple) and any(
        isinstance(item, Mapping) and not "".join(_faults(item)) and item["rule"] in names
        for item in given
    )


def _node_of(pointer: str, nodes: Set[str]) -> str:
    """The innermost subschema that the pointer leads into."""
    while pointer not in nodes and pointer:
        pointer = pointer.rpartition("/")[0]
    return pointer


def _read(sheet: Sheet) -> tuple[list[Suppression], list[tuple[str, Hit]]]:
    read: list[Suppression] = []
    hits: list[tuple[str, Hit]] = []
    for segments, schema in walk(sheet.written):
        if not isinstance(schema, Mapping) or KEYWORD not in schema:
            continue
        node = join_segments(segments)
        given = schema[KEYWORD]
        if not isinstance(given, list) or not given:
            hits.append(("L03", Hit(f"{node}/{KEYWORD}", "it is no list of suppressions.")))
            continue
        for index, item in enumerate(given):
            at = f"{node}/{KEYWORD}/{index}"
            fault = "".join(_faults(item))
            if isinstance(item, Mapping) and not fault:
                read.append(
                    Suppression(
                        node=node,
                        at=at,
                        rule=str(item["rule"]),
                        until=date.fromisoformat(str(item["until"])),
                    )
                )
            else:
                hits.append(("L03", Hit(at, fault)))
    return read, hits


def _faults(item: object) -> Iterator[str]:
    if not isinstance(item, Mapping) or set(item) != _MEMBERS:
        yield "it must have rule, reason and until, and nothing else."
        return
    if not all(isinstance(item[name], str) and item[name].strip() for name in _MEMBERS):
        yield "rule, reason and until must be texts that are not empty."
        return
    try:
        date.fromisoformat(item["until"])
    except ValueError:
        yield "until must be a day, YYYY-MM-DD."


def _silenced(rule: str, until: str, reason: str = "Agreed with the owner.") -> Example:
    member: JsonObject = {
        "type": "string",
        "pattern": "^.{1,9}$",
        KEYWORD: [{"rule": rule, "reason": reason, "until": until}],
    }
    return shown(member)


_GOOD: Final = _silenced("X03", "9999-12-31")

RULES: Final = (
    Rule(
        id="L01",
        name="suppression-unused",
        arguments="warning",
        result="warning",
        what="An `x-lint` entry whose rule finds nothing at its node.",
        why="It would silence the next mistake there.",
        mend="Remove the entry.",
        good=_GOOD,
        bad=_silenced("B01", "9999-12-31"),
    ),
    Rule(
        id="L02",
        name="suppression-expired",
        arguments="error",
        result="error",
        what="An `x-lint` entry whose day `until` is over.",
        why="Somebody meant to have mended it by now.",
        mend="Mend what it silenced, or set a new day with a reason.",
        good=_GOOD,
        bad=_silenced("X03", "2000-01-01"),
    ),
    Rule(
        id="L03",
        name="suppression-misformed",
        arguments="error",
        result="error",
        what="An `x-lint` entry without rule, reason or until.",
        why="A silence that gives no reason and never ends is a hole.",
        mend="Write `x-lint: [{rule: X03, reason: …, until: 2030-12-31}]`.",
        good=_GOOD,
        bad=_silenced("X03", "9999-12-31", reason=" "),
    ),
    Rule(
        id="L04",
        name="baseline-stale",
        arguments="warning",
        result="warning",
        what="An entry of the baseline file that no finding answers to any more.",
        why="What was mended could come back unseen.",
        mend="Write the baseline anew with `--write-baseline`.",
        good=shown(WORD),
        bad=shown(WORD),
    ),
)
