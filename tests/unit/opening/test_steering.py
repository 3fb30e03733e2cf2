"""What an operator steers is recorded first and read at the next opening."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sluicegate.errors import ConfigurationError
from sluicegate.gates.events import AuditEvent
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.opening.steering import (
    STATE_NAME,
    Steering,
    disable,
    enable,
    read_steering,
    rollback,
)
from sluicegate.stores.memory import MemoryStore

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
AT = "2026-11-30T12:00:00"


@pytest.mark.requirement("AUD-1")
def test_each_act_is_recorded_with_its_reason_and_takes_effect(tmp_path: Path) -> None:
    store = MemoryStore()
    disable(tmp_path, store, "a", who="op", reason="drift", now=NOW)
    rollback(tmp_path, store, "b", "1.0.0", who="op", reason="regression", now=NOW)
    assert read_steering(tmp_path) == Steering(disabled={"a": "drift"}, versions={"b": "1.0.0"})
    enable(tmp_path, store, "a", who="op", reason="mended", now=NOW)
    assert read_steering(tmp_path) == Steering(disabled={}, versions={"b": "1.0.0"})
    acts = [
        (event.time[:19], event.tool, event.caller_subject, json.loads(event.detail)["act"])
        for event in store.events()
    ]
    assert acts == [
        (AT, "a", "op", "disable"),
        (AT, "b", "op", "rollback"),
        (AT, "a", "op", "enable"),
    ]


def test_without_a_file_nothing_is_steered(tmp_path: Path) -> None:
    assert read_steering(tmp_path) == Steering()


@pytest.mark.parametrize(
    "text", ["", "[]", '{"disabled": {}}', '{"disabled": {"a": 1}, "versions": {}}']
)
def test_a_damaged_file_serves_nothing_rather_than_everything(tmp_path: Path, text: str) -> None:
    path = tmp_path / STATE_NAME
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(ConfigurationError, match="damaged"):
        read_steering(tmp_path)


class SlowStore(MemoryStore):
    """Records only once every one of ``together`` has asked, or has waited long enough."""

    def __init__(self, together: int) -> None:
        super().__init__()
        self._barrier = threading.Barrier(together)

    async def record(self, events: Sequence[AuditEvent], **how: Any) -> tuple[str, ...]:
        with suppress(threading.BrokenBarrierError):
            self._barrier.wait(0.2)
        return await super().record(events, **how)


@pytest.mark.requirement("AUD-1")
def test_two_withdrawals_at_the_same_moment_are_both_in_force(tmp_path: Path) -> None:
    store = SlowStore(2)
    with ThreadPoolExecutor(2) as pool:
        for done in [
            pool.submit(disable, tmp_path, store, tool, who="op", reason=tool, now=NOW)
            for tool in ("a", "b")
        ]:
            done.result()
    assert read_steering(tmp_path).disabled == {"a": "a", "b": "b"}


def test_an_act_that_cannot_be_recorded_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore()
    disable(tmp_path, store, "a", who="op", reason="drift", now=NOW)

    async def refuse(_: object) -> tuple[str, ...]:
        raise AuditUnavailable("full")

    monkeypatch.setattr(store, "record", refuse)
    with pytest.raises(AuditUnavailable):
        enable(tmp_path, store, "a", who="op", reason="mended", now=NOW)
    assert read_steering(tmp_path).disabled == {"a": "drift"}


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore()
    disable(tmp_path, store, "a", who="op", reason="drift", now=NOW)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        with pytest.raises(ConfigurationError, match=r"served\.json cannot be written: No space"):
            disable(tmp_path, store, "b", who="op", reason="drift", now=NOW)
    assert read_steering(tmp_path).disabled == {"a": "drift"}
    assert {path.name for path in (tmp_path / STATE_NAME).parent.iterdir()} == {
        "served.json",
        "served.json.lock",
    }
    disable(tmp_path, store, "b", who="op", reason="drift", now=NOW)
    assert read_steering(tmp_path).disabled == {"a": "drift", "b": "drift"}


def test_the_file_can_be_read_by_a_gate_of_another_account(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        disable(tmp_path, MemoryStore(), "a", who="op", reason="drift", now=NOW)
    finally:
        os.umask(before)
    assert (tmp_path / STATE_NAME).stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("target", ["/dev/zero", "a FIFO", "a folder"])
def test_what_is_no_plain_file_is_refused_without_waiting(tmp_path: Path, target: str) -> None:
    path = tmp_path / STATE_NAME
    path.parent.mkdir()
    if target == "a FIFO":
        os.mkfifo(path)
    elif target == "a folder":
        path.mkdir()
    else:
        path.symlink_to(target)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_steering(tmp_path)


def test_a_file_beyond_all_measure_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / STATE_NAME
    path.parent.mkdir()
    path.write_bytes(b'{"disabled":{},"versions":{}}' + b" " * 1_048_576)
    with pytest.raises(ConfigurationError, match="is damaged"):
        read_steering(tmp_path)
