"""A record that is gone, emptied or was never begun: no command calls it intact or begins it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.acceptance.commands import Here
from tests.acceptance.folders import write_folder

ARGUMENTS = '{"run_id": "run_1", "state": "failed"}'
CALL = ("call", "job_status", "--arguments", ARGUMENTS, "--caller", "svc")
READERS = (
    pytest.param(("audit", "list"), id="list"),
    pytest.param(("audit", "show", "1"), id="show"),
    pytest.param(("audit", "purge"), id="purge"),
    pytest.param(("audit", "resolve", "req.x", "--as", "done", "--reason", "x"), id="resolve"),
    pytest.param(("audit", "reveal", "ref", "--reason", "x"), id="reveal"),
    pytest.param(("audit", "rotate", "--reason", "x"), id="rotate"),
    pytest.param(("why", "req.00000000"), id="why"),
)


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path / "contracts")


def remove() -> None:
    for path in Path("contracts/state").glob("audit.db*"):
        path.unlink()


def remove_room() -> None:
    shutil.rmtree("contracts/state")


def empty() -> None:
    remove()
    Path("contracts/state/audit.db").touch()


def lose_log() -> None:
    """All tables stood in the log, as after a crash: what is left is a header."""
    remove()
    with closing(sqlite3.connect("contracts/state/audit.db")) as connection:
        connection.execute("PRAGMA journal_mode = WAL")


def empty_tables() -> None:
    """Whoever may write the file takes all rows away, and puts the guards back."""
    with closing(sqlite3.connect("contracts/state/audit.db", isolation_level=None)) as connection:
        guards = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        stood = guards.fetchall()
        for name, _ in stood:
            connection.execute(f"DROP TRIGGER {name}")
        for table in ("audit_event", "open_call", "reservation", "custody_blob", "quota_spent"):
            connection.execute(f"DELETE FROM {table}")
        for _, sql in stood:
            connection.execute(sql)


def misspell() -> None:
    settings = Path("contracts/sluicegate.yaml")
    settings.write_text(settings.read_text().replace("state/audit.db", "state/adit.db"))


LOSSES = (
    pytest.param(remove, id="removed"),
    pytest.param(remove_room, id="removed with its directory"),
    pytest.param(empty, id="emptied"),
    pytest.param(lose_log, id="without tables"),
    pytest.param(empty_tables, id="without a row"),
    pytest.param(misspell, id="audit.store mistyped"),
)


def standing() -> set[str]:
    return {str(path) for room in ("state", "keys") for path in Path("contracts", room).rglob("*")}


@pytest.mark.requirement("CLI", "AUD-3")
@pytest.mark.parametrize("lose", LOSSES)
def test_a_record_that_is_lost_is_never_intact(sluicegate: Here, lose: Callable[[], None]) -> None:
    sluicegate(*CALL)
    lose()
    done = sluicegate("audit", "verify")
    assert done.code == 1
    assert done.out.startswith("CHAIN_BROKEN at event 1: the record contracts/state/")
    told = json.loads(sluicegate("audit", "verify", "--format", "json-v1").out)
    assert (told["verdict"], told["code"]) == ("broken", "CHAIN_BROKEN")


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize("lose", LOSSES)
def test_a_gate_does_not_begin_a_new_record_in_place_of_a_lost_one(
    sluicegate: Here, lose: Callable[[], None]
) -> None:
    sluicegate(*CALL)
    lose()
    refused = sluicegate(*CALL)
    assert (refused.code, refused.out) == (2, "")
    assert "To begin a new record on purpose, delete contracts/keys/record.begun" in refused.err
    assert sluicegate("disable", "job_status", "--reason", "x").code == 5
    assert not Path("contracts/state/adit.db").exists()
    assert sluicegate("audit", "verify").code == 1
    Path("contracts/keys/record.begun").unlink()
    assert sluicegate(*CALL).code == 0
    assert sluicegate("audit", "verify").code == 0


@pytest.mark.requirement("CLI", "AUD-3")
@pytest.mark.parametrize("command", READERS)
def test_who_reads_or_acts_on_a_lost_record_creates_nothing(
    sluicegate: Here, command: tuple[str, ...]
) -> None:
    sluicegate(*CALL)
    remove()
    before = standing()
    done = sluicegate(*command)
    assert (done.code, done.out) == (5, "")
    assert done.err.startswith("the record contracts/state/audit.db is gone, and ")
    assert standing() == before


@pytest.mark.requirement("CLI", "AUD-3")
@pytest.mark.parametrize("command", [*READERS, pytest.param(("audit", "verify"), id="verify")])
def test_a_record_that_was_never_begun_is_exit_5_and_stays_so(
    sluicegate: Here, command: tuple[str, ...]
) -> None:
    done = sluicegate(*command)
    assert (done.code, done.out) == (5, "")
    assert done.err.startswith("there is no record at contracts/state/audit.db")
    assert standing() == set()


@pytest.mark.requirement("CLI", "AUD-3")
def test_a_record_without_an_event_was_not_checked(sluicegate: Here) -> None:
    sluicegate("disable", "job_status", "--undo", "--reason", "x")  # opens it, and writes nothing
    done = sluicegate("audit", "verify")
    assert (done.code, done.out) == (3, "EMPTY  0 events: nothing was checked\n")
    told = json.loads(sluicegate("audit", "verify", "--format", "json-v1").out)
    assert (told["verdict"], told["code"], told["events"]) == ("empty", None, 0)


def test_a_record_of_an_earlier_release_is_marked_when_it_is_opened(sluicegate: Here) -> None:
    sluicegate(*CALL)
    Path("contracts/keys/record.begun").unlink()
    assert sluicegate("audit", "verify").code == 0
    remove()
    assert sluicegate("audit", "verify").code == 1


@pytest.mark.requirement("AUD-3")
def test_keys_without_a_directory_leave_the_mark_beside_the_record(
    sluicegate: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUDIT_KEYS", "A" * 43 + "=")
    settings = Path("contracts/sluicegate.yaml")
    settings.write_text(settings.read_text().replace("file:keys/", "env:AUDIT_KEYS"))
    assert sluicegate(*CALL).code == 0
    Path("contracts/state/audit.db").unlink()
    assert sluicegate("audit", "verify").code == 1
    assert sluicegate(*CALL).code == 2


@pytest.mark.requirement("CLI", "AUD-3")
def test_doctor_says_that_a_record_is_lost(sluicegate: Here) -> None:
    sluicegate(*CALL)
    remove()
    looked = sluicegate("doctor", "contracts")
    assert looked.code == 1
    assert "the record contracts/state/audit.db is gone" in looked.out


@pytest.mark.requirement("CLI", "AUD-3")
def test_doctor_says_that_the_events_of_a_record_are_gone(sluicegate: Here) -> None:
    sluicegate(*CALL)
    empty_tables()
    looked = sluicegate("doctor", "contracts")
    assert looked.code == 1
    assert "the record contracts/state/audit.db is empty" in looked.out


@pytest.mark.requirement("AUD-3")
def test_a_record_whose_first_event_never_came_is_begun_all_the_same(sluicegate: Here) -> None:
    sluicegate("disable", "job_status", "--undo", "--reason", "x")  # opens it, and writes nothing
    assert Path("contracts/keys/record.begun").exists()
    assert sluicegate(*CALL).code == 0
    assert sluicegate("audit", "verify").code == 0


@pytest.mark.requirement("AUD-3")
def test_a_crash_behind_the_first_commit_leaves_the_mark_to_the_next_opening(
    sluicegate: Here,
) -> None:
    sluicegate(*CALL)
    marker = Path("contracts/keys/record.begun")
    told = marker.read_text(encoding="ascii")
    # What an earlier release left, or a process that ended before it could say more.
    marker.write_text(told.partition("\n")[0] + "\n", encoding="ascii")
    assert sluicegate("audit", "verify").code == 0
    assert marker.read_text(encoding="ascii") == told
    empty_tables()
    assert sluicegate("audit", "verify").code == 1


@pytest.mark.requirement("CLI", "AUD-3")
def test_a_record_that_says_it_is_none_is_told_as_changed_and_not_as_empty(
    sluicegate: Here,
) -> None:
    sluicegate(*CALL)
    with closing(sqlite3.connect("contracts/state/audit.db")) as connection:
        connection.execute("PRAGMA user_version = 0")
    done = sluicegate("audit", "verify")
    assert done.code == 1
    assert "user_version is 0, which no gate writes" in done.out
    assert "empty" not in done.out
    assert sluicegate("doctor", "contracts").code == 1
