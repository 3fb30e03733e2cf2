"""A PostgreSQL server of its own, which a test may stop, kill and start again."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from sluicegate.stores.postgres_place import Place, find_place

ACCOUNT = "postgres"
"""The server refuses to run as root; this account comes with the system's package."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A server on a port of loopback, its files in ``folder``."""

    programs: Path
    folder: Path
    port: int

    def place(self, chain: str) -> Place:
        """Return where a chain of this server stands."""
        return find_place(f"postgresql://{ACCOUNT}@127.0.0.1:{self.port}/postgres?chain={chain}")

    def start(self) -> None:
        """Start, and wait until it answers."""
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1"
        log = self.folder / "log"
        self._control("start", "--wait", "--log", str(log), "--options", options)

    def stop(self, mode: str = "immediate") -> None:
        """Stop; ``immediate`` is a crash: nothing is flushed, and the next start recovers."""
        self._control("stop", "--mode", mode)

    def _control(self, *arguments: str) -> None:
        run(self.programs / "pg_ctl", "--pgdata", str(self.folder / "data"), *arguments)


def run(*command: str | Path) -> None:
    """Run one of the server's programs, as an account that is not root."""
    root = os.geteuid() == 0
    subprocess.run(
        [str(word) for word in command],
        check=True,
        user=ACCOUNT if root else None,
        group=ACCOUNT if root else None,
        extra_groups=[] if root else None,
        cwd="/",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@cache
def find_programs() -> Path:
    """Return the folder of ``initdb`` and ``pg_ctl``; skip without them, in CI fail."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: path.parent.name)
    if not folders:
        decide = pytest.fail if "SLUICEGATE_IN_CI" in os.environ else pytest.skip
        decide("there is no initdb; the system package postgresql brings it")
    return folders[-1]


@contextmanager
def running_cluster() -> Iterator[Cluster]:
    """Make and start a server; its files go with the block."""
    programs = find_programs()
    folder = Path(tempfile.mkdtemp(prefix="sluicegate-postgres-"))
    if os.geteuid() == 0:
        account = pwd.getpwnam(ACCOUNT)
        os.chown(folder, account.pw_uid, account.pw_gid)
    cluster = Cluster(programs=programs, folder=folder, port=free_port())
    try:
        run(
            programs / "initdb",
            *("--pgdata", folder / "data", "--username", ACCOUNT, "--auth", "trust"),
            *("--encoding", "UTF8", "--locale", "C", "--no-sync"),
        )
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop()
    finally:
        shutil.rmtree(folder)


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
