"""Where a gate finds the keys of a signed contract: a JWKS file of the folder, or credentials."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from sluicegate.adapters.credentials import Credentials, CredentialUnreadable
from sluicegate.checks.authentication_hmac import read_secret
from sluicegate.checks.authentication_keys import PublicKeys, Secrets, read_jwks
from sluicegate.contracts.contract import Contract, HttpFetch, JwsSignature, WebhookSignature
from sluicegate.errors import ConfigurationError
from sluicegate.gates.ports import SigningKeys
from sluicegate.opening.documents import read_inside

_LOG: Final = logging.getLogger("sluicegate")
_Stamp: TypeAlias = tuple[int, int, int] | None


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
        try:
            return Secrets(
                keys=tuple(read_signing_secret(name, self._credentials) for name in self._names)
            )
        except CredentialUnreadable as error:
            _LOG.error("signatures of %s cannot be verified: %s", self.scope, error)
            raise


class KeyFile:
    """The public keys of a JWKS file, read again when the file changes.

    What is bad while the gate runs is told once and changes nothing: the old keys stay.
    """

    def __init__(self, root: Path, name: str, scope: str, algorithms: tuple[str, ...]) -> None:
        """Raises: ConfigurationError where the file is bad, or no key of it fits an algorithm."""
        self._root, self._name, self._algorithms = root, name, algorithms
        self.scope: Final = scope
        self._lock = threading.Lock()
        self._stamp = self._look()
        self._keys = self._load()

    def read(self) -> PublicKeys:
        """Return the keys of the file, or those from before it was spoilt."""
        with self._lock:
            stamp = self._look()
            if stamp != self._stamp:
                self._stamp = stamp
                try:
                    self._keys = self._load()
                    _LOG.info("the keys of %s were read anew", self._name)
                except ConfigurationError as error:
                    _LOG.error("the old keys stay: %s", error)
            return self._keys

    def _look(self) -> _Stamp:
        try:
            facts = (self._root / self._name).stat()
        except OSError:
            return None
        return facts.st_mtime_ns, facts.st_size, facts.st_ino

    def _load(self) -> PublicKeys:
        content = read_inside(self._root, self._root / self._name)
        if not isinstance(content, bytes):
            raise ConfigurationError(f"the key file {self._name} {content.message.rstrip('.')}")
        try:
            keys = read_jwks(content)
        except ValueError as error:
            raise ConfigurationError(f"the key file {self._name} {error}") from None
        for algorithm in self._algorithms:
            if not any(key.fits(algorithm) for key in keys.keys):
                raise ConfigurationError(
                    f"the key file {self._name} holds no key for {algorithm}: add one, or take "
                    "it out of `algorithms`"
                )
        return keys


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
