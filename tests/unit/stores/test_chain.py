"""The chain names the first event that was tampered with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace

import pytest
from tests.unit.stores.made import intent, outcome

from sluicegate.gates.events import StoredEvent
from sluicegate.stores.chain import link_columns, verify_chain
from sluicegate.stores.keys import AuditKeys, draw_keys
from sluicegate.stores.memory import MemoryStore


@pytest.fixture
async def events(keys: AuditKeys) -> list[StoredEvent]:
    store = MemoryStore(keys)
    for number in range(3):
        await store.record([intent(f"req.{number:08}"), outcome(f"req.{number:08}", raw=b"{}")])
    stored = list(store.events())
    await store.close()
    return stored


@pytest.mark.requirement("AUD-3")
def test_a_chain_as_written_holds(keys: AuditKeys, events: list[StoredEvent]) -> None:
    report = verify_chain(keys.chain, events)
    assert (report.events, report.broken_at, report.head) == (6, None, events[-1].link)


def changed(events: list[StoredEvent], index: int, **members: object) -> list[StoredEvent]:
    return [
        replace(event, **members) if at == index else event  # type: ignore[arg-type]
        for at, event in enumerate(events)
    ]


def renumbered(events: list[StoredEvent]) -> list[StoredEvent]:
    return [replace(event, seq=seq) for seq, event in enumerate(events, 1)]


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize(
    ("tamper", "broken_at"),
    [
        pytest.param(lambda e: changed(e, 2, outcome="failure"), 3, id="edit"),
        pytest.param(lambda e: changed(e, 0, tool="other"), 1, id="edit of the first"),
        pytest.param(lambda e: changed(e, 5, link="0" * 64), 6, id="edit of the last link"),
        pytest.param(lambda e: changed(e, 2, previous="0" * 64), 3, id="edit of previous"),
        pytest.param(lambda e: e[:2] + e[3:], 3, id="delete"),
        pytest.param(lambda e: e[1:], 1, id="delete of the first"),
        pytest.param(lambda e: renumbered(e[:2] + e[3:]), 3, id="delete and renumber"),
        pytest.param(lambda e: [e[0], e[2], e[1], *e[3:]], 2, id="reorder"),
        pytest.param(lambda e: renumbered([e[0], e[2], e[1], *e[3:]]), 2, id="reorder, renumber"),
        pytest.param(lambda e: [*e[:3], e[2], *e[3:]], 4, id="insert of a copy"),
        pytest.param(lambda e: renumbered([*e[:3], e[0], *e[3:]]), 4, id="insert and renumber"),
        pytest.param(lambda e: changed(e, 4, seq=7), 5, id="gap"),
    ],
)
def test_the_first_bad_event_is_named(
    keys: AuditKeys,
    events: list[StoredEvent],
    tamper: Callable[[list[StoredEvent]], list[StoredEvent]],
    broken_at: int,
) -> None:
    report = verify_chain(keys.chain, tamper(events))
    assert report.broken_at == broken_at
    assert report.problem


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize("column", [field.name for field in fields(StoredEvent)])
def test_no_column_can_be_changed_unseen(
    keys: AuditKeys, events: list[StoredEvent], column: str
) -> None:
    value = getattr(events[2], column)
    other = value + 1 if isinstance(value, int) else (value or "") + "x"
    assert verify_chain(keys.chain, changed(events, 2, **{column: other})).broken_at == 3


def test_a_chain_made_with_another_key_is_broken_from_the_start(events: list[StoredEvent]) -> None:
    assert verify_chain(draw_keys().chain, events).broken_at == 1


@pytest.mark.parametrize(
    ("one", "two"),
    [
        pytest.param((None,), ("",), id="null and empty text"),
        pytest.param((None,), ("N",), id="null and its tag"),
        pytest.param((1,), ("1",), id="number and text"),
        pytest.param(("ab", "c"), ("a", "bc"), id="moved border"),
        pytest.param(("aT1:b",), ("a", "b"), id="text that looks like two"),
        pytest.param((1, 2), (12,), id="two numbers and one"),
        pytest.param((1, None), (1,), id="a null more"),
    ],
)
def test_two_different_rows_never_have_the_same_link(
    one: tuple[str | int | None, ...], two: tuple[str | int | None, ...]
) -> None:
    assert link_columns(b"k", one) != link_columns(b"k", two)


def test_a_tail_is_verified_after_what_stands_before_it(
    keys: AuditKeys, events: list[StoredEvent]
) -> None:
    report = verify_chain(keys.chain, events[3:], after=(3, events[2].link))
    assert (report.events, report.broken_at) == (3, None)
