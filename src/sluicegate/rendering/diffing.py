"""What ``diff`` found, for each of its readers; the words of the lifecycle come in as texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sluicegate.contracts.problems import Problem
from sluicegate.rendering.escaping import escape_json, escape_terminal
from sluicegate.rendering.github import command, render_problems_github
from sluicegate.rendering.json_v1 import shape_problem
from sluicegate.rendering.paint import PLAIN, Paint
from sluicegate.rendering.terminal import render_problems
from sluicegate.values.json import JsonValue

_INDENT: Final = "  "
_BASES: Final = {
    "proof": "proven",
    "unproven": "neither proven nor refuted, so it counts as breaking",
    "stricter": "the proof finds no value lost, the table is stricter and counts",
}


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


def render_diff(shown: ShownDiff, *, paint: Paint = PLAIN) -> str:
    """Return each change with its place, the counterexamples, and one line of summary."""
    if shown.verdict is None:
        count = _count(len(shown.problems), "problem")
        return (
            render_problems(shown.problems, paint=paint)
            + f"\n{paint.bad('DOES NOT LOAD')}: {count}; nothing was compared\n"
        )
    blocks = [_change_block(change, paint) for change in _by_weight(shown.changes)]
    blocks += [_witness_block(witness, paint) for witness in shown.witnesses]
    blocks += [
        f"{paint.bad(one.fault)}: {escape_terminal(say_version(one))}\n" for one in shown.versions
    ]
    blocks += [
        f"{paint.warn('waiver ' + escape_terminal(fingerprint))} is {why}: remove it\n"
        for fingerprint, why in shown.idle
    ]
    return "\n".join([*blocks, _summary(shown, paint) + "\n"])


def _by_weight(changes: Iterable[ShownChange]) -> list[ShownChange]:
    """What breaks stands last, next to the summary."""
    order = ("none", "patch", "minor", "major")
    return sorted(changes, key=lambda one: (one.breaks, order.index(one.bump)))


def _change_block(change: ShownChange, paint: Paint) -> str:
    tint = paint.bad if change.breaks else paint.strong
    lines = [f"{paint.place(escape_terminal(_where(change)))}: {tint(change.kind)}"]
    facts = _facts(change)
    if facts:
        lines.append(_INDENT + escape_terminal(facts))
    lines.append(_INDENT + escape_terminal(_judgement(change)))
    lines.append(
        _INDENT + paint.dim(f"fingerprint {change.fingerprint}   sluicegate explain {change.kind}")
    )
    return "\n".join(lines) + "\n"


def _where(change: ShownChange) -> str:
    if change.line is None:
        return change.file
    return f"{change.file}:{change.line}:{change.column or 1}"


def _facts(change: ShownChange) -> str:
    if change.old and change.new:
        return f"{change.old} → {change.new}"
    return f"+ {change.new}" if change.new else f"- {change.old}" if change.old else ""


def _judgement(change: ShownChange) -> str:
    parts = [f"at {change.pointer or '(the whole)'}", f"{change.role}: {change.bump}"]
    if change.tool:
        parts.insert(0, change.tool)
    if change.basis in _BASES:
        parts.append(_BASES[change.basis])
    if change.needs_replay:
        parts.append("needs a replay or former fixtures first")
    if change.waived is not None:
        parts.append(f"waived: {change.waived}")
    return ", ".join(parts)


def _witness_block(witness: ShownWitness, paint: Paint) -> str:
    other = "new" if witness.admitted_by == "old" else "old"
    of_tool = f" of {escape_terminal(witness.tool)}" if witness.tool else ""
    return (
        f"{paint.warn('counterexample')}: {witness.role}{of_tool} that the {witness.admitted_by} "
        f"version takes and the {other} one does not\n"
        f"{_INDENT}{escape_json(witness.value)}\n"
    )


def say_version(finding: ShownVersion) -> str:
    """Return in one sentence why a declared version does not tell what changed."""
    if finding.fault == "decreased":
        text = f"{finding.tool} went back from {finding.old} to {finding.new}"
    else:
        text = f"{finding.tool} is {finding.new} after {finding.old}"
    return f"{text}; its changes ask for a {finding.required}: {finding.wanted} at least"


def _summary(shown: ShownDiff, paint: Paint) -> str:
    if shown.verdict == NOTHING_CHECKED:
        sides = f"{escape_terminal(shown.old)} nor {escape_terminal(shown.new)}"
        return f"{paint.warn('NOTHING CHECKED')}: neither {sides} holds a tool"
    tint = {"compatible": paint.good, "undecided": paint.warn}.get(shown.verdict or "", paint.bad)
    text = f"{tint((shown.verdict or '').upper())}: {_count(len(shown.changes), 'change')}"
    breaking = sum(change.breaks for change in shown.changes)
    if breaking:
        text += f", {breaking} breaking"
    replays = sum(change.needs_replay for change in shown.changes)
    if replays:
        text += f", {replays} to replay first"
    waived = sum(change.waived is not None for change in shown.changes)
    if waived:
        text += f", {waived} waived"
    if shown.tools != 1:
        text += f" in {_count(shown.tools, 'tool')}"
    return f"{text}; version: {shown.bump}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def shape_diff(shown: ShownDiff) -> dict[str, JsonValue]:
    """Return verdict, bump, changes, witness, versions, waivers that waived nothing, problems.

    ``witness`` is the first of ``witnesses``, or null.
    """
    witnesses = [_shape_witness(witness) for witness in shown.witnesses]
    return {
        "verdict": "does-not-load" if shown.verdict is None else shown.verdict,
        "changes": [_shape_change(change) for change in shown.changes],
        "witness": witnesses[0] if witnesses else None,
        "bump": None if shown.verdict is None else shown.bump,
        "witnesses": witnesses,
        "tools": shown.tools,
        "versions": [
            {
                "tool": one.tool,
                "fault": one.fault,
                "old": one.old,
                "new": one.new,
                "required": one.required,
                "wanted": one.wanted,
            }
            for one in shown.versions
        ],
        "idle_waivers": [
            {"fingerprint": fingerprint, "why": why} for fingerprint, why in shown.idle
        ],
        "problems": [shape_problem(problem) for problem in shown.problems],
    }


def _shape_witness(witness: ShownWitness) -> dict[str, JsonValue]:
    return {
        "tool": witness.tool or None,
        "role": witness.role,
        "admitted_by": witness.admitted_by,
        "value": witness.value,
    }


def _shape_change(change: ShownChange) -> dict[str, JsonValue]:
    return {
        "kind": change.kind,
        "tool": change.tool or None,
        "role": change.role,
        "pointer": change.pointer,
        "within": change.within,
        "old": change.old,
        "new": change.new,
        "bump": change.bump,
        "basis": change.basis,
        "needs_replay": change.needs_replay,
        "fingerprint": change.fingerprint,
        "waived": change.waived,
        "file": change.file,
        "line": change.line,
        "column": change.column,
    }


def render_diff_github(shown: ShownDiff) -> str:
    """Return one command a change: an error for what breaks, a warning for what needs a replay."""
    if shown.verdict is None:
        return render_problems_github(shown.problems)
    commands = [_change_command(change) for change in _by_weight(shown.changes)]
    commands += [
        command("error", say_version(one), file=one.file, title=one.fault) for one in shown.versions
    ]
    commands += [
        command("warning", f"waiver {fingerprint} is {why}: remove it", title="diff")
        for fingerprint, why in shown.idle
    ]
    return "".join([*commands, command("notice", _summary(shown, PLAIN))])


def describe_change(change: ShownChange) -> str:
    """Return what changed and how it is judged, a line each; names are not yet escaped."""
    return "\n".join(text for text in (_facts(change), _judgement(change)) if text)


def _change_command(change: ShownChange) -> str:
    level = "error" if change.breaks else "warning" if change.needs_replay else "notice"
    return command(
        level,
        f"{describe_change(change)}\nfingerprint {change.fingerprint}",
        file=change.file,
        line=change.line,
        column=change.column,
        title=change.kind,
    )
