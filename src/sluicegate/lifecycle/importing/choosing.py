"""Which fields of a result reach the agent by default: the ones that hold no free text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sluicegate.contracts.schemas.keywords import names_at, schema_map
from sluicegate.values.json import JsonObject
from sluicegate.values.names import show_name
from sluicegate.values.pointers import join_segments

MAX_CHOSEN: Final = 40
_SCALARS: Final = frozenset({"boolean", "integer", "number", "null"})
_NARROW: Final = frozenset({"enum", "const", "pattern", "format"})
_MAX_LINKS: Final = 20


def choose_agent_fields(schema: JsonObject) -> dict[str, Any]:
    """Return the selecting members of ``result``: ``agent``, else ``untrusted_text``.

    Top-level members without free text, the required ones first; where there are none, the first
    member that is text alone stands under ``untrusted_text``, else the first member of all.
    """
    members = dict(_members(schema))
    plain = [name for name, member in members.items() if not _is_open_text(member)]
    narrow = [name for name in plain if _is_narrow(members[name])]
    if narrow:
        return {"agent": [join_segments((name,)) for name in narrow[:MAX_CHOSEN]]}
    texts = [name for name, member in members.items() if _is_text(member)]
    if texts:
        return {"untrusted_text": {"text": join_segments((texts[0],))}}
    rest = [name for name in members if "x-extension" not in members[name]]
    return {"agent": [join_segments((rest[0],))]} if rest else {"agent": [""]}


def list_free_texts(schema: JsonObject) -> list[str]:
    """Return the names of top-level members that hold free text, as they may be shown."""
    return [show_name(name) for name, member in _members(schema) if _is_open_text(member)]


def _members(schema: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    required = names_at(schema, "required")
    members = schema_map(schema, "properties")
    for name in sorted(members, key=lambda name: name not in required):
        member = _follow(schema, members[name])
        if member is not None:
            yield name, member


def _follow(document: JsonObject, schema: object) -> JsonObject | None:
    """Return the schema behind local references; None where they lead nowhere."""
    for _ in range(_MAX_LINKS):
        if not isinstance(schema, Mapping):
            return None
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema
        found: object = document
        for segment in reference.split("/")[1:]:
            name = segment.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, Mapping) else None
        schema = found
    return None


def _types(schema: JsonObject) -> set[str]:
    types = schema.get("type")
    if isinstance(types, str):
        return {types}
    return {each for each in types if isinstance(each, str)} if isinstance(types, list) else set()


def _is_narrow(schema: JsonObject) -> bool:
    if schema.keys() & {"enum", "const"}:
        return True
    types = _types(schema)
    return bool(types) and types <= _SCALARS | {"string"}


def _is_open_text(schema: JsonObject) -> bool:
    return "string" in _types(schema) and not schema.keys() & _NARROW


def _is_text(schema: JsonObject) -> bool:
    return _types(schema) == {"string"} and "maxLength" in schema
