"""The deny-by-default table (SPEC ACC-2): what no row allows is denied."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Final

from sluicegate.access.decision_ids import new_decision_id
from sluicegate.contracts.contract import Contract
from sluicegate.contracts.settings import AccessRule
from sluicegate.gates.ports import AccessQuery, Decision, Resource
from sluicegate.values.actions import CALL
from sluicegate.values.callers import Caller
from sluicegate.values.digests import digest_of_json

EVERYBODY: Final = "*"
"""Stands alone for every caller or every tool; inside a longer text it is an ordinary character."""


class TableAuthorizer:
    """Allows a query when one row names its caller, tenant, action, tool and resource.

    A row without ``tenant`` speaks for every tenant. A query without resource is allowed only by
    a row without resource, and such a row allows no resource.
    """

    def __init__(
        self, rules: Sequence[AccessRule], *, new_id: Callable[[], str] = new_decision_id
    ) -> None:
        self._rules: Final = tuple(enumerate(rules, start=1))
        self._new_id = new_id
        self.policy_version: Final = str(digest_of_json([_as_json(rule) for rule in rules]))

    async def decide(self, query: AccessQuery) -> Decision:
        """Return the decision; its reason names the row, for the operator."""
        for row, rule in self._rules:
            if _allows(rule, query):
                return self._decision(allow=True, reason=f"row {row} allows")
        return self._decision(allow=False, reason="no row allows")

    def _decision(self, *, allow: bool, reason: str) -> Decision:
        return Decision(
            allow=allow,
            decision_id=self._new_id(),
            reason=reason,
            policy_version=self.policy_version,
        )


def _allows(rule: AccessRule, query: AccessQuery) -> bool:
    if rule.caller not in (EVERYBODY, query.subject.subject):
        return False
    if rule.tool not in (EVERYBODY, query.tool) or rule.action != query.action:
        return False
    if rule.tenant is not None and rule.tenant != query.subject.tenant:
        return False
    if query.resource is None:
        return rule.resource_type is None
    if rule.resource_type != query.resource.type:
        return False
    return rule.resource_in is None or query.resource.id in rule.resource_in


def could_allow(rules: Sequence[AccessRule], contract: Contract) -> bool:
    """Whether some caller may call ``contract`` with some resources, by the very rows of a gate.

    One caller must be allowed every type of resource that the contract asks about; which ids its
    arguments name together is not looked at. Source: SPEC ACC-2.
    """
    kinds: set[str | None] = {each.type for each in contract.arguments.resources} or {None}
    tool = contract.tool
    # Rows that allow nobody this call are left out first: a table may have thousands.
    able = {
        kind: [rule for rule in rules if _allows(rule, _easiest(rule, _own(rule), tool, kind))]
        for kind in kinds
    }
    return any(
        all(
            any(_allows(rule, _easiest(rule, subject, tool, kind)) for rule in able[kind])
            for kind in kinds
        )
        for subject in _somebodies([rule for rows in able.values() for rule in rows])
    )


def _own(rule: AccessRule) -> Caller:
    return Caller(subject=rule.caller, tenant=rule.tenant)


def _somebodies(rules: Sequence[AccessRule]) -> Iterator[Caller]:
    """Yield every caller that the rows can tell apart; ``*`` is somebody whom no row names."""
    tenants = {rule.tenant for rule in rules}
    for subject in {rule.caller for rule in rules}:
        yield from (Caller(subject=subject, tenant=tenant) for tenant in tenants)


def _easiest(rule: AccessRule, subject: Caller, tool: str, kind: str | None) -> AccessQuery:
    """Return a call's question about a resource of ``kind``: one that ``rule`` names, if any."""
    named = min(rule.resource_in or (), default="")
    resource = None if kind is None else Resource(type=kind, id=named)
    return AccessQuery(subject=subject, action=CALL, tool=tool, resource=resource)


def _as_json(rule: AccessRule) -> dict[str, object]:
    content = asdict(rule)
    content["resource_in"] = None if rule.resource_in is None else sorted(rule.resource_in)
    return content
