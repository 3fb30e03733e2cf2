"""Records that share their idempotency keys through one Redis, for tests of stores and gates."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from sluicegate.gates.ports import AuditStore
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.shared_keys import SharedKeysStore
from sluicegate.stores.shared_keys_secrets import derive_secrets
from sluicegate.stores.shared_keys_server import demand_lasting, join_ring
from sluicegate.stores.shared_keys_table import KeyTable

PATIENCE_S = 20.0
"""A loaded machine is no defect: only tests of a Redis that is slow wait as a gate does."""


def connect(address: str, patience_s: float = PATIENCE_S) -> Redis:
    """Return a client whose connections are looked at, as a gate makes it."""
    return Redis(
        connection_pool=BlockingConnectionPool.from_url(
            address,
            max_connections=16,
            timeout=patience_s,
            socket_timeout=patience_s,
            socket_connect_timeout=patience_s,
            protocol=2,
            redis_connect_func=demand_lasting,
            retry=Retry(NoBackoff(), 1),
        )
    )


async def share(
    store: AuditStore,
    address: str,
    keys: AuditKeys,
    now: Callable[[], datetime],
    *,
    patience_s: float = PATIENCE_S,
) -> SharedKeysStore:
    """Return ``store`` with its keys shared, as a gate that opens has it."""
    patient = connect(address)
    try:
        ring = await join_ring(patient, derive_secrets(keys))
        table = KeyTable(patient, ring, patience_s=PATIENCE_S)
        await SharedKeysStore(store, table, keys, now).reconcile()
    finally:
        await patient.aclose()
        await patient.connection_pool.aclose()
    table = KeyTable(connect(address, patience_s), ring, patience_s=patience_s)
    return SharedKeysStore(store, table, keys, now)
