"""Signed heads from the settings to ``audit verify``: here, and on a machine without a secret."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.acceptance.commands import Here
from tests.acceptance.outside import PLACES, settle, write_with_away

from sluicegate.errors import ConfigurationError
from sluicegate.opening.blocking import open_blocking
from sluicegate.opening.folder import open_gate
from sluicegate.testing import FixedClock
from sluicegate.values.callers import Caller

SVC = Caller(subject="svc")
HEADS = PLACES + ', heads: {to: "file:../away/heads.jsonl"}'
DATABASE = Path("contracts/state/audit.db")


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_with_away(tmp_path, HEADS)


def call(times: int = 1) -> None:
    with open_blocking("contracts") as gate:
        for _ in range(times):
            gate.call("job_status", '{"run_id": "run_1", "state": "failed"}', caller=SVC)


def cut(database: Path, events: int) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER audit_event_no_delete")
        newest = connection.execute("SELECT max(seq) FROM audit_event").fetchone()[0]
        connection.execute("DELETE FROM audit_event WHERE seq > ?", (newest - events,))


@pytest.mark.requirement("AUD-3", "CLI")
def test_a_gate_that_closes_leaves_a_head_that_verify_holds_the_record_to(
    sluicegate: Here,
) -> None:
    call()
    whole = sluicegate("audit", "verify")
    assert (whole.code, whole.out.split("\n")[1][:14]) == (0, "SIGNED  1 head")
    cut(DATABASE, 2)
    done = sluicegate("audit", "verify")
    assert (done.code, "CHAIN_SHORTER_THAN_ANCHOR at event 2" in done.out) == (1, True)
    told = json.loads(sluicegate("audit", "verify", "--format", "json-v1").out)
    assert (told["verdict"], told["code"]) == ("broken", "CHAIN_SHORTER_THAN_ANCHOR")
    assert (told["broken_at"], told["heads"]["broken_at"]) == (None, 2)


@pytest.mark.requirement("AUD-3")
def test_a_copy_is_verified_without_any_secret(sluicegate: Here, tmp_path: Path) -> None:
    call(2)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copy("away/heads.jsonl", elsewhere)
    shutil.copy(DATABASE, elsewhere)
    (elsewhere / "public").write_text(sluicegate("audit", "heads", "--public-key").out)
    shutil.rmtree("contracts")
    shutil.rmtree("away")
    verify = (
        *("audit", "verify", "--database", elsewhere / "audit.db"),
        *("--heads", elsewhere / "heads.jsonl", "--public-key", elsewhere / "public"),
    )
    done = sluicegate(*verify)
    assert (done.code, [line.split()[0] for line in done.out.splitlines()]) == (
        0,
        ["LINKED", "SIGNED"],
    )
    assert json.loads(sluicegate(*verify, "--format", "json-v1").out)["verdict"] == "linked"
    cut(elsewhere / "audit.db", 1)
    done = sluicegate(*verify)
    assert (done.code, "CHAIN_SHORTER_THAN_ANCHOR" in done.out) == (1, True)
    (elsewhere / "public").write_text("ed25519 0 AAAA\n")
    assert sluicegate(*verify).code == 2


@pytest.mark.requirement("AUD-3")
def test_heads_signs_what_stands_now_and_says_when_nothing_is_new(sluicegate: Here) -> None:
    settle(PLACES)
    call()
    settle(HEADS)
    none = sluicegate("audit", "verify")  # no key is there yet, and verifying draws none
    assert (none.code, "signing.key is missing" in none.err) == (2, True)
    assert sluicegate("audit", "heads").out.startswith("event 3 is signed with key ")
    assert sluicegate("audit", "heads").out.startswith("nothing new")
    assert sluicegate("audit", "verify").code == 0


@pytest.mark.requirement("AUD-3")
def test_heads_that_were_taken_away_are_told(sluicegate: Here) -> None:
    call()
    Path("away/heads.jsonl").unlink()
    done = sluicegate("audit", "verify")
    assert (done.code, "holds no head" in done.out) == (1, True)


@pytest.mark.requirement("AUD-3")
def test_a_record_that_is_gone_is_shorter_than_its_head(sluicegate: Here) -> None:
    call()
    shutil.rmtree("contracts/state")
    done = sluicegate("audit", "verify")
    assert (done.code, "CHAIN_SHORTER_THAN_ANCHOR at event 1" in done.out) == (1, True)


def test_a_signing_key_that_is_lost_is_not_drawn_anew_once_something_was_signed() -> None:
    call()
    Path("contracts/keys/signing.key").unlink()
    with pytest.raises(ConfigurationError, match=r"signing\.key is missing"):
        call()


@pytest.mark.requirement("AUD-3", "CLI")
def test_a_file_that_verify_is_given_and_cannot_read_is_exit_5(sluicegate: Here) -> None:
    call()
    for option in ("--heads", "--public-key"):
        done = sluicegate("audit", "verify", option, "absent")
        says = "absent cannot be read: there is no such file"
        assert (done.code, done.out, says in done.err) == (5, "", True)
    copy = ("--database", "absent", "--heads", "away/heads.jsonl", "--public-key", "away/public")
    assert sluicegate("audit", "verify", *copy).code == 5
    # The file of the setting is no input of the command: that it is gone is what verify finds.
    Path("away/heads.jsonl").unlink()
    done = sluicegate("audit", "verify")
    assert (done.code, "nothing vouches for the end" in done.out) == (1, True)


def doctor_on_heads(sluicegate: Here) -> tuple[bool, str]:
    looks = json.loads(sluicegate("doctor", "contracts", "--format", "json-v1").out)["looks"]
    (look,) = [look for look in looks if look["name"] == "heads"]
    return look["well"], look["says"]


def test_doctor_tells_whether_the_newest_events_are_covered(sluicegate: Here) -> None:
    assert doctor_on_heads(sluicegate) == (True, "the record holds no event yet")
    call()
    says = "the last head signs event 3, the newest is 3; the heads before it are read by"
    assert doctor_on_heads(sluicegate) == (True, f"{says} sluicegate audit verify")
    cut(DATABASE, 1)
    well, says = doctor_on_heads(sluicegate)
    assert (well, "CHAIN_SHORTER_THAN_ANCHOR: event 3 was signed" in says) == (False, True)
    with closing(sqlite3.connect(DATABASE, isolation_level=None)) as database:
        database.execute("DELETE FROM audit_event")
    assert doctor_on_heads(sluicegate)[0] is False
    Path("away/heads.jsonl").write_text("{}\n")
    well, says = doctor_on_heads(sluicegate)
    assert (well, says.endswith("it is no head")) == (False, True)
    settle(PLACES)
    assert doctor_on_heads(sluicegate)[0] is True


async def test_doctor_tells_of_events_that_no_head_covers(sluicegate: Here) -> None:
    async with open_gate("contracts", clock=FixedClock(datetime(2026, 1, 1, tzinfo=UTC))) as gate:
        await gate.call("job_status", '{"run_id": "run_1", "state": "failed"}', caller=SVC)
    Path("away/heads.jsonl").unlink()
    told = "heads.jsonl: events after 0 are covered by no head since 2026-01-01T00:00:00"
    well, says = await asyncio.to_thread(doctor_on_heads, sluicegate)
    assert (well, says.startswith("there is no head in "), told in says) == (False, True, True)

    # A gate that is at work adds new ones: what waits is as old as before.
    settle(PLACES)
    await asyncio.to_thread(call)
    settle(HEADS)
    assert not Path("away/heads.jsonl").exists()
    well, says = await asyncio.to_thread(doctor_on_heads, sluicegate)
    assert (well, told in says) == (False, True)


REFUSED = {
    "beside the record": (HEADS.replace("../away", "state"), "beside the record"),
    "in a folder that is not there": (HEADS.replace("away", "nosuch"), "nosuch does not exist"),
    "of a record in memory": (HEADS.replace("sqlite:state/audit.db", "memory:"), "memory:"),
}


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize(("audit", "says"), REFUSED.values(), ids=REFUSED)
def test_heads_that_would_prove_nothing_are_refused_when_the_folder_opens(
    audit: str, says: str
) -> None:
    settle(audit)
    with pytest.raises(ConfigurationError, match=says):
        call()
    assert not Path("nosuch").exists()


@pytest.mark.requirement("AUD-3")
def test_heads_and_a_second_sink_in_one_file_are_refused_whatever_its_names(
    tmp_path: Path,
) -> None:
    away = tmp_path / "away"
    (away / "link.jsonl").symlink_to("heads.jsonl")
    for also in ("file:../away/link.jsonl", f"file:{away}/heads.jsonl"):
        settle(f'{HEADS}, also: "{also}"')
        with pytest.raises(ConfigurationError, match="a file of its own"):
            call()
    assert not (away / "heads.jsonl").exists()


@pytest.mark.parametrize(
    "arguments",
    [("verify", "--database", "x.db"), ("verify", "--public-key", "x"), ("heads",)],
    ids=["a copy without heads", "a key without heads", "no heads in the settings"],
)
def test_heads_that_are_nowhere_are_a_matter_of_usage(
    sluicegate: Here, arguments: tuple[str, ...]
) -> None:
    settle(PLACES)
    call()
    Path("x").touch()
    assert sluicegate("audit", *arguments).code == 2
