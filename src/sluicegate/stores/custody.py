"""Sealing of raw bytes: compressed, encrypted under a key of their own, which another key wraps."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap, aes_key_wrap

from sluicegate.stores.keys import AuditKeys

COMPRESSED: Final = "zlib+a256gcm"
PLAIN: Final = "a256gcm"
_LEVEL: Final = 4  # a 34 KB object shrinks to a tenth at any level; above this only time grows


class SealBroken(Exception):  # noqa: N818  (a state of a blob, as AuditUnavailable is of the store)
    """A blob does not open: its key is not here, or its bytes are not those that were sealed."""


class KeyNotHeld(SealBroken):
    """A data key is wrapped under a custody key that is not held: of the blob nothing is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """One sealed blob. ``wrapped_key`` is the data key under the custody key ``key_id``."""

    algorithm: str
    key_id: str
    wrapped_key: bytes
    nonce: bytes
    ciphertext: bytes


def seal(content: bytes, keys: AuditKeys, *, ref: str, contract_digest: str, kind: str) -> Sealed:
    """Seal ``content``; the blob opens only under the same ref, contract digest and kind.

    Source: SPEC AUD-4; facts security D.
    """
    packed = zlib.compress(content, _LEVEL)
    algorithm = COMPRESSED
    if len(packed) >= len(content):
        packed, algorithm = content, PLAIN
    data_key, nonce = os.urandom(32), os.urandom(12)
    return Sealed(
        algorithm=algorithm,
        key_id=keys.active,
        wrapped_key=aes_key_wrap(keys.custody[keys.active], data_key),
        nonce=nonce,
        ciphertext=AESGCM(data_key).encrypt(
            nonce, packed, length_prefixed(algorithm, ref, contract_digest, kind)
        ),
    )


def unseal(
    sealed: Sealed, keys: AuditKeys, *, ref: str, contract_digest: str, kind: str, size: int
) -> bytes:
    """Return the plain bytes, ``size`` of them. Raises: SealBroken, KeyNotHeld."""
    try:
        packed = AESGCM(_unwrap(sealed.key_id, sealed.wrapped_key, keys)).decrypt(
            sealed.nonce,
            sealed.ciphertext,
            length_prefixed(sealed.algorithm, ref, contract_digest, kind),
        )
    except InvalidTag:
        raise SealBroken(f"blob {ref} is not what was sealed under this reference") from None
    if sealed.algorithm == PLAIN:
        return packed
    return zlib.decompressobj().decompress(packed, size + 1)


def rewrap(key_id: str, wrapped_key: bytes, keys: AuditKeys) -> tuple[str, bytes]:
    """Return (active key id, data key wrapped under it); the text is not touched.

    Raises: SealBroken, KeyNotHeld.
    """
    data_key = _unwrap(key_id, wrapped_key, keys)
    return keys.active, aes_key_wrap(keys.custody[keys.active], data_key)


def _unwrap(key_id: str, wrapped_key: bytes, keys: AuditKeys) -> bytes:
    key = keys.custody.get(key_id)
    if key is None:
        raise KeyNotHeld(
            f"custody key {key_id} is not among those that this process has: {keys.remedy}"
        )
    try:
        return aes_key_unwrap(key, wrapped_key)
    except InvalidUnwrap:
        raise SealBroken(f"a data key does not open under custody key {key_id}") from None


def length_prefixed(*texts: str) -> bytes:
    """Return the associated data: each text with its length."""
    parts = [text.encode() for text in texts]
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)
