"""One operation of an OpenAPI 3.0 or 3.1 document → the blueprint of one tool.

Path and query parameters and a JSON body become arguments, the JSON of the first success becomes
the result (``answers``), and ``fetch.http`` sends the one for the other. What has no place in a
contract is left out and said. Source: OpenAPI 3.0.3 and 3.1.0, sections 4.8.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import count
from typing import Any, Final

from sluicegate.contracts.schemas.faults import SchemaFault
from sluicegate.contracts.schemas.keywords import walk
from sluicegate.lifecycle.importing.answers import find_json, read_answers
from sluicegate.lifecycle.importing.blueprint import Blueprint, Decision, Effect, SourceError
from sluicegate.lifecycle.importing.dialects import Dialect, convert
from sluicegate.lifecycle.importing.exchanges import list_members
from sluicegate.lifecycle.importing.gathering import gather
from sluicegate.lifecycle.importing.recognising import demand_kind
from sluicegate.lifecycle.importing.servers import find_address
from sluicegate.lifecycle.importing.trimming import keep_reached
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.names import show_name, show_sentence
from sluicegate.values.pointers import Pointer, join_segments

_METHODS: Final = ("get", "post", "put", "patch", "delete")
_SCHEMAS: Final = "#/components/schemas/"
_SELF: Final = "operation.json"
_NO_PATH: Final = re.compile(r"[?#\s\x00-\x1f\x7f\\]|(?:^|/)\.{1,2}(?:/|$)")
_PLACEHOLDER: Final = re.compile(r"\{([^{}/]+)\}")
_EFFECTS: Final[Mapping[str, Effect]] = {"get": "read", "delete": "destructive"}
_TIMEOUT_S: Final = 10
_MAX_LINKS: Final = 20


@dataclass(slots=True)
class _Call:
    """The call side as it is put together."""

    properties: dict[str, JsonValue] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    query: dict[str, JsonValue] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    asks: list[Decision] = field(default_factory=list)

    def add(self, name: str, schema: JsonValue, *, required: bool) -> None:
        self.properties[name] = schema
        if required:
            self.required.append(name)


def read_operation(document: JsonValue, tool: str, *, operation: str | None) -> Blueprint:
    """Return the blueprint of ``operation``: an operationId, or ``GET /path``.

    None: the document has one operation alone. Raises: SourceError.
    """
    demand_kind(document, "openapi")
    if not isinstance(document, Mapping):
        raise SourceError("an OpenAPI document is an object.")
    reader = _Reader(document, _dialect(document))
    return reader.read(tool, *_choose(document, operation))


def _dialect(document: JsonObject) -> Dialect:
    version = document.get("openapi")
    if isinstance(version, str) and version.startswith("3.0."):
        return "openapi-3.0"
    if isinstance(version, str) and version.startswith("3.1."):
        return "2020-12"
    if "openapi" not in document and "swagger" not in document:
        raise SourceError("it is no OpenAPI document: it has no `openapi`.")
    raise SourceError("`openapi` is neither 3.0 nor 3.1; convert the document first.")


def _choose(document: JsonObject, wanted: str | None) -> tuple[str, str, JsonObject, JsonObject]:
    found = list(_operations(document))
    chosen = [each for each in found if wanted is None or wanted in _names_of(each)]
    if len(chosen) == 1:
        return chosen[0]
    if not found:
        raise SourceError("the document has no operation.")
    names = [name for each in found for name in _names_of(each)]
    if wanted is None:
        raise SourceError(
            f"the document has {len(found)} operations: name one by --operation, such as"
            f" {show_name(names[0])}."
        )
    if chosen:
        raise SourceError(
            f"{show_name(wanted)} names {len(chosen)} operations; write one as `GET /path`."
        )
    near = get_close_matches(wanted, names, n=1)
    hint = f"did you mean {show_name(near[0])}?" if near else "write its id, or `GET /path`."
    raise SourceError(f"{show_name(wanted)} names no operation; {hint}")


def _names_of(found: tuple[str, str, JsonObject, JsonObject]) -> Iterator[str]:
    """Yield what an operation may be called by, its id first."""
    method, path, _, operation = found
    if isinstance(operation.get("operationId"), str):
        yield _text(operation["operationId"])
    yield f"{method.upper()} {path}"


def _operations(document: JsonObject) -> Iterator[tuple[str, str, JsonObject, JsonObject]]:
    for path, item in _object(document.get("paths")).items():
        for method in _METHODS:
            operation = _object(item).get(method)
            if isinstance(operation, Mapping):
                yield method, path, _object(item), operation


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


class _Reader:
    __slots__ = ("_definitions", "_dialect", "_document")

    def __init__(self, document: JsonObject, dialect: Dialect) -> None:
        self._document = document
        self._dialect = dialect
        schemas = _object(_object(document.get("components")).get("schemas"))
        self._definitions = {name: self._convert(schema) for name, schema in schemas.items()}

    def read(
        self, tool: str, method: str, path: str, item: JsonObject, own: JsonObject
    ) -> Blueprint:
        call = _Call()
        for parameter in self._parameters(item, own):
            self._add_parameter(call, parameter)
        for name in _PLACEHOLDER.findall(path):
            if name not in call.properties:
                self._stand_in(call, name)
        body = self._body(own, call, method)
        arguments, sent = self._arguments(call, body)
        effect = _EFFECTS.get(method, "write")
        answers = read_answers(
            _object(own.get("responses")), effect, follow=self._follow, convert=self._convert
        )
        if not path.startswith("/") or not path.isascii() or _NO_PATH.search(path):
            # Put behind a host such a path would name another one, or more than a path.
            raise SourceError(
                f"the path {show_name(path)} must begin with `/` and hold neither query, fragment"
                " nor a character that a URL spells otherwise"
            )
        address = find_address((own, item, self._document))
        template = _PLACEHOLDER.sub(lambda found: _placeholder(found[1]), path)
        http: dict[str, JsonValue] = {
            "method": method.upper(),
            "url": address.url + template,
            "timeout_s": _TIMEOUT_S,
            **({"query": call.query} if call.query else {}),
            **({"body": sent} if sent is not None else {}),
        }
        return Blueprint(
            tool=tool,
            title=_text(own.get("summary")),
            description=_text(own.get("description")) or _text(own.get("summary")),
            effect=effect,
            arguments=self._gather(arguments),
            result=None if answers.result is None else self._gather(answers.result),
            fetch={"http": http},
            upstream=answers.upstream or None,
            errors=answers.errors,
            decisions=(
                *self._decide(effect, own, call, address.decisions),
                *answers.decisions,
            ),
        )

    # --- references and schemas ----------------------------------------------------------------

    def _follow(self, value: JsonValue) -> JsonObject:
        for _ in range(_MAX_LINKS):
            reference = _object(value).get("$ref")
            if not isinstance(reference, str):
                return _object(value)
            if not reference.startswith("#/"):
                raise self._lost(reference, "leads out of the document; bundle it first.")
            found: JsonValue = self._document
            for segment in reference.removeprefix("#/").split("/"):
                found = _object(found).get(segment.replace("~1", "/").replace("~0", "~"))
            if found is None:
                raise self._lost(reference, "leads nowhere.")
            value = found
        raise SourceError("a `$ref` of the document leads in a circle.")

    def _convert(self, schema: JsonValue) -> JsonValue:
        converted: Any = deepcopy(convert(schema, self._dialect))
        for _, found in walk(converted) if isinstance(converted, dict) else ():
            node: Any = found
            if isinstance(node, dict) and isinstance(node.get("$ref"), str):
                node["$ref"] = node["$ref"].replace(_SCHEMAS, "#/$defs/", 1)
        return converted if isinstance(converted, dict | bool) else {}

    def _gather(self, schema: JsonObject) -> JsonObject:
        whole = keep_reached({**schema, "$defs": self._definitions})
        gathered = gather(_SELF, {_SELF: whole}, dialect="2020-12")
        if isinstance(gathered, tuple):
            raise self._say(gathered[0], whole)
        return gathered

    def _say(self, fault: SchemaFault, whole: JsonObject) -> SourceError:
        """Return the fault in the words of the document, of which ``whole`` was made."""
        reference = _reference_at(whole, fault.pointer)
        if fault.code is not Code.SCHEMA_UNRESOLVED_REF or reference is None:
            return SourceError(f"at {fault.pointer or 'the root'} {fault.message}")
        spelled = reference.replace("#/$defs/", _SCHEMAS, 1)
        name = spelled.removeprefix(_SCHEMAS)
        near = get_close_matches(name, self._definitions, n=1)
        hint = f" Did you mean `{_SCHEMAS}{show_name(near[0])}`?" if near else ""
        if not spelled.startswith(_SCHEMAS):
            hint = f" Write a pointer to a schema below `{_SCHEMAS}`."
        return self._lost(spelled, f"leads to no schema.{hint}")

    def _lost(self, reference: str, why: str) -> SourceError:
        at = next((at for at, each in _references(self._document) if each == reference), None)
        return SourceError(f"the `$ref` {show_sentence(reference)} {why}", at)

    def _json_of(self, holder: JsonObject) -> JsonValue:
        """Return the schema of the JSON among media types; None where there is none."""
        found = find_json(holder)
        return None if found is None else self._convert(found.schema)

    # --- the call side -------------------------------------------------------------------------

    def _parameters(self, item: JsonObject, own: JsonObject) -> list[JsonObject]:
        found: dict[tuple[str, str], JsonObject] = {}
        for holder in (item, own):
            listed = holder.get("parameters")
            for each in listed if isinstance(listed, list) else ():
                parameter = self._follow(each)
                found[_text(parameter.get("name")), _text(parameter.get("in"))] = parameter
        return list(found.values())

    def _add_parameter(self, call: _Call, parameter: JsonObject) -> None:
        name, place = _text(parameter.get("name")), _text(parameter.get("in"))
        schema = self._convert(parameter.get("schema", {}))
        if place == "path" and not self._is_scalar(schema):
            self._stand_in(call, name)
            return
        if place not in ("path", "query") or name in call.properties or not self._is_scalar(schema):
            call.left_out.append(f"{place} parameter {show_name(name)}")
            return
        described = _text(parameter.get("description"))
        if described and isinstance(schema, Mapping) and "$ref" not in schema:
            schema = {"description": described, **schema}
        is_path = place == "path"
        call.add(name, schema, required=is_path or parameter.get("required") is True)
        if not is_path:
            call.query[name] = _placeholder(name)

    def _is_scalar(self, schema: JsonValue) -> bool:
        """Whether one segment, or one value of a query, can hold it."""
        for _ in range(_MAX_LINKS):
            reference = _object(schema).get("$ref")
            if not isinstance(reference, str):
                break
            schema = self._definitions.get(reference.removeprefix("#/$defs/"), {})
        return _object(schema).get("type") in ("string", "integer", "number")

    def _stand_in(self, call: _Call, name: str) -> None:
        """A segment of the path must come from somewhere, whatever the document says of it."""
        call.add(name, {"type": "string"}, required=True)
        call.asks.append(
            Decision(
                at="arguments",
                question=f"arguments.schema: path parameter {show_name(name)} is no declared text"
                " or number; a text stands for it",
            )
        )

    def _body(self, own: JsonObject, call: _Call, method: str) -> JsonValue:
        """Return the schema of the body that is sent; what cannot be sent is left out and said."""
        request = self._follow(own.get("requestBody", {}))
        body = self._json_of(request)
        if body is None and request.get("content"):
            call.left_out.append("a request body that is no JSON")
        if body is not None and method == "get":
            call.left_out.append("the JSON body, because a GET has none")
            return None
        if body in ({}, True):
            call.left_out.append("the JSON body, because no schema describes it")
            return None
        return body

    def _arguments(self, call: _Call, body: JsonValue) -> tuple[JsonObject, JsonValue]:
        """Return the arguments schema, and what ``http.body`` is made of."""
        sent: dict[str, JsonValue] = {}
        if body is not None:
            if not call.properties:
                return self._shape(body), "arguments"
            members, has_more = list_members(body, self._definitions)
            if not members:
                call.left_out.append("the JSON body, because its schema names no member")
            else:
                name = next(each for each in _body_names() if each not in call.properties)
                call.add(name, body, required=True)
                sent = {member: join_segments((name, member)) for member in members}
                if has_more:
                    call.left_out.append("members of the JSON body that its schema does not name")
        return {
            "type": "object",
            "properties": call.properties,
            "required": call.required,
            "additionalProperties": False,
        }, sent or None

    def _shape(self, schema: JsonValue) -> JsonObject:
        reference = _object(schema).get("$ref")
        if isinstance(reference, str):
            return _object(self._definitions.get(reference.removeprefix("#/$defs/"), {}))
        return _object(schema)

    # --- what is open --------------------------------------------------------------------------

    def _decide(
        self, effect: Effect, own: JsonObject, call: _Call, of_address: tuple[Decision, ...]
    ) -> Iterator[Decision]:
        if effect == "destructive":
            yield Decision(
                at="effect",
                question="effect: a DELETE destroys; write its `evidence`, or another effect",
                blocks=True,
            )
        yield from of_address
        if own.get("security", self._document.get("security")):
            yield Decision(at="fetch", question="fetch.http.credential: the operation asks for one")
        yield from call.asks
        if call.left_out:
            yield Decision(at="fetch", question=f"fetch.http: left out: {', '.join(call.left_out)}")


def _body_names() -> Iterator[str]:
    yield "body"
    yield from (f"body_{number}" for number in count(2))


def _reference_at(schema: JsonObject, pointer: str) -> str | None:
    """Return the ``$ref`` that a fault at ``pointer`` speaks of."""
    found: Any = schema
    for segment in Pointer.parse(pointer).segments:
        if isinstance(found, Mapping):
            found = found.get(segment)
        elif isinstance(found, list) and segment.isdigit() and int(segment) < len(found):
            found = found[int(segment)]
    reference = found.get("$ref") if isinstance(found, Mapping) else found
    return reference if isinstance(reference, str) else None


def _references(value: JsonValue, at: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield each ``$ref`` of the document, with the pointer of its place."""
    if isinstance(value, Mapping):
        reference = value.get("$ref")
        if isinstance(reference, str):
            yield join_segments((*at, "$ref")), reference
        for name, inner in value.items():
            yield from _references(inner, (*at, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _references(inner, (*at, str(index)))


def _placeholder(name: str) -> str:
    return "{" + join_segments((name,)) + "}"


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
