"""A record that is open while another process rotates its custody key, every store alike."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.stores.made import NOW, kept, outcome
from tests.unit.stores.test_terms import ANSWER_OF_A, A, B, found, later, proof

from sluicegate.errors import ConfigurationError
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores.keyring import ReadKeys
from sluicegate.stores.keys import AuditKeys, draw_keys
from sluicegate.stores.postgres import PostgresStore
from sluicegate.stores.sqlite import SqliteStore

pytestmark = pytest.mark.requirement("AUD-4")

Store = SqliteStore | PostgresStore
Open = Callable[..., Store]


@pytest.fixture(params=["sqlite", "postgres"])
async def opening(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Open]:
    """Opens one record as often as asked, each time as another process would."""
    opened: list[Store] = []
    place = request.getfixturevalue("place") if request.param == "postgres" else None

    def open_one(keys: AuditKeys, read_keys: ReadKeys | None = None) -> Store:
        store: Store
        if place is None:
            store = SqliteStore(tmp_path / "a.db", keys, read_keys=read_keys)
        else:
            store = PostgresStore(place, keys, read_keys=read_keys)
        opened.append(store)
        return store

    yield open_one
    for store in opened:
        await store.close()


def rotated(keys: AuditKeys) -> AuditKeys:
    new = draw_keys()
    return replace(keys, custody={**keys.custody, **new.custody}, active=new.active)


async def keep(store: Store, content: bytes) -> str:
    """Keep bytes in the record, and return their reference."""
    await store.record([outcome(B, kept=kept(content))])
    return next(store.events(newest_first=True)).raw_ref or ""


async def answer(store: Store) -> object:
    given = await store.answer_of(ANSWER_OF_A, now=later(5))
    return None if given is None else given.data


async def show(store: Store, ref: str) -> bytes:
    return await store.reveal(ref, who="olga", reason="ticket 7", now=NOW)


@pytest.mark.requirement("ACC-4", "EVI-1")
async def test_what_another_process_wrapped_anew_still_answers_proves_and_is_shown(
    opening: Open, keys: AuditKeys
) -> None:
    source = [keys]
    running = opening(keys, lambda: source[-1])
    await running.record([proof(A)])
    ref = await keep(running, b"kept")
    asks: list[tuple[Callable[[], Awaitable[object]], object]] = [
        (lambda: answer(running), {"state": "failed"}),
        (lambda: found(running), [A]),  # type: ignore[arg-type]
        (lambda: show(running, ref), b"kept"),
    ]
    for ask, expected in asks:
        source.append(rotated(source[-1]))
        assert await opening(source[-1]).rewrap(now=NOW, who="olga") == 2
        assert await ask() == expected


async def test_who_met_a_new_key_seals_with_it_and_forgets_none_of_the_older_ones(
    opening: Open, keys: AuditKeys
) -> None:
    both = rotated(keys)
    only_new = replace(both, custody={both.active: both.custody[both.active]})
    running = opening(keys, lambda: only_new)
    await running.record([proof(A)])
    assert await opening(both).rewrap(now=NOW, who="olga") == 1
    early = await keep(running, b"sealed before it met the new key")
    assert await answer(running) == {"state": "failed"}
    late = await keep(running, b"sealed since")
    assert await show(opening(only_new), late) == b"sealed since"
    assert await show(running, early) == b"sealed before it met the new key"


def refuse() -> AuditKeys:
    raise ConfigurationError("the disk is gone")


SOURCES: dict[str, tuple[Callable[[AuditKeys], ReadKeys | None], str]] = {
    "cannot be asked": (lambda keys: None, "put it back to where audit.keys says"),
    "does not hold the key": (lambda keys: lambda: keys, "put it back to where audit.keys says"),
    "cannot be read": (lambda keys: refuse, "cannot be read anew: the disk is gone"),
    "is that of another record": (lambda keys: draw_keys, "the keys of another record"),
}


@pytest.mark.requirement("ACC-4", "EVI-1")
@pytest.mark.parametrize("source", SOURCES)
async def test_a_key_that_its_source_does_not_give_is_told_and_never_no_answer(
    opening: Open, keys: AuditKeys, source: str
) -> None:
    read_of, says = SOURCES[source]
    running = opening(keys, read_of(keys))
    await running.record([proof(A)])
    ref = await keep(running, b"kept")
    await opening(rotated(keys)).rewrap(now=NOW, who="olga")
    for ask in (answer(running), found(running), show(running, ref)):  # type: ignore[arg-type]
        with pytest.raises(AuditUnavailable, match=says):
            await ask
    # What can be done without that key goes on.
    assert await show(running, await keep(running, b"new")) == b"new"
    assert running.verify().broken_at is None
