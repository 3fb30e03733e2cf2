"""What a gate serves at one moment: a contract set with its ladders and adapters, swapped whole."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from sluicegate.contracts.contract import Contract
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.served import ContractSet
from sluicegate.contracts.settings import ServeRow
from sluicegate.gates.call_gate import CallLadder
from sluicegate.gates.failures import is_failure
from sluicegate.gates.ports import Adapter
from sluicegate.gates.readings import KeyReading
from sluicegate.gates.result_gate import ResultLadder
from sluicegate.gates.rollouts import choose_row, main_row
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Code
from sluicegate.values.digests import digest_of_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One tool, ready to run. ``keys`` None: its answers need no signature."""

    contract: Contract
    call: CallLadder
    result: ResultLadder
    adapter: Adapter
    keys: KeyReading | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """One tool in several versions, ready to run: ``lines`` stand in the order of ``rows``."""

    rows: tuple[ServeRow, ...]
    lines: tuple[Line, ...]

    @property
    def main(self) -> Line:
        """The line of the greatest share."""
        return self.lines[main_row(self.rows)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """``lines`` by tool; ``withdrawn`` are tools that loaded but are not served, and why.

    ``rollouts`` are the tools of ``lines`` that are served in several versions; their line there
    is that of the greatest share.
    """

    contracts: ContractSet
    lines: Mapping[str, Line]
    withdrawn: Mapping[str, str]
    rollouts: Mapping[str, Rollout] = field(default_factory=dict)

    def kept_s(self, line: Line) -> float:
        """Return how long selected data of ``line`` is kept: as the longest use of it asks."""
        tool, rule, fresh = (
            line.contract.tool,
            line.contract.idempotency,
            line.contract.result.fresh,
        )
        ahead_s = 0.0 if fresh is None else fresh.max_ahead_s
        windows = [
            proof.max_age_s + ahead_s
            for each in self.every_line()
            for proof in each.contract.evidence
            if proof.tool == tool
        ]
        return max([0.0 if rule is None else rule.keep_s, *windows])

    def line_for(self, tool: str, caller: Caller | None) -> Line | None:
        """Return the line that judges the calls of ``caller``; None where the tool is not served.

        Nobody in particular gets the line of the greatest share.
        """
        rollout = self.rollouts.get(tool)
        if rollout is None or caller is None:
            return self.lines.get(tool)
        return rollout.lines[choose_row(rollout.rows, tool, caller)]

    def lines_for(self, caller: Caller | None) -> dict[str, Line]:
        """Return the line of each tool for ``caller``, as ``line_for``."""
        found = ((tool, self.line_for(tool, caller)) for tool in self.lines)
        return {tool: line for tool, line in found if line is not None}

    def every_line(self) -> Iterator[Line]:
        """Yield each line once, whatever version it is of."""
        for tool, line in self.lines.items():
            yield from (line,) if tool not in self.rollouts else self.rollouts[tool].lines

    def why_not(self, tool: str) -> str:
        """Return why no line of this name is there."""
        return self.withdrawn.get(tool, "no contract of this name is served")

    def taken(self, tool: str) -> str | None:
        """Return why no further contract may bear this name and how to mend it; None: it may."""
        if tool in self.withdrawn:
            why = self.withdrawn[tool]
            return f"a tool {tool!r} is withdrawn ({why}): put it back first, or rename yours"
        if tool in self.contracts.contracts:
            return f"a tool {tool!r} is served already: rename one of the two, or remove one"
        return None

    def with_lines(self, lines: Mapping[str, Line]) -> Serving | tuple[Problem, ...]:
        """Return the set with the lines of contracts that were written beside their functions.

        A name that is withdrawn, and has no contract here, stays withdrawn. Returns the problems
        where a contract of this set bears one of the names.
        """
        if not lines:
            return self
        twice = tuple(_twice(tool) for tool in lines if tool in self.contracts.contracts)
        unproven = tuple(_unproven(tool) for tool, line in lines.items() if line.contract.evidence)
        if twice or unproven:
            return (*twice, *unproven)
        contracts = {
            **self.contracts.contracts,
            **{tool: line.contract for tool, line in lines.items()},
        }
        digests = [str(contract.fingerprints.digest) for contract in contracts.values()]
        return replace(
            self,
            contracts=replace(
                self.contracts,
                contracts=MappingProxyType(contracts),
                digest=digest_of_json([str(self.contracts.digest), *digests]),
            ),
            lines={
                **self.lines,
                **{tool: line for tool, line in lines.items() if tool not in self.withdrawn},
            },
        )

    async def close(self, *, but_for: Iterable[Line] = ()) -> None:
        """Close each adapter but those of the lines ``but_for``; one that raises stops no other.

        Raises: what the first of them raised.
        """
        kept = {id(line.adapter) for line in but_for}
        adapters = {id(line.adapter): line.adapter for line in self.every_line()}
        await close_all(*(each.close for key, each in adapters.items() if key not in kept))


async def close_all(*closings: Callable[[], Awaitable[object]]) -> None:
    """Do each of ``closings`` in order, whatever one raises; then raise the first failure."""
    first: BaseException | None = None
    for close in closings:
        try:
            await close()
        except BaseException as error:
            if not is_failure(error):
                raise
            if first is None:
                first = error
            else:
                first.add_note(f"and then: {type(error).__name__}")
    if first is not None:
        raise first


def _unproven(tool: str) -> Problem:
    return Problem(
        code=Code.CONTRACT_INVALID,
        document=tool,
        message="a contract beside its function names evidence, which is proven over a folder.",
        mend="Write the contract in the folder, with `fetch: {python: …}`.",
        pointer="/evidence",
    )


def _twice(tool: str) -> Problem:
    return Problem(
        code=Code.CONTRACT_INVALID,
        document=tool,
        message=f"a contract written beside its function bears the name {tool!r} as well.",
        mend="Rename the one in the folder, or remove the one beside the function and restart.",
        pointer="/tool",
    )
