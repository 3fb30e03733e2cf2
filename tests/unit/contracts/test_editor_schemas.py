"""The schemas that ship for editors know the keys that the reader knows, and take the example."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.unit.contracts import (
    test_reading_contract,
    test_reading_fetch,
    test_reading_sides,
    test_reading_upstream,
)
from tests.unit.contracts.folders import BASE, case_folder, changed
from tests.unit.contracts.test_settings_reading import DECIDING, FULL, SHARED

from sluicegate.contracts.keys import KEYS, LATER
from sluicegate.contracts.yaml_reading import Document, read_document


def schema(name: str) -> dict[str, Any]:
    text = (resources.files("sluicegate.contracts") / "editor" / f"{name}.schema.json").read_text()
    loaded: dict[str, Any] = json.loads(text)
    return loaded


SCHEMAS = {name: schema(name) for name in ("contract", "sluicegate")}
SECTIONS = {
    section: definition
    for document in SCHEMAS.values()
    for section, definition in document["$defs"].items()
}


def value(name: str, raw: bytes) -> object:
    document = read_document(name, raw)
    assert isinstance(document, Document), document
    return document.value


@pytest.mark.requirement("CON-1")
def test_reader_and_editor_know_the_same_sections() -> None:
    assert set(SECTIONS) == set(KEYS)


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize("section", sorted(KEYS))
def test_reader_and_editor_know_the_same_keys(section: str) -> None:
    definition = SECTIONS[section]
    assert set(definition["properties"]) == KEYS[section]
    assert definition["additionalProperties"] is False
    unserved = {key for key, inner in definition["properties"].items() if inner.get("not") == {}}
    assert unserved == {key for where, key in LATER if where == section}


@pytest.mark.parametrize("name", SCHEMAS)
def test_an_editor_schema_is_a_valid_schema_and_says_what_its_keys_are_for(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])
    root = SCHEMAS[name]["$defs"]["contract" if name == "contract" else "settings"]
    definitions = SCHEMAS[name]["$defs"]
    for key, inner in root["properties"].items():
        target = definitions[inner["$ref"][8:].replace("%20", " ")] if "$ref" in inner else inner
        assert "description" in target, key


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("contract", value("contract.yaml", case_folder()["job_status/contract.yaml"])),
        ("contract", BASE),
        ("sluicegate", value("sluicegate.yaml", case_folder()["sluicegate.yaml"])),
        ("sluicegate", value("sluicegate.yaml", FULL.encode())),
    ],
    ids=["example contract", "base contract", "example settings", "full settings"],
)
def test_what_the_loader_takes_the_editor_takes(name: str, document: object) -> None:
    errors = [
        f"{error.json_path}: {error.message}"
        for error in Draft202012Validator(SCHEMAS[name]).iter_errors(document)
    ]
    assert errors == []


@pytest.mark.parametrize(("text", "access"), DECIDING.values(), ids=DECIDING)
def test_the_editor_takes_each_form_of_what_decides(text: str, access: object) -> None:
    document = value("sluicegate.yaml", f"access: {text}".encode())
    assert Draft202012Validator(SCHEMAS["sluicegate"]).is_valid(document), access


@pytest.mark.parametrize("key", ["quota_store", "key_store"])
@pytest.mark.parametrize("case", SHARED)
def test_the_editor_takes_each_place_of_what_gates_share(case: str, key: str) -> None:
    text, *taken = SHARED[case]
    document = {"limits": {key: text}}
    is_taken = Draft202012Validator(SCHEMAS["sluicegate"]).is_valid(document)
    assert is_taken is taken[key == "key_store"]


SHAPE = [
    *("unknown key", "another format", "no owner", "number for text", "version of two parts"),
    *("unknown effect", "list for mapping", "tool name with a blank"),
    *("two adapters", "prefix without credential", "command line"),
    *("credential without its variable", "no status", "code in small letters", "integers"),
    *("ssh without a pinned host key", "ssh with a key and an agent", "ssh without a key"),
    *(
        "argument in the host of ssh",
        "argument in the command of ssh",
        "known_hosts ../known_hosts",
    ),
    *("no agent at all", "waiver without a day", "user name in the URL", "HEAD"),
]


REFUSED = {
    name: case
    for reader in (
        test_reading_contract,
        test_reading_sides,
        test_reading_fetch,
        test_reading_upstream,
    )
    for name, case in reader.REFUSED.items()
}


@pytest.mark.parametrize("case", SHAPE)
def test_what_is_wrong_in_shape_the_editor_marks_too(case: str) -> None:
    document = changed(REFUSED[case][0])
    assert not Draft202012Validator(SCHEMAS["contract"]).is_valid(document)
