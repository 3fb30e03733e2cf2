"""``sluicegate replay``: stored answers under another version, from custody and from archives."""

from __future__ import annotations

import base64
import json
import shutil
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from tests.acceptance.commands import Done, Here
from tests.acceptance.folders import write_folder

HOME = Path("contracts/job_status")
CONTRACT = HOME / "contract.yaml"
STATES = "enum: [failed, succeeded, other]"
SARIF = json.loads(
    (Path(__file__).parents[1] / "unit/rendering/sarif-2.1.0-rtm.5.schema.json").read_bytes()
)
REPORT = json.loads(
    files("sluicegate.rendering").joinpath("schemas/report.schema.json").read_bytes()
)
ARGUMENTS = {"run_id": "run_1", "state": "failed"}


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work beside a folder whose accepted answers are kept, released once by its owner."""
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path / "contracts")
    settings = Path("contracts/sluicegate.yaml")
    settings.write_text(settings.read_text() + "retention: {accepted: {days: 7}}\n")


def change(old: str, new: str) -> None:
    text = CONTRACT.read_text()
    assert old in text
    CONTRACT.write_text(text.replace(old, new))


def narrow() -> None:
    """The version being worked on takes one state less than release 1.0.0."""
    change(STATES, "enum: [succeeded, other]")


def call(sluicegate: Here, state: str, run: str = "run_1") -> str:
    arguments = json.dumps({"run_id": run, "state": state})
    done = sluicegate("call", "job_status", "--arguments", arguments, "--caller", "svc")
    return str(json.loads(done.out)["request_id"])


def answer(state: str = "failed", run: str = "run_1") -> str:
    return json.dumps({"run_id": run, "state": state, "note": "n"})


def line(raw: str, **more: object) -> str:
    return json.dumps({"raw": raw, "arguments": ARGUMENTS, **more}) + "\n"


def replay(sluicegate: Here, *options: str, against: str = "current") -> tuple[Done, list[object]]:
    done = sluicegate("replay", "job_status", "--against", against, *options, "--format", "json-v1")
    if not done.out:
        return done, []
    told = json.loads(done.out)
    jsonschema.validate(told, REPORT, cls=jsonschema.Draft202012Validator)
    groups = [
        (each["count"], each["was"], each["would_be"], each["pointer"]) for each in told["groups"]
    ]
    return done, groups


@pytest.mark.requirement("LIF-4", "CLI")
def test_custody_is_judged_again_and_both_directions_are_told(sluicegate: Here) -> None:
    failed = call(sluicegate, "failed")
    call(sluicegate, "succeeded")
    odd = call(sluicegate, "odd")
    change(STATES, "enum: [succeeded, odd]")
    done, groups = replay(sluicegate, "--reason", "before 1.2.0")
    assert (done.code, groups) == (
        1,
        [
            (1, "conform/ENUM", "accepted", "/state"),
            (1, "accepted", "conform/ENUM", "/state"),
        ],
    )
    told = json.loads(done.out)
    assert [each["examples"] for each in told["groups"]] == [[odd], [failed]]
    assert (told["checked"], told["accepted_as_before"]) == (3, 1)
    assert "SECRET-OF-UPSTREAM" not in done.out + done.err


@pytest.mark.requirement("LIF-4")
def test_the_version_that_judged_them_finds_nothing_new(sluicegate: Here) -> None:
    for state in ("failed", "odd"):
        call(sluicegate, state)
    call(sluicegate, "other")  # another subject: refused by its binding
    done, groups = replay(sluicegate, "--reason", "proof")
    assert (done.code, groups) == (0, [])
    assert json.loads(done.out)["refused_as_before"] == 2


@pytest.mark.requirement("LIF-4", "AUD-4")
def test_reading_custody_wants_a_reason_and_stands_in_the_record(sluicegate: Here) -> None:
    call(sluicegate, "failed")
    refused, _ = replay(sluicegate)
    assert (refused.code, "--reason" in refused.err) == (2, True)
    replay(sluicegate, "--reason", "incident 7")
    told = json.loads(sluicegate("audit", "list", "--format", "json-v1").out)
    acts = [each["detail"] for each in told["events"] if each["kind"] == "operator"]
    assert acts == [{"act": "replay", "reason": "incident 7", "versions": "current"}]


@pytest.mark.requirement("LIF-4")
def test_what_custody_does_not_hold_is_said_and_not_judged(sluicegate: Here) -> None:
    settings = Path("contracts/sluicegate.yaml")
    settings.write_text(settings.read_text().replace("accepted: {days: 7}", "accepted: digest"))
    call(sluicegate, "failed")
    done, _ = replay(sluicegate, "--reason", "test")
    assert done.code == 3
    assert json.loads(done.out)["left_out"] == {"accepted, bytes not kept": 1}
    assert "`retention: {accepted: {days: N}}` in sluicegate.yaml keeps them" in done.err


@pytest.mark.requirement("LIF-4")
def test_refused_answers_alone_check_nothing_where_accepted_ones_are_left_out(
    sluicegate: Here,
) -> None:
    settings = Path("contracts/sluicegate.yaml")
    settings.write_text(settings.read_text().replace("accepted: {days: 7}", "accepted: digest"))
    for state in ("failed", "odd"):
        call(sluicegate, state)
    done, groups = replay(sluicegate, "--reason", "test", against="1.0.0")
    assert (done.code, groups) == (3, [])
    told = json.loads(done.out)
    assert (told["checked"], told["left_out"]) == (1, {"accepted, bytes not kept": 1})
    assert "none was judged again: nothing was checked" in done.err
    change(STATES, "enum: [failed, odd, other]")
    done, groups = replay(sluicegate, "--reason", "test")
    assert (done.code, groups) == (1, [(1, "conform/ENUM", "accepted", "/state")])
    settings.write_text(settings.read_text().replace("accepted: digest", "accepted: {days: 7}"))
    call(sluicegate, "failed")
    done, _ = replay(sluicegate, "--reason", "test", against="1.0.0")
    assert (done.code, json.loads(done.out)["accepted_as_before"]) == (0, 1)


@pytest.mark.requirement("LIF-4")
def test_another_reason_to_refuse_is_told_and_is_no_changed_verdict(sluicegate: Here) -> None:
    was = {"stage": "narrow", "code": "NOT_FOUND_AT", "pointer": ""}
    Path("archive.jsonl").write_text(line(answer(run="run_2"), was=was))
    options = ("--against", "current", "--archive", "archive.jsonl")
    done = sluicegate("replay", "job_status", *options)
    assert done.code == 0
    assert "refused otherwise: narrow/NOT_FOUND_AT -> vouch/WRONG_SUBJECT" in done.out
    assert "1 answer judged again" in done.out


@pytest.mark.requirement("LIF-4")
@pytest.mark.parametrize("processes", ["1", "2"])
def test_an_archive_of_lines_is_judged_by_both_versions(sluicegate: Here, processes: str) -> None:
    lines = [line(answer(), request_id=f"req.{number:08d}") for number in range(700)]
    lines += [line(answer("succeeded"))] * 300
    Path("archive.jsonl").write_text("".join(lines))
    narrow()
    options = ("--archive", "archive.jsonl", "--processes", processes)
    done, groups = replay(sluicegate, *options)
    assert (done.code, groups) == (1, [(700, "accepted", "conform/ENUM", "/state")])
    told = json.loads(done.out)
    assert told["groups"][0]["examples"] == ["req.00000000", "req.00000001", "req.00000002"]
    assert told["accepted_as_before"] == 300


@pytest.mark.requirement("LIF-4")
def test_a_released_version_is_judged_against_the_current_one(sluicegate: Here) -> None:
    Path("archive.jsonl").write_text(line(answer()))
    narrow()
    _, groups = replay(sluicegate, "--archive", "archive.jsonl", against="1.0.0")
    assert groups == [(1, "conform/ENUM", "accepted", "/state")]


@pytest.mark.requirement("LIF-4", "CLI")
def test_what_was_never_judged_needs_a_version_that_judges_it(sluicegate: Here) -> None:
    shutil.rmtree(HOME / "released")
    archive = Path("archive.jsonl")
    archive.write_text(line(answer(), was="accepted"))
    known, groups = replay(sluicegate, "--archive", "archive.jsonl")
    assert (known.code, groups) == (0, [])
    archive.write_text(line(answer(), was="accepted") + line(answer()))
    done, groups = replay(sluicegate, "--archive", "archive.jsonl")
    assert (done.code, groups, "say --from" in done.err) == (2, [], True)
    assert done.err.startswith("line 2 does not say")
    told, _ = replay(sluicegate, "--archive", "archive.jsonl", "--from", "current")
    assert told.code == 0


@pytest.mark.requirement("LIF-4")
def test_a_line_may_hold_raw_bytes_and_say_what_it_was_judged(sluicegate: Here) -> None:
    members = {
        "raw_b64": base64.b64encode(b"\xff").decode(),
        "arguments": ARGUMENTS,
        "was": "accepted",
    }
    Path("archive.jsonl").write_text(json.dumps(members) + "\n")
    _, groups = replay(sluicegate, "--archive", "archive.jsonl")
    assert groups == [(1, "accepted", "parse/NOT_UTF8", "")]


@pytest.mark.requirement("LIF-4")
def test_a_folder_of_raw_files_takes_its_questions_from_sidecars(sluicegate: Here) -> None:
    folder = Path("archive")
    folder.mkdir()
    for name, run in (("one", "run_1"), ("two", "run_2")):
        (folder / f"{name}.json").write_text(answer(run=run))
        (folder / f"{name}.expect.yaml").write_text(f"arguments: {json.dumps(ARGUMENTS)}\n")
    narrow()
    done, groups = replay(sluicegate, "--archive", "archive")
    assert (done.code, groups) == (
        1,
        [
            (1, "accepted", "conform/ENUM", "/state"),
            (1, "vouch/WRONG_SUBJECT", "conform/ENUM", "/state"),
        ],
    )


FAULTS = [
    pytest.param("[]", "it is no JSON object", id="no object"),
    pytest.param('{"raw": "{}", "raw": "{}"}', "", id="a member twice"),
    pytest.param('{"arguments": {}}', "`raw` or `raw_b64`", id="no bytes"),
    pytest.param('{"raw_b64": "-"}', "no Base64", id="no Base64"),
    pytest.param('{"raw": "{}", "row": 1}', "row is none of", id="an unknown member"),
    pytest.param('{"raw": "{}", "now": "today"}', "RFC 3339", id="no time"),
    pytest.param(
        '{"raw": "{}", "was": {"stage": "parse", "code": ""}}', "stage, code", id="no code"
    ),
]


@pytest.mark.requirement("LIF-4", "CLI")
@pytest.mark.parametrize(("text", "said"), FAULTS)
def test_a_faulty_line_is_named_and_ends_the_replay(sluicegate: Here, text: str, said: str) -> None:
    Path("archive.jsonl").write_text(line(answer()) + text + "\n")
    done, _ = replay(sluicegate, "--archive", "archive.jsonl")
    assert (done.code, done.out) == (5, "")
    assert done.err.startswith("archive.jsonl:2: ")
    assert said in done.err


@pytest.mark.requirement("LIF-4", "CLI")
@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
def test_an_audit_export_is_named_as_one_and_what_to_give_instead(
    sluicegate: Here, name: str
) -> None:
    call(sluicegate, "failed")
    assert sluicegate("audit", "export", name).code == 0
    done, _ = replay(sluicegate, "--archive", name)
    assert (done.code, done.out) == (5, "")
    assert "this is an audit export, which holds no answers" in done.err
    assert "leave --archive out and say --reason" in done.err


@pytest.mark.requirement("LIF-4")
def test_freshness_needs_the_time_of_each_answer(sluicegate: Here) -> None:
    for old, new in (
        ("note: {type: string, maxLength: 64}", "note: {type: string, format: date-time}"),
        ("  agent: [", "  fresh: {at: /note, max_age_s: 60}\n  agent: ["),
    ):
        change(old, new)
    raw = json.dumps({"run_id": "run_1", "state": "failed", "note": "2026-11-30T10:00:00Z"})
    Path("archive.jsonl").write_text(line(raw))
    done, _ = replay(sluicegate, "--archive", "archive.jsonl")
    assert (done.code, "`now` is missing" in done.err) == (5, True)
    Path("archive.jsonl").write_text(line(raw, now="2026-11-30T10:00:30Z", was="accepted"))
    done, groups = replay(sluicegate, "--archive", "archive.jsonl")
    assert (done.code, groups) == (0, [])


@pytest.mark.requirement("LIF-4", "CLI")
@pytest.mark.parametrize("form", ["human", "github"])
def test_people_and_github_read_the_same_groups(sluicegate: Here, form: str) -> None:
    Path("archive.jsonl").write_text(line(answer(), request_id="req.00000001"))
    narrow()
    options = ("--against", "current", "--archive", "archive.jsonl", "--format", form)
    done = sluicegate("replay", "job_status", *options)
    assert done.code == 1
    assert "accepted -> conform/ENUM" in done.out
    assert "/state" in done.out


@pytest.mark.requirement("LIF-4", "LIF-5")
def test_code_scanning_gets_a_result_a_group_at_the_document_that_judged(sluicegate: Here) -> None:
    lines = [line(answer()), line(answer("odd")), line(answer("other")), line(answer("other"))]
    Path("archive.jsonl").write_text("".join(lines))
    sluicegate("release", "job_status")
    change(STATES, "enum: [succeeded, other, odd]")
    options = ("--from", "current", "--archive", "archive.jsonl", "--format", "sarif")
    done = sluicegate("replay", "job_status", "--against", "1.0.0", *options)
    log = json.loads(done.out)
    jsonschema.validate(log, SARIF, cls=jsonschema.Draft4Validator)
    (run,) = log["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["ENUM"]
    assert "markdown" in run["tool"]["driver"]["rules"][0]["help"]
    places = [
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in run["results"]
    ]
    assert places == ["contracts/job_status/released/1.0.0.yaml"] * 2
    assert [result["level"] for result in run["results"]] == ["error", "error"]
    prints = {result["partialFingerprints"]["sluicegate/v1"] for result in run["results"]}
    assert len(prints) == 2
    assert (done.code, run["properties"]) == (1, {"verdict": "changed", "checked": 4})


@pytest.mark.requirement("LIF-4", "LIF-5")
@pytest.mark.parametrize(
    ("states", "code", "counts"),
    [
        pytest.param("enum: [succeeded, other]", 1, ("1", "1"), id="refused now"),
        pytest.param("enum: [failed]", 0, ("1", "0"), id="as before"),
    ],
)
def test_a_dashboard_gets_one_case_that_fails_where_a_verdict_changed(
    sluicegate: Here, states: str, code: int, counts: tuple[str, str]
) -> None:
    Path("archive.jsonl").write_text(line(answer(), was="accepted"))
    change(STATES, states)
    options = ("--archive", "archive.jsonl", "--format", "junit")
    done = sluicegate("replay", "job_status", "--against", "current", *options)
    suites = ElementTree.fromstring(done.out)
    assert (done.code, suites.get("tests"), suites.get("failures")) == (code, *counts)
    (case,) = suites.iter("testcase")
    assert case.get("name") == "job_status"
    assert [failure.get("type") for failure in case.iter("failure")] == ["ENUM"] * code


@pytest.mark.requirement("LIF-3", "LIF-4")
def test_no_replay_runs_against_an_edited_release(sluicegate: Here) -> None:
    Path("archive.jsonl").write_text(line(answer()))
    sluicegate("release", "job_status")
    released = HOME / "released" / "1.0.0.yaml"
    released.write_text(released.read_text() + "\n")
    done, _ = replay(sluicegate, "--archive", "archive.jsonl", against="1.0.0")
    assert done.code == 4
    assert "job_status/released/1.0.0.yaml" in done.err


@pytest.mark.requirement("LIF-4")
@pytest.mark.parametrize(
    ("change_of", "without", "said"),
    [
        pytest.param(None, "arguments", "binds the answer to it", id="arguments that are bound"),
        pytest.param(
            ("/run_id: /run_id", "/run_id: {caller: tenant}"),
            "caller",
            "`tenant` is missing: the contract binds the answer to it",
            id="a tenant that is bound",
        ),
        pytest.param(
            ("/run_id: /run_id", "/run_id: {caller: subject}"),
            "caller",
            "`subject` is missing: the contract binds the answer to it",
            id="a caller that is bound",
        ),
    ],
)
def test_an_answer_that_does_not_say_what_it_is_bound_to_is_not_judged(
    sluicegate: Here, change_of: tuple[str, str] | None, without: str, said: str
) -> None:
    if change_of is not None:
        change(*change_of)
    told = {"raw": answer(), "arguments": {"run_id": "run_1"}}
    told = {name: each for name, each in told.items() if name != without}
    Path("archive.jsonl").write_text(json.dumps(told) + "\n")
    done, _ = replay(sluicegate, "--archive", "archive.jsonl")
    assert (done.code, done.out, said in done.err) == (5, "", True), done


@pytest.mark.requirement("LIF-4")
def test_an_answer_to_a_call_that_was_never_made_is_not_judged(sluicegate: Here) -> None:
    told = {"raw": answer(), "arguments": {"runId": "run_1"}}
    Path("archive.jsonl").write_text(json.dumps(told) + "\n")
    done, _ = replay(sluicegate, "--archive", "archive.jsonl")
    assert (done.code, done.out) == (5, ""), done
    assert "refuses its arguments (conform/MISNAMED at /runId)" in done.err
    Path("archive.jsonl").write_text(json.dumps({**told, "was": "accepted"}) + "\n")
    done, _ = replay(sluicegate, "--archive", "archive.jsonl")
    assert done.code == 1
