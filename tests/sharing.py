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


def connect(address: str) -> Redis:
    """Return a client whose connections are looked at, as a gate makes it."""
    return Redis(
        connection_pool=BlockingConnectionPool.from_url(
            address,
            max_connections=16,
            timeout=0.25,
            socket_timeout=0.25,
            socket_connect_timeout=0.25,
            protocol=2,
            redis_connect_func=demand_lasting,
            retry=Retry(NoBackoff(), 1),
        )
    )


async def share(
    store: AuditStore, address: str, keys: AuditKeys, now: Callable[[], datetime]
) -> SharedKeysStore:
    """Return ``store`` with its keys shared, as a gate that opens has it."""
    client = connect(address)
    try:
        ring = await join_ring(client, derive_secrets(keys))
        shared = SharedKeysStore(store, KeyTable(client, ring), keys, now)
        await shared.reconcile()
    except BaseException:
        await client.aclose()
        await client.connection_pool.aclose()
        raise
    return shared
