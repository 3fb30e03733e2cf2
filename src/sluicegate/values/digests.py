"""Digests: ``sha256:`` and 64 lower-case hexadecimal digits."""

from __future__ import annotations

import hashlib
from typing import NewType

from sluicegate.values.json import canonical_text

Digest = NewType("Digest", str)


def digest_of_bytes(raw: bytes) -> Digest:
    """Return the digest of ``raw`` as it stands."""
    return Digest("sha256:" + hashlib.sha256(raw).hexdigest())


def digest_of_json(value: object) -> Digest:
    """Return the digest of the canonical text of a JSON value. Raises as canonical_text."""
    return digest_of_bytes(canonical_text(value).encode("utf-8", "surrogatepass"))
