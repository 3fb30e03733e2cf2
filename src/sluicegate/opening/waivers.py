"""Destructive tools that run without evidence: until which day, and whether it has passed.

Source: SPEC EVI-3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from sluicegate.contracts.contract import Contract
from sluicegate.contracts.problems import Problem
from sluicegate.values.codes import Code


@dataclass(frozen=True, slots=True, kw_only=True)
class Waived:
    """One waiver, as it is written; ``expired`` where its last day lies behind, or is no day."""

    tool: str
    source: str
    reason: str
    until: str
    expired: bool


def list_waivers(contracts: Iterable[Contract], now: datetime) -> tuple[Waived, ...]:
    """Return every waiver of ``contracts``. ``until`` is the last day that it holds, in UTC."""
    today = now.astimezone(UTC).date()
    return tuple(
        Waived(
            tool=contract.tool,
            source=contract.source,
            reason=waiver.reason,
            until=waiver.until,
            expired=waiver.has_ended(today),
        )
        for contract in contracts
        if (waiver := contract.evidence_waiver) is not None
    )


def refuse_expired(waivers: Iterable[Waived]) -> tuple[Problem, ...]:
    """Return a problem for each waiver that has expired: its contract does not load."""
    return tuple(
        Problem(
            code=Code.CONTRACT_INVALID,
            document=waived.source,
            message=f"The waiver of evidence ended: `until` is {waived.until}.",
            mend="Have its owner judge anew and write a later day, or remove the contract.",
            pointer="/evidence/until",
            at_value=True,
        )
        for waived in waivers
        if waived.expired
    )
