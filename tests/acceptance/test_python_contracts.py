"""A contract written in Python is checked and released as the same file (CON-7)."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest
from tests.acceptance.commands import Here

from sluicegate import Contract

MODULE = '''
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

RunId = Annotated[str, Field(pattern="^run_[a-z0-9]{4,8}$")]


@dataclass
class Job:
    run_id: RunId
    state: Literal["failed", "succeeded"]


def python_job(run_id: RunId) -> Job:
    """State of one job."""
    return Job(run_id=run_id, state="failed")


def is_known(data, *, document, request, now):
    return []
'''


@pytest.mark.requirement("CON-5", "CON-7", "LIF-3")
def test_it_is_released_as_the_file_that_it_freezes_to(
    sluicegate: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("acme_python_jobs.py").write_text(MODULE)
    jobs = importlib.import_module("acme_python_jobs")
    contract = Contract.of(
        jobs.python_job,
        owner="ci-platform",
        version="1.0.0",
        bind={"/run_id": "/run_id"},
        agent=["/run_id", "/state"],
        checks=[jobs.is_known],
    )
    home = Path("contracts/python_job")
    for side, text in (
        ("arguments", '{"run_id": "run_a1b2"}'),
        ("result", '{"run_id": "run_a1b2", "state": "failed"}'),
    ):
        fixture = home / "fixtures" / side / "accepted" / "one.json"
        fixture.parent.mkdir(parents=True)
        fixture.write_text(text)
    fixture.with_name("one.expect.yaml").write_text("arguments: {run_id: run_a1b2}\n")
    (home / "contract.yaml").write_text(contract.freeze())
    Path("contracts/sluicegate.yaml").write_text('sluicegate: 1\npython: ["acme_python_jobs"]\n')
    checked = json.loads(sluicegate("check", "--format", "json-v1").out)
    assert (checked["verdict"], checked["contracts"]) == ("ok", {"python_job": "1.0.0"})
    done = sluicegate("release", "python_job", "--format", "json-v1")
    assert (done.code, json.loads(done.out)["digest"]) == (0, str(contract.fingerprints.digest))
    assert (home / "released/1.0.0.yaml").read_text() == contract.freeze()
