"""``sluicegate diff``: two folders, two schemas, two lists of tools; for each reader and exit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.commands import Here
from tests.acceptance.folders import contract, write_folder

pytestmark = pytest.mark.requirement("LIF-3", "CLI")

OLD = {"type": "object", "properties": {"qty": {"type": "integer", "maximum": 100}}}
NEW = {"type": "object", "properties": {"qty": {"type": "integer", "maximum": 50}}}


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value, indent=2))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return write(tmp_path / "old.json", OLD), write(tmp_path / "new.json", NEW)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    return write_folder(tmp_path / "old"), write_folder(tmp_path / "new")


def edit(folder: Path, *pairs: tuple[str, str], version: str = "1.1.0") -> None:
    """Rewrite the contract of job_status; each pair is a text and what takes its place."""
    old = folder.parent / "old"  # the same upstream on both sides, or that is a change too
    text = contract(old, "job_status", "read", version=version)
    for before, after in pairs:
        assert before in text
        text = text.replace(before, after)
    (folder / "job_status" / "contract.yaml").write_text(text)
    (folder / "restart" / "contract.yaml").write_text(contract(old, "restart", "write"))


def found(sluicegate: Here, *arguments: str | Path) -> tuple[int, Any]:
    done = sluicegate("diff", *arguments, "--format", "json-v1")
    return done.code, json.loads(done.out)


# --- files -------------------------------------------------------------------------------------


def test_a_person_reads_kind_place_counterexample_and_summary(
    sluicegate: Here, files: tuple[Path, Path]
) -> None:
    old, new = files
    done = sluicegate("diff", "--side", "arguments", old, new)
    assert done.code == 1
    (change,) = found(sluicegate, "--side", "arguments", old, new)[1]["changes"]
    assert done.out == (
        f"{new}:6:7: error bound-tightened\n"
        "  maximum 100 → maximum 50\n"
        "  arguments: major\n"
        '  6 |       "maximum": 50\n'
        "    |       ^\n"
        "  at /properties/qty/maximum\n"
        f"  fingerprint {change['fingerprint']}   sluicegate explain bound-tightened\n"
        "\n"
        "counterexample: arguments that the old version takes and the new one does not\n"
        '  {"qty": 51}\n'
        "BREAKING: 1 change, 1 breaking; version: major\n"
    )


def test_a_narrower_result_is_compatible_and_needs_a_replay(
    sluicegate: Here, files: tuple[Path, Path]
) -> None:
    code, shaped = found(sluicegate, "--side", "result", *files)
    assert code == 0
    assert (shaped["verdict"], shaped["bump"], shaped["witness"]) == ("compatible", "minor", None)
    assert [one["needs_replay"] for one in shaped["changes"]] == [True]


def test_a_program_reads_verdict_changes_witness_and_bump(
    sluicegate: Here, files: tuple[Path, Path]
) -> None:
    _, shaped = found(sluicegate, "--side", "arguments", *files)
    assert list(shaped)[:6] == ["format", "command", "verdict", "changes", "witness", "bump"]
    assert shaped["witness"] == {
        "tool": None,
        "role": "arguments",
        "admitted_by": "old",
        "value": {"qty": 51},
    }


def test_a_workflow_log_gets_one_command_a_change(
    sluicegate: Here, files: tuple[Path, Path]
) -> None:
    done = sluicegate("diff", "--side", "arguments", *files, "--format", "github")
    lines = done.out.splitlines()
    assert [line.partition(" ")[0] for line in lines[:1]] == ["::error"]
    assert "title=bound-tightened" in lines[0]
    assert lines[-1].startswith("::notice title=diff::BREAKING")


def test_an_undecided_change_is_said_and_exits_as_a_break(sluicegate: Here, tmp_path: Path) -> None:
    old = write(tmp_path / "old.json", {"type": "string", "pattern": "^[A-Z]{2}$"})
    new = write(tmp_path / "new.json", {"type": "string", "pattern": "^[A-Z][A-Z]$"})
    code, shaped = found(sluicegate, "--side", "arguments", old, new)
    assert (code, shaped["verdict"], shaped["bump"]) == (1, "undecided", "major")


def test_a_waiver_takes_a_change_out_of_the_verdict(
    sluicegate: Here, files: tuple[Path, Path], tmp_path: Path
) -> None:
    _, shaped = found(sluicegate, "--side", "arguments", *files)
    waivers = tmp_path / "waivers.yaml"
    fingerprint = shaped["changes"][0]["fingerprint"]
    waivers.write_text(f'- {{fingerprint: "{fingerprint}", reason: tried, until: 2999-01-01}}\n')
    code, shaped = found(sluicegate, "--side", "arguments", *files, "--waivers", waivers)
    assert (code, shaped["verdict"]) == (0, "compatible")
    assert shaped["changes"][0]["waived"] == "tried"


def test_the_tools_of_two_lists_are_compared_by_name(sluicegate: Here, tmp_path: Path) -> None:
    def tool(name: str, text: str) -> dict[str, Any]:
        return {"name": name, "description": text, "inputSchema": OLD, "outputSchema": OLD}

    old = write(tmp_path / "old.json", [tool("a", "A."), tool("b", "B.")])
    new = write(tmp_path / "new.json", {"tools": [tool("c", "C."), tool("a", "A, now.")]})
    code, shaped = found(sluicegate, old, new)
    assert found(sluicegate, "--side", "arguments", old, new) == (code, shaped)
    assert code == 1
    assert [(one["tool"], one["kind"], one["line"]) for one in shaped["changes"]] == [
        ("b", "tool-removed", 24),
        ("c", "tool-added", 3),
        ("a", "tool-text-changed", 27),
    ]


# --- folders -----------------------------------------------------------------------------------


def test_a_folder_beside_its_copy_has_no_changes(
    sluicegate: Here, folders: tuple[Path, Path]
) -> None:
    old, new = folders
    edit(new)
    code, shaped = found(sluicegate, old, new)
    assert (code, shaped["verdict"], shaped["changes"]) == (0, "compatible", [])


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        pytest.param(
            [("agent: [/run_id, /state]", "agent: [/run_id]")],
            [("selected-field-removed", "major")],
            id="a field less for the agent",
        ),
        pytest.param(
            [
                ("operator: [/note]", ""),
                ("agent: [/run_id, /state]", "agent: [/run_id, /state, /note]"),
            ],
            [("host-fields-changed", "minor"), ("selected-field-added", "major")],
            id="a field more for the agent",
        ),
        pytest.param(
            [("maxLength: 64", "maxLength: 32")],
            [("unselected-data-changed", "minor")],
            id="a field that no agent sees",
        ),
        pytest.param(
            [("[failed, succeeded, other]", "[failed, succeeded, other, lost]")],
            [("enum-widened", "major")],
            id="a value more for the agent",
        ),
        pytest.param(
            [("State of one CI run.", "State of one CI run, at once.")],
            [("tool-text-changed", "minor")],
            id="another description",
        ),
        pytest.param(
            [("bind: {/run_id: /run_id}", "checks: []")],
            [("check-removed", "major")],
            id="no binding any more",
        ),
        pytest.param(
            [("max_bytes: 65536", "max_bytes: 4096")],
            [("limit-lowered", "minor")],
            id="a lower limit on answers",
        ),
        pytest.param(
            [("effect: read", "effect: write")], [("effect-changed", "major")], id="another effect"
        ),
    ],
)
def test_a_change_of_a_contract_is_named_and_judged(
    sluicegate: Here,
    folders: tuple[Path, Path],
    pairs: list[tuple[str, str]],
    expected: list[tuple[str, str]],
) -> None:
    old, new = folders
    edit(new, *pairs, version="2.0.0")
    _, shaped = found(sluicegate, old, new)
    assert [(one["kind"], one["bump"]) for one in shaped["changes"]] == expected
    assert shaped["versions"] == []


@pytest.mark.parametrize(
    ("version", "fault"),
    [("1.1.0", "not-bumped"), ("1.1.1", "under-bumped"), ("1.0.0", "decreased"), ("1.2.0", None)],
)
def test_a_version_that_does_not_tell_what_changed_is_a_finding(
    sluicegate: Here, folders: tuple[Path, Path], version: str, fault: str | None
) -> None:
    old, new = folders
    edit(new, ("maxLength: 64", "maxLength: 32"), version=version)
    code, shaped = found(sluicegate, old, new)
    assert [one["fault"] for one in shaped["versions"]] == ([] if fault is None else [fault])
    assert code == (0 if fault is None else 1)


def test_a_tool_that_is_gone_breaks(sluicegate: Here, folders: tuple[Path, Path]) -> None:
    old, new = folders
    edit(new)
    (new / "restart" / "contract.yaml").unlink()
    code, shaped = found(sluicegate, old, new)
    assert (code, [one["kind"] for one in shaped["changes"]]) == (1, ["tool-removed"])


def test_waivers_beside_the_new_contracts_are_taken(
    sluicegate: Here, folders: tuple[Path, Path]
) -> None:
    old, new = folders
    edit(new, ("effect: read", "effect: write"), version="1.2.0")
    _, shaped = found(sluicegate, old, new)
    fingerprint = shaped["changes"][0]["fingerprint"]
    (new / "diff-waivers.yaml").write_text(
        f'- {{fingerprint: "{fingerprint}", reason: agreed, until: 2999-01-01}}\n'
    )
    code, shaped = found(sluicegate, old, new)
    assert (code, shaped["verdict"]) == (0, "compatible")


# --- what cannot be compared -------------------------------------------------------------------


def test_what_cannot_be_compared_ends_with_its_own_exit(
    sluicegate: Here, files: tuple[Path, Path], folders: tuple[Path, Path], tmp_path: Path
) -> None:
    old, new = files
    duplicate = tmp_path / "duplicate.json"
    duplicate.write_text('{"type": "object", "type": "array"}')
    tools = write(tmp_path / "tools.json", [{"name": "a", "inputSchema": OLD}])
    nameless = write(tmp_path / "nameless.json", [{"inputSchema": OLD}])
    twice = write(tmp_path / "twice.json", [{"name": "a", "inputSchema": OLD}] * 2)
    waivers = write(tmp_path / "waivers.json", {})
    side = ("--side", "arguments")
    ended = {
        "no side": sluicegate("diff", old, new).code,
        "a side of folders": sluicegate("diff", *side, *folders).code,
        "one of each": sluicegate("diff", *side, old, folders[0]).code,
        "bad waivers": sluicegate("diff", *side, old, new, "--waivers", waivers).code,
        "a duplicate member": sluicegate("diff", *side, old, duplicate).code,
        "a list and a schema": sluicegate("diff", *side, old, tools).code,
        "a tool without a name": sluicegate("diff", *side, tools, nameless).code,
        "a tool twice": sluicegate("diff", *side, tools, twice).code,
        "nothing there": sluicegate("diff", *side, old, tmp_path / "none.json").code,
        "no waivers there": sluicegate("diff", *side, old, new, "--waivers", tmp_path / "w").code,
    }
    assert ended == {
        "no side": 2,
        "a side of folders": 2,
        "one of each": 2,
        "bad waivers": 2,
        "a duplicate member": 4,
        "a list and a schema": 4,
        "a tool without a name": 4,
        "a tool twice": 4,
        "nothing there": 5,
        "no waivers there": 5,
    }


@pytest.mark.parametrize("side", [(), ("--side", "arguments")], ids=["no side", "a side"])
def test_a_contract_that_is_given_as_a_file_is_told_by_one_problem(
    sluicegate: Here, folders: tuple[Path, Path], side: tuple[str, ...]
) -> None:
    released, current = (
        folders[0] / "job_status" / name for name in ("released/1.0.0.yaml", "contract.yaml")
    )
    code, shaped = found(sluicegate, *side, released, current)
    assert code == 4
    said = "This file belongs to a contract folder; it is neither a schema nor a tool list."
    assert [(one["document"], one["message"]) for one in shaped["problems"]] == [
        (str(released), said),
        (str(current), said),
    ]
    assert "Compare two contract folders" in shaped["problems"][0]["mend"]


def test_a_schema_without_a_side_is_asked_for_it(
    sluicegate: Here, files: tuple[Path, Path]
) -> None:
    done = sluicegate("diff", *files)
    assert (done.code, done.out) == (2, "")
    assert f"{files[0]} holds a schema: say --side arguments" in " ".join(done.err.split())


def test_a_contract_that_does_not_load_is_told_with_its_file(
    sluicegate: Here, folders: tuple[Path, Path]
) -> None:
    old, new = folders
    (new / "restart" / "contract.yaml").write_text("sluicegate: 1\n")
    done = sluicegate("diff", old, new)
    assert done.code == 4
    assert str(new / "restart" / "contract.yaml") in done.out
    assert "DOES NOT LOAD" in done.out


@pytest.mark.parametrize("form", ["human", "json-v1"])
def test_a_kind_of_change_is_explained(sluicegate: Here, form: str) -> None:
    done = sluicegate("explain", "bound-tightened", "--format", form)
    assert done.code == 0
    assert "# bound-tightened" in done.out


@pytest.mark.requirement("LIF-5")
def test_diff_tells_code_scanning_and_a_test_runner_too(sluicegate: Here, tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text('{"type": "string", "maxLength": 9}')
    new.write_text('{"type": "string", "maxLength": 4}')
    sarif = sluicegate("diff", "--side", "arguments", "--format", "sarif", old, new)
    assert sarif.code == 1
    (run,) = json.loads(sarif.out)["runs"]
    assert {(each["ruleId"], each["level"]) for each in run["results"]} == {
        ("bound-tightened", "error")
    }
    junit = sluicegate("diff", "--side", "arguments", "--format", "junit", old, new)
    assert (junit.code, "bound-tightened" in junit.out, "<failure" in junit.out) == (1, True, True)


@pytest.mark.requirement("LIF-3", "CLI")
@pytest.mark.parametrize("form", ["human", "json-v1", "github", "sarif", "junit"])
@pytest.mark.parametrize("kind", ["folders", "lists of tools"])
def test_two_versions_without_a_tool_are_no_clean_comparison(
    kind: str, form: str, sluicegate: Here, tmp_path: Path
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for path in (old, new):
        if kind == "folders":
            path.mkdir()
        else:
            path.write_text('{"tools": []}')
    side = [] if kind == "folders" else ["--side", "result"]
    done = sluicegate("diff", old, new, *side, "--format", form)
    assert done.code == 3
    assert "COMPATIBLE" not in done.out.upper()
    if form == "human":
        assert done.out.startswith("NOTHING CHECKED: neither")
    if form == "json-v1":
        assert json.loads(done.out)["verdict"] == "nothing-checked"
