"""U01 and U02 for texts: a pattern and the bounds beside it that no length satisfies.

The engine that answers the questions about sets compares no pattern with a bound (facts: lifecycle
B1, U01).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from sluicegate.contracts.schemas.formulas import Either, Every, Formula, Leaf, every, types
from sluicegate.contracts.schemas.keywords import ALL_TYPES, Schema, integer_at, schema_list
from sluicegate.contracts.schemas.proofs import conjuncts
from sluicegate.lifecycle.lint.findings import Hit
from sluicegate.lifecycle.lint.pattern_reading import longest_match, shortest_match
from sluicegate.lifecycle.lint.sheet import Node, Sheet
from sluicegate.values.pointers import join_segments

NOTHING_HERE = "nothing is valid here."
NOTHING_IN_BRANCH = "nothing is valid against this branch."


def find_impossible_lengths(sheet: Sheet) -> Iterator[Hit]:
    """U01: innermost places alone, and none that stands in a branch of a choice."""
    for pointer, is_branch in _impossible(sheet):
        if not is_branch:
            yield Hit(pointer, NOTHING_HERE)


def find_impossible_branches(sheet: Sheet) -> Iterator[Hit]:
    """U02: a branch that no text fits, with what holds beside the choice."""
    for pointer, is_branch in _impossible(sheet):
        if is_branch:
            yield Hit(pointer, NOTHING_IN_BRANCH)


def _impossible(sheet: Sheet) -> list[tuple[str, bool]]:
    found: dict[str, bool] = {}
    for node in sheet.nodes:
        if {"not", "if"} & set(node.at):
            continue  # what must not hold may well be impossible
        is_name = node.at[-1:] == ("propertyNames",)
        if _is_impossible(sheet.composition.of(node.schema), is_text=is_name):
            found[node.pointer] = node.at[-2:-1] in (("anyOf",), ("oneOf",))
        for keyword in ("anyOf", "oneOf"):
            for index, branch in enumerate(schema_list(node.schema, keyword)):
                if _is_impossible(_within(sheet, node, branch), is_text=is_name):
                    found[join_segments((*node.at, keyword, str(index)))] = True
    for place in sheet.places:
        if _is_impossible(place.formula, is_text=False):
            found.setdefault(place.pointer, False)
    return [
        (pointer, is_branch)
        for pointer, is_branch in found.items()
        if not any(other.startswith(pointer + "/") for other in found)
    ]


def _within(sheet: Sheet, node: Node, branch: Schema) -> Formula:
    """The branch with all that holds beside its choice, other choices apart."""
    beside = [sheet.composition.of(inner) for inner in conjuncts(sheet.tree, node.schema)]
    own = Leaf(node.schema, id(node.schema))
    return every([own, *beside, sheet.composition.of(branch)])


def _is_impossible(formula: Formula, *, is_text: bool) -> bool:
    """Whether only texts can stand here, and none is long enough and short enough at once."""
    admitted = types(formula)
    if is_text and admitted == ALL_TYPES:
        admitted = frozenset({"string"})
    return admitted == {"string"} and _least(formula) > _most(formula)


def _least(formula: Formula) -> float:
    match formula:
        case Leaf(schema=schema):
            if not isinstance(schema, Mapping):
                return 0
            pattern = schema.get("pattern")
            shortest = shortest_match(pattern) if isinstance(pattern, str) else 0
            return max(shortest, integer_at(schema, "minLength") or 0)
        case Every(parts=parts):
            return max(map(_least, parts), default=0)
        case Either(branches=branches):
            return min(map(_least, branches))


def _most(formula: Formula) -> float:
    match formula:
        case Leaf(schema=schema):
            if not isinstance(schema, Mapping):
                return math.inf
            pattern = schema.get("pattern")
            bounds = [
                longest_match(pattern) if isinstance(pattern, str) else None,
                integer_at(schema, "maxLength"),
            ]
            return min((float(each) for each in bounds if each is not None), default=math.inf)
        case Every(parts=parts):
            return min(map(_most, parts), default=math.inf)
        case Either(branches=branches):
            return max(map(_most, branches))
