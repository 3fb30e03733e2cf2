"""``init`` writes what ``check`` accepts; ``check`` says what is wrong, where, to each reader."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.acceptance.commands import Here, expected
from tests.acceptance.folders import write_folder

from sluicegate.cli.init_files import contract_files


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of its own, so that names in reports are the same everywhere."""
    monkeypatch.chdir(tmp_path)


def without_digests(text: str) -> str:
    return re.sub(r"sha256:[0-9a-f]{64}", "sha256:…", text)


@pytest.mark.requirement("CLI")
def test_a_new_contract_passes_check_at_once(sluicegate: Here) -> None:
    made = sluicegate("init", "item_state")
    assert (made.code, made.out) == (0, expected("init.txt"))
    done = sluicegate("check")
    assert (done.code, without_digests(done.out), done.err) == (
        0,
        "OK: 1 contract, 6 fixtures as expected, 372 mutants  sha256:…\n",
        "",
    )


def test_a_new_contract_names_an_editor_schema_that_is_there(sluicegate: Here) -> None:
    sluicegate("init", "item_state")
    for path in (Path("contracts/item_state/contract.yaml"), Path("contracts/sluicegate.yaml")):
        hint = path.read_text().splitlines()[0]
        assert hint.startswith("# yaml-language-server: $schema=")
        schema = path.parent / hint.partition("$schema=")[2]
        assert json.loads(schema.read_text())["$schema"].endswith("2020-12/schema")


def test_keys_and_record_of_a_new_folder_stay_out_of_the_repository(sluicegate: Here) -> None:
    sluicegate("init", "item_state")
    ignored = Path("contracts/.gitignore").read_text().splitlines()
    assert {"state/", "keys/"} <= set(ignored)


def test_nothing_that_exists_is_overwritten(sluicegate: Here) -> None:
    sluicegate("init", "item_state")
    contract = Path("contracts/item_state/contract.yaml")
    contract.write_text("mine")
    again = sluicegate("init", "item_state")
    assert (again.code, again.out, contract.read_text()) == (2, "", "mine")
    settings = Path("contracts/sluicegate.yaml")
    settings.write_text("# mine\n")
    other = sluicegate("init", "other")
    assert (other.code, settings.read_text()) == (0, "# mine\n")
    assert "add an access rule for other" in other.err


@pytest.mark.requirement("CLI")
def test_the_access_row_of_a_second_contract_is_printed_as_it_is_pasted(sluicegate: Here) -> None:
    sluicegate("init", "item_state")
    (row,) = [
        line
        for line in sluicegate("init", "other").err.splitlines()
        if line.startswith("  - {caller: ")
    ]
    with Path("contracts/sluicegate.yaml").open("a") as settings:
        settings.write(row + "\n")
    done = sluicegate("check")
    assert (done.code, done.err) == (0, "")


@pytest.mark.requirement("CLI")
def test_a_contract_made_inside_the_contract_folder_lies_beside_the_others(
    sluicegate: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    sluicegate("init", "item_state")
    monkeypatch.chdir("contracts")
    made = sluicegate("init", "other")
    assert (made.code, made.out) == (0, "")  # the lines for CI came with the first
    assert Path("other/contract.yaml").is_file()
    assert not Path("contracts").exists()
    monkeypatch.chdir("other")
    refused = sluicegate("init", "third")
    assert (refused.code, refused.out) == (2, "")
    assert "contracts lies inside the contract folder" in refused.err
    assert not Path("contracts").exists()


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../out", "a/b", "-x", "state", "keys", "unknown", "x" * 129, "a\n", "jоb"],
)
def test_a_name_that_is_no_tool_name_is_refused_and_nothing_written(
    sluicegate: Here, tmp_path: Path, name: str
) -> None:
    done = sluicegate("init", "--", name)
    assert (done.code, done.out) == (2, "")
    assert list(tmp_path.iterdir()) == []


def test_every_rejected_fixture_of_a_new_contract_names_its_stage_and_code() -> None:
    files = contract_files("t")
    rejected = [path for path in files if "rejected" in path and "expect" not in path]
    for path in rejected:
        sidecar = files[path.rpartition(".")[0] + ".expect.yaml"]
        assert {"stage", "code"} <= {line.partition(":")[0] for line in sidecar.splitlines()}


@pytest.mark.requirement("CLI")
def test_a_failing_fixture_is_exit_1_with_note_and_place(sluicegate: Here) -> None:
    sluicegate("init", "item_state")
    fixtures = Path("contracts/item_state/fixtures/result")
    (fixtures / "accepted" / "open.json").write_text(
        '{"item_id": "item-0001",\n "state": "reopened",\n "observed_at": "2026-01-01T12:00:00Z"}'
    )
    (fixtures / "rejected" / "stale.expect.yaml").write_text("now: 2026-01-01T12:00:01Z\n")
    done = sluicegate("check")
    assert (done.code, without_digests(done.out)) == (1, expected("check-fails.txt"))
    github = sluicegate("check", "--format", "github")
    assert (github.code, without_digests(github.out)) == (1, expected("check-fails-github.txt"))
    told = json.loads(sluicegate("check", "--format", "json-v1").out)
    assert list(told)[:3] == ["format", "command", "verdict"]
    assert (told["verdict"], told["contracts"]) == ("fails", {"item_state": "0.1.0"})
    assert [fixture["path"] for fixture in told["fixtures"] if not fixture["ok"]] == [
        "contracts/item_state/fixtures/result/accepted/open.json",
        "contracts/item_state/fixtures/result/rejected/stale.json",
    ]


@pytest.mark.requirement("CLI")
def test_a_note_is_a_warning_to_github(sluicegate: Here) -> None:
    sluicegate("init", "item_state")
    Path("contracts/sluicegate.yaml").unlink()
    done = sluicegate("check", "--format", "github")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == (
        "::warning file=contracts/sluicegate.yaml,title=DOUBT hardly-meant::"
        "there is no sluicegate.yaml, so no access rule: "
        "every call will be DENIED"
    )


@pytest.mark.requirement("CLI", "CON-1")
def test_a_folder_that_does_not_load_is_exit_4_with_file_line_and_column(sluicegate: Here) -> None:
    sluicegate("init", "item_state")
    contract = Path("contracts/item_state/contract.yaml")
    contract.write_text(contract.read_text().replace("max_age_s: 60", "max_age: 60"))
    done = sluicegate("check")
    assert done.code == 4
    line = contract.read_text()[: contract.read_text().index("max_age")].count("\n") + 1
    place = f"contracts/item_state/contract.yaml:{line}"
    assert re.match(rf"{place}:\d+: error CONTRACT_INVALID\n", done.out)
    assert done.out.splitlines()[-1].startswith("DOES NOT LOAD: ")
    github = sluicegate("check", "--format", "github")
    assert github.code == 4
    assert github.out.startswith(f"::error file=contracts/item_state/contract.yaml,line={line},")
    told = json.loads(sluicegate("check", "--format", "json-v1").out)
    assert (told["verdict"], told["contracts"], told["digest"]) == ("does-not-load", None, None)
    assert told["problems"][0]["line"] == line


@pytest.mark.requirement("CLI")
@pytest.mark.parametrize(("make", "code"), [(True, 3), (False, 5)], ids=["empty", "absent"])
def test_a_folder_with_nothing_to_check_is_no_success(
    sluicegate: Here, make: bool, code: int
) -> None:
    if make:
        Path("contracts").mkdir()
        Path("contracts/sluicegate.yaml").write_text("sluicegate: 1\n")
    assert sluicegate("check").code == code


def test_a_contract_without_fixtures_passes_and_is_named(sluicegate: Here, tmp_path: Path) -> None:
    write_folder(tmp_path / "ops")
    done = sluicegate("check", "ops")
    assert done.code == 0
    assert [line.split()[0] for line in done.err.splitlines()] == ["job_status", "restart"]


def test_a_contract_is_judged_by_alone_as_its_folder_would(sluicegate: Here) -> None:
    sluicegate("init", "item_state")
    contract = "contracts/item_state/contract.yaml"
    fixtures = Path("contracts/item_state/fixtures")
    good = fixtures / "result/accepted/open.json"
    about = '--arguments={"item_id": "item-0001"}'
    stale = sluicegate("judge", "--contract", contract, good, about, "--format", "json-v1")
    assert (stale.code, json.loads(stale.out)["code"]) == (1, "STALE")
    now = "--now=2026-01-01T12:00:30Z"
    assert sluicegate("judge", "--contract", contract, good, now, about).code == 0
    bound = sluicegate("judge", "--contract", contract, good, now, "--bind=/item_id=item-0002")
    assert bound.code == 1
    assert "expected exactly the value given with --bind" in bound.out
    arguments = fixtures / "arguments/rejected/misnamed.json"
    refused = sluicegate("judge", "--contract", contract, "--side", "arguments", arguments)
    assert (refused.code, refused.out.splitlines()[0]) == (
        1,
        f"{arguments}:1:2: MISNAMED",
    )


@pytest.mark.requirement("RES-5", "CLI")
def test_a_contract_that_binds_is_judged_with_what_it_is_bound_to_or_not_at_all(
    sluicegate: Here,
) -> None:
    sluicegate("init", "item_state")
    contract = "contracts/item_state/contract.yaml"
    good = "contracts/item_state/fixtures/result/accepted/open.json"
    judged = ("judge", "--contract", contract, good, "--now=2026-01-01T12:00:30Z")
    unsaid = sluicegate(*judged)
    assert (unsaid.code, unsaid.out) == (2, "")
    assert "this contract binds /item_id: give --arguments or --bind" in unsaid.err
    Path("asked.json").write_text('{"item_id": "item-0002"}')
    other = sluicegate(*judged, "--arguments=@asked.json")
    assert other.code == 1
    assert "expected exactly the argument /item_id" in other.out
    assert "item-0002" not in other.out
    unfit = sluicegate(*judged, '--arguments={"itemId": "item-0001"}')
    assert unfit.code == 2
    assert "they do not fit the contract: MISNAMED at /itemId" in unfit.err
    for options in (("--side=arguments",), ("--schema", contract)):
        alone = sluicegate("judge", *options, "--arguments={}", good)
        assert alone.code == 2


def test_judging_by_a_contract_imports_none_of_its_python(sluicegate: Here) -> None:
    sluicegate("init", "item_state")
    settings = Path("contracts/sluicegate.yaml")
    settings.write_text(settings.read_text() + 'python: ["not_there."]\n')
    contract = Path("contracts/item_state/contract.yaml")
    text = contract.read_text().replace("  bind:", '  checks: ["not_there.rules:one"]\n  bind:')
    contract.write_text(text)
    good = "contracts/item_state/fixtures/result/accepted/open.json"
    now = ("--now=2026-01-01T12:00:30Z", "--bind=/item_id=item-0001")
    assert sluicegate("judge", "--contract", contract, good, *now).code == 0
    contract.write_text(text.replace("not_there.rules", "elsewhere.rules"))
    assert sluicegate("judge", "--contract", contract, good, *now).code == 4
    assert sluicegate("check").code == 4


def test_a_contract_that_does_not_load_is_exit_4_at_its_line(sluicegate: Here) -> None:
    sluicegate("init", "item_state")
    contract = Path("contracts/item_state/contract.yaml")
    contract.write_text(contract.read_text().replace("effect: read", "effect: reed"))
    good = "contracts/item_state/fixtures/result/accepted/open.json"
    done = sluicegate("judge", "--contract", contract, good)
    assert done.code == 4
    assert re.match(r"contracts/item_state/contract.yaml:7:\d+: CONTRACT_INVALID\n", done.out)
    assert sluicegate("judge", "--contract", "contracts/absent.yaml", good).code == 5


@pytest.mark.requirement("ACC-2", "CLI")
def test_what_loads_and_is_hardly_meant_is_said(sluicegate: Here) -> None:
    assert sluicegate("init", "job_status").code == 0
    settings = Path("contracts/sluicegate.yaml")
    text = settings.read_text("utf-8")
    settings.write_text(text.replace("tool: job_status", "tool: job_statsu"), "utf-8")
    done = sluicegate("check")
    assert done.code == 1
    assert "names the tool job_statsu, which has no contract; did you mean job_status?" in done.out
    settings.unlink()
    assert "no access rule: every call will be DENIED" in sluicegate("check").err


@pytest.mark.requirement("CLI")
@pytest.mark.parametrize("folder", [".", "contracts/job_status"], ids=["around", "inside"])
def test_the_folder_that_was_meant_is_named(sluicegate: Here, folder: str) -> None:
    assert sluicegate("init", "job_status").code == 0
    told = sluicegate("check", folder).err
    assert "there is no sluicegate.yaml" in told
    assert "did you mean the folder contracts?" in told


ROW = (
    "  - {caller: my-agent, action: call, tool: job_status, "
    "resource: {type: item, in: [item-0001]}}"
)
SETTINGS = "contracts/sluicegate.yaml"
TYPE = "/access/0/resource/type"
NOBODY = "no access rule allows anybody to call job_status: every call will be DENIED"
ANOTHER_TOOL = (
    "access row 1 allows nothing: it names the tool job_statsu, which has no contract; "
    "did you mean job_status?"
)
ANOTHER_TYPE = (
    "access row 1 allows nothing: job_status does not ask about resources of the type "
    "itme; did you mean item?"
)


@pytest.mark.requirement("ACC-2", "CLI")
@pytest.mark.parametrize(
    ("row", "notes"),
    [
        (ROW, []),
        (ROW.replace("job_status", '"*"'), []),
        (
            ROW.replace("[item-0001]", "[]"),
            ["access row 1 allows nothing: its `in` is empty", NOBODY],
        ),
    ],
    ids=["well", "every tool", "none admitted"],
)
def test_access_rows_that_admit_nothing_are_said(
    sluicegate: Here, row: str, notes: list[str]
) -> None:
    settle_row(sluicegate, row)
    done = sluicegate("check")
    assert (done.code, done.err.splitlines()) == (0, notes)


IDLE = {
    "another tool": (
        ROW.replace("job_status", "job_statsu"),
        "/access/0/tool",
        ANOTHER_TOOL,
    ),
    "another type": (ROW.replace("type: item", "type: itme"), TYPE, ANOTHER_TYPE),
    "another type of every tool": (
        ROW.replace("job_status", '"*"').replace("type: item", "type: itme"),
        TYPE,
        ANOTHER_TYPE.replace("job_status does not ask", "no contract asks"),
    ),
    "no resource": (
        "  - {caller: a, tool: job_status}",
        "/access/0",
        "access row 1 allows nothing: it has no `resource`, and is asked about item",
    ),
}


@pytest.mark.requirement("ACC-2", "CLI")
@pytest.mark.parametrize(("row", "pointer", "says"), IDLE.values(), ids=IDLE)
def test_access_rows_that_name_what_is_not_there_fail_the_check(
    sluicegate: Here, row: str, pointer: str, says: str
) -> None:
    line = settle_row(sluicegate, row)
    done = sluicegate("check", "--format", "json-v1")
    (told,) = json.loads(done.out)["settings"]
    assert (done.code, json.loads(done.out)["verdict"]) == (1, "fails")
    assert (told["rule"], told["severity"], told["file"]) == ("ACCESS", "error", SETTINGS)
    assert (told["pointer"], told["line"], told["message"]) == (pointer, line, says)
    shown = sluicegate("check")
    assert (shown.code, shown.err.splitlines()) == (1, [NOBODY])
    assert re.match(rf"{SETTINGS}:{line}:\d+: error ACCESS row-allows\n", shown.out)
    assert f"\n  {says}\n  {line} | " in shown.out
    assert ", 1 error of settings  sha256:" in shown.out
    for form in ("github", "sarif", "junit"):
        done = sluicegate("check", "--format", form)
        assert (done.code, "access row 1 allows nothing" in done.out) == (1, True)


def settle_row(sluicegate: Here, row: str) -> int:
    """Put ``row`` in the place of the only one; return its line."""
    assert sluicegate("init", "job_status").code == 0
    settings = Path(SETTINGS)
    text = settings.read_text("utf-8")
    assert ROW in text
    settings.write_text(text.replace(ROW, row), "utf-8")
    return text[: text.index(ROW)].count("\n") + 1


@pytest.mark.requirement("CON-1", "CLI")
@pytest.mark.parametrize("name", ["sluicegate.yml", "job_status/contract.yml"])
def test_a_name_that_nothing_reads_is_a_problem(sluicegate: Here, name: str) -> None:
    assert sluicegate("init", "job_status").code == 0
    misspelt = Path("contracts", name)
    misspelt.with_suffix(".yaml").rename(misspelt)
    checked = sluicegate("check")
    assert checked.code == 4
    assert f"{name}" in checked.out
    assert f"Call it {misspelt.stem}.yaml." in checked.out
