"""What makes the names and sealed answers of shared keys, derived from the keys of the record.

Derived from the audit key, which a rotation never changes: a custody key may be replaced while a
key is kept. Who sees Redis sees no argument, caller, tool or data.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from sluicegate.gates.terms import Accepted
from sluicegate.stores.custody import SealBroken, length_prefixed
from sluicegate.stores.encoding import authenticate, time_text
from sluicegate.stores.keys import KEY_BYTES, AuditKeys
from sluicegate.stores.shared_keys_scripts import ENTRY
from sluicegate.values.callers import Caller

_NONCE_BYTES: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSecrets:
    """``names`` makes the HMACs that stand in Redis, ``seals`` the key of each sealed answer."""

    names: bytes = field(repr=False)
    seals: bytes = field(repr=False)

    @property
    def fingerprint(self) -> str:
        """What tells gates with other keys apart: 64 hexadecimal digits."""
        return authenticate(self.names, b"ring")

    def name_entry(self, kept_key: str) -> str:
        """Return the name of a key; ``kept_key`` is as the record keeps it, an HMAC already."""
        return ENTRY + authenticate(self.names, b"key\0", kept_key.encode())

    def mark_arguments(self, arguments_hmac: str) -> str:
        """Return what tells other arguments apart, of the column that the record has for them."""
        return authenticate(self.names, b"arguments\0", arguments_hmac.encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class Bond:
    """What a sealed answer is bound to: it opens for nothing else."""

    entry: str
    request_id: str
    tool: str
    caller: Caller

    def text(self) -> bytes:
        """Return the associated data."""
        tenant = self.caller.tenant
        return length_prefixed(
            *(self.entry, self.request_id, self.tool, self.caller.subject),
            *(("0", "") if tenant is None else ("1", tenant)),
        )


def derive_secrets(keys: AuditKeys) -> SharedSecrets:
    """Return what gates with the same keys derive alike."""
    return SharedSecrets(
        names=_derive(keys.audit, b"sluicegate shared keys names"),
        seals=_derive(keys.audit, b"sluicegate shared keys seals"),
    )


def seal_answer(
    secrets: SharedSecrets, bond: Bond, answer: Accepted, kept_until: datetime
) -> bytes:
    """Return nonce and text of ``answer``, AES-256-GCM under a key of its own entry."""
    told = {
        "event_id": answer.event_id,
        "time": time_text(answer.time),
        "contract_digest": answer.contract_digest,
        "until": time_text(kept_until),
        "data": answer.data,
    }
    content = json.dumps(told, ensure_ascii=False).encode("utf-8", "surrogatepass")
    nonce = os.urandom(_NONCE_BYTES)
    return nonce + _cipher(secrets, bond).encrypt(nonce, content, bond.text())


def open_answer(
    secrets: SharedSecrets, bond: Bond, sealed: bytes, now: datetime
) -> Accepted | None:
    """Return the answer, None where it is kept no more at ``now``. Raises: SealBroken."""
    nonce, text = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
    try:
        content = _cipher(secrets, bond).decrypt(nonce, text, bond.text())
    except (InvalidTag, ValueError):
        raise SealBroken("a shared answer is not what was sealed for this call") from None
    told = json.loads(content.decode("utf-8", "surrogatepass"))
    if told["until"] <= time_text(now):
        return None
    return Accepted(
        event_id=told["event_id"],
        seq=0,  # of another record: it has no place in this one
        request_id=bond.request_id,
        time=datetime.fromisoformat(told["time"]),
        contract_digest=told["contract_digest"],
        data=told["data"],
        spent=False,
    )


def _cipher(secrets: SharedSecrets, bond: Bond) -> AESGCM:
    return AESGCM(_derive(secrets.seals, bond.entry.encode()))


def _derive(key: bytes, info: bytes) -> bytes:
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=info).derive(key)
