"""Every key of contract.yaml and sluicegate.yaml, by the section it stands in (SPEC 2).

One table: the readers take only what stands here, and a test holds the editor schemas to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

KEYS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        section: frozenset(names.split())
        for section, names in {
            "contract": "sluicegate tool version owner title description effect arguments fetch "
            "limits upstream result errors retry evidence idempotency mask removed draft",
            "arguments": "schema checks resource on_absent integers",
            "resource": "type id",
            "fetch": "cache http command ssh mcp python host",
            "cache": "ttl_s max_entries",
            "http": "method url query headers body timeout_s credential credential_header "
            "credential_prefix redirects idempotency_header ca_file",
            "command": "argv stdin timeout_s environment directory credential credential_variable",
            "ssh": "host port user command stdin timeout_s known_hosts credential agent",
            "python": "function timeout_s",
            "host": "timeout_s",
            "limits": "max_call_bytes max_bytes max_depth quotas",
            "upstream": "envelope mcp text status exit success success_exit content_type map known "
            "on_new tool_failed signature",
            "signature": "standard_webhooks jws rfc9421",
            "standard_webhooks": "secrets max_age_s max_ahead_s",
            "jws": "issuer algorithms keys header body max_age_s max_ahead_s",
            "rfc9421": "algorithms keys tag max_age_s max_ahead_s",
            "mcp": "version",
            "text": "extract plain",
            "plain": "max_chars",
            "map rule": "at values other convert optional every members",
            "result": "schema bind fresh checks agent untrusted_text operator display integers",
            "bound caller": "caller",
            "fresh": "at max_age_s max_ahead_s",
            "error": "retryable",
            "retry": "attempts budget_s on",
            "evidence": "none until",
            "proof": "tool bind where max_age_s once refetch",
            "idempotency": "key keep_s",
            "quota": "per count window_s",
            "mask": "arguments result",
            "removed": "arguments result",
            "settings": "sluicegate limits audit retention access callers python notify serve",
            "folder limits": "max_call_bytes max_bytes max_depth in_flight quotas quota_store "
            "key_store",
            "audit": "store keys heads also sinks",
            "heads": "to every_events every_s required",
            "retention": "rejected accepted arguments daily_bytes",
            "kept": "days",
            "kept share": "days share",
            "access": "python cedar authzen",
            "authzen": "url credential ca_file",
            "access rule": "caller tenant action tool resource",
            "access resource": "type in",
            "callers": "from",
            "serve row": "version share callers",
        }.items()
    }
)

DISCREET: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        section: frozenset(keys.split())
        for section, keys in {
            "settings": "notify",
            "folder limits": "quota_store key_store",
            "audit": "store keys also",
            "heads": "to",
            "access": "authzen",
            "http": "url query headers body credential credential_header credential_prefix "
            "idempotency_header",
            "command": "argv environment credential credential_variable",
            "ssh": "host user command credential",
            "standard_webhooks": "secrets",
            "jws": "issuer keys header",
            "rfc9421": "keys tag",
        }.items()
    }
)
"""Keys whose values are addresses, headers, commands or names of secrets: no problem repeats what
stands there or below, for people write the secrets themselves there (SPEC ADP-5, AUD-5)."""

GUARDED: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "contract": {
            "/fetch": "fetch",
            "/fetch/http": "http",
            "/fetch/command": "command",
            "/fetch/ssh": "ssh",
            "/upstream/signature": "signature",
            "/upstream/signature/standard_webhooks": "standard_webhooks",
            "/upstream/signature/jws": "jws",
            "/upstream/signature/rfc9421": "rfc9421",
        },
        "settings": {
            "": "settings",
            "/limits": "folder limits",
            "/audit": "audit",
            "/audit/heads": "heads",
            "/access": "access",
        },
    }
)
"""Where the sections stand that have discreet keys, or hold one that has: a test holds it to them.
By the section of the whole document."""

GUARDED_SECTIONS: Final[frozenset[str]] = frozenset(
    section for sections in GUARDED.values() for section in sections.values()
)

LATER: Final[Mapping[tuple[str, str], str]] = MappingProxyType(
    {
        ("fetch", "mcp"): "use `host`, call the server in the host and set `upstream.mcp`",
    }
)
"""Keys of SPEC 2 that this release does not serve; refused, never ignored."""


def is_discreet(document: str, pointer: str) -> bool:
    """Whether ``pointer`` leads to a discreet key of ``document`` (its section) or below one.

    So does a key that nobody knows beside such a one: it may be one that was misspelt.
    """
    for at, section in GUARDED[document].items():
        if pointer.startswith(f"{at}/"):
            key = pointer[len(at) + 1 :].partition("/")[0]
            is_plain = key in KEYS[section] and key not in DISCREET.get(section, ())
            if not is_plain and not key.isdecimal():
                return True
    return False
