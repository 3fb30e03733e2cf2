"""From an event as the gate knows it to the columns that stand in the record."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import lru_cache
from operator import attrgetter
from typing import Final, TypeAlias, get_args, get_type_hints

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC

from sluicegate.gates.events import AuditEvent, Kept, StoredEvent
from sluicegate.stores.keys import AuditKeys
from sluicegate.values.findings import Finding
from sluicegate.values.json import canonical_text, identity_text

Column: TypeAlias = "str | int | None"

COLUMNS: Final = tuple(field.name for field in fields(StoredEvent))
"""Every column of an event, in the order of the chain: ``seq`` first, ``link`` last."""

TYPES: Final = tuple(
    frozenset(type(None) if member is None else member for member in (get_args(hint) or (hint,)))
    for hint in get_type_hints(StoredEvent).values()
)
"""What each column may hold, in the same order."""

_NUMBERS: Final = frozenset(
    name for name, types in zip(COLUMNS, TYPES, strict=True) if int in types
)

_FINDING_MEMBERS: Final = tuple(field.name for field in fields(Finding))
_finding_values = attrgetter(*_FINDING_MEMBERS)
_write_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_RANDOM_BITS: Final = 0x0FFF_3FFF_FFFF_FFFF_FFFF
_VERSION_AND_VARIANT: Final = 0x7000_8000_0000_0000_0000


@dataclass(slots=True, kw_only=True)
class EncodedEvent:
    """All columns but the place in the chain; custody fills the references afterwards."""

    columns: dict[str, Column]
    kept: tuple[Kept, ...]
    time: datetime

    def add_detail(self, name: str, value: object) -> None:
        """Add a member to the detail, by whatever the writer alone knows."""
        detail = json.loads(str(self.columns["detail"]))
        self.columns["detail"] = json_text({**detail, name: value})


def encode_event(event: AuditEvent, keys: AuditKeys) -> EncodedEvent:
    """Return the columns of ``event``.

    ``arguments``, ``raw`` and ``returned`` become HMACs. Raises: ValueError for a naive time or a
    non-finite number, TypeError for what is not JSON or no text. Source: SPEC AUD-2.
    """
    columns: dict[str, Column] = {
        "event_id": make_event_id(event.time),
        "time": time_text(event.time),
        "kind": event.kind.value,
        "request_id": event.request_id,
        "attempt": event.attempt,
        "outcome": event.outcome.value,
        "tool": event.tool,
        "contract_version": event.contract_version,
        "contract_digest": event.contract_digest,
        "caller_subject": event.caller_subject,
        "caller_tenant": event.caller_tenant,
        "session": event.session,
        "call_id": event.call_id,
        "adapter": event.adapter,
        "adapter_version": event.adapter_version,
        "endpoint": event.endpoint,
        "upstream_status": event.upstream_status,
        "stage": event.stage,
        "code": event.code,
        "agent_code": event.agent_code,
        "schema_pointer": event.schema_pointer,
        "decision_id": event.decision_id,
        "trace_id": event.trace_id,
        "arguments_hmac": None
        if event.arguments is None
        else _hmac_of_value(keys, event.arguments),
        "arguments_ref": None,
        "raw_hmac": None if event.raw is None else hmac_of_bytes(keys, "raw", event.raw),
        "raw_bytes": None if event.raw is None else len(event.raw),
        "raw_ref": None,
        "returned_hmac": _hmac_of_json(keys, "returned", event.returned),
        "findings": json_text([_shape_finding(finding) for finding in event.findings]),
        "masked": json_text(event.masked),
        "detail": json_text(dict(event.detail)),
    }
    for name, value in columns.items():
        if value.__class__ is str:
            if not value.isascii():
                columns[name] = storable(value)
        elif value is not None and not isinstance(value, str) and name not in _NUMBERS:
            # A store that made a text of it would hold what its link does not cover.
            raise TypeError(f"{name} is a text, and no {type(value).__name__}")
    return EncodedEvent(columns=columns, kept=event.kept, time=event.time)


def hmac_of_bytes(keys: AuditKeys, use: str, content: bytes) -> str:
    """Return the HMAC-SHA256 of ``content`` for one use, as hexadecimal text.

    A plain digest of a short value could be guessed; the use keeps two columns apart.
    """
    return authenticate(keys.audit, use.encode() + b"\0", content)


def authenticate(key: bytes, *parts: bytes) -> str:
    """Return the HMAC-SHA256 of the joined ``parts``, as hexadecimal text."""
    mac = _keyed(key).copy()
    for part in parts:
        mac.update(part)
    return mac.finalize().hex()


@lru_cache(maxsize=16)
def _keyed(key: bytes) -> HMAC:
    """Return the state that follows the key alone: copied, it costs less than keying anew."""
    return HMAC(key, SHA256())


def hmac_of_arguments(keys: AuditKeys, arguments: Mapping[str, object]) -> str:
    """Return the HMAC that stands in ``arguments_hmac`` for ``arguments``.

    Equal arguments have one: however a model spells a number, it is the same call.
    """
    return _hmac_of_value(keys, arguments)


def time_text(moment: datetime) -> str:
    """Return RFC 3339 text in UTC with microseconds and ``Z``, so that text order is time order.

    Raises: ValueError if ``moment`` is naive.
    """
    if moment.tzinfo is None:
        raise ValueError("the time of an event needs an offset")
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="microseconds")[:26] + "Z"


def make_event_id(moment: datetime) -> str:
    """Return a UUID of version 7 for ``moment``: 48 bits of milliseconds, 74 random bits.

    Source: RFC 9562 section 5.7 (Python has it from 3.14 on).
    """
    milliseconds = int(moment.timestamp() * 1000) & 0xFFFF_FFFF_FFFF
    random = int.from_bytes(os.urandom(10), "big")
    number = milliseconds << 80 | random & _RANDOM_BITS | _VERSION_AND_VARIANT
    digits = f"{number:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def storable(text: str) -> str:
    """Return ``text`` with lone surrogates escaped: SQLite's text is UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()


def json_text(value: object) -> str:
    """Return the JSON text of a column."""
    if not value:
        return "{}" if isinstance(value, Mapping) else "[]"
    return storable(_write_json(value))


def _hmac_of_value(keys: AuditKeys, value: object) -> str:
    return hmac_of_bytes(keys, "arguments", identity_text(value).encode("utf-8", "surrogatepass"))


def _hmac_of_json(keys: AuditKeys, use: str, value: object) -> str | None:
    if value is None:
        return None
    return hmac_of_bytes(keys, use, canonical_text(value).encode("utf-8", "surrogatepass"))


def _shape_finding(finding: Finding) -> dict[str, object]:
    return {
        name: value
        for name, value in zip(_FINDING_MEMBERS, _finding_values(finding), strict=True)
        if value is not None
    }
