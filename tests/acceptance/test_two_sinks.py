"""``audit.also`` from the settings on: a gate that has two sinks."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.acceptance.commands import Here
from tests.acceptance.outside import PLACES, settle, write_with_away

from sluicegate.errors import ConfigurationError
from sluicegate.opening.blocking import BlockingGate, open_blocking
from sluicegate.opening.folder import open_gate
from sluicegate.testing import FixedClock
from sluicegate.values.callers import Caller

SVC = Caller(subject="svc")
ALSO = PLACES + ', also: "file:../away/events.jsonl"'
SINK = Path("away/events.jsonl")


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_with_away(tmp_path, ALSO)


def call(tool: str = "job_status") -> str | None:
    with open_blocking("contracts") as gate:
        return call_of(gate, tool)


def call_of(gate: BlockingGate, tool: str = "job_status") -> str | None:
    arguments = '{"run_id": "run_1", "state": "failed"}'
    return gate.call(tool, arguments, caller=SVC).code


def kinds() -> list[str]:
    return [json.loads(line)["kind"] for line in SINK.read_text().splitlines()]


@pytest.mark.requirement("AUD-3")
def test_a_gate_writes_every_event_to_both_and_acts_follow(sluicegate: Here) -> None:
    assert call() is None
    assert kinds() == ["contracts", "intent", "outcome"]
    refs = json.loads(sluicegate("audit", "list", "--format", "json-v1").out)["events"]
    (ref,) = {event["arguments_ref"] for event in refs if event["arguments_ref"]}
    assert sluicegate("audit", "reveal", ref, "--reason", "ticket 7").code == 0
    assert call() is None
    assert kinds() == [
        *("contracts", "intent", "outcome", "operator"),
        *("contracts", "intent", "outcome"),
    ]
    assert "SECRET-OF-UPSTREAM" not in SINK.read_text()


@pytest.mark.requirement("AUD-3", "RES-9")
@pytest.mark.parametrize(("rule", "code"), [("all", "UNAVAILABLE"), ("any", None)])
def test_a_sink_that_cannot_be_written_counts_as_the_settings_say(
    rule: str, code: str | None
) -> None:
    settle(f"{ALSO}, sinks: {rule}")
    with open_blocking("contracts") as gate:
        assert call_of(gate) is None
        SINK.rename(SINK.with_name("kept"))
        SINK.mkdir()
        assert call_of(gate) == code
        SINK.rmdir()
        SINK.with_name("kept").rename(SINK)
        assert call_of(gate) is None
    assert kinds()[-2:] == ["intent", "outcome"]


@pytest.mark.requirement("AUD-3", "RES-9")
@pytest.mark.parametrize("heads", ["", ', heads: {to: "file:../away/heads.jsonl"}'])
def test_the_folder_of_a_disk_that_is_gone_is_not_made(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, heads: str
) -> None:
    settle(ALSO + heads)
    away, aside = Path("away"), Path("aside")
    with open_blocking("contracts") as gate:
        assert call_of(gate) is None
        away.rename(aside)
        assert [call_of(gate) for _ in range(2)] == ["UNAVAILABLE"] * 2
        assert not away.exists()
    told = f"{tmp_path}/away/events.jsonl: the folder {tmp_path}/away does not exist: mount the"
    assert told in caplog.text
    assert "any more" not in caplog.text
    with pytest.raises(ConfigurationError, match=f"{tmp_path}/away does not exist"):
        call()
    assert not away.exists()
    aside.rename(away)
    assert call() is None


@pytest.mark.requirement("AUD-3")
def test_a_new_file_is_gone_on_with_once_what_stands_outside_of_the_old_one_is_moved(
    sluicegate: Here,
) -> None:
    """As the pages of CHAIN_BROKEN and CHAIN_SHORTER_THAN_ANCHOR say."""
    audit = ALSO + ', heads: {to: "file:../away/heads.jsonl"}'
    settle(audit)
    assert call() is None
    Path("contracts/state/audit.db").write_bytes(b"")
    assert sluicegate("audit", "verify").code == 1
    settle(audit.replace("audit.db", "new.db"))
    with pytest.raises(ConfigurationError, match=r"record\.begun"):
        call()
    Path("contracts/keys/record.begun").unlink()
    SINK.rename(SINK.with_name("old.jsonl"))
    Path("away/heads.jsonl").rename("away/old-heads.jsonl")
    assert call() is None
    assert sluicegate("audit", "verify").code == 0


def doctor_on_the_sink(sluicegate: Here) -> tuple[bool, str]:
    looks = json.loads(sluicegate("doctor", "contracts", "--format", "json-v1").out)["looks"]
    (look,) = [look for look in looks if look["name"] == "second sink"]
    return look["well"], look["says"]


def test_doctor_tells_whether_the_second_sink_follows(sluicegate: Here) -> None:
    call()
    says = "it holds the events up to 3, 0 are still to come"
    assert doctor_on_the_sink(sluicegate) == (True, says)
    with closing(sqlite3.connect("contracts/state/audit.db", isolation_level=None)) as database:
        database.execute("DROP TRIGGER audit_event_no_delete")
        database.execute("DELETE FROM audit_event WHERE seq = 3")
    well, says = doctor_on_the_sink(sluicegate)
    assert (well, "CHAIN_SHORTER_THAN_ANCHOR: event 3 is in" in says) == (False, True)
    SINK.write_text("x\n")
    assert doctor_on_the_sink(sluicegate)[0] is False


async def test_doctor_tells_of_a_sink_that_holds_not_what_it_should(
    sluicegate: Here, tmp_path: Path
) -> None:
    """Another disk at its place, or none: what is old and not there is missing."""
    before = FixedClock(datetime(2026, 1, 1, tzinfo=UTC))
    async with open_gate("contracts", clock=before) as gate:
        await gate.call("job_status", '{"run_id": "run_1", "state": "failed"}', caller=SVC)
    whole = SINK.read_text().splitlines(keepends=True)

    SINK.unlink()
    well, says = await asyncio.to_thread(doctor_on_the_sink, sluicegate)
    told = f"there is no event in {tmp_path}/away/events.jsonl: it holds the events up to 0, and"
    assert (well, says[: len(told)]) == (False, told)

    SINK.write_text("".join(whole[:2]))
    well, says = await asyncio.to_thread(doctor_on_the_sink, sluicegate)
    assert (well, "event 3 of 2026-01-01T00:00:00" in says) == (False, True)


def test_what_an_operator_did_without_a_gate_is_not_missed_in_the_sink(sluicegate: Here) -> None:
    call()
    assert sluicegate("audit", "rotate", "--reason", "ticket 7").code == 0
    with closing(sqlite3.connect("contracts/state/audit.db", isolation_level=None)) as database:
        database.execute("DROP TRIGGER audit_event_no_update")
        database.execute("UPDATE audit_event SET time = '2026-01-01T00:00:00.000000Z'")
    well, says = doctor_on_the_sink(sluicegate)
    assert (well, says.endswith(" are still to come")) == (True, True)


REFUSED = {
    "beside the record": (ALSO.replace("../away", "state"), "beside the record"),
    "in a folder that is not there": (ALSO.replace("away", "nosuch"), "nosuch does not exist"),
    "in a file": (ALSO.replace("away", "contracts/sluicegate.yaml"), "yaml is no folder"),
    "of a record in memory": (ALSO.replace("sqlite:state/audit.db", "memory:"), "memory:"),
}


@pytest.mark.parametrize(("audit", "says"), REFUSED.values(), ids=REFUSED)
def test_a_sink_that_would_prove_nothing_is_refused_when_the_folder_opens(
    audit: str, says: str
) -> None:
    settle(audit)
    with pytest.raises(ConfigurationError, match=says):
        call()
    assert not Path("nosuch").exists()
