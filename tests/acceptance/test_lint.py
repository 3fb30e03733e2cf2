"""``sluicegate lint``: what it prints, and how it ends."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from typing import Final

import pytest
from tests.acceptance.commands import Here

pytestmark = pytest.mark.requirement("LIF-1", "LIF-5", "CLI")

ROOT = Path(__file__).resolve().parents[2]
SUITES: Final = os.environ.get("SLUICEGATE_SUITES")
OPEN = '{"$schema": "https://json-schema.org/draft/2020-12/schema",\n "type": "object"}'


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(capsys)


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    path = tmp_path / "open.json"
    path.write_text(OPEN, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "folder",
    [*sorted((ROOT / "examples").glob("*/contracts")), ROOT / "src/sluicegate/cli/demo_contracts"],
    ids=lambda folder: folder.parent.name,
)
def test_the_contracts_that_we_ship_have_no_error(here: Here, folder: Path) -> None:
    done = here("lint", folder, "--format", "json-v1")
    assert (done.code, json.loads(done.out)["counts"]["error"]) == (0, 0)


def test_a_finding_is_told_with_place_rule_and_mend(here: Here, bare: Path) -> None:
    done = here("lint", "--side", "result", bare)
    assert done.code == 1
    assert done.out.startswith(
        f"{bare}:1:1: error C01 open-object\n"
        "  this place admits an object with members that nobody has declared.\n"
        '  1 | {"$schema": "https://json-schema.org/draft/2020-12/schema",\n'
        "    | ^\n"
        "  hint: Add `additionalProperties: false`"
    )
    assert done.out.splitlines()[-1].startswith("FAILS: 1 schema, 1 error, 1 warning, 1 note")


def test_json_tells_every_finding(here: Here, bare: Path) -> None:
    told = json.loads(here("lint", "--side", "result", bare, "--format", "json-v1").out)
    first = told["findings"][0]
    assert (told["format"], told["command"], told["verdict"]) == ("json-v1", "lint", "findings")
    assert {name: first[name] for name in ("rule", "name", "severity", "pointer", "file")} == {
        "rule": "C01",
        "name": "open-object",
        "severity": "error",
        "pointer": "",
        "file": str(bare),
    }


def test_github_is_told_the_line(here: Here, bare: Path) -> None:
    done = here("lint", "--side", "result", bare, "--format", "github")
    assert done.out.startswith(f"::error file={bare},line=1,col=1,title=C01 open-object::")


def test_a_folder_without_contracts_is_nothing_checked(here: Here, tmp_path: Path) -> None:
    assert here("lint", tmp_path).code == 3


def test_the_exit_code_says_why_nothing_was_judged(here: Here, tmp_path: Path, bare: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{", encoding="utf-8")
    assert here("lint", "--side", "result", broken).code == 4
    assert here("lint", "--side", "result", tmp_path / "absent.json").code == 5
    assert here("lint", bare).code == 2


def test_warnings_fail_where_that_is_asked_for(here: Here) -> None:
    folder = ROOT / "examples/restart/contracts"
    assert here("lint", folder).code == 0
    assert here("lint", folder, "--fail-on", "warning").code == 1


def test_a_baseline_silences_what_it_knows_and_tells_what_is_gone(
    here: Here, tmp_path: Path, bare: Path
) -> None:
    known = tmp_path / "baseline.json"
    first = here("lint", "--side", "result", bare, "--write-baseline", known)
    assert (first.code, first.out) == (0, "OK: 1 schema, no findings; 3 known to the baseline\n")
    assert here("lint", "--side", "result", bare, "--baseline", known).code == 0
    bare.write_text(OPEN.replace("}", ', "additionalProperties": false}'), encoding="utf-8")
    done = here("lint", "--side", "result", bare, "--baseline", known, "--format", "json-v1")
    told = json.loads(done.out)
    assert [each["rule"] for each in told["findings"]] == ["L04"]
    assert (done.code, told["known"]) == (0, 2)


def test_a_baseline_is_written_whole_or_not_at_all(
    here: Here, tmp_path: Path, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, link = tmp_path / "baseline.json", tmp_path / "link.json"
    known.write_text("before", encoding="utf-8")
    link.symlink_to(known)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        done = here("lint", "--side", "result", bare, "--write-baseline", link)
    assert (done.code, "No space left" in done.err) == (2, True)
    assert known.read_text(encoding="utf-8") == "before"
    assert sorted(each.name for each in tmp_path.glob("*base*")) == ["baseline.json"]
    assert here("lint", "--side", "result", bare, "--write-baseline", link).code == 0
    assert link.is_symlink()
    assert here("lint", "--side", "result", bare, "--baseline", known).code == 0
    assert here("lint", "--side", "result", bare, "--write-baseline", "/dev/null").code == 0


@pytest.mark.parametrize(
    "settings", ["[1,2]", '"x"', "{nope: 1}", "{access: 5}", "", "{limits: {max_bytes: many}}"]
)
def test_a_folder_whose_settings_are_none_is_not_clean(
    here: Here, tmp_path: Path, settings: str
) -> None:
    folder = tmp_path / "contracts"
    shutil.copytree(ROOT / "examples/restart/contracts", folder)
    assert here("lint", folder).code == 0
    (folder / "sluicegate.yaml").write_text(settings, encoding="utf-8")
    for path in (folder, folder / "restart_job/contract.yaml"):
        done = here("lint", path)
        assert (done.code, "sluicegate.yaml:" in done.out) == (4, True)


def test_a_file_that_is_no_baseline_is_refused(here: Here, bare: Path) -> None:
    done = here("lint", "--side", "result", bare, "--baseline", bare)
    assert (done.code, "is no baseline" in done.err) == (5, True)


def test_names_of_the_other_side_cannot_write_to_the_terminal(here: Here, tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"properties": {"\u001b[31m\u202e" + "x" * 200: {}}}), "utf-8")
    out = here("lint", "--side", "result", path).out
    assert "\u001b" not in out
    assert "\u202e" not in out
    own_words = [line for line in out.splitlines() if not line.startswith("  1 | ")]
    assert "x" * 65 not in "\n".join(own_words)
    assert max(map(len, out.splitlines())) < 400


@pytest.mark.parametrize("name", ["C01", "c01", "open-object"])
def test_explain_prints_the_page_of_a_rule(here: Here, name: str) -> None:
    done = here("explain", name)
    assert (done.code, done.out.splitlines()[0]) == (0, "# C01 open-object")


@pytest.mark.skipif(SUITES is None, reason="SLUICEGATE_SUITES names no folder of suites")
@pytest.mark.parametrize(("profile", "code"), [("imported", 0), ("strict-arguments", 1)])
def test_the_tools_of_others_are_told_rule_by_rule(here: Here, profile: str, code: int) -> None:
    listed = Path(SUITES or "") / "github-mcp-tools" / "v1.0.0.json"
    done = here("lint", "--side", "arguments", "--profile", profile, listed)
    heads = [line for line in done.out.splitlines() if " C01 open-object × 107" in line]
    assert (done.code, len(heads)) == (code, 1)
    assert len(done.out.splitlines()) < 140


@pytest.mark.parametrize("form", ["human", "github", "json-v1", "sarif", "junit"])
def test_check_fails_on_an_error_of_lint_and_tells_it(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert here("init", "my_tool").code == 0
    assert here("check", "contracts").code == 0
    contract = tmp_path / "contracts/my_tool/contract.yaml"
    loose = contract.read_text("utf-8").replace("{enum: [open, closed]}", "{type: string}")
    contract.write_text(loose, encoding="utf-8")
    done = here("check", "contracts", "--format", form)
    assert (done.code, "B01" in done.out) == (1, True)


@pytest.mark.requirement("LIF-5")
def test_lint_tells_code_scanning_and_a_test_runner_too(sluicegate: Here, tmp_path: Path) -> None:
    schema = tmp_path / "open.json"
    schema.write_text('{"type": "object"}')
    sarif = sluicegate("lint", "--side", "result", "--format", "sarif", schema)
    assert sarif.code == 1
    (run,) = json.loads(sarif.out)["runs"]
    assert "C01" in {result["ruleId"] for result in run["results"]}
    assert "C01" in {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    junit = sluicegate("lint", "--side", "result", "--format", "junit", schema)
    assert (junit.code, "C01" in junit.out, "<failure" in junit.out) == (1, True, True)


@pytest.mark.requirement("LIF-5", "CLI")
@pytest.mark.parametrize("form", ["json-v1", "github", "sarif", "junit"])
@pytest.mark.parametrize(("content", "code"), [('{"a":', 4), (None, 5)])
def test_a_document_that_cannot_be_judged_is_no_clean_report(
    here: Here, tmp_path: Path, form: str, content: str | None, code: int
) -> None:
    path = tmp_path / "x.json"
    if content is not None:
        path.write_text(content)
    done = here("lint", path, "--side", "result", "--format", form)
    told = {
        "json-v1": '"verdict": "does-not-load"',
        "github": "::error",
        "sarif": '"ruleId": "CONTRACT_INVALID"',
        "junit": 'failures="1"',
    }
    assert (done.code, told[form] in done.out) == (code, True), done
