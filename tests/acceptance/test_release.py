"""``sluicegate release``: what is frozen, what is refused, and that frozen files stay frozen."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from tests.acceptance.commands import Here
from tests.acceptance.folders import GOOD, write_unreleased

HOME = Path("contracts/job_status")
CONTRACT = HOME / "contract.yaml"
FROZEN = HOME / "released"


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work beside a folder whose tool has fixtures and was never released."""
    monkeypatch.chdir(tmp_path)
    write_unreleased(tmp_path / "contracts")


def change(old: str, new: str, path: Path = CONTRACT) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.requirement("LIF-3", "CLI")
def test_a_release_freezes_the_contract_and_records_its_digest(sluicegate: Here) -> None:
    done = sluicegate("release", "job_status", "--format", "json-v1")
    told = json.loads(done.out)
    assert (done.code, told["version"], told["written"]) == (0, "1.1.0", True)
    names = [
        *("1.1.0.yaml", "1.1.0/fixtures/arguments/accepted/one.json"),
        "1.1.0/fixtures/result/accepted/one.json",
    ]
    recorded = [
        f"{hashlib.sha256((FROZEN / name).read_bytes()).hexdigest()}  {name}" for name in names
    ]
    assert (FROZEN / "DIGESTS").read_text().splitlines() == recorded
    assert (FROZEN / names[-1]).read_text() == GOOD
    assert sluicegate("rollback", "job_status", "1.1.0", "--reason", "test").code == 0


@pytest.mark.requirement("LIF-3")
def test_the_same_release_again_changes_nothing(sluicegate: Here) -> None:
    sluicegate("release", "job_status")
    before = {path: path.read_bytes() for path in FROZEN.rglob("*") if path.is_file()}
    again = sluicegate("release", "job_status")
    assert (again.code, "released already" in again.out) == (0, True)
    assert {path: path.read_bytes() for path in FROZEN.rglob("*") if path.is_file()} == before


@pytest.mark.requirement("LIF-3")
@pytest.mark.parametrize("fault", ["edited", "unrecorded", "damaged digests"])
def test_a_frozen_file_that_is_not_what_was_released_is_an_error_that_names_it(
    sluicegate: Here, fault: str
) -> None:
    sluicegate("release", "job_status")
    named = "contracts/job_status/released/1.1.0.yaml"
    if fault == "edited":
        change('"owner": "ci-platform"', '"owner": "somebody"', FROZEN / "1.1.0.yaml")
    elif fault == "unrecorded":
        named = "contracts/job_status/released/1.0.9.yaml"
        (FROZEN / "1.0.9.yaml").write_bytes((FROZEN / "1.1.0.yaml").read_bytes())
    else:
        named = "contracts/job_status/released/DIGESTS"
        (FROZEN / "DIGESTS").write_text("no digest\n")
    version = named.rpartition("/")[2].removesuffix(".yaml")
    version = "1.1.0" if version == "DIGESTS" else version
    for command in (
        ("check",),
        ("release", "job_status"),
        ("rollback", "job_status", version, "--reason", "night"),
    ):
        done = sluicegate(*command)
        assert done.code == 4
        assert named in done.out + done.err


@pytest.mark.requirement("LIF-3")
def test_an_edited_old_release_does_not_keep_the_current_version_from_serving(
    sluicegate: Here,
) -> None:
    sluicegate("release", "job_status")
    change('"owner": "ci-platform"', '"owner": "somebody"', FROZEN / "1.1.0.yaml")
    arguments = '{"run_id": "run_1", "state": "failed"}'
    assert sluicegate("call", "job_status", "--arguments", arguments, "--caller", "svc").code == 0


REFUSALS = [
    pytest.param(
        [("description: State of one CI run.", "description: Another text.")],
        "stands there with other content",
        id="same version, other content",
    ),
    pytest.param([("version: 1.1.0", "version: 1.0.5")], "does not follow 1.1.0", id="lower"),
    pytest.param(
        [
            ("version: 1.1.0", "version: 1.1.1"),
            ("enum: [failed, succeeded, other]", "enum: [failed, succeeded, other, late]"),
        ],
        "at least 2.0.0",
        id="a result that widens is a major",
    ),
    pytest.param([("version: 1.1.0", "version: 2.0.0")], "--rollout", id="a major without text"),
]


@pytest.mark.requirement("LIF-3")
@pytest.mark.parametrize(("changes", "said"), REFUSALS)
def test_a_release_that_breaks_the_rules_is_refused_and_writes_nothing(
    sluicegate: Here, changes: list[tuple[str, str]], said: str
) -> None:
    assert sluicegate("release", "job_status").code == 0
    before = {path: path.read_bytes() for path in FROZEN.rglob("*") if path.is_file()}
    for old, new in changes:
        change(old, new)
    refused = sluicegate("release", "job_status")
    assert (refused.code, refused.out) == (1, "")
    assert said in refused.err
    assert {path: path.read_bytes() for path in FROZEN.rglob("*") if path.is_file()} == before


@pytest.mark.requirement("LIF-3", "CLI")
def test_a_contract_whose_line_cannot_be_built_is_not_released_and_named(
    sluicegate: Here,
) -> None:
    http = '{method: GET, url: "https://ci.example/", timeout_s: 5, ca_file: not-there.pem}'
    change("  command: {argv", f"  http: {http} #")
    done = sluicegate("release", "job_status")
    assert (done.code, (FROZEN / "1.1.0.yaml").exists()) == (4, False)
    assert f"{CONTRACT}: CONTRACT_INVALID: It cannot be served: " in done.err
    assert "not-there.pem" in done.err


@pytest.mark.requirement("LIF-3")
def test_a_fixture_that_fails_keeps_the_version_from_being_released(sluicegate: Here) -> None:
    (HOME / "fixtures" / "result" / "accepted" / "one.json").write_text("{}")
    refused = sluicegate("release", "job_status")
    assert refused.code == 1
    assert "fixtures/result/accepted/one.json" in refused.err
    assert not (FROZEN / "1.1.0.yaml").exists()


@pytest.mark.requirement("LIF-3")
@pytest.mark.parametrize("name", ["a\\b.json", "a\u2028b.json", "a\nb.json"], ids=ascii)
def test_a_fixture_whose_name_no_list_of_digests_can_hold_is_refused(
    sluicegate: Here, name: str
) -> None:
    (HOME / "fixtures" / "result" / "accepted" / name).write_text(GOOD)
    refused = sluicegate("release", "job_status")
    assert (refused.code, refused.out) == (1, "")
    assert "rename it" in refused.err
    assert list(FROZEN.iterdir()) == []


AT_ONCE = ("--rollout", "both at once", "--replayed", "no answer of this year has a note")
WITHOUT_NOTE = [
    ("version: 1.1.0", "version: 2.0.0"),
    ("      note: {type: string, maxLength: 64}\n", ""),
    ("required: [run_id, state, note]", "required: [run_id, state]"),
    ("  operator: [/note]\n", ""),
]


def release_without_note(sluicegate: Here) -> None:
    """Release 1.1.0 with the member note, and write 2.0.0 without it."""
    assert sluicegate("release", "job_status").code == 0
    (HOME / "fixtures" / "result" / "accepted" / "one.json").write_text(
        '{"run_id": "run_1", "state": "failed"}'
    )
    for old, new in WITHOUT_NOTE:
        change(old, new)


@pytest.mark.requirement("LIF-3")
def test_a_removal_is_released_with_its_tombstone_alone(sluicegate: Here) -> None:
    release_without_note(sluicegate)
    refused = sluicegate("release", "job_status", *AT_ONCE)
    assert (refused.code, refused.out) == (1, "")
    assert "write `removed: {result: {/note: 2.0.0}}` into the contract" in refused.err
    with CONTRACT.open("a") as file:
        file.write("removed: {result: {/note: 2.0.0}}\n")
    assert sluicegate("release", "job_status", *AT_ONCE).code == 0


@pytest.mark.requirement("LIF-3")
def test_a_name_with_a_tombstone_does_not_come_back(sluicegate: Here) -> None:
    release_without_note(sluicegate)
    with CONTRACT.open("a") as file:
        file.write("removed: {result: {/note: 2.0.0}}\n")
    assert sluicegate("release", "job_status", *AT_ONCE).code == 0
    change("version: 2.0.0", "version: 2.1.0")
    change("      state: {enum", "      note: {type: integer, maximum: 9}\n      state: {enum")
    checked = sluicegate("check")
    assert checked.code == 4
    assert "/note` was removed with 2.0.0, and the schema declares it again" in checked.out
    change("removed: {result: {/note: 2.0.0}}\n", "")
    refused = sluicegate("release", "job_status")
    assert refused.code == 1
    assert "at least 3.0.0" in refused.err
    assert "removed-name-reused" in refused.err


@pytest.mark.requirement("LIF-3")
def test_a_name_of_an_older_release_that_comes_back_is_a_major(sluicegate: Here) -> None:
    """The release between them was made before there were tombstones."""
    release_without_note(sluicegate)
    with CONTRACT.open("a") as file:
        file.write("removed: {result: {/note: 2.0.0}}\n")
    assert sluicegate("release", "job_status", *AT_ONCE).code == 0
    frozen = json.loads((FROZEN / "2.0.0.yaml").read_text())
    del frozen["removed"]
    raw = json.dumps(frozen).encode()
    before = hashlib.sha256((FROZEN / "2.0.0.yaml").read_bytes()).hexdigest()
    change(before, hashlib.sha256(raw).hexdigest(), FROZEN / "DIGESTS")
    (FROZEN / "2.0.0.yaml").write_bytes(raw)
    change("removed: {result: {/note: 2.0.0}}\n", "")
    change("version: 2.0.0", "version: 2.1.0")
    change("      state: {enum", "      note: {type: integer, maximum: 9}\n      state: {enum")
    refused = sluicegate("release", "job_status")
    assert refused.code == 1
    assert "removed-name-reused" in refused.err


ORDERS = [
    pytest.param("result: widens", "the result widens: first the agent", id="result widens"),
    pytest.param("result: narrows", "the result narrows: first the upstream", id="result narrows"),
    pytest.param("arguments: widen", "arguments widen: first the tool", id="arguments widen"),
    pytest.param("arguments: narrow", "arguments narrow: first the text", id="arguments narrow"),
]
_EDITS = {
    "result: widens": ("enum: [failed, succeeded, other]", "enum: [failed, succeeded, other, x]"),
    "result: narrows": ("enum: [failed, succeeded, other]", "enum: [failed, succeeded]"),
    "arguments: widen": ('pattern: "^[a-z]{1,9}$"', 'pattern: "^[a-z]{1,19}$"'),
    "arguments: narrow": ('pattern: "^[a-z]{1,9}$"', 'pattern: "^[a-z]{1,6}$"'),
}


@pytest.mark.requirement("LIF-3")
@pytest.mark.parametrize(("edit", "said"), ORDERS)
def test_a_release_says_what_is_deployed_first_and_keeps_the_rollout(
    sluicegate: Here, edit: str, said: str
) -> None:
    sluicegate("release", "job_status")
    change("version: 1.1.0", "version: 2.0.0")
    change(*_EDITS[edit])
    told = ("--rollout", "Agents first, tool on Monday.", "--replayed", "all of a week pass")
    done = sluicegate("release", "job_status", *told)
    assert done.code == 0, done.err
    assert said in done.out
    kept = FROZEN / "2.0.0.rollout.txt"
    assert kept.read_text() == "Agents first, tool on Monday.\n"
    assert kept.name in (FROZEN / "DIGESTS").read_text()


def narrow() -> None:
    """Release 1.1.0, and write 1.2.0 that refuses answers which 1.1.0 accepts."""
    change("version: 1.1.0", "version: 1.2.0")
    change(*_EDITS["result: narrows"])


def keep_former(text: str, sidecar: str = "") -> None:
    former = HOME / "fixtures" / "result" / "former" / "2026.1" / "one.json"
    former.parent.mkdir(parents=True)
    former.write_text(text)
    if sidecar:
        former.with_name("one.expect.yaml").write_text(sidecar)


@pytest.mark.requirement("LIF-3")
def test_a_result_that_narrows_is_not_released_before_a_replay_or_a_former_fixture(
    sluicegate: Here,
) -> None:
    assert sluicegate("release", "job_status").code == 0
    narrow()
    before = sorted(FROZEN.rglob("*"))
    for told in ((), ("--replayed", " ")):
        refused = sluicegate("release", "job_status", *told)
        assert (refused.code, refused.out) == (1, "")
        assert (
            "1.2.0 may refuse answers that 1.1.0 accepts"
            " (enum-narrowed /result/schema/properties/state)" in refused.err
        )
        assert "fixtures/result/former/VERSION/NAME.json" in refused.err
        assert "--replayed" in refused.err
    assert sorted(FROZEN.rglob("*")) == before


@pytest.mark.requirement("LIF-3")
def test_what_a_replay_showed_is_kept_beside_the_release(sluicegate: Here) -> None:
    assert sluicegate("release", "job_status").code == 0
    narrow()
    told = ("--replayed", "90 days, 41 213 answers, none would be refused")
    done = sluicegate("release", "job_status", *told, "--format", "json-v1")
    assert (done.code, json.loads(done.out)["replayed"]) == (0, told[1])
    kept = FROZEN / "1.2.0.replayed.txt"
    assert kept.read_text() == told[1] + "\n"
    assert kept.name in (FROZEN / "DIGESTS").read_text()
    assert sluicegate("check").code == 0
    kept.write_text("edited")
    checked = sluicegate("check")
    assert (checked.code, kept.name in checked.out) == (4, True)


@pytest.mark.requirement("LIF-3")
def test_a_former_answer_that_still_passes_covers_a_result_that_narrows(sluicegate: Here) -> None:
    assert sluicegate("release", "job_status").code == 0
    narrow()
    keep_former(GOOD)
    done = sluicegate("release", "job_status", "--format", "json-v1")
    assert (done.code, json.loads(done.out)["replayed"]) == (0, None)
    assert not (FROZEN / "1.2.0.replayed.txt").exists()


@pytest.mark.requirement("LIF-3")
@pytest.mark.parametrize(
    ("text", "sidecar", "said"),
    [
        (GOOD.replace("failed", "other"), "", "was rejected with conform/ENUM"),
        (GOOD.replace("failed", "other"), "verdict: rejected\n", "may refuse answers"),
    ],
    ids=["it fails", "it says that it is no longer supported"],
)
def test_a_former_answer_that_does_not_pass_covers_nothing(
    sluicegate: Here, text: str, sidecar: str, said: str
) -> None:
    assert sluicegate("release", "job_status").code == 0
    narrow()
    keep_former(text, sidecar)
    refused = sluicegate("release", "job_status")
    assert (refused.code, said in refused.err) == (1, True)
    assert not (FROZEN / "1.2.0.yaml").exists()


@pytest.mark.requirement("LIF-3")
def test_a_narrowing_that_was_waived_asks_for_no_replay(sluicegate: Here) -> None:
    assert sluicegate("release", "job_status").code == 0
    shutil.copytree("contracts", "before")
    narrow()
    told = json.loads(sluicegate("diff", "before", "contracts", "--format", "json-v1").out)
    waivers = "".join(
        f'- {{fingerprint: "{each["fingerprint"]}", reason: agreed, until: 2999-01-01}}\n'
        for each in told["changes"]
    )
    Path("contracts/diff-waivers.yaml").write_text(waivers)
    assert sluicegate("release", "job_status").code == 0


@pytest.mark.requirement("LIF-3", "RES-3")
def test_the_members_that_the_provider_sends_are_recorded_at_release(sluicegate: Here) -> None:
    change("result:\n", "upstream: {map: {run_id: /run, state: /st, note: /n}}\nresult:\n")
    wide = '{"run": "run_1", "st": "failed", "n": "n", "links": [{"self": 1}]}'
    (HOME / "fixtures" / "result" / "accepted" / "one.json").write_text(wide)
    assert sluicegate("release", "job_status").code == 0
    frozen = json.loads((FROZEN / "1.1.0.yaml").read_text())
    assert frozen["upstream"]["known"] == ["/links", "/links/*/self", "/n", "/run", "/st"]
    assert sluicegate("release", "job_status").code == 0


def test_a_file_that_no_release_wrote_is_no_release(sluicegate: Here) -> None:
    text = CONTRACT.read_text().replace("version: 1.1.0", "version: 1.0.0")
    (FROZEN / "1.0.0.yaml").write_text(text)
    for command in (("check",), ("release", "job_status")):
        done = sluicegate(*command)
        assert done.code == 4
        said = done.out + done.err
        assert "released/DIGESTS" in said
        assert "`sluicegate release` writes it beside 1.0.0.yaml" in said
