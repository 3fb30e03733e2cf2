"""What an operator does at night: call, why, audit, disable, rollback, doctor."""

from __future__ import annotations

import getpass
import json
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.acceptance.commands import Here, expected, run_apart
from tests.acceptance.folders import record_releases, write_folder

from sluicegate.gates.events import AuditEvent, EventKind, Outcome
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.opening.recording_acts import record_act

REACH = (
    "It stands in contracts/state/served.json: running gates go on until each of them reloads this"
    " folder; gates on another copy of it are not told."
)
SUCCESS = '{"run_id": "run_1", "state": "failed"}'
OTHER = '{"run_id": "run_1", "state": "other"}'
HANG = '{"run_id": "run_1", "state": "hang"}'


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work beside a folder ``contracts`` whose upstream is a command on this machine."""
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path / "contracts")


def call(
    sluicegate: Here, tool: str, arguments: str, *options: str
) -> tuple[int, dict[str, object]]:
    done = sluicegate("call", tool, "--arguments", arguments, "--caller", "svc", *options)
    envelope: dict[str, object] = json.loads(done.out)
    return done.code, envelope


def code_of(envelope: dict[str, object]) -> object:
    error = envelope.get("error")
    return error["code"] if isinstance(error, dict) else None


def events(sluicegate: Here, *options: str) -> list[dict[str, object]]:
    told = json.loads(sluicegate("audit", "list", "--format", "json-v1", *options).out)
    found: list[dict[str, object]] = told["events"]
    return found


def normal(text: str) -> str:
    """Put words in the place of what differs each time."""
    for pattern, word in (
        (r"req\.[A-Za-z0-9]{20}", "req.…"),
        (r"sha256:[0-9a-f]{64}", "sha256:…"),
        (r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID"),
        (r"(?m)^\d{4}-\d\d-\d\d UTC$", "DAY UTC"),
        (r"(?m)^\d\d:\d\d:\d\d", "00:00:00"),
        (r"command \S+", "command PROGRAM"),
    ):
        text = re.sub(pattern, word, text)
    return text


@pytest.mark.requirement("CLI")
def test_a_call_prints_what_the_agent_sees_and_nothing_else(sluicegate: Here) -> None:
    code, envelope = call(sluicegate, "job_status", SUCCESS)
    request_id = envelope.pop("request_id")
    assert re.fullmatch(r"req\.[A-Za-z0-9]{20}", str(request_id))
    assert (code, envelope) == (
        0,
        {
            "tool": "job_status",
            "outcome": "success",
            "data": {"run_id": "run_1", "state": "failed"},
        },
    )


@pytest.mark.requirement("ARG-9", "CLI")
def test_a_tool_that_the_host_fetches_for_cannot_be_called_from_here(sluicegate: Here) -> None:
    contract = Path("contracts/job_status/contract.yaml")
    lines = contract.read_text().splitlines()
    (at,) = (number for number, line in enumerate(lines) if line.startswith("  command:"))
    contract.write_text("\n".join([*lines[:at], "  host: {}", *lines[at + 1 :]]) + "\n")
    done = sluicegate("call", "job_status", "--arguments", SUCCESS, "--caller", "svc")
    assert (done.code, done.out) == (2, "")
    assert "the host fetches for job_status itself" in done.err


@pytest.mark.requirement("CLI")
@pytest.mark.parametrize(
    ("tool", "arguments", "outcome", "code"),
    [
        pytest.param("job_status", OTHER, "failure", "INVALID_RESPONSE", id="another subject"),
        pytest.param("job_status", '{"run": 1}', "refused", "INVALID_ARGUMENTS", id="arguments"),
        pytest.param(
            "job_status", '{"run_id": "run_9", "state": "failed"}', "refused", "DENIED", id="denied"
        ),
        pytest.param("job-status", SUCCESS, "refused", "UNKNOWN_TOOL", id="unknown"),
    ],
)
def test_a_failure_and_a_refusal_are_exit_1_with_the_way_on(
    sluicegate: Here, tool: str, arguments: str, outcome: str, code: str
) -> None:
    done = sluicegate("call", tool, "--arguments", arguments, "--caller", "svc")
    envelope = json.loads(done.out)
    assert (done.code, envelope["outcome"], code_of(envelope)) == (1, outcome, code)
    assert done.err == f"sluicegate why {envelope['request_id']}\n"
    assert "SECRET-OF-UPSTREAM" not in done.out + done.err


@pytest.mark.requirement("CLI")
def test_a_call_that_no_record_holds_is_not_sent_to_why(
    sluicegate: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    sluicegate("call", "job_status", "--arguments", SUCCESS, "--caller", "svc")

    async def refuse(*_: object) -> tuple[str, ...]:
        raise AuditUnavailable("full")

    with monkeypatch.context() as broken:
        broken.setattr("sluicegate.stores.sqlite.SqliteStore.record", refuse)
        done = sluicegate("call", "job_status", "--arguments", SUCCESS, "--caller", "svc")
    told = json.loads(done.out)
    assert (done.code, code_of(told)) == (1, "UNAVAILABLE")
    assert done.err.endswith(
        f"no record holds {told['request_id']}: the log says what kept it out\n"
    )
    assert sluicegate("why", told["request_id"]).code == 3


@pytest.mark.requirement("CLI")
@pytest.mark.parametrize(
    "command",
    [
        ("call", "job_status", "--caller", "svc", "--arguments", SUCCESS),
        ("disable", "job_status", "--reason", "x"),
        ("rollback", "job_status", "1.0.0", "--reason", "x"),
    ],
    ids=["call", "disable", "rollback"],
)
def test_where_there_are_no_settings_what_begins_a_record_says_so_as_check_does(
    sluicegate: Here, command: tuple[str, ...]
) -> None:
    says = "there is no sluicegate.yaml, so no access rule: every call will be DENIED"
    assert says not in sluicegate(*command).err
    Path("contracts/sluicegate.yaml").unlink()
    assert says in sluicegate("check").err.splitlines()
    assert sluicegate(*command).err.splitlines()[0] == says


@pytest.mark.requirement("CLI")
def test_where_no_call_is_open_the_list_of_them_says_so(sluicegate: Here) -> None:
    sluicegate("call", "job_status", "--arguments", SUCCESS, "--caller", "svc")
    done = sluicegate("audit", "list", "--open")
    assert (done.code, done.out, done.err) == (3, "", "no call is open\n")
    done = sluicegate("audit", "list", "--open", "--tool", "job_status")
    assert (done.code, done.err) == (3, "no call of job_status is open\n")


def test_arguments_come_from_a_file_or_stdin_as_well(sluicegate: Here) -> None:
    Path("a.json").write_text(SUCCESS)
    assert call(sluicegate, "job_status", "@a.json")[0] == 0
    piped = run_apart(
        "call", "job_status", "--arguments", "-", "--caller", "svc", stdin=SUCCESS.encode()
    )
    assert piped.code == 0
    absent = sluicegate("call", "job_status", "--arguments", "@b.json", "--caller", "svc")
    assert (absent.code, absent.out) == (5, "")


def test_a_folder_that_does_not_load_serves_nothing(sluicegate: Here) -> None:
    Path("contracts/job_status/contract.yaml").write_text("tool: job_status\n")
    done = sluicegate("call", "restart", "--arguments", SUCCESS, "--caller", "svc")
    assert (done.code, done.out) == (4, "")
    assert {line.partition(":")[0] for line in done.err.splitlines()} == {
        "contracts/job_status/contract.yaml"
    }


@pytest.mark.requirement("CLI")
def test_a_call_in_a_folder_that_is_not_there_is_exit_5_as_its_check(sluicegate: Here) -> None:
    absent = ("--folder", "nosuch")
    done = sluicegate("call", "job_status", "--arguments", SUCCESS, "--caller", "svc", *absent)
    assert (done.code, done.out) == (5, "")
    assert done.code == sluicegate("check", "nosuch").code


@pytest.mark.requirement("CLI")
@pytest.mark.parametrize("command", ["call", "check", "audit"])
def test_inside_the_contract_folder_its_name_is_told(
    sluicegate: Here, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir("contracts")
    options = {"call": ("job_status", "--caller", "svc"), "check": (), "audit": ("verify",)}
    done = sluicegate(command, *options[command])
    assert (done.code, done.err) == (
        5,
        "contracts is no folder; this folder holds sluicegate.yaml: name it, as `.`\n",
    )


@pytest.mark.requirement("CLI", "RES-8")
def test_why_tells_the_whole_story_in_one_screen(sluicegate: Here) -> None:
    _, envelope = call(sluicegate, "job_status", OTHER, "--tenant", "acme", "--call-id", "toolu_1")
    done = sluicegate("why", str(envelope["request_id"]))
    assert (done.code, normal(done.out)) == (0, expected("why.txt"))
    assert len(done.out.splitlines()) < 25
    assert "SECRET-OF-UPSTREAM" not in done.out
    told = json.loads(sluicegate("why", str(envelope["request_id"]), "--format", "json-v1").out)
    assert (told["command"], told["open"], told["count"]) == ("why", False, 2)
    assert [event["kind"] for event in told["events"]] == ["intent", "outcome"]


def test_why_and_show_know_when_they_know_nothing(sluicegate: Here) -> None:
    call(sluicegate, "job_status", SUCCESS)
    for arguments in (("why", "req.nothing00"), ("audit", "show", "req.nothing00")):
        done = sluicegate(*arguments)
        assert (done.code, done.out) == (3, "")
        assert "req.nothing00" in done.err


def test_the_record_of_a_folder_that_is_not_there_is_exit_5(sluicegate: Here) -> None:
    assert sluicegate("audit", "list", "--folder", "absent").code == 5


def test_the_list_is_filtered_and_begins_with_the_newest(sluicegate: Here) -> None:
    assert sluicegate("audit", "list").code == 5
    call(sluicegate, "job_status", SUCCESS)
    call(sluicegate, "job_status", OTHER)
    call(sluicegate, "restart", '{"run": 1}')
    seqs = [int(str(event["seq"])) for event in events(sluicegate)]
    assert seqs == sorted(seqs, reverse=True)
    assert {event["code"] for event in events(sluicegate, "--code", "WRONG_SUBJECT")} == {
        "WRONG_SUBJECT"
    }
    assert {event["tool"] for event in events(sluicegate, "--tool", "restart")} == {"restart"}
    assert len(events(sluicegate, "--limit", "2")) == 2
    later = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert events(sluicegate, "--since", later) == []
    assert len(events(sluicegate, "--since", "1h")) == len(seqs)
    assert sluicegate("audit", "list", "--since", "soon").code == 2


def test_groups_count_what_is_one_matter(sluicegate: Here) -> None:
    for _ in range(2):
        call(sluicegate, "job_status", OTHER)
    told = json.loads(sluicegate("audit", "list", "--group", "--format", "json-v1").out)
    groups = {(group["tool"], group["code"]): group["count"] for group in told["groups"]}
    assert groups == {("job_status", "WRONG_SUBJECT"): 2}
    shown = sluicegate("audit", "list", "--group").out
    assert "failure vouch/WRONG_SUBJECT" in shown


def test_an_event_is_shown_by_event_id_by_seq_and_by_request_id(sluicegate: Here) -> None:
    _, envelope = call(sluicegate, "job_status", SUCCESS)
    wanted = events(sluicegate)[0]
    for name in (wanted["event_id"], wanted["seq"]):
        told = json.loads(sluicegate("audit", "show", str(name), "--format", "json-v1").out)
        assert told["events"] == [wanted]
    whole = sluicegate("audit", "show", str(envelope["request_id"])).out
    assert whole.count("event_id") == 2


@pytest.mark.requirement("CLI", "AUD-3")
def test_verify_names_the_first_bad_event(sluicegate: Here) -> None:
    call(sluicegate, "job_status", SUCCESS)
    call(sluicegate, "job_status", OTHER)
    whole = sluicegate("audit", "verify")
    assert (whole.code, whole.out.split()[0]) == (0, "INTACT")
    with closing(sqlite3.connect("contracts/state/audit.db")) as connection:
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        connection.execute("UPDATE audit_event SET tool = 'x' WHERE seq = 2")
        connection.commit()
    broken = sluicegate("audit", "verify")
    assert broken.code == 1
    assert broken.out.startswith("CHAIN_BROKEN at event 2: ")
    told = json.loads(sluicegate("audit", "verify", "--format", "json-v1").out)
    assert (told["verdict"], told["code"], told["broken_at"]) == ("broken", "CHAIN_BROKEN", 2)
    ill = sluicegate("doctor", "contracts")
    assert ill.code == 1
    assert {line.split()[1] for line in ill.out.splitlines() if line.startswith("FAIL")} == {
        "chain",
        "triggers",
    }


@pytest.mark.requirement("CLI", "RET-2")
def test_a_write_with_unknown_outcome_stays_refused_until_it_is_resolved(sluicegate: Here) -> None:
    _, envelope = call(sluicegate, "restart", HANG)
    request_id = str(envelope["request_id"])
    assert code_of(envelope) == "OUTCOME_UNKNOWN"
    assert code_of(call(sluicegate, "restart", HANG)[1]) == "OUTCOME_UNKNOWN"
    assert [event["request_id"] for event in events(sluicegate, "--open")] == [request_id]
    story = sluicegate("why", request_id).out
    assert "OPEN" in story.splitlines()[0]
    assert f"sluicegate audit resolve {request_id}" in story

    resolved = sluicegate("audit", "resolve", request_id, "--as", "not-done", "--reason", "looked")
    assert (resolved.code, resolved.out) == (0, "")
    assert sluicegate("audit", "list", "--open").code == 3
    told = sluicegate("why", request_id).out
    assert "as: not-done" in told
    assert "reason: looked" in told
    assert f"os:{getpass.getuser()}" in [event["caller_subject"] for event in events(sluicegate)]
    again = sluicegate("audit", "resolve", request_id, "--as", "done", "--reason", "twice")
    assert again.code == 2
    assert re.match(
        rf"no open call {re.escape(request_id)}: it was resolved already, as not-done,"
        rf" by os:{re.escape(getpass.getuser())} at \d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ; `slui",
        again.err,
    )
    never = sluicegate("audit", "resolve", "req.unheard0", "--as", "done", "--reason", "guess")
    assert never.err.startswith("no open call req.unheard0; `sluicegate audit list --open`")
    assert sluicegate("why", request_id).out.splitlines()[0].endswith("  RESOLVED as not-done")
    ran = call(sluicegate, "restart", HANG)[1]
    assert ran["outcome"] == "failure"


def record_pending(sluicegate: Here, begun: datetime, *, waits: bool = False) -> str:
    """Leave the record as a call does that has not ended, and return its request id.

    ``waits``: its first attempt was lost, and it waits for the next one.
    """
    call(sluicegate, "restart", SUCCESS)
    pending = AuditEvent(
        kind=EventKind.INTENT,
        time=begun,
        request_id="req.pending0000000000000",
        attempt=1,
        outcome=Outcome.PENDING,
        tool="restart",
        arguments={"run_id": "run_1"},
    )
    record_act(Path("contracts"), pending)
    if waits:
        lost = {"kind": EventKind.OUTCOME, "outcome": Outcome.UNKNOWN, "detail": {"retry_in_s": 9}}
        record_act(Path("contracts"), replace(pending, **lost))  # type: ignore[arg-type]
    return pending.request_id


@pytest.mark.requirement("ACC-4", "CLI", "RET-2")
@pytest.mark.parametrize("found", ["done", "not-done"])
@pytest.mark.parametrize("waits", [False, True], ids=["in an attempt", "between two"])
def test_a_call_that_may_still_run_is_resolved_only_if_its_gate_is_gone(
    sluicegate: Here, found: str, waits: bool
) -> None:
    begun = datetime.now(UTC)
    request_id = record_pending(sluicegate, begun, waits=waits)
    act = ("audit", "resolve", request_id, "--as", found, "--reason", "looked")
    refused = sluicegate(*act)
    assert (refused.code, refused.out) == (1, "")
    assert f"{request_id} may still be running: its gate has recorded no end" in refused.err
    assert f"wait until {begun + timedelta(hours=1):%Y-%m-%dT%H:%M:%S.%fZ}; or" in refused.err
    assert "--gate-is-gone" in refused.err
    assert [event["request_id"] for event in events(sluicegate, "--open")] == [request_id]

    assert sluicegate(*act, "--gate-is-gone").code == 0
    assert sluicegate("audit", "list", "--open").code == 3
    assert "gate_is_gone" in sluicegate("audit", "show", request_id).out


@pytest.mark.requirement("CLI", "RET-2")
def test_a_call_whose_time_is_over_is_resolved_without_more(sluicegate: Here) -> None:
    request_id = record_pending(sluicegate, datetime.now(UTC) - timedelta(hours=1))
    act = ("audit", "resolve", request_id, "--as", "not-done", "--reason", "looked")
    assert sluicegate(*act).code == 0


FOLLOWS = {
    ("not-done", "no key"): ("the same call may run again", "OUTCOME_UNKNOWN"),
    ("not-done", "a key"): ("the same call may run again", "OUTCOME_UNKNOWN"),
    ("done", "no key"): ("the same call would run once more", "OUTCOME_UNKNOWN"),
    ("done", "a key"): ("a call under its key does not run", "KEY_REUSED"),
}


@pytest.mark.requirement("CLI", "RET-2", "ACC-4")
@pytest.mark.parametrize(("found", "key"), FOLLOWS)
def test_what_follows_from_a_word_on_a_call_is_what_is_said(
    sluicegate: Here, found: str, key: str
) -> None:
    says, then = FOLLOWS[found, key]
    if key == "a key":
        contract = Path("contracts/restart/contract.yaml")
        contract.write_text(f"{contract.read_text()}idempotency: {{key: derived, keep_s: 600}}\n")
    request_id = str(call(sluicegate, "restart", HANG)[1]["request_id"])
    told = sluicegate("audit", "resolve", request_id, "--as", found, "--reason", "looked").err
    assert f"{request_id} is resolved as {found}; " in told
    assert says in told
    # What runs again hangs again; what does not run is refused without an upstream.
    assert code_of(call(sluicegate, "restart", HANG)[1]) == then


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("audit", "resolve", "req.nothing00", "--as", "done"), id="no reason"),
        pytest.param(
            ("audit", "resolve", "req.nothing00", "--as", "done", "--reason", " "),
            id="blank reason",
        ),
        pytest.param(
            ("audit", "resolve", "req.nothing00", "--as", "maybe", "--reason", "x"), id="maybe"
        ),
        pytest.param(("audit", "reveal", "ref"), id="reveal without reason"),
        pytest.param(("disable", "job_status"), id="disable without reason"),
    ],
)
def test_an_act_needs_a_reason_and_a_clear_word(
    sluicegate: Here, arguments: tuple[str, ...]
) -> None:
    assert sluicegate(*arguments).code == 2


@pytest.mark.requirement("CLI", "AUD-4")
def test_reveal_writes_the_very_bytes_and_is_recorded_first(sluicegate: Here) -> None:
    call(sluicegate, "job_status", OTHER)
    ref = str(next(event["raw_ref"] for event in events(sluicegate) if event["raw_ref"]))
    done = run_apart("audit", "reveal", ref, "--reason", "ticket 7")
    assert done.code == 0
    assert json.loads(done.out)["note"] == "SECRET-OF-UPSTREAM"
    act = events(sluicegate)[0]
    assert act["kind"] == "operator"
    assert "ticket 7" in json.dumps(act["detail"])
    assert "SECRET-OF-UPSTREAM" not in json.dumps(events(sluicegate))
    unknown = sluicegate("audit", "reveal", "nothing", "--reason", "x")
    assert (unknown.code, unknown.out) == (5, "")


@pytest.mark.requirement("CLI", "AUD-4")
def test_purge_destroys_what_has_expired_and_leaves_the_chain_whole(sluicegate: Here) -> None:
    call(sluicegate, "job_status", OTHER)
    ref = str(next(event["raw_ref"] for event in events(sluicegate) if event["raw_ref"]))
    assert sluicegate("audit", "purge").out == "0 purged\n"
    later = (datetime.now(UTC) + timedelta(days=31)).strftime("%Y-%m-%dT%H:%M:%SZ")
    refused = sluicegate("audit", "purge", "--now", later)
    assert (refused.code, refused.out) == (2, "")
    assert "--yes" in refused.err
    assert sluicegate("audit", "reveal", ref, "--reason", "x").code == 0
    purge = ("audit", "purge", "--now", later, "--yes", "--format", "json-v1")
    assert json.loads(sluicegate(*purge).out)["purged"] >= 1
    act = events(sluicegate)[0]
    assert str(act["time"]) < later
    assert later[:19] in json.dumps(act["detail"])
    assert sluicegate("doctor", "contracts").code == 0
    assert sluicegate("audit", "reveal", ref, "--reason", "x").code == 5
    assert sluicegate("audit", "verify").code == 0


@pytest.mark.requirement("CLI")
def test_a_disabled_tool_is_unknown_until_it_is_put_back(sluicegate: Here) -> None:
    off = sluicegate("disable", "job_status", "--reason", "wrong answers")
    assert (off.code, off.err.splitlines()) == (
        0,
        ["job_status is out of service from the next reload on.", REACH],
    )
    code, envelope = call(sluicegate, "job_status", SUCCESS)
    assert (code, code_of(envelope), envelope["tool"]) == (1, "UNKNOWN_TOOL", "unknown")
    looks = json.loads(sluicegate("doctor", "contracts", "--format", "json-v1").out)["looks"]
    told = {look["name"]: look["says"] for look in looks}
    assert told["disabled"] == "job_status is switched off: wrong answers"
    assert told["contracts"] == "restart@1.1.0"
    assert "wrong answers" in json.dumps(events(sluicegate))
    back = sluicegate("disable", "job_status", "--undo", "--reason", "mended")
    assert (back.code, REACH in back.err.splitlines()) == (0, True)
    back = sluicegate("rollback", "job_status", "1.0.0", "--reason", "mended")
    assert (back.code, REACH in back.err.splitlines()) == (0, True)
    assert call(sluicegate, "job_status", SUCCESS)[0] == 0


@pytest.mark.requirement("CLI")
def test_the_way_back_from_a_disabled_tool_is_told(sluicegate: Here) -> None:
    sluicegate("disable", "job_status", "--reason", "wrong answers")
    way = "`sluicegate disable job_status --undo --reason …` puts it back"
    asked = sluicegate("call", "job_status", "--caller", "svc", "--arguments", SUCCESS)
    assert way in asked.err
    assert "sluicegate check" not in asked.err
    assert f"job_status is switched off by an operator: wrong answers; {way}" in (
        sluicegate("check").err
    )


@pytest.mark.requirement("CLI")
def test_steering_to_where_a_tool_stands_already_says_so_and_writes_nothing(
    sluicegate: Here,
) -> None:
    back = sluicegate("disable", "job_status", "--undo", "--reason", "mended")
    assert (back.code, back.err) == (0, "job_status is in service already; nothing was written.\n")
    assert events(sluicegate) == []
    sluicegate("disable", "job_status", "--reason", "wrong answers")
    sluicegate("rollback", "restart", "1.0.0", "--reason", "x")
    written, steered = events(sluicegate), Path("contracts/state/served.json").read_text()
    off = sluicegate("disable", "job_status", "--reason", "another")
    assert off.err == "job_status is out of service already (wrong answers); nothing was written.\n"
    assert (events(sluicegate), Path("contracts/state/served.json").read_text()) == (
        written,
        steered,
    )
    sluicegate("rollback", "job_status", "1.0.0", "--reason", "x")
    again = sluicegate("rollback", "job_status", "1.0.0", "--reason", "x")
    assert again.err == "job_status is served at 1.0.0 already; nothing was written.\n"
    assert "job_status is served at 1.0.0, which an operator rolled back to" in (
        sluicegate("check").err
    )


@pytest.mark.requirement("CLI")
def test_a_folder_inside_the_contract_folder_gets_no_record_of_its_own(sluicegate: Here) -> None:
    inner = "contracts/job_status"
    for arguments in (
        ("call", "job_status", "--caller", "svc", "--arguments", SUCCESS, "--folder", inner),
        ("audit", "verify", "--folder", inner),
        ("disable", "job_status", "--reason", "x", "--folder", inner),
    ):
        refused = sluicegate(*arguments)
        assert (refused.code, refused.err) == (
            2,
            f"{inner} holds no sluicegate.yaml, and contracts around it does: name that folder\n",
        )
    looked = sluicegate("doctor", inner)
    assert looked.code == 1
    assert "contracts around it does: name that folder" in looked.out
    held = {path.name for path in Path(inner).iterdir()}
    assert held == {"contract.yaml", "released"}


@pytest.mark.requirement("CLI")
def test_a_rolled_back_tool_is_served_at_its_released_version(sluicegate: Here) -> None:
    assert sluicegate("rollback", "job_status", "1.0.0", "--reason", "1.1.0 is wrong").code == 0
    call(sluicegate, "job_status", SUCCESS)
    assert events(sluicegate)[0]["contract_version"] == "1.0.0"
    assert sluicegate("disable", "job_status", "--undo", "--reason", "mended").code == 0
    call(sluicegate, "job_status", SUCCESS)
    assert events(sluicegate)[0]["contract_version"] == "1.1.0"


@pytest.mark.requirement("CLI")
def test_a_version_that_does_not_load_is_no_way_back(sluicegate: Here) -> None:
    released = Path("contracts/job_status/released/1.0.0.yaml")
    released.write_text(released.read_text().replace("effect: read", "effect: reed"))
    record_releases(released.parent.parent)
    refused = sluicegate("rollback", "job_status", "1.0.0", "--reason", "night")
    assert refused.code == 4
    assert refused.err.startswith("contracts/job_status/released/1.0.0.yaml:")
    assert "job_status cannot be served at 1.0.0; nothing was changed." in refused.err
    assert not Path("contracts/state/served.json").exists()
    assert events(sluicegate) == []
    assert "contracts/job_status/released/1.0.0.yaml:6:9: no rollback" in sluicegate("check").err
    assert call(sluicegate, "job_status", SUCCESS)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("disable", "job-status"), "Did you mean job_status?", id="mistyped"),
        pytest.param(("disable", "\x1b[31m"), "It holds: job_status, restart.", id="hostile"),
        pytest.param(("rollback", "job_status", "0.9.0"), "released: 1.0.0", id="not released"),
        pytest.param(("rollback", "restart", "1.0.0"), "released: none", id="nothing released"),
        pytest.param(
            ("rollback", "job_status", "../../restart/contract"), "released: 1.0.0", id="a path"
        ),
    ],
)
def test_steering_refuses_what_is_not_there(
    sluicegate: Here, arguments: tuple[str, ...], said: str
) -> None:
    done = sluicegate(*arguments, "--reason", "x")
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "\x1b" not in done.err
    assert not Path("contracts/state/served.json").exists()


@pytest.mark.requirement("CLI")
def test_an_operator_can_steer_a_folder_that_does_not_load(sluicegate: Here) -> None:
    call(sluicegate, "job_status", OTHER)
    Path("contracts/restart/contract.yaml").write_text("tool: [\n")
    assert sluicegate("audit", "verify").code == 0
    assert sluicegate("disable", "job_status", "--reason", "x").code == 0


@pytest.mark.requirement("CLI")
def test_doctor_finds_a_sound_installation_well(sluicegate: Here) -> None:
    call(sluicegate, "job_status", SUCCESS)
    done = sluicegate("doctor", "contracts")
    marks = {line.split()[0] for line in done.out.splitlines()}
    assert (done.code, marks) == (0, {"ok"})
    told = json.loads(sluicegate("doctor", "contracts", "--format", "json-v1").out)
    assert (told["verdict"], {look["well"] for look in told["looks"]}) == ("well", {True})
    names = [look["name"] for look in told["looks"]]
    assert {"duplicates", "overflow", "formats", "offline", "linear", "journal"} <= set(names)


@pytest.mark.requirement("CLI", "RET-2")
def test_doctor_counts_the_calls_that_wait_for_a_person_and_is_well(sluicegate: Here) -> None:
    def waiting() -> str:
        done = sluicegate("doctor")
        assert done.code == 0
        (line,) = [line for line in done.out.splitlines() if line.split()[1] == "waiting"]
        return " ".join(line.split()[2:])

    call(sluicegate, "job_status", SUCCESS)
    assert waiting() == "no call waits for its outcome to be found out"
    _, envelope = call(sluicegate, "restart", HANG)
    assert waiting().startswith("1 call is open: what does not run any more waits for a person")
    act = ("audit", "resolve", str(envelope["request_id"]), "--as", "done", "--reason", "seen")
    assert sluicegate(*act).code == 0
    assert waiting() == "no call waits for its outcome to be found out"


@pytest.mark.requirement("CLI")
def test_doctor_looks_at_contracts_where_there_are_some(
    sluicegate: Here, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Path("contracts/restart/contract.yaml").write_text("tool: [\n")
    ill = sluicegate("doctor")
    (fault,) = [line for line in ill.out.splitlines() if line.startswith("FAIL")]
    assert (ill.code, fault.split()[1]) == (1, "contracts")
    assert fault in sluicegate("doctor", "contracts").out.splitlines()
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    bare = sluicegate("doctor")
    assert bare.code == 0
    assert "contracts" not in bare.out


def test_doctor_says_what_is_ill_in_a_folder(sluicegate: Here) -> None:
    call(sluicegate, "job_status", SUCCESS)
    Path("contracts/state/audit.db").chmod(0o644)
    loose = sluicegate("doctor", "contracts")
    assert loose.code == 1
    assert "FAIL  modes" in loose.out
    Path("contracts/state/audit.db").chmod(0o600)
    Path("contracts/restart/contract.yaml").write_text("tool: [\n")
    broken = sluicegate("doctor", "contracts")
    assert broken.code == 1
    assert "restart/contract.yaml" in broken.out
    assert sluicegate("doctor", "absent").code == 1


@pytest.mark.requirement("CLI")
def test_the_list_shows_acts_with_reasons_and_no_opening_twice(sluicegate: Here) -> None:
    for _ in range(3):
        call(sluicegate, "job_status", SUCCESS)
    sluicegate("disable", "job_status", "--reason", "wrong answers")
    listed = sluicegate("audit", "list")
    assert listed.out.count("opened with 2 tools") == 1
    assert listed.out.splitlines()[1].endswith("disable: wrong answers")
    assert listed.err == "openings of an unchanged contract set left out: 2; json-v1 has all\n"
    assert [event["kind"] for event in events(sluicegate)].count("contracts") == 3


@pytest.mark.requirement("CLI")
@pytest.mark.parametrize(
    ("option", "name", "said"),
    [
        pytest.param("--code", "WRONG_SUBJET", "WRONG_SUBJET is no code; near names", id="code"),
        pytest.param("--code", "NOSUCH", "NOSUCH is no code", id="nothing near"),
        pytest.param("--code", "\x1b[31m", "is no code", id="hostile"),
        pytest.param("--code", "", "is no code", id="empty"),
        pytest.param("--code", "A", "A is no code; `sluicegate explain`", id="a letter"),
        pytest.param("--code", "item", "item is no code; near names: ITEMS", id="a part of a key"),
        pytest.param("--code", "job_status", "job_status is no code", id="a word of a contract"),
        pytest.param("--code", "UPSTREAM", "UPSTREAM is no code", id="the begin of a code"),
        pytest.param("--tool", "job", "holds no tool job", id="the begin of a tool"),
        pytest.param("--tool", "job_stats", "Did you mean job_status?", id="tool"),
    ],
)
def test_a_name_that_nobody_knows_is_a_typo_and_not_a_quiet_night(
    sluicegate: Here, option: str, name: str, said: str
) -> None:
    call(sluicegate, "job_status", SUCCESS)
    done = sluicegate("audit", "list", option, name)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "\x1b" not in done.err


@pytest.mark.requirement("CLI")
def test_codes_that_contracts_and_releases_declare_are_known_by_their_whole_names(
    sluicegate: Here,
) -> None:
    for path, code in (("contract.yaml", "NO_SUCH_RUN"), ("released/1.0.0.yaml", "GONE_AWAY")):
        with Path("contracts/job_status", path).open("a") as document:
            document.write(f"errors: {{{code}: {{retryable: false}}}}\n")
    record_releases(Path("contracts/job_status"))
    call(sluicegate, "job_status", SUCCESS)
    for code in ("NO_SUCH_RUN", "GONE_AWAY"):
        assert sluicegate("audit", "list", "--code", code).code == 3
    near = sluicegate("audit", "list", "--code", "NO_SUCH")
    assert (near.code, "near names: NO_SUCH_RUN" in near.err) == (2, True)
    Path("contracts/restart/contract.yaml").write_text("tool: [\n")
    assert sluicegate("audit", "list", "--code", "GONE_AWAY").code == 3


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(("--code", "STALE"), id="a code that did not happen"),
        pytest.param(("--code", "UNAVAILABLE"), id="a code of the agent"),
        pytest.param(("--tool", "restart"), id="a tool that was not called"),
        pytest.param(("--tool", "job_status", "--since", "2999-01-01T00:00:00Z"), id="later"),
        pytest.param(("--tool", "job_status", "--open"), id="nothing open"),
    ],
)
def test_a_known_name_without_events_is_a_quiet_night(
    sluicegate: Here, options: tuple[str, ...]
) -> None:
    call(sluicegate, "job_status", SUCCESS)
    assert sluicegate("audit", "list", *options).code == 3
