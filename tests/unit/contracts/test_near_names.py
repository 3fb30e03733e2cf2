"""A mistake is told by its cause alone, and with the name that was meant."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.contracts.folders import DESTRUCTIVE, HTTP, NAME, problems

from sluicegate.contracts.loading import load
from sluicegate.contracts.near_names import find_near

PROOF = {"tool": "job_status", "bind": {"/project_id": "/project_id"}, "max_age_s": 60}
IDEMPOTENT = {"key": "host", "keep_s": 60}
RETRIED = {"attempts": 3, "budget_s": 5, "on": ["INVALID_RESPONSE"]}

# changes, then the pointer and the mend of the one problem
ALONE: dict[str, tuple[dict[str, Any], str, str]] = {
    "unknown effect beside evidence": (
        {"effect": "delete", "evidence": [PROOF], "idempotency": IDEMPOTENT},
        "/effect",
        "Write one of destructive, read, write.",
    ),
    "no effect beside evidence": (
        {"effect": ..., "evidence": [PROOF], "idempotency": IDEMPOTENT},
        "",
        "Add `effect:`.",
    ),
    "unknown effect beside a waiver": (
        {"effect": "distructive", "evidence": DESTRUCTIVE["evidence"]},
        "/effect",
        "Did you mean `destructive`?",
    ),
    "unknown effect beside cache and retry": (
        {
            "effect": 5,
            "fetch": {"http": HTTP, "cache": {"ttl_s": 5}},
            "retry": {**RETRIED, "attempts": 2},
        },
        "/effect",
        "Write one of destructive, read, write.",
    ),
    "misspelt effect of a destructive tool": (
        {"effect": ..., "efect": "destructive"},
        "/efect",
        "Did you mean `effect`?",
    ),
    "agents for agent": (
        {"result.agent": ..., "result.agents": ["/project_id"]},
        "/result/agents",
        "Did you mean `agent`?",
    ),
    "agents that lead to nothing": (
        {"result.agent": ..., "result.agents": ["/projekt_id"]},
        "/result/agents",
        "Did you mean `agent`?",
    ),
    "refetsh for refetch": (
        {"effect": "destructive", "evidence": [{**PROOF, "refetsh": True}]},
        "/evidence/0/refetsh",
        "Did you mean `refetch`?",
    ),
    "refetch that is a text": (
        {"effect": "destructive", "evidence": [{**PROOF, "refetch": "yes"}]},
        "/evidence/0/refetch",
        "Write true or false.",
    ),
    "the proof that is taken again at fault": (
        {
            "effect": "destructive",
            "evidence": [PROOF, {**PROOF, "max_age_s": "60", "refetch": True}],
        },
        "/evidence/1/max_age_s",
        "Write a number of seconds above 0 and up to 86,400.",
    ),
    "bind of a proof that is no mapping": (
        {"effect": "write", "evidence": [{**PROOF, "bind": []}]},
        "/evidence/0/bind",
        "Write a mapping.",
    ),
    "error for errors": (
        {
            "errors": ...,
            "error": {"NOT_FOUND": {"retryable": False}},
            "fetch": {"http": HTTP},
            "upstream": {"status": {"404": "NOT_FOUND"}},
        },
        "/error",
        "Did you mean `errors`?",
    ),
    "errors that are no mapping": (
        {
            "errors": ["NOT_FOUND"],
            "fetch": {"http": HTTP},
            "upstream": {"status": {"404": "NOT_FOUND"}},
            "retry": {"attempts": 2, "budget_s": 5, "on": ["NOT_FOUND"]},
        },
        "/errors",
        "Write a mapping.",
    ),
    "a code in small letters that a status is mapped to": (
        {
            "errors": {"not_found": {"retryable": False}},
            "fetch": {"http": HTTP},
            "upstream": {"status": {"404": "NOT_FOUND"}},
        },
        "/errors/not_found",
        "Write 3 to 64 capitals, digits and _, beginning with a capital.",
    ),
    "window for window_s": (
        {"limits": {"quotas": [{"count": 5, "window": 60}]}},
        "/limits/quotas/0/window",
        "Did you mean `window_s`?",
    ),
    "maps for map": (
        {"upstream": {"maps": {"project_id": "/p", "state": "/s"}}},
        "/upstream/maps",
        "Did you mean `map`?",
    ),
    "cach for cache": (
        {"effect": "write", "fetch": {"http": HTTP, "cach": {"ttl_s": 5}}},
        "/fetch/cach",
        "Did you mean `cache`?",
    ),
    "htp for http": ({"fetch": {"htp": HTTP}}, "/fetch/htp", "Did you mean `http`?"),
    "texts for text, without a result": (
        {"result": ..., "upstream": {"texts": {"plain": {"max_chars": 99}}}},
        "/upstream/texts",
        "Did you mean `text`?",
    ),
    "a way of taking text that is none, without a result": (
        {"result": ..., "upstream": {"text": "plian"}},
        "/upstream/text",
        "Did you mean `plain`?",
    ),
    "a rule of the map at fault": (
        {"upstream": {"map": {"project_id": "/p", "state": 5, "observed_at": "/t"}}},
        "/upstream/map/state",
        "Write a mapping.",
    ),
    "one number for a list of them": (
        {"fetch": {"http": HTTP}, "upstream": {"success": 200}},
        "/upstream/success",
        "Write a list.",
    ),
    "one secret for a list of them": (
        {
            "fetch": {"http": HTTP},
            "upstream": {
                "signature": {"standard_webhooks": {"secrets": "CI_SECRET", "max_age_s": 60}}
            },
        },
        "/upstream/signature/standard_webhooks/secrets",
        "Write a list.",
    ),
    "a program that is a number": (
        {"fetch": {"command": {"argv": [5], "timeout_s": 5}}},
        "/fetch/command/argv/0",
        "Put it into quotation marks.",
    ),
    "a key that cannot be left out": (
        {"fetch": {"http": {**HTTP, "method": "QUERY"}}},
        "/fetch/http/method",
        "Write one of DELETE, GET, PATCH, POST, PUT.",
    ),
}


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize("case", ALONE)
def test_what_follows_from_a_mistake_is_not_told_beside_it(case: str) -> None:
    changes, pointer, mend = ALONE[case]
    found = problems(changes)
    assert [(problem.pointer, problem.mend) for problem in found] == [(pointer, mend)]


@pytest.mark.requirement("CON-1")
def test_unknown_keys_come_first() -> None:
    found = problems({"owner": ..., "version": "1", "zzz": 1})
    assert [problem.pointer for problem in found] == ["/zzz", "", "/version"]


@pytest.mark.requirement("CON-1")
def test_a_misspelt_key_of_the_settings_has_no_second_problem() -> None:
    found = load(
        {"sluicegate.yaml": b"audit: {als: 'file:copy', sinks: all}\nacess: {python: 'a:b'}\n"},
        resolve=None,
    )
    assert isinstance(found, tuple)
    assert [problem.pointer for problem in found] == ["/audit/als", "/acess"]


@pytest.mark.requirement("CON-1")
def test_a_contract_whose_settings_misspell_a_function_is_judged_by_nothing_of_it() -> None:
    found = load(
        {"sluicegate.yaml": b"acess: {pyton: 'acme.access:decide'}\n", NAME: b"{}"}, resolve=None
    )
    assert isinstance(found, tuple)
    assert [each.pointer for each in found if each.document == "sluicegate.yaml"] == ["/acess"]


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("NOT_FOUND", ["NOTFOUND", "GONE"], "NOTFOUND"),
        ("not_found", ["NOT_FOUND"], "NOT_FOUND"),
        ("/jb", ["/job", "/state"], "/job"),
        ("/jb", ["/state"], None),
        ("x", [], None),
    ],
)
def test_the_nearest_name_is_found_whatever_the_case(
    name: str, known: list[str], near: str | None
) -> None:
    assert find_near(name, known) == near


@pytest.mark.requirement("CON-1")
def test_a_code_is_near_to_a_declared_one_in_capitals() -> None:
    (found,) = problems(
        {
            "errors": {"NOTFOUND": {"retryable": False}},
            "fetch": {"http": HTTP},
            "upstream": {"status": {"404": "NOT_FOUND"}},
        }
    )
    assert found.mend == "Did you mean `NOTFOUND`? Or declare it there."
