"""One place of a document, as all the schemas that speak about it: what holds together, what
stands for choice.

A schema is taken apart into formulas: ``Every`` of parts, ``Either`` of branches, and leaves, each
a schema's own keywords without its in-place applicators. Questions about a place (which types, is
it required, is it closed) are then an intersection or a union; and the place below is the same
formula of the places below. Whatever is not understood counts as admitting everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from sluicegate.contracts.schemas.compiling import matches
from sluicegate.contracts.schemas.keywords import (
    ALL_TYPES,
    Schema,
    integer_at,
    names_at,
    schema_at,
    schema_list,
    schema_map,
)
from sluicegate.contracts.schemas.proofs import choices, conjuncts, own_types
from sluicegate.contracts.schemas.tree import SchemaTree
from sluicegate.values.json import JsonObject


@dataclass(frozen=True, slots=True)
class Leaf:
    """The own keywords of one schema."""

    schema: Schema


@dataclass(frozen=True, slots=True)
class Every:
    """All parts hold; no part at all admits everything."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """At least one branch holds."""

    branches: tuple[Formula, ...]


Formula: TypeAlias = "Leaf | Every | Either"

ANYTHING: Final = Every(())


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
    """Formulas over one effective document."""

    __slots__ = ("_expanded", "tree")

    def __init__(self, tree: SchemaTree) -> None:
        self.tree = tree
        self._expanded: dict[int, Formula] = {}

    def of(self, schema: Schema) -> Formula:
        """Return the formula of one schema, with all that applies in place."""
        return self._expand(schema, frozenset())

    def below(self, formula: Formula, taken: Step) -> Formula:
        """Return the formula of the place one step below."""
        match formula:
            case Every(parts):
                return every([self.below(part, taken) for part in parts])
            case Either(branches):
                return either([self.below(branch, taken) for branch in branches])
            case Leaf(schema):
                return every(
                    [self.of(inner) for inner in self._own_below(schema, taken)]
                    + self._unevaluated_below(schema, taken)
                )

    def _expand(self, schema: Schema, active: frozenset[int]) -> Formula:
        if isinstance(schema, bool):
            return Leaf(schema) if not schema else ANYTHING
        key = id(schema)
        if key in self._expanded:
            return self._expanded[key]
        if key in active:
            return ANYTHING
        inside = active | {key}
        parts: list[Formula] = [Leaf(schema)]
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
        match taken:
            case Member(name):
                return _of_member(schema, name)
            case Undeclared(pattern):
                return _of_undeclared(schema, pattern)
            case Item(index):
                first = schema_list(schema, "prefixItems")
                if index < len(first):
                    return [first[index]]
                return _present(schema, "items")

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


def every(parts: Sequence[Formula]) -> Formula:
    """Return the conjunction, flattened, each part once; nothing in it admits everything."""
    kept: dict[object, Formula] = {}
    for part in parts:
        for inner in part.parts if isinstance(part, Every) else (part,):
            kept.setdefault(key_of(inner), inner)
    return Every(tuple(kept.values())) if len(kept) != 1 else next(iter(kept.values()))


def either(branches: Sequence[Formula]) -> Formula:
    """Return the disjunction, flattened, each branch once; a branch that admits all swallows it."""
    kept: dict[object, Formula] = {}
    for branch in branches:
        for inner in branch.branches if isinstance(branch, Either) else (branch,):
            if inner == ANYTHING:
                return ANYTHING
            kept.setdefault(key_of(inner), inner)
    return Either(tuple(kept.values())) if len(kept) != 1 else next(iter(kept.values()))


def key_of(formula: Formula) -> object:
    """Return what makes two formulas over one document the same."""
    match formula:
        case Leaf(schema):
            return schema if isinstance(schema, bool) else id(schema)
        case Every(parts):
            return ("every", frozenset(map(key_of, parts)))
        case Either(branches):
            return ("either", frozenset(map(key_of, branches)))


def leaves(formula: Formula) -> Iterator[Schema]:
    """Yield every schema that speaks about the place, in whatever branch."""
    match formula:
        case Leaf(schema):
            yield schema
        case Every(parts):
            for part in parts:
                yield from leaves(part)
        case Either(branches):
            for branch in branches:
                yield from leaves(branch)


def holds(formula: Formula, asked: Callable[[Schema], bool]) -> bool:
    """Whether some schema of which ``asked`` is true holds for every value of the place."""
    match formula:
        case Leaf(schema):
            return schema is False or asked(schema)
        case Every(parts):
            return any(holds(part, asked) for part in parts)
        case Either(branches):
            return all(holds(branch, asked) for branch in branches)


def types(formula: Formula) -> frozenset[str]:
    """Return the types a value of the place can have; ``integer`` counts as ``number``."""
    match formula:
        case Leaf(schema):
            return own_types(schema)
        case Every(parts):
            return ALL_TYPES.intersection(*map(types, parts))
        case Either(branches):
            return frozenset[str]().union(*map(types, branches))


def requires(formula: Formula, name: str) -> bool:
    """Whether every valid object of the place has the member ``name``."""
    return holds(
        formula, lambda schema: isinstance(schema, Mapping) and name in names_at(schema, "required")
    )


def greatest(formula: Formula, keyword: str) -> int | None:
    """Return the bound that ``maxItems``, ``maxLength``… set for every value; None: no bound."""
    match formula:
        case Leaf(schema):
            return integer_at(schema, keyword) if isinstance(schema, Mapping) else None
        case Every(parts):
            bounds = [b for b in (greatest(part, keyword) for part in parts) if b is not None]
            return min(bounds, default=None)
        case Either(branches):
            bounds = [b for b in (greatest(one, keyword) for one in branches) if b is not None]
            return max(bounds) if len(bounds) == len(branches) and bounds else None


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


def _of_member(schema: JsonObject, name: str) -> list[Schema]:
    found = [own for key, own in schema_map(schema, "properties").items() if key == name]
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
