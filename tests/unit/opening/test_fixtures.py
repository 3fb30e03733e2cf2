"""Fixtures prove what they say: a sidecar that says too little, or nonsense, is not well."""

from __future__ import annotations

from pathlib import Path

import pytest

from sluicegate.cli.init_files import contract_files, settings_files
from sluicegate.opening.blocking import open_blocking
from sluicegate.opening.checking import check_folder
from sluicegate.opening.fixtures import FixtureResult, TriedFixture, UnreadFixture

REFUSED = "item/fixtures/result/rejected/stale"
AT_NOON = "now: 2026-01-01T13:00:00Z\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {f"item/{path}": text for path, text in contract_files("item").items()}
    for path, text in {**settings_files("item"), **files}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def check_one(folder: Path, sidecar: str, *, answer: str | None = None) -> TriedFixture:
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
    assert found == UnreadFixture(
        path=f"{REFUSED}.json",
        tool="item",
        note=f"stale.expect.yaml: {said}",
        expected="rejected",
    )
    assert not found.ok


def test_what_a_sidecar_says_in_the_right_types_is_used(folder: Path) -> None:
    sidecar = AT_NOON + (
        "status: 200\ncontent_type: application/json\nheaders: {etag: a}\n"
        "caller: {subject: s, tenant: t}\narguments: {item_id: item-0001}\n"
        "request_id: req.mine\nstage: vouch\ncode: STALE\nverdict: rejected\n"
    )
    found = check_one(folder, sidecar)
    assert isinstance(found, FixtureResult)
    assert (found.ok, found.note, found.verdict.code) == (True, "", "STALE")


@pytest.mark.requirement("LIF-2", "CLI")
@pytest.mark.parametrize(
    ("path", "note"),
    [
        (
            "fixtures/result/reject/a.json",
            "is not read, for it is none of accepted, former, rejected. Did you mean `rejected`?",
        ),
        (
            "fixtures/results/accepted/a.json",
            "is not read, for it is none of arguments, result. Did you mean `result`?",
        ),
        ("fixture/result/accepted/a.json", "is not read under this name: call it fixtures"),
        ("Fixtures/result/accepted/a.json", "is not read under this name: call it fixtures"),
        (
            "fixtures/result/rejected/x.txt",
            "is not read: a fixture ends in .json or .bin, and its sidecar in .expect.yaml",
        ),
        (
            "fixtures/result/rejected/stale.expect.yml",
            "is not read under this name: call it stale.expect.yaml",
        ),
        (
            "fixtures/result/rejected/stael.expect.yaml",
            "stands beside no stael.json and no stael.bin; did you mean stale.expect.yaml?",
        ),
        (
            "fixtures/result/rejectde/a.json",
            "is not read, for it is none of accepted, former, rejected. Did you mean `rejected`?",
        ),
    ],
    ids=lambda text: text if "/" in text and " " not in text else "",
)
def test_what_looks_like_a_fixture_and_is_read_by_nothing_fails(
    folder: Path, path: str, note: str
) -> None:
    stray = folder / "item" / path
    stray.parent.mkdir(parents=True, exist_ok=True)
    stray.write_text("{}")
    failing = [each for each in check_folder(folder).fixtures if not each.ok]
    assert failing == [UnreadFixture(path=failing[0].path, tool="item", note=note)]
    assert f"item/{path}".startswith(failing[0].path)
    with open_blocking(folder) as gate:
        assert gate.tool_definitions() == []


def test_a_linked_folder_of_fixtures_is_told_of_and_not_followed(folder: Path) -> None:
    kept = folder / "item" / "fixtures" / "result" / "rejected"
    (kept / "more").symlink_to(kept.parent / "accepted")
    failing = [each for each in check_folder(folder).fixtures if not each.ok]
    assert [(each.path, each.note) for each in failing] == [
        (
            "item/fixtures/result/rejected/more",
            "is a link to a folder, which is not followed: copy it",
        )
    ]


@pytest.mark.parametrize(
    "path",
    [
        "fixtures/README.md",
        "fixtures/result/rejected/.gitkeep",
        "fixtures/result/former/1.2/open.json",
        "features/one.txt",
    ],
)
def test_what_is_meant_to_lie_there_is_no_stray(folder: Path, path: str) -> None:
    beside = folder / "item" / path
    beside.parent.mkdir(parents=True, exist_ok=True)
    beside.write_text(contract_files("item")["fixtures/result/accepted/open.json"])
    if beside.suffix == ".json":
        beside.with_suffix(".expect.yaml").write_text("now: 2026-01-01T12:00:30Z\n")
    assert all(each.ok for each in check_folder(folder).fixtures)


@pytest.mark.requirement("LIF-2")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("code: STAEL", "STAEL is no code; did you mean STALE?"),
        ("code: stale", "stale is no code; did you mean STALE?"),
        ("stage: vouhc", "vouhc is no stage; did you mean vouch?"),
        ("stage: everything", "everything is no stage"),
    ],
)
def test_a_stage_or_code_that_does_not_exist_is_named_with_a_near_one(
    folder: Path, line: str, said: str
) -> None:
    found = check_one(folder, AT_NOON + line + "\n")
    assert (found.ok, found.note) == (False, f"stale.expect.yaml: {said}")


def test_a_key_that_is_near_a_known_one_is_named_with_it(folder: Path) -> None:
    assert check_one(folder, "nwo: 1\n").note.endswith("; did you mean now?")


@pytest.mark.requirement("LIF-2")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [("{itemId: item-0001}", "conform/MISNAMED at /itemId"), ("{}", "conform/MISSING at /item_id")],
)
def test_arguments_of_a_sidecar_that_do_not_fit_the_contract_are_told_as_such(
    folder: Path, arguments: str, said: str
) -> None:
    found = check_one(folder, AT_NOON + f"arguments: {arguments}\n")
    assert (found.ok, found.note) == (
        False,
        f"`arguments` in the sidecar do not fit the contract: {said}",
    )


def test_a_fixture_is_named_as_its_file_lies_below_the_folder(tmp_path: Path) -> None:
    for path, text in contract_files("item").items():
        for home in ("", "deep/down/"):
            written = tmp_path / (home or "alone") / path
            written.parent.mkdir(parents=True, exist_ok=True)
            written.write_text(text)
    for root in (tmp_path / "alone", tmp_path / "deep"):
        found = check_folder(root).fixtures
        assert found
        assert all((root / each.path).is_file() for each in found)
