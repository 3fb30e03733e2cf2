"""One item that cannot be written: it alone is refused, and what shares its commit gets in."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.postgres_servers import unguarded
from tests.unit.stores.made import intent, outcome

from sluicegate.gates.events import Kept
from sluicegate.gates.keeping import SELECTED
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores.postgres import PostgresStore
from sluicegate.stores.postgres_place import Place
from sluicegate.stores.record_ledger import Ledger
from sluicegate.stores.sqlite import SqliteStore
from sluicegate.stores.writing import Item

pytestmark = pytest.mark.requirement("AUD-1", "AUD-3")

Shared = SqliteStore | PostgresStore
TOO_LONG_FOR_AN_INDEX = secrets.token_hex(4_000)


@pytest.fixture(params=["sqlite", "postgres"])
def shared(request: pytest.FixtureRequest) -> Shared:
    opened: Shared = request.getfixturevalue(request.param)
    return opened


@contextmanager
def busy(store: Shared) -> Iterator[None]:
    """Keep the writer at work, so that what is queued meanwhile waits for one commit."""
    begun, end = threading.Event(), threading.Event()

    def wait(_: Ledger) -> None:
        begun.set()
        end.wait(30)

    store._live().put(Item(wait, 1))
    begun.wait(30)
    yield
    end.set()


def fail_after_writing(ledger: Ledger) -> None:
    ledger.append([intent("req.at-fault")])
    raise RuntimeError("its text may hold a value")


def refuse_after_writing(ledger: Ledger) -> None:
    ledger.append([intent("req.at-fault")])
    raise AuditUnavailable("there is no partition for it")


def give_no_text(ledger: Ledger) -> None:
    ledger.connection.execute("INSERT INTO store_fact VALUES (?, ?)", ("a", {"b": 1}))


def break_a_constraint(ledger: Ledger) -> None:
    ledger.connection.execute("INSERT INTO store_fact VALUES (?, ?)", ("b", None))


@pytest.mark.parametrize("place_of_it", [0, 5, 11])
@pytest.mark.parametrize(
    ("work", "told"),
    [
        (fail_after_writing, ": RuntimeError$"),
        (refuse_after_writing, "there is no partition for it$"),
        (give_no_text, r"type 'dict'|ProgrammingError"),
        (break_a_constraint, r"(?i)not.null"),
    ],
)
async def test_work_that_fails_is_refused_alone(
    shared: Shared, work: Callable[[Ledger], Any], told: str, place_of_it: int
) -> None:
    names = [f"req.{number:08}" for number in range(12)]
    at_fault = Item(work, 1)
    with busy(shared):
        others = []
        for number, name in enumerate(names):
            if number == place_of_it:
                shared._live().put(at_fault)
            others.append(shared.enqueue([intent(name), outcome(name)]))
    assert [len(future.result(30)) for future in others] == [2] * 12  # type: ignore[union-attr]
    with pytest.raises(AuditUnavailable, match=told):
        at_fault.future.result(30)  # type: ignore[call-arg]
    assert [event.request_id for event in shared.events()] == [n for n in names for _ in range(2)]
    assert shared.verify().problem is None


async def test_a_name_too_long_for_an_index_denies_nobody_else(postgres: PostgresStore) -> None:
    with busy(postgres):
        before = postgres.enqueue([outcome("req.before")])
        at_fault = postgres.enqueue([intent("req.at-fault", caller_subject=TOO_LONG_FOR_AN_INDEX)])
        after = [postgres.enqueue([intent(f"req.after-{number}")]) for number in range(3)]
    for future in (before, *after):
        assert len(future.result(30)) == 1
    with pytest.raises(AuditUnavailable, match="ProgramLimitExceeded 54000: index row size"):
        at_fault.result(30)
    written = [event.request_id for event in postgres.events()]
    assert written == ["req.before", "req.after-0", "req.after-1", "req.after-2"]
    assert postgres.verify().problem is None


async def test_the_longest_names_fit_every_index(postgres: PostgresStore) -> None:
    """Of characters that nothing compresses, and that a JSON text would spell in six bytes."""
    control = "".join(chr(1 + secrets.randbelow(31)) for _ in range(1_024))
    names = {"caller_subject": secrets.token_hex(512), "caller_tenant": control}
    named = {**names, "session": control, "call_id": control, "tool": "a" * 64}
    await postgres.record([intent(**named)])
    selected = (Kept(kind=SELECTED, content=b"{}", keep_days=1),)
    await postgres.record([outcome(**named, kept=selected)])
    assert postgres.verify().problem is None


async def test_where_the_record_says_no_to_all_nothing_is_tried_apart(
    postgres: PostgresStore, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    await postgres.record([intent()])
    with unguarded(place) as intruder:
        intruder.execute("ALTER TABLE open_call RENAME TO away")
    tried: list[int] = []
    with busy(postgres):
        write = postgres._live()._write

        def counted(batch: list[Item], *, joined: bool) -> None:
            tried.append(len(batch))
            write(batch, joined=joined)

        monkeypatch.setattr(postgres._live(), "_write", counted)
        waiting = [postgres.enqueue([outcome(f"req.{number}")]) for number in range(8)]
    said = [str(future.exception(30)) for future in waiting]
    assert all("UndefinedTable 42P01" in text for text in said)
    assert tried == [1]  # as it was handed over; what waited joined it
