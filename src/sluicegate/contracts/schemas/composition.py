"""One place of a document, as all the schemas that speak about it, and the places below it.

A schema is taken apart into formulas: ``Every`` of parts, ``Either`` of branches, and leaves, each
a schema's own keywords without its in-place applicators. The place one step below is then the same
formula of the places below. Whatever is not understood counts as admitting everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from sluicegate.contracts.schemas.compiling import matches
from sluicegate.contracts.schemas.formulas import (
    ANYTHING,
    NOTHING,
    Either,
    Every,
    Formula,
    Leaf,
    either,
    every,
    is_enumerated,
    is_extension,
    leaves,
)
from sluicegate.contracts.schemas.keywords import (
    Schema,
    schema_at,
    schema_list,
    schema_map,
    schema_named,
)
from sluicegate.contracts.schemas.proofs import choices, conjuncts, own_types
from sluicegate.contracts.schemas.tree import SchemaTree
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.pointers import NOTHING as NO_VALUE
from sluicegate.values.pointers import Nothing

MAX_WORK: Final = 100_000
"""Parts that one composition may touch: what asks for more is a schema nobody could read."""


class CompositionTooLargeError(Exception):
    """The schemas of one place multiply beyond ``MAX_WORK``."""


@dataclass(frozen=True, slots=True)
class Member:
    """The step to the member of an object with this name."""

    name: str


@dataclass(frozen=True, slots=True)
class Item:
    """The step to the item of an array with this index."""

    index: int


@dataclass(frozen=True, slots=True)
class Undeclared:
    """The step to a member that no schema of the place names; ``pattern``: one that it matches."""

    pattern: str | None = None


Step: TypeAlias = Member | Item | Undeclared


class Composition:
    """Formulas over one effective document.

    Raises, from every method: CompositionTooLargeError.
    """

    __slots__ = ("_expanded", "_listed", "_work", "tree")

    def __init__(self, tree: SchemaTree) -> None:
        self.tree = tree
        self._listed: dict[tuple[int, Step], Schema] = {}
        self._work = 0
        self._expanded: dict[int, Formula] = {}

    def _spend(self, work: int) -> None:
        self._work += work
        if self._work > MAX_WORK:
            raise CompositionTooLargeError

    def of(self, schema: Schema) -> Formula:
        """Return the formula of one schema, with all that applies in place."""
        return self._expand(schema, frozenset())

    def below(self, formula: Formula, taken: Step) -> Formula:
        """Return the formula of the place one step below."""
        self._spend(1)
        match formula:
            case Every(parts=parts):
                return every([self.below(part, taken) for part in parts])
            case Either(branches=branches):
                return either([self.below(branch, taken) for branch in branches])
            case Leaf(schema=schema):
                return every(
                    [self.of(inner) for inner in self._own_below(schema, taken)]
                    + self._unevaluated_below(schema, taken)
                )

    def _expand(self, schema: Schema, active: frozenset[int]) -> Formula:
        if isinstance(schema, bool):
            return ANYTHING if schema else NOTHING
        key = id(schema)
        if key in self._expanded:
            return self._expanded[key]
        if key in active:
            return ANYTHING
        self._spend(1)
        inside = active | {key}
        parts: list[Formula] = [Leaf(schema, key)]
        parts.extend(self._expand(inner, inside) for inner in conjuncts(self.tree, schema))
        parts.extend(
            either(
                [every([self._expand(inner, inside) for inner in branch]) for branch in branches]
            )
            for branches in choices(schema)
        )
        whole = every(parts)
        if not active:
            self._expanded[key] = whole
        return whole

    def _own_below(self, schema: Schema, taken: Step) -> list[Schema]:
        """What a schema's own keywords say of the place below, unevaluated keywords apart."""
        if isinstance(schema, bool):
            return [] if schema else [False]
        if ("array" if isinstance(taken, Item) else "object") not in own_types(schema):
            return [False]
        if is_enumerated(schema):
            return [self._listed_below(schema, taken)]
        if is_extension(schema):
            return [{"x-extension": schema["x-extension"]}]
        match taken:
            case Member(name):
                self._spend(len(schema_map(schema, "patternProperties")))  # each is matched
                return _of_member(schema, name)
            case Undeclared(pattern):
                return _of_undeclared(schema, pattern)
            case Item(index):
                first = schema_list(schema, "prefixItems")
                if index < len(first):
                    return [first[index]]
                return _present(schema, "items")

    def _listed_below(self, schema: JsonObject, taken: Step) -> Schema:
        """The values that listed values have one step below, listed in their turn."""
        key = (id(schema), taken)
        if key not in self._listed:
            found = [_value_below(value, taken) for value in listed_values(schema)]
            kept = [value for value in found if not isinstance(value, Nothing)]
            self._listed[key] = {"enum": kept} if kept else False
        return self._listed[key]

    def _unevaluated_below(self, schema: Schema, taken: Step) -> list[Formula]:
        """An unevaluated keyword: the value fits it, or some schema in place has evaluated it."""
        if isinstance(schema, bool):
            return []
        keyword = "unevaluatedItems" if isinstance(taken, Item) else "unevaluatedProperties"
        unevaluated = schema_at(schema, keyword)
        if unevaluated is None:
            return []
        branches: list[Formula] = [self.of(unevaluated)]
        for inner in self.tree.reachable(schema):
            if self._is_uncertain(inner, taken):
                return []
            if inner is schema:
                fitting = self._own_below(inner, taken)
            elif isinstance(inner, Mapping):
                fitting = self._own_below(inner, taken) + _present(inner, keyword)
            else:
                continue
            if keyword == "unevaluatedItems" and isinstance(inner, Mapping):
                branches.extend(self.of(held) for held in _present(inner, "contains"))
            if fitting:
                branches.append(every([self.of(one) for one in fitting]))
        return [either(branches)]

    @staticmethod
    def _is_uncertain(schema: Schema, taken: Step) -> bool:
        """Whether ``schema`` may evaluate the place below by something that is not known here."""
        if isinstance(schema, bool):
            return False
        if not schema:
            return True  # it may be opaque
        if not isinstance(taken, Undeclared) or taken.pattern is None:
            return False
        patterns = schema_map(schema, "patternProperties")
        return bool(patterns) and taken.pattern not in patterns


def declared_names(composition: Composition, formula: Formula) -> list[str]:
    """Return every member name that some schema of the place declares, in order, each once."""
    names: dict[str, None] = {}
    for schema in _speaking(composition, formula):
        names.update(dict.fromkeys(schema_map(schema, "properties")))
    return list(names)


def declared_patterns(composition: Composition, formula: Formula) -> list[str]:
    """Return every ``patternProperties`` pattern of the place, each once."""
    patterns: dict[str, None] = {}
    for schema in _speaking(composition, formula):
        patterns.update(dict.fromkeys(schema_map(schema, "patternProperties")))
    return list(patterns)


def _speaking(composition: Composition, formula: Formula) -> Iterator[JsonObject]:
    """All schemas of the place, those under ``dependentSchemas`` included."""
    for schema in leaves(formula):
        if isinstance(schema, Mapping):
            for inner in composition.tree.reachable(schema):
                if isinstance(inner, Mapping):
                    yield inner


def listed_values(schema: JsonObject) -> list[JsonValue]:
    """Return the values that ``const``, or else ``enum``, lists."""
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    return list(listed) if isinstance(listed, list | tuple) else []


def _value_below(value: JsonValue, taken: Step) -> JsonValue | Nothing:
    if isinstance(taken, Member) and isinstance(value, Mapping):
        return value.get(taken.name, NO_VALUE)
    if isinstance(taken, Item) and isinstance(value, list) and taken.index < len(value):
        item: JsonValue = value[taken.index]
        return item
    return NO_VALUE


def _of_member(schema: JsonObject, name: str) -> list[Schema]:
    declared = schema_named(schema, "properties", name)
    found = [] if declared is None else [declared]
    for pattern, own in schema_map(schema, "patternProperties").items():
        if matches(pattern, name):
            found.append(own)
    return found or _present(schema, "additionalProperties")


def _of_undeclared(schema: JsonObject, pattern: str | None) -> list[Schema]:
    patterns = schema_map(schema, "patternProperties")
    if pattern is not None and pattern in patterns:
        return [patterns[pattern]]
    if pattern is not None and patterns:
        return []  # the name may match one of these as well: nothing certain is said
    return _present(schema, "additionalProperties")


def _present(schema: JsonObject, keyword: str) -> list[Schema]:
    inner = schema_at(schema, keyword)
    return [] if inner is None else [inner]
