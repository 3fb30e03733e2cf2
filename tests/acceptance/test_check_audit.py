"""What ``audit`` names and no gate opens with: ``check``, ``doctor`` and ``call`` say the same."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.acceptance.commands import Here
from tests.acceptance.folders import write_folder

pytestmark = pytest.mark.requirement("AUD-3", "CLI")

SETTINGS = Path("contracts/sluicegate.yaml")
BESIDE = "stands beside the record that it vouches for"
FAULTS = {
    "heads beside the record": ('heads: {to: "file:state/h.jsonl"}', "/audit/heads/to", BESIDE),
    "sink beside the record": ('also: "file:state/e.jsonl"', "/audit/also", BESIDE),
    "heads in no folder": (
        'heads: {to: "file:../nosuch/x/h.jsonl"}',
        "/audit/heads/to",
        "nosuch/x does not exist, and h.jsonl (audit.heads) is to stand in it: mount the disk",
    ),
    "sink in no folder": (
        'also: "file:../nosuch/x/e.jsonl"',
        "/audit/also",
        "nosuch/x does not exist, and e.jsonl (audit.also) is to stand in it: mount the disk",
    ),
    "heads in a folder's place": (
        'heads: {to: "file:../away"}',
        "/audit/heads/to",
        "away (audit.heads) is a folder: name a file in it",
    ),
    "one file for both": (
        'heads: {to: "file:../away/h.jsonl"}, also: "file:../away/link.jsonl"',
        "/audit/also",
        "is the file that audit.heads go to: name a file of its own for each",
    ),
}
BADLY_KEPT = {
    "keys beside the record": (
        '{store: "sqlite:keys/a.db", keys: "file:keys/"}',
        "/audit/keys",
        "stand beside the database they protect",
    ),
    "keys in a file": (
        '{store: "sqlite:state/a.db", keys: "file:sluicegate.yaml"}',
        "/audit/keys",
        "sluicegate.yaml is no directory",
    ),
    "a record in the place of a folder": (
        '{store: "sqlite:job_status", keys: "file:keys/"}',
        "/audit/store",
        "job_status (audit.store) cannot be read: Is a directory",
    ),
    "a record in the place of another file": (
        '{store: "sqlite:sluicegate.yaml", keys: "file:keys/"}',
        "/audit/store",
        "sluicegate.yaml (audit.store) is no record of this program",
    ),
    "a record in the place of another database": (
        '{store: "sqlite:../away/other.db", keys: "file:keys/"}',
        "/audit/store",
        "other.db (audit.store) is no record of this program",
    ),
}
CALL = (
    "call",
    "job_status",
    "--arguments",
    '{"run_id": "run_1", "state": "failed"}',
    "--caller",
    "svc",
)


def settle(more: str) -> None:
    keep(f'{{store: "sqlite:state/audit.db", keys: "file:keys/", {more}}}')


def keep(audit: str) -> None:
    lines = [line for line in SETTINGS.read_text().splitlines() if not line.startswith("audit:")]
    SETTINGS.write_text("\n".join([f"audit: {audit}", *lines, ""]))


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path / "contracts")
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "link.jsonl").symlink_to("h.jsonl")


@pytest.mark.parametrize(("more", "pointer", "says"), FAULTS.values(), ids=FAULTS)
def test_what_no_gate_opens_with_fails_the_check(
    sluicegate: Here, more: str, pointer: str, says: str
) -> None:
    settle(more)
    done = sluicegate("check", "--format", "json-v1")
    (told,) = json.loads(done.out)["settings"]
    assert (done.code, told["rule"], told["severity"]) == (1, "AUDIT", "error")
    assert (told["file"], told["pointer"], told["line"]) == (str(SETTINGS), pointer, 1)
    assert says in told["message"]
    shown = sluicegate("check")
    assert (shown.code, f"{SETTINGS}:1:" in shown.out, says in shown.out) == (1, True, True)
    ill = [look for look in json.loads(doctor(sluicegate))["looks"] if not look["well"]]
    name = "heads" if pointer == "/audit/heads/to" else "second sink"
    assert [(look["name"], says in look["says"]) for look in ill] == [(name, True)]
    called = sluicegate(*CALL)
    assert (called.code, says in called.err) == (2, True)
    assert not Path("nosuch").exists()
    assert not Path("contracts/state").exists()  # nothing was begun


@pytest.mark.parametrize(("audit", "pointer", "says"), BADLY_KEPT.values(), ids=BADLY_KEPT)
def test_a_record_that_cannot_be_kept_fails_the_check(
    sluicegate: Here, audit: str, pointer: str, says: str
) -> None:
    with closing(sqlite3.connect("away/other.db")) as other:
        other.execute("PRAGMA application_id = 7")
        other.execute("CREATE TABLE t (a)")
    keep(audit)
    done = sluicegate("check", "--format", "json-v1")
    (told,) = json.loads(done.out)["settings"]
    assert (done.code, told["rule"], told["severity"]) == (1, "AUDIT", "error")
    assert (told["pointer"], says in told["message"]) == (pointer, True), told
    looks = json.loads(doctor(sluicegate))["looks"]
    assert any(not look["well"] and says in look["says"] for look in looks)
    assert sluicegate(*CALL).code == 2


@pytest.mark.parametrize("form", ["github", "sarif", "junit"])
def test_it_is_told_to_every_reader(sluicegate: Here, form: str) -> None:
    more, _, says = FAULTS["heads in no folder"]
    settle(more)
    done = sluicegate("check", "--format", form)
    assert (done.code, says in done.out) == (1, True)


def doctor(sluicegate: Here) -> str:
    return sluicegate("doctor", "contracts", "--format", "json-v1").out


def test_a_folder_that_is_there_is_enough_and_the_files_are_made(sluicegate: Here) -> None:
    settle('heads: {to: "file:../away/h.jsonl"}, also: "file:../away/e.jsonl"')
    done = sluicegate("check", "--format", "json-v1")
    assert (done.code, json.loads(done.out)["settings"]) == (0, [])
    assert sluicegate(*CALL).code == 0
    assert Path("away/h.jsonl").is_file()
    assert Path("away/e.jsonl").is_file()


def test_a_head_that_is_asked_for_makes_no_folder_either(sluicegate: Here) -> None:
    settle('heads: {to: "file:../away/h.jsonl"}')
    assert sluicegate(*CALL).code == 0
    Path("away").rename("kept")
    done = sluicegate("audit", "heads")
    assert (done.code, "away does not exist" in done.err) == (2, True)
    assert not Path("away").exists()
