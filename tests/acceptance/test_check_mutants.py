"""``check`` tries mutants of the accepted fixtures, so many that it stays quick, and says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.acceptance.commands import Here
from tests.acceptance.folders import forget_releases, write_folder

import sluicegate.opening.probing as module

pytestmark = pytest.mark.requirement("LIF-2", "CLI")

HOME = Path("contracts/job_status")
CONTRACT = HOME / "contract.yaml"
NAME = "result.one.flood-1.note"


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work beside a folder whose tool has an accepted fixture a side and was never released."""
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path / "contracts")
    forget_releases(HOME)
    good = '{"run_id": "run_1", "state": "failed", "note": "n"}'
    for side, text in (("arguments", '{"run_id": "run_1", "state": "failed"}'), ("result", good)):
        fixture = HOME / "fixtures" / side / "accepted" / "one.json"
        fixture.parent.mkdir(parents=True)
        fixture.write_text(text)


def open_a_hole() -> None:
    text = CONTRACT.read_text()
    assert "maxLength: 64" in text
    CONTRACT.write_text(text.replace("note: {type: string, maxLength: 64}", "note: {type: string}"))


def test_a_wrong_document_that_nothing_refuses_fails_the_check(sluicegate: Here) -> None:
    assert sluicegate("check").code == 0
    open_a_hole()
    done = sluicegate("check")
    assert done.code == 1
    assert f"{NAME}: conform (maxLength) must refuse it, and nothing does" in done.out
    assert ", 1 hole, " in done.out
    told = json.loads(sluicegate("check", "--format", "json-v1").out)
    (hole,) = told["holes"]
    assert (hole["rule"], hole["pointer"], hole["tool"]) == ("MUTANT", "/note", "job_status")
    assert hole["file"] == "contracts/job_status/fixtures/result/accepted/one.json"
    tested = json.loads(sluicegate("test", "--format", "json-v1").out)
    assert [each["name"] for each in tested["survivors"]] == [NAME]
    sides = tested["contracts"]["job_status"]["sides"].values()
    assert told["mutants"]["tried"] == sum(side["mutants"] for side in sides)
    assert told["mutants"]["cut"] == []


@pytest.mark.parametrize("form", ["github", "sarif", "junit"])
def test_a_hole_is_told_to_every_reader(sluicegate: Here, form: str) -> None:
    open_a_hole()
    done = sluicegate("check", "--format", form)
    assert (done.code, NAME in done.out) == (1, True)


def test_only_so_many_mutants_are_tried_and_it_is_said(
    sluicegate: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_MUTANTS", 20)
    done = sluicegate("check")
    assert (done.code, "mutants and not all, " in done.out) == (0, True)
    told = json.loads(sluicegate("check", "--format", "json-v1").out)["mutants"]
    assert told["cut"] == ["job_status"]
    assert 0 < told["tried"] <= 70  # ten a level of two examples, and the signature has none


def test_only_so_many_fixtures_of_a_side_are_changed_and_it_is_said(
    sluicegate: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_EXAMPLES", 1)
    text = (HOME / "fixtures/arguments/accepted/one.json").read_text()
    whole = json.loads(sluicegate("check", "--format", "json-v1").out)["mutants"]
    (HOME / "fixtures/arguments/accepted/two.json").write_text(text)
    assert "mutants and not all, " in sluicegate("check").out
    cut = json.loads(sluicegate("check", "--format", "json-v1").out)["mutants"]
    assert (whole["cut"], cut["tried"], cut["cut"]) == ([], whole["tried"], ["job_status"])


def test_equivalents_that_cannot_be_read_fail_the_check(sluicegate: Here) -> None:
    (HOME / "fixtures" / "equivalents.yaml").write_text("- {mutant: a}\n")
    done = sluicegate("check")
    assert (done.code, "contracts/job_status/fixtures/equivalents.yaml" in done.out) == (1, True)
