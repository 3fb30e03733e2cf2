"""Keys of both sides: which host is believed, and what we sign with (SPEC ADP-1, ADP-5)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, TypeAlias

import asyncssh

from sluicegate.adapters.credentials import CredentialUnreadable
from sluicegate.errors import ConfigurationError

ClientKeys: TypeAlias = Sequence[asyncssh.SSHKey | asyncssh.SSHKeyPair]

_STANDARD_PORT: Final = 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """The keys that known_hosts holds for one host: believed, believed as authority, revoked."""

    hosts: tuple[asyncssh.SSHKey, ...]
    authorities: tuple[asyncssh.SSHKey, ...]
    revoked: tuple[asyncssh.SSHKey, ...]


def read_pins(known_hosts: bytes, host: str, port: int) -> Pins:
    """Return the keys pinned for ``host``; the address that it resolves to pins nothing.

    A port other than 22 needs an entry of its own, ``[host]:port``, as OpenSSH writes it.
    Raises: ConfigurationError where the file is not in the form of known_hosts, or holds no key
    of this host. Its text repeats no line of the file.
    """
    name = host if port == _STANDARD_PORT else f"[{host}]:{port}"
    try:
        found = asyncssh.import_known_hosts(known_hosts.decode("utf-8")).match(name, "", None)
    except ValueError as error:
        raise ConfigurationError(
            "known_hosts is not in the form that OpenSSH writes; ssh-keyscan shows it"
        ) from error
    hosts, authorities, revoked = (tuple(keys) for keys in found[:3])
    if not hosts and not authorities:
        raise ConfigurationError(
            f"known_hosts holds no key of {name}; add it after you compared its fingerprint"
        )
    return Pins(hosts=hosts, authorities=authorities, revoked=revoked)


def read_key(text: str, name: str) -> asyncssh.SSHKey:
    """Return the private key that ``text`` holds; ``name`` is the credential's, for the message.

    Raises: CredentialUnreadable for a key with a passphrase, and for what is no private key.
    """
    try:
        return asyncssh.import_private_key(text + "\n")
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
        if "passphrase" in str(error).lower():
            raise CredentialUnreadable(
                f"the key {name} has a passphrase, which the gate never asks for: name a key "
                "without one, or write `agent: true`"
            ) from error
        raise CredentialUnreadable(
            f"{name} holds no private key in a form that OpenSSH writes"
        ) from error


@asynccontextmanager
async def borrow_agent_keys(path: str) -> AsyncIterator[ClientKeys]:
    """Yield the keys that the agent at the socket ``path`` signs with; its line is closed after.

    Raises: CredentialUnreadable where no agent answers there, or it holds no key.
    """
    if not path:
        raise CredentialUnreadable("SSH_AUTH_SOCK is not set, and so there is no ssh agent to ask")
    try:
        agent = await asyncssh.connect_agent(path)
    except (OSError, ValueError, asyncssh.Error) as error:
        raise CredentialUnreadable(
            f"the ssh agent does not answer: {type(error).__name__}"
        ) from error
    try:
        try:
            keys = await agent.get_keys()
        except (OSError, ValueError, asyncssh.Error) as error:
            raise CredentialUnreadable(
                f"the ssh agent does not list its keys: {type(error).__name__}"
            ) from error
        if not keys:
            raise CredentialUnreadable("the ssh agent holds no key")
        yield tuple(keys)
    finally:
        agent.close()
