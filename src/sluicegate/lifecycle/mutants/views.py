"""A schema seen at one place: every subschema that applies there, with one way through branches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Final, TypeAlias

from jsonschema_rs import Registry

from sluicegate.contracts.schemas.bundling import encode_fragment
from sluicegate.contracts.schemas.compiling import compile_validator, matches
from sluicegate.contracts.schemas.keywords import Schema, schema_list, schema_map
from sluicegate.contracts.schemas.tree import SchemaTree
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.pointers import escape_segment

_MAX_WAYS: Final = 24
_MAX_NESTED: Final = 12
_ROOT: Final = "urn:sluicegate:judged"

Choose: TypeAlias = Callable[[Schema], bool]


@dataclass(frozen=True, slots=True)
class View:
    """The subschemas that apply to one value, flattened: none of them is asked for branches."""

    parts: tuple[JsonObject, ...]

    def all(self, keyword: str) -> list[JsonValue]:
        """Return the members of ``keyword``, one a subschema that bears it."""
        return [part[keyword] for part in self.parts if keyword in part]

    def has(self, *keywords: str) -> bool:
        """Whether one of ``keywords`` stands in one of the subschemas."""
        return any(keyword in part for part in self.parts for keyword in keywords)

    def numbers(self, keyword: str) -> list[int | float]:
        """Return the numbers that stand at ``keyword``."""
        return [
            each
            for each in self.all(keyword)
            if isinstance(each, int | float) and not isinstance(each, bool)
        ]

    def most(self, keyword: str) -> int | None:
        """Return the smallest of the upper limits at ``keyword``; None where there is none."""
        found = self.numbers(keyword)
        return int(min(found)) if found else None

    def least(self, keyword: str) -> int:
        """Return the greatest of the lower limits at ``keyword``; 0 where there is none."""
        return int(max(self.numbers(keyword), default=0))

    def texts(self, keyword: str) -> list[str]:
        """Return the texts that stand at ``keyword``."""
        return [each for each in self.all(keyword) if isinstance(each, str)]

    @property
    def types(self) -> tuple[str, ...]:
        """The types that every subschema admits; empty where none declares any."""
        types: list[str] | None = None
        for declared in self.all("type"):
            admitted = [declared] if isinstance(declared, str) else list(_texts(declared))
            if types is None:
                types = admitted
            elif "number" in types and "integer" in admitted:
                types = [each for each in admitted if each in types or each == "integer"]
            else:
                types = [
                    each
                    for each in types
                    if each in admitted or (each == "integer" and "number" in admitted)
                ]
        return tuple(types or ())

    @property
    def values(self) -> list[JsonValue]:
        """The values that ``const`` and ``enum`` name."""
        named: list[JsonValue] = self.all("const")
        for values in self.all("enum"):
            if isinstance(values, list | tuple):
                named.extend(values)
        return named

    @property
    def is_listed(self) -> bool:
        """Whether ``const`` or ``enum`` names every admitted value."""
        return self.has("const", "enum")

    @property
    def required(self) -> list[str]:
        """The names that some subschema requires, each once, in order."""
        names: dict[str, None] = {}
        for declared in self.all("required"):
            names.update(dict.fromkeys(_texts(declared)))
        return list(names)

    @property
    def declared(self) -> list[str]:
        """The names that ``properties`` declares, each once, in order."""
        names: dict[str, None] = {}
        for part in self.parts:
            names.update(dict.fromkeys(schema_map(part, "properties")))
        return list(names)

    @property
    def is_map(self) -> bool:
        """Whether members are declared by shape instead of by name: a reviewed, bounded map."""
        return self.has("patternProperties", "propertyNames") or any(
            isinstance(part.get(keyword), Mapping)
            for part in self.parts
            for keyword in ("additionalProperties", "unevaluatedProperties")
        )

    def member(self, name: str) -> list[Schema]:
        """Return the subschemas that apply to the member ``name``."""
        found: list[Schema] = []
        for part in self.parts:
            here: list[Schema] = []
            properties = schema_map(part, "properties")
            if name in properties:
                here.append(properties[name])
            here += [
                inner
                for pattern, inner in schema_map(part, "patternProperties").items()
                if matches(pattern, name)
            ]
            rest = part.get("additionalProperties")
            if not here and isinstance(rest, Mapping | bool):
                here.append(rest)
            found += here
        if not found:
            found += [
                rest
                for rest in self.all("unevaluatedProperties")
                if isinstance(rest, Mapping | bool)
            ]
        return found

    def item(self, index: int) -> list[Schema]:
        """Return the subschemas that apply to the item at ``index``."""
        found: list[Schema] = []
        for part in self.parts:
            first = schema_list(part, "prefixItems")
            if index < len(first):
                found.append(first[index])
                continue
            rest = part.get("items")
            if isinstance(rest, Mapping | bool):
                found.append(rest)
        if not found:
            found += [
                rest for rest in self.all("unevaluatedItems") if isinstance(rest, Mapping | bool)
            ]
        return found


class Viewer:
    """Flattens the subschemas of one document."""

    __slots__ = ("_registry", "_tree", "_validators", "document")

    def __init__(self, document: JsonObject) -> None:
        self.document = document
        self._tree = SchemaTree(document)
        rootless: dict[str, JsonValue] = {
            name: inner for name, inner in document.items() if name != "$id"
        }
        self._registry = Registry([(_ROOT, rootless)])
        self._validators: dict[int, Callable[[object], bool]] = {}

    def ways(self, schemas: Sequence[Schema]) -> Iterator[View]:
        """Yield a view for each way through the branches of ``schemas``, at most 24."""
        seen: set[tuple[int, ...]] = set()
        flattened = [self._ways(schema, 0) for schema in schemas]
        for chosen in islice(product(*map(list, flattened)), _MAX_WAYS):
            view = _join(chosen)
            key = tuple(map(id, view.parts))
            if view is not _NEVER and key not in seen:
                seen.add(key)
                yield view

    def view_of(self, value: object, schemas: Sequence[Schema]) -> View:
        """Return the view with every branch that ``value`` itself takes."""
        parts: list[JsonObject] = []
        met: set[int] = set()
        waiting = list(reversed(schemas))
        while waiting:
            schema = waiting.pop()
            if isinstance(schema, bool) or id(schema) in met:
                continue
            met.add(id(schema))
            parts.append(schema)
            waiting.extend(reversed(list(self._taken(value, schema))))
        return View(tuple(parts))

    def _taken(self, value: object, schema: JsonObject) -> Iterator[Schema]:
        yield from self._tree.referred(schema)
        yield from schema_list(schema, "allOf")
        for keyword in ("anyOf", "oneOf"):
            for branch in schema_list(schema, keyword):
                if self.admits(branch, value):
                    yield branch
        condition = schema.get("if")
        if isinstance(condition, Mapping | bool):
            holds = self.admits(condition, value)
            if holds:
                yield condition
            taken = schema.get("then" if holds else "else")
            if isinstance(taken, Mapping | bool):
                yield taken
        if isinstance(value, Mapping):
            for name, inner in schema_map(schema, "dependentSchemas").items():
                if name in value:
                    yield inner

    def admits(self, schema: Schema, value: object) -> bool:
        """Whether ``value`` is valid by a subschema of the document."""
        if isinstance(schema, bool):
            return schema
        found = self._validators.get(id(schema))
        if found is None:
            place = self._tree.place_of(schema)
            if place is None:
                return False
            fragment = "".join("/" + escape_segment(segment) for segment in place)
            target = {"$ref": f"{_ROOT}#{encode_fragment(fragment)}"}
            found = compile_validator(target, registry=self._registry).is_valid
            self._validators[id(schema)] = found
        return found(value)

    def _ways(self, schema: Schema, nested: int) -> Iterator[View]:
        if isinstance(schema, bool):
            yield _ANY if schema else _NEVER
            return
        if nested > _MAX_NESTED:
            return
        sets: list[list[View]] = [[View((schema,))]]
        sets += [
            list(islice(self._ways(inner, nested + 1), _MAX_WAYS))
            for inner in (*self._tree.referred(schema), *schema_list(schema, "allOf"))
        ]
        for keyword in ("oneOf", "anyOf"):
            branches = schema_list(schema, keyword)
            if branches:
                ways = [way for each in branches for way in self._ways(each, nested + 1)]
                sets.append(ways[:_MAX_WAYS])
        condition = schema.get("if")
        if isinstance(condition, Mapping | bool):
            met = schema.get("then", True)
            missed = schema.get("else", True)
            ways = []
            if isinstance(met, Mapping | bool):
                for first in self._ways(condition, nested + 1):
                    ways += [_join((first, way)) for way in self._ways(met, nested + 1)]
            if isinstance(missed, Mapping | bool):
                ways += self._ways(missed, nested + 1)
            sets.append(ways[:_MAX_WAYS])
        for chosen in islice(product(*sets), _MAX_WAYS):
            joined = _join(chosen)
            if joined is not _NEVER:
                yield joined


_ANY: Final = View(())
_NEVER: Final = View(({"not": True},))


def _join(views: Sequence[View]) -> View:
    if any(view is _NEVER for view in views):
        return _NEVER
    parts: dict[int, JsonObject] = {}
    for view in views:
        for part in view.parts:
            parts.setdefault(id(part), part)
    return View(tuple(parts.values()))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, list | tuple):
        yield from (each for each in value if isinstance(each, str))
