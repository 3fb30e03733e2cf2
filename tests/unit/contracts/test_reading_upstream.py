"""What an upstream answers with: carriers, texts, maps; each rule is told at its place."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.contracts.folders import (
    COMMAND,
    HTTP,
    SSH,
    TABLE,
    UPSTREAM_KEYS,
    assert_refused,
    contract,
    problems,
)

from sluicegate.contracts.contract import (
    HostFetch,
    MapRule,
    TextRule,
)
from sluicegate.values.pointers import Pointer


def p(text: str) -> Pointer:
    return Pointer.parse(text)


GROUPS = "(?P<project_id>a)(?P<state>b)(?P<observed_at>c)"


# changes, the pointer of the one problem, a word of its message
REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    # upstream
    "status to an undeclared code": (
        {"upstream": {"status": {"404": "NOT_FOND"}}},
        "/upstream/status/404",
        "not declared",
    ),
    "no status": ({"upstream": {"status": {"4x4": "NOT_FOUND"}}}, "/upstream/status/4x4", "not a"),
    "success that is an error": (
        {"upstream": {"success": [200, 404], "status": {"404": "NOT_FOUND"}}},
        "/upstream/status/404",
        "a success and an error",
    ),
    "exit code": ({"upstream": {"exit": {"-1": "NOT_FOUND"}}}, "/upstream/exit/-1", "not an exit"),
    "no success": ({"upstream": {"success": []}}, "/upstream/success", "admits nothing"),
    "two carriers": ({"upstream": {"envelope": True, "mcp": True}}, "/upstream", "exclude"),
    "tool_failed of nothing": (
        {"upstream": {"tool_failed": "NOT_FOUND"}},
        "/upstream/tool_failed",
        "MCP",
    ),
    "media type": ({"upstream": {"content_type": "json"}}, "/upstream/content_type", "media type"),
    "expression with look-ahead": (
        {"upstream": {"text": {"extract": "(?=a)(?P<b>c)"}}},
        "/upstream/text/extract",
        "cannot be used",
    ),
    "expression without groups": (
        {"upstream": {"text": {"extract": "abc"}}},
        "/upstream/text/extract",
        "names no group",
    ),
    "a group that the data lacks": (
        {"upstream": {"text": {"extract": f"{GROUPS}(?P<stat>[a-z]+)"}}},
        "/upstream/text/extract",
        "`/stat` leads to nothing",
    ),
    "a required member without a group": (
        {"upstream": {"text": {"extract": "(?P<project_id>a)(?P<observed_at>b)"}}},
        "/upstream/text/extract",
        "no group is named `state`",
    ),
    "a group for a number": (
        {"upstream": {"text": {"extract": f"{GROUPS}(?P<count>[0-9])"}}},
        "/upstream/text/extract",
        "the group `count` is a text",
    ),
    "a rule for no group": (
        {
            "upstream": {
                "text": {"extract": "(?P<p>a)(?P<s>b)"},
                "map": {"project_id": "/p", "state": "/s", "observed_at": "/t"},
            }
        },
        "/upstream/text/extract",
        "no group is named `t`",
    ),
    "a port that does not exist": (
        {"fetch": {"http": {**HTTP, "url": "https://ci.example:99999/a"}}},
        "/fetch/http/url",
        "a port that does not exist",
    ),
    "a URL without a host": (
        {"fetch": {"http": {**HTTP, "url": "https://:80/a"}}},
        "/fetch/http/url",
        "names no host",
    ),
    "the name of no tool": ({"tool": "unknown"}, "/tool", "a tool that does not exist"),
    "a number in quotation marks": ({"sluicegate": "1"}, "/sluicegate", "must be the integer 1;"),
    "plain text as data": ({"upstream": {"text": "plain"}}, "/result", "untrusted text alone"),
    "map of an unknown member": (
        {"upstream": {"map": {**TABLE, "stat": "/x"}}},
        "/upstream/map/stat",
        "leads to nothing",
    ),
    "map without a required member": (
        {"upstream": {"map": {"project_id": "/p", "state": "/s"}}},
        "/upstream/map",
        "`/observed_at`",
    ),
    "map to a value that never fits": (
        {"upstream": {"map": {**TABLE, "state": {"at": "/s", "values": {"A": "faild"}}}}},
        "/upstream/map/state/values/A",
        "does not fit",
    ),
    "map to another that never fits": (
        {
            "upstream": {
                "map": {**TABLE, "state": {"at": "/s", "values": {"A": "failed"}, "other": 1}}
            }
        },
        "/upstream/map/state/other",
        "does not fit",
    ),
    "map with an unknown normaliser": (
        {"upstream": {"map": {**TABLE, "count": {"at": "/c", "convert": "int"}}}},
        "/upstream/map/count/convert",
        "one of",
    ),
    "map of every item without members": (
        {"upstream": {"map": {**TABLE, "steps": {"at": "/c", "every": True}}}},
        "/upstream/map/steps",
        "without `members`",
    ),
    "map of an unknown member of items": (
        {
            "upstream": {
                "map": {
                    **TABLE,
                    "steps": {"at": "/c", "every": True, "members": {"name": "/n", "x": "/y"}},
                }
            }
        },
        "/upstream/map/steps/members/x",
        "leads to nothing",
    ),
    "wild rule": (
        {"upstream": {"map": {**TABLE, "state": "/a/*/b"}}},
        "/upstream/map/state",
        "one value",
    ),
    "refusing what is new where nothing is known": (
        {"upstream": {"on_new": "refuse"}},
        "/upstream/on_new",
        "without `known`",
    ),
    **{
        f"{key} of a {form}": (
            {"fetch": {form: fetch}, "upstream": {key: value}},
            f"/upstream/{key}",
            f"`{form}` receives none",
        )
        for form, fetch, keys in (
            ("command", COMMAND, ("status", "success", "content_type")),
            ("ssh", SSH, ("status", "success", "content_type")),
            ("http", HTTP, ("exit", "success_exit")),
        )
        for key, value in UPSTREAM_KEYS.items()
        if key in keys
    },
}


@pytest.mark.requirement("CON-1", "CON-2")
@pytest.mark.parametrize("case", REFUSED)
def test_each_broken_rule_of_an_upstream_is_told_at_its_place_and_alone(case: str) -> None:
    assert_refused(*REFUSED[case])


@pytest.mark.parametrize("key", UPSTREAM_KEYS)
def test_a_host_may_receive_what_any_adapter_receives(key: str) -> None:
    assert contract({"upstream": {key: UPSTREAM_KEYS[key]}}).fetch == HostFetch()


@pytest.mark.parametrize("key", UPSTREAM_KEYS)
def test_a_python_function_receives_neither_a_status_nor_an_exit_code(key: str) -> None:
    python = {"function": "acme.tools:run", "timeout_s": 9}
    found = problems(
        {"fetch": {"python": python}, "upstream": {key: UPSTREAM_KEYS[key]}},
        settings={"python": ["acme."]},
    )
    assert [problem.pointer for problem in found] == [f"/upstream/{key}"]


EXTRACT = "(?P<project_id>[a-z]+) (?P<state>[a-z]+) (?P<observed_at>[-0-9TZ:]+)"
UPSTREAMS = {
    "json text": ({"text": "json"}, TextRule(kind="json"), "bare"),
    "extracted text": (
        {"text": {"extract": EXTRACT}},
        TextRule(kind="extract", pattern=EXTRACT),
        "bare",
    ),
    "an envelope": ({"envelope": True}, None, "envelope"),
    "an MCP result": ({"mcp": True, "tool_failed": "NOT_FOUND"}, None, "mcp"),
    "a text in an MCP result": (
        {"mcp": {"version": "2025-11-25"}, "text": "json"},
        TextRule(kind="json"),
        "mcp",
    ),
    "nothing around it": ({"envelope": False, "mcp": False}, None, "bare"),
}


@pytest.mark.parametrize("case", UPSTREAMS)
def test_every_carrier_and_text_is_read(case: str) -> None:
    given, text, carrier = UPSTREAMS[case]
    upstream = contract({"upstream": given}).upstream
    assert (upstream.text, upstream.carrier) == (text, carrier)


@pytest.mark.requirement("RES-10")
def test_plain_text_needs_no_result_and_is_untrusted() -> None:
    found = contract({"upstream": {"text": {"plain": {"max_chars": 80}}}, "result": ...})
    assert found.upstream.text == TextRule(kind="plain", max_chars=80)
    assert (found.result.agent, found.result.untrusted_text) == ((), {"text": p("/text")})
    assert found.result.schema.is_valid({"text": "x" * 80})
    assert not found.result.schema.is_valid({"text": "x" * 81})


@pytest.mark.requirement("RES-3")
def test_a_map_builds_objects_in_objects_and_one_for_every_item() -> None:
    found = contract(
        {
            "upstream": {
                "on_new": "refuse",
                "known": ["/a", "/a/*"],
                "map": {
                    **TABLE,
                    "count": {"at": "/n", "convert": "integer", "optional": True},
                    "state": {"at": "/s", "values": {"A": "failed"}, "other": "running"},
                    "steps": {"at": "/c", "every": True, "members": {"name": "/n"}},
                },
            }
        }
    ).upstream
    assert found.map == {
        "project_id": MapRule(at=p("/p")),
        "state": MapRule(at=p("/s"), values={"A": "failed"}, other="running", has_other=True),
        "observed_at": MapRule(at=p("/t")),
        "count": MapRule(at=p("/n"), convert="integer", optional=True),
        "steps": MapRule(at=p("/c"), every=True, members={"name": MapRule(at=p("/n"))}),
    }
    assert (found.on_new, found.known) == ("refuse", frozenset({"/a", "/a/*"}))
