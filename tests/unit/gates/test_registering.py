"""Contracts beside functions: no name is served twice, and none that an operator switched off."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from tests.unit.gates.job_status import ARGUMENTS, CONTRACT, answer, contracts, let_go

from sluicegate.errors import MisuseError
from sluicegate.gates.gate import Gate
from sluicegate.gates.serving import Line, Serving
from sluicegate.gates.tenure import Opened
from sluicegate.testing import RecordedUpstream, contracts_of, gate_of
from sluicegate.values.callers import Caller

pytestmark = pytest.mark.requirement("CON-3", "CON-7")

CALLER = Caller(subject="svc-deploy")
OFF = "switched off by an operator: it lies"


class Closing(RecordedUpstream):
    closed = 0

    async def close(self) -> None:
        self.closed += 1


def serving_of(*tools: str, withdrawn: tuple[str, ...] = ()) -> Serving:
    """A folder's set; of ``withdrawn`` the contract loads, and nothing is served."""
    served = contracts_of(
        {
            f"{tool}/contract.json": json.dumps({**CONTRACT, "tool": tool})
            for tool in {"of_folder", *tools, *withdrawn}
        }
    )
    gate = gate_of(served, {tool: Closing(answer()) for tool in {"of_folder", *tools}})
    return replace(gate._serving, withdrawn=dict.fromkeys(withdrawn, OFF))


def coded(tool: str) -> Line:
    served = contracts_of({f"{tool}/contract.json": json.dumps({**CONTRACT, "tool": tool})})
    return gate_of(served, {tool: Closing(answer())})._serving.lines[tool]


def gate_with(first: Serving, *later: Serving) -> Gate:
    following = iter(later)
    means = gate_of(contracts(), {})._means

    def author(function: Callable[..., object], parts: Mapping[str, Any]) -> Line:
        return coded(parts["name"])

    def reopen(before: Opened) -> Opened:
        return Opened(serving=next(following), means=before.means)

    return Gate(means, first, reopen=reopen, author=author)


def register(gate: Gate, tool: str) -> None:
    gate.tool(name=tool)(print)


def names(gate: Gate) -> list[object]:
    return [definition["name"] for definition in gate.tool_definitions()]


@pytest.mark.parametrize(
    ("tool", "says"),
    [
        ("of_folder", "'of_folder' is served already: rename"),
        ("off", "'off' is withdrawn .switched off by an operator: it lies.: put it back"),
        ("coded", "'coded' is served already: rename"),
    ],
)
def test_a_name_that_is_taken_is_refused_and_changes_nothing(tool: str, says: str) -> None:
    gate = gate_with(serving_of(withdrawn=("off",)))
    register(gate, "coded")
    before = gate._serving
    with pytest.raises(MisuseError, match=says):
        register(gate, tool)
    assert gate._serving is before
    assert names(gate) == ["coded", "of_folder"]
    assert gate.withdrawn == {"off": OFF}


def test_a_name_that_an_operator_switched_off_without_a_contract_is_refused_too() -> None:
    serving = replace(serving_of(), withdrawn={"coded": OFF})
    with pytest.raises(MisuseError, match="put it back"):
        register(gate_with(serving), "coded")


async def test_a_reload_that_brings_a_name_twice_keeps_the_old_set() -> None:
    twice = serving_of("coded")
    gate = gate_with(serving_of(), twice)
    register(gate, "coded")
    before = gate._serving
    (problem,) = await gate.reload()
    await let_go(gate)
    assert (problem.code, problem.pointer) == ("CONTRACT_INVALID", "/tool")
    assert "'coded'" in problem.message
    assert problem.mend
    assert gate._serving is before
    assert (await gate.call("coded", ARGUMENTS, caller=CALLER)).outcome == "success"
    kept = [e for e in gate.audit.events() if e.kind == "contracts"]
    assert [(e.outcome, json.loads(e.detail)["set"]) for e in kept] == [
        ("refused", "kept"),
        ("done", "opened"),
    ]
    assert [line.adapter.closed for line in twice.lines.values()] == [1, 1]  # type: ignore[attr-defined]


async def test_a_withdrawn_contract_of_the_folder_collides_as_a_served_one_does() -> None:
    gate = gate_with(serving_of(), serving_of(withdrawn=("coded",)))
    register(gate, "coded")
    assert [problem.code for problem in await gate.reload()] == ["CONTRACT_INVALID"]


async def test_an_operator_switches_off_what_stands_beside_a_function_and_puts_it_back() -> None:
    off = replace(serving_of(), withdrawn=MappingProxyType({"coded": OFF}))
    gate = gate_with(serving_of(), off, serving_of())
    register(gate, "coded")
    line = gate._serving.lines["coded"]
    digest = gate.contracts.digest
    assert await gate.reload() == ()
    assert names(gate) == ["of_folder"]
    assert (await gate.call("coded", ARGUMENTS, caller=CALLER)).code == "UNKNOWN_TOOL"
    assert await gate.reload() == ()
    assert names(gate) == ["coded", "of_folder"]
    assert (await gate.call("coded", ARGUMENTS, caller=CALLER)).outcome == "success"
    assert gate.contracts.digest == digest
    assert isinstance(line.adapter, Closing)
    assert line.adapter.closed == 0


async def test_closing_releases_what_an_operator_switched_off_beside_a_function() -> None:
    gate = gate_with(serving_of(), replace(serving_of(), withdrawn={"coded": OFF}))
    register(gate, "coded")
    adapter = gate._serving.lines["coded"].adapter
    assert await gate.reload() == ()
    await gate.close()
    assert isinstance(adapter, Closing)
    assert adapter.closed == 1
