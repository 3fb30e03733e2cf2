"""What keeps a folder, or one tool of it, from being served, and what does not."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.acceptance.folders import record_releases, write_folder

from sluicegate.contracts.problems import Problem
from sluicegate.errors import ContractFolderError
from sluicegate.opening import loading
from sluicegate.opening.blocking import open_blocking
from sluicegate.opening.checking import check_folder
from sluicegate.opening.documents import MAX_DOCUMENT_BYTES
from sluicegate.opening.examining.folder import examine_folder
from sluicegate.opening.folder import open_gate
from sluicegate.opening.loading import start_loading
from sluicegate.opening.steering import STATE_NAME, Steering, read_steering, rollback
from sluicegate.stores.memory import MemoryStore
from sluicegate.values.callers import Caller
from sluicegate.values.looks import Look

NOW = datetime(2027, 6, 30, 23, 59, tzinfo=UTC)
HTTP = '{method: POST, url: "https://api.example/x", timeout_s: 5, ca_file: not-there.pem}'
SVC = Caller(subject="svc")
WAIVER = 'evidence: {none: "the host asks a person", until: 2027-06-30}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "contracts")


def roll_back(folder: Path, version: str = "1.0.0") -> Path:
    rollback(folder, MemoryStore(), "job_status", version, who="op", reason="regression", now=NOW)
    return folder / "job_status" / "released" / f"{version}.yaml"


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def only_problem(folder: Path) -> Problem:
    (problem,) = check_folder(folder).problems
    return problem


@pytest.mark.requirement("LIF-2", "CLI")
def test_a_version_that_was_rolled_back_to_is_not_judged_by_later_fixtures(
    folder: Path,
) -> None:
    rejected = folder / "job_status" / "fixtures" / "result" / "rejected" / "good.json"
    rejected.parent.mkdir(parents=True)
    rejected.write_text('{"run_id": "run_1", "state": "failed", "note": "n"}')
    arguments = folder / "job_status" / "fixtures" / "arguments" / "accepted" / "one.json"
    arguments.parent.mkdir(parents=True)
    arguments.write_text('{"run_id": "run_1", "state": "failed"}')
    assert [f.ok for f in check_folder(folder).fixtures] == [True, False]
    roll_back(folder)
    with open_blocking(folder) as gate:
        given = gate.call("job_status", '{"run_id": "run_1", "state": "failed"}', caller=SVC)
        assert given.outcome == "success"
    report = check_folder(folder)
    assert report.fixtures == ()
    assert report.contracts is not None
    assert report.contracts.contracts["job_status"].version == "1.0.0"


@pytest.mark.requirement("CON-3", "CLI")
@pytest.mark.parametrize("look", ["open", "check", "doctor"])
def test_one_set_goes_by_one_reading_of_what_was_steered(
    folder: Path, monkeypatch: pytest.MonkeyPatch, look: str
) -> None:
    """Between two readings an operator may act: then one set would mix what was and what is."""
    roll_back(folder)
    readings: list[Steering] = []

    def read_and_act(root: Path) -> Steering:
        readings.append(read_steering(root))
        (root / STATE_NAME).write_text('{"disabled": {"job_status": "later"}, "versions": {}}')
        return readings[-1]

    monkeypatch.setattr(loading, "read_steering", read_and_act)
    if look == "open":
        with open_blocking(folder) as gate:
            given = gate.call("job_status", '{"run_id": "run_1", "state": "failed"}', caller=SVC)
            assert given.outcome == "success"
    elif look == "check":
        report = check_folder(folder)
        assert report.steering == readings[0]
        assert not [each for each in report.services if "switched off" in each]
        assert [each for each in report.services if "is served at 1.0.0" in each]
    else:
        looks = examine_folder(str(folder), NOW)
        assert Look(name="rolled back", well=True, says="job_status is served at 1.0.0") in looks
        assert "disabled" not in {each.name for each in looks}
    assert readings == [Steering(versions={"job_status": "1.0.0"})]


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize("fault", ["link", "large", "absent", "folder"])
def test_a_released_version_is_read_as_strictly_as_a_contract(folder: Path, fault: str) -> None:
    released = roll_back(folder)
    if fault == "large":
        released.write_text("#" * (MAX_DOCUMENT_BYTES + 1))
    else:
        outside = folder.parent / "outside.yaml"
        released.rename(outside)
        if fault == "link":
            released.symlink_to(outside)
        elif fault == "folder":
            released.mkdir()
    said = {
        "link": "is a link that leaves the folder.",
        "large": f"has more than {MAX_DOCUMENT_BYTES} bytes.",
        "absent": "does not exist.",
        "folder": "is not a plain file.",
    }
    problem, *more = check_folder(folder).problems
    assert {each.document for each in (problem, *more)} == {"job_status/released/1.0.0.yaml"}
    assert problem.message == f"The file {said[fault]}"
    assert "An operator rolled back to it" in problem.mend


@pytest.mark.requirement("CON-1", "CLI")
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("effect: read", "efect: read", "job_status/released/1.0.0.yaml:6:1"),
        ("tool: job_status", "tool: another", "`tool` is another here, and must be job_status."),
        ("version: 1.0.0", "version: 0.9.0", "`version` is 0.9.0 here, and must be 1.0.0."),
        ("/upstream.py", '/upstream.py", cwd: "', "job_status/released/1.0.0.yaml:"),
        ("  command: {argv", "  http: " + HTTP + " #", "not-there.pem cannot be used"),
    ],
    ids=["a key", "another tool", "another version", "no YAML", "no CA file"],
)
def test_what_is_wrong_with_a_released_version_is_told_of_its_own_file(
    folder: Path, old: str, new: str, said: str
) -> None:
    released = folder / "job_status" / "released" / "1.0.0.yaml"
    change(released, old, new)
    record_releases(folder / "job_status")
    report = check_folder(folder)
    assert report.contracts is not None
    (note,) = [each for each in report.notes if "no rollback to it is possible" in each]
    assert "job_status/released/1.0.0.yaml" in note
    before = rehearse(folder)
    assert {each.document for each in before} == {"job_status/released/1.0.0.yaml"}
    assert said in "".join(map(str, before))
    roll_back(folder)
    broken = check_folder(folder)
    assert broken.contracts is None
    assert {each.document for each in broken.problems} == {"job_status/released/1.0.0.yaml"}


def rehearse(folder: Path) -> tuple[Problem, ...]:
    return start_loading(folder, NOW, python=True).rehearse_rollback("job_status", "1.0.0")


@pytest.mark.requirement("CLI")
def test_a_contract_that_is_no_yaml_can_be_rolled_back(folder: Path) -> None:
    (folder / "job_status" / "contract.yaml").write_text("tool: [\n")
    assert rehearse(folder) == ()
    roll_back(folder)
    with open_blocking(folder) as gate:
        given = gate.call("job_status", '{"run_id": "run_1", "state": "failed"}', caller=SVC)
        assert given.outcome == "success"


def test_what_is_broken_elsewhere_already_does_not_forbid_a_rollback(folder: Path) -> None:
    change(folder / "restart" / "contract.yaml", "effect: write", "effect: writ")
    assert rehearse(folder) == ()


@pytest.mark.requirement("CON-1")
def test_a_version_that_climbs_out_of_the_folder_is_not_read(folder: Path) -> None:
    (folder.parent / "outside.yaml").write_text("tool: x\n")
    roll_back(folder, "../../../outside")
    assert "leaves the folder" in only_problem(folder).message


@pytest.mark.requirement("CON-3", "ADP-2")
async def test_a_ca_file_that_is_not_there_is_a_problem_of_its_contract(folder: Path) -> None:
    contract = folder / "restart" / "contract.yaml"
    async with open_gate(folder) as gate:
        text = re.sub(r"  command: .*", f"  http: {HTTP}", contract.read_text())
        contract.write_text(text)
        (problem,) = await gate.reload()
        assert problem.document == "restart/contract.yaml"
        assert "not-there.pem" in problem.message
    assert only_problem(folder) == problem
    with pytest.raises(
        ContractFolderError, match=r"^restart/contract\.yaml:17:3: CONTRACT_INVALID"
    ):
        open_gate(folder)


BETWEEN_TWO = {
    "no such tool": ("tool: job_state", "/evidence/0/tool", 7),
    "no such field": (
        "tool: job_status, where: {/nothing: failed}",
        "/evidence/0/where/~1nothing",
        7,
    ),
}


@pytest.mark.requirement("CON-1", "EVI-1")
@pytest.mark.parametrize(("proof", "pointer", "line"), BETWEEN_TWO.values(), ids=BETWEEN_TWO)
def test_what_two_contracts_make_wrong_together_is_told_at_its_line(
    folder: Path, proof: str, pointer: str, line: int
) -> None:
    rule = f"evidence: [{{{proof}, bind: {{/run_id: /run_id}}, max_age_s: 60}}]"
    change(folder / "restart" / "contract.yaml", "effect: write\n", f"effect: write\n{rule}\n")
    problems = {each.pointer: each for each in check_folder(folder).problems}
    assert (problems[pointer].document, problems[pointer].line) == ("restart/contract.yaml", line)


@pytest.mark.requirement("EVI-3")
def test_a_waiver_holds_to_the_end_of_its_day_and_then_does_not_load(folder: Path) -> None:
    contract = folder / "restart" / "contract.yaml"
    change(contract, "effect: write\n", f"effect: destructive\n{WAIVER}")
    assert check_folder(folder, now=NOW).problems == ()
    later = NOW + timedelta(minutes=1)
    (problem,) = check_folder(folder, now=later).problems
    assert (problem.document, problem.pointer) == ("restart/contract.yaml", "/evidence/until")
    with pytest.raises(ContractFolderError, match="`until` is 2027-06-30"):
        open_gate(folder, clock=At(later))
    change(contract, "2027-06-30", "2027-02-31")
    assert (
        "2027-02-31"
        in check_folder(folder, now=datetime(2027, 1, 1, tzinfo=UTC)).problems[0].message
    )


class At:
    """A clock that stands still."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        raise AssertionError(seconds)


@pytest.mark.requirement("EVI-3")
@pytest.mark.parametrize("expired", [False, True], ids=["holds", "expired"])
def test_doctor_lists_each_waiver_and_fails_an_expired_one(folder: Path, expired: bool) -> None:
    contract = folder / "restart" / "contract.yaml"
    change(contract, "effect: write\n", f"effect: destructive\n{WAIVER}")
    looks = examine_folder(str(folder), NOW + timedelta(days=int(expired)))
    passed = ", which has passed" if expired else ""
    assert (
        Look(
            name="waiver",
            well=not expired,
            says=f"restart runs without evidence until 2027-06-30{passed}: the host asks a person",
        )
        in looks
    )
    assert [look.well for look in looks if look.name == "contracts"] == [not expired]


BOUNDED = {
    "type": "object",
    "properties": {"a": {"type": "string", "maxLength": 4}},
    "required": ["a"],
    "additionalProperties": False,
}


def echo(a: str) -> object:
    """Say it again."""
    return {"a": a}


@pytest.mark.requirement("CON-7")
async def test_a_contract_beside_its_function_is_held_to_the_limits_of_the_folder(
    tmp_path: Path,
) -> None:
    (tmp_path / "sluicegate.yaml").write_text(
        'audit: {store: "memory:"}\nlimits: {max_bytes: 1000, max_depth: 9}\n'
    )
    parts = {"owner": "x", "arguments": BOUNDED, "result": BOUNDED, "agent": ["/a"]}
    async with open_gate(tmp_path) as gate:
        with pytest.raises(ContractFolderError, match="max_bytes"):
            gate.tool(**parts, limits={"max_bytes": 1001})(echo)
        gate.tool(**parts)(echo)
        limits = gate.contracts.contracts["echo"].limits
        assert (limits.max_bytes, limits.max_depth) == (1000, 9)


@pytest.mark.requirement("CON-2", "CON-7")
def test_a_contract_beside_its_function_is_tried_in_a_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sluicegate.yaml").write_text('audit: {store: "memory:"}\n')
    monkeypatch.setattr("sluicegate.opening.trial._CHILD", tmp_path / "no_such_child.py")
    with (
        open_blocking(tmp_path) as gate,
        pytest.raises(ContractFolderError, match="SCHEMA_TOO_COMPLEX"),
    ):
        gate.tool(owner="x", arguments=BOUNDED, result=BOUNDED, agent=["/a"])(echo)


@pytest.mark.requirement("EVI-3", "CON-7")
async def test_a_waiver_beside_a_function_expires_as_any_other(tmp_path: Path) -> None:
    (tmp_path / "sluicegate.yaml").write_text('audit: {store: "memory:"}\n')
    evidence = {"none": "the host asks a person", "until": "2027-06-29"}
    async with open_gate(tmp_path, clock=At(NOW)) as gate:
        author = gate.tool(
            owner="x",
            effect="destructive",
            evidence=evidence,
            arguments=BOUNDED,
            result=BOUNDED,
            agent=["/a"],
        )
        with pytest.raises(ContractFolderError, match="`until` is 2027-06-29"):
            author(echo)
