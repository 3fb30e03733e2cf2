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
    return f"audit: {{store: 'sqlite:state/audit.db', keys: 'file:keys/', {members}}}"


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
    settle(line.replace(", }", "}"))
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
