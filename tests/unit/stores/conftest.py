from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sluicegate.stores.keys import AuditKeys, draw_keys
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.sqlite import SqliteStore


@pytest.fixture
def keys() -> AuditKeys:
    return draw_keys()


@pytest.fixture(params=["memory", "sqlite"])
async def store(
    request: pytest.FixtureRequest, tmp_path: Path, keys: AuditKeys
) -> AsyncIterator[MemoryStore | SqliteStore]:
    opened = (
        MemoryStore(keys) if request.param == "memory" else SqliteStore(tmp_path / "a.db", keys)
    )
    yield opened
    await opened.close()


@pytest.fixture
async def sqlite(tmp_path: Path, keys: AuditKeys) -> AsyncIterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "a.db", keys)
    yield opened
    await opened.close()
