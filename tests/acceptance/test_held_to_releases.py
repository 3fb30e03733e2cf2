"""One set of rules: what ``check`` refuses is not released, what ``release`` refuses it tells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.commands import Here
from tests.acceptance.folders import GOOD, write_unreleased

import sluicegate.opening.freezing_releases as module

pytestmark = pytest.mark.requirement("LIF-3")

HOME = Path("contracts/job_status")
CONTRACT = HOME / "contract.yaml"
FROZEN = HOME / "released"
ANSWER = HOME / "fixtures" / "result" / "accepted" / "one.json"


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work beside a folder whose tool has fixtures and was never released."""
    monkeypatch.chdir(tmp_path)
    write_unreleased(tmp_path / "contracts")


def change(*pairs: tuple[str, str], path: Path = CONTRACT) -> None:
    text = path.read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)


def test_a_lower_ceiling_of_the_folder_keeps_no_version_from_following_its_release(
    sluicegate: Here,
) -> None:
    assert sluicegate("release", "job_status").code == 0
    settings = Path("contracts/sluicegate.yaml")
    settings.write_text(settings.read_text() + "limits: {max_call_bytes: 60000}\n")
    change(("version: 1.1.0", "version: 2.0.0"))
    assert sluicegate("check").code == 0
    done = sluicegate("release", "job_status", "--rollout", "Agents first.")
    assert done.code == 0
    assert "limit-lowered arguments /limits/max_call_bytes" in done.out


NOTE = "note: {type: string, maxLength: 64}"
GONE = (
    (f"      {NOTE}\n", ""),
    ("required: [run_id, state, note]", "required: [run_id, state]"),
    ("  operator: [/note]\n", ""),
)


def test_a_name_that_nothing_keeps_fails_check_as_it_fails_release(sluicegate: Here) -> None:
    assert sluicegate("release", "job_status").code == 0
    change(("version: 1.1.0", "version: 2.0.0"), *GONE)
    ANSWER.write_text('{"run_id": "run_1", "state": "failed"}')
    checked, refused = sluicegate("check"), sluicegate("release", "job_status", "--rollout", "x")
    assert (checked.code, refused.code) == (1, 1)
    for told in (checked.out, refused.err):
        assert "/note went from the result, and nothing keeps its name" in told


def test_an_error_of_lint_is_not_released(sluicegate: Here) -> None:
    change((NOTE, 'note: {type: string, maxLength: 64, pattern: "n"}'))
    checked, refused = sluicegate("check"), sluicegate("release", "job_status")
    assert (checked.code, refused.code) == (1, 1)
    assert "X01" in checked.out
    assert "lint X01: " in refused.err
    assert not list(FROZEN.rglob("*"))


def test_a_mutant_that_is_not_refused_is_not_released(sluicegate: Here) -> None:
    equivalents = HOME / "fixtures" / "equivalents.yaml"
    equivalents.write_text("- {mutant: result.one.nothing, reason: it means the same}\n")
    checked, refused = sluicegate("check"), sluicegate("release", "job_status")
    assert (checked.code, refused.code) == (1, 1)
    assert not list(FROZEN.rglob("*"))


def test_what_was_judged_is_frozen_whatever_became_of_the_file(
    sluicegate: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = module.judge_succession
    sidecar = ANSWER.with_name("one.expect.yaml")
    sidecar.write_text("caller: one\n")

    def meddle(*arguments: Any) -> Any:
        ANSWER.write_text('{"nobody": "judged this"}')
        sidecar.write_text("caller: other\n")
        return judge(*arguments)

    monkeypatch.setattr(module, "judge_succession", meddle)
    assert sluicegate("release", "job_status").code == 0
    kept = FROZEN / "1.1.0" / ANSWER.relative_to(HOME)
    assert kept.read_text() == GOOD
    assert kept.with_name("one.expect.yaml").read_text() == "caller: one\n"
