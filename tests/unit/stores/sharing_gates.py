"""Gates whose records share their keys through one Redis, as far as stores go."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from tests.redis_servers import RedisServer
from tests.sharing import share
from tests.unit.stores.made import NOW, intent, outcome
from tests.unit.stores.test_terms import A, terms_of

from sluicegate.gates.events import AuditEvent
from sluicegate.gates.ports import AuditStore
from sluicegate.gates.record_queries import AnswerQuery
from sluicegate.gates.terms import (
    Accepted,
    AlreadyDone,
    TermRefused,
    Terms,
)
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.shared_keys import SharedKeysStore
from sluicegate.stores.shared_keys_scripts import ANSWER, ENTRY
from sluicegate.stores.sqlite import SqliteStore
from sluicegate.values.callers import Caller

ARGUMENTS = {"project_id": "bluebird"}
CALLER = Caller(subject="svc-deploy", tenant="t-1")
SELECTED = b'{"restarted":"PLANTED-DATA"}'
C = "req.00000003"
DAY_S = 86_400


class Gates:
    """Records of their own, with one ring of keys and one clock."""

    def __init__(self, server: RedisServer, keys: AuditKeys, folder: Path) -> None:
        self.server, self.keys, self.folder = server, keys, folder
        self.now = NOW
        self.opened: list[SharedKeysStore] = []

    async def open(self, store: AuditStore | None = None, **patience: float) -> SharedKeysStore:
        record = store or SqliteStore(self.folder / f"{len(self.opened)}.db", self.keys)
        shared = await share(record, self.server.address, self.keys, lambda: self.now, **patience)
        self.opened.append(shared)
        return shared


async def said(store: AuditStore, event: AuditEvent, terms: Terms | None = None) -> str:
    """Return what is said of an intent; what is refused leaves nothing in the record."""
    before = len(list(store.events()))
    try:
        await store.record([event], terms=terms or terms_of())
    except TermRefused as refused:
        told = str(refused.code)
    except AlreadyDone as done:
        told = f"done as {done.request_id}"
    else:
        return "recorded"
    assert len(list(store.events())) == before
    return told


def entry(server: RedisServer) -> dict[str, str]:
    """The one key that stands in Redis."""
    with server.client() as client:
        found = client.hgetall(name_of(server))
    return {key.decode(): value.decode() for key, value in found.items()}


def name_of(server: RedisServer) -> bytes:
    (name,) = entries(server)
    return name


def entries(server: RedisServer) -> list[bytes]:
    names = [name for name in server.names() if name.startswith(ENTRY.encode())]
    return [name for name in names if not name.endswith(ANSWER.encode())]


def state_of(server: RedisServer) -> tuple[str, str]:
    stands = entry(server)
    return stands["state"], stands["holder"]


async def make(store: AuditStore, **members: Any) -> None:
    await store.record([intent(A)], terms=terms_of())
    await store.record([outcome(A, **members)])


async def answered(
    store: AuditStore,
    request_id: str = A,
    tool: str = "restart",
    caller: Caller = CALLER,
    now: datetime = NOW,
) -> Accepted | None:
    query = AnswerQuery(request_id=request_id, tool=tool, caller=caller, arguments=ARGUMENTS)
    return await store.answer_of(query, now=now)
