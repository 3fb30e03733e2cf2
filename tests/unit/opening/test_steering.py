"""What an operator steers is recorded first and read at the next opening."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sluicegate.errors import ConfigurationError
from sluicegate.opening.steering import (
    STATE_NAME,
    Steering,
    disable,
    enable,
    read_steering,
    rollback,
)
from sluicegate.stores.memory import MemoryStore


@pytest.mark.requirement("AUD-1")
def test_each_act_is_recorded_with_its_reason_and_takes_effect(tmp_path: Path) -> None:
    store = MemoryStore()
    disable(tmp_path, store, "a", who="op", reason="drift")
    rollback(tmp_path, store, "b", "1.0.0", who="op", reason="regression")
    assert read_steering(tmp_path) == Steering(disabled={"a": "drift"}, versions={"b": "1.0.0"})
    enable(tmp_path, store, "a", who="op", reason="mended")
    assert read_steering(tmp_path) == Steering(disabled={}, versions={"b": "1.0.0"})
    acts = [
        (event.kind, event.tool, event.caller_subject, json.loads(event.detail)["act"])
        for event in store.events()
    ]
    assert acts == [
        ("operator", "a", "op", "disable"),
        ("operator", "b", "op", "rollback"),
        ("operator", "a", "op", "enable"),
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
