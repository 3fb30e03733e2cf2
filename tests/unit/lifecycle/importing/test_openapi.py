"""An operation of OpenAPI becomes what it sends and gets; what it cannot send is said."""

from __future__ import annotations

from typing import Any

import pytest

from sluicegate.contracts.loading import load
from sluicegate.lifecycle.importing.blueprint import Blueprint, SourceError
from sluicegate.lifecycle.importing.drafts import Draft, draft
from sluicegate.lifecycle.importing.openapi import read_operation

pytestmark = pytest.mark.requirement("LIF-6")

ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "title": "Error"}
ITEM = {"type": "object", "properties": {"id": {"type": "string"}}, "title": "Item"}
ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}


def answer(schema: Any) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def read(
    method: str = "get",
    *,
    path: str = "/items/{id}",
    parameters: Any = (ID,),
    responses: Any = None,
    schemas: Any = None,
    servers: Any = ({"url": "https://api.example"},),
    **operation: Any,
) -> Blueprint:
    own = {
        "parameters": list(parameters),
        "responses": responses or {"200": answer(ITEM)},
        **operation,
    }
    document = {
        "openapi": "3.1.0",
        "servers": list(servers),
        "paths": {path: {method: own}},
        "components": {"schemas": schemas or {}},
    }
    return read_operation(document, "items", operation=None)


def questions(blueprint: Blueprint) -> str:
    return "\n".join(each.question for each in blueprint.decisions)


NOTHING: dict[str, Any] = {"description": "Made."}


@pytest.mark.parametrize(
    ("responses", "title", "asked"),
    [
        ({"200": answer(ITEM), "default": answer(ERROR)}, "Item", ""),
        ({"201": NOTHING, "default": answer(ERROR)}, None, ""),
        ({"204": NOTHING, "4XX": answer(ERROR)}, None, ""),
        ({"206": answer(ITEM), "default": answer(ERROR)}, "Item", ""),
        ({"2XX": answer(ITEM), "default": answer(ERROR)}, "Item", ""),
        ({"404": answer(ERROR)}, None, ""),
        ({"default": answer(ITEM)}, "Item", "it is that of `default`, which may tell of errors"),
        ({"200": answer(ITEM), "202": NOTHING}, "Item", "that of 200; other answers come with 202"),
        ({"200": NOTHING, "201": answer(ITEM)}, "Item", "that of 201; other answers come with 200"),
    ],
    ids=str,
)
def test_the_result_is_the_answer_of_a_success_and_never_that_of_an_error(
    responses: Any, title: str | None, asked: str
) -> None:
    found = read(responses=responses)
    assert (found.result or {}).get("title") == title
    assert ("text" in (found.upstream or {})) == (title is None)
    if asked:
        assert asked in questions(found)
    else:
        assert "result.schema:" not in questions(found)


PARTS = {
    "a": {"type": "object", "properties": {"a": {"type": "integer"}}},
    "both": {
        "allOf": [{"$ref": "#/components/schemas/a"}],
        "properties": {"b/c": {"type": "integer"}},
    },
    "far": {"$ref": "#/components/schemas/both"},
    "loop": {"allOf": [{"$ref": "#/components/schemas/loop"}], "properties": {"l": {}}},
}
BOTH = {"a": "/body/a", "b/c": "/body/b~1c"}


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({"$ref": "#/components/schemas/both"}, BOTH),
        ({"$ref": "#/components/schemas/far"}, BOTH),
        ({"oneOf": [{"$ref": "#/components/schemas/a"}, {"properties": {"b/c": {}}}]}, BOTH),
        ({"$ref": "#/components/schemas/loop"}, {"l": "/body/l"}),
        ({"if": {"properties": {"a": {}}}, "then": {"properties": {"b/c": {}}}}, BOTH),
    ],
    ids=["allOf", "a reference to a reference", "oneOf", "recursive", "if"],
)
def test_every_member_that_a_body_may_have_is_sent(schema: Any, sent: dict[str, str]) -> None:
    found = read("put", requestBody=answer(schema), schemas=PARTS)
    fetch: Any = found.fetch
    assert {name: fetch["http"]["body"][name] for name in sorted(sent)} == sent
    assert sorted(fetch["http"]["body"]) == sorted(sent)
    assert found.arguments["required"] == ["id", "body"]
    assert "left out" not in questions(found)


@pytest.mark.parametrize(
    ("method", "body", "said"),
    [
        ("get", answer(ITEM), "the JSON body, because a GET has none"),
        ("put", {"content": {"multipart/form-data": {}}}, "a request body that is no JSON"),
        ("put", answer({}), "the JSON body, because no schema describes it"),
        ("put", answer({"type": "array"}), "the JSON body, because its schema names no member"),
        (
            "put",
            answer({**ITEM, "additionalProperties": {"type": "string"}}),
            "members of the JSON body that its schema does not name",
        ),
    ],
    ids=["GET", "multipart", "no schema", "array", "map beside members"],
)
def test_what_cannot_be_sent_is_left_out_and_said(method: str, body: Any, said: str) -> None:
    found = read(method, requestBody=body)
    properties: Any = found.arguments["properties"]
    fetch: Any = found.fetch
    assert f"left out: {said}" in questions(found)
    assert ("body" in fetch["http"]) == ("body" in properties) == (said.startswith("members"))


def test_a_parameter_called_body_and_the_body_are_two_arguments() -> None:
    named = {"name": "body", "in": "query", "schema": {"type": "integer"}}
    found = read("put", parameters=(ID, named), requestBody=answer(ITEM))
    fetch: Any = found.fetch
    assert fetch["http"]["query"] == {"body": "{/body}"}
    assert fetch["http"]["body"] == {"id": "/body_2/id"}
    assert found.arguments["required"] == ["id", "body_2"]


@pytest.mark.parametrize(
    "parameters",
    [(), ({**ID, "schema": {"type": "array"}},), ({**ID, "schema": {"$ref": "#/nowhere"}},)],
    ids=["undeclared", "a list", "no schema"],
)
def test_a_placeholder_of_the_path_is_always_an_argument(parameters: Any) -> None:
    found = read(parameters=parameters)
    assert found.arguments["properties"] == {"id": {"type": "string"}}
    assert "path parameter id is no declared text or number" in questions(found)


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("other.yaml#/components/parameters/id", "leads out of the document"),
        ("https://api.example/p.json", "leads out of the document"),
        ("#/components/parameters/absent", "leads nowhere"),
    ],
)
@pytest.mark.parametrize("place", ["parameters", "requestBody", "responses"])
def test_a_reference_that_cannot_be_followed_is_refused_and_named(
    reference: str, said: str, place: str
) -> None:
    given: Any = {"$ref": reference}
    given = {"parameters": [given], "responses": {"200": given}}.get(place, given)
    with pytest.raises(SourceError, match=said):
        read("put", **{place: given})


@pytest.mark.parametrize("side", ["result", "arguments"])
def test_only_what_an_operation_refers_to_comes_with_it(side: str) -> None:
    used = {"type": "object", "properties": {"below": {"$ref": "#/components/schemas/below"}}}
    schemas = {"used": used, "below": ITEM, "unused": {"$ref": "#/components/schemas/nowhere"}}
    given = answer({"$ref": "#/components/schemas/used"})
    found = read("put", responses={"200": given}, requestBody=given, schemas=schemas)
    kept: Any = getattr(found, side)
    assert sorted(kept.get("$defs", {})) == ["below", "used"]


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        (
            "#/components/schemas/Itm",
            "leads to no schema. Did you mean `#/components/schemas/Item`",
        ),
        ("#/components/schemas/Item/x", "leads to no schema."),
        ("#/components/responses/Item", "Write a pointer to a schema below `#/components/schemas"),
    ],
)
def test_a_reference_that_leads_to_no_schema_is_told_as_it_stands_and_where(
    reference: str, said: str
) -> None:
    responses = {"200": answer({"type": "array", "items": {"$ref": reference}})}
    with pytest.raises(SourceError) as caught:
        read(responses=responses, schemas={"Item": ITEM})
    assert f"the `$ref` {reference} " in str(caught.value)
    assert said in str(caught.value)
    assert caught.value.pointer == (
        "/paths/~1items~1{id}/get/responses/200/content/application~1json/schema/items/$ref"
    )


@pytest.mark.parametrize(
    ("paths", "wanted", "said"),
    [
        ({}, None, "the document has no operation."),
        ({"/a": {"summary": "none"}}, "a", "the document has no operation."),
        (
            {"/a": {"get": {"operationId": "getA"}, "put": {}}},
            None,
            "by --operation, such as getA.",
        ),
        ({"/a": {"get": {"operationId": "getA"}}}, "getB", "did you mean getA?"),
        ({"/a": {"get": {}}}, "GET a", "did you mean GET /a?"),
        ({"/a": {"get": {}}}, "zzz", "write its id, or `GET /path`."),
        (
            {"/a": {"get": {"operationId": "same"}, "put": {"operationId": "same"}}},
            "same",
            "names 2 operations; write one as `GET /path`.",
        ),
    ],
    ids=["no path", "no method", "several", "near id", "near path", "nothing near", "one id twice"],
)
def test_an_operation_that_is_not_found_is_told_with_what_there_is(
    paths: Any, wanted: str | None, said: str
) -> None:
    with pytest.raises(SourceError) as caught:
        read_operation({"openapi": "3.1.0", "paths": paths}, "items", operation=wanted)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("method", "effect"),
    [("get", "read"), ("put", "write"), ("post", "write"), ("delete", "destructive")],
)
def test_the_method_says_the_effect_and_a_delete_never_loads_undecided(
    method: str, effect: str
) -> None:
    found = read(method)
    blocking = [each.at for each in found.decisions if each.blocks]
    assert (found.effect, blocking) == (effect, ["effect"] if method == "delete" else [])


@pytest.mark.parametrize(
    "path", [".evil.example/x", ":8443/x", "@evil.example/x", "x", "/x?admin=true", "/x#f", "/../x"]
)
def test_a_path_that_would_not_stay_behind_its_host_is_refused(path: str) -> None:
    with pytest.raises(SourceError, match="must begin with `/`"):
        read_operation(
            {
                "openapi": "3.1.0",
                "servers": [{"url": "https://api.example"}],
                "paths": {path: {"get": {"operationId": "a", "responses": {}}}},
            },
            "t",
            operation=None,
        )


@pytest.mark.parametrize("path", ["/a%zz/{id}", "/x/{id}/{}", "/{id}/{{id}}"])
def test_a_draft_that_does_not_load_is_not_said_to(path: str) -> None:
    parameter = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    blueprint = read_operation(
        {
            "openapi": "3.1.0",
            "servers": [{"url": "https://api.example"}],
            "paths": {path: {"get": {"parameters": [parameter], "responses": {}}}},
        },
        "t",
        operation=None,
    )
    made = draft(blueprint, owner="me", accept_defaults=True)
    assert isinstance(made, Draft)
    found = load({f"t/{name}": raw for name, raw in made.files.items()}, resolve=None)
    assert (made.loads, isinstance(found, tuple)) == (False, True)
