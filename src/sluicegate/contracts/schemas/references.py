"""URI references, and the library of schema documents they may lead into. Nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from sluicegate.contracts.schemas.keywords import DIALECT, Schema, Segments, walk
from sluicegate.values.json import JsonObject, JsonValue, canonical_text
from sluicegate.values.pointers import NOTHING, step

FOLDER: Final = "folder:///"
"""The base of everything that has no absolute URI of its own: a contract folder's root."""

META_SCHEMAS: Final = frozenset(
    {
        DIALECT,
        *(
            f"https://json-schema.org/draft/2020-12/meta/{name}"
            for name in (
                *("core", "applicator", "unevaluated", "validation"),
                *("meta-data", "format-annotation", "format-assertion", "content"),
            )
        ),
    }
)
"""Documents that every 2020-12 validator holds; a ``$ref`` to them needs no retrieval."""

_URI: Final = re.compile(
    r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL
)
_ENCODED: Final = re.compile(r"((?:%[0-9A-Fa-f]{2})+)")

Missing: TypeAlias = Literal["remote", "unresolved", "outside", "no-schema", "meta-schema"]


def join_uri(base: str, reference: str) -> str:
    """Resolve ``reference`` against ``base``. Source: RFC 3986 section 5.2."""
    scheme, authority, path, query, fragment = _split(reference)
    b_scheme, b_authority, b_path, b_query, _ = _split(base)
    if scheme is not None:
        path = _without_dots(path)
    elif authority is not None:
        scheme, path = b_scheme, _without_dots(path)
    else:
        scheme, authority = b_scheme, b_authority
        if path == "":
            path, query = b_path, b_query if query is None else query
        elif path.startswith("/"):
            path = _without_dots(path)
        else:
            stem = b_path[: b_path.rfind("/") + 1]
            if stem == "" and b_authority is not None:
                stem = "/"
            path = _without_dots(stem + path)
    return "".join(
        (
            "" if scheme is None else f"{scheme}:",
            "" if authority is None else f"//{authority}",
            path,
            "" if query is None else f"?{query}",
            "" if fragment is None else f"#{fragment}",
        )
    )


def split_fragment(uri: str) -> tuple[str, str]:
    """Return (the URI without its fragment, the decoded fragment)."""
    stem, _, fragment = uri.partition("#")
    return stem, _decode(fragment)


def climbs_out(base: str, reference: str) -> bool:
    """Whether a relative reference has more ``..`` than ``base`` has folders."""
    scheme, authority, path, _, _ = _split(reference)
    if scheme is not None or authority is not None:
        return False
    depth = 0 if path.startswith("/") else _split(base)[2].count("/") - 1
    for segment in path.split("/")[:-1]:
        depth += -1 if segment == ".." else 0 if segment in ("", ".") else 1
        if depth < 0:
            return True
    return False


@dataclass(frozen=True, slots=True)
class Place:
    """A subschema of the library: in which document, where, and the base URI that holds there.

    ``document`` is None for the schema that is being registered.
    """

    schema: Schema
    document: str | None
    at: Segments
    base: str


@dataclass(frozen=True, slots=True)
class Collision:
    """Two different schemas bear one ``$id``."""

    place: Place
    uri: str


class Library:
    """The schema that is being registered, and the documents that it may refer to.

    ``home`` is the schema's own name in the folder (``tool/contract.yaml``); names of documents
    and their relative references are read against it. Holds no copy: the caller hands over what
    nobody else holds.
    """

    __slots__ = ("_anchors", "_dynamic", "_places", "_resources", "_tops", "collisions", "root")

    def __init__(self, schema: Schema, home: str, documents: Mapping[str, JsonValue]) -> None:
        self._places: dict[int, Place] = {}
        self._resources: dict[str, Place] = {}
        self._anchors: dict[tuple[str, str], Place] = {}
        self._dynamic: dict[str, list[Place]] = {}
        self._tops: dict[str, Place] = {}
        self.collisions: list[Collision] = []
        uri = split_fragment(join_uri(FOLDER, home))[0]
        self._index(schema, None, uri)
        self.root = self._places[id(schema)] if isinstance(schema, Mapping) else None
        for name, document in documents.items():
            if isinstance(document, Mapping):
                self._index(document, name, split_fragment(join_uri(FOLDER, name))[0])
                self._tops[name] = self._places[id(document)]

    def top_of(self, document: str) -> Place:
        """Return the whole of a document. Raises: KeyError if there is none of that name."""
        return self._tops[document]

    def place_of(self, schema: JsonObject) -> Place | None:
        """Return where ``schema`` stands, if it is a subschema of the library."""
        return self._places.get(id(schema))

    def find(self, base: str, reference: str) -> Place | Missing:
        """Return the subschema that ``reference`` names from ``base``, or why there is none."""
        uri, fragment = split_fragment(join_uri(base, reference))
        resource = self._resources.get(uri)
        if resource is None:
            return self._why_missing(base, reference, uri)
        if fragment == "":
            return resource
        if not fragment.startswith("/"):
            return self._anchors.get((resource.base, fragment), "unresolved")
        return self._at_pointer(resource, fragment)

    def dynamic_targets(self, reference: str) -> tuple[Place, ...]:
        """Return every subschema that a ``$dynamicRef`` may be led to by its anchor's name."""
        return tuple(self._dynamic.get(split_fragment(reference)[1], ()))

    def _why_missing(self, base: str, reference: str, uri: str) -> Missing:
        if uri in META_SCHEMAS:
            return "meta-schema"
        if not uri.startswith(FOLDER):
            return "remote"
        return "outside" if climbs_out(base, reference) else "unresolved"

    def _at_pointer(self, resource: Place, fragment: str) -> Place | Missing:
        value: object = resource.schema
        at = list(resource.at)
        for segment in fragment[1:].split("/"):
            name = segment.replace("~1", "/").replace("~0", "~")
            value = step(value, name)
            if value is NOTHING:
                return "unresolved"
            at.append(name)
        if isinstance(value, Mapping):
            return self._places.get(id(value), "no-schema")
        if isinstance(value, bool):
            return Place(value, resource.document, tuple(at), resource.base)
        return "no-schema"

    def _index(self, schema: Schema, document: str | None, uri: str) -> None:
        bases: dict[Segments, str] = {}
        for at, inner in walk(schema):
            base = next((bases[at[:n]] for n in range(len(at), -1, -1) if at[:n] in bases), uri)
            if not isinstance(inner, Mapping):
                continue
            identifier = inner.get("$id")
            if isinstance(identifier, str):
                base = split_fragment(join_uri(base, identifier))[0]
            if at == () or isinstance(identifier, str):
                bases[at] = base
            place = Place(inner, document, at, base)
            self._places[id(inner)] = place
            if at == ():
                self._enter(uri, place, named=_split(uri)[0] != "folder")
            if isinstance(identifier, str):
                self._enter(base, place, named=True)
            self._enter_anchors(inner, place)

    def _enter(self, uri: str, place: Place, *, named: bool) -> None:
        known = self._resources.setdefault(uri, place)
        if (
            named
            and known.schema is not place.schema
            and canonical_text(known.schema) != canonical_text(place.schema)
        ):
            collision = Collision(known if place.document else place, uri)
            if collision not in self.collisions:
                self.collisions.append(collision)

    def _enter_anchors(self, schema: JsonObject, place: Place) -> None:
        for keyword in ("$anchor", "$dynamicAnchor"):
            name = schema.get(keyword)
            if isinstance(name, str):
                self._anchors.setdefault((place.base, name), place)
                if keyword == "$dynamicAnchor":
                    self._dynamic.setdefault(name, []).append(place)


def refers_outside(schema: Schema) -> bool:
    """Whether ``schema`` names a document beside itself, or bears a name of its own."""
    return any(
        isinstance(inner, Mapping) and any(_names_document(inner)) for _, inner in walk(schema)
    )


def _names_document(schema: JsonObject) -> Iterator[bool]:
    yield "$id" in schema
    for keyword in ("$ref", "$dynamicRef"):
        reference = schema.get(keyword)
        yield isinstance(reference, str) and not reference.startswith("#")


def _split(uri: str) -> tuple[str | None, str | None, str, str | None, str | None]:
    matched = _URI.fullmatch(uri)
    if matched is None:  # the expression matches every text
        return None, None, uri, None, None
    scheme, authority, path, query, fragment = matched.groups()
    return scheme, authority, path, query, fragment


def _without_dots(path: str) -> str:
    kept: list[str] = []
    segments = path.split("/")
    for position, segment in enumerate(segments):
        is_last = position == len(segments) - 1
        if segment == "..":
            if len(kept) > 1 or (kept and kept[0] != ""):
                kept.pop()
        elif segment != ".":
            kept.append(segment)
            continue
        if is_last:
            kept.append("")
    return "/".join(kept)


def _decode(text: str) -> str:
    """Undo percent-encoding; bytes that are not UTF-8 stay as they stand."""

    def decode(matched: re.Match[str]) -> str:
        try:
            return bytes.fromhex(matched.group(1).replace("%", "")).decode()
        except UnicodeDecodeError:
            return matched.group(1)

    return _ENCODED.sub(decode, text)
