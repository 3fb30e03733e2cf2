"""A real OpenSSH server on a loopback port, run by whoever runs the tests."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

HOST = "127.0.0.1"
BANNER = "Authorised use only. Your address is recorded."
MOTD = "Welcome to ci.example! 3 updates can be installed."


@dataclass(frozen=True, slots=True, kw_only=True)
class Sshd:
    """``known_hosts`` pins this server, ``key`` may log in; the others are as they are named."""

    port: int
    user: str
    known_hosts: bytes
    key: str
    greeted_key: str
    forced_key: str
    foreign_key: str
    locked_key: str
    other_host_key: str


def demand_sshd() -> str:
    """Skip where there is no server; fail where ``.ci/run`` promises one."""
    program = shutil.which("sshd", path="/usr/sbin:/usr/bin:/usr/local/sbin")
    if program is None:
        decide = pytest.fail if "SLUICEGATE_IN_CI" in os.environ else pytest.skip
        decide("there is no sshd; the system package openssh-server brings it")
    return program


def make_key(path: Path, passphrase: str = "") -> tuple[str, str]:
    """Return the private and the public half."""
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", "", "-f", str(path)],
        check=True,
    )
    return path.read_text(), path.with_suffix(".pub").read_text().strip()


@contextmanager
def running_sshd(folder: Path) -> Iterator[Sshd]:
    """Serve until the block ends. The login shell of the account runs the commands."""
    program = demand_sshd()
    keys = {
        name: make_key(folder / name)
        for name in ("host", "client", "greeted", "forced", "foreign", "other_host")
    }
    locked, _ = make_key(folder / "locked", passphrase="hello")
    lines = [
        keys["client"][1],
        # What the profile of an account does that greets on every login.
        f'command="echo \'{MOTD}\'; eval \\"$SSH_ORIGINAL_COMMAND\\"" {keys["greeted"][1]}',
        f'command="echo forced" {keys["forced"][1]}',
    ]
    (folder / "authorized_keys").write_text("\n".join(lines) + "\n")
    (folder / "banner").write_text(BANNER + "\n")
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port = probe.getsockname()[1]
    settings = {
        "ListenAddress": HOST,
        "Port": port,
        "HostKey": folder / "host",
        "PidFile": folder / "sshd.pid",
        "AuthorizedKeysFile": folder / "authorized_keys",
        "Banner": folder / "banner",
        "AcceptEnv": "SLUICEGATE_REQUEST_ID",
        "UsePAM": "no",
        "StrictModes": "no",
        "UseDNS": "no",
        "PasswordAuthentication": "no",
        "KbdInteractiveAuthentication": "no",
        "PermitRootLogin": "prohibit-password",
        "MaxStartups": 100,
    }
    config = folder / "sshd_config"
    config.write_text("".join(f"{key} {value}\n" for key, value in settings.items()))
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # sshd of root starts nowhere else
    log = folder / "log"
    server = subprocess.Popen([program, "-D", "-f", str(config), "-E", str(log)])
    try:
        _wait_until_it_listens(server, port, log)
        yield Sshd(
            port=port,
            user=getpass.getuser(),
            known_hosts=f"[{HOST}]:{port} {keys['host'][1]}\n".encode(),
            key=keys["client"][0],
            greeted_key=keys["greeted"][0],
            forced_key=keys["forced"][0],
            foreign_key=keys["foreign"][0],
            locked_key=locked,
            other_host_key=keys["other_host"][1],
        )
    finally:
        server.terminate()
        server.wait()


def _wait_until_it_listens(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.01)
    raise AssertionError(log.read_text() if log.exists() else "sshd does not start")
