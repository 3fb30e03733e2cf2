"""What a real OpenSSH server and the commands behind it do, and what the adapter hands over."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.ssh_servers import BANNER, HOST, MOTD, Sshd, running_sshd
from tests.faults.test_commands import all_die, pids_in
from tests.unit.adapters.dispatches import dispatch

from sluicegate.adapters.credentials import Credentials
from sluicegate.adapters.provenance import MAX_DIAGNOSTICS
from sluicegate.adapters.ssh import SshAdapter
from sluicegate.contracts.contract import SshFetch
from sluicegate.values.receipts import Fault, Receipt


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    with running_sshd(tmp_path_factory.mktemp("sshd")) as server:
        yield server


def adapter(
    sshd: Sshd,
    command: str,
    *,
    key: str | None = None,
    known_hosts: bytes | None = None,
    environ: dict[str, str] | None = None,
    **options: Any,
) -> SshAdapter:
    settings: dict[str, Any] = {
        "host": HOST,
        "port": sshd.port,
        "user": sshd.user,
        "command": command,
        "known_hosts": "keys/known_hosts",
        "timeout_s": 10,
        "credential": "SSH_KEY",
        **options,
    }
    return SshAdapter(
        SshFetch(**settings),
        Credentials(environ={"SSH_KEY": sshd.key if key is None else key}),
        sshd.known_hosts if known_hosts is None else known_hosts,
        environ={} if environ is None else environ,
    )


async def run(
    sshd: Sshd, command: str, *, timeout_s: float = 20.0, max_bytes: int = 65_536, **options: Any
) -> Receipt:
    return await adapter(sshd, command, **options).fetch(
        dispatch({"id": "r1"}, timeout_s=timeout_s, max_bytes=max_bytes)
    )


@pytest.mark.requirement("ADP-1", "RES-1")
async def test_stdout_is_the_answer_and_the_arguments_are_stdin(sshd: Sshd) -> None:
    receipt = await run(sshd, "cat; echo careful >&2", stdin="arguments")
    assert (receipt.fault, receipt.raw, receipt.exit_code) == (None, b'{"id": "r1"}', 0)
    assert (receipt.adapter, receipt.status, receipt.content_type) == ("ssh", None, None)
    assert receipt.endpoint == f"{sshd.user}@{HOST}:{sshd.port} cat …"


@pytest.mark.requirement("ADP-1")
async def test_the_banner_and_stderr_are_for_the_operator_alone(sshd: Sshd) -> None:
    receipt = await run(sshd, "echo '{}'; echo careful >&2")
    assert (receipt.fault, receipt.raw) == (None, b"{}\n")
    assert receipt.diagnostics == f"{BANNER}\n\ncareful\n".encode()


@pytest.mark.requirement("ADP-1")
async def test_stdin_is_empty_unless_the_arguments_are_wanted(sshd: Sshd) -> None:
    assert (await run(sshd, "cat")).raw == b""


@pytest.mark.requirement("ENV-3")
async def test_the_request_id_is_in_the_environment_where_the_server_accepts_it(sshd: Sshd) -> None:
    receipt = await run(sshd, "echo $SLUICEGATE_REQUEST_ID")
    assert receipt.raw.decode() == dispatch().request_id + "\n"


@pytest.mark.requirement("ADP-1")
async def test_a_greeting_on_stdout_is_part_of_the_answer(sshd: Sshd) -> None:
    receipt = await run(sshd, "echo '{}'", key=sshd.greeted_key)
    assert (receipt.fault, receipt.raw) == (None, f"{MOTD}\n{{}}\n".encode())


@pytest.mark.requirement("ADP-3")
@pytest.mark.parametrize("code", [1, 3, 127])
async def test_the_exit_code_is_handed_over_and_not_judged(sshd: Sshd, code: int) -> None:
    receipt = await run(sshd, f"echo '{{}}'; exit {code}")
    assert (receipt.fault, receipt.exit_code, receipt.raw) == (None, code, b"{}\n")


@pytest.mark.requirement("ADP-3", "RES-1")
async def test_a_command_that_a_signal_ended_gave_no_answer(sshd: Sshd) -> None:
    receipt = await run(sshd, "echo '{}'; kill -TERM $$")
    assert (receipt.fault, receipt.exit_code, receipt.dispatched) == (Fault.UNREACHABLE, None, True)
    assert b"ended by the signal TERM" in receipt.diagnostics


@pytest.mark.requirement("ADP-2")
async def test_the_deadline_ends_the_command_too(sshd: Sshd, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    receipt = await run(sshd, f"sleep 600 & echo $! $$ > {pids}; echo '{{'; wait", timeout_s=5)
    assert (receipt.fault, receipt.raw, receipt.exit_code, receipt.dispatched) == (
        Fault.TIMEOUT,
        b"{\n",
        None,
        True,
    )
    await see_off(sshd, await pids_in(pids, 2))


@pytest.mark.requirement("ADP-2")
async def test_what_a_command_leaves_behind_holds_the_answer_back_to_the_deadline(
    sshd: Sshd, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    receipt = await run(sshd, f"sleep 600 & echo $! > {pids}; echo '{{}}'", timeout_s=5)
    assert (receipt.fault, receipt.raw, receipt.exit_code) == (Fault.TIMEOUT, b"{}\n", None)
    for pid in await pids_in(pids, 1):
        os.kill(pid, signal.SIGKILL)


async def see_off(sshd: Sshd, pids: list[int]) -> None:
    """OpenSSH kills at our word, but not where root logs in; the connection is gone either way."""
    if os.geteuid() != 0:
        assert await all_die(pids)
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert established(sshd) == 0


@pytest.mark.requirement("ADP-2")
async def test_a_cancelled_call_ends_the_command_too(sshd: Sshd, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    call = asyncio.ensure_future(run(sshd, f"sleep 600 & echo $! $$ > {pids}; wait"))
    running = await pids_in(pids, 2)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await see_off(sshd, running)


@pytest.mark.requirement("ADP-2")
async def test_a_call_that_is_cancelled_while_it_connects_leaves_no_connection(sshd: Sshd) -> None:
    for turns in (0, 1, 2, 5, 20, 100):
        call = asyncio.ensure_future(run(sshd, "sleep 600"))
        for _ in range(turns):
            await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert established(sshd) == 0


def established(sshd: Sshd) -> int:
    """How many sockets of this machine are connected to the server, by the kernel's own table."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    remote = f":{sshd.port:04X}"
    return sum(line.split()[2].endswith(remote) and line.split()[3] == "01" for line in lines)


@pytest.mark.requirement("ADP-2")
async def test_nothing_stays_connected_after_an_answer(sshd: Sshd) -> None:
    await run(sshd, "echo '{}'")
    assert established(sshd) == 0


@pytest.mark.requirement("ADP-3", "RES-1")
async def test_output_without_end_is_cut_at_the_limit(sshd: Sshd, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    receipt = await run(sshd, f"echo $$ > {pids}; exec cat /dev/zero")
    assert (receipt.fault, len(receipt.raw), receipt.dispatched) == (Fault.TOO_LARGE, 65_536, True)
    assert await all_die(await pids_in(pids, 1))


@pytest.mark.requirement("ADP-3", "RES-1")
async def test_output_of_exactly_the_limit_is_whole(sshd: Sshd) -> None:
    exact = await run(sshd, "printf 1234", max_bytes=4)
    over = await run(sshd, "printf 12345", max_bytes=4)
    assert (exact.fault, exact.raw, exact.exit_code) == (None, b"1234", 0)
    assert (over.fault, over.raw, over.exit_code) == (Fault.TOO_LARGE, b"1234", None)


@pytest.mark.requirement("ADP-3")
async def test_stderr_without_end_is_read_and_bounded(sshd: Sshd) -> None:
    receipt = await run(sshd, "head -c 3000000 /dev/zero >&2; echo '{}'; echo last words >&2")
    assert (receipt.fault, receipt.raw) == (None, b"{}\n")
    assert len(receipt.diagnostics) == MAX_DIAGNOSTICS
    assert receipt.diagnostics.endswith(b"last words\n")


@pytest.mark.requirement("RES-1")
async def test_a_large_answer_is_whole(sshd: Sshd) -> None:
    receipt = await run(sshd, "head -c 3000000 /dev/zero | tr '\\0' x", max_bytes=3_000_000)
    assert (receipt.fault, receipt.raw) == (None, b"x" * 3_000_000)


@pytest.mark.requirement("ADP-3")
async def test_a_command_that_does_not_read_its_input_is_no_fault(sshd: Sshd) -> None:
    big = dispatch({"text": "x" * 3_000_000})
    receipt = await adapter(sshd, "exec <&-; echo '{}'", stdin="arguments").fetch(big)
    assert (receipt.fault, receipt.raw) == (None, b"{}\n")


@pytest.mark.requirement("RES-1")
async def test_a_server_that_goes_away_mid_answer_gave_none(sshd: Sshd) -> None:
    receipt = await run(sshd, "echo '{'; kill -9 $PPID; cat")
    assert (receipt.fault, receipt.exit_code, receipt.dispatched) == (Fault.UNREACHABLE, None, True)


@pytest.mark.requirement("ADP-1")
async def test_the_key_of_another_host_is_refused_before_anything_is_sent(
    sshd: Sshd, tmp_path: Path
) -> None:
    known_hosts = f"[{HOST}]:{sshd.port} {sshd.other_host_key}\n".encode()
    receipt = await run(sshd, f"touch {tmp_path}/ran", known_hosts=known_hosts)
    assert (receipt.fault, receipt.dispatched) == (Fault.HOST_KEY, False)
    assert b"the host key is not the pinned one" in receipt.diagnostics
    assert list(tmp_path.iterdir()) == []


@pytest.mark.requirement("ADP-1")
async def test_a_revoked_host_key_is_refused(sshd: Sshd) -> None:
    known_hosts = sshd.known_hosts + b"@revoked " + sshd.known_hosts
    receipt = await run(sshd, "echo", known_hosts=known_hosts)
    assert (receipt.fault, receipt.dispatched) == (Fault.HOST_KEY, False)


@pytest.mark.requirement("ADP-5", "RET-2")
async def test_a_key_that_the_server_does_not_know_is_denied(sshd: Sshd) -> None:
    receipt = await run(sshd, "echo '{}'", key=sshd.foreign_key)
    assert (receipt.fault, receipt.dispatched, receipt.raw) == (Fault.DENIED, False, b"")


@pytest.mark.requirement("ADP-5")
@pytest.mark.parametrize(
    ("name", "why"),
    [("locked_key", b"has a passphrase"), ("known_hosts", b"holds no private key")],
)
async def test_a_credential_that_is_no_usable_key_goes_nowhere(
    sshd: Sshd, name: str, why: bytes
) -> None:
    held = getattr(sshd, name)
    receipt = await run(sshd, "echo", key=held if isinstance(held, str) else held.decode())
    assert (receipt.fault, receipt.dispatched) == (Fault.CREDENTIAL, False)
    assert why in receipt.diagnostics


@pytest.mark.requirement("ADP-5")
async def test_a_command_that_prints_our_key_gave_no_answer(sshd: Sshd) -> None:
    line = sshd.key.splitlines()[2]
    whole = await run(sshd, "cat", stdin="arguments")
    receipt = await adapter(sshd, "tee /dev/stderr", stdin="arguments").fetch(
        dispatch({"id": line})
    )
    assert whole.fault is None
    assert (receipt.fault, receipt.raw) == (Fault.LEAK, b"")
    assert line.encode() not in receipt.diagnostics


@pytest.mark.requirement("ADP-5")
async def test_the_agent_signs_where_the_contract_says_so(sshd: Sshd, tmp_path: Path) -> None:
    socket_path = tmp_path / "agent"
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", str(socket_path)], stdout=subprocess.DEVNULL)
    try:
        while not socket_path.exists():
            assert agent.poll() is None
            await asyncio.sleep(0.01)
        environ = {"SSH_AUTH_SOCK": str(socket_path)}
        settings: dict[str, Any] = {"credential": None, "agent": True, "environ": environ}
        empty = await run(sshd, "echo '{}'", **settings)
        subprocess.run(["ssh-add", "-q", "-"], input=sshd.key.encode(), env=environ, check=True)
        receipt = await run(sshd, "echo '{}'; ls \"$SSH_AUTH_SOCK\"", **settings)
    finally:
        agent.terminate()
        agent.wait()
    assert (empty.fault, empty.dispatched) == (Fault.CREDENTIAL, False)
    assert (receipt.raw, receipt.exit_code == 0) == (b"{}\n", False)  # and is not handed on
    gone = await run(sshd, "echo '{}'", **settings)
    assert (gone.fault, gone.dispatched) == (Fault.CREDENTIAL, False)


@pytest.mark.requirement("ADP-1")
async def test_no_file_of_the_account_that_runs_the_gate_is_read(
    sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / ".ssh"
    home.mkdir()
    (home / "config").write_text(
        f"Host *\n  RemoteCommand echo evil\n  ProxyCommand touch {tmp_path}/ran\n"
    )
    (home / "id_ed25519").write_text(sshd.key)
    (home / "id_ed25519").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "none"))
    good = await run(sshd, "echo '{}'")
    denied = await run(sshd, "echo '{}'", key=sshd.foreign_key)
    assert (good.raw, denied.fault) == (b"{}\n", Fault.DENIED)
    assert not (tmp_path / "ran").exists()


@pytest.mark.requirement("ADP-1")
async def test_a_key_that_the_server_ties_to_a_command_runs_that_one(sshd: Sshd) -> None:
    assert (await run(sshd, "echo '{}'", key=sshd.forced_key)).raw == b"forced\n"


@pytest.mark.requirement("ADP-2")
async def test_many_calls_at_once_each_get_their_own_answer(sshd: Sshd) -> None:
    asked = adapter(sshd, "cat", stdin="arguments")
    receipts = await asyncio.gather(
        *(asked.fetch(dispatch({"id": number}, timeout_s=60)) for number in range(12))
    )
    assert [json.loads(receipt.raw)["id"] for receipt in receipts] == list(range(12))


@pytest.mark.requirement("ADP-5")
async def test_the_library_writes_no_host_user_or_command_into_the_log(
    sshd: Sshd, caplog: pytest.LogCaptureFixture
) -> None:
    logging.getLogger().setLevel(logging.DEBUG)
    try:
        await run(sshd, "echo '{}'")
        await run(sshd, "echo '{}'", key=sshd.foreign_key)
    finally:
        logging.getLogger().setLevel(logging.WARNING)
    assert [record for record in caplog.records if record.name.startswith("asyncssh")] == []
