"""What became of a request that holds a key, by the events of its record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.unit.stores.made import NOW, intent, kept, outcome
from tests.unit.stores.test_terms import A, terms_of

from sluicegate.gates.events import AuditEvent, Outcome
from sluicegate.gates.operator_acts import Found, resolve
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.record_terms import _outcome_of
from sluicegate.stores.shared_keys_fates import Became, find_fate, find_selected

pytestmark = pytest.mark.requirement("ACC-4")

STORIES: dict[str, tuple[list[AuditEvent], Became]] = {
    "runs": ([], Became.PENDING),
    "succeeded": ([outcome(A)], Became.DONE),
    "failed": ([outcome(A, became=Outcome.FAILURE)], Became.FREE),
    "was refused": ([outcome(A, became=Outcome.REFUSED)], Became.FREE),
    "nobody knows": ([outcome(A, became=Outcome.UNKNOWN)], Became.UNKNOWN),
    "runs again": ([outcome(A, became=Outcome.UNKNOWN), intent(A, attempt=2)], Became.PENDING),
    "failed at last": (
        [
            outcome(A, became=Outcome.FAILURE),
            intent(A, attempt=2),
            outcome(A, attempt=2, became=Outcome.FAILURE),
        ],
        Became.FREE,
    ),
    "was not heard": (
        [outcome(A), intent(A, attempt=2), outcome(A, attempt=2, became=Outcome.UNKNOWN)],
        Became.UNKNOWN,
    ),
}


@pytest.mark.parametrize("word", [None, "done", "not-done"])
@pytest.mark.parametrize("case", STORIES)
async def test_a_record_and_the_key_store_say_the_same_of_a_request(
    keys: AuditKeys, case: str, word: Found | None
) -> None:
    events, became = STORIES[case]
    store = MemoryStore(keys)
    await store.record([intent(A)], terms=terms_of())
    await store.record(events)
    if word is not None and store.open_intents():
        act, _ = resolve(
            store.events(), A, found=word, who="a", reason="b", now=NOW, gate_is_gone=True
        )
        await store.record([act])
        became = Became.DONE if word == "done" else Became.FREE
    fate = find_fate(store.events(request_id=A))
    assert fate is not None
    assert fate.became is became
    of_record = _outcome_of(store._connection, A)
    assert became is {
        "success": Became.DONE,
        "pending": Became.PENDING,
        "unknown": Became.UNKNOWN,
    }.get(of_record, Became.FREE)
    await store.close()


async def test_a_request_without_a_key_has_no_fate(keys: AuditKeys) -> None:
    store = MemoryStore(keys)
    await store.record([intent(A), outcome(A)])
    assert find_fate(store.events(request_id=A)) is None
    assert find_fate([]) is None


CHANGED: dict[str, Callable[[str], str]] = {
    "no JSON": lambda detail: detail[:-1],
    "no object": lambda detail: "7",
    "no key": lambda detail: detail.replace('"key"', '"kee"'),
    "no time": lambda detail: detail.replace("2026-", "9999999-"),
    "no zone": lambda detail: detail.replace('Z"', '"'),
    "no reservation": lambda detail: '{"reserved":[],"custody":[]}',
    "too deep": lambda detail: "[" * 100_000,
}


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize("case", CHANGED)
async def test_a_record_that_was_changed_is_told_as_broken(keys: AuditKeys, case: str) -> None:
    store = MemoryStore(keys)
    await store.record([intent(A)], terms=terms_of())
    (event,) = store.events()
    changed = replace(event, detail=CHANGED[case](event.detail))
    with pytest.raises(AuditUnavailable, match=f"CHAIN_BROKEN: .* {A} was changed"):
        find_fate([changed])


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize("case", ["no JSON", "no object", "no reservation", "too deep"])
async def test_what_an_outcome_kept_is_not_guessed_from_a_changed_event(
    keys: AuditKeys, case: str
) -> None:
    store = MemoryStore(keys)
    await store.record([outcome(A, kept=kept(b"{}", "selected"))])
    (event,) = store.events()
    assert find_selected(event) is not None
    assert find_selected(replace(event, detail="{}")) is None
    with pytest.raises(AuditUnavailable, match=f"CHAIN_BROKEN: .* {A} was changed"):
        find_selected(replace(event, detail=CHANGED[case](event.detail)))
