"""A Redis of its own for the tests that share keys: begun on a free port, killed, held, begun anew.

Without ``redis-server`` the tests skip, and in CI they fail.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import redis

LASTING = ("--appendonly", "yes", "--appendfsync", "always")
_PATIENCE_S = 20.0


class RedisServer:
    """One process of ``redis-server`` over one folder; ``options`` stand behind those that last."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self.port = _free_port()
        self._options = (*LASTING, *options)
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def address(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Begin the process over what is in the folder, and wait until it answers."""
        program = shutil.which("redis-server")
        assert program is not None
        options = ("--port", str(self.port), "--dir", str(self.folder), "--save", "")
        self._process = subprocess.Popen(
            [program, *options, "--bind", "127.0.0.1", "--loglevel", "warning", *self._options],
            stdout=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + _PATIENCE_S
        while not self._answers():
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.01)

    def kill(self) -> None:
        """End it as a crash would."""
        self._signal(signal.SIGKILL)
        assert self._process is not None
        self._process.wait(_PATIENCE_S)

    def hold(self) -> None:
        """Let it take nothing and answer nothing, until it is let go."""
        self._signal(signal.SIGSTOP)

    def let_go(self) -> None:
        self._signal(signal.SIGCONT)

    def client(self) -> redis.Redis:
        return redis.Redis.from_url(self.address, protocol=2)

    def names(self) -> list[bytes]:
        """The name of everything that stands in it."""
        with self.client() as client:
            return sorted(client.keys("*"))

    def content(self) -> bytes:
        """Everything that it wrote to its disk."""
        found = [path.read_bytes() for path in self.folder.rglob("*") if path.is_file()]
        return b"".join(found)

    def _signal(self, number: int) -> None:
        assert self._process is not None
        with suppress(ProcessLookupError):
            os.kill(self._process.pid, number)

    def _answers(self) -> bool:
        try:
            with self.client() as client:
                return bool(client.ping())
        except redis.RedisError:
            return False


def demand_program() -> None:
    """Skip where there is no ``redis-server``; in CI that is a failure."""
    if shutil.which("redis-server") is None:
        decide = pytest.fail if "SLUICEGATE_IN_CI" in os.environ else pytest.skip
        decide("the program redis-server is not installed")


@contextmanager
def run_redis(folder: Path, *options: str) -> Iterator[RedisServer]:
    """Run a server over ``folder`` for as long as the block lasts."""
    demand_program()
    folder.mkdir(parents=True, exist_ok=True)
    server = RedisServer(folder, *options)
    try:
        yield server
    finally:
        server.kill()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
