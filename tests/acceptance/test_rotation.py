"""``sluicegate audit rotate``: a new custody key, and nothing that was kept is lost."""

from __future__ import annotations

import base64
import getpass
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from tests.acceptance.commands import Here, run_apart
from tests.acceptance.folders import write_folder

from sluicegate.opening.blocking import open_blocking
from sluicegate.values.callers import Caller

KEYRING = Path("contracts/keys/custody.keyring")
SVC = Caller(subject="svc")


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path / "contracts")


def other(state: str) -> str:
    """Arguments whose answer is about another run: it is refused, and kept."""
    return json.dumps({"run_id": "run_1", "state": state})


def ask(sluicegate: Here, *arguments: str) -> dict[str, object]:
    told: dict[str, object] = json.loads(sluicegate(*arguments, "--format", "json-v1").out)
    return told


def events(sluicegate: Here) -> list[dict[str, object]]:
    found: list[dict[str, object]] = ask(sluicegate, "audit", "list")["events"]  # type: ignore[assignment]
    return found


def acts(sluicegate: Here, *names: str) -> list[dict[str, object]]:
    """Return the details of the acts so named, the oldest first."""
    details = [event["detail"] for event in reversed(events(sluicegate))]
    return [each for each in details if isinstance(each, dict) and each.get("act") in names]


def reveal(refs: Sequence[str]) -> list[object]:
    given = [run_apart("audit", "reveal", ref, "--reason", "ticket 7") for ref in refs]
    assert [each.code for each in given] == [0] * len(refs), given
    return [json.loads(each.out)["note"] for each in given]


def kept_refs(sluicegate: Here) -> list[str]:
    return [str(event["raw_ref"]) for event in events(sluicegate) if event["raw_ref"]]


def wrapping_keys() -> set[str]:
    with closing(sqlite3.connect("contracts/state/audit.db")) as connection:
        return {row[0] for row in connection.execute("SELECT key_id FROM custody_blob")}


@pytest.mark.requirement("CLI", "AUD-4")
def test_a_rotation_wraps_every_data_key_anew_and_is_recorded_first(sluicegate: Here) -> None:
    sluicegate("call", "job_status", "--arguments", other("other"), "--caller", "svc")
    (old,) = wrapping_keys()
    done = sluicegate("audit", "rotate", "--reason", "ticket 9")
    (new,) = wrapping_keys()
    assert new != old
    assert (done.code, done.out) == (
        0,
        f"custody key {new} is active; data keys wrapped anew: 2\n",
    )
    assert "until they need the new one or are opened anew" in done.err
    assert "only then run `sluicegate audit rotate --rewrap-only --reason TEXT` for" in done.err
    who = f"os:{getpass.getuser()}"
    assert acts(sluicegate, "rotate", "rewrap") == [
        {"act": "rotate", "who": who, "key_id": new, "drawn": True, "reason": "ticket 9"},
        {"act": "rewrap", "who": who, "key_id": new, "count": 2},
    ]
    assert reveal(kept_refs(sluicegate)) == ["SECRET-OF-UPSTREAM"]
    assert len(KEYRING.read_text().split()) == 2
    assert sluicegate("audit", "verify").code == 0
    assert sluicegate("doctor", "contracts").code == 0


@pytest.mark.requirement("CLI", "AUD-4")
def test_what_a_running_gate_seals_with_the_older_key_stays_readable(sluicegate: Here) -> None:
    with open_blocking("contracts") as gate:
        gate.call("job_status", other("other"), caller=SVC)
        (old,) = wrapping_keys()
        told = ask(sluicegate, "audit", "rotate", "--reason", "ticket 9")
        assert told["drawn"] is True
        new = str(told["key_id"])
        upstream = Path("contracts/upstream.py")
        upstream.write_text(upstream.read_text().replace("SECRET-OF-UPSTREAM", "SEALED-LATER"))
        gate.call("job_status", other("other"), caller=SVC)
        assert wrapping_keys() == {old, new}
        assert reveal(kept_refs(sluicegate)) == ["SEALED-LATER", "SECRET-OF-UPSTREAM"]
    again = ask(sluicegate, "audit", "rotate", "--rewrap-only", "--reason", "gates opened anew")
    assert (again["key_id"], again["drawn"], again["rewrapped"]) == (new, False, 1)
    assert wrapping_keys() == {new}
    assert reveal(kept_refs(sluicegate)) == ["SEALED-LATER", "SECRET-OF-UPSTREAM"]
    assert len(KEYRING.read_text().split()) == 2
    with open_blocking("contracts") as gate:
        upstream.write_text(upstream.read_text().replace("SEALED-LATER", "SEALED-LAST"))
        gate.call("job_status", other("other"), caller=SVC)
    assert wrapping_keys() == {new}
    assert sluicegate("audit", "verify").code == 0


@pytest.mark.requirement("AUD-4", "ACC-4")
def test_a_running_gate_repeats_an_answer_that_a_rotation_wrapped_anew(sluicegate: Here) -> None:
    contract = Path("contracts/restart/contract.yaml")
    contract.write_text(f"{contract.read_text()}idempotency: {{key: host, keep_s: 600}}\n")
    with open_blocking("contracts") as gate:
        given = gate.call("restart", other("failed"), caller=SVC, call_id="c-1")
        (old,) = wrapping_keys()
        assert sluicegate("audit", "rotate", "--reason", "ticket 9").code == 0
        (new,) = wrapping_keys() - {old}
        again = gate.call("restart", other("failed"), caller=SVC, call_id="c-1")
        shown = json.loads(again.to_json())
        assert (again.outcome, shown.get("replayed")) == ("success", True)
        assert shown["data"] == json.loads(given.to_json())["data"]
        gate.call("restart", other("succeeded"), caller=SVC, call_id="c-2")
    assert wrapping_keys() == {new}


@pytest.mark.requirement("CLI", "AUD-4")
def test_a_rotation_needs_a_reason(sluicegate: Here) -> None:
    sluicegate("call", "job_status", "--arguments", other("other"), "--caller", "svc")
    before = KEYRING.read_bytes()
    assert sluicegate("audit", "rotate").code == 2
    assert sluicegate("audit", "rotate", "--reason", " ").code == 2
    assert KEYRING.read_bytes() == before
    assert acts(sluicegate, "rotate") == []


def keep_masters_outside(monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Let the keys stand in a variable that holds the first of the two master keys returned."""
    settings = Path("contracts/sluicegate.yaml")
    settings.write_text(settings.read_text().replace("file:keys/", "env:MASTER"))
    first, second = (base64.b64encode(letter * 32).decode() for letter in (b"m", b"n"))
    monkeypatch.setenv("MASTER", first)
    return first, second


@pytest.mark.requirement("CLI", "AUD-4")
def test_master_keys_of_the_environment_are_appended_there_and_wrapped_anew_here(
    sluicegate: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = keep_masters_outside(monkeypatch)
    sluicegate("call", "job_status", "--arguments", other("other"), "--caller", "svc")
    (old,) = wrapping_keys()
    refused = sluicegate("audit", "rotate", "--reason", "x")
    assert refused.code == 2
    assert "append the new master key" in refused.err
    assert "Open every gate anew with that value; only then" in refused.err
    assert "`sluicegate audit rotate --rewrap-only --reason TEXT`" in refused.err
    assert acts(sluicegate, "rotate") == []
    monkeypatch.setenv("MASTER", f"{first} {second}")
    done = ask(sluicegate, "audit", "rotate", "--rewrap-only", "--reason", "x")
    assert (done["drawn"], done["rewrapped"]) == (False, 2)
    assert wrapping_keys() == {done["key_id"]} != {old}
    assert reveal(kept_refs(sluicegate)) == ["SECRET-OF-UPSTREAM"]


@pytest.mark.requirement("CLI", "AUD-4")
def test_doctor_counts_the_data_keys_whose_custody_key_is_not_here(
    sluicegate: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = keep_masters_outside(monkeypatch)
    sluicegate("call", "job_status", "--arguments", other("other"), "--caller", "svc")
    looks: list[dict[str, object]] = ask(sluicegate, "doctor", "contracts")["looks"]  # type: ignore[assignment]
    well = {"name": "custody", "well": True, "says": "every data key opens with a key that is here"}
    assert [look for look in looks if look["name"] == "custody"] == [well]
    monkeypatch.setenv("MASTER", f"{first} {second}")
    sluicegate("audit", "rotate", "--rewrap-only", "--reason", "x")
    (new,) = wrapping_keys()
    monkeypatch.setenv("MASTER", first)
    ill = sluicegate("doctor", "contracts", "--format", "json-v1")
    assert ill.code == 1
    assert [look for look in json.loads(ill.out)["looks"] if not look["well"]] == [
        {
            "name": "custody",
            "well": False,
            "says": f"2 data keys are wrapped under custody key {new}, which this process does not"
            " have: put its master key back into the environment variable MASTER (audit.keys),"
            " behind the first, and open every gate anew",
        }
    ]
    (ref, *_) = kept_refs(sluicegate)
    told = sluicegate("audit", "reveal", ref, "--reason", "x")
    assert "environment variable MASTER (audit.keys)" in told.err


@pytest.mark.requirement("CLI", "AUD-4")
def test_a_line_of_the_keyring_file_that_is_gone_is_told_with_its_file(sluicegate: Here) -> None:
    sluicegate("call", "job_status", "--arguments", other("other"), "--caller", "svc")
    before = KEYRING.read_text()
    sluicegate("audit", "rotate", "--reason", "x")
    (new,) = wrapping_keys()
    KEYRING.write_text(before)
    ill = sluicegate("doctor", "contracts")
    assert (ill.code, f"custody key {new}, which this process does not have" in ill.out) == (
        1,
        True,
    )
    assert f"put its line back into {KEYRING} (audit.keys)" in ill.out


@pytest.mark.requirement("CLI", "AUD-4")
def test_master_keys_in_the_wrong_order_are_told_as_that(
    sluicegate: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = keep_masters_outside(monkeypatch)
    sluicegate("call", "job_status", "--arguments", other("other"), "--caller", "svc")
    monkeypatch.setenv("MASTER", f"{second} {first}")
    for told in (sluicegate("audit", "verify").err, sluicegate("doctor", "contracts").out):
        assert "one of the later keys is: put that one first" in told
    monkeypatch.setenv("MASTER", second)
    assert "put the right keys back" in sluicegate("audit", "verify").err


def test_what_cannot_be_rotated_says_so(sluicegate: Here) -> None:
    assert sluicegate("audit", "rotate", "--reason", "x", "--folder", "absent").code == 5
    settings = Path("contracts/sluicegate.yaml")
    settings.write_text(settings.read_text().replace("sqlite:state/audit.db", "memory:"))
    refused = sluicegate("audit", "rotate", "--reason", "x")
    assert (refused.code, refused.out) == (2, "")
    assert "memory:" in refused.err


@pytest.mark.requirement("AUD-4")
def test_a_rotation_whose_act_cannot_be_recorded_draws_no_key(
    sluicegate: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    sluicegate("call", "job_status", "--arguments", other("other"), "--caller", "svc")
    before = KEYRING.read_bytes()

    async def refuse(*_: object) -> tuple[str, ...]:
        from sluicegate.gates.ports import AuditUnavailable

        raise AuditUnavailable("full")

    with monkeypatch.context() as broken:
        broken.setattr("sluicegate.stores.sqlite.SqliteStore.record", refuse)
        assert sluicegate("audit", "rotate", "--reason", "x").code == 5
    assert KEYRING.read_bytes() == before
