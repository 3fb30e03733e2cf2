"""Records that share their idempotency keys through one Redis, for tests of stores and gates."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from sluicegate.gates.ports import AuditStore
from sluicegate.opening import key_stores
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.shared_keys import SharedKeysStore

PATIENCE_S = 20.0
"""A loaded machine is no defect: only tests of a Redis that is slow wait as a gate does."""


async def share(
    store: AuditStore,
    address: str,
    keys: AuditKeys,
    now: Callable[[], datetime],
    *,
    patience_s: float = PATIENCE_S,
) -> SharedKeysStore:
    """Return ``store`` with its keys shared, as a gate that opens has it."""
    joined = key_stores.joined(store, address, keys, now, patience_s=PATIENCE_S)
    async with joined as (shared, ring):
        await shared.reconcile()
    return key_stores.share(store, address, keys, now, ring, patience_s=patience_s)
