"""A whole folder: the example of SPEC 2 loads, and what is wrong in any document is told."""

from __future__ import annotations

import json

import pytest
from tests.unit.contracts.folders import (
    NAME,
    case_folder,
    changed,
    contract,
    load_base,
    problems,
    resolve_anything,
)

from sluicegate.contracts.contract import (
    BindRule,
    FreshRule,
    HttpFetch,
    MapRule,
    PythonName,
    RetryRule,
)
from sluicegate.contracts.loading import load
from sluicegate.contracts.naming import NamelessError
from sluicegate.contracts.served import ContractSet
from sluicegate.contracts.settings import AccessRule, Settings
from sluicegate.values.limits import Limits
from sluicegate.values.pointers import Pointer


def p(text: str) -> Pointer:
    return Pointer.parse(text)


@pytest.mark.requirement("CON-1", "CON-2")
def test_the_example_folder_loads_with_every_part_in_its_place() -> None:
    loaded = load(case_folder(), resolve=resolve_anything)
    assert isinstance(loaded, ContractSet), loaded
    found = loaded.contracts["job_status"]
    assert found.source == "job_status/contract.yaml"
    assert isinstance(found.fetch, HttpFetch)
    assert (found.fetch.url, found.fetch.credential) == (
        "https://ci.example/projects/{/project_id}/runs/{/run_id}",
        "CI_TOKEN",
    )
    assert found.limits == Limits(max_bytes=65536, max_depth=16)
    assert found.upstream.status == {"404": "NOT_FOUND", "5xx": "UPSTREAM_UNAVAILABLE"}
    assert found.upstream.map is not None
    assert found.upstream.map["state"] == MapRule(
        at=p("/status"), values={"SUCCESS": "succeeded", "FAILURE": "failed"}
    )
    assert found.result.fresh == FreshRule(at=p("/observed_at"), max_age_s=60, max_ahead_s=5)
    assert found.result.bind[0] == BindRule(data=p("/project_id"), argument=p("/project_id"))
    assert found.result.checks == (PythonName("acme.checks", "run_belongs_to_project"),)
    assert found.result.operator == (p("/diagnostic_url"),)
    assert set(found.result.agent_schema["properties"]) == {  # type: ignore[arg-type]
        *("project_id", "run_id", "state", "observed_at")
    }
    assert found.errors == {"NOT_FOUND": False, "UPSTREAM_UNAVAILABLE": True}
    assert found.retry == RetryRule(attempts=3, budget_s=10, on=frozenset({"UPSTREAM_UNAVAILABLE"}))
    assert loaded.settings.access.rules == (
        AccessRule(
            caller="svc-deploy",
            tool="job_status",
            resource_type="project",
            resource_in=frozenset({"bluebird"}),
        ),
    )
    assert loaded.settings.python == ("acme.",)


@pytest.mark.requirement("CON-1")
def test_a_folder_without_contracts_has_settings_and_nothing_to_serve() -> None:
    loaded = load({"sluicegate.yaml": b"{access: {python: 'acme.a:b'}}"}, resolve=None)
    assert isinstance(loaded, ContractSet)
    assert (dict(loaded.contracts), loaded.settings.access.python) == (
        {},
        PythonName("acme.a", "b"),
    )
    nothing = load({}, resolve=None)
    assert isinstance(nothing, ContractSet)
    assert nothing.settings == Settings()


@pytest.mark.requirement("CON-3")
def test_a_loaded_set_cannot_be_changed() -> None:
    loaded = load_base({})
    assert isinstance(loaded, ContractSet)
    with pytest.raises(TypeError):
        loaded.contracts["other"] = loaded.contracts["job_status"]  # type: ignore[index]
    with pytest.raises(AttributeError):
        loaded.settings = Settings()  # type: ignore[misc]


@pytest.mark.requirement("CON-1", "CON-2")
def test_all_problems_of_all_documents_are_told_in_order() -> None:
    broken = changed({"efect": "read", "version": "1.0", "result.agent": ["/stat"]})
    loaded = load(
        {
            NAME: json.dumps(broken, indent=1).encode(),
            "b/contract.yaml": b"tool: [\n",
            "sluicegate.yaml": b"limits: {in_fligth: 3}\naudit: {store: 7}\n",
        },
        resolve=None,
    )
    assert isinstance(loaded, tuple)
    assert [(found.document, found.pointer) for found in loaded] == [
        ("b/contract.yaml", ""),
        (NAME, "/efect"),  # an unknown key may be the cause of others
        (NAME, "/version"),
        (NAME, "/result/agent/0"),
        ("sluicegate.yaml", "/limits/in_fligth"),
        ("sluicegate.yaml", "/audit/store"),
    ]
    assert all(found.line and found.column and found.mend for found in loaded)
    by_pointer = {found.pointer: found for found in loaded}
    assert by_pointer["/efect"].mend == "Did you mean `effect`?"
    assert by_pointer["/result/agent/0"].mend == "Did you mean `/state`?"
    assert (by_pointer["/audit/store"].line, by_pointer["/audit/store"].column) == (2, 16)


# --- schemas and their files ------------------------------------------------------------------


CODES = {
    "tool name with a blank": ({"tool": "job status"}, "TOOL_NAME_PATTERN"),
    "tool name too long": ({"tool": "x" * 129}, "TOOL_NAME_LENGTH"),
    "unknown keyword": (
        {"result.schema.properties.note.maxLenght": 3},
        "SCHEMA_UNKNOWN_KEYWORD",
    ),
    "open object": ({"result.schema.additionalProperties": ...}, "SCHEMA_OPEN_OBJECT"),
    "root that is no object": ({"arguments.schema": {"type": "string"}}, "SCHEMA_ROOT_NOT_OBJECT"),
    "remote reference": (
        {"result.schema.properties.note": {"$ref": "https://x.example/s"}},
        "SCHEMA_REMOTE_REF",
    ),
    "missing reference": (
        {"result.schema.properties.note": {"$ref": "#/$defs/none"}},
        "SCHEMA_UNRESOLVED_REF",
    ),
    "bad default": ({"result.schema.properties.count.default": "x"}, "SCHEMA_DEFAULT_INVALID"),
    "file that is not there": ({"result.schema": {"file": "data.json"}}, "SCHEMA_UNRESOLVED_REF"),
    "file outside": ({"result.schema": {"file": "../../data.json"}}, "SCHEMA_REMOTE_REF"),
    "absolute file": ({"result.schema": {"file": "/etc/passwd"}}, "SCHEMA_REMOTE_REF"),
    "file by URL": ({"result.schema": {"file": "https://x.example/a"}}, "SCHEMA_REMOTE_REF"),
}


@pytest.mark.requirement("CON-2")
@pytest.mark.parametrize("case", CODES)
def test_what_stands_against_a_schema_keeps_its_code_and_its_line(case: str) -> None:
    changes, code = CODES[case]
    found = problems(changes)
    assert {str(problem.code) for problem in found} == {code}, "\n".join(map(str, found))
    assert found[0].line


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize("name", ["job_status/schemas/note.json", "common/note.yaml"])
def test_a_local_reference_across_files_is_followed_and_bundled(name: str) -> None:
    reference = "schemas/note.json" if name.endswith("json") else "../common/note.yaml"
    found = contract(
        {"result.schema.properties.note": {"$ref": f"{reference}#/$defs/note"}},
        **{name: b'{"$defs": {"note": {"type": "string", "maxLength": 3}}}'},
    )
    good = {"project_id": "a", "state": "failed", "observed_at": "2026-11-30T12:00:00Z"}
    assert found.result.schema.is_valid({**good, "note": "abc"})
    assert not found.result.schema.is_valid({**good, "note": "abcd"})
    assert reference not in json.dumps(found.document)


@pytest.mark.requirement("CON-1", "CON-2")
def test_a_whole_schema_may_be_a_reference_to_a_file() -> None:
    given = changed({})["result"]["schema"]
    found = contract(
        {"result.schema": {"$ref": "data.json"}},
        **{"job_status/data.json": json.dumps(given).encode()},
    )
    assert found.fingerprints.language == contract().fingerprints.language


@pytest.mark.requirement("CON-2")
def test_a_schema_fault_leads_to_its_keyword_in_the_file_that_holds_it() -> None:
    folder = case_folder()
    folder["job_status/schemas/data.json"] = folder["job_status/schemas/data.json"].replace(
        b'"maxLength": 400', b'"maxLenght": 400'
    )
    loaded = load(folder, resolve=resolve_anything)
    assert isinstance(loaded, tuple)
    (problem,) = loaded
    assert (problem.document, problem.line, problem.column, str(problem.code)) == (
        "job_status/schemas/data.json",
        9,
        59,
        "SCHEMA_UNKNOWN_KEYWORD",
    )


@pytest.mark.requirement("CON-2")
def test_a_reference_into_a_file_that_cannot_be_read_tells_why() -> None:
    folder = case_folder()
    folder["job_status/schemas/common.yaml"] = b"$defs:\n  project_id: &a {type: string}\n"
    loaded = load(folder, resolve=resolve_anything)
    assert isinstance(loaded, tuple)
    assert [(found.document, found.line, str(found.code)) for found in loaded] == [
        ("job_status/schemas/common.yaml", 2, "CONTRACT_INVALID"),
        ("job_status/schemas/data.json", 5, "SCHEMA_UNRESOLVED_REF"),
    ]


def test_a_file_that_no_schema_needs_may_be_anything() -> None:
    loaded = load({**case_folder(), "job_status/notes.yaml": b"a: *b\n"}, resolve=resolve_anything)
    assert isinstance(loaded, ContractSet)


@pytest.mark.requirement("CON-2")
def test_two_folders_for_one_tool_are_refused() -> None:
    folder = case_folder()
    folder["again/contract.json"] = json.dumps(changed({})).encode()
    loaded = load(folder, resolve=resolve_anything)
    assert isinstance(loaded, tuple)
    assert [(found.document, found.pointer) for found in loaded] == [
        ("job_status/contract.yaml", "/tool")
    ]
    assert "again/contract.json" in loaded[0].message


@pytest.mark.requirement("CON-2")
@pytest.mark.parametrize("other", ["result.schema.$id", "arguments.schema.properties.run_id.$id"])
def test_two_schemas_with_one_id_are_refused(other: str) -> None:
    same = "https://acme.example/s"
    found = problems({"arguments.schema.$id": same, other: same})
    assert {str(problem.code) for problem in found} == {"SCHEMA_ID_COLLISION"}


@pytest.mark.requirement("CON-2")
def test_two_contracts_whose_schemas_share_an_id_are_refused() -> None:
    one = changed({"result.schema.$id": "https://acme.example/s"})
    two = {**changed({"result.schema.$id": "https://acme.example/s"}), "tool": "other"}
    loaded = load(
        {
            "a/contract.json": json.dumps(one).encode(),
            "b/contract.json": json.dumps(two).encode(),
        },
        resolve=None,
    )
    assert isinstance(loaded, tuple)
    assert [(found.document, str(found.code)) for found in loaded] == [
        ("b/contract.json", "SCHEMA_ID_COLLISION")
    ]


def test_one_schema_file_may_serve_several_contracts() -> None:
    folder = case_folder()
    raw = folder["job_status/contract.yaml"].replace(b"tool: job_status", b"tool: other")
    folder["other/contract.yaml"] = raw.replace(
        b"schemas/data.json", b"../job_status/schemas/data.json"
    )
    folder["job_status/schemas/data.json"] = (
        folder["job_status/schemas/data.json"]
        .replace(b'"type": "object",', b'"$id": "https://acme.example/data", "type": "object",', 1)
        .replace(b"common.yaml", b"#")
    )
    folder["job_status/schemas/data.json"] = folder["job_status/schemas/data.json"].replace(
        b'{"$ref": "##/$defs/project_id"}', b'{"type": "string", "maxLength": 60}'
    )
    loaded = load(folder, resolve=resolve_anything)
    assert isinstance(loaded, ContractSet), loaded
    assert set(loaded.contracts) == {"job_status", "other"}


# --- Python names -----------------------------------------------------------------------------


def fail(name: PythonName) -> object:
    raise ImportError("no such module: /home/secret")


def miss(name: PythonName) -> object:
    raise NamelessError(f"`{name}` leads to nothing.", "Write another.")


PYTHON = {
    "outside the prefixes": (["acme."], resolve_anything, "prefixes"),
    "a prefix is not a stem": (["evi"], resolve_anything, "prefixes"),
    "no prefix at all": ([], resolve_anything, "prefixes"),
    "forbidden": (["evil."], None, "--no-python"),
    "not importable": (["evil."], fail, "cannot be imported"),
    "not there": (["evil."], miss, "`evil.code:run` leads to nothing."),
    "no function": (["evil"], lambda name: 7, "cannot be called"),
}


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize("case", PYTHON)
def test_python_is_named_only_where_settings_admit_it(case: str) -> None:
    prefixes, resolve, word = PYTHON[case]
    found = problems(
        {"result.checks": ["evil.code:run"]}, settings={"python": prefixes}, resolve=resolve
    )
    assert [problem.pointer for problem in found] == ["/result/checks/0"]
    assert word in found[0].message
    assert "secret" not in str(found[0])


@pytest.mark.requirement("CON-1")
def test_the_function_that_decides_is_held_to_the_same_rules() -> None:
    loaded = load_base({}, settings={"access": {"python": "evil:decide"}})
    assert isinstance(loaded, tuple)
    assert [(found.document, found.pointer) for found in loaded] == [
        ("sluicegate.yaml", "/access/python")
    ]
