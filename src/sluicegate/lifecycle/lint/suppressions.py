"""``x-lint: [{rule, reason, until}]`` at a node: what it silences, and what stands against it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date, timedelta
from difflib import get_close_matches
from typing import Final

from sluicegate.contracts.schemas.keywords import Schema, walk
from sluicegate.lifecycle.lint.findings import WORD, Example, Hit, LintFinding, Rule, shown
from sluicegate.lifecycle.lint.sheet import Sheet
from sluicegate.values.json import JsonObject
from sluicegate.values.names import show_name
from sluicegate.values.pointers import join_segments

KEYWORD: Final = "x-lint"
_MEMBERS: Final = frozenset({"rule", "reason", "until"})
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

LONGEST: Final = timedelta(days=5 * 366)
"""From today to ``until``, at most: who waits longer has no intention to mend it."""


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


def apply_suppressions(
    sheet: Sheet, findings: Sequence[LintFinding], today: date, known: Mapping[str, str]
) -> Silenced:
    """Silence each finding whose own node suppresses its rule; say which suppressions are bad.

    A suppression counts to the end of the day ``until``, which is at most five years away.
    ``known`` maps the id of every rule to its name. Source: SPEC LIF-1.
    """
    read, hits = _read(sheet)
    names = {*known, *known.values()}
    nodes = {join_segments(at) for at, _ in walk(sheet.written)}
    used: set[str] = set()
    left = []
    valid = [one for one in read if today <= one.until <= today + LONGEST and one.rule in names]
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
        if one.rule not in names:
            hits.append(("L03", Hit(one.at, _no_such_rule(one.rule, names))))
        elif one.until > today + LONGEST:
            hits.append(("L03", Hit(one.at, "until lies more than five years away.")))
        elif one.until < today:
            hits.append(("L02", Hit(one.at, f"it ended on {one.until.isoformat()}.")))
        elif one.at not in used:
            hits.append(("L01", Hit(one.at, f"`{show_name(one.rule)}` finds nothing here.")))
    return Silenced(tuple(left), tuple(hits))


def _no_such_rule(rule: str, names: Set[str]) -> str:
    near = get_close_matches(rule.upper(), names, n=1) or get_close_matches(rule, names, n=1)
    meant = f"; did you mean `{near[0]}`?" if near else ""
    return f"there is no rule `{show_name(rule)}`{meant or '.'}"


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
        is_day = _DAY.fullmatch(item["until"]) and date.fromisoformat(item["until"])
    except ValueError:
        is_day = None
    if not is_day:
        yield "until must be a day, YYYY-MM-DD."


def _silenced(rule: str, until: str, reason: str = "Agreed with the owner.") -> Example:
    member: JsonObject = {
        "type": "string",
        "pattern": "^.{1,9}$",
        KEYWORD: [{"rule": rule, "reason": reason, "until": until}],
    }
    return shown(member)


_GOOD: Final = _silenced("X03", "2030-12-31")

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
        bad=_silenced("B01", "2030-12-31"),
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
        what="An `x-lint` entry without rule, reason or until, of a rule that does not exist, or "
        "with a day that is no YYYY-MM-DD or more than five years away.",
        why="A silence that gives no reason and never ends is a hole.",
        mend="Write `x-lint: [{rule: X03, reason: …, until: 2030-12-31}]`.",
        good=_GOOD,
        bad=_silenced("X03", "2030-12-31", reason=" "),
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
