"""Where a gate finds the keys of a signed contract: a JWKS file of the folder, or credentials."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from sluicegate.adapters.credentials import Credentials, CredentialUnreadable
from sluicegate.checks.authentication_hmac import read_secret
from sluicegate.checks.authentication_keys import (
    JwksUnfinished,
    PublicKeys,
    Secrets,
    read_jwks,
)
from sluicegate.contracts.contract import Contract, HttpFetch, JwsSignature, WebhookSignature
from sluicegate.errors import ConfigurationError
from sluicegate.gates.ports import KeyUnreadable, SigningKeys
from sluicegate.opening.documents import read_inside, say_unread

_LOG: Final = logging.getLogger("sluicegate")
_Stamp: TypeAlias = tuple[int, int, int, int] | None


def read_signing_secret(name: str, credentials: Credentials) -> bytes:
    """Return the shared secret called ``name``. Raises: CredentialUnreadable."""
    text = credentials.read(name)
    try:
        return read_secret(text)
    except ValueError as error:
        raise CredentialUnreadable(f"credential {name} {error}") from None


class CredentialSecrets:
    """Shared secrets, read anew for each answer; each that the contract names must be readable."""

    def __init__(self, names: tuple[str, ...], scope: str, credentials: Credentials) -> None:
        self._names, self._credentials = names, credentials
        self.scope: Final = scope

    def read(self) -> Secrets:
        """Return the secrets. Raises: CredentialUnreadable, whose text holds none of them."""
        return Secrets(keys=tuple(self._read(name) for name in self._names))

    def _read(self, name: str) -> bytes:
        try:
            return read_signing_secret(name, self._credentials)
        except CredentialUnreadable as error:
            _LOG.error("signatures of %s cannot be verified: %s", self.scope, error)
            raise _SecretUnreadable(str(error), name) from error


class KeyFile:
    """The public keys of a JWKS file, read again when the file changes.

    A key that the newest whole file does not hold is never given, for that is how one is revoked.
    So a file that is gone, cannot be read or is no JWKS gives none. One that is being written
    leaves the keys as they are. Each of these is told once. Not for several threads at once.
    """

    def __init__(self, root: Path, name: str, scope: str, algorithms: tuple[str, ...]) -> None:
        """Raises: ConfigurationError where the file is bad, or no key of it fits an algorithm."""
        self._root, self._name, self._algorithms = root, name, algorithms
        self.scope: Final = scope
        self._told = ""
        self._stamp = self._look()
        self._keys: PublicKeys | None = self._load()
        lacking = self._find_lacking(self._keys)
        if lacking:
            raise ConfigurationError(
                f"the key file {name} holds no key for {lacking[0]}: add one, or take it out of "
                "`algorithms`"
            )

    def read(self) -> PublicKeys:
        """Return the keys of the file. Raises: ConfigurationError where it gives none."""
        try:
            return self._read()
        except ConfigurationError as error:
            raise _FileUnreadable(str(error), self._name) from error

    def _read(self) -> PublicKeys:
        stamp = self._look()
        if stamp == self._stamp and self._keys is not None:
            return self._keys
        known, self._keys = self._keys, None  # until it is known what became of the file
        try:
            self._keys = self._load_again()
        except _BeingWritten as error:
            if known is None:
                self._tell(f"no answer can be verified: {error}")
                raise
            self._tell(f"the keys stay until the file is whole: {error}")
            self._keys = known
        except ConfigurationError as error:
            self._tell(f"no answer can be verified: {error}")
            raise
        self._stamp = stamp
        return self._keys

    def _load_again(self) -> PublicKeys:
        """Take the file as it is, where one key at least can verify an answer."""
        keys = self._load()
        lacking = self._find_lacking(keys)
        if len(lacking) == len(self._algorithms):
            raise ConfigurationError(f"the key file {self._name} holds no key that fits")
        self._told = ""
        _LOG.info("the keys of %s were read anew", self._name)
        if lacking:
            _LOG.warning("%s holds no key for %s any more", self._name, ", ".join(lacking))
        return keys

    def _tell(self, line: str) -> None:
        if line != self._told:
            self._told = line
            _LOG.error("%s", line)

    def _look(self) -> _Stamp:
        """Return what differs once the file is written, replaced, or closed to this process."""
        try:
            facts = (self._root / self._name).stat()
        except OSError:
            return None
        return facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size, facts.st_ino

    def _load(self) -> PublicKeys:
        content = read_inside(self._root, self._root / self._name)
        if not isinstance(content, bytes):
            raise ConfigurationError(f"the key file {self._name} {say_unread(content)}")
        try:
            return read_jwks(content)
        except JwksUnfinished as error:
            raise _BeingWritten(f"the key file {self._name} {error}") from None
        except ValueError as error:
            raise ConfigurationError(f"the key file {self._name} {error}") from None

    def _find_lacking(self, keys: PublicKeys) -> list[str]:
        """Return the algorithms that no key fits."""
        return [name for name in self._algorithms if not any(k.fits(name) for k in keys.keys)]


class _BeingWritten(ConfigurationError):  # noqa: N818  (a state of the file)
    """The file is not whole."""


class _SecretUnreadable(CredentialUnreadable, KeyUnreadable):
    """A shared secret that the contract names."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text)
        self.name = name


class _FileUnreadable(ConfigurationError, KeyUnreadable):  # noqa: N818  (a state of the file)
    """The key file that the contract names."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text)
        self.name = name


def find_keys(contract: Contract, root: Path, credentials: Credentials) -> SigningKeys | None:
    """Return where the keys of ``contract`` come from; None where it demands no signature.

    What shares a memory of replays stays the same while keys are replaced.
    Raises: ConfigurationError where a key file is bad.
    """
    rule = contract.upstream.signature
    if rule is None:
        return None
    if isinstance(rule, WebhookSignature):
        return CredentialSecrets(rule.secrets, f"webhooks of {_sender(contract)}", credentials)
    whose = rule.issuer if isinstance(rule, JwsSignature) else rule.keys
    return KeyFile(root, rule.keys, f"answers of {whose}", rule.algorithms)


def _sender(contract: Contract) -> str:
    """The host that is asked, for ids are unique to who makes them; else the tool."""
    fetch = contract.fetch
    return urlsplit(fetch.url).netloc if isinstance(fetch, HttpFetch) else contract.tool
