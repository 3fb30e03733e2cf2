"""Registration of one schema: judged, bundled, proven, compiled (SPEC CON-2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from jsonschema_rs import Draft202012Validator, ReferencingError, Registry

from sluicegate.contracts.schemas.bundling import Bundle, bundle, encode_fragment
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.compiling import compile_validator
from sluicegate.contracts.schemas.complexity import Targets, is_too_complex
from sluicegate.contracts.schemas.faults import SchemaFault
from sluicegate.contracts.schemas.intake import take_in
from sluicegate.contracts.schemas.keywords import Schema, walk
from sluicegate.contracts.schemas.openness import find_open_objects
from sluicegate.contracts.schemas.references import Collision, Library, Place, refers_outside
from sluicegate.contracts.schemas.vocabulary import judge_dialect, judge_form, judge_vocabulary
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.pointers import join_segments

__all__ = ["SchemaFault", "register"]

_LEADS_ON: Final = frozenset({"$ref", "$dynamicRef", "$id"})
_HERE: Final = "folder:///schema-being-registered"


def register(
    schema: object,
    *,
    side: Literal["arguments", "result"],
    strict: bool,
    resources: Mapping[str, object] | None = None,
    base: str = "",
) -> CompiledSchema | tuple[SchemaFault, ...]:
    """Judge and compile ``schema``; never raises for what it or ``resources`` hold.

    ``resources`` maps names in the folder, or absolute ``$id``s, to parsed schema documents that
    ``$ref`` may lead to; ``base`` is the schema's own name in the folder, against which relative
    references are read. ``strict`` holds it to all that a contract must obey: closed objects, and
    for arguments a root of type object. The result is never empty where it is a tuple; the first
    fault names the code to show. Source: SPEC CON-2, RES-4.
    """
    try:
        return _register(schema, (side, strict), resources or {}, base)
    except RecursionError:
        return (_too_complex("its references form a chain that is too long to follow."),)


def _register(
    schema: object,
    rigour: tuple[Literal["arguments", "result"], bool],
    resources: Mapping[str, object],
    base: str,
) -> CompiledSchema | tuple[SchemaFault, ...]:
    side, strict = rigour
    taken = _take_in_schema(schema, needs_object=strict and side == "arguments")
    if isinstance(taken, tuple):
        return taken
    faults = judge_dialect(taken) or judge_form(taken)
    if faults:
        return faults
    bundled = _bundle(taken, resources, base)
    if isinstance(bundled, tuple):
        return bundled
    document = bundled.document
    validator = _compile(document)
    if isinstance(validator, tuple):
        return _homed(validator, bundled)
    try:
        faults = _judge_samples(document)
    except (ValueError, ReferencingError):
        return (_uncompilable(),)
    if strict:
        if side == "arguments" and document.get("type") != "object":
            faults = (*faults, _no_object_root())
        faults = (*faults, *find_open_objects(document))
    if faults:
        return _homed(faults, bundled)
    return CompiledSchema(
        document=document,
        validator=validator,
        is_valid=validator.is_valid,
    )


def _take_in_schema(schema: object, *, needs_object: bool) -> JsonObject | tuple[SchemaFault, ...]:
    taken = take_in(schema)
    if isinstance(taken, SchemaFault):
        return (taken,)
    if isinstance(taken, Mapping):
        return taken
    if needs_object:
        return (_no_object_root(),)
    if isinstance(taken, bool):
        return {} if taken else {"not": {}}
    return (
        SchemaFault(
            code=Code.SCHEMA_META_INVALID,
            message="a schema is an object, `true` or `false`.",
            mend="Write `{type: …}`.",
        ),
    )


def _bundle(
    schema: JsonObject, resources: Mapping[str, object], base: str
) -> Bundle | tuple[SchemaFault, ...]:
    documents: dict[str, JsonValue] = {}
    if resources and refers_outside(schema):
        for name, resource in resources.items():
            taken = take_in(resource, name)
            if isinstance(taken, SchemaFault):
                return (taken,)
            documents[name] = taken
    library = Library(schema, base, documents)
    faults = judge_vocabulary(schema) + tuple(map(_collided, library.collisions))
    root = library.root
    bundled = bundle(library, root) if root is not None else Bundle(document=schema, origins={})
    if faults or isinstance(bundled, tuple):
        return (*faults, *(bundled if isinstance(bundled, tuple) else ()))
    if is_too_complex(schema, _targets(library)):
        return (_too_complex("one value could be visited more than a thousand times."),)
    if bundled.origins:
        borrowed = judge_form(bundled.document) or judge_vocabulary(bundled.document)
        if borrowed:
            return _homed(borrowed, bundled)
    return bundled


def _targets(library: Library) -> Targets:
    def targets(schema: JsonObject) -> Sequence[Sequence[Schema]]:
        place = library.place_of(schema)
        found: list[Sequence[Schema]] = []
        for keyword in ("$ref", "$dynamicRef") if place is not None else ():
            reference = schema.get(keyword)
            if place is not None and isinstance(reference, str):
                target = library.find(place.base, reference)
                group: list[Schema] = [target.schema] if isinstance(target, Place) else [True]
                if keyword == "$dynamicRef":
                    others = (one.schema for one in library.dynamic_targets(reference))
                    group += [other for other in others if other is not group[0]]
                found.append(group)
        return found

    return targets


def _compile(document: JsonObject) -> Draft202012Validator | tuple[SchemaFault, ...]:
    try:
        return compile_validator(document)
    except RecursionError:
        return (_too_complex("it nests too deep for the engine."),)
    except (ValueError, ReferencingError):  # all that can be named has been refused before
        return (_uncompilable(),)


def _judge_samples(document: JsonObject) -> tuple[SchemaFault, ...]:
    """Hold each ``default`` and each of ``examples`` to the schema it stands in."""
    faults: list[SchemaFault] = []
    registry: Registry | None = None
    for at, schema in walk(document):
        if not isinstance(schema, Mapping):
            continue
        samples = [("default", schema["default"])] if "default" in schema else []
        examples = schema.get("examples")
        if isinstance(examples, list):
            samples += [(f"examples/{index}", value) for index, value in enumerate(examples)]
        if not samples:
            continue
        if any(
            isinstance(inner, Mapping) and inner.keys() & _LEADS_ON for _, inner in walk(schema)
        ):
            if registry is None:
                given: Any = document
                registry = Registry([(_HERE, given)])
            reference = f"{_HERE}#{encode_fragment(join_segments(at))}"
            validator = compile_validator({"$ref": reference}, registry=registry)
        else:
            validator = compile_validator(schema)
        faults.extend(
            _bad_sample(join_segments(at) + "/" + place, place.partition("/")[0])
            for place, value in samples
            if not validator.is_valid(value)
        )
    return tuple(faults)


def _homed(faults: Sequence[SchemaFault], bundled: Bundle) -> tuple[SchemaFault, ...]:
    """Lead faults in what was taken from other documents back to where they were written."""
    homed = []
    for fault in faults:
        segments = fault.pointer.split("/")
        origin = None
        if len(segments) > 2 and segments[1] == "$defs":
            name = segments[2].replace("~1", "/").replace("~0", "~")
            origin = bundled.origins.get(name)
        if origin is not None:
            pointer = join_segments(origin.at) + "".join("/" + part for part in segments[3:])
            fault = replace(fault, pointer=pointer, resource=origin.document)
        homed.append(fault)
    return tuple(homed)


def _bad_sample(pointer: str, keyword: str) -> SchemaFault:
    return SchemaFault(
        code=Code.SCHEMA_DEFAULT_INVALID,
        pointer=pointer,
        keyword=keyword,
        message=f"a value of `{keyword}` is not valid against the schema it stands in.",
        mend="Mend the value, or the schema.",
    )


def _no_object_root() -> SchemaFault:
    return SchemaFault(
        code=Code.SCHEMA_ROOT_NOT_OBJECT,
        keyword="type",
        message="the root of an arguments schema must say `type: object`.",
        mend="Write `type: object` at the root; every tool protocol asks for it.",
    )


def _too_complex(why: str) -> SchemaFault:
    return SchemaFault(
        code=Code.SCHEMA_TOO_COMPLEX,
        message=f"the schema is too complex: {why}",
        mend="Nest fewer compositions; say `unevaluatedProperties: false` once, at the outside.",
    )


def _uncompilable() -> SchemaFault:
    return SchemaFault(
        code=Code.SCHEMA_META_INVALID,
        message="the engine does not compile this schema.",
        mend="Take it apart until the part that is refused shows.",
    )


def _collided(collision: Collision) -> SchemaFault:
    place = collision.place
    return SchemaFault(
        code=Code.SCHEMA_ID_COLLISION,
        pointer=join_segments((*place.at, "$id")),
        keyword="$id",
        resource=place.document,
        message="another schema with a different text bears the same `$id`.",
        mend="Give each schema its own `$id`, or leave it out.",
    )
