"""One operation of an OpenAPI 3.0 or 3.1 document → the blueprint of one tool.

Path and query parameters and a JSON body become arguments, the JSON of the first success becomes
the result (of ``default`` only where no success is declared), and ``fetch.http`` sends the one for
the other. What has no place in a contract is left out and said.
Source: OpenAPI 3.0.3 and 3.1.0, sections 4.8.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from sluicegate.contracts.schemas.keywords import walk
from sluicegate.lifecycle.importing.blueprint import Blueprint, Decision, SourceError
from sluicegate.lifecycle.importing.dialects import Dialect, convert
from sluicegate.lifecycle.importing.exchanges import list_members, list_successes
from sluicegate.lifecycle.importing.gathering import gather
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.names import show_name
from sluicegate.values.pointers import join_segments

_METHODS: Final = ("get", "post", "put", "patch", "delete")
_SCHEMAS: Final = "#/components/schemas/"
_SELF: Final = "operation.json"
_NO_SERVER: Final = "https://api.example"
_PLACEHOLDER: Final = re.compile(r"\{([^{}/]+)\}")
_ORIGIN: Final = re.compile(r"https?://[^/?#{}\s@]+(/[^?#{}]*)?")
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
    raise SourceError("`openapi` is neither 3.0 nor 3.1; convert the document first.")


def _choose(document: JsonObject, wanted: str | None) -> tuple[str, str, JsonObject, JsonObject]:
    found = list(_operations(document))
    chosen = [
        each
        for each in found
        if wanted is None or wanted in (each[3].get("operationId"), f"{each[0].upper()} {each[1]}")
    ]
    if len(chosen) == 1:
        return chosen[0]
    if wanted is None:
        raise SourceError(f"the document has {len(found)} operations: name one by --operation.")
    raise SourceError(f"{show_name(wanted)} names no operation; write its id, or `GET /path`.")


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
        result = self._result(own, call)
        url, has_server = self._url(path, item, own)
        http: dict[str, JsonValue] = {"method": method.upper(), "url": url, "timeout_s": _TIMEOUT_S}
        http.update({"query": call.query} if call.query else {})
        http.update({"body": sent} if sent is not None else {})
        decisions = self._decide(
            method, own, call, has_server=has_server, has_result=result is not None
        )
        return Blueprint(
            tool=tool,
            title=_text(own.get("summary")),
            description=_text(own.get("description")) or _text(own.get("summary")),
            effect="read" if method == "get" else "write",
            arguments=self._gather(arguments),
            result=None if result is None else self._gather(result),
            fetch={"http": http},
            upstream={"text": "plain"} if result is None else None,
            decisions=tuple(decisions),
        )

    # --- references and schemas ----------------------------------------------------------------

    def _follow(self, value: JsonValue) -> JsonObject:
        for _ in range(_MAX_LINKS):
            reference = _object(value).get("$ref")
            if not isinstance(reference, str):
                return _object(value)
            if not reference.startswith("#/"):
                raise SourceError(
                    f"the `$ref` {show_name(reference)} leads out of the document; bundle it first."
                )
            found: JsonValue = self._document
            for segment in reference.removeprefix("#/").split("/"):
                found = _object(found).get(segment.replace("~1", "/").replace("~0", "~"))
            if found is None:
                raise SourceError(f"the `$ref` {show_name(reference)} leads nowhere.")
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
        gathered = gather(_SELF, {_SELF: {**schema, "$defs": self._definitions}}, dialect="2020-12")
        if isinstance(gathered, tuple):
            raise SourceError(f"at {gathered[0].pointer or 'the root'} {gathered[0].message}")
        return gathered

    def _json_of(self, holder: JsonObject) -> JsonValue:
        """Return the schema of the JSON among media types; None where there is none."""
        for name, media in _object(holder.get("content")).items():
            kind = name.partition(";")[0].strip().lower()
            if kind == "application/json" or kind.endswith("+json"):
                return self._convert(_object(media).get("schema", {}))
        return None

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

    def _url(self, path: str, item: JsonObject, own: JsonObject) -> tuple[str, bool]:
        servers = next(
            (found for holder in (own, item, self._document) if (found := holder.get("servers"))),
            (),
        )
        first = servers[0] if isinstance(servers, list) else {}
        server = _text(_object(first).get("url"))
        has_server = _ORIGIN.fullmatch(server) is not None
        template = _PLACEHOLDER.sub(lambda found: _placeholder(found[1]), path)
        return (server if has_server else _NO_SERVER).rstrip("/") + template, has_server

    # --- the answer, and what is open ----------------------------------------------------------

    def _result(self, own: JsonObject, call: _Call) -> JsonObject | None:
        """Return the schema of the first success that answers with JSON; None where none does."""
        responses = _object(own.get("responses"))
        successes = list_successes(responses)
        found = {
            status: self._json_of(self._follow(responses[status]))
            for status in successes or ("default",)
            if status in responses
        }
        chosen = next((each for each in found if isinstance(found[each], Mapping)), None)
        if chosen is None:
            return None
        others = [each for each in found if found[each] != found[chosen]]
        if chosen == "default":
            self._ask_of_result(
                call, "no success is declared; it is that of `default`, which may tell of errors"
            )
        elif others:
            self._ask_of_result(
                call, f"it is that of {chosen}; other answers come with {', '.join(others)}"
            )
        return _object(found[chosen])

    def _ask_of_result(self, call: _Call, text: str) -> None:
        call.asks.append(Decision(at="result", question=f"result.schema: {text}"))

    def _decide(
        self, method: str, own: JsonObject, call: _Call, *, has_server: bool, has_result: bool
    ) -> Iterator[Decision]:
        if method == "delete":
            yield Decision(
                at="effect",
                question="effect: a DELETE destroys; write `destructive` and its `evidence`",
            )
        if not has_server:
            yield Decision(
                at="fetch", question="fetch.http.url: the document names no server with an origin"
            )
        if own.get("security", self._document.get("security")):
            yield Decision(at="fetch", question="fetch.http.credential: the operation asks for one")
        yield from call.asks
        if call.left_out:
            yield Decision(at="fetch", question=f"fetch.http: left out: {', '.join(call.left_out)}")
        yield Decision(
            at="fetch" if has_result else "upstream",
            question="upstream.status: which statuses become which codes of `errors`",
        )


def _body_names() -> Iterator[str]:
    yield "body"
    yield from (f"body_{number}" for number in count(2))


def _placeholder(name: str) -> str:
    return "{" + join_segments((name,)) + "}"


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
