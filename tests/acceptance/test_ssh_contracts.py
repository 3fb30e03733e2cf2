"""A contract over ssh, from its folder to the agent, against a real OpenSSH server."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.acceptance.commands import Here
from tests.acceptance.ssh_servers import HOST, MOTD, Sshd, running_sshd

from sluicegate import Caller, ContractFolderError, open_gate
from sluicegate.opening.folder import open_folder_store

SETTINGS = """\
audit: {store: "sqlite:state/audit.db", keys: "file:keys/"}
access:
  - {caller: svc, action: call, tool: "*", resource: {type: run, in: [run_1]}}
"""
CONTRACT = """\
sluicegate: 1
tool: job_status
version: 1.0.0
owner: ci-platform
description: State of one CI run.
effect: EFFECT
arguments:
  schema:
    type: object
    properties: {run_id: {type: string, pattern: "^run_[0-9]{1,9}$"}}
    required: [run_id]
    additionalProperties: false
  resource: [{type: run, id: /run_id}]
fetch:
  ssh:
    host: HOST
    port: PORT
    user: USER
    command: COMMAND
    stdin: arguments
    known_hosts: ssh/known_hosts
    credential: file:ssh/id
    timeout_s: TIMEOUT
limits: {max_bytes: 4096, max_depth: 8}
upstream: {exit: {3: NOT_FOUND}}
errors: {NOT_FOUND: {retryable: false}}
result:
  schema:
    type: object
    properties: {run_id: {type: string, maxLength: 64}}
    required: [run_id]
    additionalProperties: false
  bind: {/run_id: /run_id}
  agent: [/run_id]
"""
SVC = Caller(subject="svc")


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    with running_sshd(tmp_path_factory.mktemp("sshd")) as server:
        yield server


def write_folder(
    folder: Path, sshd: Sshd, command: str, *, effect: str = "read", timeout_s: int = 20
) -> Path:
    """Write a folder whose one tool runs ``command``."""
    (folder / "job_status").mkdir(parents=True)
    (folder / "ssh").mkdir()
    (folder / "sluicegate.yaml").write_text(SETTINGS)
    text = CONTRACT
    for word, value in {
        "EFFECT": effect,
        "HOST": HOST,
        "PORT": sshd.port,
        "USER": sshd.user,
        "COMMAND": json.dumps(command),
        "TIMEOUT": timeout_s,
    }.items():
        text = text.replace(word, str(value))
    (folder / "job_status" / "contract.yaml").write_text(text)
    (folder / "ssh" / "known_hosts").write_bytes(sshd.known_hosts)
    write_key(folder, sshd.key)
    return folder


def write_key(folder: Path, key: str) -> None:
    (folder / "ssh" / "id").touch(mode=0o600)
    (folder / "ssh" / "id").write_text(key)


async def ask(folder: Path) -> tuple[str, str | None, list[str | None]]:
    """Return outcome and code that the agent sees, and the codes that the record holds."""
    async with open_gate(folder) as gate:
        answer = await gate.call("job_status", '{"run_id": "run_1"}', caller=SVC)
    told = json.loads(answer.to_json())
    store = open_folder_store(folder)
    try:
        codes = [event.code for event in store.events() if event.kind == "outcome"]
    finally:
        await store.close()
    return told["outcome"], told.get("error", {}).get("code"), codes


ANSWERS: dict[str, tuple[str, tuple[str, str | None, list[str | None]]]] = {
    "good": ("cat", ("success", None, [None])),
    "warnings on stderr": ("echo Warning: old key >&2; cat", ("success", None, [None])),
    "warnings on stdout": (
        "echo Warning: old key; cat",
        ("failure", "INVALID_RESPONSE", ["NOT_JSON"]),
    ),
    "a last line": ("cat; echo; echo done", ("failure", "INVALID_RESPONSE", ["TRAILING_DATA"])),
    "nothing": ("true", ("failure", "INVALID_RESPONSE", ["EMPTY"])),
    "another subject": (
        """echo '{"run_id": "run_2"}'""",
        ("failure", "INVALID_RESPONSE", ["WRONG_SUBJECT"]),
    ),
    "mapped exit": ("exit 3", ("failure", "NOT_FOUND", ["EXIT_STATUS"])),
    "unmapped exit": ("cat; exit 4", ("failure", "INVALID_RESPONSE", ["EXIT_STATUS"])),
    "absent program": ("no-such-program", ("failure", "INVALID_RESPONSE", ["EXIT_STATUS"])),
    "signal": ("kill -TERM $$", ("failure", "UPSTREAM_UNAVAILABLE", ["UPSTREAM_UNAVAILABLE"])),
    "flood": ("cat /dev/zero", ("failure", "INVALID_RESPONSE", ["TOO_LARGE"])),
    "gone": ("kill -9 $PPID", ("failure", "UPSTREAM_UNAVAILABLE", ["UPSTREAM_UNAVAILABLE"])),
}


@pytest.mark.requirement("ADP-1", "ADP-3", "RES-1", "RES-2", "CODES")
@pytest.mark.parametrize("name", ANSWERS)
async def test_what_a_command_does_becomes_what_the_contract_says(
    name: str, sshd: Sshd, tmp_path: Path
) -> None:
    command, expected = ANSWERS[name]
    assert await ask(write_folder(tmp_path / "contracts", sshd, command)) == expected


@pytest.mark.requirement("RES-2")
async def test_a_greeting_before_the_document_is_refused(sshd: Sshd, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "contracts", sshd, "cat")
    write_key(folder, sshd.greeted_key)
    assert MOTD[0] == "W"  # the first byte of the answer
    assert await ask(folder) == ("failure", "INVALID_RESPONSE", ["NOT_JSON"])


@pytest.mark.requirement("ADP-2", "CODES")
async def test_a_command_that_hangs_is_unavailable(sshd: Sshd, tmp_path: Path) -> None:
    hang = "cat; exec tail -f /dev/null --pid $PPID"  # ends with its own sshd
    folder = write_folder(tmp_path / "contracts", sshd, hang, timeout_s=5)
    assert await ask(folder) == ("failure", "UPSTREAM_UNAVAILABLE", ["UPSTREAM_TIMEOUT"])


@pytest.mark.requirement("ADP-1", "CODES")
async def test_a_host_with_another_key_is_unavailable(sshd: Sshd, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "contracts", sshd, "cat")
    pinned = f"[{HOST}]:{sshd.port} {sshd.other_host_key}\n"
    (folder / "ssh" / "known_hosts").write_text(pinned)
    assert await ask(folder) == (
        "failure",
        "UPSTREAM_UNAVAILABLE",
        ["UPSTREAM_UNAVAILABLE"],
    )


@pytest.mark.requirement("ADP-1", "AUD-6", "CLI")
def test_a_host_with_another_key_is_told_to_owner_and_operator(
    sshd: Sshd, tmp_path: Path, sluicegate: Here, caplog: pytest.LogCaptureFixture
) -> None:
    folder = write_folder(tmp_path / "contracts", sshd, "cat")
    pinned = f"[{HOST}]:{sshd.port} {sshd.other_host_key}\n"
    (folder / "ssh" / "known_hosts").write_text(pinned)
    asked = ("--arguments", '{"run_id": "run_1"}', "--caller", "svc")
    called = sluicegate("call", "job_status", *asked, "--folder", folder)
    request_id = json.loads(called.out)["request_id"]
    says = "the host shows no key that the contract pins"
    logged, noticed = caplog.messages
    assert f"{request_id}: {HOST}:{sshd.port} shows no key that ssh/known_hosts pins" in logged
    assert noticed.startswith('drift owner="ci-platform" tool="job_status"')
    assert f' says="{says}: ' in noticed
    story = sluicegate("why", request_id, "--folder", folder).out
    assert f"UPSTREAM_UNAVAILABLE: {says}" in story
    assert "could not be reached" not in story


@pytest.mark.requirement("RET-2", "CODES")
async def test_a_login_that_is_refused_is_tried_once_more_and_never_loops(
    sshd: Sshd, tmp_path: Path
) -> None:
    folder = write_folder(tmp_path / "contracts", sshd, "cat")
    write_key(folder, sshd.foreign_key)
    assert await ask(folder) == (
        "failure",
        "UPSTREAM_UNAVAILABLE",
        ["UPSTREAM_DENIED", "UPSTREAM_DENIED"],
    )


@pytest.mark.requirement("ADP-5", "CODES")
async def test_a_key_with_a_passphrase_is_unavailable(sshd: Sshd, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "contracts", sshd, "cat")
    write_key(folder, sshd.locked_key)
    assert await ask(folder) == (
        "failure",
        "UPSTREAM_UNAVAILABLE",
        ["UPSTREAM_UNAVAILABLE"],
    )


@pytest.mark.requirement("RET-2", "ENV-1")
async def test_a_write_is_open_once_its_command_was_sent_and_not_before(
    sshd: Sshd, tmp_path: Path
) -> None:
    sent = write_folder(tmp_path / "sent", sshd, "kill -9 $PPID", effect="write")
    unsent = write_folder(tmp_path / "unsent", sshd, "cat", effect="write")
    pinned = f"[{HOST}]:{sshd.port} {sshd.other_host_key}\n"
    (unsent / "ssh" / "known_hosts").write_text(pinned)
    assert (await ask(sent))[:2] == ("failure", "OUTCOME_UNKNOWN")
    assert (await ask(unsent))[:2] == ("failure", "UPSTREAM_UNAVAILABLE")


def problem_of(folder: Path) -> str:
    with pytest.raises(ContractFolderError) as caught:
        open_gate(folder)
    (problem,) = caught.value.problems
    return f"{problem.document}: {problem.message}"


@pytest.mark.requirement("ADP-1", "CON-3")
def test_a_folder_without_the_pinned_key_of_the_host_does_not_load(
    sshd: Sshd, tmp_path: Path
) -> None:
    folder = write_folder(tmp_path / "contracts", sshd, "cat")
    known_hosts = folder / "ssh" / "known_hosts"
    known_hosts.write_text("x.example " + sshd.other_host_key)
    assert problem_of(folder) == (
        "job_status/contract.yaml: It cannot be served: known_hosts holds no key of "
        f"[{HOST}]:{sshd.port}; add it after you compared its fingerprint."
    )
    known_hosts.unlink()
    assert problem_of(folder) == (
        "job_status/contract.yaml: It cannot be served: known_hosts, ssh/known_hosts, "
        "does not exist."
    )
    (tmp_path / "outside").write_bytes(sshd.known_hosts)
    known_hosts.symlink_to(tmp_path / "outside")
    assert "is a link that leaves the folder" in problem_of(folder)


@pytest.mark.requirement("ADP-1")
def test_a_contract_over_ssh_does_not_load_without_the_library(
    sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_folder(tmp_path / "contracts", sshd, "cat")
    monkeypatch.setitem(sys.modules, "asyncssh", None)
    assert "install sluicegate[ssh]" in problem_of(folder)


@pytest.mark.requirement("CLI", "ADP-5")
def test_doctor_tells_a_key_that_ssh_can_sign_with_from_one_that_it_cannot(
    sshd: Sshd, tmp_path: Path, sluicegate: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looks(name: str) -> list[tuple[bool, str]]:
        told = json.loads(sluicegate("doctor", folder, "--format", "json-v1").out)
        return [(look["well"], look["says"]) for look in told["looks"] if look["name"] == name]

    folder = write_folder(tmp_path / "contracts", sshd, "cat")
    assert looks("credential") == [(True, "file:ssh/id can be read")]
    write_key(folder, sshd.locked_key)
    ((well, says),) = looks("credential")
    assert (well, "has a passphrase" in says) == (False, True)
    contract = folder / "job_status" / "contract.yaml"
    contract.write_text(contract.read_text().replace("credential: file:ssh/id", "agent: true"))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    assert looks("ssh agent") == [(False, "SSH_AUTH_SOCK is not set: start an agent")]
