"""A schema without the definitions that nothing in it refers to.

Documents bring every schema that they share; the model would read each of them, and a person would
be asked about places that no value of the tool has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import unquote

from sluicegate.contracts.schemas.keywords import subschemas
from sluicegate.values.json import JsonObject, JsonValue

_DEFS: Final = "#/$defs/"
_REFERENCES: Final = ("$ref", "$dynamicRef")
_NAMING: Final = frozenset({"$id", "$anchor", "$dynamicAnchor"})


def keep_reached(schema: JsonObject) -> JsonObject:
    """Return ``schema`` with those members of ``$defs`` alone that a reference may lead to.

    References are followed from the root, through what they reach. A reference by any other name
    than a pointer may mean whatever bears a name of its own, so all of these are kept.
    """
    definitions = schema.get("$defs")
    if not isinstance(definitions, Mapping):
        return schema
    rest = {keyword: member for keyword, member in schema.items() if keyword != "$defs"}
    reached: set[str] = set()
    waiting: list[object] = [rest]
    while waiting:
        for reference in _references(waiting.pop()):
            for name in _meant(reference, definitions):
                if name not in reached:
                    reached.add(name)
                    waiting.append(definitions[name])
    kept: JsonObject = {name: each for name, each in definitions.items() if name in reached}
    return {**rest, "$defs": kept} if kept else rest


def _references(schema: object) -> Iterator[str]:
    for node in _walk(schema):
        for keyword in _REFERENCES:
            reference = node.get(keyword)
            if isinstance(reference, str):
                yield reference


def _meant(reference: str, definitions: Mapping[str, JsonValue]) -> list[str]:
    if reference.startswith(_DEFS):
        first = unquote(reference.removeprefix(_DEFS).partition("/")[0])
        name = first.replace("~1", "/").replace("~0", "~")
        return [name] if name in definitions else []
    if reference == "#" or reference.startswith("#/"):
        return []
    return [
        name
        for name, each in definitions.items()
        if any(node.keys() & _NAMING for node in _walk(each))
    ]


def _walk(schema: object) -> Iterator[JsonObject]:
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            yield node
            waiting += (inner for _, inner in subschemas(node))
