"""Credentials live in the gate: contracts name them, and nothing shows them (SPEC ADP-5)."""

from __future__ import annotations

import importlib
import os
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from sluicegate.checks.authentication_signed import payload_of
from sluicegate.errors import ConfigurationError
from sluicegate.gates.plain_files import open_plain
from sluicegate.values.receipts import Fault, Receipt
from sluicegate.values.spellings import holds_text

MASK: Final = "***"
_MAX_BYTES: Final = 65_536
_TELLING: Final = 6
"""A shorter secret stands in ordinary answers by chance, and is no secret worth the name."""
_LEAST_LINE: Final = 16
"""A line of a key is known as a secret from this length on; the short last one would mask words."""
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


class CredentialUnreadable(Exception):  # noqa: N818  (named as its fault)
    """A named credential cannot be read; the text says why and never holds the secret."""


class Credentials:
    """Reads credentials by the name that a contract gives them, anew at each call.

    Names: ``CI_TOKEN`` or ``env:CI_TOKEN`` (environment), ``file:PATH`` (a regular file of mode
    0600 or stricter; relative to ``root``), ``keyring:SERVICE/NAME``. A rotated secret counts
    from the next call on; every secret ever read stays known to ``mask``.
    """

    def __init__(self, root: Path | None = None, environ: Mapping[str, str] | None = None) -> None:
        self._root = root or Path()
        self._environ = os.environ if environ is None else environ
        self._known: set[str] = set()
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return "Credentials(…)"

    def read(self, name: str, *, has_lines: bool = False) -> str:
        """Return the secret called ``name``; with ``has_lines`` it may be a key of several lines.

        Raises: CredentialUnreadable.
        """
        kind, rest = _split(name)
        if kind == "file":
            secret = _read_file(self._root / rest)
        elif kind == "keyring":
            secret = _read_keyring(rest)
        else:
            secret = self._environ.get(rest, "")
            if not secret:
                raise CredentialUnreadable(f"the environment variable {rest} is not set")
        allowed = "\r\n" if has_lines else ""
        if not secret or any(
            (ord(character) < 0x20 and character not in allowed) or character == "\x7f"
            for character in secret
        ):
            raise CredentialUnreadable(f"credential {name} is empty or holds control characters")
        with self._lock:
            self._known.add(secret)
            if has_lines:
                self._known.update(_telling_lines(secret))
        return secret

    def secrets(self) -> frozenset[str]:
        """Return every secret that was read so far, for masking."""
        with self._lock:
            return frozenset(self._known)

    def without_secrets(self, receipt: Receipt) -> Receipt:
        """Return ``receipt`` with every known secret out of headers, diagnostics and answer.

        Headers and diagnostics are masked; what holds a secret in another spelling of JSON is
        masked whole. An answer that echoes a secret, in any spelling, is no answer: its bytes are
        dropped and the fault says so (ADP-5). What a compact JWS bears is looked into as well.
        """
        known = [secret for secret in self.secrets() if len(secret) >= _TELLING]
        diagnostics = receipt.diagnostics.decode("utf-8", "backslashreplace")
        masked = replace(
            receipt,
            headers=tuple(
                (name, self._mask_spelt(value, known)) for name, value in receipt.headers
            ),
            diagnostics=self._mask_spelt(diagnostics, known).encode("utf-8"),
        )
        if holds_text(receipt.raw, *known) or holds_text(payload_of(receipt.raw), *known):
            return replace(masked, raw=b"", fault=Fault.LEAK)
        return masked

    def _mask_spelt(self, text: str, known: Sequence[str]) -> str:
        text = self.mask(text)
        return MASK if holds_text(text.encode("utf-8", "surrogatepass"), *known) else text

    def mask(self, text: str) -> str:
        """Return ``text`` with every known secret replaced."""
        for secret in sorted(self.secrets(), key=len, reverse=True):
            text = text.replace(secret, MASK)
        return text


def check_credential_name(name: str) -> None:
    """See that ``name`` has one of the forms that ``Credentials`` reads.

    Raises: ConfigurationError. The text never repeats a name that might be the secret itself.
    """
    kind, rest = _split(name)
    service, slash, user = rest.partition("/")
    is_good = {
        "env": _VARIABLE.fullmatch(rest) is not None,
        "file": bool(rest) and "\0" not in rest,
        "keyring": bool(service and slash and user),
    }.get(kind, False)
    if not is_good:
        raise ConfigurationError(
            "a credential is named by an environment variable (CI_TOKEN), file:PATH or "
            "keyring:SERVICE/NAME; the secret itself never stands in a contract"
        )


def _telling_lines(secret: str) -> list[str]:
    """The lines of a key that are secret by themselves; every key begins and ends with the same."""
    lines = [line.strip() for line in secret.splitlines()]
    return [line for line in lines if len(line) >= _LEAST_LINE and not line.startswith("-----")]


def _split(name: str) -> tuple[str, str]:
    kind, colon, rest = name.partition(":")
    return (kind, rest) if colon else ("env", name)


def _read_file(path: Path) -> str:
    try:
        file = open_plain(path)
    except OSError as error:
        raise CredentialUnreadable(f"{path} cannot be opened: {error.strerror}") from error
    with file:
        if os.fstat(file.fileno()).st_mode & 0o077:
            raise CredentialUnreadable(f"{path} is open to others; chmod 600 it")
        raw = file.read(_MAX_BYTES + 1)
    if len(raw) > _MAX_BYTES:
        raise CredentialUnreadable(f"{path} is too large for a credential")
    try:
        return raw.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise CredentialUnreadable(f"{path} is not UTF-8 text") from None


def _read_keyring(rest: str) -> str:
    try:
        keyring = importlib.import_module("keyring")
    except ImportError:
        raise CredentialUnreadable(
            "the keyring package is absent: install sluicegate[keyring]"
        ) from None
    service, _, user = rest.partition("/")
    try:
        secret = keyring.get_password(service, user)
    except Exception as error:
        raise CredentialUnreadable(f"the keyring refuses: {type(error).__name__}") from error
    return secret if isinstance(secret, str) else ""
