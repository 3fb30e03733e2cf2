"""What a release froze stays: nothing is replaced, nothing is hidden, what began is completed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.acceptance.commands import Here
from tests.acceptance.folders import forget_releases, record_releases, write_folder

import sluicegate.opening.freezing_releases as module
from sluicegate.stores.whole_files import replace_file

pytestmark = pytest.mark.requirement("LIF-3")

HOME = Path("contracts/job_status")
CONTRACT = HOME / "contract.yaml"
FROZEN = HOME / "released"
STATES = "enum: [failed, succeeded, other]"
WIDER = "enum: [failed, succeeded, other, late]"


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work beside a folder whose tool has fixtures and was never released."""
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path / "contracts")
    forget_releases(HOME)
    good = '{"run_id": "run_1", "state": "failed", "note": "n"}'
    for side, text in (("arguments", '{"run_id": "run_1", "state": "failed"}'), ("result", good)):
        fixture = HOME / "fixtures" / side / "accepted" / "one.json"
        fixture.parent.mkdir(parents=True)
        fixture.write_text(text)


def change(old: str, new: str, path: Path = CONTRACT) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def frozen() -> dict[str, bytes]:
    return {
        path.relative_to(FROZEN).as_posix(): path.read_bytes()
        for path in FROZEN.rglob("*")
        if path.is_file()
    }


def lose(name: str) -> Callable[[], None]:
    return lambda: (FROZEN / name).unlink()


def edit(name: str) -> Callable[[], None]:
    return lambda: (FROZEN / name).write_text("other\n")


FAULTS = [
    pytest.param(lose("2.0.0.yaml"), "2.0.0.yaml", "It is gone", id="document gone"),
    pytest.param(lose("2.0.0.rollout.txt"), "2.0.0.rollout.txt", "It is gone", id="rollout gone"),
    pytest.param(
        edit("2.0.0.rollout.txt"), "2.0.0.rollout.txt", "It was changed", id="rollout edited"
    ),
    pytest.param(
        lose("1.1.0/fixtures/result/accepted/one.json"),
        "1.1.0/fixtures/result/accepted/one.json",
        "It is gone",
        id="fixture gone",
    ),
    pytest.param(
        edit("1.1.0/fixtures/result/accepted/one.json"),
        "1.1.0/fixtures/result/accepted/one.json",
        "It was changed",
        id="fixture edited",
    ),
    pytest.param(lose("DIGESTS"), "DIGESTS", "It is gone", id="digests gone"),
    pytest.param(edit("notes.yaml"), "notes.yaml", "`notes` is no version", id="a stray document"),
]


@pytest.mark.parametrize(("spoil", "named", "said"), FAULTS)
def test_a_frozen_file_that_is_gone_or_edited_fails_check_and_release(
    sluicegate: Here, spoil: Callable[[], None], named: str, said: str
) -> None:
    assert sluicegate("release", "job_status").code == 0
    change("version: 1.1.0", "version: 2.0.0")
    change(STATES, WIDER)
    assert sluicegate("release", "job_status", "--rollout", "Agents first.").code == 0
    spoil()
    before = frozen()
    change("description: State of one CI run.", "description: Another text.")
    for command in (("check",), ("release", "job_status")):
        done = sluicegate(*command)
        told = done.out + done.err
        assert done.code == 4
        assert f"contracts/job_status/released/{named}" in told
        assert said.replace("`", "") in told.replace("`", "")
    assert frozen() == before


def test_a_stray_document_before_the_first_release_is_told_under_its_own_name(
    sluicegate: Here,
) -> None:
    (FROZEN / "notes.yaml").write_text("a: b\n")
    refused = sluicegate("release", "job_status")
    assert refused.code == 4
    assert "contracts/job_status/released/notes.yaml" in refused.err
    assert "contract.yaml" not in refused.err


def test_a_release_that_does_not_load_is_told_under_its_own_name(sluicegate: Here) -> None:
    (FROZEN / "1.0.0.yaml").write_text(CONTRACT.read_text().replace("owner:", "owned:"))
    record_releases(HOME)
    refused = sluicegate("release", "job_status")
    assert refused.code == 4
    assert "contracts/job_status/released/1.0.0.yaml:" in refused.err
    assert "contracts/job_status/contract.yaml" not in refused.err


def end_at(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Let a release end before it writes its file number ``count``."""
    written = iter(range(count))

    def write(path: Path, content: bytes) -> None:
        if next(written, None) is None:
            raise KeyboardInterrupt
        replace_file(path, content)

    monkeypatch.setattr(module, "replace_file", write)


@pytest.mark.parametrize("count", range(5))
def test_a_release_that_did_not_end_is_completed_by_the_same_release(
    sluicegate: Here, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """Two fixtures, the rollout, the digests, the document: five files."""
    assert sluicegate("release", "job_status").code == 0
    change("version: 1.1.0", "version: 2.0.0")
    change(STATES, WIDER)
    end_at(monkeypatch, count)
    ended = sluicegate("release", "job_status", "--rollout", "Agents first.")
    assert (ended.code != 0, ended.out) == (True, "")
    monkeypatch.setattr(module, "replace_file", replace_file)
    assert not (FROZEN / "2.0.0.yaml").exists()
    checked = sluicegate("check")
    if count < 4:
        assert "released/2.0.0" not in checked.out
        again = sluicegate("release", "job_status", "--rollout", "Agents first.")
    else:
        assert (checked.code, checked.out.count("CONTRACT_INVALID\n  ")) == (4, 1)
        assert "sluicegate release job_status" in checked.out
        again = sluicegate("release", "job_status")
    assert again.code == 0, again.err
    assert sluicegate("check").code == 0
    assert set(frozen()) == {
        "DIGESTS",
        *(f"{version}.yaml" for version in ("1.1.0", "2.0.0")),
        "2.0.0.rollout.txt",
        *(
            f"{version}/fixtures/{side}/accepted/one.json"
            for version in ("1.1.0", "2.0.0")
            for side in ("arguments", "result")
        ),
    }
    assert sluicegate("rollback", "job_status", "2.0.0", "--reason", "test").code == 0


def test_a_release_that_did_not_end_is_not_completed_with_another_contract_or_rollout(
    sluicegate: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sluicegate("release", "job_status").code == 0
    change("version: 1.1.0", "version: 2.0.0")
    end_at(monkeypatch, 4)
    ended = sluicegate("release", "job_status", "--rollout", "Agents first.")
    assert (ended.code != 0, ended.out) == (True, "")
    monkeypatch.setattr(module, "replace_file", replace_file)
    before = frozen()
    other = sluicegate("release", "job_status", "--rollout", "Tool first.")
    assert (other.code, "began with another --rollout" in other.err) == (1, True)
    change(STATES, WIDER)
    assert sluicegate("release", "job_status").code == 4
    assert frozen() == before


def test_what_another_release_left_where_this_one_writes_is_refused_and_a_half_file_goes(
    sluicegate: Here,
) -> None:
    fixtures = FROZEN / "1.1.0" / "fixtures" / "result" / "accepted"
    fixtures.mkdir(parents=True)
    (fixtures / ".one.json.123-0123456789abcdef.new").write_text("{")
    (fixtures / "two.json").write_text("{}")
    refused = sluicegate("release", "job_status")
    assert (refused.code, "two.json lies there" in refused.err) == (1, True)
    (fixtures / "two.json").unlink()
    assert sluicegate("release", "job_status").code == 0
    assert [path.name for path in fixtures.iterdir()] == ["one.json"]
    assert sluicegate("check").code == 0


def test_a_break_does_not_hide_behind_a_release_candidate(sluicegate: Here) -> None:
    assert sluicegate("release", "job_status").code == 0
    change("version: 1.1.0", "version: 1.1.1-rc.1")
    assert sluicegate("release", "job_status").code == 0
    change("version: 1.1.1-rc.1", "version: 1.1.1")
    change(STATES, WIDER)
    refused = sluicegate("release", "job_status", "--rollout", "x")
    assert (refused.code, refused.out) == (1, "")
    assert "does not follow 1.1.0: its changes ask for a major release, at least 2.0.0" in (
        refused.err
    )


def test_a_version_that_is_served_is_judged_against_too(sluicegate: Here) -> None:
    """1.2.0 was taken in by hand: it breaks 1.1.0, which callers still have."""
    assert sluicegate("release", "job_status").code == 0
    released = json.loads((FROZEN / "1.1.0.yaml").read_text())
    wider = json.dumps(released).replace('"failed", "succeeded"', '"late", "failed", "succeeded"')
    (FROZEN / "1.2.0.yaml").write_text(wider.replace('"version": "1.1.0"', '"version": "1.2.0"'))
    record_releases(HOME)
    change("version: 1.1.0", "version: 1.2.1")
    change(STATES, "enum: [late, failed, succeeded, other]")
    assert sluicegate("release", "job_status").code == 0
    change("version: 1.2.1", "version: 1.2.2")
    with Path("contracts/sluicegate.yaml").open("a") as file:
        file.write("serve: {job_status: [{version: 1.1.0, share: 1}]}\n")
    refused = sluicegate("release", "job_status")
    assert refused.code == 1
    assert "does not follow 1.1.0: its changes ask for a major release" in refused.err
    assert "does not follow 1.2" not in refused.err


def test_a_waiver_counts_for_diff_check_and_release_alike_and_is_frozen(sluicegate: Here) -> None:
    assert sluicegate("release", "job_status").code == 0
    shutil.copytree("contracts", "before")
    change("version: 1.1.0", "version: 1.1.1")
    change(STATES, WIDER)
    for command in (("diff", "before", "contracts"), ("check",), ("release", "job_status")):
        assert sluicegate(*command).code == 1
    told = json.loads(sluicegate("diff", "before", "contracts", "--format", "json-v1").out)
    (fingerprint,) = [each["fingerprint"] for each in told["changes"]]
    waiver = f'- {{fingerprint: "{fingerprint}", reason: "Agents\\nknow it.", until: 2999-01-31}}\n'
    Path("contracts/diff-waivers.yaml").write_text(waiver)
    for command in (("diff", "before", "contracts"), ("check",), ("release", "job_status")):
        done = sluicegate(*command)
        assert done.code == 0, done.out + done.err
    assert "waived: enum-widened result /result/schema/properties/state" in done.out
    kept = json.loads((FROZEN / "1.1.1.waived.json").read_text())
    assert [(each["kind"], each["reason"]) for each in kept] == [
        ("enum-widened", "Agents\nknow it.")
    ]
    assert "1.1.1.waived.json" in (FROZEN / "DIGESTS").read_text()
    assert sluicegate("check").code == 0


def test_waivers_that_cannot_be_read_are_told_by_check_and_release(sluicegate: Here) -> None:
    Path("contracts/diff-waivers.yaml").write_text("- {reason: x}\n")
    for command in (("check",), ("release", "job_status")):
        done = sluicegate(*command)
        assert done.code == 2
        assert "contracts/diff-waivers.yaml: waiver 1" in done.err


TOLD = "version 1.1.0 does not follow 1.1.0: its changes ask for a"
UNRAISED = [
    pytest.param([(STATES, WIDER)], f"{TOLD} major release, at least 2.0.0", id="same number"),
    pytest.param(
        [("description: State of one CI run.", "description: Another text.")],
        f"{TOLD} minor release, at least 1.2.0",
        id="same number, another text",
    ),
    pytest.param(
        [(STATES, WIDER), ("version: 1.1.0", "version: 1.2.0")],
        "version 1.2.0 does not follow 1.1.0: its changes ask for a major release, at least 2.0.0",
        id="raised too little",
    ),
    pytest.param(
        [("version: 1.1.0", "version: 1.0.9")], "version 1.0.9 does not follow 1.1.0", id="lowered"
    ),
]


@pytest.mark.requirement("CLI")
@pytest.mark.parametrize(("changes", "said"), UNRAISED)
def test_check_finds_a_version_that_is_not_raised_as_its_changes_ask(
    sluicegate: Here, changes: list[tuple[str, str]], said: str
) -> None:
    assert sluicegate("release", "job_status").code == 0
    assert sluicegate("check").code == 0
    for old, new in changes:
        change(old, new)
    done = sluicegate("check")
    assert done.code == 1
    assert said in done.out
    assert "contracts/job_status/contract.yaml:3:1: error VERSION version-raised\n" in done.out
    assert "1 version at fault" in done.out
    (found,) = json.loads(sluicegate("check", "--format", "json-v1").out)["versions"]
    assert (found["rule"], found["line"], found["tool"]) == ("VERSION", 3, "job_status")
    for form in ("github", "sarif", "junit"):
        told = sluicegate("check", "--format", form)
        assert (told.code, "does not follow" in told.out) == (1, True)


@pytest.mark.requirement("CLI")
def test_check_is_content_with_a_version_that_is_raised_enough(sluicegate: Here) -> None:
    assert sluicegate("release", "job_status").code == 0
    change(STATES, WIDER)
    change("version: 1.1.0", "version: 2.0.0")
    assert sluicegate("check").code == 0


@pytest.mark.requirement("CLI")
def test_check_leaves_a_version_alone_that_an_operator_rolled_back(sluicegate: Here) -> None:
    assert sluicegate("release", "job_status").code == 0
    assert sluicegate("rollback", "job_status", "1.1.0", "--reason", "night").code == 0
    change(STATES, WIDER)
    assert sluicegate("check").code == 0


@pytest.mark.requirement("CLI")
def test_check_finds_a_version_whose_release_does_not_load(sluicegate: Here) -> None:
    """Whoever may write the folder may write its digests as well."""
    (FROZEN / "1.0.0.yaml").write_text(CONTRACT.read_text().replace("effect: read", "effect: reed"))
    record_releases(HOME)
    done = sluicegate("check")
    assert done.code == 1
    assert "version 1.1.0 cannot be held to its releases" in done.out
    assert "job_status/released/1.0.0.yaml does not load: `effect` must be" in done.out
