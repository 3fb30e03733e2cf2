"""No problem of a contract or the settings repeats a text that may be a secret (ADP-5, AUD-5)."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from tests.unit.contracts.folders import (
    BASE,
    COMMAND,
    HTTP,
    NAME,
    SSH,
    TABLE,
    UPSTREAM_KEYS,
    resolve_anything,
)

from sluicegate.contracts.loading import load
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.served import ContractSet

pytestmark = pytest.mark.requirement("ADP-5", "AUD-5")

SECRET = "hunter2"
WRITTEN = {
    "an address": "https://u:hunter2@h.example/x",
    "a database": "postgresql://u:hunter2@db/x",
    "Redis": "redis://:hunter2@h:6379/0",
    "an account on a host": "user:hunter2@h",
    "a command line": "curl -H 'Authorization: Bearer hunter2' x",
    "a command line without quotation marks": "mysql -phunter2 x",
    "an assignment": "token=hunter2",
    "a token": "whsec_hunter2",
    "a bare secret": "hunter2",
}

NAMES = {"whsec_hunter2", "hunter2"}
"""What looks like a name, and is shown where any name may stand."""

FREE = ("query", "headers", "body", "bind", "errors", "untrusted_text", "status", "exit", "map")
FREE += ("where", "notify", "serve")

WINDOW = {"max_age_s": 60, "max_ahead_s": 5}
SIGNATURES = {
    "standard_webhooks": {"secrets": ["CI_SECRET"], **WINDOW},
    "jws": {
        "issuer": "https://ci.example",
        "algorithms": ["EdDSA"],
        "keys": "ci.jwks",
        "header": "X-Signature",
        **WINDOW,
    },
    "rfc9421": {"algorithms": ["ed25519"], "keys": "ci.jwks", "tag": "ci", **WINDOW},
}
FETCHES = {
    "http": {
        **HTTP,
        "method": "POST",
        "query": {"limit": "5"},
        "headers": {"X-Team": "ci"},
        "body": {"project_id": "/project_id"},
        "credential": "CI_TOKEN",
        "redirects": 1,
        "credential_header": "X-Token",
        "credential_prefix": "Token ",
        "ca_file": "ca.pem",
        "idempotency_header": "Idempotency-Key",
    },
    "command": {
        **COMMAND,
        "stdin": "arguments",
        "environment": ["LANG"],
        "directory": "/tmp",
        "credential": "CI_TOKEN",
        "credential_variable": "TOKEN",
    },
    "ssh": {**SSH, "port": 22, "stdin": "arguments"},
    "python": {"function": "acme.tools:run", "timeout_s": 5},
    "host": {"timeout_s": 5},
}
CONTRACTS = [{**BASE, "fetch": {form: fetch}} for form, fetch in FETCHES.items()] + [
    {
        **BASE,
        "fetch": {"http": HTTP, "cache": {"ttl_s": 5, "max_entries": 9}},
        "limits": {
            "max_call_bytes": 100,
            "max_bytes": 1000,
            "max_depth": 9,
            "quotas": [{"per": ["caller"], "count": 5, "window_s": 60}],
        },
        "upstream": {**UPSTREAM_KEYS, "map": TABLE, "on_new": "notify", "known": ["/p"]},
        "retry": {"attempts": 2, "budget_s": 9, "on": ["UPSTREAM_UNAVAILABLE"]},
        "mask": {"arguments": ["/run_id"], "result": ["/state"]},
        "result": {
            **BASE["result"],
            "fresh": {"at": "/observed_at", "max_age_s": 60},
            "operator": ["/count"],
            "untrusted_text": {"note": "/note"},
            "display": ["/seen_at"],
            "integers": "i-json",
            "checks": ["acme.checks:run"],
        },
    },
    {
        **BASE,
        "effect": "destructive",
        "evidence": {"none": "why", "until": "2027-01-31"},
        "idempotency": {"key": "host", "keep_s": 60},
    },
    {
        **BASE,
        "evidence": [
            {
                "tool": "job_status",
                "bind": {"/project_id": "/project_id"},
                "where": {"/state": "failed"},
                "max_age_s": 60,
                "once": True,
                "refetch": True,
            }
        ],
    },
    *(
        {**BASE, "fetch": {"http": HTTP}, "upstream": {"signature": {form: rule}}}
        for form, rule in SIGNATURES.items()
    ),
]
SETTINGS: list[dict[str, Any]] = [
    {
        "sluicegate": 1,
        "limits": {
            "max_call_bytes": 100,
            "in_flight": 5,
            "quota_store": "audit:",
            "quotas": [{"per": ["caller"], "count": 5, "window_s": 60}],
            "key_store": "audit:",
        },
        "audit": {
            "store": "sqlite:a.db",
            "keys": "file:keys",
            "also": "file:b",
            "sinks": "all",
            "heads": {"to": "file:heads", "every_events": 5, "every_s": 5, "required": True},
        },
        "retention": {
            "rejected": {"days": 5},
            "accepted": {"days": 5, "share": 0.5},
            "arguments": "digest",
            "daily_bytes": 5,
        },
        "access": [{"caller": "a", "action": "call", "tool": "t", "resource": {"type": "p"}}],
        "callers": {"from": "argument"},
        "python": ["acme."],
        "notify": {"ci": "log:"},
        "serve": {"job_status": [{"version": "current", "share": 1}]},
    },
    {"access": {"python": "acme.access:decide"}},
    {"access": {"cedar": "policies/"}},
    {"access": {"authzen": "https://pdp.example"}},
    {"access": {"authzen": {"url": "https://pdp.example", "credential": "PDP", "ca_file": "a"}}},
]


def places(value: object, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every place below ``value`` but in schemas."""
    if at and at[-1] not in ("schema", "description"):
        yield at
    if at and at[-1] == "schema":
        return
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from places(inner, (*at, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, (*at, index))


def renew(document: object, at: tuple[str | int, ...], value: object, name: object = None) -> Any:
    """Return a copy with ``value`` at ``at``; with ``name``, under that name."""
    copied: Any = copy.deepcopy(document)
    holder = copied
    for segment in at[:-1]:
        holder = holder[segment]
    if name is not None:
        value = holder.pop(at[-1])
    holder[at[-1] if name is None else name] = value
    return copied


def read_with(case: str, changed: dict[str, Any]) -> tuple[Problem, ...]:
    contract, settings = DOCUMENTS[case]
    document = changed if case.startswith("contract") else contract
    settings = settings if case.startswith("contract") else changed
    documents = {
        NAME: json.dumps(document).encode(),
        "sluicegate.yaml": json.dumps(settings).encode(),
    }
    loaded = load(documents, resolve=resolve_anything)
    return () if isinstance(loaded, ContractSet) else loaded


DOCUMENTS = {
    **{
        f"contract {number}": (each, {"python": ["acme."]}) for number, each in enumerate(CONTRACTS)
    },
    **{f"settings {number}": (BASE, each) for number, each in enumerate(SETTINGS)},
}


def own_places(case: str) -> Iterator[tuple[str | int, ...]]:
    """The places that no case before this one has."""
    contract, settings = DOCUMENTS[case]
    if case.startswith("settings"):
        return places(settings)
    is_first = case == "contract 0"
    own = {key for key in contract if is_first or contract[key] != BASE.get(key)}
    return (at for at in places(contract) if at[0] in own)


@pytest.mark.parametrize(
    "what", ["an address", "a command line without quotation marks", "a token"]
)
@pytest.mark.parametrize("case", DOCUMENTS)
def test_no_problem_repeats_what_is_written_in_the_place_of_another_value(
    case: str, what: str
) -> None:
    text = WRITTEN[what]
    changed = DOCUMENTS[case][0 if case.startswith("contract") else 1]
    for at in own_places(case):
        named = {"x" if text in NAMES and at[-1] in FREE else text: text}
        for value in (text, named):
            for problem in read_with(case, renew(changed, at, value)):
                assert SECRET not in f"{problem} {problem.pointer}", (at, value)


@pytest.mark.parametrize("what", ["an address", "an assignment", "a token"])
@pytest.mark.parametrize("case", DOCUMENTS)
def test_no_problem_repeats_what_is_written_in_the_place_of_a_name(case: str, what: str) -> None:
    text = WRITTEN[what]
    changed = DOCUMENTS[case][0 if case.startswith("contract") else 1]
    for at in own_places(case):
        is_free = at[-2:-1] and at[-2] in FREE and text in NAMES
        if not isinstance(at[-1], int) and not is_free:
            for problem in read_with(case, renew(changed, at, None, text)):
                assert SECRET not in f"{problem} {problem.pointer}", (at, text)


SECTIONS = {
    "audit": ("settings", "/audit"),
    "access": ("settings", "/access"),
    "limits": ("settings", "/limits"),
    "heads": ("settings", "/audit/heads"),
    "python": ("settings", "/python"),
    "callers": ("settings", "/callers"),
    "fetch": ("contract", "/fetch"),
    "http": ("contract", "/fetch/http"),
    "ssh": ("contract", "/fetch/ssh"),
    "command": ("contract", "/fetch/command"),
    "timeout_s": ("contract", "/fetch/http/timeout_s"),
    "signature": ("contract", "/upstream/signature"),
    "jws": ("contract", "/upstream/signature/jws"),
}


@pytest.mark.parametrize("what", WRITTEN)
@pytest.mark.parametrize("section", SECTIONS)
def test_a_text_in_the_place_of_a_section_is_told_as_one_and_its_line_is_not_shown(
    section: str, what: str
) -> None:
    kind, at = SECTIONS[section]
    written: Any = WRITTEN[what]
    for name in reversed(at.split("/")[1:]):
        written = {name: written}
    settings = written if kind == "settings" else {}
    changed = {**BASE, "fetch": {"host": {}}, **(written if kind == "contract" else {})}
    documents = {
        NAME: json.dumps(changed).encode(),
        "sluicegate.yaml": json.dumps(settings).encode(),
    }
    found = load(documents, resolve=None)
    assert isinstance(found, tuple)
    (problem,) = [each for each in found if each.pointer == at and "here stands" in each.message]
    assert problem.message.endswith("here stands a text.")
    assert problem.discreet


HELPFUL = {
    "a word": ({"effect": "delete"}, "here stands `delete`."),
    "a number in quotation marks": ({"sluicegate": "1"}, "here stands `1`."),
    "a number with its unit": ({"fetch": {"host": {"timeout_s": "5s"}}}, "here stands `5s`."),
    "another number": ({"fetch": {"host": {"timeout_s": -1}}}, "here stands the integer -1."),
    "half a version": ({"version": "1.0"}, "here stands `1.0`."),
    "a pointer": ({"effect": "/state"}, "here stands `/state`."),
    "a key": ({"efect": "read"}, "`efect` is not a key of contract."),
    "a pointer without its stroke": ({"mask": {"result": ["state"]}}, "`state` is not a JSON P"),
}


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize("case", HELPFUL)
def test_what_is_surely_no_secret_is_quoted(case: str) -> None:
    changes, said = HELPFUL[case]
    found = read_with("contract 4", {**BASE, **changes})
    assert [each.message for each in found if said in each.message], found
    assert not [each for each in found if each.discreet]
