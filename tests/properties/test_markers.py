"""No upstream byte reaches the agent unless a contract selected it and the answer was accepted.

About 2,000 generated calls; ``SLUICEGATE_FULL=1`` makes 100,000. A case is found again by its
place, carrier and number, which are its seed.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import pytest
from tests.properties.markers import SELECTED, UNSELECTED, Planter, Planting
from tests.properties.tickets import ARGUMENTS, CARRIERS, contracts_for

from sluicegate.contracts.served import ContractSet
from sluicegate.gates.answers import Answer
from sluicegate.gates.outstanding import Outstanding
from sluicegate.testing import FixedClock, RecordedUpstream, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.json import JsonValue
from sluicegate.values.receipts import Receipt

TOTAL = 100_000 if os.environ.get("SLUICEGATE_FULL") == "1" else 2_000
CASES = -(-TOTAL // (len(CARRIERS) * (len(UNSELECTED) + len(SELECTED))))
SERVED: dict[str, ContractSet] = {}


def served(carrier: str) -> ContractSet:
    if carrier not in SERVED:
        SERVED[carrier] = contracts_for(carrier)
    return SERVED[carrier]


async def answer_to(
    carrier: str, planter: Planter, seed: str
) -> tuple[Planting, Answer[JsonValue]]:
    """Run one call whose upstream hides a marker; a host fetches where nothing is raised."""
    random = Random(seed)
    upstream = RecordedUpstream()
    gate = gate_of(served(carrier), {"ticket": upstream}, clock=FixedClock())
    asked = await gate.check_call("ticket", ARGUMENTS, caller=Caller(subject="svc"))
    assert isinstance(asked, Outstanding)
    planting = Planting(
        random=random,
        marker=random.randbytes(16).hex(),
        carrier=carrier,
        request_id=asked.request_id,
    )
    planted = planter(planting)
    if isinstance(planted, Receipt):
        return planting, await gate.check_result(asked, planted)
    raising = gate_of(served(carrier), {"ticket": RecordedUpstream(planted)}, clock=FixedClock())
    return planting, await raising.call("ticket", ARGUMENTS, caller=Caller(subject="svc"))


def bears(answer: Answer[JsonValue], planting: Planting) -> bool:
    text = answer.to_json()
    return planting.marker in text or planting.raw_marker in text.encode()


@pytest.mark.requirement("ENV-2", "RES-8", "RES-9")
@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("place", UNSELECTED)
async def test_what_nothing_selects_never_reaches_the_agent(place: str, carrier: str) -> None:
    leaks = []
    for case in range(CASES):
        seed = f"{place}/{carrier}/{case}"
        planting, answer = await answer_to(carrier, UNSELECTED[place], seed)
        if bears(answer, planting):
            leaks.append((seed, answer.to_json()))
    assert leaks == []


@pytest.mark.requirement("RES-7", "ENV-2")
@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("place", SELECTED)
async def test_what_is_selected_reaches_the_agent_on_success_alone(
    place: str, carrier: str
) -> None:
    seen: Counter[tuple[str, bool]] = Counter()
    for case in range(CASES):
        planting, answer = await answer_to(carrier, SELECTED[place], f"{place}/{carrier}/{case}")
        seen[answer.outcome, bears(answer, planting)] += 1
        if answer.outcome == "success":
            assert set(answer.data) <= {  # type: ignore[arg-type]
                "ticket_id",
                "state",
                "points",
                "author",
                "untrusted_text",
            }
    assert (seen["success", True] > 0, seen["failure", False] > 0, seen["failure", True]) == (
        True,
        True,
        0,
    )


@pytest.mark.parametrize("carrier", CARRIERS)
async def test_the_generators_make_answers_of_both_kinds(carrier: str) -> None:
    outcomes = Counter()
    for place, planter in UNSELECTED.items():
        _, answer = await answer_to(carrier, planter, f"kinds/{place}/{carrier}")
        outcomes[answer.outcome] += 1
    assert (outcomes["success"] > 0, outcomes["failure"] > 0) == (True, True)
