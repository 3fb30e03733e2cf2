"""One command, one process group, one answer (SPEC ADP-1, ADP-3, RES-1).

The program gets an empty environment plus the contract's allow-list, no inherited descriptors
and a session of its own. The answer ends when the program itself ends; whatever it left behind
in its process group is killed then, and killed likewise at the deadline, at the byte limit and on
cancellation.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, cast

from sluicegate.adapters.credentials import Credentials, CredentialUnreadable, check_credential_name
from sluicegate.adapters.endpoints import tell_command
from sluicegate.adapters.provenance import PACKAGE_VERSION, ProgramOutput, Provenance
from sluicegate.adapters.templates import CommandTemplate, Unfit
from sluicegate.contracts.contract import CommandFetch
from sluicegate.errors import ConfigurationError
from sluicegate.gates.ports import Dispatch
from sluicegate.values.receipts import Fault, Receipt

REQUEST_ID_VARIABLE: Final = "SLUICEGATE_REQUEST_ID"
"""A command that answers with an envelope echoes this id (SPEC ENV-3)."""

SEARCH_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
"""Where a bare program name is looked up; never the PATH of the gate's own environment."""

_DRAIN_S: Final = 0.25
"""How long an ended program's output may still be held open by a process that left its group."""

_REAP_S: Final = 2.0
_STDOUT: Final = 1
_STDERR: Final = 2


class CommandAdapter:
    """Runs one program. Program, directory, environment names and credential are constants."""

    name: Final = "command"
    version: Final = PACKAGE_VERSION

    def __init__(
        self,
        fetch: CommandFetch,
        credentials: Credentials,
        *,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """Raises: ConfigurationError for an argv, variable or credential name of no use."""
        self._fetch = fetch
        self._credentials = credentials
        self._environ = os.environ if environ is None else environ
        self._argv: Final = CommandTemplate(fetch.argv)
        self._program: Final = _find_program(self._argv.program)
        if (fetch.credential is None) != (fetch.credential_variable is None):
            raise ConfigurationError("credential and credential_variable stand together")
        if fetch.credential is not None:
            check_credential_name(fetch.credential)
        for variable in (*fetch.environment, fetch.credential_variable or "x"):
            if not variable or "=" in variable or "\0" in variable:
                raise ConfigurationError(f"{variable!r} is no name of an environment variable")
        self.endpoint: Final = tell_command(fetch.argv)
        self._provenance: Final = Provenance(self.name, self.version, self.endpoint)

    async def fetch(self, dispatch: Dispatch) -> Receipt:
        """Run the command once within ``dispatch.timeout_s``; stdout is the answer."""
        arguments = self._argv.expand(dispatch.arguments)
        if isinstance(arguments, Unfit):
            return self._unsent(Fault.BAD_ARGUMENT, str(arguments))
        if self._program is None:
            return self._unsent(Fault.UNREACHABLE, f"the program is not in {SEARCH_PATH}")
        run = _Run(self._provenance, dispatch.max_bytes)
        feed = dispatch.arguments_text if self._fetch.stdin == "arguments" else None
        try:
            async with asyncio.timeout(dispatch.timeout_s):
                receipt = await run.complete(
                    [self._program, *arguments],
                    environment=await self._environment(dispatch.request_id),
                    directory=self._fetch.directory,
                    feed=feed,
                )
        except TimeoutError:
            receipt = run.receive(Fault.TIMEOUT)
        except CredentialUnreadable as error:
            return self._unsent(Fault.CREDENTIAL, str(error))
        except (OSError, ValueError) as error:  # ValueError: what exec itself cannot take
            return self._unsent(Fault.UNREACHABLE, f"the program cannot start: {error}")
        return self._credentials.without_secrets(receipt)

    async def keep(self, dispatch: Dispatch, receipt: Receipt) -> None:
        """Nothing is kept."""

    async def close(self) -> None:
        """Nothing runs between two calls; a call in flight ends by its own deadline."""

    async def _environment(self, request_id: str) -> dict[str, str]:
        environment = {
            name: self._environ[name] for name in self._fetch.environment if name in self._environ
        }
        environment[REQUEST_ID_VARIABLE] = request_id
        variable, credential = self._fetch.credential_variable, self._fetch.credential
        if variable is not None and credential is not None:
            environment[variable] = await asyncio.to_thread(self._credentials.read, credential)
        return environment

    def _unsent(self, fault: Fault, diagnostics: str) -> Receipt:
        return self._provenance.fail(
            fault, dispatched=False, diagnostics=self._credentials.mask(diagnostics)
        )


class _Output(asyncio.SubprocessProtocol):
    """Collects what the program writes; says when it is done."""

    def __init__(self, max_bytes: int) -> None:
        loop = asyncio.get_running_loop()
        self.written: Final = ProgramOutput(max_bytes)
        self.settled: Final[asyncio.Future[None]] = loop.create_future()  # ended, or too large
        self.ended: Final[asyncio.Future[None]] = loop.create_future()
        self.closed: Final[asyncio.Future[None]] = loop.create_future()
        self._open = {_STDOUT, _STDERR}

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        chunk = cast("bytes", data)
        if fd == _STDERR:
            self.written.take_stderr(chunk)
            return
        self.written.take_stdout(chunk)
        if self.written.is_too_large:
            _resolve(self.settled)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open.discard(fd)
        if not self._open:
            _resolve(self.closed)

    def process_exited(self) -> None:
        _resolve(self.ended)
        _resolve(self.settled)


class _Run:
    """One process from its start to its burial."""

    def __init__(self, provenance: Provenance, max_bytes: int) -> None:
        self._provenance = provenance
        self._output = _Output(max_bytes)
        self._exit_code: int | None = None
        self._is_started = False

    async def complete(
        self,
        argv: list[str],
        *,
        environment: Mapping[str, str],
        directory: str | None,
        feed: bytes | None,
    ) -> Receipt:
        """Run to the end, or to the byte limit. Raises: OSError if nothing could be started."""
        transport = await self._start(
            argv, environment=environment, directory=directory, has_input=feed is not None
        )
        try:
            if feed is not None:
                stdin = cast("asyncio.WriteTransport", transport.get_pipe_transport(0))
                stdin.write(feed)
                stdin.write_eof()
            await asyncio.shield(self._output.settled)
            if not self._output.written.is_too_large:
                self._exit_code = transport.get_returncode()
                _kill_group(transport)
                await asyncio.wait({self._output.closed}, timeout=_DRAIN_S)
        finally:
            await self._end(transport)
        return self.receive(Fault.TOO_LARGE if self._output.written.is_too_large else None)

    def receive(self, fault: Fault | None) -> Receipt:
        """Return what has come so far as a receipt."""
        return Receipt(
            adapter=self._provenance.adapter,
            adapter_version=self._provenance.version,
            endpoint=self._provenance.endpoint,
            raw=bytes(self._output.written.stdout),
            fault=fault,
            dispatched=self._is_started,
            exit_code=None if fault is not None else self._exit_code,
            diagnostics=bytes(self._output.written.stderr),
        )

    async def _end(self, transport: asyncio.SubprocessTransport) -> None:
        """Kill what is left of the group, and see the program buried."""
        _kill_group(transport)
        try:
            # SIGKILL was sent, so the wait is short; a second cancellation may cut it.
            await asyncio.wait({self._output.ended}, timeout=_REAP_S)
        finally:
            transport.close()

    async def _start(
        self,
        argv: list[str],
        *,
        environment: Mapping[str, str],
        directory: str | None,
        has_input: bool,
    ) -> asyncio.SubprocessTransport:
        self._is_started = True  # from here on the program may run, unless OSError says otherwise
        starting = asyncio.ensure_future(
            asyncio.get_running_loop().subprocess_exec(
                lambda: self._output,
                *argv,
                stdin=asyncio.subprocess.PIPE if has_input else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=environment,
                cwd=directory,
                close_fds=True,
                start_new_session=True,
            )
        )
        try:
            transport, _ = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # Forked, perhaps, while we were cancelled: the group must not outlive the call.
            transport, _ = await starting
            await self._end(transport)
            raise
        return transport


def _find_program(program: str) -> str | None:
    if "/" in program:
        if not Path(program).is_absolute():
            raise ConfigurationError(
                f"{program!r}: name the program alone ({SEARCH_PATH} is searched), or absolutely"
            )
        return program
    return shutil.which(program, path=SEARCH_PATH)


def _kill_group(transport: asyncio.SubprocessTransport) -> None:
    """Kill the session that the program leads. Its id stays taken while any member lives."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(transport.get_pid(), signal.SIGKILL)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
