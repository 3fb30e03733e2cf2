"""From the settings to a store, and what doctor sees of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from tests.unit.stores.made import NOW, intent, outcome

from sluicegate.contracts.settings import AuditSettings, RetentionSettings
from sluicegate.errors import ConfigurationError
from sluicegate.stores.inspection import inspect_store
from sluicegate.stores.looks import TAIL
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.sqlite_schema import create_trigger
from sluicegate.stores.stores import open_store

SETTINGS = AuditSettings()


async def test_the_default_settings_make_database_and_keys_apart(tmp_path: Path) -> None:
    store = open_store(SETTINGS, RetentionSettings(), tmp_path)
    await store.record([intent()])
    await store.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["keys", "state"]
    again = open_store(SETTINGS, RetentionSettings(), tmp_path)
    assert again.verify().events == 1
    await again.close()


async def test_memory_writes_nothing(tmp_path: Path) -> None:
    store = open_store(AuditSettings(store="memory:"), RetentionSettings(), tmp_path)
    await store.record([intent()])
    assert (type(store), list(tmp_path.iterdir())) == (MemoryStore, [])
    await store.close()


@pytest.mark.parametrize("spec", ["postgres://x", "sqlite:", "audit.db", "memory:x"])
def test_another_store_is_refused_with_what_to_write(tmp_path: Path, spec: str) -> None:
    with pytest.raises(ConfigurationError, match="write sqlite:PATH, postgresql:env:NAME"):
        open_store(AuditSettings(store=spec), RetentionSettings(), tmp_path)


async def test_a_record_whose_keys_are_lost_gets_no_new_ones(tmp_path: Path) -> None:
    await open_store(SETTINGS, RetentionSettings(), tmp_path).close()
    (tmp_path / "keys").rename(tmp_path / "lost")
    with pytest.raises(ConfigurationError, match="put the keys back"):
        open_store(SETTINGS, RetentionSettings(), tmp_path)
    assert not (tmp_path / "keys").exists()


def unwell(folder: Path) -> list[str]:
    return [look.name for look in inspect_store(SETTINGS, folder, now=NOW) if not look.well]


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    store = open_store(SETTINGS, RetentionSettings(), tmp_path)
    for _ in range(3):
        await store.record([intent()])
    await store.close()
    return tmp_path


def test_a_record_in_order_is_well(folder: Path) -> None:
    looks = inspect_store(SETTINGS, folder, now=NOW)
    assert [(look.name, look.well) for look in looks] == [
        (name, True)
        for name in (
            "keys",
            "modes",
            "journal",
            "synchronous",
            "triggers",
            "open calls",
            "waiting",
            "custody",
            "clock",
            "chain",
            "space",
        )
    ]


def test_looking_creates_nothing(tmp_path: Path) -> None:
    assert [look.well for look in inspect_store(SETTINGS, tmp_path, now=NOW)] == [True]
    assert list(tmp_path.iterdir()) == []


def do(folder: Path, *statements: str) -> None:
    with closing(sqlite3.connect(folder / "state/audit.db", isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize(
    ("spoil", "names"),
    [
        pytest.param(lambda f: (f / "state/audit.db").chmod(0o644), ["modes"], id="mode"),
        pytest.param(lambda f: (f / "keys").chmod(0o755), ["keys"], id="key mode"),
        pytest.param(lambda f: do(f, "PRAGMA journal_mode = DELETE"), ["journal"], id="journal"),
        pytest.param(
            lambda f: do(f, "DROP TRIGGER audit_event_no_gap"), ["triggers"], id="trigger gone"
        ),
        pytest.param(
            lambda f: do(
                f,
                "DROP TRIGGER audit_event_no_update",
                "CREATE TRIGGER audit_event_no_update BEFORE UPDATE ON audit_event"
                " BEGIN SELECT 1; END",
                "UPDATE audit_event SET tool = 'x' WHERE seq = 2",
            ),
            ["triggers", "open calls", "chain"],
            id="trigger weakened, event edited",
        ),
        pytest.param(
            lambda f: do(
                f,
                "DROP TRIGGER open_call_no_delete",
                "DELETE FROM open_call",
                create_trigger("open_call_no_delete"),
            ),
            ["open calls"],
            id="an open call freed",
        ),
        pytest.param(
            lambda f: do(f, "UPDATE store_fact SET value = 'x'"), ["database"], id="other keys"
        ),
        pytest.param(
            lambda f: (f / "state/audit.db").write_bytes(b"rubbish" * 999),
            ["database"],
            id="no database",
        ),
    ],
)
def test_what_is_wrong_is_named(
    folder: Path, spoil: Callable[[Path], object], names: list[str]
) -> None:
    spoil(folder)
    assert unwell(folder) == names


def test_an_event_ahead_of_the_clock_is_named(folder: Path) -> None:
    looks = inspect_store(SETTINGS, folder, now=NOW - timedelta(minutes=1))
    assert [look.name for look in looks if not look.well] == ["clock"]


async def test_only_the_tail_of_a_long_chain_is_verified(tmp_path: Path) -> None:
    store = open_store(SETTINGS, RetentionSettings(), tmp_path)
    await store.record([outcome()] * (TAIL + 5))
    await store.close()
    texts = {look.name: look.says for look in inspect_store(SETTINGS, tmp_path, now=NOW)}
    assert texts["chain"] == f"the last {TAIL} events hold together"
