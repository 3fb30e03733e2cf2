"""Formulas over the schemas of one place: what holds together, what stands for choice.

Questions about the place (which types, is a member required, how long at most) are then an
intersection or a union; whatever a formula does not say counts as admitting everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from sluicegate.contracts.schemas.keywords import ALL_TYPES, Schema, integer_at, names_at
from sluicegate.contracts.schemas.proofs import own_types


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """The own keywords of one schema."""

    schema: Schema
    key: object


@dataclass(frozen=True, slots=True, eq=False)
class Every:
    """All parts hold; no part at all admits everything."""

    parts: tuple[Formula, ...]
    key: object


@dataclass(frozen=True, slots=True, eq=False)
class Either:
    """At least one branch holds; there are two or more."""

    branches: tuple[Formula, ...]
    key: object


Formula: TypeAlias = "Leaf | Every | Either"

ANYTHING: Final = Every((), frozenset({"every"}))
NOTHING: Final = Leaf(False, False)


def every(parts: Sequence[Formula]) -> Formula:
    """Return the conjunction, flattened, each part once; nothing in it admits everything.

    A choice of which a branch holds anyway adds nothing and goes.
    """
    kept: dict[object, Formula] = {}
    for part in parts:
        for inner in part.parts if isinstance(part, Every) else (part,):
            kept.setdefault(inner.key, inner)
    if NOTHING.key in kept:
        return NOTHING
    for key, part in list(kept.items()):
        if isinstance(part, Either) and any(
            all(inner.key in kept and inner.key != key for inner in parts_of(branch))
            for branch in part.branches
        ):
            del kept[key]
    if not kept:
        return ANYTHING
    if len(kept) == 1:
        return next(iter(kept.values()))
    return Every(tuple(kept.values()), frozenset({"every", *kept}))


def either(branches: Sequence[Formula]) -> Formula:
    """Return the disjunction, flattened, each branch once; a branch that admits all swallows it.

    A branch that only narrows another one adds nothing and goes.
    """
    kept: dict[object, Formula] = {}
    for branch in branches:
        for inner in branch.branches if isinstance(branch, Either) else (branch,):
            if inner is ANYTHING:
                return ANYTHING
            if inner is not NOTHING:
                kept.setdefault(inner.key, inner)
    for key, branch in list(kept.items()):
        if isinstance(branch, Every):
            inside = {part.key for part in branch.parts}
            if any(
                other != key and {part.key for part in parts_of(wider)} <= inside
                for other, wider in kept.items()
            ):
                del kept[key]
    if not kept:
        return NOTHING
    if len(kept) == 1:
        return next(iter(kept.values()))
    return Either(tuple(kept.values()), frozenset({"either", *kept}))


def parts_of(formula: Formula) -> tuple[Formula, ...]:
    """Return what holds together in ``formula``."""
    return formula.parts if isinstance(formula, Every) else (formula,)


def leaves(formula: Formula) -> Iterator[Schema]:
    """Yield every schema that speaks about the place, in whatever branch."""
    match formula:
        case Leaf(schema=schema):
            yield schema
        case Every(parts=parts):
            for part in parts:
                yield from leaves(part)
        case Either(branches=branches):
            for branch in branches:
                yield from leaves(branch)


def holds(formula: Formula, asked: Callable[[Schema], bool]) -> bool:
    """Whether some schema of which ``asked`` is true holds for every value of the place."""
    match formula:
        case Leaf(schema=schema):
            return schema is False or asked(schema)
        case Every(parts=parts):
            return any(holds(part, asked) for part in parts)
        case Either(branches=branches):
            return all(holds(branch, asked) for branch in branches)


def types(formula: Formula) -> frozenset[str]:
    """Return the types a value of the place can have; ``integer`` counts as ``number``."""
    match formula:
        case Leaf(schema=schema):
            return own_types(schema)
        case Every(parts=parts):
            return ALL_TYPES.intersection(*map(types, parts))
        case Either(branches=branches):
            return frozenset[str]().union(*map(types, branches))


def requires(formula: Formula, name: str) -> bool:
    """Whether every valid object of the place has the member ``name``."""
    return holds(
        formula, lambda schema: isinstance(schema, Mapping) and name in names_at(schema, "required")
    )


def greatest(formula: Formula, keyword: str) -> int | None:
    """Return the bound that ``maxItems``, ``maxLength``… set for every value; None: no bound."""
    match formula:
        case Leaf(schema=schema):
            return integer_at(schema, keyword) if isinstance(schema, Mapping) else None
        case Every(parts=parts):
            bounds = [b for b in (greatest(part, keyword) for part in parts) if b is not None]
            return min(bounds, default=None)
        case Either(branches=branches):
            bounds = [b for b in (greatest(one, keyword) for one in branches) if b is not None]
            return max(bounds) if len(bounds) == len(branches) and bounds else None


def is_extension(schema: Schema) -> bool:
    """Whether ``schema`` is declared open by name and version: ``x-extension: {name, version}``."""
    if isinstance(schema, bool):
        return False
    named = schema.get("x-extension")
    return (
        isinstance(named, Mapping)
        and set(named) == {"name", "version"}
        and all(isinstance(text, str) and text for text in named.values())
    )


def is_enumerated(schema: Schema) -> bool:
    """Whether ``schema`` lists its values."""
    return isinstance(schema, Mapping) and ("const" in schema or "enum" in schema)
