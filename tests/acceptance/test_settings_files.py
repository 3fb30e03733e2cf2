"""Files that settings and contracts name: whatever stands there, every command ends and says so."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from tests.acceptance.commands import Here, run_apart
from tests.acceptance.folders import write_folder

pytestmark = pytest.mark.requirement("CLI")

SETTINGS = Path("contracts/sluicegate.yaml")
CONTRACT = Path("contracts/job_status/contract.yaml")
CALL = (
    *("call", "job_status", "--arguments", '{"run_id": "run_1", "state": "failed"}'),
    *("--caller", "svc"),
)
HTTP = "http: {method: GET, url: 'https://127.0.0.1:9/', timeout_s: 1, ca_file: fifo}"


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path / "contracts")
    (tmp_path / "outside").mkdir()


def settle(line: str) -> None:
    """Put ``line`` first into the settings, in the place of all that has its key."""
    key = line.partition(":")[0]
    whole = re.split(r"^(?=\w)", SETTINGS.read_text(), flags=re.MULTILINE)
    others = [each for each in whole if not each.startswith(f"{key}:")]
    SETTINGS.write_text("".join([f"{line}\n", *others]))


def audit(members: str) -> str:
    others = f", {members}" if members else ""
    return f"audit: {{store: 'sqlite:state/audit.db', keys: 'file:keys/'{others}}}"


FIFOS = {
    # what a setting names, the FIFO → the code of check, the pointer that it tells
    "second sink": (audit("also: 'file:../outside/it'"), "outside/it", 1, "/audit/also"),
    "heads": (audit("heads: {to: 'file:../outside/it'}"), "outside/it", 1, "/audit/heads/to"),
    "keys": (audit(""), "contracts/keys/audit.key", 1, "/audit/keys"),
    "record": (audit(""), "contracts/state/audit.db", 1, "/audit/store"),
    "authorities of the decision service": (
        "access: {authzen: {url: 'https://127.0.0.1:9', ca_file: it}}",
        *("contracts/it", 4, "/access/authzen"),
    ),
}


@pytest.mark.parametrize(("line", "place", "code", "pointer"), FIFOS.values(), ids=FIFOS)
def test_a_fifo_that_a_setting_names_is_told_and_not_waited_for(
    line: str, place: str, code: int, pointer: str
) -> None:
    settle(line)
    Path(place).parent.mkdir(exist_ok=True, mode=0o700)
    os.mkfifo(place, 0o600)
    done = run_apart("check", "--format", "json-v1")
    told = json.loads(done.out)
    (found,) = told["settings"] or told["problems"]
    assert (done.code, found["pointer"]) == (code, pointer)
    assert "no regular file" in found["message"]
    assert run_apart("doctor").code == 1
    assert run_apart(*CALL).code == (2 if code == 1 else 4)
    assert run_apart("audit", "verify").code not in (0, 70)


def test_a_fifo_that_a_contract_trusts_is_told_and_not_waited_for() -> None:
    lines = CONTRACT.read_text().splitlines()
    lines = [f"  {HTTP}" if line.startswith("  command:") else line for line in lines]
    CONTRACT.write_text("\n".join([*lines, ""]))
    os.mkfifo("contracts/fifo")
    done = run_apart("check", "--format", "json-v1")
    (found,) = json.loads(done.out)["problems"]
    assert (done.code, found["pointer"]) == (4, "/fetch/http")
    assert found["message"].endswith("/contracts/fifo cannot be used: it is no regular file.")
    assert (run_apart("doctor").code, run_apart(*CALL).code) == (1, 4)


@pytest.mark.parametrize("key", ["--heads", "--public-key"])
def test_a_fifo_that_a_verification_reads_is_told_and_not_waited_for(
    sluicegate: Here, key: str
) -> None:
    settle(audit("heads: {to: 'file:../outside/heads.jsonl'}"))
    sluicegate(*CALL)
    os.mkfifo("fifo")
    done = run_apart("audit", "verify", key, "fifo")
    assert (done.code not in (0, 70), "no regular file" in done.out + done.err) == (True, True)


LONG = "a" * 300
WINDING = "contracts/../" * 20 + "contracts"
"""The folder, by a path that leaves another one no room."""

UNFIT = {
    # what is written → the pointer that check tells
    "a NUL in the record": ('audit: {store: "sqlite:a\\0b"}', "/audit/store"),
    "a NUL in the keys": ('audit: {keys: "file:k\\0x"}', "/audit/keys"),
    "a NUL in the second sink": (audit('also: "file:/tmp/a\\0b"'), "/audit/also"),
    "a NUL in the heads": (audit('heads: {to: "file:/tmp/a\\0b/x"}'), "/audit/heads/to"),
    "a second sink with a long name": (audit(f"also: 'file:../outside/{LONG}'"), "/audit/also"),
    "heads with a long name": (audit(f"heads: {{to: 'file:../{LONG}'}}"), "/audit/heads/to"),
    "keys with a long name": (f"audit: {{keys: 'file:{LONG}'}}", "/audit/keys"),
    "a record with a long name": (f"audit: {{store: 'sqlite:{LONG * 20}'}}", "/audit/store"),
    "a record with no room for its marker": (
        f"audit: {{store: 'sqlite:state/{'a' * 250}'}}",
        "/audit/store",
    ),
    "no name of the record": ("audit: {store: 'sqlite:/'}", "/audit/store"),
    "a NUL in the authorities": (
        'access: {authzen: {url: "https://127.0.0.1:9", ca_file: "a\\0b"}}',
        "/access/authzen/ca_file",
    ),
}


@pytest.mark.parametrize(("line", "pointer"), UNFIT.values(), ids=UNFIT)
def test_what_can_be_no_path_does_not_load(sluicegate: Here, line: str, pointer: str) -> None:
    settle(line)
    done = sluicegate("check", "--format", "json-v1")
    assert [each["pointer"] for each in json.loads(done.out)["problems"]] == [pointer]
    codes = (
        done.code,
        sluicegate("doctor").code,
        sluicegate(*CALL).code,
        sluicegate("audit", "verify").code,
    )
    assert codes == (4, 1, 4, 2)


FAR = f"../{'outside/../' * 360}outside"
ASTRAY = {
    # what is written → the pointer, and how a verification ends before and after the first call
    "a record behind links in a circle": (
        "audit: {store: 'sqlite:../circle/audit.db'}",
        ("/audit/store", 5, 1),
    ),
    "keys behind links in a circle": (
        "audit: {keys: 'file:../circle/keys'}",
        ("/audit/keys", 5, 2),
    ),
    "a sink behind links in a circle": (audit("also: 'file:../circle/it'"), ("/audit/also", 5, 0)),
    "a sink that is a link in a circle": (audit("also: 'file:../circle'"), ("/audit/also", 5, 0)),
    "heads behind links in a circle": (
        audit("heads: {to: 'file:../circle/it'}"),
        ("/audit/heads/to", 2, 2),
    ),
    "a record at a path that is too long as a whole": (
        f"audit: {{store: 'sqlite:{FAR}/audit.db'}}",
        ("/audit/store", 2, 2),
    ),
    "a sink at a path that is too long as a whole": (
        audit(f"also: 'file:{FAR}/it'"),
        ("/audit/also", 5, 0),
    ),
    "keys at a path that is too long as a whole": (
        f"audit: {{keys: 'file:{FAR}/keys'}}",
        ("/audit/keys", 2, 2),
    ),
}


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize("is_begun", [False, True], ids=["before the first call", "later"])
@pytest.mark.parametrize(("line", "told"), ASTRAY.values(), ids=ASTRAY)
def test_a_path_that_leads_nowhere_is_told_by_every_command(
    sluicegate: Here, tmp_path: Path, line: str, told: tuple[str, int, int], is_begun: bool
) -> None:
    if is_begun:
        assert sluicegate(*CALL).code == 0
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    settle(line)
    done = sluicegate("check", WINDING, "--format", "json-v1")
    (found,) = json.loads(done.out)["settings"]
    assert (found["pointer"], found["line"]) == (told[0], 1)
    assert ("Too many levels" in found["message"], "too long" in found["message"]) == (
        "circle" in line,
        "circle" not in line,
    )
    codes = (
        done.code,
        sluicegate("doctor", WINDING).code,
        sluicegate(*CALL, "--folder", WINDING).code,
        sluicegate("audit", "verify", "--folder", WINDING).code,
    )
    assert codes == (1, 1, 2, told[2 if is_begun else 1])
