"""The official JSON Schema test suite, draft 2020-12, through registration.

Every test of main and of optional/format is judged. Where a rule of CON-2 or RES-4 makes a schema
of the suite unregistrable, or its verdict another one, it stands in a list here with the rule, the
list is exact, and the suite's own verdict is held against the engine as this package sets it up.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema_rs import Registry, validator_for

from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.compiling import ENGINE_OPTIONS
from sluicegate.contracts.schemas.registration import register

SUITES: Final = os.environ.get("SLUICEGATE_SUITES")
HOST: Final = "http://localhost:1234/"

pytestmark = [
    pytest.mark.requirement("CON-2", "RES-4"),
    pytest.mark.skipif(SUITES is None, reason="SLUICEGATE_SUITES names no folder of suites"),
]

MAIN: Final = 1_299
FORMAT: Final = 764

ASSERTED: Final = "format.json"
"""In this file of main formats are annotations; here they are asserted (ARG-3, RES-4)."""

UNREGISTRABLE: Final = {
    "default.json": {
        "invalid type for default": "SCHEMA_DEFAULT_INVALID",
        "invalid string value for default": "SCHEMA_DEFAULT_INVALID",
        "the default keyword does not do anything if the property is missing": (
            "SCHEMA_DEFAULT_INVALID"
        ),
    },
    "vocabulary.json": {
        "schema that uses custom metaschema with with no validation vocabulary": "SCHEMA_DIALECT",
        "ignore unrecognized optional vocabulary": "SCHEMA_DIALECT",
    },
    "cross-draft.json": {
        "refs to historic drafts are processed as historic drafts": "SCHEMA_DIALECT",
    },
    "dependencies-compatibility.json": dict.fromkeys(
        (
            "single dependency",
            "empty dependents",
            "multiple dependents required",
            "dependencies with escaped characters",
            "single schema dependency",
            "boolean subschemas",
            "schema dependencies with escaped characters",
        ),
        "SCHEMA_UNKNOWN_KEYWORD",
    ),
    "format-assertion.json": {
        "schema that uses custom metaschema with format-assertion: false": "SCHEMA_DIALECT",
        "schema that uses custom metaschema with format-assertion: true": "SCHEMA_DIALECT",
    },
    "refOfUnknownKeyword.json": {
        "reference of a root arbitrary keyword ": "SCHEMA_UNKNOWN_KEYWORD",
        "reference of a root arbitrary keyword with encoded ref": "SCHEMA_UNKNOWN_KEYWORD",
        "reference of an arbitrary keyword of a sub-schema": "SCHEMA_UNKNOWN_KEYWORD",
        "reference of an arbitrary keyword of a sub-schema with encoded ref": (
            "SCHEMA_UNKNOWN_KEYWORD"
        ),
        "reference internals of known non-applicator": "SCHEMA_UNRESOLVED_REF",
    },
    "unknown.json": {"unknown format": "SCHEMA_UNKNOWN_FORMAT"},
    "unknownKeyword.json": {
        "$id inside an unknown keyword is not a real identifier": "SCHEMA_UNKNOWN_KEYWORD",
    },
}


def folder() -> Path:
    return Path(SUITES or "") / "json-schema-test-suite"


@cache
def remotes() -> dict[str, Any]:
    root = folder() / "remotes"
    return {
        HOST + path.relative_to(root).as_posix(): json.loads(path.read_bytes())
        for path in sorted(root.rglob("*.json"))
    }


def groups(pattern: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted((folder() / "tests" / "draft2020-12").glob(pattern)):
        for group in json.loads(path.read_bytes()):
            yield path.name, group


def judge(pattern: str) -> tuple[int, list[str], dict[str, dict[str, str]]]:
    """Return how many verdicts were as the suite says, the others, and what does not register."""
    right, wrong = 0, []
    refused: dict[str, dict[str, str]] = {}
    for name, group in groups(pattern):
        registered = register(group["schema"], side="result", strict=False, resources=remotes())
        if not isinstance(registered, CompiledSchema):
            refused.setdefault(name, {})[group["description"]] = registered[0].code.value
            continue
        for test in group["tests"]:
            if registered.is_valid(test["data"]) == test["valid"]:
                right += 1
            else:
                wrong.append(f"{name}: {group['description']}: {test['description']}")
    return right, wrong, refused


def expected_refusals(pattern: str) -> dict[str, dict[str, str]]:
    names = {name for name, _ in groups(pattern)}
    return {name: listed for name, listed in UNREGISTRABLE.items() if name in names}


def count(pattern: str) -> int:
    return sum(len(group["tests"]) for _, group in groups(pattern))


def count_refused(pattern: str) -> int:
    return sum(
        len(group["tests"])
        for name, group in groups(pattern)
        if group["description"] in UNREGISTRABLE.get(name, {})
    )


def test_main_is_as_the_suite_says_but_that_formats_are_asserted() -> None:
    right, wrong, refused = judge("*.json")
    assert refused == expected_refusals("*.json")
    assert [line for line in wrong if not line.startswith(f"{ASSERTED}: ")] == []
    assert {line.rsplit(" ", 4)[0].split(": ")[0] for line in wrong} == {ASSERTED}
    assert all(line.endswith("is only an annotation by default") for line in wrong)
    assert (len(wrong), right + len(wrong) + count_refused("*.json")) == (19, MAIN)


def test_optional_formats_are_as_the_suite_says_with_assertion_on() -> None:
    right, wrong, refused = judge("optional/format/*.json")
    assert wrong == []
    assert refused == expected_refusals("optional/format/*.json")
    assert right + count_refused("optional/format/*.json") == FORMAT


def test_the_other_optional_files_are_as_the_suite_says() -> None:
    right, wrong, refused = judge("optional/*.json")
    assert wrong == []
    assert refused == expected_refusals("optional/*.json")
    assert right + count_refused("optional/*.json") == count("optional/*.json")


def test_what_does_not_register_in_main_the_engine_still_judges_as_the_suite_says() -> None:
    """The same options, but for the dialect's own vocabulary, and formats as annotations."""
    registry = Registry(
        [(uri, document) for uri, document in remotes().items() if "/draft2020-12/" in uri]
    )
    options = {**ENGINE_OPTIONS, "validate_formats": False}
    judged, wrong = 0, []
    for name, group in groups("*.json"):
        if name != ASSERTED and group["description"] not in UNREGISTRABLE.get(name, {}):
            continue
        validator = validator_for(group["schema"], registry=registry, **options)
        for test in group["tests"]:
            judged += 1
            if validator.is_valid(test["data"]) != test["valid"]:
                wrong.append(f"{name}: {group['description']}: {test['description']}")
    assert wrong == []
    assert judged > 100
