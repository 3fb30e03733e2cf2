"""Four fingerprints: what changes which of them, and what changes none (CON-4, CON-7)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest
from tests.unit.contracts.folders import BASE, NAME, case_folder, contract, resolve_anything

from sluicegate.contracts.contract import Contract, Fingerprints
from sluicegate.contracts.freezing import freeze
from sluicegate.contracts.loading import load
from sluicegate.contracts.served import ContractSet
from sluicegate.contracts.yaml_reading import read_yaml

SCHEMA = BASE["result"]["schema"]


def with_result(**members: Any) -> dict[str, Any]:
    return {"result.schema": {**copy.deepcopy(SCHEMA), **members}}


MOVED = copy.deepcopy(SCHEMA)
MOVED["properties"]["project_id"] = {"$ref": "#/$defs/id"}
MOVED["$defs"] = {"id": {"type": "string", "maxLength": 60}}
MOVED_AGAIN = copy.deepcopy(MOVED)
MOVED_AGAIN["properties"]["project_id"] = {"$ref": "#/$defs/renamed"}
MOVED_AGAIN["$defs"] = {"renamed": MOVED["$defs"]["id"]}

CHANGES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "nothing": ({}, set()),
    "an enum in another order": (
        {"result.schema.properties.state.enum": ["failed", "running"]},
        set(),
    ),
    "required in another order": (
        with_result(required=["observed_at", "state", "project_id"]),
        set(),
    ),
    "members in another order": (
        with_result(properties=dict(reversed(SCHEMA["properties"].items()))),
        set(),
    ),
    "a schema moved behind $ref": ({"result.schema": MOVED}, set()),
    "a $ref renamed": ({"result.schema": MOVED_AGAIN}, set()),
    "a default written out": ({"upstream": {"on_new": "notify"}}, set()),
    "limits written out": (
        {"limits": {"max_call_bytes": 65536, "max_bytes": 262144, "max_depth": 32}},
        set(),
    ),
    "a member the enum admits more": (
        {"result.schema.properties.state.enum": ["failed", "running", "queued"]},
        {"language"},
    ),
    "a longer text": ({"result.schema.properties.note.maxLength": 101}, {"language"}),
    "an argument no more required": (
        {"arguments.schema.required": ["project_id", "run_id"]},
        {"language"},
    ),
    "an asserted format": ({"result.schema.properties.note.format": "email"}, {"language"}),
    "a description of a field": ({"result.schema.properties.note.description": "x"}, {"text"}),
    "a description of an argument": (
        {"arguments.schema.properties.limit.description": "x"},
        {"text"},
    ),
    "the tool's description": ({"description": "Another."}, {"text"}),
    "a title": ({"title": "Job"}, {"text"}),
    "a default annotation": ({"result.schema.properties.count.default": 3}, {"text"}),
    "an extension keyword": ({"arguments.schema.properties.limit.x-ui": "slider"}, {"text"}),
    "the version": ({"version": "1.0.1"}, set()),
    "the owner": ({"owner": "others"}, {"policy"}),
    "the effect": ({"effect": "write"}, {"policy"}),
    "a selected field": ({"result.agent": ["/project_id"]}, {"policy"}),
    "freshness": ({"result.fresh": {"at": "/observed_at", "max_age_s": 5}}, {"policy"}),
    "a limit": ({"limits": {"max_bytes": 100}}, {"policy"}),
    "a code": ({"errors.OTHER": {"retryable": True}}, {"policy"}),
    "retry": ({"retry": {"attempts": 1, "budget_s": 5, "on": []}}, {"policy"}),
    "an added value": ({"arguments.on_absent": {"/limit": 5}}, {"policy"}),
    "the adapter's time": ({"fetch": {"host": {"timeout_s": 5}}}, {"policy"}),
    "a masked field": ({"mask": {"result": ["/note"]}}, {"policy"}),
}


@pytest.mark.requirement("CON-4")
@pytest.mark.parametrize("case", CHANGES)
def test_a_change_moves_its_own_fingerprint_and_the_digest(case: str) -> None:
    changes, moved = CHANGES[case]
    before, after = contract().fingerprints, contract(changes).fingerprints
    differ = {
        member.name
        for member in fields(Fingerprints)
        if getattr(before, member.name) != getattr(after, member.name)
    }
    expected = moved | {"digest"} if moved or case == "the version" else set()
    assert differ == expected


@pytest.mark.requirement("CON-4")
def test_two_descriptions_that_change_places_are_another_text() -> None:
    def of(first: str, second: str) -> Fingerprints:
        return contract(
            {
                "arguments.schema.properties.project_id.description": first,
                "arguments.schema.properties.run_id.description": second,
            }
        ).fingerprints

    assert of("a", "b").text != of("b", "a").text
    assert of("a", "b").language == of("b", "a").language


@pytest.mark.requirement("CON-4")
def test_a_schema_that_explodes_when_written_out_is_fingerprinted_all_the_same() -> None:
    links = {
        f"d{n}": {
            "type": "object",
            "properties": {side: {"$ref": f"#/$defs/d{n + 1}"} for side in ("l", "r")},
            "additionalProperties": False,
        }
        for n in range(20)
    }
    links["d20"] = {"type": "string", "maxLength": 5}
    schema = {**copy.deepcopy(SCHEMA), "$defs": links}
    schema["properties"]["tree"] = {"$ref": "#/$defs/d0"}
    one = contract({"result.schema": copy.deepcopy(schema)}).fingerprints
    schema["$defs"]["d20"] = {"type": "string", "maxLength": 6}
    assert one.language != contract({"result.schema": schema}).fingerprints.language


AWKWARD = {
    "title": 'a\u0085b\u2028c\u00ad "d" \\ é 😀 # x: [y]',
    "description": "no\n\ttabs:\r\n- on\n\u007f",
    "result.schema.properties.note.description": "012",
}


def example() -> Contract:
    loaded = load(case_folder(), resolve=resolve_anything)
    assert isinstance(loaded, ContractSet)
    return loaded.contracts["job_status"]


FROZEN: dict[str, Callable[[], Contract]] = {
    "the example with its files": example,
    "awkward characters": lambda: contract(AWKWARD),
    "plain text without a result": lambda: contract({"upstream": {"text": "plain"}, "result": ...}),
    "limits of its folder": lambda: contract({}, settings={"limits": {"max_bytes": 5000}}),
}


@pytest.mark.requirement("CON-5", "CON-7")
@pytest.mark.parametrize("name", ["contract.yaml", "contract.json"])
@pytest.mark.parametrize("case", FROZEN)
def test_a_frozen_contract_is_the_same_contract_alone_in_its_folder(case: str, name: str) -> None:
    given = FROZEN[case]()
    again = load(
        {"sluicegate.yaml": b"python: [acme.]", f"t/{name}": freeze(given).encode()},
        resolve=resolve_anything,
    )
    assert isinstance(again, ContractSet), again
    assert again.contracts["job_status"].fingerprints == given.fingerprints
    assert again.contracts["job_status"].document == given.document


@pytest.mark.requirement("CON-7")
def test_the_frozen_text_is_yaml_for_a_reader_that_knows_no_json() -> None:
    given = contract(AWKWARD)
    read = read_yaml(NAME, freeze(given).encode())
    assert not isinstance(read, tuple), read
    assert read.value == given.document
