"""Two versions of a schema, contract or tool definition, made ready for the proof and judged by it.

First a ``Comparison``: what differs, and which pairs of schemas are to be proven. Then, with one
proof a pair, a ``ToolDiff``. What lies between runs in a child process, so it is not called here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sluicegate.contracts.contract import Contract, ResultPart
from sluicegate.contracts.fingerprints import strip_annotations
from sluicegate.lifecycle.diff.changes import (
    Change,
    Counterexample,
    Difference,
    Outcome,
    Role,
    judge_by_table,
    move_below,
    seal,
)
from sluicegate.lifecycle.diff.containment import EQUAL, UNPROVEN, Proof
from sluicegate.lifecycle.diff.judging import (
    bump_of,
    is_unseen,
    judge_schema,
    judge_unselected,
    outcome_of,
)
from sluicegate.lifecycle.diff.kinds import Bump
from sluicegate.lifecycle.diff.policies import find_policy_differences
from sluicegate.lifecycle.diff.selecting import find_selection_differences, leave_out_selected
from sluicegate.lifecycle.diff.settling import settle
from sluicegate.lifecycle.diff.sights import sight_of
from sluicegate.lifecycle.diff.spelling import is_spelled_alike, is_written_alike
from sluicegate.lifecycle.diff.versions import VersionFinding, judge_version
from sluicegate.lifecycle.diff.viewing import view, widen_together
from sluicegate.lifecycle.diff.walking import find_differences
from sluicegate.values.json import JsonObject
from sluicegate.values.pointers import Nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One pair of schemas. ``place`` is where they stand in the document of the tool.

    ``reader`` data: the whole data of a result, of which the agent sees the selected fields only;
    published: what it is told of them. Their parts stand behind that of the agent, whose schemas
    are of what it sees (``viewing``): each of ``assumed`` must then admit something, and ``wider``
    says that more is shown there than the agent sees, so that a refutation proves nothing.
    ``sealed`` stands for both schemas in a fingerprint.
    """

    role: Role
    place: str
    old: JsonObject
    new: JsonObject
    differences: tuple[Difference, ...]
    reader: Literal["tool", "agent", "published", "data"]
    explained: Bump = Bump.NONE
    assumed: tuple[JsonObject, ...] = ()
    wider: bool = False
    republished: bool = False
    sealed: str = ""

    @property
    def written_alike(self) -> bool:
        """Whether nothing but annotations differs."""
        return not self.republished and is_written_alike(self.old, self.new)

    @property
    def spelled_alike(self) -> bool:
        """Whether nothing but annotations and names of definitions differs: nothing to prove."""
        return not self.assumed and is_spelled_alike(self.old, self.new)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One tool, old and new; ``versions`` None: it declares none.

    ``reselected``: the agent is given other fields than before.
    """

    tool: str
    parts: tuple[Part, ...] = ()
    reselected: bool = False
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
        sealed=_seal_schemas(old, new),
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
    explained = bump_of(judge_by_table(one, new.tool, "result") for one in selection)
    policy: list[tuple[Role, Difference]] = [*find_policy_differences(old, new)]
    policy += [("result", move_below(one, "/result/schema")) for one in selection]
    return Comparison(
        tool=new.tool,
        parts=(arguments, *_compare_results(old.result, new.result, selection, explained)),
        reselected=bool(selection),
        changes=tuple(judge_by_table(one, new.tool, role) for role, one in policy),
        versions=(old.version, new.version),
    )


def _compare_results(
    old: ResultPart, new: ResultPart, selection: Sequence[Difference], explained: Bump
) -> Iterator[Part]:
    before, after = old.schema.document, new.schema.document
    asked = (sight_of(old), sight_of(new))
    shown = widen_together(tuple(zip((before, after), asked, strict=True)))
    wider = any(one.facts() != other.facts() for one, other in zip(asked, shown, strict=True))
    views = (view(before, shown[0]), view(after, shown[1]))
    differences = leave_out_selected(find_differences(before, after, asked[1]), selection)
    whole = Part(
        role="result",
        place="/result/schema",
        old=before,
        new=after,
        differences=tuple(one for one in differences if one.reach == "hidden"),
        reader="data",
        sealed=_seal_schemas(before, after),
    )
    yield replace(
        whole,
        old=views[0].schema,
        new=views[1].schema,
        differences=tuple(one for one in differences if one.reach != "hidden"),
        reader="agent",
        explained=explained,
        assumed=() if whole.spelled_alike else views[0].assumed,
        wider=wider,
        republished=not is_written_alike(old.agent_schema, new.agent_schema),
    )
    if wider:
        yield replace(
            whole, old=old.agent_schema, new=new.agent_schema, differences=(), reader="published"
        )
    yield whole


def _seal_schemas(old: JsonObject, new: JsonObject) -> str:
    return seal(strip_annotations(old), strip_annotations(new))


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
    proven = list(pair_proofs(comparison, proofs))
    whole = next((proof for part, proof in proven if part.reader == "data"), UNPROVEN)
    seen, unseen = EQUAL, list[Difference]()
    for part, proof in proven:
        placed = [move_below(one, part.place) for one in part.differences]
        if part.reader == "data":
            changes.extend(
                judge_unselected(
                    (*unseen, *placed),
                    proof,
                    comparison.tool,
                    seen=seen,
                    place=part.place,
                    sealed=part.sealed,
                )
            )
            continue
        if part.reader == "agent" and part.place:
            unseen = [one for one in placed if is_unseen(one, proof, whole)]
        seen = proof
        changes.extend(
            judge_schema(
                (one for one in placed if one not in unseen),
                proof,
                comparison.tool,
                part.role,
                written_alike=part.written_alike,
                explained=part.explained,
                sealed=part.sealed,
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
    """Yield each part that is judged with its proof, which draws on those of the others.

    One that is spelled alike needs none, and is equal.
    """
    given = iter(proofs)
    found = {
        part.reader: (part, EQUAL if part.spelled_alike else next(given))
        for part in comparison.parts
    }
    published = found.pop("published", None)
    for part, proof in found.values():
        if part.reader == "agent" and "data" in found:
            yield (
                part,
                settle(
                    proof,
                    published=published and published[1],
                    whole=found["data"][1],
                    reselected=comparison.reselected,
                ),
            )
        else:
            yield part, proof


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
