"""A static bound on the work that one value can cause (CON-2).

Validation, not compilation, explodes: each schema that applies to the same value in place is one
visit, and nested in-place applicators multiply. Two measures are capped:

- the visits along one path of a value, recursion counted once, and those to one item times the
  items that an array can have;
- for recursive schemas, the visits to one single value far down. They must not grow with depth:
  the engine remembers what it judged while it answers yes or no, but not while it lists errors
  (measured: a schema that refers to itself from two branches takes 78 s at 20 levels).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from sluicegate.contracts.schemas.keywords import (
    Schema,
    schema_at,
    schema_list,
    schema_map,
    schema_named,
    walk,
)
from sluicegate.values.json import JsonObject
from sluicegate.values.limits import ENGINE_MAX_DEPTH

MAX_VISITS: Final = 1_000
MAX_ITEMS: Final = 131_072
"""As many items as the default byte limit holds; ``maxItems`` says fewer."""

MAX_WORK: Final = 20_000_000
"""Visits to all items of one array: about half a second (measured: 35 million a second)."""

MAX_STEPS: Final = 500_000
"""What the second measure itself may cost: schemas in place, times the ways that lead on."""

MAX_CHAIN: Final = 150
"""Schemas that lead into one another without coming back; deeper is a chain that nobody reads."""

Targets: TypeAlias = Callable[[JsonObject], Sequence[Sequence[Schema]]]
"""Where the references of a schema lead: for each of them, the candidates of which one applies."""


class _TooMuchError(Exception):
    """A cap is passed; counting on would only cost time."""


def is_too_complex(root: Schema, targets: Targets) -> bool:
    """Whether validating against ``root`` may cost more than the caps allow.

    Never raises. Source: SPEC CON-2; measures in facts: prototype 6.
    """
    meter = _Meter(targets)
    try:
        for _, schema in walk(root):
            meter.visits(schema, 0)
        return meter.recursive and any(
            _Growth(meter, choice).passes_cap() for choice in range(meter.most_candidates)
        )
    except (_TooMuchError, RecursionError):
        return True


class _Meter:
    """Visits along one path: 1 + all that applies in place + the dearest child."""

    __slots__ = ("_active", "_done", "met", "most_candidates", "recursive", "targets")

    def __init__(self, targets: Targets) -> None:
        self.targets = targets
        self.met: dict[int, JsonObject] = {}
        self.most_candidates = 1
        self.recursive = False
        self._done: dict[int, int] = {}
        self._active: set[int] = set()

    def visits(self, schema: Schema, chain: int) -> int:
        if isinstance(schema, bool):
            return 1
        key = id(schema)
        if key in self._done:
            return self._done[key]
        if key in self._active:
            self.recursive = True
            return 1
        if chain > MAX_CHAIN:
            raise _TooMuchError
        self._active.add(key)
        self.met[key] = schema
        here = 0
        for group in in_place(schema, self.targets):
            self.most_candidates = max(self.most_candidates, len(group))
            here += max((self.visits(inner, chain + 1) for inner in group), default=0)
        total = 1 + here * _runs(schema) + self._dearest(schema, chain + 1)
        self._active.discard(key)
        if total > MAX_VISITS:
            raise _TooMuchError
        self._done[key] = total
        return total

    def _dearest(self, schema: JsonObject, chain: int) -> int:
        members = [*schema_map(schema, "properties").values()]
        for keyword in ("additionalProperties", "unevaluatedProperties", "propertyNames"):
            members += present(schema, keyword)
        items = [*schema_list(schema, "prefixItems")]
        for keyword in ("items", "unevaluatedItems"):
            items += present(schema, keyword)
        patterns = schema_map(schema, "patternProperties").values()
        each = max((self.visits(inner, chain) for inner in items), default=0)
        if each * _most_items(schema) > MAX_WORK:
            raise _TooMuchError
        return max(
            max((self.visits(inner, chain) for inner in members), default=0)
            + sum(self.visits(inner, chain) for inner in patterns),
            each + sum(self.visits(inner, chain) for inner in present(schema, "contains")),
        )


def _most_items(schema: JsonObject) -> int:
    """How many items a valid array can have within the default byte limit."""
    most = schema.get("maxItems")
    return MAX_ITEMS if not isinstance(most, int) else min(most, MAX_ITEMS)


def _runs(schema: JsonObject) -> int:
    """How often the in-place branches are run: an unevaluated keyword runs them again."""
    return 1 + ("unevaluatedProperties" in schema) + ("unevaluatedItems" in schema)


def in_place(schema: JsonObject, targets: Targets) -> Iterator[Sequence[Schema]]:
    """Yield what applies to the same value: groups of candidates, of each of which one applies."""
    for keyword in ("allOf", "anyOf", "oneOf"):
        for inner in schema_list(schema, keyword):
            yield [inner]
    for keyword in ("not", "if", "then", "else"):
        yield from ([inner] for inner in present(schema, keyword))
    yield from ([inner] for inner in schema_map(schema, "dependentSchemas").values())
    yield from targets(schema)


class _Growth:
    """Visits to one value, by its depth below the schema: the worst path, step by step.

    ``choice`` is the candidate that every dynamic reference takes: one run holds to one.
    """

    __slots__ = ("_applied", "_choice", "_meter", "_spent", "_steps")

    def __init__(self, meter: _Meter, choice: int) -> None:
        self._meter = meter
        self._choice = choice
        self._applied: dict[int, list[JsonObject]] = {}
        self._steps: dict[int, list[Counter[int]]] = {}
        self._spent = 0

    def passes_cap(self) -> bool:
        met = self._meter.met
        for key, schema in met.items():
            self._steps[key] = self._list_steps(schema)
        previous = {key: len(self._all_applied(schema)) for key, schema in met.items()}
        for _ in range(ENGINE_MAX_DEPTH):
            current = {
                key: max(
                    (sum(times * previous[to] for to, times in step.items()) for step in steps),
                    default=0,
                )
                for key, steps in self._steps.items()
            }
            if max(current.values(), default=0) > MAX_VISITS:
                return True
            if current == previous:
                return False
            previous = current
        return False

    def _all_applied(self, schema: JsonObject) -> list[JsonObject]:
        """``schema`` and all that applies in place, as often as it is reached."""
        known = self._applied.get(id(schema))
        if known is None:
            known = self._applied[id(schema)] = list(self._apply(schema, frozenset()))
        return known

    def _apply(self, schema: Schema, active: frozenset[int]) -> Iterator[JsonObject]:
        if isinstance(schema, bool) or id(schema) in active:
            return
        yield schema
        for group in in_place(schema, self._meter.targets):
            inner = group[min(self._choice, len(group) - 1)]
            yield from self._apply(inner, active | {id(schema)})

    def _list_steps(self, schema: JsonObject) -> list[Counter[int]]:
        """For each way one level down: which schemas apply there, and how often."""
        applied = self._all_applied(schema)
        names = {name for one in applied for name in schema_map(one, "properties")}
        first = max((len(schema_list(one, "prefixItems")) for one in applied), default=0)
        self._spent += len(applied) * (len(names) + first + 3)
        if self._spent > MAX_STEPS:
            raise _TooMuchError
        ways = [[below for one in applied for below in _member(one, name)] for name in names]
        ways.append([below for one in applied for below in _member(one, None)])
        ways += [
            [below for one in applied for below in _item(one, index)] for index in range(first + 1)
        ]
        ways.append([below for one in applied for below in present(one, "propertyNames")])
        return [Counter(id(below) for below in way if not isinstance(below, bool)) for way in ways]


def _member(schema: JsonObject, name: str | None) -> list[Schema]:
    """What applies to a member of this name; any pattern may match it."""
    declared = None if name is None else schema_named(schema, "properties", name)
    found: list[Schema] = [*schema_map(schema, "patternProperties").values()]
    if declared is not None:
        found.append(declared)
    else:
        found += present(schema, "additionalProperties")
        found += present(schema, "unevaluatedProperties")
    return found


def _item(schema: JsonObject, index: int) -> list[Schema]:
    first = schema_list(schema, "prefixItems")
    found = present(schema, "contains")
    if index < len(first):
        found.append(first[index])
    else:
        found += present(schema, "items") + present(schema, "unevaluatedItems")
    return found


def present(schema: JsonObject, keyword: str) -> list[Schema]:
    """Return the subschema of a keyword, as a list of one or none."""
    inner = schema_at(schema, keyword)
    return [] if inner is None else [inner]
