"""The idempotency key that an upstream is given: one a logical call, in a space of its own."""

from __future__ import annotations

from collections.abc import Mapping

from sluicegate.values.callers import Caller
from sluicegate.values.digests import digest_of_json
from sluicegate.values.json import JsonValue, identity_text
from sluicegate.values.requests import RequestId


def idempotency_key(caller: Caller, tool: str, call_id: str | None, request_id: RequestId) -> str:
    """Return 64 hexadecimal digits, the same for each attempt of one call.

    Made of caller, tenant, tool and the host's whole call id, so that no other caller's call can
    share it; without a call id every call has a key of its own. Source: SPEC ACC-4.
    """
    return _key([caller.tenant, caller.subject, tool, call_id or request_id])


def derived_key(caller: Caller, tool: str, arguments: Mapping[str, object]) -> str:
    """Return the key of every call of this caller, tenant and tool with equal arguments (ACC-4).

    In a space of its own: no call id of a host yields the same.
    """
    return _key([caller.tenant, caller.subject, tool, ["derived", identity_text(arguments)]])


def _key(named: list[JsonValue]) -> str:
    return digest_of_json(named).removeprefix("sha256:")
