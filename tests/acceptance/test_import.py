"""``import`` drafts contracts that do not load until a person has decided, and then pass check."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.commands import Done, Here

pytestmark = pytest.mark.requirement("LIF-6")

ITEM = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^item-[0-9]+$"},
        "note": {"type": ["string", "null"]},
        "parts": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["id"],
}
TOOLS = {
    "tools": [
        {
            "name": "get_item",
            "description": "One item: its parts, and a note.",
            "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}},
            "outputSchema": ITEM,
            "annotations": {"readOnlyHint": True},
        },
        {"name": "delete_item", "inputSchema": {"type": "object"}},
    ]
}
OPERATIONS = """\
openapi: 3.0.3
servers: [{url: "https://api.example/v1"}]
security: [{token: []}]
paths:
  /items/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string, pattern: "^[a-z]+$"}}]
    get:
      operationId: getItem
      summary: One item.
      parameters:
        - {name: depth, in: query, schema: {type: integer}}
        - {name: X-Trace, in: header, schema: {type: string}}
      responses:
        "200": {content: {application/json: {schema: {$ref: "#/components/schemas/Item"}}}}
    put:
      operationId: putItem
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/Item"}}}}
      responses: {"204": {description: Done.}}
    patch:
      operationId: patchItem
      requestBody:
        content:
          application/json:
            schema:
              allOf:
                - {$ref: "#/components/schemas/Item"}
                - {type: object, properties: {flag: {type: boolean}}}
      responses: {"204": {description: Done.}, default: {$ref: "#/components/responses/Item"}}
  /items:
    post:
      operationId: addItem
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/Item"}}}}
      responses: {"201": {$ref: "#/components/responses/Item"}}
components:
  responses:
    Item: {content: {application/json: {schema: {$ref: "#/components/schemas/Item"}}}}
  schemas:
    Item:
      type: object
      properties:
        id: {type: string}
        count: {type: integer, minimum: 0, exclusiveMinimum: true, nullable: true}
        part: {$ref: "#/components/schemas/Item"}
      required: [id]
"""
MODEL = """\
from pydantic import BaseModel

class Item(BaseModel):
    id: str
    count: int | None = None
"""
ANSWERS = [
    {"id": "item-1", "at": "2026-01-01T00:00:00Z", "note": "n" * 300, "tags": ["a"]},
    {"id": "item-2", "at": "2026-01-02T00:00:00Z", "note": None, "tags": []},
]


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    Path("tools.json").write_text(json.dumps(TOOLS))
    Path("api.yaml").write_text(OPERATIONS)
    Path("imported_model.py").write_text(MODEL)
    Path("needy_model.py").write_text("import absent_module")
    monkeypatch.syspath_prepend(tmp_path)
    Path("item.json").write_text(json.dumps(ITEM))
    for number, answer in enumerate(ANSWERS):
        Path(f"answer.{number}.json").write_text(json.dumps(answer))


SOURCES: dict[str, tuple[str, ...]] = {
    "an MCP tool list": ("mcp", "tools.json"),
    "a schema of the result": ("schema", "item.json", "--tool", "get_item"),
    "a schema of the arguments": (
        *("schema", "item.json", "--tool", "get_item", "--side", "arguments"),
    ),
    "an operation without body": (
        *("openapi", "api.yaml", "--operation", "getItem", "--tool", "get_item"),
    ),
    "an operation with parameters and a body": (
        *("openapi", "api.yaml", "--operation", "PUT /items/{id}", "--tool", "put_item"),
    ),
    "an operation with a composed body": (
        *("openapi", "api.yaml", "--operation", "patchItem", "--tool", "patch_item"),
    ),
    "an operation that is all body": (
        *("openapi", "api.yaml", "--operation", "addItem", "--tool", "add_item"),
    ),
    "a Pydantic model": ("pydantic", "imported_model:Item", "--tool", "get_item"),
    "samples": ("samples", "answer.0.json", "answer.1.json", "--tool", "get_item"),
}


def decide(contract: Path) -> None:
    """Do what a person does: say what an identifier looks like, take the open questions away."""
    for path in contract.parent.glob("schemas/*.json"):
        schema = json.loads(path.read_bytes(), object_hook=_give_pattern)
        path.write_text(json.dumps(schema))
    contract.write_text(contract.read_text(encoding="utf-8").partition("draft:\n")[0])


def _give_pattern(found: dict[str, Any]) -> dict[str, Any]:
    if found.get("id", {}) == {"type": "string", "maxLength": 256}:
        found["id"] = {"type": "string", "pattern": "^[a-z]+(-[0-9]+)?$", "maxLength": 64}
    return found


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES.keys())
def test_a_draft_loads_once_it_is_decided_and_never_before(
    sluicegate: Here, source: tuple[str, ...]
) -> None:
    done = sluicegate("import", *source)
    assert done.code == 0, done.err
    undecided = sluicegate("check")
    assert (undecided.code, "still to decide: owner:" in undecided.out) == (4, True)
    for contract in Path("contracts").glob("*/contract.yaml"):
        decide(contract)
    decided = sluicegate("check", "--format", "json-v1")
    checked = json.loads(decided.out)
    # Whether a contract without examples is checked at all is for `check` to say; it loads.
    assert (decided.code != 4, checked["problems"], checked["lint"]) == (True, [], [])


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES.keys())
def test_accepted_defaults_load_at_once(sluicegate: Here, source: tuple[str, ...]) -> None:
    assert sluicegate("import", *source, "--accept-defaults").code == 0
    checked = json.loads(sluicegate("check", "--format", "json-v1").out)
    assert (checked["problems"], all(each["ok"] for each in checked["fixtures"])) == ([], True)


LOOSE = {
    "type": "object",
    "properties": {
        "owner_id": {"type": "string"},
        "part": {"type": "object", "properties": {"slug": {"type": "string"}}},
    },
}


@pytest.mark.requirement("LIF-1")
@pytest.mark.parametrize(
    "source",
    [*SOURCES.values(), ("schema", "loose.json", "--tool", "get_loose")],
    ids=[*SOURCES.keys(), "bare identifiers, and no member required"],
)
def test_whatever_check_refuses_in_a_draft_was_named_when_it_was_drafted(
    sluicegate: Here, source: tuple[str, ...]
) -> None:
    Path("loose.json").write_text(json.dumps(LOOSE))
    done = sluicegate("import", *source, "--accept-defaults", "--format", "json-v1")
    questions = [
        (Path(draft["folder"]), each["question"])
        for draft in json.loads(done.out)["drafts"]
        for each in draft["decisions"]
    ]
    lint = json.loads(sluicegate("check", "--format", "json-v1").out)["lint"]
    errors = [each for each in lint if each["severity"] == "error"]
    for error in errors:
        words = "identifiers need a pattern" if error["rule"] == "B02" else error["rule"]
        assert [
            question
            for folder, question in questions
            if Path(error["file"]).is_relative_to(folder)
            and words in question
            and (error["pointer"] or "the root") in question
        ], error
    if "loose.json" in source:
        assert {(each["rule"], each["pointer"]) for each in errors} >= {
            ("B02", "/properties/owner_id"),
            ("B02", "/properties/part/properties/slug"),
            ("C05", ""),
            ("C05", "/properties/part"),
        }


HOLED = """\
from pydantic import BaseModel

class Part(BaseModel):
    size: float

class Item(BaseModel):
    name: str
    count: int | None = None
    price: float = 1.0
    page: float = 1.0
    parts: list[Part] = []
"""
HELD = {"name": "a", "count": 3, "price": 2.5, "page": 2.0, "parts": [{"size": 1.5}]}


@pytest.mark.requirement("LIF-2")
@pytest.mark.parametrize("side", ["result", "arguments"])
def test_whatever_hole_check_finds_in_a_draft_was_named_when_it_was_drafted(
    sluicegate: Here, side: str
) -> None:
    Path("holed_model.py").write_text(HOLED)
    Path("held.json").write_text(json.dumps(HELD))
    source = ("pydantic", "holed_model:Item", "--tool", "item", "--example", "held.json")
    done = sluicegate("import", *source, "--side", side, "--accept-defaults", "--format", "json-v1")
    (draft,) = json.loads(done.out)["drafts"]
    questions = [each["question"] for each in draft["decisions"]]
    checked = json.loads(sluicegate("check", "--format", "json-v1").out)
    holes = [each for each in checked["holes"] if each.get("closed_by")]
    rules = {each["closed_by"] for each in holes}
    assert rules == ({"B04", "B05", "C06"} if side == "result" else {"B04", "B05"})
    for hole in holes:
        assert [
            question
            for question in questions
            if f"check finds a hole by {hole['closed_by']} " in question
            and f"/properties/{hole['pointer'].rpartition('/')[2]}" in question
        ], hole


def test_an_owner_that_is_named_is_asked_of_no_draft(sluicegate: Here) -> None:
    done = sluicegate("import", *SOURCES["an MCP tool list"], "--owner", "team: a")
    assert (done.code, "owner:" in done.err) == (0, False)
    for contract in Path("contracts").glob("*/contract.yaml"):
        assert '\nowner: "team: a"\n' in contract.read_text(encoding="utf-8")
    for bad in ("", " ", "a\nb", "a" * 201):
        refused = sluicegate("import", *SOURCES["samples"], "--owner", bad, "--folder", "other")
        assert (refused.code, Path("other").exists()) == (2, False)


@pytest.mark.parametrize("begun", [False, True], ids=["a new folder", "one with settings"])
def test_an_editor_finds_the_schema_of_an_imported_contract(sluicegate: Here, begun: bool) -> None:
    if begun:
        Path("contracts").mkdir()
        Path("contracts/sluicegate.yaml").write_text("sluicegate: 1\n")
    sluicegate("import", *SOURCES["samples"])
    contract = Path("contracts/get_item/contract.yaml")
    first = contract.read_text(encoding="utf-8").splitlines()[0]
    line, _, schema = first.partition("$schema=")
    assert line == "# yaml-language-server: "
    told = json.loads((contract.parent / schema).read_text(encoding="utf-8"))
    assert told["title"] == "sluicegate contract"


def test_a_hundred_tools_ask_the_same_question_once(sluicegate: Here) -> None:
    tools = [{"name": f"tool_{n}", "inputSchema": {"type": "object"}} for n in range(100)]
    Path("many.json").write_text(json.dumps(tools))
    done = sluicegate("import", "mcp", "many.json")
    owners = [line for line in done.err.splitlines() if "owner:" in line]
    (owner,) = owners
    assert owner.startswith("contracts: decide, all 100 contracts: owner: who is told of drift")
    assert len(done.err.splitlines()) < 15


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (("answer.0.json",), "inferred from 1 sample alone;"),
        (("answer.0.json", "answer.1.json"), "inferred from 2 samples alone;"),
    ],
    ids=["one", "two"],
)
def test_how_many_samples_there_were_is_told(
    sluicegate: Here, files: tuple[str, ...], said: str
) -> None:
    assert said in sluicegate("import", "samples", *files, "--tool", "get_item").err


def test_the_last_line_says_that_the_folder_does_not_load_until_drafts_are_decided(
    sluicegate: Here,
) -> None:
    said = "write drafts elsewhere with --folder FOLDER"
    options = ("import", *SOURCES["a schema of the result"])
    done = sluicegate(*options, "--folder", "mine")
    assert done.err.splitlines()[-1] == (
        f"until its drafts are decided mine does not load, and no tool of it can be called; {said}"
    )
    assert said not in sluicegate(*options, "--folder", "other", "--accept-defaults").err


def test_every_open_question_is_told_on_stderr_in_the_file_and_to_programs(
    sluicegate: Here,
) -> None:
    done = sluicegate("import", *SOURCES["samples"], "--format", "json-v1")
    shown = json.loads(done.out)
    (draft,) = shown["drafts"]
    contract = Path("contracts/get_item/contract.yaml").read_text(encoding="utf-8")
    assert (shown["command"], draft["tool"], draft["loads"]) == ("import", "get_item", False)
    assert {each["at"] for each in draft["decisions"]} == {
        *("owner", "description", "effect", "arguments", "fetch", "result"),
    }
    for each in draft["decisions"]:
        assert f"# DECIDE: {each['question']}\n" in contract
        assert f"decide: {each['question']}\n" in done.err


def test_an_operation_brings_its_request_and_says_what_it_left_out(sluicegate: Here) -> None:
    done = sluicegate("import", *SOURCES["an operation without body"])
    contract = Path("contracts/get_item/contract.yaml").read_text(encoding="utf-8")
    assert (
        '  http: {method: GET, url: "https://api.example/v1/items/{/id}", timeout_s: 10, '
        'query: {depth: "{/depth}"}}\n'
    ) in contract
    assert "left out: header parameter X-Trace" in done.err
    assert "fetch.http.credential" in done.err
    schema = json.loads(Path("contracts/get_item/schemas/result.json").read_text())
    item = next(iter(schema["$defs"].values())) if "properties" not in schema else schema
    assert item["properties"]["count"] == {
        "type": ["integer", "null"],
        "exclusiveMinimum": 0,
        "maximum": 2**53 - 1,
    }


def test_samples_become_fixtures_and_an_answer_that_differs_is_refused(sluicegate: Here) -> None:
    sluicegate("import", *SOURCES["samples"], "--accept-defaults")
    home = Path("contracts/get_item")
    assert json.loads((home / "fixtures/result/accepted/answer-0.json").read_text()) == ANSWERS[0]
    schema: dict[str, Any] = json.loads((home / "schemas/result.json").read_text())
    assert schema["properties"]["at"]["format"] == "date-time"
    assert {"type": "string", "maxLength": 4096} in schema["properties"]["note"]["anyOf"]
    other = home / "fixtures/result/accepted/other.json"
    other.write_text(json.dumps({**ANSWERS[0], "url": "x"}))
    done = sluicegate("check")
    assert (done.code, "conform/UNEXPECTED" in done.out) == (1, True)


def test_what_exists_is_never_overwritten(sluicegate: Here) -> None:
    sluicegate("import", "mcp", "tools.json", "--tool", "delete_item")
    contract = Path("contracts/delete_item/contract.yaml")
    contract.write_text("mine")
    again = sluicegate("import", "mcp", "tools.json")
    assert (again.code, contract.read_text()) == (2, "mine")
    assert not Path("contracts/get_item").exists()


UNSETTLED = {
    "an MCP tool that is said to destroy": (
        [
            {
                "name": "wipe",
                "inputSchema": {"type": "object"},
                "annotations": {"readOnlyHint": False, "destructiveHint": True},
            }
        ],
        ("mcp",),
        "/evidence",
    ),
    "a DELETE": (
        {"servers": [{"url": "https://api.example"}], "paths": {"/a": {"delete": {}}}},
        ("openapi", "--tool", "wipe"),
        "/evidence",
    ),
    "no server": ({"paths": {"/a": {"get": {}}}}, ("openapi", "--tool", "wipe"), "/fetch/http/url"),
    "a relative server": (
        {"servers": [{"url": "/v1"}], "paths": {"/a": {"get": {}}}},
        ("openapi", "--tool", "wipe"),
        "/fetch/http/url",
    ),
}


@pytest.mark.requirement("EVI-3")
@pytest.mark.parametrize(("source", "options", "at"), UNSETTLED.values(), ids=UNSETTLED.keys())
def test_what_no_default_can_stand_for_never_loads_whatever_is_accepted_or_removed(
    sluicegate: Here, source: Any, options: tuple[str, ...], at: str
) -> None:
    whole = source if isinstance(source, list) else {"openapi": "3.1.0", **source}
    Path("source.json").write_text(json.dumps(whole))
    kind, *rest = options
    done = sluicegate("import", kind, "source.json", *rest, "--accept-defaults")
    assert (done.code, "1 to decide" in done.out) == (0, True)
    assert "does not load, and no tool of it can be called" in done.err
    undecided = sluicegate("check")
    assert (undecided.code, "still to decide" in undecided.out) == (4, True)
    decide(Path("contracts/wipe/contract.yaml"))
    checked = json.loads(sluicegate("check", "--format", "json-v1").out)
    (problem,) = checked["problems"]
    assert problem["pointer"] == at or "evidence" in problem["message"], problem


def test_declared_answers_are_what_the_drafted_contract_takes(sluicegate: Here) -> None:
    sluicegate("import", *SOURCES["an operation that is all body"], "--accept-defaults")
    sluicegate("import", *SOURCES["an operation with parameters and a body"], "--accept-defaults")
    for tool, answer, status in (("add_item", '{"id": "a"}', 201), ("put_item", "", 204)):
        home = Path("contracts", tool, "fixtures/result")
        home.joinpath("accepted").mkdir(parents=True)
        home.joinpath("rejected").mkdir()
        home.joinpath("accepted/declared.bin").write_text(answer)
        home.joinpath("accepted/said.bin").write_text(answer)
        home.joinpath("accepted/said.expect.yaml").write_text(f"status: {status}\n")
        home.joinpath("rejected/another.bin").write_text(answer)
        home.joinpath("rejected/another.expect.yaml").write_text("status: 200\nstage: fetch\n")
    checked = json.loads(sluicegate("check", "--format", "json-v1").out)
    assert [each["ok"] for each in checked["fixtures"]] == [True] * 6, checked["fixtures"]


def refused(sluicegate: Here, text: str, *arguments: str) -> Done:
    Path("bad.json").write_text(text)
    done = sluicegate("import", *arguments)
    assert not Path("contracts").exists()
    return done


@pytest.mark.parametrize(
    ("text", "arguments", "code", "said"),
    [
        ('{"a": 1, "a": 2}', ("mcp", "bad.json"), 4, "bad.json:1:14"),
        ('{"tools": []}', ("mcp", "bad.json"), 4, "no tool"),
        ('{"tools": [{"name": "a b"}]}', ("mcp", "bad.json"), 4, "no name for a tool"),
        ("{}", ("mcp", "absent.json"), 2, "absent.json"),
        ('{"$ref": "far.json"}', ("schema", "bad.json", "--tool", "a"), 4, "leads to nothing"),
        ('{"$ref": "https://x/y"}', ("schema", "bad.json", "--tool", "a"), 4, "nothing is fetched"),
        ('{"type": "strng"}', ("schema", "bad.json", "--tool", "a"), 4, "Did you mean `string`"),
        (
            '{"$ref": "common/far.json"}',
            ("schema", "bad.json", "--tool", "a"),
            4,
            "References lead into . alone: name the folder that holds all files by --root DIR.",
        ),
        (
            '{"$ref": "../far.json"}',
            ("schema", "bad.json", "--tool", "a", "--root", "."),
            4,
            "name the folder that holds all files by another --root.",
        ),
        ('{"$ref": "#/x"}', ("schema", "bad.json", "--tool", "a"), 4, "Write the pointer of a"),
        (
            json.dumps({"openapi": "3.1.0", "paths": {}}),
            ("schema", "bad.json", "--tool", "a"),
            4,
            "bad.json: it is an OpenAPI document: use `sluicegate import openapi`.",
        ),
        (
            json.dumps(TOOLS),
            ("schema", "bad.json", "--tool", "a"),
            4,
            "bad.json: it is an MCP tool list: use `sluicegate import mcp`.",
        ),
        ('{"a": 1}', ("schema", "bad.json", "--tool", "a"), 4, "it is no JSON Schema: none of"),
        (json.dumps(TOOLS), ("openapi", "bad.json", "--tool", "a"), 4, "sluicegate import mcp"),
        (json.dumps(ITEM), ("openapi", "bad.json", "--tool", "a"), 4, "sluicegate import schema"),
        ('{"a": 1}', ("openapi", "bad.json", "--tool", "a"), 4, "it has no `openapi`"),
        (json.dumps(ITEM), ("mcp", "bad.json"), 4, "use `sluicegate import schema`"),
        (json.dumps(TOOLS), ("mcp", "bad.json", "--tool", "get_itm"), 4, "Did you mean get_item?"),
        ('{"$schema": "urn:mine"}', ("schema", "bad.json", "--tool", "a"), 4, "dialect"),
        ("{}", ("schema", "bad.json", "--tool", "fixtures"), 2, "a tool's name"),
        ('{"openapi": "2.0"}', ("openapi", "bad.json", "--tool", "a"), 4, "neither 3.0 nor 3.1"),
        ("{}", ("openapi", "api.yaml", "--tool", "a"), 4, "4 operations"),
        (
            "{}",
            ("pydantic", "absent_module:A", "--tool", "a"),
            2,
            "cannot be imported: there is no module `absent_module`",
        ),
        (
            "{}",
            ("pydantic", "imported_model:Itm", "--tool", "a"),
            2,
            "`imported_model` defines no `Itm`. Did you mean `Item`?",
        ),
        (
            "{}",
            ("pydantic", "needy_model:Item", "--tool", "a"),
            2,
            "`needy_model` imports `absent_module`, which is not installed",
        ),
        ("[1]", ("samples", "bad.json", "--tool", "a"), 4, "one JSON object"),
    ],
)
def test_what_cannot_be_imported_writes_nothing_and_says_why(
    sluicegate: Here, text: str, arguments: tuple[str, ...], code: int, said: str
) -> None:
    done = refused(sluicegate, text, *arguments)
    assert (done.code, said in done.err) == (code, True), done.err


ODD = """\
[
  {"name": "get_item", "inputSchema": {"type": "object"}},
  {"name": "../away", "inputSchema": {"type": "object"}},
  {"name": "..", "inputSchema": {"type": "object"}},
  {"name": "fixtures", "inputSchema": {"type": "object"}},
  {"name": "twice", "inputSchema": {"type": "object"}},
  {"name": "twice", "inputSchema": {"type": "object"}},
  {"name": "far", "inputSchema": {"$ref": "https://x/y"}},
  {"name": "mine", "inputSchema": {"$schema": "urn:mine"}},
  {"name": "text", "inputSchema": ""},
  {"name": "wrong", "inputSchema": {"type": "object"}, "outputSchema": {"type": "strng"}},
  {"title": "none"},
  7
]
"""
LEFT_OUT = [
    (3, "/1/name", "TOOL_NAME_PATTERN"),
    (4, "/2/name", "TOOL_NAME_PATTERN"),
    (5, "/3/name", "CONTRACT_INVALID"),
    (6, "/4/name", "CONTRACT_INVALID"),
    (7, "/5/name", "CONTRACT_INVALID"),
    (8, "/6/inputSchema/$ref", "SCHEMA_REMOTE_REF"),
    (9, "/7/inputSchema", "SCHEMA_DIALECT"),
    (10, "/8/inputSchema", "SCHEMA_META_INVALID"),
    (11, "/9/outputSchema", "SCHEMA_META_INVALID"),
    (12, "/10", "CONTRACT_INVALID"),
    (13, "/11", "CONTRACT_INVALID"),
]


def test_tools_of_a_list_that_cannot_be_drafted_are_told_by_place_and_the_others_drafted(
    sluicegate: Here, tmp_path: Path
) -> None:
    Path("odd.json").write_text(ODD)
    before = {path.name for path in tmp_path.iterdir()}
    done = sluicegate("import", "mcp", "odd.json", "--format", "json-v1")
    shown = json.loads(done.out)
    assert (done.code, [each["tool"] for each in shown["drafts"]]) == (1, ["get_item"])
    left_out = [(each["line"], each["pointer"], each["code"]) for each in shown["left_out"]]
    assert sorted(left_out) == LEFT_OUT
    assert all(each["file"] == "odd.json" and each["message"] for each in shown["left_out"])
    for line, pointer, code in LEFT_OUT:
        (told,) = [each for each in done.err.splitlines() if each.endswith(f"out: {pointer}")]
        assert told.startswith(f"odd.json:{line}:")
        assert code in told
    assert {path.name for path in tmp_path.iterdir()} == {*before, "contracts"}
    assert [path.parent.name for path in Path().rglob("contract.yaml")] == ["get_item"]


def test_a_tool_that_is_asked_for_and_cannot_be_drafted_writes_nothing(sluicegate: Here) -> None:
    done = refused(sluicegate, ODD, "mcp", "bad.json", "--tool", "far")
    assert (done.code, done.err.startswith("bad.json:8:")) == (4, True)
