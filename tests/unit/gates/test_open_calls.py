"""What is open, asked of plain events and of a store: one answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.gates.open_call_cases import OPEN_CALL_CASES
from tests.unit.stores.made import intent, outcome, resolution

from sluicegate.gates.events import AuditEvent, Outcome
from sluicegate.gates.open_calls import open_attempts
from sluicegate.stores.memory import MemoryStore

REQUEST_IDS = st.sampled_from(["req.00000001", "req.00000002"])
ATTEMPTS = st.integers(0, 3)
EVENTS = st.one_of(
    st.builds(intent, REQUEST_IDS, attempt=ATTEMPTS),
    st.builds(
        outcome,
        REQUEST_IDS,
        st.sampled_from([Outcome.SUCCESS, Outcome.FAILURE, Outcome.UNKNOWN]),
        attempt=ATTEMPTS,
    ),
    st.builds(resolution, REQUEST_IDS),
)


@pytest.mark.requirement("AUD-1", "RET-2")
@pytest.mark.parametrize(("events", "attempts"), OPEN_CALL_CASES)
def test_an_attempt_is_open_while_its_outcome_is_not_known(
    events: Sequence[AuditEvent], attempts: list[int]
) -> None:
    store = MemoryStore()
    store.record_blocking(events)
    assert [event.attempt for event in open_attempts(store.events())] == attempts


@pytest.mark.requirement("AUD-1", "RET-2")
@given(st.lists(EVENTS, max_size=10))
def test_a_store_and_the_story_never_disagree_on_what_is_open(events: list[AuditEvent]) -> None:
    store = MemoryStore()
    store.record_blocking(events)
    stored = tuple(store.events())
    assert open_attempts(stored) == store.open_intents()
    for request_id in ("req.00000001", "req.00000002"):
        story = tuple(store.events(request_id=request_id))
        of_call = tuple(each for each in store.open_intents() if each.request_id == request_id)
        assert open_attempts(story) == of_call


def test_a_detail_that_is_no_json_resolves_nothing() -> None:
    store = MemoryStore()
    store.record_blocking([intent(), resolution()])
    sent, act = store.events()
    for detail in ("{", "[]", '"resolves"', "null"):
        assert open_attempts([sent, replace(act, detail=detail)]) == (sent,)
