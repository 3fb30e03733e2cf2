"""A schema made fit for a contract: what registration names is mended, one round after another.

The judge is ``register`` itself, so that a draft is closed exactly where a contract must be: after
composition, at the place that is open. What is taken away or narrowed is told; what only a person
can mend stays a fault (SPEC CON-2, LIF-6).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.faults import SchemaFault
from sluicegate.contracts.schemas.keywords import walk
from sluicegate.contracts.schemas.registration import register
from sluicegate.lifecycle.importing.bounding import MAX_ITEMS, MAX_LONG_TEXT, MAX_SHORT_TEXT
from sluicegate.lifecycle.importing.reversals import (
    is_reversed,
    list_untouchable,
    part_reversed,
)
from sluicegate.lifecycle.lint.matching import FEWER_PATTERNS
from sluicegate.lifecycle.lint.sheet import Sheet
from sluicegate.lifecycle.lint.subject import SideName, Subject
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.names import show_name
from sluicegate.values.pointers import join_segments

Node: TypeAlias = "dict[str, Any]"

_MAX_ROUNDS: Final = 200
_DROPPED: Final = frozenset(
    {
        Code.SCHEMA_UNKNOWN_KEYWORD,
        Code.SCHEMA_UNKNOWN_FORMAT,
        Code.SCHEMA_PATTERN,
        Code.SCHEMA_DEFAULT_INVALID,
    }
)
_OVERMATCHED: Final = SchemaFault(
    code=Code.SCHEMA_TOO_COMPLEX,
    message="the schema has too many member names and patterns to match each with each.",
    mend=FEWER_PATTERNS,
)
_COMPOSES: Final = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas")
_OF_OBJECT: Final = ("properties", "required", "additionalProperties", "patternProperties")
_OF_ARRAY: Final = ("items", "prefixItems", "maxItems", "minItems", "uniqueItems")


@dataclass(slots=True)
class Changes:
    """What was changed to make the schema fit; pointers lead into it."""

    closed: list[str] = field(default_factory=list)
    maps: list[str] = field(default_factory=list)
    extensions: list[str] = field(default_factory=list)
    scalars: list[str] = field(default_factory=list)
    dropped: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A schema that registers, and what it took."""

    schema: JsonObject
    changes: Changes


def settle(schema: JsonObject, side: SideName) -> Settled | tuple[SchemaFault, ...]:
    """Return ``schema`` closed and registrable, or the faults that only a person can mend.

    ``schema`` is a plain JSON object without references to other documents; it is not changed.
    """
    document: Node = part_reversed(schema)
    changes = Changes()
    if side == "arguments" and "type" not in document:
        document["type"] = "object"
    _prepare(document, changes)
    if _is_overmatched(document, side):
        return (_OVERMATCHED,)
    faults: tuple[SchemaFault, ...] = ()
    for _ in range(_MAX_ROUNDS):
        judged = register(document, side=side, strict=True)
        if isinstance(judged, CompiledSchema):
            return Settled(schema=document, changes=changes)
        faults = judged
        mended = [_mend(document, fault, changes) for fault in faults]
        if not any(mended):
            break
    return faults


def _is_overmatched(document: Node, side: SideName) -> bool:
    """Whether registration, which is asked once a round, would match names without an end."""
    sheet = Sheet(Subject(schema=document, side=side))
    return bool(sheet.places) and sheet.is_overmatched


def _prepare(document: Node, changes: Changes) -> None:
    """Bound each map where it stands, and take ``additionalProperties: true`` at its word.

    Where members are declared as well it asserts nothing and goes, so that the place can be closed
    after composition; where none are, the object is an extension.
    """
    untouchable = list_untouchable(document)
    for segments, found in list(walk(document)):
        if not isinstance(found, dict) or is_reversed(segments, untouchable):
            continue
        node: Node = found
        at = join_segments(segments)
        for keyword in ("properties", "patternProperties"):
            members = node.get(keyword)
            if isinstance(members, dict):  # the same schema, with a place of its own
                members.update({name: {} for name, each in members.items() if each is True})
        if node.get("items") is True:
            node["items"] = {}
        additional = node.get("additionalProperties")
        if isinstance(additional, Mapping) and additional:
            _bound_map(node, at, changes)
        elif additional is True or additional == {}:
            if segments and not _says_more(node):
                _extend(node, at)
                changes.extensions.append(at)
            else:
                del node["additionalProperties"]


def _says_more(node: Node) -> bool:
    return bool(node.get("properties")) or any(keyword in node for keyword in _COMPOSES)


def _mend(document: Node, fault: SchemaFault, changes: Changes) -> bool:
    if fault.code in _DROPPED:
        return _drop(document, fault, changes)
    if fault.code is not Code.SCHEMA_OPEN_OBJECT:
        return False
    found = _find(document, fault.pointer)
    return isinstance(found, dict) and _close(found, fault.pointer, changes)


def _drop(document: Node, fault: SchemaFault, changes: Changes) -> bool:
    pointer = fault.pointer
    if fault.code is Code.SCHEMA_DEFAULT_INVALID and "/examples/" in pointer[-16:]:
        pointer = pointer[: pointer.rindex("/examples/") + len("/examples")]
    parent, _, last = pointer.rpartition("/")
    holder = _find(document, parent)
    name = _unescape(last)
    if not isinstance(holder, dict) or name not in holder:
        return False
    del holder[name]
    named = show_name(fault.keyword or name)
    changes.dropped[named] = changes.dropped.get(named, 0) + 1
    return True


def _close(node: Node, at: str, changes: Changes) -> bool:
    """Close one open place; False where it is closed as far as this can."""
    if "type" not in node and not any(keyword in node for keyword in _COMPOSES):
        if not any(keyword in node for keyword in _OF_OBJECT):
            return _give_type(node, at, changes)
        node["type"] = "object"
    if node.get("patternProperties"):
        node.setdefault("additionalProperties", False)
        return _bound_map(node, at, changes)
    if any(keyword in node for keyword in _COMPOSES):
        if any(map(_is_map, (*node.get("anyOf", ()), *node.get("oneOf", ())))):
            return _bound_map(node, at, changes)
        if node.get("unevaluatedProperties") is False:
            return False
        node.pop("additionalProperties", None)
        node["unevaluatedProperties"] = False
        changes.closed.append(at)
        return True
    if at and not _says_more(node) and "x-extension" not in node:
        _extend(node, at)
        changes.extensions.append(at)
        return True
    if node.get("additionalProperties") is False:
        return False
    node["additionalProperties"] = False
    changes.closed.append(at)
    return True


def _is_map(branch: object) -> bool:
    return isinstance(branch, dict) and isinstance(branch.get("additionalProperties"), Mapping)


def _give_type(node: Node, at: str, changes: Changes) -> bool:
    if any(keyword in node for keyword in _OF_ARRAY):
        node["type"] = "array"
        node.setdefault("maxItems", MAX_ITEMS)
        return True
    node["type"] = ["string", "number", "boolean", "null"]
    node.setdefault("maxLength", MAX_LONG_TEXT)
    changes.scalars.append(at)
    return True


def _bound_map(node: Node, at: str, changes: Changes) -> bool:
    if "propertyNames" in node and "maxProperties" in node:
        return False
    node.setdefault("propertyNames", {"maxLength": MAX_SHORT_TEXT})
    node.setdefault("maxProperties", MAX_ITEMS)
    changes.maps.append(at)
    return True


def _extend(node: Node, at: str) -> None:
    """An object of anything is declared as such: it is admitted and can never be selected."""
    node.pop("additionalProperties", None)
    node["x-extension"] = {"name": show_name(_unescape(at.rpartition("/")[2])), "version": "1"}


def _find(document: JsonValue, pointer: str) -> object:
    found: Any = document
    for segment in pointer.split("/")[1:]:
        name = _unescape(segment)
        if isinstance(found, dict) and name in found:
            found = found[name]
        elif isinstance(found, list) and name.isdigit() and int(name) < len(found):
            found = found[int(name)]
        else:
            return None
    return found


def _unescape(segment: str) -> str:
    return segment.replace("~1", "/").replace("~0", "~")
