"""Idempotency keys that records of their own share: the ring, and the Redis itself."""

from __future__ import annotations

import pytest
from tests.sharing import share
from tests.unit.stores.made import NOW, intent, kept
from tests.unit.stores.sharing_gates import SELECTED, Gates, answered, make, said
from tests.unit.stores.test_terms import A, B, terms_of

from sluicegate.errors import ConfigurationError
from sluicegate.gates.ports import HeldBack
from sluicegate.stores.keys import AuditKeys, draw_keys
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.shared_keys_scripts import RING
from sluicegate.stores.shared_keys_server import UnfitServer, find_fault

pytestmark = pytest.mark.requirement("ACC-4")


async def test_gates_with_other_keys_do_not_share_one_redis(gates: Gates) -> None:
    await gates.open()
    keys = draw_keys()
    with pytest.raises(ConfigurationError, match="have other audit keys"):
        await share(MemoryStore(keys), gates.server.address, keys, lambda: NOW)


async def test_a_custody_key_that_is_rotated_changes_no_name(gates: Gates) -> None:
    one = await gates.open()
    await make(one, kept=kept(SELECTED, "selected"))
    new = draw_keys()
    rotated = AuditKeys(
        audit=gates.keys.audit,
        chain=gates.keys.chain,
        custody={**gates.keys.custody, **new.custody},
        active=new.active,
    )
    other = await share(MemoryStore(rotated), gates.server.address, rotated, lambda: NOW)
    assert await said(other, intent(B)) == f"done as {A}"
    given = await answered(other)
    assert given is not None
    await other.close()


async def test_a_redis_that_was_emptied_is_another_one(gates: Gates) -> None:
    one = await gates.open()
    await make(one)
    with gates.server.client() as client:
        client.flushall()
    for _ in range(2):
        with pytest.raises(HeldBack, match="not those that this gate began with"):
            await one.record([intent(B)], terms=terms_of("l" * 64))
        await gates.open()  # a gate that begins anew does not make it the old one
    assert [event.request_id for event in one.events()] == [A, A]


async def test_what_no_gate_wrote_is_no_ring(gates: Gates) -> None:
    with gates.server.client() as client:
        client.set(RING, "anything")
    with pytest.raises(ConfigurationError, match="was not written by a gate"):
        await gates.open()


WELL = {
    "appendonly": "yes",
    "appendfsync": "always",
    "no-appendfsync-on-rewrite": "no",
    "maxmemory": "1000",
    "maxmemory-policy": "noeviction",
}


FAULTS: dict[str, tuple[dict[str, str], object, str | None]] = {
    "lasting": ({}, [b"master"], None),
    "no log": ({"appendonly": "no"}, [b"master"], "set appendonly yes"),
    "each second": ({"appendfsync": "everysec"}, [b"master"], "set appendfsync always"),
    "not while rewriting": (
        {"no-appendfsync-on-rewrite": "yes"},
        [b"master"],
        "set no-appendfsync-on-rewrite no",
    ),
    "evicts": ({"maxmemory-policy": "allkeys-lru"}, [b"master"], "set maxmemory-policy noeviction"),
    "would evict but has no limit": (
        {"maxmemory-policy": "allkeys-lru", "maxmemory": "0"},
        [b"master"],
        None,
    ),
    "a replica": ({}, [b"slave"], "no master"),
    "no role": ({}, b"OK", "no master"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_redis_that_may_lose_a_key_is_told_what_to_set(case: str) -> None:
    changed, role, expected = FAULTS[case]
    fault = find_fault({**WELL, **changed}, role)
    if expected is None:
        assert fault is None
    else:
        assert fault is not None
        assert expected in fault


@pytest.mark.parametrize(
    ("setting", "value"),
    [("appendonly", "no"), ("appendfsync", "everysec"), ("no-appendfsync-on-rewrite", "yes")],
)
async def test_no_connection_is_used_to_a_redis_that_may_lose_a_key(
    gates: Gates, setting: str, value: str
) -> None:
    one = await gates.open()
    await one._table._client.connection_pool.disconnect()
    with gates.server.client() as client:
        before = client.config_get(setting)[setting]
        client.config_set(setting, value)
        try:
            with pytest.raises(HeldBack, match=f"set {setting} {before}"):
                await one.record([intent(A)], terms=terms_of())
            assert list(one.events()) == []
        finally:
            client.config_set(setting, before)
    assert await said(one, intent(B)) == "recorded"


async def test_a_redis_that_does_not_tell_its_settings_is_not_believed(gates: Gates) -> None:
    with gates.server.client() as client:
        client.execute_command(
            *("ACL", "SETUSER", "gate", "on", ">only-of-tests", "~*", "+@all", "-config")
        )
    address = gates.server.address.replace("//", "//gate:only-of-tests@")
    with pytest.raises(UnfitServer, match=r"does not tell .*NoPermission.*CONFIG GET"):
        await share(MemoryStore(gates.keys), address, gates.keys, lambda: NOW)
