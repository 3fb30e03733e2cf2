"""No member of a contract changes unnoticed, whatever changes beside it."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, get_args

import pytest
from tests.unit.lifecycle.diff.test_policies import contract

import sluicegate.lifecycle.diff.policies as module
from sluicegate.contracts.contract import (
    ArgumentsPart,
    BindRule,
    CacheRule,
    CommandFetch,
    Contract,
    Effect,
    EvidenceRule,
    EvidenceWaiver,
    Fetch,
    FreshRule,
    HostFetch,
    HttpFetch,
    IdempotencyRule,
    JwsSignature,
    MapRule,
    PythonFetch,
    PythonName,
    QuotaRule,
    RemovedNames,
    ResourceRule,
    ResultPart,
    RetryRule,
    Rfc9421Signature,
    Signature,
    SshFetch,
    TextRule,
    WebhookSignature,
)
from sluicegate.lifecycle.diff.policies import find_policy_differences
from sluicegate.values.limits import Limits
from sluicegate.values.pointers import Pointer

pytestmark = pytest.mark.requirement("LIF-3")

ID, NOTE = Pointer.parse("/id"), Pointer.parse("/note")
NAME = PythonName("acme.checks", "other")
HTTP = HttpFetch(method="GET", url="https://ci.example/", timeout_s=5)
COMMAND = CommandFetch(argv=("a",), timeout_s=5)
SSH = SshFetch(host="ci.example", user="ci", command="a", known_hosts="hosts", timeout_s=5)
PYTHON = PythonFetch(function=NAME, timeout_s=5)
HOST = HostFetch(timeout_s=5)
WEBHOOK = WebhookSignature(secrets=("OLD", "NEW"), max_age_s=60)
JWS = JwsSignature(issuer="ci", algorithms=("ES256",), keys="k.json", header=None, max_age_s=60)
RFC = Rfc9421Signature(algorithms=("ed25519",), keys="k.json", tag=None, max_age_s=60)
QUOTA = QuotaRule(per=frozenset({"caller"}), count=5, window_s=60)
KEY = IdempotencyRule(key="host", keep_s=60)
PROOF = EvidenceRule(
    tool="other",
    bind=(BindRule(data=ID, argument=ID),),
    where=((NOTE, "a"),),
    max_age_s=60,
    once=False,
    refetch=False,
)
FRESH = FreshRule(at=NOTE, max_age_s=60)

HELD: list[tuple[str, Any, dict[str, Any]]] = [
    (
        "",
        contract(),
        {
            "effect": Effect.WRITE,
            "fetch": HOST,
            "cache": CacheRule(ttl_s=5),
            "call_limits": Limits(max_bytes=9, max_depth=9),
            "limits": Limits(max_bytes=9, max_depth=9),
            "errors": {},
            "retry": RetryRule(),
            "masked_arguments": (ID,),
            "masked_data": (ID,),
            "evidence_waiver": EvidenceWaiver(reason="r", until="2027-01-31"),
            "removed": RemovedNames(result={Pointer.parse("/gone"): "1.0.0"}),
            "evidence": (PROOF,),
            "idempotency": KEY,
            "quotas": (QUOTA,),
        },
    ),
    (
        "arguments",
        contract().arguments,
        {
            "checks": (NAME,),
            "resources": (ResourceRule(type="run", id=NOTE),),
            "on_absent": {ID: "a"},
            "integers": "i-json",
        },
    ),
    (
        "result",
        contract().result,
        {
            "bind": (),
            "fresh": FRESH,
            "checks": (NAME,),
            "operator": (NOTE,),
            "display": (NOTE,),
            "integers": "i-json",
        },
    ),
    (
        "upstream",
        contract().upstream,
        {
            "carrier": "mcp",
            "text": TextRule(kind="plain"),
            "status": {},
            "exit_code": {1: "LOCKED"},
            "success_status": frozenset({201}),
            "success_exit": frozenset({1}),
            "content_type": ("text/plain",),
            "map": {"id": MapRule(at=NOTE)},
            "known": frozenset({"id"}),
            "on_new": "refuse",
            "tool_failed": "LOCKED",
            "mcp_version": "2025-11-25",
            "signature": WEBHOOK,
        },
    ),
    (
        "fetch",
        HTTP,
        {
            "method": "POST",
            "url": "https://other.example/",
            "timeout_s": 6,
            "query": {"a": "b"},
            "headers": {"a": "b"},
            "body": "arguments",
            "credential": "TOKEN",
            "credential_header": "X-Key",
            "credential_prefix": "",
            "redirects": 1,
            "idempotency_header": "Idempotency-Key",
            "ca_file": "ca.pem",
        },
    ),
    (
        "fetch",
        COMMAND,
        {
            "argv": ("b",),
            "timeout_s": 6,
            "stdin": "arguments",
            "environment": ("LANG",),
            "directory": "here",
            "credential": "TOKEN",
            "credential_variable": "TOKEN",
        },
    ),
    (
        "fetch",
        SSH,
        {
            "host": "other.example",
            "user": "other",
            "command": "b",
            "known_hosts": "others",
            "timeout_s": 6,
            "port": 23,
            "stdin": "arguments",
            "credential": "KEY",
            "agent": True,
        },
    ),
    ("fetch", PYTHON, {"function": PythonName("acme.jobs", "state"), "timeout_s": 6}),
    ("fetch", HOST, {"timeout_s": None}),
    ("retry", contract().retry, {"attempts": 9, "budget_s": 99, "on": frozenset({"NOT_FOUND"})}),
    ("cache", CacheRule(ttl_s=5), {"ttl_s": 6, "max_entries": 9}),
    (
        "upstream.signature",
        WEBHOOK,
        {"secrets": ("NEW", "NEWER"), "max_age_s": 61, "max_ahead_s": 6},
    ),
    (
        "upstream.signature",
        JWS,
        {
            "issuer": "other",
            "algorithms": ("ES256", "EdDSA"),
            "keys": "others.json",
            "header": "signature",
            "max_age_s": 61,
            "max_ahead_s": 6,
        },
    ),
    (
        "upstream.signature",
        RFC,
        {
            "algorithms": ("ecdsa-p256-sha256",),
            "keys": "others.json",
            "tag": "ci",
            "max_age_s": 61,
            "max_ahead_s": 6,
        },
    ),
    ("idempotency", KEY, {"key": "derived", "keep_s": 61}),
    (
        "quotas",
        QUOTA,
        {"per": frozenset({"tenant"}), "count": 6, "window_s": 61},
    ),
    (
        "evidence",
        PROOF,
        {
            "tool": "another",
            "bind": (BindRule(data=NOTE, argument=ID),),
            "where": (),
            "max_age_s": 61,
            "once": True,
            "refetch": True,
        },
    ),
    ("result.fresh", FRESH, {"at": ID, "max_age_s": 61, "max_ahead_s": 6}),
    (
        "result.bind",
        BindRule(data=ID, argument=ID),
        {"data": NOTE, "argument": NOTE, "caller": "tenant"},
    ),
    ("arguments.resources", ResourceRule(type="run", id=ID), {"type": "job", "id": NOTE}),
    (
        "evidence_waiver",
        EvidenceWaiver(reason="r", until="2027-01-31"),
        {"reason": "s", "until": "2027-02-28"},
    ),
]
"""Where a record stands in a contract, one of its kind, and another value for each member."""

LISTS = {"quotas", "evidence", "result.bind", "arguments.resources"}

ELSEWHERE = {
    # the name, the version, texts, and what is made of the others
    Contract: {
        *("tool", "version", "owner", "description", "title", "fingerprints", "source"),
        *("document", "arguments", "upstream", "result"),
    },
    ArgumentsPart: {"schema"},
    # the walk over schemas, and the selection
    ResultPart: {"schema", "agent_schema", "agent", "untrusted_text"},
}


def put(whole: Contract, place: str, record: Any) -> Contract:
    if not place:
        assert isinstance(record, Contract)
        return record
    part, _, name = place.partition(".")
    held = (record,) if place in LISTS else record
    if name:
        held = replace(getattr(whole, part), **{name: held})
    changed: Contract = replace(whole, **{part: held})
    return changed


CHANGES = [
    pytest.param(place, record, name, value, id=f"{type(record).__name__}.{name}")
    for place, record, values in HELD
    for name, value in values.items()
]


@pytest.mark.parametrize(("place", "record", "name", "value"), CHANGES)
def test_a_member_that_changes_beside_another_has_a_kind(
    place: str, record: Any, name: str, value: Any
) -> None:
    assert getattr(record, name) != value
    old = put(contract(), place, record)
    new = replace(put(contract(), place, replace(record, **{name: value})), owner="another")
    kinds = {difference.kind for _, difference in find_policy_differences(old, new)}
    assert "owner-changed" in kinds
    assert kinds - {"owner-changed"}
    assert "policy-changed" not in kinds


@pytest.mark.parametrize(
    ("place", "record", "values"), [pytest.param(*row, id=type(row[1]).__name__) for row in HELD]
)
def test_every_member_of_a_record_stands_in_the_table(
    place: str, record: Any, values: dict[str, Any]
) -> None:
    members = {member.name for member in fields(record)}
    assert members - ELSEWHERE.get(type(record), set()) == set(values), place


def test_every_form_of_fetch_and_signature_stands_in_the_table() -> None:
    assert {*get_args(Fetch), *get_args(Signature)} <= {type(record) for _, record, _ in HELD}


@pytest.mark.parametrize("beside", [{}, {"owner": "another"}], ids=["alone", "beside another"])
def test_a_member_without_a_kind_is_a_change_of_policy(
    beside: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "find_authority_differences", lambda old, new: iter(()))
    new = replace(contract(), quotas=(QUOTA,), **beside)
    found = list(find_policy_differences(contract(), new))
    assert ("tool", "policy-changed", "/quotas") in [
        (role, one.kind, one.pointer) for role, one in found
    ]
    assert len(found) == 1 + len(beside)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, WEBHOOK, ["check-added"], id="signed from now on"),
        pytest.param(WEBHOOK, None, ["check-removed"], id="signed no longer"),
        pytest.param(WEBHOOK, JWS, ["signature-widened"], id="another form"),
        pytest.param(
            WEBHOOK, replace(WEBHOOK, secrets=("NEW",)), ["signature-narrowed"], id="a secret less"
        ),
        pytest.param(
            JWS,
            replace(JWS, algorithms=("ES256", "EdDSA")),
            ["signature-widened"],
            id="an algorithm more",
        ),
        pytest.param(
            WEBHOOK,
            replace(WEBHOOK, secrets=("OLD", "NEWER")),
            ["signature-widened", "signature-narrowed"],
            id="a secret for another",
        ),
        pytest.param(WEBHOOK, replace(WEBHOOK, secrets=("NEW", "OLD")), [], id="another order"),
        pytest.param(
            JWS, replace(JWS, max_age_s=90), ["freshness-widened"], id="signed longer ago"
        ),
        pytest.param(
            JWS, replace(JWS, max_ahead_s=1), ["freshness-narrowed"], id="signed less far ahead"
        ),
        pytest.param(JWS, replace(JWS, issuer="other"), ["signature-widened"], id="another issuer"),
    ],
)
def test_who_is_believed_is_judged_by_what_it_lets_in(
    old: Any, new: Any, expected: list[str]
) -> None:
    before, after = (put(contract(), "upstream.signature", each) for each in (old, new))
    assert [one.kind for _, one in find_policy_differences(before, after)] == expected
