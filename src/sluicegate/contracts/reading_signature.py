"""``upstream.signature`` → who must have signed an answer, how, and how recently (SPEC RES-6)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from sluicegate.contracts.contract import (
    Fetch,
    HostFetch,
    HttpFetch,
    JwsSignature,
    PythonFetch,
    Rfc9421Signature,
    Signature,
    WebhookSignature,
)
from sluicegate.contracts.near_names import read_members
from sluicegate.contracts.places import Place

JWS_ALGORITHMS: Final = ("EdDSA", "Ed25519", "ES256", "ES384", "PS256", "RS256")
MESSAGE_ALGORITHMS: Final = (
    *("ed25519", "ecdsa-p256-sha256", "ecdsa-p384-sha384", "rsa-pss-sha512"),
)

_FORMS: Final = ("standard_webhooks", "jws", "rfc9421")
_CREDENTIAL: Final = r"(?:env:)?[A-Za-z_][A-Za-z0-9_]*|file:[^\0]+|keyring:[^/]+/.+"
_HEADER: Final = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}"
_ISSUER: Final = r"https?://[\x21-\x7e]{1,1000}"
_KEY_FILE: Final = r"(?!/)(?!(?:.*/)?\.\.(?:/|$))[^\0\\]{1,400}\.jwks"
_TAG: Final = r"[\x20-\x21\x23-\x5b\x5d-\x7e]{1,200}"
_MAX_WINDOW_S: Final = 86_400
_MAX_SECRETS: Final = 8


def read_signature(place: Place, fetch: Fetch) -> Signature | None:
    """Return the one form of signature that ``place`` names; ``fetch`` obtains what is signed."""
    members = read_members(place, "signature")
    if members is None:
        return None
    if len(members) != 1:
        place.fault(
            f"`signature` names {len(members)} forms, and must name exactly one.",
            f"Keep one of {', '.join(_FORMS)}.",
            at_key=True,
        )
        return None
    ((form, inner),) = members.items()
    reader = {"standard_webhooks": _read_webhook, "jws": _read_jws, "rfc9421": _read_message}[form]
    rule = reader(inner)
    if rule is not None:
        _judge_fetch(inner, rule, fetch)
    return rule


def _read_webhook(place: Place) -> WebhookSignature | None:
    members = read_members(place, "standard_webhooks", ("secrets", "max_age_s"))
    if members is None or "secrets" not in members:
        return None
    items = members["secrets"].items()
    secrets = [
        item.discreet_text(
            _CREDENTIAL,
            "the name of a credential",
            "Write an environment variable such as CI_WEBHOOK_SECRET, file:PATH or "
            "keyring:SERVICE/NAME; the secret itself never stands in a contract.",
        )
        for item in items or ()
    ]
    named = [secret for secret in secrets if secret is not None]
    is_one_each = len(set(named)) == len(named)
    if items is not None and not (1 <= len(items) <= _MAX_SECRETS and is_one_each):
        members["secrets"].fault(
            f"`secrets` must name 1 to {_MAX_SECRETS} credentials, each once.",
            "Name the current one, and the former one while it is replaced.",
        )
    age, ahead = _read_window(members)
    if not named or age is None:
        return None
    return WebhookSignature(secrets=tuple(named), max_age_s=age, max_ahead_s=ahead)


def _read_jws(place: Place) -> JwsSignature | None:
    members = read_members(place, "jws", ("issuer", "algorithms", "keys", "max_age_s"))
    if members is None:
        return None
    issuer = _text(members, "issuer", _ISSUER, "the URL of the issuer, as in `iss`")
    algorithms = _read_algorithms(members, JWS_ALGORITHMS)
    keys = _read_key_file(members)
    header = _text(members, "header", _HEADER, "the name of a header")
    if ("header" in members) == ("body" in members):
        place.fault(
            "a JWS stands in one header or is the body.",
            "Write `header: NAME` or `body: true`, and not both.",
            at_key=True,
        )
    elif "body" in members and members["body"].boolean() is False:
        members["body"].fault("`body: false` says nothing.", "Write `header: NAME` instead.")
    age, ahead = _read_window(members)
    if issuer is None or keys is None or age is None:
        return None
    return JwsSignature(
        issuer=issuer,
        algorithms=algorithms,
        keys=keys,
        header=None if header is None else header.lower(),
        max_age_s=age,
        max_ahead_s=ahead,
    )


def _read_message(place: Place) -> Rfc9421Signature | None:
    members = read_members(place, "rfc9421", ("algorithms", "keys", "max_age_s"))
    if members is None:
        return None
    algorithms = _read_algorithms(members, MESSAGE_ALGORITHMS)
    keys = _read_key_file(members)
    tag = _text(members, "tag", _TAG, "the tag that the provider signs with, in ASCII")
    age, ahead = _read_window(members)
    if keys is None or age is None:
        return None
    return Rfc9421Signature(
        algorithms=algorithms, keys=keys, tag=tag, max_age_s=age, max_ahead_s=ahead
    )


# --- the parts ---------------------------------------------------------------------------------


def _text(members: Mapping[str, Place], key: str, pattern: str, wanted: str) -> str | None:
    return members[key].text(pattern, wanted) if key in members else None


def _read_key_file(members: Mapping[str, Place]) -> str | None:
    return _text(
        members, "keys", _KEY_FILE, "a file NAME.jwks below the folder with sluicegate.yaml"
    )


def _read_algorithms(members: Mapping[str, Place], known: Collection[str]) -> tuple[str, ...]:
    if "algorithms" not in members:
        return ()
    items = members["algorithms"].items()
    found = []
    for item in items or ():
        if isinstance(item.value, str) and item.value.startswith(("HS", "hmac-")):
            item.fault(
                "a symmetric algorithm is not served here: who verifies could sign too.",
                f"Let the issuer sign with one of {', '.join(known)}; or use `standard_webhooks`.",
            )
        elif (each := item.one_of(known)) is not None:
            found.append(each)
    if items is not None and (not items or len(set(found)) < len(found)):
        members["algorithms"].fault(
            "`algorithms` must name at least one, each once.", "Name those that the issuer uses."
        )
    return tuple(found)


def _read_window(members: Mapping[str, Place]) -> tuple[float | None, float]:
    age = members["max_age_s"].number(0, _MAX_WINDOW_S) if "max_age_s" in members else None
    if "max_ahead_s" not in members:
        return age, 5.0
    ahead = members["max_ahead_s"].number(0, _MAX_WINDOW_S)
    return age, 5.0 if ahead is None else ahead


def _judge_fetch(place: Place, rule: Signature, fetch: Fetch) -> None:
    """A signature is over bytes that somebody sent; most forms need the headers beside them."""
    if isinstance(fetch, PythonFetch):
        place.fault(
            "what a Python tool returns is encoded here, and nobody signed these bytes.",
            "Verify it in the tool, and remove `signature`.",
            at_key=True,
        )
    elif not isinstance(fetch, HttpFetch | HostFetch) and not (
        isinstance(rule, JwsSignature) and rule.header is None
    ):
        place.fault(
            "this form stands in headers, and only `http` and `host` receive any.",
            "Have the answer be a JWS (`jws: {body: true, …}`), or remove it.",
            at_key=True,
        )
