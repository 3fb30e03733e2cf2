"""What a schema proves about every valid value: its types, its depth, its finiteness.

A proof lets the gate leave a run-time check out, so each claim here must hold for every value the
engine accepts; where a keyword is not understood, nothing is claimed. Source: SPEC section 3 (fast
paths may prove a rung from the schema); facts: prototype 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sluicegate.contracts.schemas.keywords import (
    ALL_TYPES,
    Schema,
    integer_at,
    is_false,
    schema_at,
    schema_list,
    schema_map,
    subschemas,
)
from sluicegate.contracts.schemas.tree import SchemaTree
from sluicegate.values.json import JsonObject, JsonValue, json_type

_CONTAINERS: Final = frozenset({"array", "object"})
_NOTHING: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """``max_depth``: no valid value nests deeper (root container = 1; None: not bounded);
    ``finite``: no valid value holds an infinite number."""

    max_depth: int | None
    finite: bool

    def keeps_within(self, max_depth: int) -> bool:
        """Whether no valid value nests deeper than ``max_depth`` or holds an infinite number."""
        return self.finite and self.max_depth is not None and self.max_depth <= max_depth


class Prover:
    """What the effective schema ``document`` and each of its subschemas prove.

    Never raises for a document that has been registered.
    """

    __slots__ = ("_depths", "_finiteness", "tree")

    def __init__(self, document: JsonObject) -> None:
        self.tree = SchemaTree(document)
        self._depths = _Depths(self.tree)
        self._finiteness = _Finiteness(self.tree)

    def prove(self, schema: Schema) -> Proof:
        """Return what one of the document's subschemas, or the document, proves."""
        depth = self._depths.depth(schema)
        return Proof(
            max_depth=None if math.isinf(depth) else int(depth),
            finite=self._finiteness.holds(schema),
        )


def own_types(schema: Schema) -> frozenset[str]:
    """Return the types that ``type``, ``enum`` and ``const`` of one schema admit."""
    if isinstance(schema, bool) or is_false(schema):
        return ALL_TYPES if schema is True else _NOTHING
    admitted = ALL_TYPES
    named = schema.get("type")
    if isinstance(named, str):
        admitted = frozenset({_wide(named)})
    elif isinstance(named, list | tuple):
        admitted = frozenset(_wide(name) for name in named if isinstance(name, str))
    listed = schema.get("enum")
    if isinstance(listed, list | tuple):
        admitted &= frozenset(_wide(json_type(value)) for value in listed)
    if "const" in schema:
        admitted &= {_wide(json_type(schema["const"]))}
    return admitted


def _wide(name: str) -> str:
    return "number" if name == "integer" else name


class _Types:
    """types(S): intersection over what holds together, union over what stands for choice."""

    __slots__ = ("_active", "_done", "tree")

    def __init__(self, tree: SchemaTree) -> None:
        self.tree = tree
        self._done: dict[int, frozenset[str]] = {}
        self._active: set[int] = set()

    def types(self, schema: Schema) -> frozenset[str]:
        if isinstance(schema, bool):
            return own_types(schema)
        key = id(schema)
        if key in self._done:
            return self._done[key]
        if key in self._active:
            return ALL_TYPES
        self._active.add(key)
        admitted = own_types(schema)
        for inner in conjuncts(self.tree, schema):
            admitted &= self.types(inner)
        for branches in choices(schema):
            admitted &= frozenset().union(
                *(frozenset.intersection(*map(self.types, branch)) for branch in branches)
            )
        self._active.discard(key)
        self._done[key] = admitted
        return admitted


def conjuncts(tree: SchemaTree, schema: JsonObject) -> Iterator[Schema]:
    """Yield what must hold beside ``schema``'s own keywords for the same value."""
    yield from schema_list(schema, "allOf")
    yield from tree.referred(schema)


def choices(schema: JsonObject) -> Iterator[list[list[Schema]]]:
    """Yield each disjunction of ``schema``: branches, each a list of schemas that hold together.

    ``if`` with ``then`` and ``else`` is one: either ``if`` and ``then``, or ``else``.
    """
    for keyword in ("anyOf", "oneOf"):
        branches = schema_list(schema, keyword)
        if keyword in schema:
            yield [[branch] for branch in branches]
    condition = schema_at(schema, "if")
    if condition is not None:
        then, other = schema_at(schema, "then"), schema_at(schema, "else")
        yield [
            [condition] if then is None else [condition, then],
            [True if other is None else other],
        ]


class _Depths:
    """depth(S): least over conjuncts, greatest over branches, 1 + greatest over children."""

    __slots__ = ("_active", "_done", "_tree", "_types")

    def __init__(self, tree: SchemaTree) -> None:
        self._tree = tree
        self._types = _Types(tree)
        self._done: dict[int, float] = {}
        self._active: set[int] = set()

    def depth(self, schema: Schema) -> float:
        if isinstance(schema, bool):
            return math.inf if schema else 0
        key = id(schema)
        if key in self._done:
            return self._done[key]
        if key in self._active:
            return math.inf
        self._active.add(key)
        bound = self._own(schema)
        for inner in conjuncts(self._tree, schema):
            bound = min(bound, self.depth(inner))
        for branches in choices(schema):
            bound = min(
                bound,
                max((min(map(self.depth, branch)) for branch in branches), default=0),
            )
        self._active.discard(key)
        self._done[key] = bound
        return bound

    def _own(self, schema: JsonObject) -> float:
        listed = _listed(schema)
        if listed is not None:
            return max(map(_depth_of, listed), default=0)
        containers = self._types.types(schema) & _CONTAINERS
        bound: float = 0
        if "object" in containers:
            below = members_below(self._tree, schema)
            bound = max(bound, math.inf if below is None else self._over(below))
        if "array" in containers:
            below = items_below(self._tree, schema)
            bound = max(bound, math.inf if below is None else self._over(below))
        return bound

    def _over(self, below: list[Schema]) -> float:
        return 1 + max(map(self.depth, below), default=0)


def members_below(tree: SchemaTree, schema: JsonObject) -> list[Schema] | None:
    """Return schemas such that each member of a valid object fits one; None: anything fits.

    Rests on ``schema``'s own keywords; an unevaluated keyword leaves a member to any schema that
    is reached in place.
    """
    if "additionalProperties" in schema:
        return _declared_members(schema)
    if "unevaluatedProperties" in schema:
        return _all_below(tree, schema, _declared_members)
    return [] if integer_at(schema, "maxProperties") == 0 else None


def items_below(tree: SchemaTree, schema: JsonObject) -> list[Schema] | None:
    """As ``members_below``, for the items of a valid array."""
    first = list(schema_list(schema, "prefixItems"))
    if "items" in schema:
        return first + _present(schema, "items")
    if "unevaluatedItems" in schema:
        return _all_below(tree, schema, _declared_items)
    longest = integer_at(schema, "maxItems")
    return first if longest is not None and longest <= len(first) else None


def _all_below(
    tree: SchemaTree, schema: JsonObject, declared: Callable[[JsonObject], list[Schema]]
) -> list[Schema] | None:
    below: list[Schema] = []
    for inner in tree.reachable(schema):
        if isinstance(inner, Mapping):
            if not inner and inner is not schema:  # may be opaque, and then evaluates anything
                return None
            below.extend(declared(inner))
    return below


def _declared_members(schema: JsonObject) -> list[Schema]:
    return [
        *schema_map(schema, "properties").values(),
        *schema_map(schema, "patternProperties").values(),
        *_present(schema, "additionalProperties"),
        *_present(schema, "unevaluatedProperties"),
    ]


def _declared_items(schema: JsonObject) -> list[Schema]:
    return [
        *schema_list(schema, "prefixItems"),
        *_present(schema, "items"),
        *_present(schema, "contains"),
        *_present(schema, "unevaluatedItems"),
    ]


def _present(schema: JsonObject, keyword: str) -> list[Schema]:
    inner = schema_at(schema, keyword)
    return [] if inner is None else [inner]


def _listed(schema: JsonObject) -> list[JsonValue] | None:
    """Return the values that ``enum`` or ``const`` lists; None where neither stands."""
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    return list(listed) if isinstance(listed, list | tuple) else None


def _depth_of(value: JsonValue) -> int:
    if isinstance(value, Mapping):
        return 1 + max(map(_depth_of, value.values()), default=0)
    if isinstance(value, list | tuple):
        return 1 + max(map(_depth_of, value), default=0)
    return 0


class _Finiteness:
    """finite(S), the greatest fixpoint: every place that admits a number says so.

    The engine's ``type``, ``enum`` and ``const`` refuse ±inf; its bounds alone do not (facts:
    engines 6.2). Scalars, members and items are judged apart, so that each may be guarded by
    another conjunct. Claims start true and are withdrawn until none changes.
    """

    __slots__ = ("_claims", "_tree", "_types")

    def __init__(self, tree: SchemaTree) -> None:
        self._tree = tree
        self._types = _Types(tree)
        self._claims: dict[int, list[bool]] = {}
        schemas = list(_inside_out(tree))  # most claims settle in the first round
        for schema in schemas:
            self._claims[id(schema)] = [True, True, True]
        changed = True
        while changed:
            changed = False
            for schema in schemas:
                judged = [self._judge(schema, aspect) for aspect in range(3)]
                if judged != self._claims[id(schema)]:
                    self._claims[id(schema)] = judged
                    changed = True

    def holds(self, schema: Schema) -> bool:
        if isinstance(schema, bool):
            return not schema
        return all(self._claims.get(id(schema), (False, False, False)))

    def _judge(self, schema: Schema, aspect: int, active: frozenset[int] = frozenset()) -> bool:
        """Only a step to a child may rest on a claim: a schema that leads back to itself in place
        proves nothing."""
        if isinstance(schema, bool):
            return not schema
        if id(schema) in active:
            return False
        if _listed(schema) is not None or self._own(schema, aspect):
            return True
        inside = active | {id(schema)}
        if any(self._judge(inner, aspect, inside) for inner in conjuncts(self._tree, schema)):
            return True
        return any(
            all(any(self._judge(inner, aspect, inside) for inner in branch) for branch in branches)
            for branches in choices(schema)
        )

    def _own(self, schema: JsonObject, aspect: int) -> bool:
        if aspect == 0:
            return "type" in schema or "number" not in self._types.types(schema)
        if aspect == 1:
            if "object" not in self._types.types(schema):
                return True
            below = members_below(self._tree, schema)
        else:
            if "array" not in self._types.types(schema):
                return True
            below = items_below(self._tree, schema)
        return below is not None and all(map(self.holds, below))


def _inside_out(tree: SchemaTree) -> Iterator[JsonObject]:
    """Yield each subschema behind all that it holds and refers to, circles apart."""
    met: set[int] = set()
    waiting: list[tuple[Schema, bool]] = [(schema, False) for schema in tree.subschemas()]
    waiting.reverse()
    while waiting:
        schema, entered = waiting.pop()
        if isinstance(schema, bool):
            continue
        if entered:
            yield schema
        elif id(schema) not in met and tree.place_of(schema) is not None:
            met.add(id(schema))
            waiting.append((schema, True))
            waiting.extend((inner, False) for _, inner in subschemas(schema))
            waiting.extend((inner, False) for inner in tree.referred(schema))
