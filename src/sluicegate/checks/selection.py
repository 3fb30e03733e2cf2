"""The rung that builds the selected object (SPEC RES-7): the fields that were declared, no others.

A selector is one compiled expression: dict displays and list comprehensions, made as a syntax tree
from the contract's pointers. Whole selected subtrees are moved, not copied; members that a valid
answer may lack appear only when present; a wildcard keeps the shape of its array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NewType, TypeAlias

from sluicegate.checks.meaning import Vouched
from sluicegate.checks.selection_expressions import compile_projections
from sluicegate.contracts.contract import ResultPart
from sluicegate.values.findings import Finding
from sluicegate.values.json import JsonValue

Selected = NewType("Selected", tuple[JsonValue, JsonValue, JsonValue, tuple[Finding, ...]])
"""What leaves the ladder: (data, display, operator, notes).

``data`` is for the agent, ``display`` for people, ``operator`` for custody and console; the latter
two are None where the contract declares none. ``notes`` are findings that refuse nothing: members
the provider never sent before. No record: the envelope is the one that is built at the end.
"""


Selector: TypeAlias = Callable[[object, tuple[Finding, ...]], object]
"""The compiled expression of one contract: (document, notes) → the four parts of Selected."""


def compile_selector(result: ResultPart) -> Selector:
    """Compile what ``result`` selects, once.

    Raises: ValueError where free text is declared beside data that is no object, or where the
    agent's fields already bear a member ``untrusted_text``.
    """
    return compile_projections(
        result.schema.document,
        (result.agent, result.display, result.operator),
        result.untrusted_text,
    )


def select(vouched: Vouched, selector: Selector, notes: tuple[Finding, ...] = ()) -> Selected:
    """Return the selected fields as new objects; total for every value the schema admits.

    Free text stands below ``untrusted_text``. Source: SPEC RES-7.
    """
    minted: Any = selector(vouched, notes)
    selected: Selected = minted
    return selected


def replace_notes(selected: Selected, notes: tuple[Finding, ...]) -> Selected:
    """Return the same selection with other notes."""
    minted: Any = (*selected[:3], notes)
    replaced: Selected = minted
    return replaced
