"""What a server that is down, slow or lying does to the ssh adapter, and what it takes as a pin."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import asyncssh
import pytest
from tests.unit.adapters.dispatches import dispatch

from sluicegate.adapters import ssh_exchange
from sluicegate.adapters.credentials import Credentials, CredentialUnreadable
from sluicegate.adapters.ssh import SshAdapter
from sluicegate.adapters.ssh_keys import read_pins
from sluicegate.contracts.contract import SshFetch
from sluicegate.errors import ConfigurationError
from sluicegate.values.receipts import Fault

HOST_KEY = asyncssh.generate_private_key("ssh-ed25519")
OTHER_KEY = asyncssh.generate_private_key("ssh-ed25519")
CLIENT_KEY = asyncssh.generate_private_key("ssh-ed25519")
PUBLIC = HOST_KEY.export_public_key().decode().strip()
PROGRAM = "ci-status --json"


def adapter(port: int, **options: Any) -> SshAdapter:
    settings: dict[str, Any] = {
        "host": "127.0.0.1",
        "port": port,
        "user": "reader",
        "command": PROGRAM,
        "known_hosts": "keys/known_hosts",
        "timeout_s": 10,
        "credential": "SSH_KEY",
        **options,
    }
    key = CLIENT_KEY.export_private_key().decode()
    pins = f"[127.0.0.1]:{port} {PUBLIC}\n".encode()
    return SshAdapter(SshFetch(**settings), Credentials(environ={"SSH_KEY": key}), pins)


Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def raw_server(handler: Handler) -> AsyncIterator[int]:
    server = await asyncio.start_server(handler, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await server.wait_closed()


def saying(*parts: bytes, is_endless: bool = False) -> Handler:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                for part in parts:
                    writer.write(part)
                await writer.drain()
                if not is_endless:
                    break
            await reader.read()  # until the client goes
        except ConnectionError:
            pass
        finally:
            writer.close()

    return handle


LIES = {
    "http": saying(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}" * 2000),
    "an old protocol": saying(b"SSH-1.5-old\r\n"),
    "a version that is no text": saying(b"SSH-2.0-\xff\xfe\r\n"),
    "lines without end": saying(b"x" * 100 + b"\n", is_endless=True),
    "a line without end": saying(b"x" * 4096, is_endless=True),
    "a packet of four gigabytes": saying(b"SSH-2.0-x\r\n", b"\xff" * 64),
    "a packet that is none": saying(b"SSH-2.0-x\r\n", b"\x00\x00\x00\x0c\x0a\x14" + b"\x00" * 90),
}


@pytest.mark.requirement("ADP-1", "RES-9")
@pytest.mark.parametrize("handler", LIES.values(), ids=LIES)
async def test_what_is_no_ssh_server_is_unreachable_and_was_sent_nothing(handler: Handler) -> None:
    async with raw_server(handler) as port:
        receipt = await adapter(port).fetch(dispatch(timeout_s=60))
    assert (receipt.fault, receipt.dispatched, receipt.raw) == (Fault.UNREACHABLE, False, b"")
    assert receipt.diagnostics


@pytest.mark.requirement("ADP-2", "RES-9")
async def test_where_nobody_listens_nothing_was_sent() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, and never listening
        receipt = await adapter(taken.getsockname()[1]).fetch(dispatch())
    assert (receipt.fault, receipt.dispatched) == (Fault.UNREACHABLE, False)


@pytest.mark.requirement("ADP-2")
@pytest.mark.parametrize(
    "handler", [saying(), saying(b"SSH-2.0-x\r\n")], ids=["silence", "silence after the version"]
)
async def test_a_silent_server_is_a_timeout_and_was_sent_nothing(handler: Handler) -> None:
    async with raw_server(handler) as port:
        receipt = await adapter(port).fetch(dispatch(timeout_s=0.3))
    assert (receipt.fault, receipt.dispatched) == (Fault.TIMEOUT, False)


class _Admits(asyncssh.SSHServer):
    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return bool(username == "reader")


class _AsksForPassword(asyncssh.SSHServer):
    """Lets in whoever offers any password."""

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return True


@asynccontextmanager
async def ssh_server(
    process: Callable[[Any], Awaitable[None]] | None,
    server: type[asyncssh.SSHServer] = _Admits,
    **options: Any,
) -> AsyncIterator[int]:
    settings: dict[str, Any] = {"server_host_keys": [HOST_KEY], **options}
    listener = await asyncssh.listen(
        "127.0.0.1",
        0,
        server_factory=server,
        process_factory=process,
        config=None,
        **settings,
    )
    try:
        yield listener.get_port()
    finally:
        listener.close()
        await listener.wait_closed()


async def answer(process: Any) -> None:
    assert process.command == PROGRAM
    process.stdout.write("{}")
    process.exit(0)


@pytest.mark.requirement("ADP-1")
async def test_another_server_than_openssh_is_understood_too() -> None:
    async with ssh_server(answer) as port:
        receipt = await adapter(port).fetch(dispatch())
    assert (receipt.fault, receipt.raw, receipt.exit_code) == (None, b"{}", 0)


@pytest.mark.requirement("ADP-3")
@pytest.mark.parametrize("status", [1, 255, 256, 512, 0xC0000005, 2**32 - 1])
async def test_an_exit_status_is_taken_whole(status: int) -> None:
    async def leave(process: Any) -> None:
        process.stdout.write("{}")
        process.channel._send_request(b"exit-status", status.to_bytes(4, "big"))
        process.close()

    async with ssh_server(leave) as port:
        receipt = await adapter(port).fetch(dispatch())
    assert (receipt.fault, receipt.raw, receipt.exit_code) == (None, b"{}", status)


@pytest.mark.requirement("RES-1")
async def test_a_status_that_the_library_handles_elsewhere_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ssh_exchange, "_STATUS_HANDLER", "get_exit_status")
    async with ssh_server(answer) as port:
        receipt = await adapter(port).fetch(dispatch())
    assert (receipt.fault, receipt.exit_code) == (Fault.UNREACHABLE, None)
    assert b"no exit status" in receipt.diagnostics


@pytest.mark.requirement("RES-1")
async def test_an_answer_without_exit_status_is_none() -> None:
    async def close(process: Any) -> None:
        process.stdout.write("{}")
        process.stdout.write_eof()
        process.close()

    async with ssh_server(close) as port:
        receipt = await adapter(port).fetch(dispatch())
    assert (receipt.fault, receipt.exit_code, receipt.dispatched) == (Fault.UNREACHABLE, None, True)
    assert b"no exit status" in receipt.diagnostics


@pytest.mark.requirement("RES-1")
async def test_an_exit_status_does_not_stand_for_the_end_of_stdout() -> None:
    async def leave(process: Any) -> None:
        await process.stdin.read()  # then the client reads, and nothing comes before it does
        process.stdout.write("[1")
        process.channel._send_request(b"exit-status", (0).to_bytes(4, "big"))
        connection = process.channel.get_connection()
        connection._send_disconnect(asyncssh.DISC_BY_APPLICATION, "bye", "en")

    async with ssh_server(leave) as port:
        receipt = await adapter(port).fetch(dispatch())
    assert (receipt.fault, receipt.raw, receipt.exit_code) == (Fault.UNREACHABLE, b"[1", None)


@pytest.mark.requirement("ADP-2")
async def test_the_server_is_told_to_kill_what_runs_past_the_deadline() -> None:
    told: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    class Session(asyncssh.SSHServerSession[str]):
        def exec_requested(self, command: str) -> bool:
            return True

        def signal_received(self, signal: str) -> None:
            told.set_result(signal)

    class Hangs(_Admits):
        def session_requested(self) -> asyncssh.SSHServerSession[str]:
            return Session()

    async with ssh_server(None, Hangs) as port:
        receipt = await adapter(port).fetch(dispatch(timeout_s=5))
        assert (receipt.fault, receipt.dispatched) == (Fault.TIMEOUT, True)
        assert await asyncio.wait_for(told, 10) == "KILL"


@pytest.mark.requirement("ADP-5")
async def test_no_password_is_ever_offered() -> None:
    async with ssh_server(answer, _AsksForPassword) as port:
        receipt = await adapter(port).fetch(dispatch())
    assert (receipt.fault, receipt.dispatched) == (Fault.DENIED, False)


@pytest.mark.requirement("RES-1")
async def test_a_server_that_only_speaks_compressed_is_refused() -> None:
    async with ssh_server(answer, compression_algs=["zlib@openssh.com"]) as port:
        receipt = await adapter(port).fetch(dispatch())
    assert (receipt.fault, receipt.dispatched) == (Fault.UNREACHABLE, False)


@pytest.mark.requirement("ADP-1")
async def test_a_command_that_the_server_will_not_start_gave_no_answer() -> None:
    class Refuses(_Admits):
        def session_requested(self) -> bool:
            return False

    async with ssh_server(None, Refuses) as port:
        receipt = await adapter(port).fetch(dispatch())
    assert (receipt.fault, receipt.dispatched) == (Fault.UNREACHABLE, False)


OTHER_KINDS = (
    asyncssh.generate_private_key("ecdsa-sha2-nistp256"),
    asyncssh.generate_private_key("ssh-rsa", key_size=2048),
)
STRANGERS = {
    "another key": OTHER_KEY,
    "a key of another kind": OTHER_KINDS[0],
    "an old kind of key": OTHER_KINDS[1],
}


@pytest.mark.requirement("ADP-1", "AUD-6")
@pytest.mark.parametrize("key", STRANGERS.values(), ids=STRANGERS)
async def test_a_host_that_shows_no_pinned_key_is_told_as_such_and_was_sent_nothing(
    key: asyncssh.SSHKey, caplog: pytest.LogCaptureFixture
) -> None:
    async with ssh_server(answer, server_host_keys=[key]) as port:
        receipt = await adapter(port).fetch(dispatch())
    assert (receipt.fault, receipt.dispatched, receipt.raw) == (Fault.HOST_KEY, False, b"")
    assert caplog.messages == [
        (
            f"call {dispatch().request_id}: 127.0.0.1:{port} shows no key that keys/known_hosts"
            " pins: another host may stand in its place"
        )
    ]


@pytest.mark.requirement("ADP-1")
async def test_a_host_with_keys_of_several_kinds_is_asked_for_the_pinned_one() -> None:
    async with ssh_server(answer, server_host_keys=[*OTHER_KINDS, HOST_KEY]) as port:
        receipt = await adapter(port).fetch(dispatch())
    assert (receipt.fault, receipt.raw) == (None, b"{}")


GOOD_PINS = {
    "the host": f"ci.example {PUBLIC}",
    "among others": f"# ours\nother.example ssh-rsa AAAA\nci.example,10.0.0.1 {PUBLIC}\n",
    "a pattern": f"*.example {PUBLIC}",
    "an authority": f"@cert-authority ci.example {PUBLIC}",
    "hashed": "|1|F1E1KeoE/eEWhi10WpGv4OdiO6Y=|3988QV0VE8wmZL7suNrYQLITLCg= " + PUBLIC,
}


@pytest.mark.requirement("ADP-1")
@pytest.mark.parametrize("name", GOOD_PINS)
def test_a_line_of_known_hosts_pins_its_host(name: str) -> None:
    host = "192.168.1.61" if name == "hashed" else "ci.example"
    pins = read_pins(GOOD_PINS[name].encode(), host, 22)
    assert (*pins.hosts, *pins.authorities) == (HOST_KEY.convert_to_public(),)


NO_PINS = {
    "nothing": (b"", 22, "holds no key of ci.example"),
    "another host": (f"x.example {PUBLIC}".encode(), 22, "holds no key of ci.example"),
    "another port": (f"ci.example {PUBLIC}".encode(), 2222, r"holds no key of \[ci.example\]:2222"),
    "a port for none": (f"[ci.example]:2222 {PUBLIC}".encode(), 22, "holds no key"),
    "revoked alone": (f"@revoked ci.example {PUBLIC}".encode(), 22, "holds no key"),
    "a key that is none": (b"ci.example ssh-ed25519 AAAA", 22, "holds no key"),
    "a word": (b"MARKER", 22, "not in the form"),
    "another marker": (f"@any ci.example {PUBLIC}".encode(), 22, "not in the form"),
    "no text": (b"\xff\xfe", 22, "not in the form"),
}


@pytest.mark.requirement("ADP-1")
@pytest.mark.parametrize("name", NO_PINS)
def test_a_file_that_pins_no_key_of_the_host_is_a_configuration_error(name: str) -> None:
    content, port, said = NO_PINS[name]
    with pytest.raises(ConfigurationError, match=said) as caught:
        read_pins(content, "ci.example", port)
    assert "MARKER" not in str(caught.value)


@pytest.mark.requirement("ADP-1")
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"credential": None}, "one of them"),
        ({"agent": True}, "one of them"),
        ({"credential": "not a name"}, "the secret itself never stands"),
    ],
    ids=["no key", "key and agent", "credential that may be the secret"],
)
def test_settings_of_no_use_are_a_configuration_error(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        adapter(2222, **settings)


@pytest.mark.requirement("ADP-5")
def test_a_key_of_several_lines_is_read_and_each_of_its_lines_is_masked() -> None:
    key = CLIENT_KEY.export_private_key().decode()
    credentials = Credentials(environ={"SSH_KEY": key})
    assert credentials.read("SSH_KEY", has_lines=True) == key
    secret = key.splitlines()[2]
    assert credentials.mask(f"a {secret} b") == "a *** b"
    assert credentials.mask(key.splitlines()[0]) == key.splitlines()[0]
    with pytest.raises(CredentialUnreadable, match="control characters"):
        credentials.read("SSH_KEY")


@pytest.mark.requirement("ADP-5")
async def test_a_credential_that_is_not_there_goes_nowhere() -> None:
    receipt = await adapter(2222, credential="ABSENT").fetch(dispatch())
    assert (receipt.fault, receipt.dispatched) == (Fault.CREDENTIAL, False)
