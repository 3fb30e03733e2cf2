"""What a document declares of statuses and media types, the contract that is drafted says."""

from __future__ import annotations

from typing import Any

import pytest

from sluicegate.lifecycle.importing.answers import Answers, read_answers
from sluicegate.lifecycle.importing.blueprint import Effect

pytestmark = pytest.mark.requirement("LIF-6")

ITEM = {"type": "object", "properties": {"id": {"type": "string"}}}
BARE: dict[str, Any] = {"description": "Done."}


def of(kind: str, schema: Any = None) -> dict[str, Any]:
    return {"content": {kind: {} if schema is None else {"schema": schema}}}


JSON = of("application/json", ITEM)
OTHER = of("application/json", {"type": "object"})


def read(responses: dict[str, Any], effect: Effect = "read") -> Answers:
    return read_answers(responses, effect, follow=lambda each: each, convert=lambda each: each)  # type: ignore[arg-type, return-value]


def questions(answers: Answers) -> str:
    return "\n".join(each.question for each in answers.decisions)


@pytest.mark.parametrize(
    ("responses", "upstream", "asked"),
    [
        ({"200": JSON}, {}, ""),
        ({"201": JSON}, {"success": [201]}, ""),
        ({"202": JSON, "200": JSON}, {"success": [200, 202]}, ""),
        ({"200": JSON, "204": BARE}, {}, "other answers come with 204, and as it stands they are"),
        ({"200": JSON, "201": OTHER}, {}, "other answers come with 201, and as it stands they are"),
        ({"201": JSON, "200": BARE}, {"success": [201]}, "other answers come with 200"),
        ({"2XX": JSON}, {"success": [200, 201, 202, 203]}, "2XX is declared; 200, 201, 202, 203"),
        (
            {"2XX": JSON, "202": BARE},
            {"success": [200, 201, 203]},
            "2XX is declared; 200, 201, 203",
        ),
        ({"204": BARE}, {"text": "plain", "success": [204]}, "204 is declared without content"),
        ({"200": BARE}, {"text": "plain"}, "200 is declared without content"),
        (
            {"2xx": BARE},
            {"text": "plain", "success": [200, 201, 202, 203, 204]},
            "2xx is declared without content",
        ),
        (
            {"200": of("text/csv"), "204": BARE},
            {"text": "plain", "content_type": ["text/csv"], "success": [200, 204]},
            "204 is declared without content",
        ),
        ({"default": JSON}, {}, "no success is declared, so 200 alone is one"),
        ({"default": BARE}, {"text": "plain"}, "no success is declared, so 200 alone is one"),
        ({}, {"text": "plain"}, "no success is declared, so 200 alone is one"),
    ],
    ids=str,
)
def test_the_declared_successes_are_drafted_and_what_differs_is_asked_about(
    responses: dict[str, Any], upstream: dict[str, Any], asked: str
) -> None:
    found = read(responses)
    assert found.upstream == upstream
    assert asked in questions(found)
    if not asked:
        assert "success" not in questions(found)


@pytest.mark.parametrize(
    ("answer", "kinds", "asked"),
    [
        (of("application/json; charset=utf-8", ITEM), None, ""),
        (of("application/vnd.shop+json", ITEM), ["application/vnd.shop+json"], ""),
        ({"content": {**of("text/html")["content"], **JSON["content"]}}, None, ""),
        (of("*/*", ITEM), None, "*/* is declared, and taken for application/json"),
        (of("*/*", {"type": "string"}), None, "*/* is declared, and taken for text/plain"),
        (of("text/plain; charset=utf-8"), None, ""),
        (of("TEXT/CSV"), ["text/csv"], ""),
        (of("application/atom+xml"), ["application/atom+xml"], ""),
        (of("image/png"), None, "image/png is declared, which is no text"),
    ],
    ids=str,
)
def test_the_declared_media_type_is_drafted_where_it_is_not_what_a_contract_takes(
    answer: dict[str, Any], kinds: list[str] | None, asked: str
) -> None:
    found = read({"200": answer})
    assert found.upstream.get("content_type") == kinds
    assert asked in questions(found)
    assert asked or "content_type" not in questions(found)


NAMED = {
    "400": "BAD_REQUEST",
    "404": "NOT_FOUND",
    "409": "CONFLICT",
    "410": "GONE",
    "412": "PRECONDITION_FAILED",
    "422": "UNPROCESSABLE",
    "423": "LOCKED",
    "429": "TOO_MANY_REQUESTS",
}
FAILING = ("500", "502", "503", "504", "5XX")


@pytest.mark.parametrize("effect", ["read", "write", "destructive"])
def test_errors_with_a_plain_name_get_it(effect: Effect) -> None:
    found = read({"200": JSON, **dict.fromkeys(NAMED, BARE)}, effect)
    assert found.upstream["status"] == NAMED
    assert found.errors == {code: code == "TOO_MANY_REQUESTS" for code in NAMED.values()}
    assert "errors: after which of them the agent may try again" in questions(found)
    assert "not drafted" not in questions(found)


@pytest.mark.parametrize("status", FAILING)
@pytest.mark.requirement("RET-2")
def test_a_read_that_fails_is_unavailable_and_what_became_of_a_write_is_never_claimed(
    status: str,
) -> None:
    responses = {"200": JSON, status: BARE}
    found = read(responses)
    assert found.upstream["status"] == {status.lower(): "UPSTREAM_UNAVAILABLE"}
    assert found.errors == {"UPSTREAM_UNAVAILABLE": True}
    for effect in ("write", "destructive"):
        written = read(responses, effect)
        assert (written.upstream, written.errors) == ({}, {})
        assert (
            f"upstream.status: a write that is answered {status.lower()} may have been done"
            in questions(written)
        )


@pytest.mark.parametrize("status", ["4XX", "418", "302", "501", "default"])
def test_an_error_without_a_plain_name_is_asked_about(status: str) -> None:
    found = read({"200": JSON, status: BARE})
    assert (found.upstream, found.errors) == ({}, {})
    assert f"declared and not drafted: {status.lower()}" in questions(found)


@pytest.mark.parametrize("status", ["401", "403"])
@pytest.mark.requirement("RET-2")
def test_a_refused_credential_stays_one(status: str) -> None:
    found = read({"200": JSON, status: BARE})
    assert (found.upstream, "not drafted" in questions(found)) == ({}, False)
