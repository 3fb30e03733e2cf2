"""What a contract may say of signatures, and one problem for each thing that it may not (RES-6)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.contracts.folders import contract, problems

from sluicegate.contracts.contract import JwsSignature, Rfc9421Signature, WebhookSignature

pytestmark = pytest.mark.requirement("RES-6")

HTTP = {"http": {"method": "GET", "url": "https://x.example/{/project_id}", "timeout_s": 5}}
WEBHOOK = {"secrets": ["CI_SECRET", "file:old"], "max_age_s": 300}
JWS = {
    "issuer": "https://ci.example",
    "algorithms": ["Ed25519", "ES256"],
    "keys": "trust/ci.jwks",
    "header": "X-Signature",
    "max_age_s": 60,
    "max_ahead_s": 1,
}
MESSAGE = {"algorithms": ["ed25519"], "keys": "ci.jwks", "max_age_s": 60}


def signed(form: str, rule: object, fetch: object = HTTP) -> dict[str, Any]:
    return {"fetch": fetch, "upstream": {"signature": {form: rule}}}


def without(rule: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in rule.items() if name != key}


BODY = {**without(JWS, "header"), "body": True}


@pytest.mark.parametrize(
    ("form", "rule", "expected"),
    [
        (
            "standard_webhooks",
            WEBHOOK,
            WebhookSignature(secrets=("CI_SECRET", "file:old"), max_age_s=300),
        ),
        (
            "jws",
            JWS,
            JwsSignature(
                issuer="https://ci.example",
                algorithms=("Ed25519", "ES256"),
                keys="trust/ci.jwks",
                header="x-signature",
                max_age_s=60,
                max_ahead_s=1,
            ),
        ),
        (
            "rfc9421",
            {**MESSAGE, "tag": "gate"},
            Rfc9421Signature(algorithms=("ed25519",), keys="ci.jwks", tag="gate", max_age_s=60),
        ),
    ],
    ids=["standard_webhooks", "jws", "rfc9421"],
)
def test_each_form_is_read_as_it_stands(form: str, rule: object, expected: object) -> None:
    assert contract(signed(form, rule)).upstream.signature == expected


def test_a_body_that_is_a_jws_may_come_from_a_command() -> None:
    command = {"command": {"argv": ["ls", "{/project_id}"], "timeout_s": 5}}
    rule = contract(signed("jws", BODY, command)).upstream.signature
    assert isinstance(rule, JwsSignature)
    assert rule.header is None


def test_a_signature_is_policy_and_changes_its_fingerprint() -> None:
    prints = [
        contract(signed("jws", rule)).fingerprints for rule in (JWS, {**JWS, "max_age_s": 61})
    ]
    assert prints[0].policy != prints[1].policy
    assert prints[0].language == prints[1].language


AT = "/upstream/signature"
COMMAND = {"command": {"argv": ["ls", "{/project_id}"], "timeout_s": 5}}
PYTHON = {"python": {"function": "acme.tools:f", "timeout_s": 5}}
ALLOWED = {"sluicegate": 1, "python": ["acme."]}
# changes, the pointer of the one problem, a word of its message
REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "no form": ({"fetch": HTTP, "upstream": {"signature": {}}}, AT, "0 forms"),
    "two forms": (
        {"fetch": HTTP, "upstream": {"signature": {"jws": JWS, "rfc9421": MESSAGE}}},
        AT,
        "2 forms",
    ),
    "no list": (signed("jws", []), f"{AT}/jws", "a mapping"),
    "a secret in the contract": (
        signed("standard_webhooks", {**WEBHOOK, "secrets": ["whsec_ghp-abc=="]}),
        f"{AT}/standard_webhooks/secrets/0",
        "name of a credential",
    ),
    "no secret": (
        signed("standard_webhooks", {**WEBHOOK, "secrets": []}),
        f"{AT}/standard_webhooks/secrets",
        "1 to 8",
    ),
    "one secret twice": (
        signed("standard_webhooks", {**WEBHOOK, "secrets": ["A", "A"]}),
        f"{AT}/standard_webhooks/secrets",
        "each once",
    ),
    "no window": (
        signed("standard_webhooks", without(WEBHOOK, "max_age_s")),
        f"{AT}/standard_webhooks",
        "`max_age_s` is missing",
    ),
    "a window of a week": (
        signed("rfc9421", {**MESSAGE, "max_age_s": 604_800}),
        f"{AT}/rfc9421/max_age_s",
        "86,400",
    ),
    "no issuer": (signed("jws", without(JWS, "issuer")), f"{AT}/jws", "`issuer` is missing"),
    "an issuer that is no URL": (
        signed("jws", {**JWS, "issuer": "ci"}),
        f"{AT}/jws/issuer",
        "the URL of the issuer",
    ),
    "no algorithm": (
        signed("jws", {**JWS, "algorithms": []}),
        f"{AT}/jws/algorithms",
        "at least one",
    ),
    "the algorithm none": (
        signed("jws", {**JWS, "algorithms": ["none"]}),
        f"{AT}/jws/algorithms/0",
        "one of",
    ),
    "a symmetric algorithm": (
        signed("jws", {**JWS, "algorithms": ["HS256"]}),
        f"{AT}/jws/algorithms/0",
        "a symmetric algorithm",
    ),
    "an algorithm of the other form": (
        signed("rfc9421", {**MESSAGE, "algorithms": ["Ed25519"]}),
        f"{AT}/rfc9421/algorithms/0",
        "one of",
    ),
    "one algorithm twice": (
        signed("rfc9421", {**MESSAGE, "algorithms": ["ed25519", "ed25519"]}),
        f"{AT}/rfc9421/algorithms",
        "each once",
    ),
    "header and body": (signed("jws", {**JWS, "body": True}), f"{AT}/jws", "one header or"),
    "neither header nor body": (signed("jws", without(JWS, "header")), f"{AT}/jws", "one header"),
    "body: false": (signed("jws", {**BODY, "body": False}), f"{AT}/jws/body", "says nothing"),
    "a header that is none": (
        signed("jws", {**JWS, "header": "x signature"}),
        f"{AT}/jws/header",
        "name of a header",
    ),
    "keys outside the folder": (
        signed("jws", {**JWS, "keys": "../ci.jwks"}),
        f"{AT}/jws/keys",
        "below the folder",
    ),
    "keys at an absolute path": (
        signed("jws", {**JWS, "keys": "/etc/ci.jwks"}),
        f"{AT}/jws/keys",
        "below the folder",
    ),
    "keys that would be read as a schema": (
        signed("jws", {**JWS, "keys": "ci.json"}),
        f"{AT}/jws/keys",
        "NAME.jwks",
    ),
    "a label instead of a tag": (
        signed("rfc9421", {**MESSAGE, "label": "sig1"}),
        f"{AT}/rfc9421/label",
        "not a key",
    ),
    "headers of a command": (signed("rfc9421", MESSAGE, COMMAND), f"{AT}/rfc9421", "headers"),
    "a webhook of a command": (
        signed("standard_webhooks", WEBHOOK, COMMAND),
        f"{AT}/standard_webhooks",
        "headers",
    ),
    "a signed Python tool": (signed("jws", BODY, PYTHON), f"{AT}/jws", "nobody signed"),
    "a cache": (
        signed("jws", JWS, {**HTTP, "cache": {"ttl_s": 5}}),
        "/fetch/cache",
        "a replay",
    ),
    "a masked member of a signed body": (
        {**signed("jws", BODY), "mask": {"result": ["/note"]}},
        "/mask",
        "one signed text",
    ),
    "a masked argument that a signed body may quote": (
        {**signed("jws", BODY), "mask": {"arguments": ["/run_id"]}},
        "/mask",
        "one signed text",
    ),
}


@pytest.mark.requirement("CON-1", "ADP-4", "ADP-5", "AUD-4")
@pytest.mark.parametrize("case", REFUSED)
def test_each_broken_rule_is_told_at_its_place_and_alone(case: str) -> None:
    changes, pointer, word = REFUSED[case]
    found = problems(changes, settings=ALLOWED)
    assert [problem.pointer for problem in found] == [pointer], "\n".join(map(str, found))
    (problem,) = found
    assert word in problem.message
    assert problem.mend
    assert problem.line
    assert "ghp-" not in str(problem)
