"""``test`` holds a folder to mutants of its fixtures; ``promote`` keeps a hole closed; pytest."""

from __future__ import annotations

import json
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.acceptance.carriers import write_carriers
from tests.acceptance.commands import Here

from sluicegate.opening import testing_contracts
from sluicegate.opening.testing_contracts import ProbedContract, probe_folder
from sluicegate.opening.watching import stamp_files, wait_for_change

STRICT = Path(__file__).parent / "strict"
CONTRACT = Path("strict/job_status/contract.yaml")
FIXTURES = Path("strict/job_status/fixtures")

BIND = "  bind: {/project_id: /project_id, /run_id: /run_id}\n"
FRESH = "  fresh: {at: /observed_at, max_age_s: 60, max_ahead_s: 5}\n"
LAST_REQUIRED = "[project_id, run_id, state, observed_at, failed_steps, diagnostic_url]"
SAFEGUARDS = {
    "anchors": (
        'run_id: {type: string, pattern: "^run_[A-Za-z0-9]{12,48}$"}\n    required',
        'run_id: {type: string, pattern: "run_[A-Za-z0-9]{12,48}"}\n    required',
        "X01",
    ),
    "pattern": (
        'run_id: {type: string, pattern: "^run_[A-Za-z0-9]{12,48}$"}\n    required',
        "run_id: {type: string, maxLength: 60}\n    required",
        "B02",
    ),
    "format": ("format: date-time, ", "", "X04"),
    "maxItems": ("        maxItems: 8\n", "", "B03"),
    "maxLength": (", maxLength: 35", "", "X05"),
    "required": (LAST_REQUIRED, "[project_id, run_id, state, observed_at, failed_steps]", "C06"),
    "required, of what the agent sees": (
        LAST_REQUIRED,
        "[project_id, run_id, state, observed_at, diagnostic_url]",
        "C06",
    ),
}


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work beside a copy of the strict example."""
    shutil.copytree(STRICT, tmp_path / "strict")
    monkeypatch.chdir(tmp_path)


def change(old: str, new: str) -> None:
    text = CONTRACT.read_text()
    assert text.count(old) >= 1
    CONTRACT.write_text(text.replace(old, new))


def probe() -> ProbedContract:
    contracts = probe_folder(Path("strict")).contracts
    assert contracts is not None
    (contract,) = contracts
    return contract


def holes(contract: ProbedContract) -> dict[str, tuple[str, str]]:
    return {
        hole.name: (hole.judged.fate, hole.judged.mutant.rule)
        for side in contract.sides.values()
        for hole in side.holes
    }


@pytest.mark.requirement("LIF-2", "CLI")
def test_the_strict_example_scores_one(sluicegate: Here) -> None:
    done = sluicegate("test", "strict")
    assert (done.code, done.err) == (0, "")
    told = json.loads(sluicegate("test", "strict", "--format", "json-v1").out)
    scores = told["contracts"]["job_status"]
    assert (told["verdict"], scores["score"], told["survivors"]) == ("ok", 1.0, [])
    assert scores["sides"]["arguments"]["mutants"] > 150
    assert scores["sides"]["result"]["mutants"] > 400
    assert sum(side["equivalent"] for side in scores["sides"].values()) <= 5


@pytest.mark.requirement("LIF-2")
@pytest.mark.parametrize("name", SAFEGUARDS)
def test_a_safeguard_that_is_removed_lowers_the_score_and_names_the_hole(name: str) -> None:
    old, new, rule = SAFEGUARDS[name]
    change(old, new)
    contract = probe()
    assert contract.score is not None
    assert contract.score < 1.0
    assert rule in {found for _, found in holes(contract).values()}


@pytest.mark.requirement("LIF-2")
@pytest.mark.parametrize(
    ("old", "said"),
    [
        ("    additionalProperties: false\n", "SCHEMA_OPEN_OBJECT"),
        ("    required: [project_id, run_id]\n", "CONTRACT_INVALID"),
        (f"    required: {LAST_REQUIRED}\n", "CONTRACT_INVALID"),
    ],
    ids=["closing", "required arguments", "required members"],
)
def test_a_safeguard_without_which_nothing_loads_is_named_at_once(
    sluicegate: Here, old: str, said: str
) -> None:
    change(old, "")
    done = sluicegate("test", "strict")
    assert (done.code, said in done.out) == (4, True)


@pytest.mark.requirement("LIF-2")
def test_a_member_that_only_the_map_demands_is_a_hole_of_the_schema(sluicegate: Here) -> None:
    change(LAST_REQUIRED, "[project_id, run_id, state, observed_at, diagnostic_url]")
    done = sluicegate("test", "strict")
    name = "result.failed.drop.failed_steps"
    assert done.out.splitlines()[:6] == [
        "strict/job_status/fixtures/result/accepted/failed.json:6:19: error C06 mutant-refused",
        f"  {name}: conform (required) must refuse it, and narrow/NOT_FOUND_AT alone does (schema)",
        '  6 |   "failed_steps": ["unit_tests", "lint"],',
        "    |                   ^^^^^^^^^^^^^^^^^^^^^^",
        "  at /failed_steps (job_status)",
        "  hint: C06 would close it: sluicegate explain C06",
    ]
    promoted = sluicegate("promote", "job_status", name, "--folder", "strict")
    assert (promoted.code, "require the member" in promoted.err) == (2, True)


@pytest.mark.requirement("LIF-2", "LIF-1")
@pytest.mark.parametrize(
    ("entry", "scores"),
    [
        ('{rule: C06, reason: not told of old runs, until: "2099-12-31"}', True),
        ('{rule: optional-in-result, reason: not told of old runs, until: "2099-12-31"}', True),
        ('{rule: C06, until: "2099-12-31"}', False),
        ('{rule: B03, reason: not told of old runs, until: "2099-12-31"}', False),
    ],
    ids=["by id", "by name", "without reason", "another rule"],
)
def test_the_schema_may_say_that_a_member_is_optional_and_why(entry: str, scores: bool) -> None:
    change(LAST_REQUIRED, "[project_id, run_id, state, observed_at, diagnostic_url]")
    change("        uniqueItems: true\n", f"        uniqueItems: true\n        x-lint: [{entry}]\n")
    assert (probe().score == 1.0) == scores


@pytest.mark.requirement("LIF-2")
def test_an_optional_member_that_nobody_sees_may_be_declared_equivalent() -> None:
    change(LAST_REQUIRED, "[project_id, run_id, state, observed_at, failed_steps]")
    change("diagnostic_url: {at: /url}", "diagnostic_url: {at: /url, optional: true}")
    assert holes(probe()) == {"result.failed.drop.diagnostic_url": ("survived", "C06")}
    declare("{mutant: drop.diagnostic_url, pointer: /diagnostic_url, reason: operator only}")
    after = probe()
    assert (after.score, after.sides["result"].equivalent, holes(after)) == (1.0, 1, {})


@pytest.mark.requirement("LIF-2")
def test_meaning_is_judged_at_its_own_rung() -> None:
    contract = probe()
    assert holes(contract) == {}
    change(FRESH, "")
    stale = {"result.failed.stale": ("survived", "E09")}
    assert holes(probe()) == stale
    change(BIND, "  bind: {/run_id: /run_id}\n")
    another = {"result.failed.another-subject-1.project_id": ("survived", "E10")}
    assert holes(probe()) == {**stale, **another}


@pytest.mark.requirement("LIF-2", "RES-10", "ENV-3")
def test_every_carrier_is_changed_within_and_around(sluicegate: Here) -> None:
    write_carriers(Path("carriers"))
    told = json.loads(sluicegate("test", "carriers", "--format", "json-v1").out)
    assert told["survivors"] == []
    assert {tool: each["score"] for tool, each in told["contracts"].items()} == dict.fromkeys(
        ("bare_command", "enveloped", "extracted", "mcp_structured", "mcp_text"), 1.0
    )


@pytest.mark.requirement("LIF-2", "CLI")
def test_a_survivor_is_told_with_place_rung_rule_and_the_way_on(sluicegate: Here) -> None:
    change("        maxItems: 8\n", "")
    done = sluicegate("test", "strict")
    name = "result.failed.too-many-items.failed_steps"
    assert done.code == 1
    assert done.out.splitlines()[:7] == [
        "strict/job_status/fixtures/result/accepted/failed.json:6:19: error B03 mutant-refused",
        f"  {name}: conform (maxItems) must refuse it, and nothing does (schema)",
        '  6 |   "failed_steps": ["unit_tests", "lint"],',
        "    |                   ^^^^^^^^^^^^^^^^^^^^^^",
        "  at /failed_steps (job_status)",
        "  hint: B03 would close it: sluicegate explain B03",
        f"  sluicegate promote job_status {name}",
    ]
    assert "holes: 1 schema, 0 semantic" in done.out.splitlines()[-1]
    lenient = sluicegate("test", "strict", "--min-score", "0.9", "--format", "github")
    assert lenient.code == 0
    assert lenient.out.startswith("::warning file=strict/job_status/fixtures/")


SURVIVOR = (
    "result.failed.too-many-items.failed_steps: conform (maxItems) must refuse it, and nothing does"
    " (schema)"
)


@pytest.mark.requirement("LIF-5")
def test_a_survivor_stands_in_sarif_under_its_rule_at_the_line_of_its_example(
    sluicegate: Here,
) -> None:
    change("        maxItems: 8\n", "")
    done = sluicegate("test", "strict", "--format", "sarif")
    (run,) = json.loads(done.out)["runs"]
    (result,) = run["results"]
    (location,) = result["locations"]
    place = location["physicalLocation"]
    rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert (done.code, run["properties"]["verdict"]) == (1, "fails")
    assert (result["ruleId"], rule["id"], rule["name"]) == ("B03", "B03", "array-unbounded")
    assert (result["level"], result["message"]["text"].splitlines()[0]) == ("error", SURVIVOR)
    assert place["artifactLocation"]["uri"] == str(FIXTURES / "result/accepted/failed.json")
    assert place["region"]["startLine"] == 6
    assert location["logicalLocations"] == [{"fullyQualifiedName": "/failed_steps"}]


@pytest.mark.requirement("LIF-5")
def test_a_survivor_fails_the_case_of_its_side_in_junit_and_no_other(sluicegate: Here) -> None:
    change("        maxItems: 8\n", "")
    done = sluicegate("test", "strict", "--format", "junit")
    root = ElementTree.fromstring(done.out)
    assert (done.code, root.get("tests"), root.get("failures")) == (1, "6", "1")
    failing = [case for case in root.iter("testcase") if case.find("failure") is not None]
    assert [case.get("name") for case in failing] == ["mutants of job_status result"]
    (failure,) = failing[0].findall("failure")
    assert (failure.get("type"), failure.get("message")) == ("B03", SURVIVOR)


@pytest.mark.requirement("LIF-2")
def test_a_late_kill_is_a_hole_of_the_rung_that_did_nothing(sluicegate: Here) -> None:
    change("format: date-time, ", "")
    told = json.loads(sluicegate("test", "strict", "--format", "json-v1").out)
    (found,) = [each for each in told["survivors"] if each["name"].endswith("month-13.observed_at")]
    assert (found["fate"], found["stage"], found["got"], found["kind"], found["rule"]) == (
        "late",
        "conform",
        "vouch/BAD_TIME",
        "schema",
        "X04",
    )


@pytest.mark.requirement("LIF-2", "CLI")
def test_a_failing_fixture_fails_whatever_the_score_and_says_which_kind_it_is(
    sluicegate: Here,
) -> None:
    (FIXTURES / "result/accepted/failed.expect.yaml").write_text("now: 2026-01-01T13:00:00Z\n")
    done = sluicegate("test", "strict", "--min-score", "0")
    assert done.code == 1
    assert "was rejected with vouch/STALE" in done.out
    assert "semantic failure" in done.out


@pytest.mark.requirement("LIF-2", "LIF-5")
def test_a_fixture_that_no_rung_judged_has_no_verdict_and_is_no_internal_error(
    sluicegate: Here,
) -> None:
    (FIXTURES / "arguments/rejected/misnamed.expect.yaml").write_text("code: MISNAMMED\n")
    stray = FIXTURES / "result/refused/one.json"
    stray.parent.mkdir()
    stray.write_text("{}")
    declare("{mutant: padded.state, pointer: /state, reason: the upstream pads}")
    told = json.loads(sluicegate("test", "strict", "--format", "json-v1").out)["fixtures"]
    unread = [
        {**each, "path": Path(each["path"]).name, "note": ""} for each in told if not each["ok"]
    ]
    nothing = {"verdict": None, "stage": None, "code": None, "findings": [], "digest": None}
    assert unread == [
        {"path": path, "expected": expected, "ok": False, "note": "", **nothing, "kind": None}
        for path, expected in (
            ("misnamed.json", "rejected"),
            ("refused", ""),
            ("equivalents.yaml", ""),
        )
    ]
    checked = json.loads(sluicegate("check", "strict", "--format", "json-v1").out)["fixtures"]
    assert [each["verdict"] for each in checked if not each["ok"]] == [None, None]
    for form in ("human", "github", "sarif", "junit"):
        done = sluicegate("test", "strict", "--format", form)
        assert (done.code, "INTERNAL" in done.out, " failure\n" in done.out) == (1, False, False)
        assert "MISNAMMED is no code; did you mean MISNAMED?" in done.out


@pytest.mark.requirement("CLI")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["nowhere"], 5),
        (["strict", "--tool", "other"], 2),
        (["strict", "--min-score", "1.5"], 2),
        (["strict", "--tool", "job_status"], 0),
    ],
    ids=["no folder", "no such tool", "no such score", "one tool"],
)
def test_every_way_out_has_its_exit_code(sluicegate: Here, arguments: list[str], code: int) -> None:
    assert sluicegate("test", *arguments).code == code


@pytest.mark.requirement("LIF-2", "CLI")
def test_a_folder_without_fixtures_was_not_tested(sluicegate: Here) -> None:
    shutil.rmtree(FIXTURES)
    done = sluicegate("test", "strict")
    assert (done.code, done.out.splitlines()[-1]) == (3, "NOTHING CHECKED: no fixture in strict")


def copy_as(tool: str) -> Path:
    """The strict contract again, under another name."""
    home = Path("strict", tool)
    shutil.copytree("strict/job_status", home)
    contract = home / "contract.yaml"
    contract.write_text(contract.read_text().replace("tool: job_status", f"tool: {tool}"))
    return home


@pytest.mark.requirement("LIF-2", "CLI")
@pytest.mark.parametrize("left", [[], ["arguments/rejected"]], ids=["no fixture", "one rejected"])
def test_a_contract_without_a_mutant_was_not_checked(sluicegate: Here, left: list[str]) -> None:
    home = copy_as("other")
    for side in ("arguments", "result"):
        for kind in ("accepted", "rejected"):
            if f"{side}/{kind}" not in left:
                shutil.rmtree(home / "fixtures" / side / kind)
    done = sluicegate("test", "strict")
    assert (done.code, done.out.splitlines()[-1]) == (3, "NOTHING CHECKED: no mutant of other")
    assert "other 1.0.0  no mutants: it has no accepted fixture" in done.out
    assert "job_status 1.0.0  arguments" in done.out
    told = json.loads(sluicegate("test", "strict", "--format", "json-v1").out)
    assert told["verdict"] == "nothing-checked"
    assert sluicegate("test", "strict", "--tool", "job_status").code == 0


@pytest.mark.requirement("LIF-2", "CLI")
@pytest.mark.parametrize("form", ["human", "json-v1", "sarif", "junit", "github"])
def test_a_run_that_was_cut_is_no_success_and_says_what_was_not_tried(
    sluicegate: Here, form: str
) -> None:
    done = sluicegate("test", "strict", "--max-mutants", "100", "--format", form)
    left = (
        "mutants at structure level beyond 100 of job_status/fixtures/result/accepted/failed.json"
    )
    assert (done.code, left in done.out) == (1, True)
    if form == "human":
        assert "1.000" not in done.out
        assert done.out.splitlines()[-1].startswith("FAILS: ")


@pytest.mark.requirement("LIF-2", "CLI")
def test_a_side_with_too_many_fixtures_takes_nothing_from_the_other(
    sluicegate: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = probe()
    monkeypatch.setattr(testing_contracts, "MAX_EXAMPLES", 1)
    accepted = FIXTURES / "arguments/accepted"
    (first,) = accepted.glob("*.json")
    shutil.copy(first, accepted / "second.json")
    shutil.copy(first, accepted / "third.json")
    cut = probe()
    left = f"fixtures from {(accepted / 'second.json').relative_to('strict').as_posix()} on"
    assert cut.sides["arguments"].untried == (left,)
    assert cut.sides["arguments"].mutants == whole.sides["arguments"].mutants
    assert cut.sides["result"] == whole.sides["result"]
    assert cut.sides["result"].mutants > 400
    done = sluicegate("test", "strict")
    assert (done.code, f"  job_status: not tried: {left}\n" in done.out) == (1, True)


@pytest.mark.requirement("LIF-2", "CLI")
def test_a_promoted_survivor_fails_check_until_its_hole_is_closed(sluicegate: Here) -> None:
    change("        maxItems: 8\n", "")
    name = "result.failed.too-many-items.failed_steps"
    done = sluicegate("promote", "job_status", name, "--folder", "strict")
    stem = "strict/job_status/fixtures/result/rejected/failed.too-many-items.failed_steps"
    assert (done.code, done.out) == (0, f"wrote {stem}.json\nwrote {stem}.expect.yaml\n")
    assert Path(f"{stem}.expect.yaml").read_text() == (
        'now: "2026-01-01T12:00:30Z"\nstage: "conform"\n'
    )
    assert sluicegate("check", "strict").code == 1
    again = sluicegate("promote", "job_status", name, "--folder", "strict")
    assert (again.code, "nothing was written" in again.err) == (2, True)
    change("        uniqueItems: true\n", "        uniqueItems: true\n        maxItems: 8\n")
    assert sluicegate("check", "strict").code == 0


@pytest.mark.requirement("LIF-2", "CLI")
def test_a_promotion_that_breaks_off_leaves_no_fixture_and_can_be_made_again(
    sluicegate: Here,
) -> None:
    change("        maxItems: 8\n", "")
    name = "result.failed.too-many-items.failed_steps"
    target = Path("strict/job_status/fixtures/result/rejected")
    promote = ["promote", "job_status", name, "--folder", "strict"]
    before = sorted(target.iterdir())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60, hard))  # the sidecar fits, the fixture does not
    try:
        full = sluicegate(*promote)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (full.code, "cannot be written: File too large" in full.err) == (2, True)
    left = [path for path in sorted(target.iterdir()) if path not in before]
    assert [path.name for path in left] == ["failed.too-many-items.failed_steps.expect.yaml"]
    assert sluicegate(*promote).code == 0


@pytest.mark.requirement("CLI")
@pytest.mark.parametrize(
    ("tool", "name", "said"),
    [
        ("other", "x", "no contract serves a tool"),
        ("job_status", "result.failed.too-many", "no mutant"),
    ],
    ids=["no such tool", "no such mutant"],
)
def test_what_does_not_survive_cannot_be_promoted(
    sluicegate: Here, tool: str, name: str, said: str
) -> None:
    done = sluicegate("promote", tool, name, "--folder", "strict")
    assert (done.code, done.out) == (2, "")
    assert said in done.err


EQUIVALENT = "{mutant: padded.state, pointer: /state, reason: the upstream pads}"


def declare(*entries: str) -> None:
    (FIXTURES / "equivalents.yaml").write_text("".join(f"- {entry}\n" for entry in entries))


@pytest.mark.requirement("LIF-2")
@pytest.mark.parametrize(
    ("entries", "note"),
    [
        ([EQUIVALENT], "is declared equivalent and is not"),
        ([EQUIVALENT] * 6, "at most 5 may be equivalent"),
        (["{mutant: x, pointer: /x}"], "each entry needs `reason`"),
        (["{mutant: x, pointer: /x, reason: ''}"], "each entry needs `reason`"),
        (["{mutant: x, pointer: /x, reason: y, until: z}"], "until is none of"),
    ],
    ids=["unproven", "too many", "no reason", "empty reason", "unknown key"],
)
def test_an_equivalent_that_is_not_proven_fails(
    sluicegate: Here, entries: list[str], note: str
) -> None:
    declare(*entries)
    done = sluicegate("test", "strict")
    assert done.code == 1
    assert note in done.out
    checked = sluicegate("check", "strict")
    assert checked.code == 1
    assert note in checked.out


@pytest.mark.requirement("LIF-2")
def test_an_equivalent_counts_where_the_agent_sees_the_very_same() -> None:
    change(', pattern: "^https://ci\\\\.example/[a-z0-9/_-]{1,200}$"', "")
    before = holes(probe())
    assert before == {"result.failed.flood-1.diagnostic_url": ("survived", "X05")}
    declare("{mutant: flood-1.diagnostic_url, pointer: /diagnostic_url, reason: operator only}")
    after = probe()
    assert (after.score, after.sides["result"].equivalent, holes(after)) == (1.0, 1, {})
    assert all(fixture.ok for fixture in after.fixtures)


@pytest.mark.requirement("LIF-2")
def test_the_same_folder_gives_the_same_mutants_each_time() -> None:
    change("        maxItems: 8\n", "")
    first, second = probe(), probe()
    assert [side.mutants for side in first.sides.values()] == [
        side.mutants for side in second.sides.values()
    ]
    assert holes(first) == holes(second)


@pytest.mark.requirement("CLI")
def test_a_change_of_a_file_ends_the_wait_and_a_record_does_not() -> None:
    folder = Path("strict")
    (folder / "state").mkdir()
    seen = stamp_files(folder)
    acts: list[Callable[[], Any]] = [
        lambda: (folder / "state" / "audit.db").write_bytes(b"x"),
        lambda: (folder / "job_status" / "new.yaml").write_text("x"),
    ]
    changed = wait_for_change([folder], seen, lambda _: acts.pop(0)())
    assert acts == []
    assert changed.keys() - seen.keys() == {"strict/job_status/new.yaml"}


def run_pytest(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *arguments]
    if "sluicegate" not in installed_plugins():
        command += ["-p", "sluicegate.pytest_plugin"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def installed_plugins() -> set[str]:
    from importlib.metadata import entry_points

    return {each.name for each in entry_points(group="pytest11")}


@pytest.mark.requirement("LIF-5")
def test_pytest_collects_a_folder_named_in_its_settings() -> None:
    Path("pytest.ini").write_text("[pytest]\nsluicegate_contracts = strict\n")
    done = run_pytest()
    assert (done.returncode, done.stdout.splitlines()[-1].split(" in ")[0]) == (0, "4 passed")


@pytest.mark.requirement("LIF-5")
def test_pytest_tells_a_surviving_mutant_and_a_failing_fixture_without_a_traceback() -> None:
    change("        maxItems: 8\n", "")
    (FIXTURES / "arguments/rejected/misnamed.expect.yaml").write_text("code: MISSING\n")
    done = run_pytest("--sluicegate", "strict")
    assert done.returncode == 1
    assert "2 failed, 3 passed" in done.stdout
    assert "code is MISNAMED, and must be MISSING" in done.stdout
    assert "conform (maxItems) must refuse it, and nothing does" in done.stdout
    assert "Traceback" not in done.stdout
    assert ".py:" not in done.stdout


@pytest.mark.requirement("LIF-5")
def test_pytest_refuses_a_folder_without_contracts() -> None:
    Path("empty").mkdir()
    Path("test_one.py").write_text("def test_one():\n    assert True\n")
    done = run_pytest("--sluicegate", "empty", "test_one.py")
    assert (done.returncode, "holds no contract" in done.stderr) == (4, True)


@pytest.mark.requirement("LIF-5")
def test_pytest_collects_every_contract_that_check_loads_however_deep_it_lies() -> None:
    Path("deep/build").mkdir(parents=True)
    shutil.move("strict/job_status", "deep/build/job_status")
    shutil.move("strict/sluicegate.yaml", "deep/sluicegate.yaml")
    Path("test_one.py").write_text("def test_one():\n    assert True\n")
    done = run_pytest("--sluicegate", "deep", "test_one.py")
    assert (done.returncode, done.stdout.splitlines()[-1].split(" in ")[0]) == (0, "5 passed")


@pytest.mark.requirement("LIF-5")
def test_pytest_fails_where_a_contract_proves_nothing_or_does_not_load() -> None:
    shutil.rmtree(FIXTURES)
    bare = run_pytest("--sluicegate", "strict")
    assert (bare.returncode, "it has no fixtures" in bare.stdout) == (1, True)
    change("effect: read", "effect: nothing")
    broken = run_pytest("--sluicegate", "strict")
    assert (broken.returncode, "CONTRACT_INVALID" in broken.stdout) == (2, True)


@pytest.mark.requirement("CLI")
def test_watching_judges_the_python_that_is_there_now(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("acme").mkdir()
    Path("acme/__init__.py").write_text("")
    checks = Path("acme/checks.py")
    checks.write_text("def fine(data, *, document, request, now):\n    return []\n")
    with Path("strict/sluicegate.yaml").open("a") as settings:
        settings.write('python: ["acme."]\n')
    change("  agent: [", '  checks: ["acme.checks:fine"]\n  agent: [')
    monkeypatch.setenv("PYTHONPATH", str(Path.cwd()))
    program = "from sluicegate.cli.main import main; main()"
    command = [sys.executable, "-c", program, "test", "strict", "--watch"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as watching:
        assert watching.stdout is not None
        assert watching.stderr is not None
        assert watching.stderr.readline().startswith("watching strict")
        checks.write_text("def fine(data, *, document, request, now):\n    raise ValueError\n")
        assert watching.stderr.readline().startswith("watching strict")
        watching.send_signal(signal.SIGINT)
        told = watching.stdout.read()
        assert watching.wait(timeout=30) == 0
    assert [line.partition(":")[0] for line in told.splitlines() if ": 1 contract" in line] == [
        "OK",
        "FAILS",
    ]


@pytest.mark.requirement("CLI")
def test_watching_ends_with_0_when_a_person_has_seen_enough() -> None:
    program = "from sluicegate.cli.main import main; main()"
    command = [sys.executable, "-c", program, "test", "strict", "--watch"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as watching:
        assert watching.stdout is not None
        assert watching.stderr is not None
        assert watching.stderr.readline() == "watching strict; Ctrl-C ends it\n"
        watching.send_signal(signal.SIGINT)
        told = watching.stdout.read()
        assert watching.wait(timeout=30) == 0
    assert told.splitlines()[-1].startswith("OK: 1 contract")
