"""Lint of files and folders: what is read, where a finding stands, what is not known."""

from __future__ import annotations

import json
import os
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from sluicegate.cli.init_files import contract_files, settings_files
from sluicegate.errors import ConfigurationError
from sluicegate.lifecycle.lint.sets import Inquiry, Question
from sluicegate.opening.deciding import decide
from sluicegate.opening.linting import LintReport, lint_paths
from sluicegate.opening.repeated_members import find_repeated

pytestmark = pytest.mark.requirement("LIF-1")

TODAY = date(2026, 11, 30)


def write(home: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return home


def folder(home: Path, **changes: str) -> Path:
    """A folder as ``init`` writes it, with texts of its contract replaced."""
    files = dict(contract_files("my_tool"))
    for old, new in changes.items():
        files["contract.yaml"] = files["contract.yaml"].replace(old, new)
    write(home / "my_tool", files)
    return write(home, settings_files("my_tool"))


def lint(*paths: Path, **more: Any) -> LintReport:
    return lint_paths(paths, today=TODAY, **more)


def rules(report: LintReport) -> list[str]:
    return [linted.finding.rule for linted in report.findings]


def test_a_contract_as_init_writes_it_has_no_finding(tmp_path: Path) -> None:
    report = lint(folder(tmp_path))
    assert (report.findings, report.checked, report.problems) == ((), 2, ())


def test_a_finding_of_a_contract_has_the_line_of_its_place(tmp_path: Path) -> None:
    home = folder(tmp_path, **{"state: {enum: [open, closed]}": "state: {type: string}"})
    (bare, *_) = [each for each in lint(home).findings if each.finding.rule == "B01"]
    lines = (home / "my_tool/contract.yaml").read_text("utf-8").splitlines()
    assert bare.file == str(home / "my_tool/contract.yaml")
    assert bare.pointer == "/result/schema/properties/state"
    assert bare.owner == "my_tool"
    assert lines[(bare.line or 0) - 1].strip() == "state: {type: string}"


def test_a_contract_that_would_not_load_is_judged(tmp_path: Path) -> None:
    home = folder(tmp_path, **{"additionalProperties: false": "minProperties: 1"})
    assert rules(lint(home)) == ["C01", "C01"]


def test_a_contract_file_is_judged_with_the_settings_around_it(tmp_path: Path) -> None:
    home = folder(tmp_path, **{"bind: {/item_id: /item_id}": "bind: {}"})
    assert rules(lint(home / "my_tool/contract.yaml")) == rules(lint(home)) == ["E10"]


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        (
            {"resource: [{type: item, id: /item_id}]": "checks: []"},
            [("E11", "destructive tool names no resource")],
        ),
        ({"effect: read": "effect: write", "  resource: [{type: item, id: /item_id}]": ""}, []),
        (
            {
                "limits: {": "evidence: [{tool: item_state, where: {/s: open}},"
                " {tool: seen, where: {}}, {tool: seen}, 5]\nlimits: {"
            },
            [("E12", "every state of seen.")],
        ),
        ({"limits: {": "evidence: {none: why, until: 2027-01-31}\nlimits: {"}, []),
    ],
    ids=["destructive on anything", "a write", "proofs of any state", "a waiver"],
)
def test_what_a_contract_that_acts_leaves_open_is_told(
    tmp_path: Path, changes: dict[str, str], found: list[tuple[str, str]]
) -> None:
    report = lint(folder(tmp_path, **{"effect: read": "effect: destructive", **changes}))
    assert rules(report) == [rule for rule, _ in found]
    for linted, (_, word) in zip(report.findings, found, strict=True):
        assert (linted.finding.severity, linted.pointer) == ("warning", "/arguments/schema")
        assert word in linted.finding.message


def test_an_unbound_identifier_and_an_unlimited_age_are_told(tmp_path: Path) -> None:
    fresh = "fresh: {at: /observed_at, max_age_s: 60, max_ahead_s: 5}"
    assert rules(lint(folder(tmp_path, **{fresh: "checks: []"}))) == ["E09"]


def test_a_schema_in_a_file_of_the_folder_is_judged_in_that_file(tmp_path: Path) -> None:
    home = folder(
        tmp_path, **{"state: {enum: [open, closed]}": 'state: {$ref: "../shared.json#/$defs/s"}'}
    )
    write(home, {"shared.json": '{"$defs": {\n"s": {"type": "string"}}}'})
    (bare,) = [each for each in lint(home).findings if each.finding.rule == "B01"]
    assert (bare.file, bare.pointer, bare.line) == (str(home / "shared.json"), "/$defs/s", 2)


def test_a_bare_schema_needs_a_side(tmp_path: Path) -> None:
    bare = write(tmp_path, {"s.json": "{}"}) / "s.json"
    with pytest.raises(ConfigurationError, match="--side"):
        lint(bare)
    assert "C08" in rules(lint(bare, side="result"))


def test_a_tool_list_is_judged_tool_by_tool(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {}, "additionalProperties": False, "examples": [{}]}
    tools = [
        {"name": "a", "description": "A.", "inputSchema": schema},
        {"name": "b", "description": "B.", "inputSchema": {**schema, "type": "array"}},
    ]
    listed = write(tmp_path, {"t.json": json.dumps({"tools": tools})}) / "t.json"
    report = lint(listed)
    assert report.checked == 2
    assert {linted.owner for linted in report.findings} == {"b"}
    known = {linted.entry.contract for linted in report.findings}
    assert known == {f"{Path(os.path.relpath(listed)).as_posix()}#b"}


CLOSED = {"type": "object", "properties": {}, "additionalProperties": False, "examples": [{}]}
TOOL = {"name": "a", "description": "A.", "inputSchema": CLOSED}


@pytest.mark.parametrize(
    ("document", "checked", "found"),
    [
        ([TOOL], 1, set()),
        ({"tools": [TOOL]}, 1, set()),
        ({"jsonrpc": "2.0", "id": 1, "result": {"tools": [TOOL]}}, 1, set()),
        ({"tools": []}, 0, set()),
        ([], 0, set()),
        ({"tools": [TOOL, {"name": "b"}]}, 2, {("/tools/1/inputSchema", "D00")}),
        ([TOOL, 7], 2, {("/1/inputSchema", "D00")}),
    ],
    ids=["list", "tools", "response", "no tool", "empty", "no schema", "no tool at all"],
)
@pytest.mark.parametrize("side", [None, "arguments"])
def test_every_form_of_a_tool_list_is_judged_and_no_tool_passed_over(
    tmp_path: Path, document: Any, checked: int, found: set[Any], side: Any
) -> None:
    listed = write(tmp_path, {"t.json": json.dumps(document)}) / "t.json"
    report = lint(listed, side=side)
    errors = {
        (each.pointer, each.finding.rule)
        for each in report.findings
        if each.finding.severity == "error"
    }
    assert (report.checked, errors) == (checked, found)


def test_a_baseline_knows_a_contract_however_the_path_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder(tmp_path / "b", **{"bind: {/item_id: /item_id}": "bind: {}"})
    write(tmp_path, {"s.json": '{"type": "object"}'})
    monkeypatch.chdir(tmp_path)
    ways = [
        {each.entry for each in lint(home, bare, side="result").findings}
        for home, bare in (
            (Path("b"), Path("s.json")),
            (tmp_path / "b", tmp_path / "s.json"),
            (Path("./b/../b"), Path("b/../s.json")),
            (Path("b/my_tool/contract.yaml"), Path("./s.json")),
        )
    ]
    assert ways[1:] == ways[:1] * 3
    assert {entry.contract for entry in ways[0]} == {"my_tool", "s.json"}


def test_a_member_that_stands_twice_is_told_with_its_line(tmp_path: Path) -> None:
    text = '{"type": "object",\n "type": "array", "items": {"a": 1,\n "a": 2}}'
    report = lint(write(tmp_path, {"s.json": text}) / "s.json", side="result")
    found = [(each.pointer, each.line) for each in report.findings if each.finding.rule == "D05"]
    assert found == [("/type", 1), ("/items/a", 2)]


def test_a_contract_with_a_member_twice_is_told_and_the_others_are_judged(tmp_path: Path) -> None:
    home = folder(tmp_path, **{"owner: my-team": "owner: my-team\nowner: another"})
    report = lint(home)
    assert (rules(report), report.findings[0].line) == (["D05"], 6)


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    broken = write(tmp_path, {"s.json": "{"}) / "s.json"
    report = lint(broken, tmp_path / "absent.json", side="result")
    assert (report.checked, len(report.problems), len(report.unreadable)) == (0, 1, 1)


def named(home: Path, source: str) -> Path:
    """A folder whose result schema is ``source`` instead of the one written out."""
    made = folder(home)
    contract = made / "my_tool/contract.yaml"
    before, _, after = contract.read_text("utf-8").partition("result:\n  schema:\n")
    rest = after[after.index("\n  bind:") :]
    contract.write_text(f"{before}result:\n  schema: {source}{rest}", encoding="utf-8")
    return made


@pytest.mark.parametrize(
    ("source", "beside", "more", "said"),
    [
        ("{file: result.json}", {}, {}, "there is no schema file `my_tool/result.json`"),
        ("{file: ../../result.json}", {}, {}, "there is no schema file"),
        ("{file: result.json}", {"my_tool/result.json": "{"}, {}, "result.json"),
        ('{python: "acme.x:Job"}', {}, {"python": False}, "--no-python forbids"),
        ('{python: "acme.x:Job"}', {}, {}, "none of the allowed prefixes"),
    ],
    ids=["no file", "out of the folder", "broken file", "no Python", "Python not admitted"],
)
def test_a_schema_that_cannot_be_had_is_a_problem_and_the_other_side_is_judged(
    tmp_path: Path, source: str, beside: dict[str, str], more: dict[str, Any], said: str
) -> None:
    report = lint(write(named(tmp_path, source), beside), **more)
    (problem,) = report.problems
    assert (report.checked, said in str(problem)) == (1, True)
    assert problem.document.startswith(str(tmp_path / "my_tool"))
    assert problem.line is not None


def test_a_schema_file_with_a_member_twice_is_told_once(tmp_path: Path) -> None:
    twice = {"my_tool/result.json": '{"type": "object", "type": "object"}'}
    report = lint(write(named(tmp_path, "{file: result.json}"), twice))
    assert (rules(report), report.problems) == (["D05"], ())


def test_a_contract_without_a_schema_of_its_arguments_is_a_problem(tmp_path: Path) -> None:
    home = write(tmp_path, {"a/contract.yaml": "- 1\n", "b/contract.yaml": "tool: b\n"})
    assert [Path(each.document).parent.name for each in lint(home).problems] == ["a", "b"]


def test_a_text_that_is_no_json_has_no_repeated_members() -> None:
    assert find_repeated(b'{"a": 1, "a": ') is None


def test_a_question_that_ends_the_child_is_not_known_and_the_next_is_answered() -> None:
    bomb: Any = {"type": "object"}
    for _ in range(24):
        bomb = {"allOf": [bomb], "properties": {"a": {}}, "unevaluatedProperties": False}
    value: Any = {}
    for _ in range(24):
        value = {"a": value}
    answers = decide(
        [
            Inquiry(document={}, questions=(Question(kind="fits", left=bomb, right=value),)),
            Inquiry(
                document={"type": "integer"},
                questions=(
                    Question(kind="empty-places"),
                    Question(kind="fits", left={"type": "integer"}, right=1),
                    Question(kind="fits", left={"type": "nonsense"}, right=1),
                ),
            ),
        ]
    )
    assert answers == ((None,), ([], True, None))
