"""``removed`` of contract.yaml: names that stay taken after their members went (LIF-3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sluicegate.contracts.contract import RemovedNames
from sluicegate.contracts.near_names import read_members
from sluicegate.contracts.places import Place
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.members import TooManyMembersError, list_members
from sluicegate.contracts.versions import VERSION, parse_version, precedence
from sluicegate.values.names import show_name
from sluicegate.values.pointers import EVERY, Pointer

_WANTED: Final = "the version that went without it, such as 2.0.0"


def read_removed(
    place: Place | None,
    version: str,
    arguments: CompiledSchema | None,
    data: CompiledSchema | None,
) -> RemovedNames:
    """Return the tombstones; a name that a schema declares again is a fault, and none is served."""
    members = (read_members(place, "removed") if place is not None else None) or {}
    return RemovedNames(
        arguments=_read_side(members.get("arguments"), version, arguments),
        result=_read_side(members.get("result"), version, data),
    )


def _read_side(
    place: Place | None, version: str, schema: CompiledSchema | None
) -> Mapping[Pointer, str]:
    entries = (place.entries() if place is not None else None) or {}
    if place is None or not entries:
        return {}
    try:
        declared = frozenset() if schema is None else list_members(schema.document)
    except TooManyMembersError as error:
        place.fault(
            f"the schema has {error}, so that nothing can be held to these names.",
            "Describe what recurs by a bounded map.",
            at_key=True,
        )
        return {}
    removed = {}
    for text, inner in entries.items():
        pointer = inner.pointer_of(text, at_key=True)
        since = inner.text(VERSION, _WANTED)
        if pointer is None or since is None:
            continue
        _judge(inner, pointer, since, version, again=pointer in declared)
        removed[pointer] = since
    return removed


def _judge(place: Place, pointer: Pointer, since: str, version: str, *, again: bool) -> None:
    shown = show_name(pointer.text)
    if not pointer.segments or pointer.segments[-1] == EVERY:
        place.fault(
            f"`{shown}` names no member.", "Write the pointer of the one that went.", at_key=True
        )
    elif again:
        place.fault(
            f"`{shown}` was removed with {since}, and the schema declares it again.",
            "Take another name: who knew the old one would read it by its old meaning.",
            at_key=True,
        )
    elif version and precedence(parse_version(since)) > precedence(parse_version(version)):
        place.fault(
            f"`{shown}` went with {since}, which follows version {version} of this contract.",
            "Write the first version without it; it is this one at the latest.",
        )
