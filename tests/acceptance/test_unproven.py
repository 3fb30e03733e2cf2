"""What no fixture speaks for, and what no rule of the contract holds, is told by test and check."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.commands import Here

pytestmark = pytest.mark.requirement("LIF-2", "CLI")

STRICT = Path(__file__).parent / "strict"
CONTRACT = Path("strict/job_status/contract.yaml")
FIXTURES = Path("strict/job_status/fixtures")
BIND = "  bind: {/project_id: /project_id, /run_id: /run_id}\n"
FRESH = "  fresh: {at: /observed_at, max_age_s: 60, max_ahead_s: 5}\n"
SCHEMA = "result:\n  schema:\n"
SILENCE = "    x-lint: [{{rule: {}, reason: The host compares it., until: 2027-01-01}}]\n"


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work beside a copy of the strict example."""
    shutil.copytree(STRICT, tmp_path / "strict")
    monkeypatch.chdir(tmp_path)


def change(old: str, new: str) -> None:
    text = CONTRACT.read_text()
    assert old in text
    CONTRACT.write_text(text.replace(old, new))


def report_of(sluicegate: Here) -> Any:
    return json.loads(sluicegate("test", "strict", "--format", "json-v1").out)


@pytest.mark.parametrize("side", ["arguments", "result"])
def test_a_side_without_an_accepted_fixture_is_a_finding(sluicegate: Here, side: str) -> None:
    if side == "arguments":  # a result says what it answers
        where = FIXTURES / "result/accepted/failed.expect.yaml"
        arguments = (FIXTURES / "arguments/accepted/one-run.json").read_text()
        for sidecar in (where, FIXTURES / "result/rejected/another-project.expect.yaml"):
            before = sidecar.read_text() if sidecar.exists() else ""
            sidecar.write_text(f"{before}arguments: {json.dumps(json.loads(arguments))}\n")
    shutil.rmtree(FIXTURES / side / "accepted")
    done = sluicegate("test", "strict")
    assert done.code == 1
    assert f"not tried: nothing of the {side}: no fixture of it is accepted" in done.out
    told = report_of(sluicegate)["contracts"]["job_status"]
    assert (told["score"], told["sides"][side]["score"]) == (None, None)
    checked = sluicegate("check", "strict")
    assert "1 side without an accepted fixture" in checked.out
    assert f"job_status has no accepted fixture of its {side}" in checked.err
    as_json = json.loads(sluicegate("check", "strict", "--format", "json-v1").out)
    assert as_json["mutants"]["lacking"] == {"job_status": [side]}


def test_pytest_fails_once_for_a_side_that_nothing_speaks_for() -> None:
    shutil.rmtree(FIXTURES / "result/accepted")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--sluicegate", "strict"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "not tried: nothing of the result: no fixture of it is accepted" in done.stdout
    assert "1 failed" in done.stdout


def test_a_contract_without_any_fixture_is_told_by_check_and_checked_by_nobody(
    sluicegate: Here,
) -> None:
    shutil.rmtree(FIXTURES)
    assert sluicegate("test", "strict").code == 3
    checked = sluicegate("check", "strict")
    assert "2 sides without an accepted fixture" in checked.out
    assert "job_status has no fixtures" in checked.err


def test_places_that_no_fixture_has_are_told_beside_the_score(sluicegate: Here) -> None:
    assert report_of(sluicegate)["contracts"]["job_status"]["sides"]["result"]["unreached"] == []
    for name in ("result/accepted/failed.json",):
        text = (FIXTURES / name).read_text()
        (FIXTURES / name).write_text(text.replace('["unit_tests", "lint"]', "[]"))
    done = sluicegate("test", "strict")
    assert done.code == 0
    assert "1.000 but for 1 place" in done.out
    assert "no accepted fixture has: /failed_steps/*" in done.out
    side = report_of(sluicegate)["contracts"]["job_status"]["sides"]["result"]
    assert side["unreached"] == ["/failed_steps/*"]


@pytest.mark.parametrize(
    ("safeguard", "rule", "names"),
    [
        pytest.param(
            BIND, "E10", {"another-subject-1.project_id", "another-subject-1.run_id"}, id="bind"
        ),
        pytest.param(FRESH, "E09", {"stale"}, id="fresh"),
    ],
)
def test_an_answer_that_no_rule_holds_is_a_hole_that_names_the_rule(
    sluicegate: Here, safeguard: str, rule: str, names: set[str]
) -> None:
    change(safeguard, "")
    told = report_of(sluicegate)
    found = {each["mutant"].removeprefix("result.failed."): each for each in told["survivors"]}
    assert {name for name in found if found[name]["closed_by"] == rule} == names
    assert {found[name]["kind"] for name in names} == {"semantic"}
    assert sluicegate("check", "strict").code == 1
    change(SCHEMA, SCHEMA + SILENCE.format(rule))
    assert rule not in {each["closed_by"] for each in report_of(sluicegate)["survivors"]}


def test_one_of_two_identifiers_that_is_bound_leaves_the_other(sluicegate: Here) -> None:
    change(BIND, "  bind: {/project_id: /project_id}\n")
    told = {each["mutant"] for each in report_of(sluicegate)["survivors"]}
    assert told == {"result.failed.another-subject-1.run_id"}


def test_check_and_test_hold_the_same_of_an_equivalent(sluicegate: Here) -> None:
    file = FIXTURES / "equivalents.yaml"
    file.write_text("- {mutant: padded.state, pointer: /state, reason: x}\n")
    for command in ("test", "check"):
        done = sluicegate(command, "strict")
        assert done.code == 1
        assert "is declared equivalent and is not" in done.out
        assert "schema failure" not in done.out


def test_a_run_that_was_cut_accuses_no_equivalent_that_it_did_not_come_to(
    sluicegate: Here,
) -> None:
    change(', pattern: "^https://ci\\\\.example/[a-z0-9/_-]{1,200}$"', "")
    file = FIXTURES / "equivalents.yaml"
    file.write_text(
        "- {mutant: flood-1.diagnostic_url, pointer: /diagnostic_url, reason: operator only}\n"
    )
    done = sluicegate("test", "strict", "--max-mutants", "5")
    assert done.code == 1
    assert "is declared equivalent" not in done.out


def test_a_check_that_raises_is_named_with_the_type_of_what_it_raised(
    sluicegate: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acme_raising.py").write_text(
        "def look(data, *, document, request, now):\n    raise KeyError('zqj-' + data['state'])\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with Path("strict/sluicegate.yaml").open("a") as settings:
        settings.write('python: ["acme_raising"]\n')
    change("  agent: [", '  checks: ["acme_raising:look"]\n  agent: [')
    for command in ("test", "check"):
        done = sluicegate(command, "strict")
        assert done.code == 1
        assert "acme_raising:look raised KeyError" in done.out
        assert "zqj" not in done.out
    told = {each["path"]: each["kind"] for each in report_of(sluicegate)["fixtures"]}
    assert told["strict/job_status/fixtures/result/accepted/failed.json"] == "semantic"
    assert report_of(sluicegate)["contracts"]["job_status"]["score"] is None
