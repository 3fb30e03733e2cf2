"""What ``diff`` found, as a report; the words of the lifecycle come in as texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sluicegate.contracts.problems import Problem
from sluicegate.rendering.counting import count_of
from sluicegate.rendering.escaping import escape_json
from sluicegate.rendering.problems import item_of_problem
from sluicegate.rendering.reports import Item, Report
from sluicegate.rendering.rule_help import FAULTS_OF_VERSION, IDLE_WAIVER
from sluicegate.values.json import JsonValue

CHANGES: Final = "changes"
VERSIONS: Final = "versions"
IDLE_WAIVERS: Final = "idle_waivers"
"""The members of the json-v1 object that list items, beside ``problems``."""

MAX_WITNESSES: Final = 5
"""Counterexamples that a person is shown; programs get all of them."""

_BASES: Final = {
    "proof": "proven",
    "unproven": "neither proven nor refuted, so it counts as breaking",
    "stricter": "the proof finds no value lost, the table is stricter and counts",
}
_REPLAY: Final = (
    "It refuses answers that were accepted: replay stored answers (`sluicegate replay`), or keep"
    " some as fixtures/result/former/VERSION/*.json, before the release."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChange:
    """One change. ``line`` and ``column`` count from 1; ``waived`` is the reason, if it is."""

    kind: str
    tool: str
    role: str
    pointer: str
    within: str
    old: str
    new: str
    bump: str
    basis: str
    needs_replay: bool
    fingerprint: str
    waived: str | None
    file: str
    line: int | None
    column: int | None

    @property
    def breaks(self) -> bool:
        """Whether it stands in the way."""
        return self.bump == "major" and self.waived is None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownWitness:
    """A generated value that only the version ``admitted_by`` takes."""

    tool: str
    role: str
    admitted_by: str
    value: JsonValue


NOTHING_CHECKED: Final = "nothing-checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownVersion:
    """A declared version that does not tell what changed: not-bumped, under-bumped, decreased."""

    tool: str
    fault: str
    old: str
    new: str
    required: str
    wanted: str
    file: str
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDiff:
    """The whole; ``idle`` maps fingerprints of waivers that waived nothing to why.

    ``verdict`` is compatible, undecided, breaking, or nothing-checked where neither version holds
    a tool; None where ``problems`` kept it from being judged.
    """

    old: str
    new: str
    verdict: str | None
    bump: str
    tools: int
    changes: tuple[ShownChange, ...] = ()
    witnesses: tuple[ShownWitness, ...] = ()
    versions: tuple[ShownVersion, ...] = ()
    idle: tuple[tuple[str, str], ...] = ()
    problems: tuple[Problem, ...] = ()


def report_diff(shown: ShownDiff) -> Report:
    """Return changes, versions, idle waivers and problems as items, counterexamples as remarks.

    What breaks and is not waived is an error, what needs a replay first a warning. ``witness`` is
    the first of ``witnesses``, or null.
    """
    witnesses = [_shape_witness(witness) for witness in shown.witnesses]
    return Report(
        command="diff",
        verdict="does-not-load" if shown.verdict is None else shown.verdict,
        items=tuple(_items(shown)),
        checked=shown.tools,
        summary=_summarize(shown),
        parts=(CHANGES, VERSIONS, IDLE_WAIVERS, "problems"),
        facts={
            "witness": witnesses[0] if witnesses else None,
            "bump": None if shown.verdict is None else shown.bump,
            "witnesses": [*witnesses],
            "tools": shown.tools,
        },
        remarks=tuple(_tell_witnesses(shown.witnesses)),
        worst_last=True,
    )


def _items(shown: ShownDiff) -> Iterator[Item]:
    yield from map(item_of_problem, shown.problems)
    yield from map(_item_of_change, shown.changes)
    for version in shown.versions:
        yield _item_of_version(version)
    for fingerprint, why in shown.idle:
        yield Item(
            rule=IDLE_WAIVER.id,
            name=IDLE_WAIVER.name,
            severity="warning",
            message=f"waiver {fingerprint} is {why}: remove it",
            file=shown.new,
            pointer="",
            line=None,
            column=None,
            fingerprint=fingerprint,
            part=IDLE_WAIVERS,
            detail={"fingerprint": fingerprint, "why": why},
        )


def _item_of_change(change: ShownChange) -> Item:
    return Item(
        rule=change.kind,
        name=change.kind,
        severity="error" if change.breaks else "warning" if change.needs_replay else "info",
        message="\n".join(text for text in (_facts(change), _judgement(change)) if text),
        file=change.file,
        pointer=change.pointer,
        line=change.line,
        column=change.column,
        hint=_REPLAY if change.needs_replay and change.waived is None else "",
        way_on=f"fingerprint {change.fingerprint}   sluicegate explain {change.kind}",
        fingerprint=change.fingerprint,
        tool=change.tool,
        group=change.tool,
        part=CHANGES,
        detail={
            "kind": change.kind,
            "role": change.role,
            "within": change.within,
            "old": change.old,
            "new": change.new,
            "bump": change.bump,
            "basis": change.basis,
            "needs_replay": change.needs_replay,
            "waived": change.waived,
        },
    )


def _facts(change: ShownChange) -> str:
    if change.old and change.new:
        return f"{change.old} → {change.new}"
    return f"+ {change.new}" if change.new else f"- {change.old}" if change.old else ""


def _judgement(change: ShownChange) -> str:
    parts = [f"{change.role}: {change.bump}"]
    if change.basis in _BASES:
        parts.append(_BASES[change.basis])
    if change.needs_replay:
        parts.append("needs a replay or former fixtures first")
    if change.waived is not None:
        parts.append(f"waived: {change.waived}")
    return ", ".join(parts)


def _tell_witnesses(witnesses: Sequence[ShownWitness]) -> Iterator[str]:
    for witness in witnesses[:MAX_WITNESSES]:
        other = "new" if witness.admitted_by == "old" else "old"
        of_tool = f" of {witness.tool}" if witness.tool else ""
        yield (
            f"counterexample: {witness.role}{of_tool} that the {witness.admitted_by} version takes"
            f" and the {other} one does not"
        )
        yield f"  {escape_json(witness.value)}"
    if len(witnesses) > MAX_WITNESSES:
        more = len(witnesses) - MAX_WITNESSES
        yield f"… and {count_of(more, 'counterexample')} more; --format json-v1 tells all"


def _item_of_version(version: ShownVersion) -> Item:
    rule = FAULTS_OF_VERSION[version.fault]
    return Item(
        rule=rule.id,
        name=rule.name,
        severity="error",
        message=_say_version(version),
        file=version.file,
        pointer="/version",
        line=version.line,
        column=version.column,
        hint="Raise `version`, or take the change back.",
        tool=version.tool,
        group=version.tool,
        part=VERSIONS,
        detail={
            "fault": version.fault,
            "old": version.old,
            "new": version.new,
            "required": version.required,
            "wanted": version.wanted,
        },
    )


def _say_version(finding: ShownVersion) -> str:
    """Return in one sentence why a declared version does not tell what changed."""
    if finding.fault == "decreased":
        text = f"{finding.tool} went back from {finding.old} to {finding.new}"
    else:
        text = f"{finding.tool} is {finding.new} after {finding.old}"
    if finding.required == "none":
        return f"{text}, though nothing changed that asks for it: {finding.wanted} at least"
    return f"{text}; its changes ask for a {finding.required}: {finding.wanted} at least"


def _summarize(shown: ShownDiff) -> str:
    if shown.verdict is None:
        return f"{count_of(len(shown.problems), 'problem')}; nothing was compared"
    if shown.verdict == NOTHING_CHECKED:
        return f"neither {shown.old} nor {shown.new} holds a tool"
    text = count_of(len(shown.changes), "change")
    breaking = sum(change.breaks for change in shown.changes)
    if breaking:
        text += f", {breaking} breaking"
    replays = sum(change.needs_replay for change in shown.changes)
    if replays:
        text += f", {replays} to replay first"
    waived = sum(change.waived is not None for change in shown.changes)
    if waived:
        text += f", {waived} waived"
    if shown.versions:
        text += f", {count_of(len(shown.versions), 'version')} at fault"
    if shown.tools != 1:
        text += f", {count_of(shown.tools, 'tool')} compared"
    return f"{text}; version: {shown.bump}"


def _shape_witness(witness: ShownWitness) -> dict[str, JsonValue]:
    return {
        "tool": witness.tool or None,
        "role": witness.role,
        "admitted_by": witness.admitted_by,
        "value": witness.value,
    }
