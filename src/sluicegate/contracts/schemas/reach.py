"""What a schema promises at a pointer: is the place there, always, and of which types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sluicegate.contracts.schemas.composition import (
    Composition,
    CompositionTooLargeError,
    Item,
    Member,
    declared_names,
    listed_values,
)
from sluicegate.contracts.schemas.formulas import (
    ANYTHING,
    Every,
    Formula,
    Leaf,
    either,
    greatest,
    holds,
    leaves,
    requires,
    types,
)
from sluicegate.contracts.schemas.keywords import integer_at, schema_list
from sluicegate.contracts.schemas.tree import SchemaTree
from sluicegate.values.json import JsonObject
from sluicegate.values.pointers import EVERY, Pointer

_ONLY_LEADS_ON: Final = frozenset({"$ref", "$comment", "title", "description", "$defs", "$schema"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What a schema says about one place.

    ``exists``: the schema declares the place, and a value can stand there; ``required``: every
    valid document has one (below ``*``: in every item); ``types``: the JSON types it can have
    (``integer`` counts as ``number``); ``schemas``: each schema that holds for every value there,
    those behind ``$ref`` and ``allOf`` included, those of single branches not.
    """

    exists: bool
    required: bool
    types: frozenset[str]
    schemas: tuple[JsonObject, ...]


NOWHERE: Final = Reach(exists=False, required=False, types=frozenset(), schemas=())


def find_subschemas(document: JsonObject, pointer: Pointer) -> Reach:
    """Say what the effective schema ``document`` promises at ``pointer``: as ``Reaching.find``."""
    return Reaching(document).find(pointer)


class Reaching:
    """Many questions about one document: each place is found from the place above it."""

    __slots__ = ("_composition", "_places")

    def __init__(self, document: JsonObject) -> None:
        self._composition = Composition(SchemaTree(document))
        self._places: dict[tuple[str, ...], tuple[Formula, bool] | None] = {}

    def find(self, pointer: Pointer) -> Reach:
        """Say what the effective schema promises at ``pointer``.

        ``*`` is every item of an array, a number one item. A place that is declared nowhere does
        not exist, even where an open object would admit it; nor does one whose schemas multiply
        beyond reading. Never raises.
        """
        try:
            place = self._place(pointer.segments)
        except CompositionTooLargeError:
            return NOWHERE
        if place is None:
            return NOWHERE
        formula, required = place
        return Reach(
            exists=True,
            required=required,
            types=types(formula),
            schemas=tuple(
                schema
                for schema in certain(formula)
                if "$ref" not in schema or not schema.keys() <= _ONLY_LEADS_ON
            ),
        )

    def _place(self, segments: tuple[str, ...]) -> tuple[Formula, bool] | None:
        """Return the formula of a place, and whether every valid document has it."""
        known = len(segments)
        while known and segments[:known] not in self._places:
            known -= 1
        place: tuple[Formula, bool] | None
        if known:
            place = self._places[segments[:known]]
        else:
            place = (self._composition.of(self._composition.tree.document), True)
        for end in range(known, len(segments)):
            if place is not None:
                step = step_below(self._composition, place[0], segments[end])
                place = None if step is None else (step[0], place[1] and step[1])
            self._places[segments[: end + 1]] = place
        return place


def asserts_format(document: JsonObject, pointer: Pointer, form: str) -> bool:
    """Whether every string that stands at ``pointer`` in a valid document has the format."""
    return any(
        schema.get("format") == form for schema in find_subschemas(document, pointer).schemas
    )


def step_below(
    composition: Composition, formula: Formula, segment: str
) -> tuple[Formula, bool] | None:
    """Return the place below and whether every valid value here has it; None: it is nowhere."""
    admitted = types(formula)
    if segment == EVERY:
        if "array" not in admitted:
            return None
        below = _every_item(composition, formula)
        return None if below is ANYTHING or not types(below) else (below, admitted == {"array"})
    if "object" in admitted:
        below = composition.below(formula, Member(segment))
        declared = below is not ANYTHING or segment in declared_names(composition, formula)
        if not declared or not types(below):
            return None
        return below, admitted == {"object"} and requires(formula, segment)
    if "array" in admitted and segment.isascii() and segment.isdigit() and len(segment) < 7:
        below = composition.below(formula, Item(int(segment)))
        if below is ANYTHING or not types(below):
            return None
        least = int(segment) + 1
        always = holds(
            formula,
            lambda schema: (
                isinstance(schema, Mapping) and (integer_at(schema, "minItems") or 0) >= least
            ),
        )
        return below, admitted == {"array"} and always
    return None


def _every_item(composition: Composition, formula: Formula) -> Formula:
    first = max(
        (_items_apart(schema) for schema in leaves(formula) if isinstance(schema, Mapping)),
        default=0,
    )
    longest = greatest(formula, "maxItems")
    count = first + 1 if longest is None else min(first + 1, longest)
    items = [composition.below(formula, Item(index)) for index in range(count)]
    return either([item for item in items if types(item)])


def _items_apart(schema: JsonObject) -> int:
    """How many items a schema may speak of one by one: of a listed array each may differ."""
    listed = (len(value) for value in listed_values(schema) if isinstance(value, list | tuple))
    return max(len(schema_list(schema, "prefixItems")), *listed, 0)


def certain(formula: Formula) -> Iterator[JsonObject]:
    if isinstance(formula, Leaf):
        if isinstance(formula.schema, Mapping):
            yield formula.schema
    elif isinstance(formula, Every):
        for part in formula.parts:
            yield from certain(part)
