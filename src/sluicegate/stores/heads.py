"""A signed head: what the record was at one moment, in a line that stands outside of it (AUD-3).

The chain shows what was changed, but not that its end was cut off. A head names an event and its
link and is signed; each one bears the digest of the head before, so that none can be taken out.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from sluicegate.errors import ConfigurationError
from sluicegate.values.json import canonical_text

FORMAT: Final = "sluicegate-head-v1"
NO_HEAD: Final = "0" * 64
"""What stands in ``before`` of the first head."""

MAX_LINE_BYTES: Final = 4_096
_DOMAIN: Final = b"sluicegate signed head 1\n"
_KEY_WORD: Final = "ed25519"
_MEMBERS: Final = frozenset({"format", "record", "seq", "link", "time", "before", "key"})

PublicKeys: TypeAlias = Mapping[str, Ed25519PublicKey]
"""Public keys by their id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """``record`` is the link of event 1, which no two records share; ``link`` that of ``seq``.

    ``time`` is RFC 3339 text of when it was signed; ``digest`` is over the line itself.
    """

    record: str
    seq: int
    link: str
    time: str
    before: str
    key_id: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadsBroken:
    """The first line of a heads file that is not what was written there, and why."""

    line: int
    problem: str


def sign_head(
    seed: bytes, *, record: str, seq: int, link: str, time: str, before: str
) -> tuple[Head, bytes]:
    """Return a head and its line, without the line break. ``seed`` is the signing key."""
    key = Ed25519PrivateKey.from_private_bytes(seed)
    key_id = key_id_of(key.public_key())
    members = {
        "format": FORMAT,
        "record": record,
        "seq": seq,
        "link": link,
        "time": time,
        "before": before,
        "key": key_id,
    }
    signature = base64.b64encode(key.sign(_signed_text(members))).decode("ascii")
    line = canonical_text({**members, "signature": signature}).encode("ascii")
    return _head_of(members, line), line


def read_heads(lines: Iterable[bytes], keys: PublicKeys) -> tuple[Head, ...] | HeadsBroken:
    """Return the heads of a file, or its first line that is forged, changed, missing or moved.

    A last line without its line break was never finished: it is no head, and is passed over. The
    file itself cannot show that its last lines were taken away. Raises nothing for what it finds.
    """
    heads: list[Head] = []
    for number, line in enumerate(lines, start=1):
        if not line.endswith(b"\n"):
            break
        read = read_head(line[:-1], keys)
        before = heads[-1] if heads else None
        problem = read if isinstance(read, str) else _tell_break(read, before)
        if problem is not None:
            return HeadsBroken(line=number, problem=problem)
        assert isinstance(read, Head)  # noqa: S101  (narrows for the checker)
        heads.append(read)
    return tuple(heads)


def read_head(line: bytes, keys: PublicKeys) -> Head | str:
    """Return the head that stands in one line, or what is wrong with it; no value is quoted."""
    try:
        members = json.loads(line) if len(line) <= MAX_LINE_BYTES else None
    except (ValueError, RecursionError):
        members = None
    if not isinstance(members, dict) or members.keys() != {*_MEMBERS, "signature"}:
        return "it is no head"
    signature = members.pop("signature")
    texts = all(members[name].__class__ is str for name in _MEMBERS - {"seq"})
    if members["seq"].__class__ is not int or not texts or members["format"] != FORMAT:
        return "it is no head"
    key = keys.get(members["key"])
    if key is None:
        return "it is signed with a key that is not known here"
    try:
        key.verify(base64.b64decode(signature, validate=True), _signed_text(members))
    except (InvalidSignature, binascii.Error, ValueError, TypeError):
        return "its signature is not that of its key"
    return _head_of(members, line)


def key_id_of(key: Ed25519PublicKey) -> str:
    """Return the id that a head names its key by."""
    raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    return hashlib.sha256(b"sluicegate signing key id\0" + raw).hexdigest()[:16]


def public_keys_of(seeds: Sequence[bytes]) -> dict[str, Ed25519PublicKey]:
    """Return the public keys of signing keys, by id, in the same order."""
    keys = [Ed25519PrivateKey.from_private_bytes(seed).public_key() for seed in seeds]
    return {key_id_of(key): key for key in keys}


def write_public_keys(keys: PublicKeys) -> str:
    """Return public keys as text, a line each: ``ed25519 ID BASE64``."""
    return "".join(
        f"{_KEY_WORD} {key_id}"
        f" {base64.b64encode(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).decode('ascii')}\n"
        for key_id, key in keys.items()
    )


def read_public_keys(text: str, where: str) -> dict[str, Ed25519PublicKey]:
    """Return the keys of ``write_public_keys``. Raises: ConfigurationError for another text."""
    keys: dict[str, Ed25519PublicKey] = {}
    for line in text.splitlines():
        word, _, rest = line.strip().partition(" ")
        key_id, _, encoded = rest.partition(" ")
        try:
            key = Ed25519PublicKey.from_public_bytes(base64.b64decode(encoded, validate=True))
        except (binascii.Error, ValueError):
            key = None
        if word != _KEY_WORD or key is None or key_id_of(key) != key_id:
            keys.clear()
            break
        keys[key_id] = key
    if not keys:
        raise ConfigurationError(
            f"{where} holds no public key of a record: write it with"
            " sluicegate audit heads --public-key, on the machine that signs"
        )
    return keys


def _tell_break(head: Head, before: Head | None) -> str | None:
    if head.before != (NO_HEAD if before is None else before.digest):
        return "the head before it is not the one that it was signed after"
    if before is None:
        return None
    if head.record != before.record:
        return "it is of another record than the head before it"
    if head.seq <= before.seq:
        return "it does not come after the head before it"
    return None


def _signed_text(members: Mapping[str, object]) -> bytes:
    return _DOMAIN + canonical_text(members).encode("utf-8", "surrogatepass")


def _head_of(members: Mapping[str, object], line: bytes) -> Head:
    return Head(
        record=str(members["record"]),
        seq=int(str(members["seq"])),
        link=str(members["link"]),
        time=str(members["time"]),
        before=str(members["before"]),
        key_id=str(members["key"]),
        digest=hashlib.sha256(line).hexdigest(),
    )
