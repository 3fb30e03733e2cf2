"""The ssh adapter of one contract: its pinned file read, its library there (SPEC ADP-1)."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from sluicegate.adapters.credentials import Credentials
from sluicegate.contracts.contract import SshFetch
from sluicegate.errors import ConfigurationError
from sluicegate.gates.ports import Adapter
from sluicegate.opening.documents import read_inside, say_unread
from sluicegate.values.names import show_name


def build_ssh(fetch: SshFetch, root: Path, credentials: Credentials) -> Adapter:
    """Return the adapter; ``root`` is the folder that ``known_hosts`` stands in.

    Raises: ConfigurationError where asyncssh is absent, where the file cannot be read or leads
    out of the folder, and where it pins no key of the host.
    """
    _demand_library()
    from sluicegate.adapters.ssh import SshAdapter

    home = root.resolve()
    content = read_inside(home, home / fetch.known_hosts)
    if not isinstance(content, bytes):
        name = show_name(fetch.known_hosts)
        raise ConfigurationError(f"known_hosts, {name}, {say_unread(content)}")
    return SshAdapter(fetch, credentials, content)


def read_ssh_key(name: str, credentials: Credentials) -> None:
    """See that the credential ``name`` is a key that ssh can sign with.

    Raises: CredentialUnreadable; ConfigurationError where asyncssh is absent.
    """
    _demand_library()
    from sluicegate.adapters.ssh_keys import read_key

    read_key(credentials.read(name, has_lines=True), name)


def _demand_library() -> None:
    if find_spec("asyncssh") is None:
        raise ConfigurationError("ssh is spoken by asyncssh: install sluicegate[ssh]")
