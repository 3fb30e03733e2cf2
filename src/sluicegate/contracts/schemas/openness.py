"""Objects that are open in effect: judged place by place, after composition (CON-2, RES-4).

A place is closed when whatever holds for it names every member: ``additionalProperties: false`` or
``unevaluatedProperties: false`` somewhere among the schemas that hold together, in each branch of
a choice. The ways out are a bounded map and a named extension.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from sluicegate.contracts.schemas.composition import (
    Composition,
    CompositionTooLargeError,
    Item,
    Member,
    Step,
    Undeclared,
    declared_names,
    declared_patterns,
)
from sluicegate.contracts.schemas.faults import SchemaFault
from sluicegate.contracts.schemas.formulas import (
    Either,
    Every,
    Formula,
    Leaf,
    greatest,
    holds,
    is_enumerated,
    is_extension,
    leaves,
    types,
)
from sluicegate.contracts.schemas.keywords import (
    Schema,
    is_false,
    schema_at,
    schema_list,
    schema_map,
)
from sluicegate.contracts.schemas.tree import SchemaTree
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject
from sluicegate.values.pointers import join_segments

MAX_FAULTS: Final = 20
MAX_PLACES: Final = 20_000
MAX_MEMBERS: Final = 10_000
MAX_NAME: Final = 1_024
"""Bounds past these bound nothing: a map of more members, or of longer names, is an open object."""

_OPEN: Final = 0
_MAP: Final = 1
_CLOSED: Final = 2

_COMPOSED: Final = "unevaluatedProperties"
_REST: Final = ("additionalProperties", _COMPOSED)
_MAP_OF: Final = "; a map needs a schema of its values, `propertyNames` and `maxProperties`."
_CLOSE: Final = (
    "Add `additionalProperties: false`, or `unevaluatedProperties: false` where schemas are "
    f"composed{_MAP_OF}"
)
_BOUND: Final = "Add `propertyNames` with a pattern or enum, and `maxProperties`."
_TYPE: Final = "Give it a `type`: without one it admits objects and arrays of anything."


def find_open_objects(document: JsonObject) -> tuple[SchemaFault, ...]:
    """Return one fault for each place that admits an object whose members nobody has listed.

    Shape: at most 20 faults; empty: every object is closed, a bounded map, or an extension. A
    document with too many places to judge is SCHEMA_TOO_COMPLEX.
    """
    judge = _Judge(SchemaTree(document))
    found: dict[str, SchemaFault] = {}
    try:
        for fault in judge.run():
            found.setdefault(fault.pointer, fault)
            if len(found) == MAX_FAULTS:
                break
    except CompositionTooLargeError:
        return (_too_many(),)
    return tuple(found.values())


class _Judge:
    __slots__ = ("_composition", "_judged", "_tree")

    def __init__(self, tree: SchemaTree) -> None:
        self._tree = tree
        self._composition = Composition(tree)
        self._judged: set[object] = set()

    def run(self) -> Iterator[SchemaFault]:
        waiting: list[tuple[Formula, str]] = [(self._composition.of(self._tree.document), "")]
        while waiting:
            formula, at = waiting.pop()
            key = formula.key
            if key in self._judged:
                continue
            if len(self._judged) >= MAX_PLACES:
                yield _too_many()
                return
            self._judged.add(key)
            at = self._pointer(formula, at)
            if holds(formula, is_enumerated) or holds(formula, is_extension):
                continue
            admitted = types(formula)
            if "object" in admitted:
                yield from self._judge_object(formula, at)
            waiting.extend(
                (self._composition.below(formula, taken), at)
                for taken in reversed(self._steps(formula, admitted))
            )

    def _pointer(self, formula: Formula, above: str) -> str:
        """The first schema that speaks of the place; where none does, the place above."""
        for schema in leaves(formula):
            at = self._tree.place_of(schema)
            if at is not None:
                return join_segments(at)
        return above

    def _judge_object(self, formula: Formula, at: str) -> Iterator[SchemaFault]:
        cover = self._cover(formula)
        typed = holds(formula, lambda schema: isinstance(schema, Mapping) and "type" in schema)
        if cover == _OPEN:
            yield SchemaFault(
                code=Code.SCHEMA_OPEN_OBJECT,
                pointer=self._culprit(formula) or at,
                message="this place admits an object with members that nobody has declared.",
                mend=_CLOSE if typed else f"{_TYPE} {_CLOSE}",
            )
        elif cover == _MAP and not (
            holds(formula, _bounds_names)
            and (most := greatest(formula, "maxProperties")) is not None
            and most <= MAX_MEMBERS
        ):
            yield self._judge_map(formula, at)

    def _judge_map(self, formula: Formula, at: str) -> SchemaFault:
        """Where anything is let in by a word, that word is to go; the rest is a map to be bounded.

        A map beside declared members is rarely meant, so how to close it comes first.
        """
        declared = set(declared_names(self._composition, formula))
        openers = list(filter(None, map(_opened_by, leaves(formula))))
        message, mend = "this map takes any member name, or any number of members.", _BOUND
        if openers:
            schema, word = openers[0]
            message = "this place admits an object with members that nobody has declared."
            closing = word if declared <= schema_map(schema, "properties").keys() else _COMPOSED
            mend = (
                f"Write `{closing}: false` in place of `{word}: true`{'.' if declared else _MAP_OF}"
            )
        elif declared and any(map(_maps_values, leaves(formula))):
            mend = f"Close it by `additionalProperties: false`; if more members are meant: {mend}"
        return SchemaFault(code=Code.SCHEMA_OPEN_OBJECT, pointer=at, message=message, mend=mend)

    def _culprit(self, formula: Formula) -> str | None:
        """The branch that stays open, where only one of several does."""
        if isinstance(formula, Every):
            for part in formula.parts:
                if isinstance(part, Either):
                    return self._culprit(part)
            return None
        if isinstance(formula, Either):
            for branch in formula.branches:
                if self._cover(branch) == _OPEN and "object" in types(branch):
                    return self._pointer(branch, "") or None
        return None

    def _cover(self, formula: Formula) -> int:
        match formula:
            case Leaf(schema=schema):
                return self._own_cover(schema)
            case Every(parts=parts):
                return max(map(self._cover, parts), default=_OPEN)
            case Either(branches=branches):
                return min(
                    (
                        self._cover(branch) if "object" in types(branch) else _CLOSED
                        for branch in branches
                    ),
                    default=_CLOSED,
                )

    def _own_cover(self, schema: Schema) -> int:
        if isinstance(schema, bool):
            return _OPEN if schema else _CLOSED
        if is_enumerated(schema) or is_extension(schema):
            return _CLOSED
        additional = schema_at(schema, "additionalProperties")
        if additional is not None:
            narrow = is_false(additional) and not schema.get("patternProperties")
            return _CLOSED if narrow else _MAP
        unevaluated = schema_at(schema, "unevaluatedProperties")
        if unevaluated is None:
            return _OPEN
        narrow = is_false(unevaluated) and not any(
            self._evaluates_unnamed(inner, schema) for inner in self._tree.reachable(schema)
        )
        return _CLOSED if narrow else _MAP

    @staticmethod
    def _evaluates_unnamed(inner: Schema, schema: JsonObject) -> bool:
        """Whether ``inner`` may evaluate members that it does not name."""
        if isinstance(inner, bool):
            return False
        if not inner or inner.get("patternProperties"):
            return True  # an empty schema may be opaque
        for keyword in ("additionalProperties", "unevaluatedProperties"):
            own = schema_at(inner, keyword)
            if own is not None and not is_false(own) and inner is not schema:
                return True
        return False

    def _steps(self, formula: Formula, admitted: frozenset[str]) -> list[Step]:
        steps: list[Step] = []
        if "object" in admitted:
            steps.extend(map(Member, declared_names(self._composition, formula)))
            if self._cover(formula) == _MAP:
                steps.append(Undeclared())
                steps.extend(map(Undeclared, declared_patterns(self._composition, formula)))
        if "array" in admitted:
            first = max((_prefix(schema) for schema in leaves(formula)), default=0)
            longest = greatest(formula, "maxItems")
            count = first + 1 if longest is None else min(first + 1, longest)
            steps.extend(map(Item, range(count)))
        return steps


def _prefix(schema: Schema) -> int:
    return 0 if isinstance(schema, bool) else len(schema_list(schema, "prefixItems"))


def _opened_by(schema: Schema) -> tuple[JsonObject, str] | None:
    """A schema that takes members of any name and value, with the keyword that says so."""
    if isinstance(schema, bool):
        return None
    word = next((each for each in _REST if schema_at(schema, each) in (True, {})), None)
    return None if word is None else (schema, word)


def _maps_values(schema: Schema) -> bool:
    return isinstance(schema, Mapping) and any(
        isinstance(schema_at(schema, each), Mapping) for each in _REST
    )


def _bounds_names(schema: Schema) -> bool:
    if isinstance(schema, bool):
        return False
    names = schema_at(schema, "propertyNames")
    return isinstance(names, Mapping) and _bounds_text(names)


def _bounds_text(names: JsonObject) -> bool:
    """Whether these names are bounded where they stand: a reference is for a reader to follow."""
    longest = names.get("maxLength")
    return (
        bool(set(names) & {"enum", "const", "format"})
        or bool(names.get("pattern"))
        or (isinstance(longest, int) and longest <= MAX_NAME)
    )


def _too_many() -> SchemaFault:
    return SchemaFault(
        code=Code.SCHEMA_TOO_COMPLEX,
        message=f"composed, the schema describes more than {MAX_PLACES} places.",
        mend="Use fewer branches, and close each object where it stands.",
    )
