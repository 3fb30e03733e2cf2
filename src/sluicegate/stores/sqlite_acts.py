"""The operators' acts on custody: reveal, purge, wrap anew; each stands in the record."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sluicegate.errors import MisuseError
from sluicegate.gates.events import AuditEvent, EventKind, Outcome
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores.custody import SealBroken, unseal
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.sqlite_custody import Blob, destroy_blobs, rewrap_blobs
from sluicegate.stores.sqlite_ledger import Ledger

_REFS_NAMED: Final = 100


def demand_account(who: str, reason: str) -> None:
    """Raises: MisuseError where an act on custody has no name or no reason."""
    if not who.strip() or not reason.strip():
        raise MisuseError("an act on custody is recorded: say who does it and why")


def record_reveal(blob: Blob, *, who: str, reason: str, now: datetime) -> AuditEvent:
    """Return the event that stands before the plain bytes are given, in the call's story."""
    return AuditEvent(
        kind=EventKind.OPERATOR,
        time=now,
        request_id=blob.request_id,
        attempt=0,
        outcome=Outcome.DONE,
        tool=blob.tool,
        contract_digest=blob.contract_digest,
        caller_subject=who,
        detail={"act": "reveal", "ref": blob.ref, "kind": blob.kind, "who": who, "reason": reason},
    )


def open_blob(blob: Blob, keys: AuditKeys) -> bytes:
    """Return the plain bytes. Raises: AuditUnavailable if the blob does not open."""
    try:
        return unseal(
            blob.sealed,
            keys,
            ref=blob.ref,
            contract_digest=blob.contract_digest,
            kind=blob.kind,
            size=blob.content_bytes,
        )
    except SealBroken as error:
        raise AuditUnavailable(str(error)) from None


def purge_custody(ledger: Ledger, *, now: datetime, who: str, refs: Sequence[str] | None) -> int:
    """Destroy blobs and record it in the same transaction; return how many went.

    An expiry run that finds nothing leaves no event.
    """
    destroyed = destroy_blobs(ledger.connection, now, refs)
    if destroyed or refs is not None:
        rule = "expired" if refs is None else "named"
        detail = {
            "act": "purge",
            "who": who,
            "rule": rule,
            "count": len(destroyed),
            "refs": destroyed[:_REFS_NAMED],
        }
        ledger.append([_act("purge", detail, now=now, who=who)])
    return len(destroyed)


def rewrap_custody(ledger: Ledger, *, now: datetime, who: str) -> int:
    """Wrap some data keys under the active key and record it; return how many, 0 at the end.

    Raises: AuditUnavailable if a data key does not open.
    """
    try:
        count = rewrap_blobs(ledger.connection, ledger.keys)
    except SealBroken as error:
        raise AuditUnavailable(str(error)) from None
    if count:
        detail = {"act": "rewrap", "who": who, "key_id": ledger.keys.active, "count": count}
        ledger.append([_act("rewrap", detail, now=now, who=who)])
    return count


def _act(name: str, detail: dict[str, object], *, now: datetime, who: str) -> AuditEvent:
    return AuditEvent(
        kind=EventKind.OPERATOR,
        time=now,
        request_id=f"{name}.{uuid.uuid4().hex}",
        attempt=0,
        outcome=Outcome.DONE,
        tool="",
        caller_subject=who,
        detail=detail,
    )
