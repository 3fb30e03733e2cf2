"""What a gate serves at one moment: a contract set with its ladders and adapters, swapped whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from sluicegate.contracts.contract import Contract
from sluicegate.contracts.served import ContractSet
from sluicegate.gates.call_gate import CallLadder
from sluicegate.gates.ports import Adapter
from sluicegate.gates.result_gate import ResultLadder
from sluicegate.values.digests import digest_of_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One tool, ready to run."""

    contract: Contract
    call: CallLadder
    result: ResultLadder
    adapter: Adapter


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """``lines`` by tool; ``withdrawn`` are tools that loaded but are not served, and why."""

    contracts: ContractSet
    lines: Mapping[str, Line]
    withdrawn: Mapping[str, str]

    def with_lines(self, lines: Mapping[str, Line]) -> Serving:
        """Return the set with the lines of contracts that were written beside their functions."""
        if not lines:
            return self
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
            lines={**self.lines, **lines},
        )

    async def close(self, *, but_for: Serving | None = None) -> None:
        """Close every adapter but those that ``but_for`` serves as well."""
        kept = set() if but_for is None else {id(line.adapter) for line in but_for.lines.values()}
        for line in self.lines.values():
            if id(line.adapter) not in kept:
                await line.adapter.close()
