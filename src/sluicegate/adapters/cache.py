"""Accepted answers of reads, kept for a while (SPEC ADP-4)."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeAlias

from sluicegate.contracts.contract import CacheRule
from sluicegate.gates.ports import Adapter, Dispatch
from sluicegate.values.digests import digest_of_json
from sluicegate.values.receipts import Receipt

_Key: TypeAlias = tuple[str, str, str, str | None, str]


class CacheAdapter:
    """Stands before another adapter and answers from what the gate accepted earlier.

    Only ``keep`` stores, and the gate calls it after acceptance. What comes out bears the
    provenance of its first fetch and climbs the whole ladder again; an answer that is refused then
    (it has gone stale) is not served again. Callers and tenants never share an entry.
    """

    name: Final = "cache"

    def __init__(
        self, adapter: Adapter, rule: CacheRule, *, monotonic: Callable[[], float]
    ) -> None:
        self._adapter: Final = adapter
        self._rule: Final = rule
        self._monotonic = monotonic
        self._kept: OrderedDict[_Key, tuple[float, Receipt]] = OrderedDict()
        self._unconfirmed: set[_Key] = set()  # served, and not yet accepted anew
        self._lock = threading.Lock()

    @property
    def version(self) -> str:
        """The version of the adapter behind the cache."""
        return self._adapter.version

    @property
    def endpoint(self) -> str:
        """The endpoint of the adapter behind the cache."""
        return self._adapter.endpoint

    async def fetch(self, dispatch: Dispatch) -> Receipt:
        """Return the kept answer to this very question of this very caller, or fetch anew.

        A further attempt never gets what an earlier one may have been refused for (RET-3).
        """
        kept = self._find(_key(dispatch)) if dispatch.attempt == 1 else None
        if kept is not None and len(kept.raw) <= dispatch.max_bytes:
            return kept
        return await self._adapter.fetch(dispatch)

    async def keep(self, dispatch: Dispatch, receipt: Receipt) -> None:
        """Keep an accepted answer; one that came from here does not begin a new lifetime."""
        if receipt.fault is not None:
            return
        key = _key(dispatch)
        with self._lock:
            self._unconfirmed.discard(key)
            if receipt.from_cache:
                return
            expires = self._monotonic() + self._rule.ttl_s
            self._kept[key] = (expires, replace(receipt, from_cache=True))
            self._kept.move_to_end(key)
            while len(self._kept) > self._rule.max_entries:
                oldest, _ = self._kept.popitem(last=False)
                self._unconfirmed.discard(oldest)

    async def close(self) -> None:
        """Forget everything and close the adapter behind."""
        with self._lock:
            self._kept.clear()
            self._unconfirmed.clear()
        await self._adapter.close()

    def _find(self, key: _Key) -> Receipt | None:
        with self._lock:
            entry = self._kept.get(key)
            if entry is None:
                return None
            expires, receipt = entry
            if key in self._unconfirmed or self._monotonic() >= expires:
                del self._kept[key]
                self._unconfirmed.discard(key)
                return None
            self._kept.move_to_end(key)
            self._unconfirmed.add(key)
            return receipt


def _key(dispatch: Dispatch) -> _Key:
    caller = dispatch.caller
    return (
        dispatch.contract_digest,
        dispatch.tool,
        caller.subject,
        caller.tenant,
        digest_of_json(dispatch.arguments),
    )
