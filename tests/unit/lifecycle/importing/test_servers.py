"""Requests go to a server that the document names, and a host is never made up."""

from __future__ import annotations

from typing import Any

import pytest

from sluicegate.lifecycle.importing.servers import Address, find_address

pytestmark = pytest.mark.requirement("LIF-6")

REGION = {
    "url": "https://{region}.shop.example/v1",
    "variables": {"region": {"default": "eu", "enum": ["eu", "us"]}},
}
PLAIN = {"url": "https://api.example/v1"}
OTHER = {"url": "http://test.example:8080"}
OF, ALSO = "fetch.http.url: it is that of", "the document also names"
OPEN = {"url": "https://{region}.shop.example/v1"}


def find(*servers: Any) -> Address:
    return find_address(({}, {}, {"servers": list(servers)}))


@pytest.mark.parametrize(
    ("servers", "url", "asked"),
    [
        ([PLAIN], "https://api.example/v1", []),
        ([{"url": "https://api.example/"}], "https://api.example", []),
        (
            [REGION],
            "https://eu.shop.example/v1",
            ["fetch.http.url: region of the server is eu by default; or us"],
        ),
        (
            [{"url": "https://a.example:{port}", "variables": {"port": {"default": 8443}}}],
            "https://a.example:8443",
            ["fetch.http.url: port of the server is 8443 by default"],
        ),
        (
            [PLAIN, OTHER, {"url": "/v2"}],
            "https://api.example/v1",
            [
                f"{OF} https://api.example/v1; {ALSO} http://test.example:8080, /v2",
            ],
        ),
        (
            [OPEN, OTHER],
            "http://test.example:8080",
            [
                f"{OF} http://test.example:8080; {ALSO} https://{{region}}.shop.example/v1",
            ],
        ),
    ],
    ids=["one", "a closing slash", "a variable", "a number", "several", "the first that is whole"],
)
def test_the_first_server_with_an_origin_counts_and_the_others_are_told(
    servers: list[Any], url: str, asked: list[str]
) -> None:
    found = find(*servers)
    assert (found.url, [each.question for each in found.decisions]) == (url, asked)
    assert not any(each.blocks for each in found.decisions)


@pytest.mark.parametrize(
    ("servers", "path", "said"),
    [
        ([], "", "the document names no server;"),
        (["https://api.example"], "", "the document names no server;"),
        ([{"url": "/v1/"}], "/v1", "/v1/ is relative to where the document lies;"),
        ([{"url": ""}], "", "an empty URL is relative to where the document lies;"),
        ([{"description": "none"}], "", "an empty URL is relative to where the document lies;"),
        ([OPEN], "/v1", "no constant origin comes of https://{region}.shop.example/v1;"),
        (
            [{"url": "https://{h}.example", "variables": {"h": {"default": "evil.example/x"}}}],
            "",
            "no constant origin comes of https://{h}.example;",
        ),
        ([{"url": "ftp://a.example/v1"}], "/v1", "no constant origin comes of ftp://a.example/v1;"),
        (
            [{"url": "https://me@a.example"}],
            "",
            "no constant origin comes of https://me@a.example;",
        ),
    ],
    ids=str,
)
def test_without_an_origin_there_is_a_path_alone_and_a_question_that_no_default_answers(
    servers: list[Any], path: str, said: str
) -> None:
    found = find(*servers)
    (decision,) = found.decisions
    assert (found.url, decision.at, decision.blocks) == (path, "fetch", True)
    assert decision.question.startswith(f"fetch.http.url: {said} write the scheme and host")


def test_the_operation_comes_before_its_path_and_that_before_the_document() -> None:
    own, item, document = ({"servers": [{"url": f"https://{name}.example"}]} for name in "abc")
    assert find_address((own, item, document)).url == "https://a.example"
    assert find_address(({}, item, document)).url == "https://b.example"
    assert find_address(({"servers": []}, {}, document)).url == "https://c.example"
