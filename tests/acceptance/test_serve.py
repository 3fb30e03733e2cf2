"""``serve``: two versions of one tool side by side, on a real folder with a real record."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.acceptance.commands import Here
from tests.acceptance.folders import forget_releases, write_folder

from sluicegate import (
    Caller,
    ContractFolderError,
    Outstanding,
    Refused,
    Success,
    open_blocking,
    open_gate,
)
from sluicegate.contracts.schemas.faults import SchemaFault
from sluicegate.gates.events import StoredEvent
from sluicegate.gates.rollouts import point_of
from sluicegate.opening.folder import open_folder_store
from sluicegate.opening.loading import load_folder
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject

HOME = Path("contracts/job_status")
CONTRACT = HOME / "contract.yaml"
FROZEN = HOME / "released"
SETTINGS = Path("contracts/sluicegate.yaml")
ARGUMENTS = '{"run_id": "run_1", "state": "failed"}'
SHARES = "[{version: 1.1.0, share: 0.5}, {version: current, share: 0.5}]"
LOW, HIGH = Caller(subject="svc-4"), Caller(subject="svc-2")
"""One caller of each half."""


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sluicegate: Here) -> None:
    """Work beside a folder whose job_status was released as 1.1.0 and is now worked on as 1.2.0."""
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path / "contracts")
    forget_releases(HOME)
    fixture = HOME / "fixtures" / "result" / "accepted" / "one.json"
    fixture.parent.mkdir(parents=True)
    fixture.write_text('{"run_id": "run_1", "state": "failed", "note": "n"}')
    arguments = HOME / "fixtures" / "arguments" / "accepted" / "one.json"
    arguments.parent.mkdir(parents=True)
    arguments.write_text(ARGUMENTS)
    change("{caller: svc,", '{caller: "*",', SETTINGS)
    assert sluicegate("release", "job_status").code == 0
    change("version: 1.1.0", "version: 1.2.0")
    change("description: State of one CI run.", "description: State of a run, told anew.")


def change(old: str, new: str, path: Path = CONTRACT) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def serve(rows: str, tool: str = "job_status") -> None:
    with SETTINGS.open("a") as file:
        file.write(f"serve: {{{tool}: {rows}}}\n")


def record(kind: str) -> list[StoredEvent]:
    """Return the events of one kind as they stand in the record."""
    store = open_folder_store(Path("contracts"))
    try:
        return [event for event in store.events() if event.kind == kind]
    finally:
        asyncio.run(store.close())


def versions() -> list[str]:
    """Call as each of both callers; return which versions judged, as the record says."""
    before = len(record("outcome"))
    with open_blocking("contracts") as gate:
        for caller in (LOW, HIGH):
            answer = gate.call("job_status", ARGUMENTS, caller=caller)
            assert isinstance(answer.envelope, Success)
    events = record("outcome")[before:]
    assert [event.caller_subject for event in events] == [LOW.subject, HIGH.subject]
    return [event.contract_version for event in events]


def test_the_two_callers_stand_in_different_halves() -> None:
    assert [point_of("job_status", caller) < 500_000 for caller in (LOW, HIGH)] == [True, False]


@pytest.mark.requirement("LIF-3", "AUD-2")
def test_each_caller_is_judged_by_its_version_and_the_record_says_by_which() -> None:
    serve(SHARES)
    assert versions() == ["1.1.0", "1.2.0"]


ROWS = {
    "all by the old": ("[{version: 1.1.0}]", "1.1.0", "1.1.0"),
    "all by the current": ("[{version: current}]", "1.2.0", "1.2.0"),
    "one by name": ("[{version: current, callers: [svc-4]}, {version: 1.1.0}]", "1.2.0", "1.1.0"),
    "names before shares": (
        "[{version: current, share: 0, callers: [svc-2]}, {version: 1.1.0, share: 1}]",
        "1.1.0",
        "1.2.0",
    ),
}


@pytest.mark.requirement("LIF-3")
@pytest.mark.parametrize("case", ROWS)
def test_rows_say_which_version_is_served_to_whom(case: str) -> None:
    rows, low, high = ROWS[case]
    serve(rows)
    assert versions() == [low, high]


@pytest.mark.requirement("LIF-3", "CLI")
def test_why_and_audit_show_name_the_version_that_judged(sluicegate: Here) -> None:
    serve(SHARES)
    for caller, version in (("svc-4", "1.1.0"), ("svc-2", "1.2.0")):
        called = sluicegate("call", "job_status", "--arguments", ARGUMENTS, "--caller", caller)
        request_id = json.loads(called.out)["request_id"]
        story = json.loads(sluicegate("why", request_id, "--format", "json-v1").out)
        assert {event["contract_version"] for event in story["events"]} == {version}
        assert f"job_status@{version}" in sluicegate("why", request_id).out
        shown = sluicegate("audit", "show", story["events"][0]["event_id"])
        assert version in shown.out


@pytest.mark.requirement("AUD-1", "LIF-3")
def test_the_record_of_the_opened_set_says_what_is_served_to_whom() -> None:
    serve(SHARES)
    versions()
    opened = record("contracts")[0]
    served = load_folder(Path("contracts"), datetime.now(UTC), python=False).contracts
    assert served is not None
    digests = {
        f"job_status {offer}": offer.contract.fingerprints.digest
        for offer in served.rollouts["job_status"]
    }
    assert json.loads(opened.detail)["side_by_side"] == digests
    assert list(digests) == [
        "job_status 1.1.0 to 50 % of the callers",
        "job_status 1.2.0 to 50 % of the callers",
    ]


@pytest.mark.requirement("CON-8", "LIF-3")
def test_a_model_is_told_the_version_that_will_judge_its_caller() -> None:
    serve("[{version: 1.1.0, share: 0.4}, {version: current, share: 0.6}]")
    old, new = "State of one CI run.", "State of a run, told anew."
    with open_blocking("contracts") as gate:
        told = {
            name: next(
                tool["description"]
                for tool in gate.tool_definitions(caller=caller)
                if tool["name"] == "job_status"
            )
            for name, caller in (("svc-4", LOW), ("svc-2", HIGH), ("nobody", None))
        }
    # svc-4 stands below 0.4 as it stood below 0.5; without a caller the greatest share is told.
    assert point_of("job_status", LOW) < 400_000
    assert told == {"svc-4": old, "svc-2": new, "nobody": new}


FAULTS: dict[str, tuple[str, str, str]] = {
    "unknown tool": ("job_statos", "[{version: current}]", "Did you mean `job_status`?"),
    "unknown version": ("job_status", "[{version: 1.0.9}]", "Released are 1.1.0; or write"),
    "nothing released": ("restart", "[{version: 1.1.0}]", "run `sluicegate release restart`"),
}


@pytest.mark.requirement("CON-1", "LIF-3")
@pytest.mark.parametrize("case", FAULTS)
def test_what_is_not_there_is_told_at_its_place_with_what_is(case: str, sluicegate: Here) -> None:
    tool, rows, said = FAULTS[case]
    serve(rows, tool)
    line = len(SETTINGS.read_text().splitlines())
    done = sluicegate("check")
    assert done.code == 4
    assert f"contracts/sluicegate.yaml:{line}:" in done.out
    assert said in done.out
    with pytest.raises(ContractFolderError):
        open_blocking("contracts")


def edit_frozen() -> None:
    change('"owner": "ci-platform"', '"owner": "somebody"', FROZEN / "1.1.0.yaml")


def lose_digests() -> None:
    (FROZEN / "DIGESTS").unlink()


def keep_the_version() -> None:
    change("version: 1.2.0", "version: 1.1.0")


def lose_the_program() -> None:
    frozen = json.loads((FROZEN / "1.1.0.yaml").read_text())
    frozen["fetch"]["command"]["argv"][0] = "bin/gone"
    write_as_released(frozen)


def open_an_object() -> None:
    frozen = json.loads((FROZEN / "1.1.0.yaml").read_text())
    del frozen["result"]["schema"]["additionalProperties"]
    write_as_released(frozen)


def write_as_released(frozen: object) -> None:
    raw = json.dumps(frozen).encode()
    (FROZEN / "1.1.0.yaml").write_bytes(raw)
    record_digest("1.1.0.yaml", raw)


def record_digest(name: str, raw: bytes) -> None:
    lines = (FROZEN / "DIGESTS").read_text().splitlines()
    kept = [line for line in lines if not line.endswith(f"  {name}")]
    assert len(kept) == len(lines) - 1
    kept.append(f"{hashlib.sha256(raw).hexdigest()}  {name}")
    (FROZEN / "DIGESTS").write_text("\n".join(kept) + "\n")


def edit_a_fixture() -> None:
    (FROZEN / "1.1.0" / "fixtures" / "result" / "accepted" / "one.json").write_text("{}")


def add_a_fixture() -> None:
    (FROZEN / "1.1.0" / "fixtures" / "result" / "accepted" / "two.json").write_text("{}")


def lose_a_fixture() -> None:
    (FROZEN / "1.1.0" / "fixtures" / "result" / "accepted" / "one.json").unlink()


BROKEN: dict[str, tuple[Callable[[], None], str]] = {
    "edited after its release": (edit_frozen, "changed after its release"),
    "a frozen fixture that was edited": (edit_a_fixture, "changed after its release"),
    "a frozen fixture that was added": (add_a_fixture, "holds no digest of it"),
    "a frozen fixture that is gone": (lose_a_fixture, "It is gone, and was released"),
    "no digests": (lose_digests, "It is gone: `sluicegate release` writes it"),
    "two of one version": (keep_the_version, "Raise `version`"),
    "a program that is not there": (lose_the_program, "cannot be served"),
    "an open object": (open_an_object, "SCHEMA_OPEN_OBJECT"),
}


@pytest.mark.requirement("CON-3", "LIF-3")
@pytest.mark.parametrize("case", BROKEN)
def test_one_bad_version_and_the_set_is_not_served(case: str, sluicegate: Here) -> None:
    spoil, said = BROKEN[case]
    spoil()
    serve(SHARES)
    done = sluicegate("check")
    assert done.code == 4
    assert said in done.out
    with pytest.raises(ContractFolderError):
        open_blocking("contracts")


def fail_a_frozen_fixture() -> None:
    """One that was frozen with the release, and that the release does not accept."""
    raw = b'{"run_id": "run_1"}'
    path = FROZEN / "1.1.0" / "fixtures" / "result" / "accepted" / "one.json"
    path.write_bytes(raw)
    record_digest("1.1.0/fixtures/result/accepted/one.json", raw)


@pytest.mark.requirement("LIF-2", "LIF-3")
def test_a_version_whose_frozen_fixtures_fail_withdraws_the_tool(sluicegate: Here) -> None:
    fail_a_frozen_fixture()
    serve(SHARES)
    done = sluicegate("check")
    assert done.code == 1
    assert "job_status/released/1.1.0/fixtures/result/accepted/one.json" in done.out
    with open_blocking("contracts") as gate:
        for caller in (LOW, HIGH):
            answer = gate.call("job_status", ARGUMENTS, caller=caller)
            assert isinstance(answer.envelope, Refused)
            assert answer.envelope.code == "UNKNOWN_TOOL"


@pytest.mark.requirement("LIF-2", "LIF-3")
def test_fixtures_of_the_version_being_worked_on_do_not_judge_a_released_one() -> None:
    change("enum: [failed, succeeded, other]", "enum: [failed, succeeded, other, late]")
    fixture = HOME / "fixtures" / "result" / "accepted" / "late.json"
    fixture.write_text('{"run_id": "run_1", "state": "late", "note": "n"}')
    serve(SHARES)
    assert versions() == ["1.1.0", "1.2.0"]


@pytest.mark.requirement("CON-3")
def test_a_reload_swaps_the_rows_and_keeps_the_old_ones_where_the_new_are_bad() -> None:
    serve("[{version: 1.1.0}]")
    with open_blocking("contracts") as gate:
        change("[{version: 1.1.0}]", "[{version: 9.9.9}]", SETTINGS)
        assert [problem.pointer for problem in gate.reload()] == ["/serve/job_status/0/version"]
        gate.call("job_status", ARGUMENTS, caller=LOW)
        change("[{version: 9.9.9}]", "[{version: current}]", SETTINGS)
        assert gate.reload() == ()
        gate.call("job_status", ARGUMENTS, caller=LOW)
    judged = [event.contract_version for event in record("outcome")]
    assert judged == ["1.1.0", "1.2.0"]


@pytest.mark.requirement("CON-3", "ARG-9")
def test_a_call_in_flight_keeps_the_version_it_began_with() -> None:
    serve("[{version: 1.1.0}]")
    good = b'{"run_id": "run_1", "state": "failed", "note": "n"}'
    with open_blocking("contracts") as gate:
        outstanding = gate.check_call("job_status", ARGUMENTS, caller=LOW)
        change("[{version: 1.1.0}]", "[{version: current}]", SETTINGS)
        assert gate.reload() == ()
        assert isinstance(outstanding, Outstanding)
        assert isinstance(gate.check_result(outstanding, good).envelope, Success)
    assert [event.contract_version for event in record("outcome")] == ["1.1.0"]


@pytest.mark.requirement("LIF-3", "CLI")
@pytest.mark.parametrize("rows", ["[{version: current}]", SHARES], ids=["current", "both"])
def test_a_rollback_stands_above_the_rows_until_it_is_undone(sluicegate: Here, rows: str) -> None:
    serve(rows)
    assert sluicegate("rollback", "job_status", "1.1.0", "--reason", "night").code == 0
    assert versions() == ["1.1.0", "1.1.0"]
    assert "`serve` has no say for job_status" in sluicegate("check").err
    assert sluicegate("disable", "job_status", "--undo", "--reason", "day").code == 0
    assert versions() == ["1.1.0" if rows == SHARES else "1.2.0", "1.2.0"]


@pytest.mark.requirement("LIF-3", "CLI")
def test_a_tool_that_is_switched_off_is_off_in_every_version(sluicegate: Here) -> None:
    serve(SHARES)
    assert sluicegate("disable", "job_status", "--reason", "drift").code == 0
    with open_blocking("contracts") as gate:
        assert [tool["name"] for tool in gate.tool_definitions()] == ["restart"]
        for caller in (LOW, HIGH):
            answer = gate.call("job_status", ARGUMENTS, caller=caller)
            assert isinstance(answer.envelope, Refused)
            assert answer.envelope.code == "UNKNOWN_TOOL"


@pytest.mark.requirement("CLI")
def test_check_doctor_and_lint_take_the_folder_and_say_what_is_served_to_whom(
    sluicegate: Here,
) -> None:
    serve("[{version: 1.1.0, share: 0.9}, {version: current, share: 0.1, callers: [svc-canary]}]")
    told = "1.1.0 to 90 % of the callers; 1.2.0 to svc-canary, 10 % of the others"
    checked = sluicegate("check")
    assert (checked.code, told in checked.out + checked.err) == (0, True)
    assert told in sluicegate("doctor", "contracts").out
    assert sluicegate("lint", "contracts").code in (0, 1)


@pytest.mark.requirement("LIF-3")
def test_a_working_version_that_nobody_gets_is_told(sluicegate: Here) -> None:
    serve("[{version: 1.1.0}]")
    checked = sluicegate("check")
    assert "version 1.2.0, which is being worked on, is served to nobody" in checked.err


@pytest.mark.requirement("LIF-2")
@pytest.mark.parametrize("which", ["frozen", "working"])
def test_a_version_without_fixtures_of_its_own_is_told(sluicegate: Here, which: str) -> None:
    serve(SHARES)
    if which == "frozen":
        shutil.rmtree(FROZEN / "1.1.0")
        lines = (FROZEN / "DIGESTS").read_text().splitlines()
        (FROZEN / "DIGESTS").write_text(next(one for one in lines if "fixtures" not in one) + "\n")
        said = "job_status 1.1.0 is served and no fixtures were frozen with it"
    else:
        shutil.rmtree(HOME / "fixtures")
        said = "job_status has no fixtures"
    checked = sluicegate("check")
    assert checked.code == 0
    assert said in checked.err
    assert checked.err.count("fixtures") == 2  # restart has none either


@pytest.mark.requirement("CON-2", "LIF-3")
def test_the_schemas_of_each_served_version_are_tried(
    sluicegate: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No schema that registers fails its trial, so the trial is made to fail the frozen ones."""
    frozen = json.loads((FROZEN / "1.1.0.yaml").read_text())
    frozen["result"]["schema"]["title"] = "Frozen"
    write_as_released(frozen)
    serve(SHARES)
    fault = SchemaFault(code=Code.SCHEMA_TOO_COMPLEX, message="made to fail.", mend="")

    def fail_frozen(documents: Sequence[JsonObject]) -> tuple[SchemaFault | None, ...]:
        return tuple(fault if one.get("title") == "Frozen" else None for one in documents)

    monkeypatch.setattr("sluicegate.opening.trial.try_schemas", fail_frozen)
    done = sluicegate("check")
    assert done.code == 4
    assert "contracts/job_status/released/1.1.0.yaml" in done.out
    assert "SCHEMA_TOO_COMPLEX" in done.out
    with pytest.raises(ContractFolderError, match="SCHEMA_TOO_COMPLEX"):
        open_blocking("contracts")


@pytest.mark.requirement("CON-3")
@pytest.mark.parametrize(
    ("rows", "version"),
    [
        ("[{version: 1.1.0}]", "1.1.0"),
        ("[{version: 1.1.0, share: 0.4}, {version: current, share: 0.6}]", "1.2.0"),
    ],
    ids=["one row", "the greater share"],
)
def test_the_set_of_a_gate_holds_the_version_of_the_greatest_share(rows: str, version: str) -> None:
    serve(rows)
    gate = open_gate("contracts")
    assert gate.contracts.contracts["job_status"].version == version
    asyncio.run(gate.close())
