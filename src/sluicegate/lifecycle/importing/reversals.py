"""Schemas that must not hold: below ``not``, ``if`` and ``contains`` a bound would admit more.

A definition that is used there and elsewhere becomes two, so that one of them can be bounded and
closed while the other stays as it was published.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, Final, TypeAlias

from sluicegate.contracts.schemas.keywords import Segments, subschemas, walk
from sluicegate.values.json import JsonObject

REVERSED: Final = frozenset({"not", "if", "contains"})
_DEFS: Final = "#/$defs/"

Node: TypeAlias = "dict[str, Any]"


def part_reversed(schema: JsonObject) -> Node:
    """Return ``schema``, each definition used either in reverse or not; the argument is kept."""
    document: Node = deepcopy(dict(schema))
    straight = _reach(document, reverse=False)
    definitions: Node = document.setdefault("$defs", {})
    copies: dict[str, str] = {}
    waiting = list(_list_reversed(document, straight))
    while waiting:
        for _, found in walk(waiting.pop()):
            node: Any = found
            name = _name_of(node)
            if name is None or name not in straight or name not in definitions:
                continue
            if name not in copies:
                copies[name] = _free_name(f"{name}_as_published", definitions)
                definitions[copies[name]] = deepcopy(definitions[name])
                waiting.append(definitions[copies[name]])
            rest = node["$ref"].removeprefix(_DEFS).partition("/")
            node["$ref"] = "".join((_DEFS, _escape(copies[name]), *rest[1:]))
    if not definitions:
        del document["$defs"]
    return document


def list_untouchable(schema: JsonObject) -> frozenset[str]:
    """Return the names of definitions that are used in reverse; see ``part_reversed``."""
    return frozenset(_reach(schema, reverse=True) - _reach(schema, reverse=False))


def is_reversed(segments: Segments, untouchable: frozenset[str]) -> bool:
    """Whether the subschema at ``segments`` is one that must not hold."""
    if segments[:1] == ("$defs",) and segments[1:2] and segments[1] in untouchable:
        return True
    return any(keyword in REVERSED for keyword in _keywords(segments))


def _keywords(segments: Segments) -> Iterator[str]:
    """Yield the segments that are keywords, and no names below ``properties`` and the like."""
    rest = iter(segments)
    for segment in rest:
        yield segment
        if segment in ("properties", "patternProperties", "dependentSchemas", "$defs"):
            next(rest, None)


def _reach(schema: JsonObject, *, reverse: bool) -> set[str]:
    """Return the definitions that are reached from the root, in reverse or otherwise."""
    definitions = schema.get("$defs")
    known: Mapping[str, Any] = definitions if isinstance(definitions, Mapping) else {}
    root = {keyword: member for keyword, member in schema.items() if keyword != "$defs"}
    found: dict[bool, set[str]] = {True: set(), False: set()}
    waiting: list[tuple[Any, bool]] = [(root, False)]
    while waiting:
        node, is_below = waiting.pop()
        name = _name_of(node)
        if name is not None and name in known and name not in found[is_below]:
            found[is_below].add(name)
            waiting.append((known[name], is_below))
        waiting += (
            (inner, is_below or segments[0] in REVERSED) for segments, inner in subschemas(node)
        )
    return found[reverse]


def _list_reversed(document: Node, straight: set[str]) -> Iterator[Any]:
    """Yield the subschemas that begin a reversal, and definitions used in reverse alone."""
    untouchable = _reach(document, reverse=True) - straight
    for segments, node in walk(document):
        below = segments[:1] == ("$defs",) and len(segments) == 2 and segments[1] in untouchable
        if below or (segments and segments[-1] in REVERSED and is_reversed(segments, frozenset())):
            yield node


def _name_of(node: object) -> str | None:
    reference = node.get("$ref") if isinstance(node, Mapping) else None
    if not isinstance(reference, str) or not reference.startswith(_DEFS):
        return None
    first = reference.removeprefix(_DEFS).partition("/")[0]
    return first.replace("~1", "/").replace("~0", "~")


def _escape(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _free_name(wanted: str, taken: Mapping[str, object]) -> str:
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name
