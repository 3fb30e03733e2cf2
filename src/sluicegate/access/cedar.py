"""Cedar policies as the decision point, judged in this process (SPEC ACC-2).

Cedar skips a policy whose condition errs: a ``forbid`` that errs is no ``forbid``, and the engine
says Allow. So an answer that bears any error is no decision here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sluicegate.access.cedar_statements import Statement
from sluicegate.access.decision_ids import new_decision_id
from sluicegate.gates.ports import AccessQuery, Decision, Resource
from sluicegate.values.actions import CALL
from sluicegate.values.callers import Caller
from sluicegate.values.digests import Digest

if TYPE_CHECKING:  # an extra: it is imported where policies are loaded
    from cedarpy import Entities, PolicySet, Schema

PRINCIPAL_TYPE: Final = "Caller"
TOOL_TYPE: Final = "Tool"
"""The resource of a call that names none is its tool."""

_NAME: Final = re.compile(r"policy `policy([0-9]{1,9})`")
"""What the engine calls a policy by, in its errors."""

_TRIAL: Final = "trial"
_NO_ERRORS: Final = ("the engine gave no decision",)


@dataclass(frozen=True, slots=True, kw_only=True)
class CedarPolicies:
    """Policies, schema and entities as the engine holds them; ``version`` is over all their bytes.

    ``statements`` are in the order in which the engine numbers them.
    """

    policies: PolicySet
    schema: Schema
    entities: Entities
    statements: Sequence[Statement]
    version: Digest


class CedarAuthorizer:
    """Asks the policies; ``count`` says how many there are.

    The caller is ``Caller::"SUBJECT"``, the action ``Action::"TOOL"``, the resource
    ``TYPE::"ID"`` with the contract's own type, or ``Tool::"TOOL"``. The context holds ``tool``,
    ``contract_digest`` and, where the caller has one, ``tenant``.
    """

    def __init__(
        self, policies: CedarPolicies, *, new_id: Callable[[], str] = new_decision_id
    ) -> None:
        self._policies: Final = policies
        self._new_id = new_id
        self.policy_version: Final = str(policies.version)
        self.count: Final = len(policies.statements)

    async def decide(self, query: AccessQuery) -> Decision:
        """Return the decision; its reason names the policy, for the operator.

        Errors of the engine are the decision's errors. Whatever the engine raises is raised.
        """
        answer, reasons, errors = _ask(self._policies, _request(query))
        if errors or answer not in ("Allow", "Deny"):
            told = tuple(_NAME.sub(self._place, error) for error in errors) or _NO_ERRORS
            return self._decision(allow=False, reason="", errors=told)
        allow = answer == "Allow"
        return self._decision(allow=allow, reason=self._tell(reasons, allow=allow), errors=())

    def find_unfit(self, tool: str, resource_type: str | None) -> str | None:
        """Return why no question about this tool and type can be asked under the schema, or None.

        A tool that the schema does not know would be refused at each call; so it is found at load.
        """
        resource = None if resource_type is None else Resource(type=resource_type, id=_TRIAL)
        for tenant in (None, _TRIAL):
            query = AccessQuery(
                subject=Caller(subject=_TRIAL, tenant=tenant),
                action=CALL,
                tool=tool,
                resource=resource,
                context={"tool": tool, "contract_digest": _TRIAL},
            )
            answer, _, errors = _ask(self._policies, _request(query))
            if answer not in ("Allow", "Deny"):
                return (errors or _NO_ERRORS)[0]
        return None

    def _tell(self, reasons: Sequence[str], *, allow: bool) -> str:
        if not reasons:
            return "no policy permits"
        found = _NAME.fullmatch(f"policy `{reasons[0]}`")
        if found is None:
            return "a policy decided"
        return f"the {self._place(found)} {'permits' if allow else 'forbids'}"

    def _place(self, name: re.Match[str]) -> str:
        """Return where the policy stands that the engine numbers."""
        number = int(name[1])
        if number >= self.count:
            return name[0]
        statement = self._policies.statements[number]
        return f"policy at {statement.document}:{statement.line}"

    def _decision(self, *, allow: bool, reason: str, errors: tuple[str, ...]) -> Decision:
        return Decision(
            allow=allow,
            decision_id=self._new_id(),
            reason=reason,
            policy_version=self.policy_version,
            errors=errors,
        )


def _request(query: AccessQuery) -> dict[str, object]:
    """Shape the question. Ids stand in members of their own: none can end a Cedar literal."""
    resource = query.resource or Resource(type=TOOL_TYPE, id=query.tool)
    context = dict(query.context)
    if query.subject.tenant is not None:
        context["tenant"] = query.subject.tenant
    return {
        "principal": {"type": PRINCIPAL_TYPE, "id": query.subject.subject},
        "action": {"type": "Action", "id": query.tool},
        "resource": {"type": resource.type, "id": resource.id},
        "context": context,
    }


def _ask(
    policies: CedarPolicies, request: dict[str, object]
) -> tuple[str, Sequence[str], Sequence[str]]:
    """Return what the engine answers, by which policies, and every error that it met."""
    from cedarpy import is_authorized

    result = is_authorized(request, policies.policies, policies.entities, schema=policies.schema)
    diagnostics = result.diagnostics
    return result.decision.value, diagnostics.reasons, diagnostics.errors
