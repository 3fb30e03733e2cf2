"""Four fingerprints of a contract: language, text, policy, and one digest over all (CON-4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Final, cast

from jsonschema_rs import ReferencingError, ValidationError, canonicalize, dereference

from sluicegate.contracts.contract import Contract, Fingerprints, PythonName
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.keywords import HOLDS_SCHEMA_MAP, subschemas, walk
from sluicegate.values.digests import Digest, digest_of_json
from sluicegate.values.json import JsonObject, JsonValue, canonical_text
from sluicegate.values.pointers import Pointer, join_segments

UNPRINTED: Final = Fingerprints(
    language=Digest(""), text=Digest(""), policy=Digest(""), digest=Digest("")
)
"""Stands in a contract while it is being made; no served contract bears it."""

_ANNOTATIONS: Final = frozenset(
    {
        *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"),
        *("$comment", "contentMediaType", "contentEncoding", "contentSchema"),
    }
)
_NO_POLICY: Final = frozenset(
    {"tool", "version", "title", "description", "fingerprints", "source", "document"}
)
_MAX_EXPANDED: Final = 20_000
"""Subschemas after every reference is written out; beyond, the text itself is the language."""


def fingerprint(contract: Contract) -> Fingerprints:
    """Return the fingerprints of ``contract``, whatever stands in its own.

    The digest covers the version too; policy does not, so that two releases can be compared.
    """
    arguments, result = contract.arguments.schema.document, contract.result.schema.document
    language = digest_of_json([_language(arguments), _language(result)])
    text = digest_of_json(
        [
            [contract.tool, contract.title, contract.description],
            _annotations(arguments),
            _annotations(result),
        ]
    )
    policy = digest_of_json(
        {
            name: value
            for name, value in cast("dict[str, JsonValue]", describe(contract)).items()
            if name not in _NO_POLICY
        }
    )
    return Fingerprints(
        language=language,
        text=text,
        policy=policy,
        digest=digest_of_json([contract.version, language, text, policy]),
    )


# --- language ----------------------------------------------------------------------------------


def _language(document: JsonObject) -> JsonValue:
    """A form that is equal for schemas that were rewritten without changing what they admit."""
    bare = strip_annotations(document)
    if _expanded_size(document) > _MAX_EXPANDED:
        return bare
    try:
        whole = dereference(cast("dict[str, object]", bare), offline=True)
        canonical = canonicalize(whole, validate_formats=True, offline=True).to_json_schema()
        canonical_text(canonical)  # a value that JSON cannot hold is no form to digest
    except (ValueError, TypeError, ReferencingError, ValidationError):
        return bare
    return cast("JsonValue", canonical)


def strip_annotations(schema: JsonValue) -> JsonValue:
    """Return ``schema`` without the keywords that change nothing in what it admits."""
    if not isinstance(schema, Mapping):
        return schema
    kept: dict[str, JsonValue] = {
        key: member
        for key, member in schema.items()
        if key not in _ANNOTATIONS and not key.startswith("x-")
    }
    for keyword in HOLDS_SCHEMA_MAP:
        inner = kept.get(keyword)
        if isinstance(inner, Mapping):
            kept[keyword] = {name: strip_annotations(item) for name, item in inner.items()}
    for segments, inner in subschemas(kept):
        keyword = segments[0]
        if keyword in HOLDS_SCHEMA_MAP:
            continue
        holder = kept[keyword]
        if len(segments) == 1:
            kept[keyword] = strip_annotations(inner)
        elif isinstance(holder, list):
            kept[keyword] = [strip_annotations(item) for item in holder]
    return kept


def _expanded_size(document: JsonObject) -> int:
    """How many subschemas there are once each local reference is written out; capped."""
    sizes: dict[int, int] = {}

    def size(schema: object) -> int:
        if not isinstance(schema, Mapping):
            return 1
        if id(schema) in sizes:
            return sizes[id(schema)]
        sizes[id(schema)] = 1  # a recursive reference counts once
        total = 1 + sum(size(inner) for s, inner in subschemas(schema) if s[0] != "$defs")
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            try:
                total += size(Pointer.parse(reference[1:]).find(document))
            except ValueError:
                total += 1
        sizes[id(schema)] = min(total, _MAX_EXPANDED + 1)
        return sizes[id(schema)]

    return size(document)


# --- text --------------------------------------------------------------------------------------


def _annotations(document: JsonObject) -> JsonValue:
    """Every annotation with the place it stands at: they are prompts, and must not move."""
    return [
        [
            join_segments(at),
            {
                key: member
                for key, member in schema.items()
                if key in _ANNOTATIONS or key.startswith("x-")
            },
        ]
        for at, schema in sorted(walk(document), key=lambda found: found[0])
        if isinstance(schema, Mapping)
        and any(key in _ANNOTATIONS or key.startswith("x-") for key in schema)
    ]


# --- policy ------------------------------------------------------------------------------------


def describe(value: object) -> JsonValue:
    """Return a frozen record as JSON, without members at their default, to compare two by.

    A member that a later release adds thus changes no digest until a contract uses it.
    """
    if isinstance(value, Pointer):
        return value.text
    if isinstance(value, CompiledSchema):
        return None  # language and text speak for it
    if isinstance(value, PythonName):
        return str(value)
    if isinstance(value, Enum):
        return str(value.value)
    if is_dataclass(value) and not isinstance(value, type):
        described = {}
        for member in fields(value):
            held = getattr(value, member.name)
            if member.default is not MISSING and held == member.default:
                continue
            if member.default_factory is not MISSING and held == member.default_factory():
                continue
            if member.name != "agent_schema":
                described[member.name] = describe(held)
        return described
    if isinstance(value, Mapping):
        return {str(key): describe(item) for key, item in value.items()}
    if isinstance(value, frozenset):
        return sorted((describe(item) for item in value), key=canonical_text)
    if isinstance(value, tuple | list):
        return [describe(item) for item in value]
    return cast("JsonValue", value)
