"""What a good signature says, and what the three forms of signature share (SPEC RES-6)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass
from typing import Final

from sluicegate.values.codes import Code, Stage
from sluicegate.values.findings import Finding
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected

COMPACT: Final = re.compile(rb"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]*")
"""A compact JWS (RFC 7515 section 7.1). No JSON text has this form."""

MAX_SIGNATURE_TEXT: Final = 16_384
"""Characters of one header that takes part in a signature; also a host's receipt is held to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """What a verified signature covers; its age is judged by ``authentication``.

    ``payload`` are the verified bytes, the only ones that later rungs see. ``signed_at`` and
    ``expires_at`` are instants in nanoseconds out of the signed part alone. ``replay_id`` is a
    digest of what makes this answer one of its kind.
    """

    payload: bytes
    signed_at: int
    replay_id: str
    expires_at: int | None = None


def replay_id_of(form: str, *parts: bytes) -> str:
    """Return the digest that a replay is known by; ``parts`` cannot run into each other."""
    digest = hashlib.sha256(form.encode())
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def refuse(code: Code, hint: str, engine_message: str | None = None) -> Rejected:
    """Return the refusal at stage authenticate; ``hint`` quotes nothing that was received."""
    return Rejected.because(
        Stage.AUTHENTICATE, Finding(code=code, hint=hint), engine_message=engine_message
    )


def payload_of(compact: bytes) -> bytes:
    """Return what a compact JWS bears, verified by nobody; nothing for what is no compact JWS."""
    if COMPACT.fullmatch(compact) is None:
        return b""
    _, payload, _ = compact.split(b".")
    try:
        return base64.urlsafe_b64decode(payload + b"=" * (-len(payload) % 4))
    except (binascii.Error, ValueError):
        return b""


def list_header(receipt: Receipt, name: str) -> list[str]:
    """Return every value of the header ``name`` (lower case), in the order received."""
    return [value for found, value in receipt.headers if found.lower() == name]


def read_header(receipt: Receipt, name: str) -> str | Rejected | None:
    """Return the one value of a header that takes part in a signature; None where it is absent.

    Rejects: BAD_SIGNATURE where it stands twice, is too long, or is not printable ASCII: two
    readers could take it apart differently.
    """
    values = list_header(receipt, name)
    if not values:
        return None
    (value, *more) = values
    if more:
        return refuse(Code.BAD_SIGNATURE, f"the header {name} stands more than once")
    if len(value) > MAX_SIGNATURE_TEXT:
        return refuse(Code.BAD_SIGNATURE, f"the header {name} is too long")
    if not (value.isascii() and value.isprintable()):
        return refuse(Code.BAD_SIGNATURE, f"the header {name} is not plain ASCII")
    return value
