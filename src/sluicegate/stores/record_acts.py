"""The operators' acts on custody: reveal, purge, wrap anew; each stands in the record."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sluicegate.gates import operator_acts
from sluicegate.gates.events import AuditEvent
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores.custody import SealBroken, unseal
from sluicegate.stores.encoding import time_text
from sluicegate.stores.keyring import Keyring
from sluicegate.stores.record_custody import Blob, destroy_blobs, rewrap_blobs
from sluicegate.stores.record_ledger import Ledger


def record_reveal(blob: Blob, *, who: str, reason: str, now: datetime) -> AuditEvent:
    """Return the event that stands before the plain bytes are given, in the call's story."""
    return operator_acts.reveal(
        blob.ref,
        kind=blob.kind,
        request_id=blob.request_id,
        tool=blob.tool,
        contract_digest=blob.contract_digest,
        who=who,
        reason=reason,
        now=now,
    )


def unseal_blob(blob: Blob, ring: Keyring) -> bytes:
    """Return the plain bytes. Raises: SealBroken, KeyNotHeld."""
    return ring.use(
        lambda keys: unseal(
            blob.sealed,
            keys,
            ref=blob.ref,
            contract_digest=blob.contract_digest,
            kind=blob.kind,
            size=blob.content_bytes,
        )
    )


def open_blob(blob: Blob, ring: Keyring) -> bytes:
    """Return the plain bytes. Raises: AuditUnavailable if the blob does not open."""
    try:
        return unseal_blob(blob, ring)
    except SealBroken as error:
        raise AuditUnavailable(str(error)) from None


def purge_custody(
    ledger: Ledger,
    *,
    now: datetime,
    who: str,
    refs: Sequence[str] | None,
    expired_by: datetime | None,
) -> int:
    """Destroy blobs and record it in the same transaction; return how many went.

    ``expired_by`` chooses, ``now`` is the time of the act and of its event. An expiry run that
    finds nothing leaves no event.
    """
    destroyed = destroy_blobs(ledger.connection, now, refs, expired_by=expired_by)
    if destroyed or refs is not None:
        act = operator_acts.purge(
            destroyed,
            rule="expired" if refs is None else "named",
            act_id=_new_id("purge"),
            who=who,
            now=now,
        )
        if expired_by is not None:
            act = replace(act, detail={**act.detail, "expired_by": time_text(expired_by)})
        ledger.append([act])
    return len(destroyed)


def rewrap_custody(ledger: Ledger, *, now: datetime, who: str) -> int:
    """Wrap a batch of data keys under the active key and record it; return how many.

    Raises: AuditUnavailable if a data key does not open.
    """
    try:
        count = ledger.ring.use(lambda keys: rewrap_blobs(ledger.connection, keys))
    except SealBroken as error:
        raise AuditUnavailable(str(error)) from None
    if count:
        act = operator_acts.rewrap(
            ledger.keys.active, count=count, act_id=_new_id("rewrap"), who=who, now=now
        )
        ledger.append([act])
    return count


def _new_id(act: str) -> str:
    return f"{act}.{uuid.uuid4().hex}"
