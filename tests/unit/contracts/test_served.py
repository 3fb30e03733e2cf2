"""A contract set tells every version that it holds, each once."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.gates.restart import folder

from sluicegate.contracts.contract import Contract
from sluicegate.contracts.served import ContractSet, Offer
from sluicegate.contracts.settings import WHOLE_SHARE, ServeRow

HALF = WHOLE_SHARE // 2


def offered(served: ContractSet, *contracts: tuple[str, Contract]) -> ContractSet:
    offers = tuple(
        Offer(row=ServeRow(version=version, share=HALF), contract=each)
        for version, each in contracts
    )
    return replace(served, rollouts={"job_status": offers})


def test_every_version_stands_once_whichever_of_them_stands_for_its_tool() -> None:
    served = folder()
    working = served.contracts["job_status"]
    old = replace(working, version="0.9.0", source="job_status/released/0.9.0.yaml")
    assert served.every_version() == (*served.contracts.values(),)
    assert served.frozen() == ()
    loaded = offered(served, ("0.9.0", old), ("current", replace(working)))
    assert [each.version for each in loaded.every_version() if each.tool == "job_status"] == [
        working.version,
        "0.9.0",
    ]
    assert loaded.frozen() == (old,)
    of_gate = replace(loaded, contracts={**loaded.contracts, "job_status": old})
    assert sorted(each.version for each in of_gate.every_version()) == sorted(
        each.version for each in loaded.every_version()
    )
