"""A contract written in Python is the same contract as the file it freezes to (CON-7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field
from tests.unit.contracts.folders import resolve_anything

from sluicegate.contracts.authoring import write_contract
from sluicegate.contracts.contract import Contract, HostFetch, PythonFetch, PythonName
from sluicegate.contracts.freezing import freeze
from sluicegate.contracts.loading import load
from sluicegate.contracts.served import ContractSet
from sluicegate.errors import ContractFolderError, MisuseError

Name = Annotated[str, Field(max_length=60)]


@dataclass
class Job:
    project_id: Name
    state: Literal["running", "failed"]
    observed_at: Annotated[str, Field(max_length=35, json_schema_extra={"format": "date-time"})]


def job_status(project_id: Name) -> Job:
    """State of one job
    of one project.

    More that only people read.
    """
    raise AssertionError("never called")


def agrees(data: object, **named: object) -> list[Any]:
    return []


PARTS: dict[str, Any] = {
    "owner": "ci-platform",
    "bind": {"/project_id": "/project_id"},
    "fresh": {"at": "/observed_at", "max_age_s": 60},
    "agent": ["/project_id", "/state"],
    "checks": [agrees],
    "errors": {"NOT_FOUND": {"retryable": False}},
}


@pytest.mark.requirement("CON-7")
def test_a_function_gives_name_description_schemas_and_adapter() -> None:
    found = Contract.of(job_status, **PARTS)
    assert (found.tool, found.description) == ("job_status", "State of one job of one project.")
    assert found.fetch == PythonFetch(function=PythonName(__name__, "job_status"), timeout_s=30)
    assert found.result.checks == (PythonName(__name__, "agrees"),)
    assert found.arguments.schema.is_valid({"project_id": "a"})
    assert not found.arguments.schema.is_valid({"project_id": "a", "b": 1})
    assert found.errors == {"NOT_FOUND": False}


@pytest.mark.requirement("CON-7")
def test_it_freezes_to_a_file_that_is_the_same_contract() -> None:
    found = Contract.of(job_status, **PARTS)
    again = load(
        {
            "sluicegate.yaml": f"python: [{__name__}]".encode(),
            "job_status/contract.yaml": freeze(found).encode(),
        },
        resolve=resolve_anything,
    )
    assert isinstance(again, ContractSet), again
    assert again.contracts["job_status"].fingerprints == found.fingerprints


@pytest.mark.requirement("CON-7")
def test_the_written_document_is_what_a_file_would_hold() -> None:
    written = write_contract(
        tool="t",
        owner="o",
        description="d",
        arguments={"type": "object", "additionalProperties": False},
        result=Job,
        agent=["/state"],
        fetch={"host": {}},
        title="T",
    )
    assert {**written.document, "result": None} == {
        "sluicegate": 1,
        "tool": "t",
        "version": "0.1.0",
        "owner": "o",
        "description": "d",
        "effect": "read",
        "arguments": {"schema": {"type": "object", "additionalProperties": False}},
        "fetch": {"host": {}},
        "result": None,
        "title": "T",
    }
    assert written.objects == {}


@pytest.mark.requirement("CON-7", "CON-2")
def test_the_same_rules_hold_and_every_problem_is_told() -> None:
    with pytest.raises(ContractFolderError) as raised:
        Contract.of(job_status, **{**PARTS, "agent": ["/stat"], "effect": "destructive"})
    assert [problem.pointer for problem in raised.value.problems] == ["/effect", "/result/agent/0"]


LACKING: dict[str, dict[str, Any]] = {
    "tool": {"description": "d", "arguments": {}, "result": {}},
    "description": {"tool": "t", "arguments": {}, "result": {}},
    "arguments": {"tool": "t", "description": "d", "result": {}},
    "result": {"tool": "t", "description": "d", "arguments": {}},
}


@pytest.mark.parametrize("part", LACKING)
def test_a_part_that_nothing_gives_is_named(part: str) -> None:
    with pytest.raises(MisuseError, match=part):
        write_contract(owner="o", **LACKING[part])


def test_without_a_function_the_host_fetches() -> None:
    found = Contract.of(
        tool="t",
        owner="o",
        description="d",
        arguments=dict(ARGUMENTS),
        result=Job,
        agent=["/state"],
    )
    assert found.fetch == HostFetch()


ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": False}
