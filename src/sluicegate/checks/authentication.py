"""The rung that asks who made the bytes (SPEC RES-6).

A contract without a ``signature`` takes the bytes as they came; signed answers wait for the
signer behind ``gates.ports``.
"""

from __future__ import annotations

from typing import Any, NewType

from sluicegate.checks.bounds import BoundedAnswer

Authentic = NewType("Authentic", bytes)


def accept_unsigned(bounded: BoundedAnswer) -> Authentic:
    """Return the bytes of a contract that demands no signature; rejects nothing."""
    minted: Any = bounded
    authentic: Authentic = minted
    return authentic
