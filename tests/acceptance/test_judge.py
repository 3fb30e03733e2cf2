"""``sluicegate judge``: exit codes, each reader's form, options, and inputs that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.acceptance.commands import Here, expected, run_apart
from tests.cases.rows import MISSION, Row
from tests.cases.waiting import WAITING
from tests.unit.rendering.hostile import HOSTILE

from sluicegate.values.digests import digest_of_bytes

SCHEMA = """{
  "type": "object",
  "properties": {
    "run_id": {"type": "string", "pattern": "^run_[0-9]+$"},
    "state": {"enum": ["succeeded", "failed"]},
    "observed_at": {"type": "string", "format": "date-time"}
  },
  "required": ["run_id", "state"],
  "additionalProperties": false
}
"""
GOOD = '{"run_id": "run_1", "state": "failed", "observed_at": "2026-11-30T12:00:00Z"}\n'
BAD = '{\n  "runId": "run_1",\n  "state": "日本 \\u202e FAILED"\n}\n'


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of its own, so that names in reports are the same everywhere."""
    monkeypatch.chdir(tmp_path)
    Path("schema.json").write_text(SCHEMA, encoding="utf-8")
    Path("good.json").write_text(GOOD, encoding="utf-8")
    Path("bad.json").write_text(BAD, encoding="utf-8")


@pytest.mark.requirement("CLI")
@pytest.mark.parametrize(
    ("form", "name"),
    [("human", "judge-human.txt"), ("github", "judge-github.txt"), ("json-v1", "judge-json.txt")],
)
def test_a_rejected_document_is_reported_to_each_reader(
    sluicegate: Here, form: str, name: str
) -> None:
    done = sluicegate("judge", "--schema", "schema.json", "bad.json", "--format", form)
    assert (done.code, done.out, done.err) == (1, expected(name), "")


@pytest.mark.requirement("CLI")
def test_an_accepted_document_has_no_stage_no_code_and_exit_0(sluicegate: Here) -> None:
    done = sluicegate("judge", "--schema", "schema.json", "good.json", "--format", "json-v1")
    assert done.code == 0
    assert json.loads(done.out) == {
        "format": "json-v1",
        "command": "judge",
        "verdict": "accepted",
        "stage": None,
        "code": None,
        "findings": [],
        "digest": digest_of_bytes(GOOD.encode()),
    }


@pytest.mark.parametrize(
    ("schema", "code", "line", "column"),
    [
        pytest.param(
            '{"type": "object",\n "type": "object"}', "DUPLICATE_MEMBER", 2, 2, id="twice"
        ),
        pytest.param('{"type": "object"', "SCHEMA_META_INVALID", 1, 18, id="breaks off"),
        pytest.param('{"maximum": 1e400}', "SCHEMA_META_INVALID", 1, 13, id="overflows"),
        pytest.param("type: object", "SCHEMA_META_INVALID", 1, 1, id="yaml"),
        pytest.param("", "SCHEMA_META_INVALID", 1, 1, id="empty"),
        pytest.param('{"required":\n "id"}', "SCHEMA_META_INVALID", 2, 2, id="breaks the draft"),
        pytest.param('{"maxlength": 1}', "SCHEMA_UNKNOWN_KEYWORD", 1, 15, id="misspelt"),
        pytest.param('{"$ref": "https://x.example/"}', "SCHEMA_REMOTE_REF", 1, 10, id="remote"),
    ],
)
def test_a_schema_that_does_not_load_is_exit_4_at_its_own_place(
    sluicegate: Here, schema: str, code: str, line: int, column: int
) -> None:
    Path("schema.json").write_text(schema, encoding="utf-8")
    done = sluicegate("judge", "--schema", "schema.json", "good.json", "--format", "json-v1")
    told = json.loads(done.out)
    assert (done.code, told["verdict"], told["stage"], told["code"]) == (
        4,
        "rejected",
        "register",
        code,
    )
    assert (told["findings"][0]["line"], told["findings"][0]["column"]) == (line, column)
    assert told["digest"] == digest_of_bytes(GOOD.encode())
    shown = sluicegate("judge", "--schema", "schema.json", "good.json")
    assert shown.out.startswith(f"schema.json:{line}:{column}: {code}\n")


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("--schema", "absent.json", "good.json"), id="schema"),
        pytest.param(("--schema", "schema.json", "absent.json"), id="document"),
        pytest.param(("--schema", "schema.json", "."), id="a folder"),
    ],
)
def test_a_file_that_cannot_be_read_is_exit_5_and_said_on_stderr(
    sluicegate: Here, arguments: tuple[str, ...]
) -> None:
    done = sluicegate("judge", *arguments)
    assert (done.code, done.out) == (5, "")
    assert "cannot be read" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param((), id="neither schema nor contract"),
        pytest.param(("--schema", "schema.json", "--contract", "c.yaml"), id="both"),
        pytest.param(("--schema", "-", "good.json"), id="schema from stdin"),
        pytest.param(("--schema", "schema.json", "--bind", "x"), id="bind without value"),
        pytest.param(("--schema", "schema.json", "--bind", "x=1"), id="bind without slash"),
        pytest.param(("--schema", "schema.json", "--bind", "/a=1", "--bind", "/a=2"), id="twice"),
        pytest.param(("--schema", "schema.json", "--fresh", "/t"), id="fresh without age"),
        pytest.param(("--schema", "schema.json", "--now", "noon"), id="no time"),
        pytest.param(("--schema", "schema.json", "--now", "2026-11-30T12:00:00"), id="no offset"),
        pytest.param(("--schema", "schema.json", "--request-id", "short"), id="request id"),
        pytest.param(("--schema", "schema.json", "--max-depth", "201"), id="beyond the engine"),
        pytest.param(("--schema", "schema.json", "--format", "xml"), id="unknown format"),
        pytest.param(("--schema", "schema.json", "--unknown"), id="unknown option"),
    ],
)
def test_a_wrong_command_line_is_exit_2_and_judges_nothing(
    sluicegate: Here, arguments: tuple[str, ...]
) -> None:
    done = sluicegate("judge", *arguments)
    assert (done.code, done.out) == (2, "")
    assert "Error: " in done.err


@pytest.mark.parametrize(
    ("options", "code"),
    [
        pytest.param(("--bind", "/run_id=run_1"), None, id="a bare word is text"),
        pytest.param(("--bind", '/run_id="run_1"'), None, id="a JSON string"),
        pytest.param(("--bind", "/run_id=run_2"), "WRONG_SUBJECT", id="another subject"),
        pytest.param(("--bind", "/run_id=null"), "WRONG_SUBJECT", id="null is text"),
        pytest.param(("--bind", "/run_id=1"), "WRONG_SUBJECT", id="a number"),
        pytest.param(
            ("--fresh", "/observed_at:60", "--now", "2026-11-30T12:01:00Z"), None, id="edge of age"
        ),
        pytest.param(
            ("--fresh", "/observed_at:60", "--now", "2026-11-30T12:01:00.000001Z"),
            "STALE",
            id="past the edge",
        ),
        pytest.param(
            ("--fresh", "/observed_at:60:5", "--now", "2026-11-30T11:59:54Z"),
            "FROM_FUTURE",
            id="ahead",
        ),
        pytest.param(("--max-bytes", "10"), "TOO_LARGE", id="bytes"),
        pytest.param(("--max-bytes", str(len(GOOD))), None, id="bytes, edge"),
        pytest.param(("--max-depth", "1"), None, id="depth"),
        pytest.param(("--side", "arguments"), None, id="as arguments"),
        pytest.param(("--strict",), None, id="strict"),
    ],
)
def test_options_say_what_the_document_must_be(
    sluicegate: Here, options: tuple[str, ...], code: str | None
) -> None:
    done = sluicegate(
        "judge", "--schema", "schema.json", "good.json", "--format", "json-v1", *options
    )
    assert (done.code, json.loads(done.out)["code"]) == (0 if code is None else 1, code)


def test_freshness_without_a_time_is_judged_by_this_moment(sluicegate: Here) -> None:
    done = sluicegate("judge", "--schema", "schema.json", "good.json", "--fresh", "/observed_at:0")
    assert done.code == 1


def test_i_json_refuses_an_integer_that_any_admits(sluicegate: Here) -> None:
    Path("schema.json").write_text("{}")
    Path("big.json").write_text('{"n": 9007199254740993}')
    codes = [
        sluicegate("judge", "--schema", "schema.json", "big.json", "--integers", how).code
        for how in ("any", "i-json")
    ]
    assert codes == [0, 1]


def test_strict_refuses_an_open_schema_that_a_bare_one_may_be(sluicegate: Here) -> None:
    Path("schema.json").write_text('{"type": "object"}')
    codes = [
        sluicegate("judge", "--schema", "schema.json", "good.json", *options).code
        for options in ((), ("--strict",))
    ]
    assert codes == [0, 4]


def test_a_document_comes_from_stdin_and_is_read_no_further_than_its_limit() -> None:
    arguments = ("judge", "--schema", "schema.json", "--format", "json-v1")
    good = run_apart(*arguments, stdin=GOOD.encode())
    assert (good.code, json.loads(good.out)["verdict"]) == (0, "accepted")
    endless = run_apart(*arguments, "--max-bytes", "1000", "-", stdin=b" " * 5_000_000)
    told = json.loads(endless.out)
    assert (endless.code, told["code"]) == (1, "TOO_LARGE")
    assert told["digest"] == digest_of_bytes(b" " * 1001)


@pytest.mark.requirement("AUD-5", "CLI")
@pytest.mark.parametrize("form", ["human", "github", "json-v1"])
@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_member_name_is_shown_and_not_acted_on(
    sluicegate: Here, name: str, form: str
) -> None:
    Path("hostile.json").write_text(
        json.dumps({"run_id": "run_1", "state": "failed", name: 1}), encoding="utf-8"
    )
    done = sluicegate("judge", "--schema", "schema.json", "hostile.json", "--format", form)
    assert done.code == 1
    assert all(character.isprintable() or character == "\n" for character in done.out)
    commands = [line for line in done.out.splitlines() if line.lstrip().startswith("::")]
    assert len(commands) == (len(done.out.splitlines()) if form == "github" else 0)
    assert "##[" not in done.out


# Whose account a caller may act on is asked of a gate, not of a document.
JUDGED = [
    row for row in MISSION if row.id not in WAITING and row.expect.get("stage") != "authorize"
]


@pytest.mark.requirement("CLI")
@pytest.mark.parametrize("row", JUDGED, ids=[row.id for row in JUDGED])
def test_the_worked_examples_hold_on_the_command_line_too(sluicegate: Here, row: Row) -> None:
    Path("schema.json").write_text(json.dumps(row.schema), encoding="utf-8")
    Path("document.json").write_bytes(row.raw)
    options = [f"--max-depth={row.limits.max_depth}", f"--max-bytes={row.limits.max_bytes}"]
    context = row.context
    if "now" in context:
        options.append(f"--now={context['now']}")
    if "request_id" in context:
        options.append(f"--request-id={context['request_id']}")
    for pointer, value in context.get("bind", {}).items():
        options.append(f"--bind={pointer}={json.dumps(value)}")
    if "fresh_at" in context:
        ahead = context.get("max_ahead_s", 5)
        options.append(f"--fresh={context['fresh_at']}:{context['max_age_s']}:{ahead}")
    done = sluicegate(
        "judge",
        "--schema",
        "schema.json",
        "--side",
        row.side,
        "--integers",
        row.integers,
        *options,
        "document.json",
        "--format",
        "json-v1",
    )
    told = json.loads(done.out)
    assert told["verdict"] == row.expect["verdict"]
    assert done.code == {"accepted": 0, "rejected": 1}[told["verdict"]]
    if told["verdict"] == "rejected" and "stage" in row.expect:
        assert told["stage"] == row.expect["stage"]
