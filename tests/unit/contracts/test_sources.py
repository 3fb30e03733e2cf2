"""Models, dataclasses, typed dicts and functions become closed schemas (CON-5)."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from tests.unit.contracts.folders import contract, problems
from typing_extensions import TypedDict

from sluicegate.contracts.contract import PythonName
from sluicegate.contracts.sources import schema_of

State = Literal["running", "failed"]
Name = Annotated[str, Field(max_length=60)]


class Step(BaseModel):
    name: Name


class JobModel(BaseModel):
    project_id: Name
    state: State
    steps: Annotated[list[Step], Field(max_length=9)] = []


@dataclass
class JobRecord:
    project_id: Name
    state: State


class JobDict(TypedDict):
    project_id: Name
    state: State


def job(project_id: Name, limit: Annotated[int, Field(ge=1, le=50)] = 20) -> JobRecord:
    raise AssertionError("never called")


def unnamed(project_id: Name, /) -> None: ...
def endless(*names: str) -> None: ...
def anything(**names: str) -> None: ...
def bare(project_id):  # type: ignore[no-untyped-def]
    ...


TEXT = {"type": "string", "maxLength": 60}
STATE = {"enum": ["running", "failed"], "type": "string"}
FLAT = {
    "type": "object",
    "properties": {"project_id": TEXT, "state": STATE},
    "required": ["project_id", "state"],
    "additionalProperties": False,
}


@pytest.mark.requirement("CON-5")
@pytest.mark.parametrize("source", [JobRecord, JobDict, job], ids=["dataclass", "dict", "return"])
def test_a_flat_record_becomes_one_closed_object(source: object) -> None:
    assert schema_of(source, side="result") == FLAT


@pytest.mark.requirement("CON-5")
def test_a_model_is_closed_at_every_level_and_bears_no_titles_that_repeat_names() -> None:
    schema = schema_of(JobModel, side="arguments")
    assert schema == {
        "$defs": {
            "Step": {
                "type": "object",
                "properties": {"name": TEXT},
                "required": ["name"],
                "additionalProperties": False,
            }
        },
        "type": "object",
        "properties": {
            "project_id": TEXT,
            "state": STATE,
            "steps": {
                "type": "array",
                "default": [],
                "maxItems": 9,
                "items": {"$ref": "#/$defs/Step"},
            },
        },
        "required": ["project_id", "state"],
        "additionalProperties": False,
    }


@pytest.mark.requirement("CON-5")
def test_a_function_takes_its_parameters_by_name_and_those_with_a_default_are_optional() -> None:
    schema = schema_of(job, side="arguments")
    assert schema == {
        "type": "object",
        "properties": {
            "project_id": TEXT,
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 20},
        },
        "required": ["project_id"],
        "additionalProperties": False,
    }


REFUSED: dict[str, tuple[object, str]] = {
    "positional only": (unnamed, "cannot be passed by its name"),
    "any number": (endless, "cannot be passed by its name"),
    "any name": (anything, "cannot be passed by its name"),
    "no annotation": (bare, "has no annotation"),
    "no type": (object(), "pydantic takes no schema"),
}


@pytest.mark.requirement("CON-5")
@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_closed_form_says_why(case: str) -> None:
    source, word = REFUSED[case]
    given = schema_of(source, side="arguments")
    assert isinstance(given, str)
    assert word in given


def test_a_function_without_return_annotation_gives_no_result() -> None:
    assert "no return annotation" in str(schema_of(bare, side="result"))


def test_without_pydantic_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)
    assert "install sluicegate[schemas]" in str(schema_of(JobRecord, side="result"))


@pytest.mark.requirement("CON-5")
def test_a_contract_may_name_its_schema_in_python_and_freezes_the_schema_itself() -> None:
    def resolve(name: PythonName) -> object:
        return {"acme.models:Job": JobModel, "acme.models:job": job}[str(name)]

    found = contract(
        {
            "arguments.schema": {"python": "acme.models:job"},
            "result.schema": {"python": "acme.models:Job"},
        },
        settings={"python": ["acme."]},
        resolve=resolve,
    )
    assert found.arguments.schema.is_valid({"project_id": "a"})
    assert not found.arguments.schema.is_valid({"project_id": "a", "limits": 3})
    frozen: Any = found.document["result"]
    assert frozen["schema"]["properties"]["state"] == STATE


@pytest.mark.requirement("CON-1", "CON-5")
def test_a_schema_in_python_is_held_to_the_allow_list_and_to_no_python() -> None:
    changes = {"result.schema": {"python": "evil.models:Job"}}
    (found,) = problems(changes, settings={"python": ["acme."]})
    assert (found.pointer, "prefixes" in found.message) == ("/result/schema/python", True)
    (found,) = problems(changes, settings={"python": ["evil."]}, resolve=None)
    assert "--no-python" in found.message


class OpenModel(BaseModel):
    project_id: Name
    state: State
    labels: dict[str, str]


@pytest.mark.requirement("CON-2", "CON-5")
def test_a_map_in_a_model_stays_open_and_is_refused_by_the_loader() -> None:
    found = problems(
        {"result.schema": {"python": "acme:Open"}},
        settings={"python": ["acme"]},
        resolve=lambda name: OpenModel,
    )
    assert {str(problem.code) for problem in found} == {"SCHEMA_OPEN_OBJECT"}
