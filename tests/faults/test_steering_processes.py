"""Operators in several processes steer one folder at once: no act is lost."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults import steering_processes

from sluicegate.opening.folder import open_folder_store
from sluicegate.opening.steering import read_steering

PROCESSES = 6
TOOLS = 8


@pytest.mark.requirement("AUD-1")
def test_every_withdrawal_of_every_process_is_in_force_and_on_record(tmp_path: Path) -> None:
    children = [
        subprocess.Popen(
            [
                sys.executable,
                steering_processes.__file__,
                tmp_path,
                *(f"tool_{process}_{number}" for number in range(TOOLS)),
            ]
        )
        for process in range(PROCESSES)
    ]
    while any(child.poll() is None for child in children):
        read_steering(tmp_path)  # whole at every moment, or this raises
    assert [child.returncode for child in children] == [0] * PROCESSES

    every = {f"tool_{process}_{number}" for process in range(PROCESSES) for number in range(TOOLS)}
    assert set(read_steering(tmp_path).disabled) == every
    store = open_folder_store(tmp_path)
    acts = [event for event in store.events() if json.loads(event.detail).get("act") == "disable"]
    asyncio.run(store.close())
    assert sorted(event.tool for event in acts) == sorted(every)
    assert [path.name for path in (tmp_path / "state").glob("*.new")] == []
