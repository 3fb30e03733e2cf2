"""One ssh connection, one command, one answer (SPEC ADP-1, ADP-2, RES-1).

Each attempt opens a connection of its own and drops it whatever happens. No file of the account
that runs the gate is read: no configuration, no default keys, no known_hosts but the pinned one.
No terminal, no forwarding, no compression, no password.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import asyncssh

from sluicegate.adapters.provenance import MAX_DIAGNOSTICS, ProgramOutput, Provenance
from sluicegate.adapters.ssh_keys import ClientKeys, Pins
from sluicegate.values.receipts import Fault, Receipt

_MAX_BANNER: Final = 1024
_WINDOW: Final = 262_144
"""Bytes that the server may send ahead of us; what exceeds the limit is dropped within it."""

_ANY_KEY: Final = "+ssh-ed25519,ssh-ed448,ecdsa-sha2-*,rsa-sha2-*"
"""Behind the kinds that are pinned, which the server takes first: one that has none of these shows
the key that it has, and is told from a connection that broke."""

_STATUS_HANDLER: Final = "_process_exit_status_request"
"""A channel looks its handlers up by name. This one hands on the lowest byte of a status of four
(RFC 4254, section 6.10), so that 256 would be a success."""

_LOGGER: Final = logging.getLogger("asyncssh")
if _LOGGER.level == logging.NOTSET:
    # It would write user, host and command of every call into the host's log.
    _LOGGER.setLevel(logging.CRITICAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """Where to go and what to run there: constants of the contract."""

    host: str
    port: int
    user: str
    command: str
    pins: Pins


class SshExchange:
    """One attempt's state, so that a deadline at any point still yields an honest receipt."""

    def __init__(self, provenance: Provenance, max_bytes: int) -> None:
        self._provenance = provenance
        self._door = _Door()
        self._output = _Output(max_bytes)

    async def complete(
        self,
        errand: Errand,
        keys: ClientKeys,
        *,
        environment: Mapping[bytes | str, bytes | str],
        feed: bytes | None,
    ) -> Receipt:
        """Run the command to its end, or to the byte limit; stdout is the answer."""
        try:
            connection = await self._connect(errand, keys)
            channel, _ = await connection.create_session(
                lambda: self._output,
                errand.command,
                env=environment,
                send_env=None,
                request_pty=False,
                x11_forwarding=False,
                encoding=None,
                window=_WINDOW,
            )
            if feed is not None:
                channel.write(feed)
            channel.write_eof()
            await self._output.settled
            return self._receive()
        except asyncssh.PermissionDenied:
            return self.fail(Fault.DENIED, "the server refuses our key for this user")
        except asyncssh.HostKeyNotVerifiable as error:
            return self.fail(Fault.HOST_KEY, f"the host key is not the pinned one: {error}")
        except Exception as error:  # noqa: BLE001  (a server that lies makes the library raise anything)
            return self.fail(Fault.UNREACHABLE, f"{type(error).__name__}: {error}")
        finally:
            await self._end()

    def fail(self, fault: Fault, diagnostics: str) -> Receipt:
        """Return what is known of a failed attempt; bytes that came are evidence, not an answer."""
        return self._receipt(fault, diagnostics)

    async def _connect(self, errand: Errand, keys: ClientKeys) -> asyncssh.SSHClientConnection:
        pins = errand.pins
        # What is not named here is read from ~/.ssh or the environment, so all of it is named.
        return await asyncssh.connect(
            errand.host,
            errand.port,
            config=None,
            tunnel=None,
            proxy_command=None,
            client_factory=lambda: self._door,
            known_hosts=(list(pins.hosts), list(pins.authorities), list(pins.revoked)),
            server_host_key_algs=_ANY_KEY,
            x509_trusted_certs=None,
            x509_trusted_cert_paths=None,
            username=errand.user,
            client_keys=list(keys),
            agent_path=None,
            agent_forwarding=False,
            preferred_auth="publickey",
            public_key_auth=True,
            password_auth=False,
            kbdint_auth=False,
            host_based_auth=False,
            gss_host=None,
            gss_kex=False,
            gss_auth=False,
            canonicalize_hostname=False,
            compression_algs=["none"],
            login_timeout=0,  # our own deadline is the one that counts
        )

    async def _end(self) -> None:
        """Drop the connection; ask first that a command which still runs be killed.

        The server decides whether it does: OpenSSH kills the process group, but not that of a
        forced command, nor where root logs in.
        """
        connection, channel = self._door.connection, self._output.channel
        if channel is not None and not self._output.has_ended:
            with suppress(OSError, asyncssh.Error):
                channel.kill()
        if connection is not None:
            connection.abort()
            await connection.wait_closed()

    def _receive(self) -> Receipt:
        output = self._output
        if output.written.is_too_large:
            return self._receipt(Fault.TOO_LARGE, "")
        if output.signal is not None:
            return self._receipt(Fault.UNREACHABLE, f"ended by the signal {output.signal}")
        # A channel that the server closed is at its end too; one that went with its connection is
        # not, for OpenSSH sends the exit status before the last bytes of stdout.
        is_closed = output.is_closed and output.error is None and not self._door.is_lost
        if output.exit_status is None or not (output.has_eof or is_closed):
            lost = "" if output.error is None else f": {output.error}"
            return self._receipt(Fault.UNREACHABLE, f"no exit status, or no end of stdout{lost}")
        return self._receipt(None, "")

    def _receipt(self, fault: Fault | None, text: str) -> Receipt:
        said = (
            self._door.banner,
            bytes(self._output.written.stderr),
            text.encode("utf-8", "replace"),
        )
        return Receipt(
            adapter=self._provenance.adapter,
            adapter_version=self._provenance.version,
            endpoint=self._provenance.endpoint,
            raw=bytes(self._output.written.stdout),
            fault=fault,
            dispatched=self._output.channel is not None,
            exit_code=None if fault is not None else self._output.exit_status,
            diagnostics=b"\n".join(part for part in said if part)[-MAX_DIAGNOSTICS:],
        )


class _Door(asyncssh.SSHClient):
    """Keeps the connection, so that it is dropped even where connecting is cut off."""

    def __init__(self) -> None:
        self.connection: asyncssh.SSHClientConnection | None = None
        self.banner = b""
        self.is_lost = False

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        self.connection = conn

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_lost = True

    def auth_banner_received(self, msg: str, lang: str) -> None:
        room = _MAX_BANNER - len(self.banner)
        self.banner += msg[:room].encode("utf-8", "replace")[:room]


class _Output(asyncssh.SSHClientSession[bytes]):
    """Collects what the command writes; says when it is done."""

    def __init__(self, max_bytes: int) -> None:
        self.written: Final = ProgramOutput(max_bytes)
        self.channel: asyncssh.SSHClientChannel[bytes] | None = None
        self.exit_status: int | None = None
        self.signal: str | None = None
        self.error: Exception | None = None
        self.has_eof = False
        self.is_closed = False
        self._whole_status: int | None = None
        self.settled: Final[asyncio.Future[None]] = asyncio.get_running_loop().create_future()

    @property
    def has_ended(self) -> bool:
        """Whether the server said how the command ended."""
        return self.exit_status is not None or self.signal is not None

    def connection_made(self, chan: asyncssh.SSHClientChannel[bytes]) -> None:
        # The next packet holds the command: from here on it may run.
        self.channel = chan
        handle = getattr(chan, _STATUS_HANDLER)

        def keep_whole(packet: Any) -> Any:
            self._whole_status = int.from_bytes(packet.get_remaining_payload()[:4], "big")
            return handle(packet)

        setattr(chan, _STATUS_HANDLER, keep_whole)

    def data_received(self, data: bytes, datatype: Any) -> None:
        if datatype is not None:
            self.written.take_stderr(data)
            return
        self.written.take_stdout(data)
        if self.written.is_too_large:
            self._settle()

    def eof_received(self) -> bool:
        self.has_eof = True
        if self.has_ended:
            self._settle()
        return True

    def exit_status_received(self, status: int) -> None:
        self.exit_status = self._whole_status  # none, if the library handles it elsewhere
        if self.has_eof:  # they come in either order
            self._settle()

    def exit_signal_received(self, signal: str, core_dumped: bool, msg: str, lang: str) -> None:
        self.signal = signal[:64]
        self._settle()

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_closed, self.error = True, exc
        self._settle()

    def _settle(self) -> None:
        if not self.settled.done():
            self.settled.set_result(None)
