"""Parts of one contract held against each other: a key that could have no effect is a fault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sluicegate.contracts.contract import (
    Effect,
    IdempotencyRule,
    JwsSignature,
    ResultPart,
    RetryRule,
    UpstreamPart,
)
from sluicegate.contracts.near_names import member_of
from sluicegate.contracts.places import Place
from sluicegate.contracts.reading_fetch import Fetching
from sluicegate.values.pointers import Pointer

_ADAPTERS_OF: Final = {
    "status": ("http",),
    "success": ("http",),
    "content_type": ("http",),
    "exit": ("command", "ssh"),
    "success_exit": ("command", "ssh"),
}
"""Keys of ``upstream`` that speak of what some adapters alone receive; a host may receive any."""
_NEEDS_ADAPTER: Final = frozenset({"http", "command", "ssh", "python"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What has been read of one contract; ``effect`` None: it is not known."""

    effect: Effect | None
    fetching: Fetching
    upstream: UpstreamPart
    result: ResultPart | None
    retry: RetryRule
    idempotency: IdempotencyRule | None
    masked_data: tuple[Pointer, ...]


def judge_together(members: Mapping[str, Place], parts: Parts) -> None:
    """Note the faults that no part has alone; ``members`` are the places of the contract."""
    if "fetch" in members:
        form = _named_form(members["fetch"])
        _judge_cache(members, parts)
        if form == "host":
            _judge_host(members, parts)
        elif form in _NEEDS_ADAPTER and "upstream" in members:
            _judge_upstream(members["upstream"], form)
    _judge_signed_body(members, parts)
    _judge_plain_text(members, parts)
    _judge_idempotency(members, parts)


def _named_form(fetch: Place) -> str | None:
    """The one form that ``fetch`` names; None where it names none or several."""
    given = fetch.value if isinstance(fetch.value, Mapping) else {}
    forms = [form for form in given if form in {*_NEEDS_ADAPTER, "host"}]
    return forms[0] if len(forms) == 1 else None


def _judge_cache(members: Mapping[str, Place], parts: Parts) -> None:
    rule = parts.fetching.cache
    if rule is None:
        return
    cache = member_of(members["fetch"], "fetch", "cache")
    if parts.effect not in (Effect.READ, None):
        cache.fault("only a read is cached.", "Remove `cache`.", at_key=True)
    if parts.upstream.carrier == "envelope":
        cache.fault("an envelope answers one request.", "Remove `cache`.", at_key=True)
    if parts.upstream.signature is not None:
        cache.fault(
            "a signed answer is taken once; kept, it would be a replay.",
            "Remove `cache`.",
            at_key=True,
        )
    fresh = parts.result.fresh if parts.result is not None else None
    if fresh is not None and rule.ttl_s > fresh.max_age_s:
        member_of(cache, "cache", "ttl_s").fault(
            f"a kept answer would outlive `result.fresh.max_age_s`, {fresh.max_age_s:g} s.",
            f"Write at most {fresh.max_age_s:g}.",
        )


def _judge_host(members: Mapping[str, Place], parts: Parts) -> None:
    """A host fetches for itself (ARG-9): the gate neither asks again nor keeps what it got."""
    if parts.fetching.cache is not None:
        member_of(members["fetch"], "fetch", "cache").fault(
            "`cache` stands beside `host`, and the host fetches for itself.",
            "Remove it; the host decides what it keeps.",
            at_key=True,
        )
    if parts.retry.attempts > 1:
        member_of(members["retry"], "retry", "attempts").fault(
            "the host fetches for itself, and the gate does not ask it again.",
            "Remove `retry`; a further attempt of the host is a further call.",
        )


def _judge_upstream(upstream: Place, form: str) -> None:
    for key in upstream.value if isinstance(upstream.value, Mapping) else ():
        owners = _ADAPTERS_OF.get(key, (form,))
        if form not in owners:
            upstream.follow(key).fault(
                f"`{key}` speaks of what `{owners[0]}` receives, and `{form}` receives none.",
                "Remove it.",
                at_key=True,
            )


def _judge_idempotency(members: Mapping[str, Place], parts: Parts) -> None:
    """A replay gives what was kept: all of it, and only while it is fresh (ACC-4)."""
    result = parts.result
    if parts.idempotency is None or result is None:
        return
    if parts.masked_data:
        members["idempotency"].fault(
            "`mask.result` stands beside `idempotency`, and what is masked is not kept to be"
            " replayed.",
            "Remove one of the two.",
            at_key=True,
        )
    fresh = result.fresh
    if fresh is not None and (fresh.at.is_wild or fresh.at not in result.agent):
        members["idempotency"].fault(
            "a replay could not be held to `result.fresh`: the time it looks at is not selected.",
            f"Select `{fresh.at.text}` in `result.agent`.",
            at_key=True,
        )


def _judge_signed_body(members: Mapping[str, Place], parts: Parts) -> None:
    """Nothing can be found in a signed body, or taken out of it, before it is kept (AUD-4)."""
    rule = parts.upstream.signature
    if not isinstance(rule, JwsSignature) or rule.header is not None:
        return
    if "mask" in members:
        members["mask"].fault(
            "`mask` stands beside a body that is one signed text.",
            "Have the provider sign in a header (`jws: {header: NAME, …}`), or remove it.",
            at_key=True,
        )


def _judge_plain_text(members: Mapping[str, Place], parts: Parts) -> None:
    text, result = parts.upstream.text, parts.result
    if text is None or text.kind != "plain" or result is None:
        return
    if list(result.untrusted_text.values()) != [Pointer(("text",))] or result.agent:
        members["result"].fault(
            "plain text reaches the agent as untrusted text alone.",
            "Write `untrusted_text: {text: /text}` and no `agent`, or leave `result` out.",
            at_key=True,
        )
