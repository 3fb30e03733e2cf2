"""Fixtures prove what they say: a sidecar that says too little, or nonsense, is not well."""

from __future__ import annotations

from pathlib import Path

import pytest

from sluicegate.cli.init_files import contract_files, settings_files
from sluicegate.opening.fixtures import FixtureResult
from sluicegate.opening.folder import check_folder

REFUSED = "item/fixtures/result/rejected/stale"
AT_NOON = "now: 2026-01-01T13:00:00Z\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {f"item/{path}": text for path, text in contract_files("item").items()}
    for path, text in {**settings_files("item"), **files}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def check_one(folder: Path, sidecar: str, *, answer: str | None = None) -> FixtureResult:
    """Check the folder with another sidecar, or answer, for the one stale fixture."""
    (folder / f"{REFUSED}.expect.yaml").write_text(sidecar)
    if answer is not None:
        (folder / f"{REFUSED}.json").write_text(answer)
    (found,) = [f for f in check_folder(folder).fixtures if f.path == f"{REFUSED}.json"]
    return found


@pytest.mark.requirement("LIF-2")
@pytest.mark.parametrize(
    ("sidecar", "note"),
    [
        pytest.param(AT_NOON, "", id="a time that makes it stale"),
        pytest.param(
            "stage: vouch\n",
            "was rejected with vouch/FROM_FUTURE: the sidecar must name `now`",
            id="no time",
        ),
        pytest.param(
            "code: STALE\n", "code is FROM_FUTURE, and must be STALE", id="no time, another code"
        ),
    ],
)
def test_a_refusal_for_its_time_proves_nothing_without_a_time(
    folder: Path, sidecar: str, note: str
) -> None:
    found = check_one(folder, sidecar)
    assert (found.ok, found.note) == (not note, note)


def test_a_refusal_before_the_time_is_looked_at_needs_none(folder: Path) -> None:
    found = check_one(folder, "stage: parse\n", answer="{")
    assert (found.ok, found.note) == (True, "")


@pytest.mark.requirement("LIF-2")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('status: "404"', "`status` must be an integer"),
        ("status: true", "`status` must be an integer"),
        ("exit_code: 1.5", "`exit_code` must be an integer"),
        ("content_type: 1", "`content_type` must be a text"),
        ("headers: [a]", "`headers` must be a mapping of names to texts"),
        ("headers: {a: 1}", "`headers` must be a mapping of names to texts"),
        ("caller: 7", "`caller` must be a subject, or {subject: TEXT, tenant: TEXT}"),
        ("caller: {name: a}", "`caller` must be a subject, or {subject: TEXT, tenant: TEXT}"),
        ("caller: {tenant: 1}", "`caller` must be a subject, or {subject: TEXT, tenant: TEXT}"),
        ("arguments: a", "`arguments` must be an object"),
        ("request_id: 1", "`request_id` must be a text"),
        ("stage: 1", "`stage` must be a text"),
        ("code: [a]", "`code` must be a text"),
        ("pointer: 1", "`pointer` must be a text"),
        ("verdict: maybe", "`verdict` must be accepted or rejected"),
        ("now: 1", "`now` must be an RFC 3339 time with an offset"),
    ],
    ids=lambda text: text if ":" in text else "",
)
def test_a_wrong_type_in_a_sidecar_is_named_and_fails_the_fixture(
    folder: Path, line: str, said: str
) -> None:
    sidecar = line + "\n" if line.startswith("now") else AT_NOON + line + "\n"
    found = check_one(folder, sidecar)
    assert (found.ok, found.note) == (False, f"stale.expect.yaml: {said}")


def test_what_a_sidecar_says_in_the_right_types_is_used(folder: Path) -> None:
    sidecar = AT_NOON + (
        "status: 200\ncontent_type: application/json\nheaders: {etag: a}\n"
        "caller: {subject: s, tenant: t}\narguments: {item_id: item-0001}\n"
        "request_id: req.mine\nstage: vouch\ncode: STALE\nverdict: rejected\n"
    )
    found = check_one(folder, sidecar)
    assert (found.ok, found.note, found.verdict.code) == (True, "", "STALE")
