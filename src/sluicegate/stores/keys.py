"""The keys of the record: for HMACs, the chain, its heads, and those that wrap keys of blobs."""

from __future__ import annotations

import base64
import binascii
import errno
import hashlib
import hmac
import os
import shutil
import stat
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Final, Protocol, cast

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from sluicegate.errors import ConfigurationError
from sluicegate.gates.plain_files import read_plain
from sluicegate.stores.file_lock import FileLock
from sluicegate.stores.whole_files import replace_file, sync_directory

KEY_BYTES: Final = 32
AUDIT_FILE: Final = "audit.key"
CHAIN_FILE: Final = "chain.key"
CUSTODY_FILE: Final = "custody.keyring"
SIGNING_FILE: Final = "signing.key"
_KEYRING_USER: Final = "sluicegate"


_MAX_BYTES: Final = 1_048_576
"""More than any file of keys holds."""


class KeyringEmpty(ConfigurationError):  # noqa: N818  (a state of the keyring)
    """The keyring answers and holds no key: the first gate puts it there, no later one may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditKeys:
    """``audit`` makes the HMACs of the columns, ``chain`` the links, ``custody`` wraps data keys.

    ``custody`` maps the id of a key to the key; ``active`` is the id that wraps new blobs.
    ``remedy`` says how a key comes back to where these stand, ``later`` has the checks of records
    that a key behind the first would carry. Keys never show in ``repr``.
    """

    audit: bytes = field(repr=False)
    chain: bytes = field(repr=False)
    custody: Mapping[str, bytes] = field(repr=False)
    active: str
    remedy: str = field(default="put it back to where audit.keys says", repr=False, compare=False)
    later: frozenset[str] = field(default=frozenset(), repr=False, compare=False)

    @property
    def check(self) -> str:
        """A text that stands in the database and tells whether these are its keys."""
        return _check(self.audit, self.chain)


def draw_keys() -> AuditKeys:
    """Return new random keys that are written nowhere."""
    return _assemble(os.urandom(KEY_BYTES), os.urandom(KEY_BYTES), [os.urandom(KEY_BYTES)])


def demand_keys(spec: str) -> None:
    """Raises: ConfigurationError where the library is not installed that ``spec`` needs."""
    if spec.startswith("keyring:"):
        _import_keyring()


def open_keys(
    spec: str, folder: Path, *, database: Path | None = None, may_create: bool = True
) -> AuditKeys:
    """Open the keys that ``spec`` names: ``file:DIR``, ``env:NAME`` or ``keyring:SERVICE``.

    Keys are created only where nothing stands yet (the directory is missing or empty, the keyring
    holds no entry) and ``may_create`` is true; a key that is missing beside others is an error,
    never replaced. Rejects: a directory that others may read, one that holds ``database``.
    Raises: ConfigurationError, which says how to mend it. Source: SPEC 2 (``audit``), AUD-4.
    """
    scheme, _, rest = spec.partition(":")
    if not rest:
        raise ConfigurationError(
            f"audit.keys is {spec!r}: write file:DIRECTORY, env:NAME or keyring:SERVICE"
        )
    if scheme == "file":
        return _open_directory(folder / rest, database, may_create)
    if scheme == "env":
        return _open_environment(rest)
    if scheme == "keyring":
        return _open_keyring(rest, may_create)
    raise ConfigurationError(
        f"audit.keys names {scheme!r}: only file:, env: and keyring: are known"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CustodyKey:
    """A key that wraps data keys, and the id it is known by."""

    key_id: str
    key: bytes = field(repr=False)


def draw_custody_key() -> CustodyKey:
    """Return a new random custody key that is written nowhere."""
    key = os.urandom(KEY_BYTES)
    return CustodyKey(key_id=_key_id(key), key=key)


def find_key_directory(spec: str, folder: Path) -> Path:
    """Return the key directory that ``spec`` names. Raises: ConfigurationError if it names none."""
    scheme, _, rest = spec.partition(":")
    if scheme != "file" or not rest:
        raise ConfigurationError(
            "only a key directory (audit.keys: file:DIRECTORY) is rotated here; for env: and"
            " keyring: append the new master key to the value, separated by a blank: the last one"
            " becomes active. Open every gate anew with that value; only then wrap the older data"
            " keys anew: `sluicegate audit rotate --rewrap-only --reason TEXT`"
        )
    return folder / rest


def rotate_custody_key(spec: str, folder: Path, new: CustodyKey | None = None) -> str:
    """Add a new custody key to the key directory, make it the active one, and return its id.

    Older keys stay, since older blobs need them until they are wrapped anew, and so do those that
    a running gate seals until it meets the new key. Two who add a key at once both keep it.
    Raises: ConfigurationError.
    """
    directory = find_key_directory(spec, folder)
    _open_directory(directory, None, may_create=False)
    new = new or draw_custody_key()
    path = directory / CUSTODY_FILE
    try:
        with FileLock.once(directory / f"{CUSTODY_FILE}.lock"):
            # A key that is lost between reading and writing takes all that it wrapped with it.
            keys = [*_read_keys(path), new.key]
            lines = "".join(f"{_encode(key)}\n" for key in keys)
            replace_file(path, lines.encode("ascii"), mode=0o600)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}") from error
    return new.key_id


def open_signing_keys(spec: str, folder: Path, *, may_draw: bool) -> tuple[bytes, ...]:
    """Return the Ed25519 keys that heads are signed with, the one in use last.

    They are none of ``AuditKeys``: keys from before there were heads have none, and one is drawn
    in their directory where ``may_draw``, which is where no head was signed yet. With ``env:`` and
    ``keyring:`` it is derived from the first master key. Raises: ConfigurationError where it is
    missing and may not be drawn, or the keys it belongs to cannot be opened. Source: SPEC AUD-3.
    """
    scheme, _, rest = spec.partition(":")
    if scheme == "env" and rest:
        return (_derive_one(_read_environment(rest)[0], "signing"),)
    if scheme == "keyring" and rest:
        return (_derive_one(_read_keyring(rest, may_create=False)[0], "signing"),)
    directory = find_key_directory(spec, folder)
    _open_directory(directory, None, may_create=False)
    path = directory / SIGNING_FILE
    if not path.exists() and may_draw:
        try:
            with FileLock.once(directory / f"{SIGNING_FILE}.lock"):
                if not path.exists():  # else another process came first, and its key is the key
                    line = f"{_encode(os.urandom(KEY_BYTES))}\n"
                    replace_file(path, line.encode("ascii"), mode=0o600)
        except OSError as error:
            raise ConfigurationError(f"{path} cannot be written: {error.strerror}") from error
    return tuple(_read_keys(path))


def _assemble(audit: bytes, chain: bytes, custody: Sequence[bytes]) -> AuditKeys:
    named = {_key_id(key): key for key in custody}
    return AuditKeys(audit=audit, chain=chain, custody=named, active=_key_id(custody[-1]))


def _check(audit: bytes, chain: bytes) -> str:
    return hmac.digest(chain, b"sluicegate keys\0" + audit, "sha256").hex()


def _key_id(key: bytes) -> str:
    return hmac.new(key, b"sluicegate custody key id", hashlib.sha256).hexdigest()[:16]


def demand_apart(directory: Path, database: Path) -> None:
    """Raises: ConfigurationError for a key directory that holds the database, or is no directory.

    Nothing is made, and no key is read.
    """
    if directory.resolve() in (database.parent.resolve(), *database.resolve().parents):
        raise ConfigurationError(
            f"the keys in {directory} stand beside the database they protect: whoever copies one"
            " has both. Name another directory in audit.keys"
        )
    if directory.exists() and not directory.is_dir():
        raise ConfigurationError(
            f"{directory} is no directory: audit.keys names the one that holds the keys"
        )


def _open_directory(directory: Path, database: Path | None, may_create: bool) -> AuditKeys:
    if database is not None:
        demand_apart(directory, database)
    if not directory.exists() or not any(directory.iterdir()):
        if not may_create:
            raise ConfigurationError(
                f"{directory} (audit.keys) holds no keys, but the record they belong to exists: put"
                " the keys back from your backup, or move the old database away to begin a new"
                " record"
            )
        _create_directory(directory)
    _demand_private(directory, 0o700)
    audit = _read_keys(directory / AUDIT_FILE)
    chain = _read_keys(directory / CHAIN_FILE)
    path = directory / CUSTODY_FILE
    keys = _assemble(audit[0], chain[0], _read_keys(path))
    return replace(keys, remedy=f"put its line back into {path} (audit.keys)")


def _create_directory(directory: Path) -> None:
    """Make all keys aside and move them in at once: another process sees all of them or none."""
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{directory.name}-", dir=directory.parent))
        try:
            for name in (AUDIT_FILE, CHAIN_FILE, CUSTODY_FILE):
                _write_private(aside / name, _encode(os.urandom(KEY_BYTES)))
            sync_directory(aside)
            try:
                aside.rename(directory)
                sync_directory(directory.parent)
            except OSError as error:
                if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                    raise  # else another process came first, and its keys are the keys
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        raise ConfigurationError(
            f"the key directory {directory} cannot be created ({error.strerror}): create it with"
            " mode 0700, or name another one in audit.keys"
        ) from error


def _write_private(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(descriptor)


def _demand_private(path: Path, mode: int) -> None:
    found = stat.S_IMODE(path.stat().st_mode)
    if found & 0o077:
        raise ConfigurationError(
            f"{path} has mode {found:04o}, so others may read the keys: chmod {mode:o} {path}"
        )


def _read_keys(path: Path) -> list[bytes]:
    try:
        _demand_private(path, 0o600)
        text = read_plain(path, _MAX_BYTES).decode("ascii", errors="replace")
    except FileNotFoundError:
        raise ConfigurationError(
            f"{path} is missing while other keys of audit.keys are there: put it back from your"
            " backup. It is not made anew, since the record could then no longer be verified"
        ) from None
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read ({error.strerror})") from error
    return _decode_keys(text, str(path))


def _decode_keys(text: str, where: str) -> list[bytes]:
    keys = []
    for word in text.split():
        try:
            key = base64.b64decode(word, validate=True)
        except (binascii.Error, ValueError):
            key = b""
        if len(key) != KEY_BYTES:
            raise ConfigurationError(
                f"{where} (audit.keys) must hold the base64 text of {KEY_BYTES} random bytes, for"
                f" instance from openssl rand -base64 {KEY_BYTES}"
            )
        keys.append(key)
    if not keys:
        raise ConfigurationError(
            f"{where} (audit.keys) is empty: it must hold the base64 text of {KEY_BYTES} random"
            " bytes"
        )
    return keys


def _encode(key: bytes) -> str:
    return base64.b64encode(key).decode("ascii")


def _open_environment(name: str) -> AuditKeys:
    return replace(
        _derive(_read_environment(name)),
        remedy=f"put its master key back into the environment variable {name} (audit.keys), behind"
        " the first, and open every gate anew",
    )


def _read_environment(name: str) -> list[bytes]:
    text = os.environ.get(name)
    if text is None:
        raise ConfigurationError(
            f"the environment variable {name} (audit.keys) is not set: give it the base64 text of"
            f" {KEY_BYTES} random bytes"
        )
    return _decode_keys(text, f"the environment variable {name}")


def _derive(masters: Sequence[bytes]) -> AuditKeys:
    """Derive all keys from master keys: the first one carries the record, each one wraps blobs."""
    first, *others = [
        (_derive_one(master, "audit"), _derive_one(master, "chain")) for master in masters
    ]
    keys = _assemble(*first, [_derive_one(master, "custody") for master in masters])
    return replace(keys, later=frozenset(_check(audit, chain) for audit, chain in others))


def _derive_one(master: bytes, use: str) -> bytes:
    info = f"sluicegate {use}".encode()
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=info).derive(master)


class _Keyring(Protocol):
    def get_password(self, service: str, username: str) -> str | None: ...

    def set_password(self, service: str, username: str, password: str) -> None: ...


def _open_keyring(service: str, may_create: bool) -> AuditKeys:
    return replace(
        _derive(_read_keyring(service, may_create)),
        remedy="put its master key back into the keyring entry"
        f" {service}/{_KEYRING_USER} (audit.keys), behind the first",
    )


def _import_keyring() -> _Keyring:
    try:
        return cast("_Keyring", import_module("keyring"))
    except ImportError as error:
        raise ConfigurationError(
            "audit.keys uses keyring:, which needs the extra: install sluicegate[keyring]"
        ) from error


def _read_keyring(service: str, may_create: bool) -> list[bytes]:
    keyring = _import_keyring()
    try:
        text = keyring.get_password(service, _KEYRING_USER)
        if text is None and may_create:
            keyring.set_password(service, _KEYRING_USER, _encode(os.urandom(KEY_BYTES)))
            text = keyring.get_password(service, _KEYRING_USER) or ""
    except Exception as error:  # each backend raises what it likes: none there, locked, denied
        raise ConfigurationError(
            f"audit.keys: the keyring refuses ({type(error).__name__}): unlock it or set up a"
            " backend, or name file:DIRECTORY or env:NAME"
        ) from error
    if text is None:
        raise KeyringEmpty(
            f"the keyring holds no entry {service}/{_KEYRING_USER} (audit.keys), but the record it"
            " belongs to exists: put the entry back from your backup"
        )
    return _decode_keys(text, f"the keyring entry {service}/{_KEYRING_USER}")
