"""From a schema that refers to other documents to one self-contained, effective document.

Each ``$ref`` becomes a local pointer, ``#/…``, and what it reached in another document becomes a
member of ``$defs``; embedded ``$id`` and ``$anchor`` then have no reader and go. Only where
``$dynamicRef`` meets more than one resource do the boundaries between resources carry meaning:
there whole documents are embedded, each under its ``$id``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sluicegate.contracts.schemas.faults import SchemaFault
from sluicegate.contracts.schemas.keywords import (
    DIALECT,
    Schema,
    rebuild_member,
    subschemas,
)
from sluicegate.contracts.schemas.references import Library, Missing, Place
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.names import show_name
from sluicegate.values.pointers import join_segments

_WHY: Final[Mapping[Missing, tuple[Code, str, str]]] = {
    "remote": (
        Code.SCHEMA_REMOTE_REF,
        "leads to a document outside this folder, and nothing is fetched.",
        "Copy what is needed into `$defs` or into a file of the folder.",
    ),
    "outside": (
        Code.SCHEMA_REMOTE_REF,
        "leads out of the contract folder.",
        "Copy what is needed into `$defs` or into a file of the folder.",
    ),
    "unresolved": (
        Code.SCHEMA_UNRESOLVED_REF,
        "leads to nothing.",
        "Write the pointer of a subschema that exists, such as `#/$defs/NAME`.",
    ),
    "no-schema": (
        Code.SCHEMA_UNRESOLVED_REF,
        "leads to a place that holds no schema.",
        "Move the schema into `$defs` and refer to it there.",
    ),
}
_REFERENCES: Final = ("$ref", "$dynamicRef")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """``document`` refers to nothing outside itself, meta-schemas apart.

    ``origins`` says from where a member of ``$defs`` was taken.
    """

    document: JsonObject
    origins: Mapping[str, Place]


def bundle(library: Library, root: Place) -> Bundle | tuple[SchemaFault, ...]:
    """Return the effective document of ``root``, or what stands against its references.

    Source: SPEC CON-1, CON-2; JSON Schema core 2020-12, sections 8.2 and 9.3.
    """
    reached, faults = _reach(library, root)
    if faults:
        return faults
    resources = {place.base for place in reached}
    dynamic = any("$dynamicRef" in _members(place.schema) for place in reached)
    if dynamic and len(resources) > 1:
        return _embed(library, root, reached)
    return _Flattening(library, root, keep_anchors=dynamic).run()


def _members(schema: Schema) -> JsonObject:
    return schema if isinstance(schema, Mapping) else {}


def _reach(library: Library, root: Place) -> tuple[list[Place], tuple[SchemaFault, ...]]:
    """Follow every reference from ``root``; list every subschema met, and every fault."""
    met: dict[int, Place] = {}
    faults: list[SchemaFault] = []
    waiting: list[Schema] = [root.schema]
    while waiting:
        schema = waiting.pop()
        place = library.place_of(schema) if isinstance(schema, Mapping) else None
        if place is None or id(schema) in met:
            continue
        met[id(schema)] = place
        faults.extend(_judge_dialect(place))
        waiting.extend(inner for _, inner in subschemas(schema))
        for keyword, found in _references(library, place):
            if isinstance(found, Place):
                waiting.append(found.schema)
            elif found != "meta-schema":
                faults.append(_missing(place, keyword, found))
    ordered = sorted(faults, key=lambda fault: (fault.resource or "", fault.pointer))
    return list(met.values()), tuple(ordered)


def _references(library: Library, place: Place) -> Iterator[tuple[str, Place | Missing]]:
    members = _members(place.schema)
    for keyword in _REFERENCES:
        reference = members.get(keyword)
        if isinstance(reference, str):
            yield keyword, library.find(place.base, reference)


def _judge_dialect(place: Place) -> Iterator[SchemaFault]:
    if _members(place.schema).get("$schema", DIALECT) != DIALECT:
        yield SchemaFault(
            code=Code.SCHEMA_DIALECT,
            pointer=join_segments((*place.at, "$schema")),
            keyword="$schema",
            resource=place.document,
            message="the dialect is not draft 2020-12.",
            mend=f"Write `{DIALECT}`, or leave `$schema` out; import converts older drafts.",
        )


def _missing(place: Place, keyword: str, why: Missing) -> SchemaFault:
    code, message, mend = _WHY[why]
    reference = show_name(str(_members(place.schema)[keyword]))
    return SchemaFault(
        code=code,
        pointer=join_segments((*place.at, keyword)),
        keyword=keyword,
        resource=place.document,
        message=f"`{keyword}: {reference}` {message}",
        mend=mend,
    )


class _Flattening:
    """One run: renders the root, then each subschema of another document that was referred to."""

    __slots__ = ("_keep_anchors", "_library", "_names", "_origins", "_root", "_waiting")

    def __init__(self, library: Library, root: Place, *, keep_anchors: bool) -> None:
        self._library = library
        self._root = root
        self._keep_anchors = keep_anchors
        self._names: dict[int, str] = {}
        self._origins: dict[str, Place] = {}
        self._waiting: list[tuple[str, Place]] = []

    def run(self) -> Bundle:
        own = _members(self._root.schema)
        taken = own.get("$defs")
        definitions: dict[str, JsonValue] = {}
        document = dict(_members(self._render(own, is_root=True)))
        while self._waiting:
            name, place = self._waiting.pop()
            definitions[name] = self._render(place.schema)
        if definitions:
            kept = document.get("$defs") if isinstance(taken, Mapping) else None
            document["$defs"] = {**(kept if isinstance(kept, Mapping) else {}), **definitions}
        return Bundle(document=document, origins=self._origins)

    def _render(self, schema: Schema, *, is_root: bool = False) -> Schema:
        if isinstance(schema, bool):
            return schema
        place = self._library.place_of(schema)
        rendered: dict[str, JsonValue] = {}
        for keyword, member in schema.items():
            if keyword in ("$id", "$schema") and not is_root:
                continue
            if keyword == "$anchor" and not self._keep_anchors:
                continue
            if keyword == "$ref" and isinstance(member, str) and place is not None:
                rendered[keyword] = self._point(place, member)
            else:
                rendered[keyword] = rebuild_member(keyword, member, self._render)
        return rendered

    def _point(self, place: Place, reference: str) -> str:
        found = self._library.find(place.base, reference)
        if not isinstance(found, Place):
            return reference  # a meta-schema, which every validator holds
        if found.document is None:
            return "#" + encode_fragment(join_segments(found.at))
        if id(found.schema) not in self._names or isinstance(found.schema, bool):
            name = self._name(found)
            self._names[id(found.schema)] = name
            self._origins[name] = found
            self._waiting.append((name, found))
        return "#" + encode_fragment(join_segments(("$defs", self._names[id(found.schema)])))

    def _name(self, place: Place) -> str:
        own = _members(self._root.schema).get("$defs")
        taken = {*self._origins, *(own if isinstance(own, Mapping) else ())}
        stem = place.at[-1] if place.at else (place.document or "").rsplit("/", 1)[-1]
        stem = stem.rsplit(".", 1)[0] or "schema"
        name, number = stem, 1
        while name in taken:
            number += 1
            name = f"{stem}_{number}"
        return name


def _embed(library: Library, root: Place, reached: list[Place]) -> Bundle:
    """Keep resources apart: every document that was reached, whole, under absolute ``$id``."""
    document = dict(_members(_absolute(library, root.schema)))
    document.setdefault("$id", root.base)
    taken = document.get("$defs")
    definitions: dict[str, JsonValue] = dict(taken) if isinstance(taken, Mapping) else {}
    origins: dict[str, Place] = {}
    for name in sorted({place.document for place in reached if place.document is not None}):
        top = library.top_of(name)
        rendered = dict(_members(_absolute(library, top.schema)))
        rendered.setdefault("$id", top.base)
        definitions[name] = rendered
        origins[name] = top
    if definitions:
        document["$defs"] = definitions
    return Bundle(document=document, origins=origins)


def _absolute(library: Library, schema: Schema) -> Schema:
    if isinstance(schema, bool):
        return schema
    place = library.place_of(schema)
    rendered = {
        keyword: rebuild_member(keyword, member, lambda inner: _absolute(library, inner))
        for keyword, member in schema.items()
    }
    if place is not None and "$id" in schema:
        rendered["$id"] = place.base
    for keyword in _REFERENCES if place is not None else ():
        reference = schema.get(keyword)
        if place is not None and isinstance(reference, str) and not reference.startswith("#"):
            stem, mark, fragment = reference.partition("#")
            resource = library.find(place.base, stem)
            if isinstance(resource, Place):
                rendered[keyword] = resource.base + mark + fragment
    return rendered


def encode_fragment(pointer: str) -> str:
    """Return a JSON Pointer fit for a URI fragment. Source: RFC 6901 section 6, RFC 3986 3.5."""
    return "".join(
        character if character in _PLAIN else "".join(f"%{byte:02X}" for byte in character.encode())
        for character in pointer
    )


_PLAIN: Final = frozenset(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/?"
)
