"""The map of requirements and the tests say the same, both ways."""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import click
import pytest
from tests.requirements import COMMANDS, FETCHES, PARTS, REQUIREMENTS, Built, Pending

from sluicegate.cli.main import program

TESTS = Path(__file__).parent


def find_marks(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield (line, id) for every ``pytest.mark.requirement("…")``, wherever it stands."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "requirement"
            and isinstance(node.func.value, ast.Attribute)
            and node.func.value.attr == "mark"
        ):
            if not node.args:
                yield node.lineno, "(no id)"
            for argument in node.args:
                plain = isinstance(argument, ast.Constant) and isinstance(argument.value, str)
                yield node.lineno, argument.value if plain else f"(computed: {ast.dump(argument)})"


def proven_ids() -> dict[str, list[str]]:
    places = defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        for line, requirement in find_marks(ast.parse(path.read_bytes())):
            places[requirement].append(f"{path.relative_to(TESTS)}:{line}")
    return dict(places)


PROVEN = proven_ids()


@pytest.mark.parametrize("requirement", sorted(REQUIREMENTS))
def test_what_is_built_has_a_test_and_what_is_pending_has_none(requirement: str) -> None:
    state = REQUIREMENTS[requirement]
    assert (requirement in PROVEN) == isinstance(state, Built), PROVEN.get(requirement)


def test_every_id_that_a_test_names_stands_in_the_map() -> None:
    unknown = {name: places for name, places in PROVEN.items() if name not in REQUIREMENTS}
    assert unknown == {}


def test_whatever_waits_waits_for_a_part_that_is_known() -> None:
    waiting = [state.part for state in REQUIREMENTS.values() if isinstance(state, Pending)]
    for state in REQUIREMENTS.values():
        if isinstance(state, Built):
            waiting.extend(state.rest.values())
    assert set(waiting) == set(PARTS)


def rest_of(requirement: str) -> set[str]:
    state = REQUIREMENTS[requirement]
    return set(state.rest) if isinstance(state, Built) else set()


def test_the_commands_and_those_that_wait_are_those_of_the_specification() -> None:
    """Help and completion are those that any program has."""
    assert isinstance(program, click.Group)
    there = {*program.list_commands(click.Context(program))} - {"completion", "help"}
    assert (there | rest_of("CLI"), there & rest_of("CLI")) == (set(COMMANDS), set())


@pytest.mark.parametrize("form", FETCHES)
def test_a_way_to_fetch_loads_or_is_known_to_wait(form: str) -> None:
    editor = files("sluicegate.contracts").joinpath("editor/contract.schema.json")
    described = json.loads(editor.read_bytes())["$defs"]["fetch"]["properties"]
    known = {name for name, schema in described.items() if "not" not in schema}
    assert (form in known) != (form in rest_of("ADP-1"))


def test_a_mark_is_found_on_functions_modules_and_parameters() -> None:
    source = """
pytestmark = [pytest.mark.requirement("A-1")]
@pytest.mark.requirement("B-1", "B-2")
def test_it(): ...
pytest.param(1, marks=pytest.mark.requirement("C-1"))
pytest.mark.requirement(NAME)
pytest.mark.requirement()
"""
    found = [name.partition(":")[0] for _, name in find_marks(ast.parse(source))]
    assert sorted(found) == ["(computed", "(no id)", "A-1", "B-1", "B-2", "C-1"]
