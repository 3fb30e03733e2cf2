"""Two versions of a schema, contract or tool definition, made ready for the proof and judged by it.

First a ``Comparison``: what differs, and which pairs of schemas are to be proven. Then, with one
proof a pair, a ``ToolDiff``. What lies between runs in a child process, so it is not called here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sluicegate.contracts.contract import Contract
from sluicegate.lifecycle.diff.changes import (
    Change,
    Counterexample,
    Difference,
    Outcome,
    Role,
    judge_by_table,
    move_below,
)
from sluicegate.lifecycle.diff.containment import EQUAL, Proof
from sluicegate.lifecycle.diff.judging import (
    bump_of,
    judge_schema,
    judge_unselected,
    outcome_of,
)
from sluicegate.lifecycle.diff.kinds import Bump
from sluicegate.lifecycle.diff.policies import find_policy_differences
from sluicegate.lifecycle.diff.selecting import (
    find_selection_differences,
    leave_out_seen,
    leave_out_selected,
)
from sluicegate.lifecycle.diff.spelling import is_spelled_alike, is_written_alike
from sluicegate.lifecycle.diff.versions import VersionFinding, judge_version
from sluicegate.lifecycle.diff.walking import find_differences
from sluicegate.values.json import JsonObject
from sluicegate.values.pointers import Nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One pair of schemas. ``place`` is where they stand in the document of the tool.

    ``reader`` data: the whole data of a result, of which the agent sees the selected fields only;
    its part stands behind that of the fields.
    """

    role: Role
    place: str
    old: JsonObject
    new: JsonObject
    differences: tuple[Difference, ...]
    reader: Literal["tool", "agent", "data"]
    explained: Bump = Bump.NONE

    @property
    def written_alike(self) -> bool:
        """Whether nothing but annotations differs."""
        return is_written_alike(self.old, self.new)

    @property
    def spelled_alike(self) -> bool:
        """Whether nothing but annotations and names of definitions differs: nothing to prove."""
        return is_spelled_alike(self.old, self.new)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One tool, old and new; ``versions`` None: it declares none."""

    tool: str
    parts: tuple[Part, ...] = ()
    changes: tuple[Change, ...] = ()
    versions: tuple[str, str] | None = None

    @property
    def unproven(self) -> tuple[Part, ...]:
        """The parts that need a proof, in the order in which proofs are handed in."""
        return tuple(part for part in self.parts if not part.spelled_alike)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDiff:
    """What became of one tool. ``counterexamples`` stand for whatever was proven to break."""

    tool: str
    changes: tuple[Change, ...]
    counterexamples: tuple[Counterexample, ...] = ()
    versions: tuple[str, str] | None = None

    @property
    def outcome(self) -> Outcome:
        """What its changes come to, versions apart."""
        return outcome_of(self.changes)

    @property
    def bump(self) -> Bump:
        """What its changes ask of the version."""
        return bump_of(self.changes)

    @property
    def version_finding(self) -> VersionFinding | None:
        """What is wrong with the declared version, if it declares one."""
        if self.versions is None:
            return None
        return judge_version(self.tool, *self.versions, self.bump)


def compare_schemas(
    old: JsonObject,
    new: JsonObject,
    role: Literal["arguments", "result"],
    *,
    tool: str = "",
    place: str = "",
) -> Comparison:
    """Make two registered schemas ready, as they are written. Source: SPEC LIF-3."""
    part = Part(
        role=role,
        place=place,
        old=old,
        new=new,
        differences=find_differences(old, new),
        reader="agent" if role == "result" else "tool",
    )
    return Comparison(tool=tool, parts=(part,))


def compare_contracts(old: Contract, new: Contract) -> Comparison:
    """Make two versions of one contract ready, on their effective schemas.

    The result is judged by what the agent sees; the rest of its data apart.
    """
    arguments = compare_schemas(
        old.arguments.schema.document,
        new.arguments.schema.document,
        "arguments",
        place="/arguments/schema",
    ).parts[0]
    selection = find_selection_differences(old.result, new.result)
    view, data = (
        compare_schemas(before, after, "result", place="/result/schema").parts[0]
        for before, after in (
            (old.result.agent_schema, new.result.agent_schema),
            (old.result.schema.document, new.result.schema.document),
        )
    )
    policy: list[tuple[Role, Difference]] = [*find_policy_differences(old, new)]
    policy += [("result", move_below(one, "/result/schema")) for one in selection]
    return Comparison(
        tool=new.tool,
        parts=(
            arguments,
            replace(
                view,
                differences=leave_out_selected(view.differences, selection),
                explained=bump_of(judge_by_table(one, new.tool, "result") for one in selection),
            ),
            replace(
                data,
                differences=leave_out_seen(data.differences, view.differences),
                reader="data",
            ),
        ),
        changes=tuple(judge_by_table(one, new.tool, role) for role, one in policy),
        versions=(old.version, new.version),
    )


def compare_presence(old: Iterable[str], new: Iterable[str]) -> tuple[ToolDiff, ...]:
    """Return the tools that came and went; each is a change of its own."""
    before, after = set(old), set(new)
    return tuple(
        ToolDiff(
            tool=tool,
            changes=(
                judge_by_table(
                    Difference(kind=kind, pointer="", within="new" if tool in after else "old"),
                    tool,
                    "tool",
                ),
            ),
        )
        for kind, tools in (("tool-removed", before - after), ("tool-added", after - before))
        for tool in sorted(tools)
    )


def judge(comparison: Comparison, proofs: Sequence[Proof]) -> ToolDiff:
    """Judge by ``proofs``, one for each of ``comparison.unproven``, in order."""
    changes: list[Change] = []
    counterexamples: list[Counterexample] = []
    seen = EQUAL
    for part, proof in pair_proofs(comparison, proofs):
        placed = tuple(move_below(one, part.place) for one in part.differences)
        if part.reader == "data":
            changes.extend(
                judge_unselected(placed, proof, comparison.tool, seen=seen, place=part.place)
            )
            continue
        seen = proof
        changes.extend(
            judge_schema(
                placed,
                proof,
                comparison.tool,
                part.role,
                written_alike=part.written_alike,
                explained=part.explained,
            )
        )
        counterexamples.extend(_counterexamples(comparison.tool, part.role, proof))
    return ToolDiff(
        tool=comparison.tool,
        changes=(*changes, *comparison.changes),
        counterexamples=tuple(counterexamples),
        versions=comparison.versions,
    )


def pair_proofs(comparison: Comparison, proofs: Sequence[Proof]) -> Iterator[tuple[Part, Proof]]:
    """Yield each part with its proof; one that is spelled alike needs none, and is equal."""
    given = iter(proofs)
    for part in comparison.parts:
        yield part, EQUAL if part.spelled_alike else next(given)


def _counterexamples(tool: str, role: Role, proof: Proof) -> Iterable[Counterexample]:
    """What the writer may send and the reader does not take."""
    value = proof.lost if role == "arguments" else proof.gained
    if not isinstance(value, Nothing):
        yield Counterexample(
            tool=tool,
            role=role,
            admitted_by="old" if role == "arguments" else "new",
            value=value,
        )
