"""The lint rule that a survivor names is one that lint finds in that very schema."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, Final

import pytest

from sluicegate.contracts.schemas.compiling import compile_validator
from sluicegate.lifecycle import mutants
from sluicegate.lifecycle.lint.linting import lint
from sluicegate.lifecycle.lint.subject import SideName, Subject
from sluicegate.lifecycle.lint.table import RULES
from sluicegate.lifecycle.mutants.structure import mutate_structure
from sluicegate.opening.deciding import decide

pytestmark = pytest.mark.requirement("LIF-1", "LIF-2")

_TODAY: Final = date(2026, 1, 1)
_FORM_OF_EXAMPLE: Final = "X04"
"""What the text of an example looks like, lint cannot know: it sees no example."""

SOURCES: Final = sorted(Path(str(mutants.__file__)).parent.glob("*.py"))
NAMED: Final = sorted(
    {rule for path in SOURCES for rule in re.findall(r'"([A-Z]\d\d)"', path.read_text())}
)


def member(schema: Any, name: str = "a") -> dict[str, Any]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {name: schema},
        "required": [name],
        "additionalProperties": False,
    }


def leave(*keywords: str, **more: Any) -> dict[str, Any]:
    """The schema of one integer without some of its safeguards, and with others."""
    schema = member({"type": "integer", "minimum": 0, "maximum": 9})
    return {**{key: value for key, value in schema.items() if key not in keywords}, **more}


TEXT: Final = {"type": "string", "maxLength": 99}
MAP: Final = {"type": "object", "additionalProperties": {"type": "integer", "maximum": 9}}
TUPLE: Final = {"type": "array", "prefixItems": [TEXT], "maxItems": 9}

Case = tuple[dict[str, Any], Any, str]
HOLES: Final[dict[str, Case]] = {
    "open": (leave("additionalProperties"), {"a": 1}, "C01"),
    "nothing required": (leave("required"), {"a": 1}, "C05"),
    "optional": (leave(required=[]), {"a": 1}, "C06"),
    "no type": (member({"maxLength": 9}), {"a": "x"}, "C08"),
    "map without names": (member(MAP), {"a": {"x": 1}}, "C04"),
    "map without end": (
        member({**MAP, "propertyNames": {"pattern": "^[a-z]{1,9}$"}, "minProperties": 1}),
        {"a": {"x": 1}},
        "C04",
    ),
    "text without end": (member({"type": "string"}), {"a": "x"}, "B01"),
    "pattern without end": (member({"type": "string", "pattern": "^[a-z]+$"}), {"a": "x"}, "B01"),
    "array without end": (member({"type": "array", "items": TEXT}), {"a": ["x"]}, "B03"),
    "number without end": (member({"type": "number", "maximum": 9}), {"a": 1}, "B04"),
    "half a page": (member({"type": "number", "minimum": 0, "maximum": 9}, "page"), None, "B05"),
    "open tuple": (member(TUPLE), {"a": ["x"]}, "B10"),
    "not anchored": (member({**TEXT, "pattern": "[a-z]{3}"}), {"a": "abc"}, "X01"),
    "any character": (member({"type": "string", "pattern": "^.{1,99}$"}), {"a": "abc"}, "X03"),
    "not negated": (member({"type": "string", "pattern": "^[^/]{1,99}$"}), {"a": "abc"}, "X03"),
    **{
        f"endless {form}": (member({"type": "string", "format": form}), {"a": text}, "X05")
        for form, text in (
            ("uri", "https://a.example/x"),
            ("iri", "https://a.example/x"),
            ("uri-reference", "x"),
            ("date-time", "2026-01-01T12:00:00Z"),
            ("json-pointer", "/a"),
            ("regex", "a"),
        )
    },
    **{
        f"identifier {name}": (member(TEXT, name), None, "B02")
        for name in ("run_id", "run_guid", "runId", "run-id", "runGUID", "slug", "key", "gitRef")
    },
    "identifiers in a list": (
        member({"type": "array", "items": TEXT, "maxItems": 3}, "run_ids"),
        {"run_ids": ["x"]},
        "B02",
    ),
    "identifier of sentences": (
        member({"type": "string", "pattern": "^[A-Za-z .]{1,99}$"}, "run_id"),
        {"run_id": "abc"},
        "B02",
    ),
}
SAMPLES: Final[dict[str, Any]] = {"page": 1}


def names_of(schema: dict[str, Any], value: Any, side: SideName = "result") -> set[str]:
    """Return the rules that the mutants name which this schema admits."""
    admits = compile_validator(schema).is_valid
    assert admits(value)
    found = mutate_structure(value, schema, side=side)
    return {mutant.rule for mutant in found if admits(mutant.value)}


def findings_of(schema: dict[str, Any], side: SideName = "result") -> set[str]:
    (found,) = lint([Subject(schema=schema, side=side)], decide=decide, today=_TODAY)
    return {each.rule for each in found}


@pytest.mark.parametrize(("schema", "value", "rule"), HOLES.values(), ids=HOLES)
def test_what_a_survivor_names_lint_finds_in_that_schema(
    schema: dict[str, Any], value: Any, rule: str
) -> None:
    name = next(iter(schema["properties"]))
    named = names_of(schema, {name: SAMPLES.get(name, "x")} if value is None else value)
    assert rule in named
    assert named <= findings_of(schema)


def test_every_rule_of_structure_was_named_by_a_survivor() -> None:
    """Else a rule that a mutant names were held to nothing; E rules are those of meaning."""
    shown = {rule for _, _, rule in HOLES.values()} | {_FORM_OF_EXAMPLE}
    assert shown == {rule for rule in NAMED if not rule.startswith("E")}


@pytest.mark.parametrize("rule", [rule for rule in NAMED if rule.startswith("E")])
def test_what_a_mutant_of_meaning_names_is_a_rule_of_results(rule: str) -> None:
    assert RULES[rule].severity("result") is not None


def test_what_is_no_identifier_is_one_to_neither() -> None:
    for name in ("run_ids", "provider", "valid", "monkey", "identity"):
        schema = member(TEXT, name)
        assert "B02" not in names_of(schema, {name: "x"}) | findings_of(schema)


def test_a_text_in_the_form_of_a_time_is_a_hole_that_the_page_of_its_rule_tells_of() -> None:
    schema = member(TEXT)
    assert names_of(schema, {"a": "2026-01-01T12:00:00Z"}) == {_FORM_OF_EXAMPLE}
    assert "for `test`, which knows examples" in RULES[_FORM_OF_EXAMPLE].what


@pytest.mark.parametrize("side", ["arguments", "result"])
def test_no_side_names_a_rule_that_it_does_not_have(side: SideName) -> None:
    for schema, value, _ in _each():
        named = names_of(schema, value, side) - {_FORM_OF_EXAMPLE}
        assert all(RULES[rule].severity(side) is not None for rule in named)
        assert named <= findings_of(schema, side)


def _each() -> Iterator[Case]:
    for schema, value, rule in HOLES.values():
        name = next(iter(schema["properties"]))
        yield schema, {name: SAMPLES.get(name, "x")} if value is None else value, rule
