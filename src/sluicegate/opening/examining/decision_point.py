"""The decision point of a folder: which one it is, and that it answers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from sluicegate.access.authzen import AuthzenAuthorizer
from sluicegate.access.cedar import CedarAuthorizer
from sluicegate.adapters.credentials import CredentialUnreadable
from sluicegate.contracts.served import ContractSet
from sluicegate.gates.ports import AccessQuery
from sluicegate.opening.decision_points import open_decision_point
from sluicegate.values.actions import CALL
from sluicegate.values.callers import Caller
from sluicegate.values.looks import Look

_NAME: Final = "access"
_NOBODY: Final = "sluicegate-doctor"
"""Caller and tool of the one question that a service is asked; neither exists."""


def examine_decision_point(served: ContractSet, root: Path) -> Look:
    """Return what was found; a service is asked one question, and either answer is well."""
    point = open_decision_point(served, root)
    if isinstance(point, tuple):
        return Look(name=_NAME, well=False, says=str(point[0]))
    access = served.settings.access
    if isinstance(point, CedarAuthorizer):
        count = _count(point.count, "policy", "policies")
        return _well(f"Cedar, {count} in {access.cedar}, every tool fits their schema")
    if isinstance(point, AuthzenAuthorizer):
        return _examine_service(point)
    if access.python is not None:
        return _well(f"the function {access.python}")
    return _well(f"the table, {_count(len(access.rules), 'row', 'rows')}")


def _examine_service(point: AuthzenAuthorizer) -> Look:
    question = AccessQuery(
        subject=Caller(subject=_NOBODY), action=CALL, tool=_NOBODY, resource=None
    )
    try:
        decision = asyncio.run(point.decide(question))
    except CredentialUnreadable as error:
        return Look(name=_NAME, well=False, says=f"AuthZEN at {point.url}: {error}")
    if decision.errors:
        says = f"AuthZEN at {point.url} gives no decision: {decision.errors[0]}"
        return Look(name=_NAME, well=False, says=says)
    said = "allows" if decision.allow else "denies"
    return _well(f"AuthZEN at {point.url} answers; it {said} the caller {_NOBODY}")


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _well(says: str) -> Look:
    return Look(name=_NAME, well=True, says=says)
