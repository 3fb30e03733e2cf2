"""The table denies what no row allows."""

from __future__ import annotations

import asyncio
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluicegate.access.table import TableAuthorizer, could_allow
from sluicegate.contracts.contract import Contract, ResourceRule
from sluicegate.contracts.settings import AccessRule
from sluicegate.gates.ports import AccessQuery, Resource
from sluicegate.values.callers import Caller
from sluicegate.values.pointers import Pointer

pytestmark = pytest.mark.requirement("ACC-2")

DEPLOY = AccessRule(
    caller="svc-deploy",
    tool="job_status",
    resource_type="project",
    resource_in=frozenset({"bluebird"}),
)
BLUEBIRD = Resource(type="project", id="bluebird")


def query(
    *,
    subject: str = "svc-deploy",
    tenant: str | None = None,
    action: str = "call",
    tool: str = "job_status",
    resource: Resource | None = BLUEBIRD,
) -> AccessQuery:
    return AccessQuery(
        subject=Caller(subject=subject, tenant=tenant), action=action, tool=tool, resource=resource
    )


ROWS: dict[str, tuple[AccessRule, AccessQuery, bool]] = {
    "the row as it stands": (DEPLOY, query(), True),
    "another caller": (DEPLOY, query(subject="svc-other"), False),
    "caller in other letters": (DEPLOY, query(subject="SVC-DEPLOY"), False),
    "a longer caller": (DEPLOY, query(subject="svc-deploy2"), False),
    "another tool": (DEPLOY, query(tool="job_stop"), False),
    "another action": (DEPLOY, query(action="list"), False),
    "another resource": (DEPLOY, query(resource=Resource(type="project", id="robin")), False),
    "another type": (DEPLOY, query(resource=Resource(type="team", id="bluebird")), False),
    "no resource": (DEPLOY, query(resource=None), False),
    "every resource of the type": (
        AccessRule(caller="svc-deploy", tool="job_status", resource_type="project"),
        query(resource=Resource(type="project", id="robin")),
        True,
    ),
    "every resource, another type": (
        AccessRule(caller="svc-deploy", tool="job_status", resource_type="project"),
        query(resource=Resource(type="team", id="robin")),
        False,
    ),
    "no resource named at all": (
        AccessRule(
            caller="svc-deploy",
            tool="job_status",
            resource_type="project",
            resource_in=frozenset(),
        ),
        query(),
        False,
    ),
    "row without resource, call without": (
        AccessRule(caller="svc-deploy", tool="job_status"),
        query(resource=None),
        True,
    ),
    "row without resource, call with": (
        AccessRule(caller="svc-deploy", tool="job_status"),
        query(),
        False,
    ),
    "every caller": (AccessRule(caller="*", tool="job_status"), query(resource=None), True),
    "every tool": (AccessRule(caller="svc-deploy", tool="*"), query(resource=None), True),
    "star inside a name": (AccessRule(caller="svc-*", tool="*"), query(resource=None), False),
    "star as a resource is a name": (
        AccessRule(caller="*", tool="*", resource_type="project", resource_in=frozenset({"*"})),
        query(),
        False,
    ),
    "a caller called star": (DEPLOY, query(subject="*"), False),
    "tenant": (
        AccessRule(caller="*", tool="*", tenant="acme"),
        query(resource=None, tenant="acme"),
        True,
    ),
    "another tenant": (
        AccessRule(caller="*", tool="*", tenant="acme"),
        query(resource=None, tenant="evil"),
        False,
    ),
    "no tenant where one is asked for": (
        AccessRule(caller="*", tool="*", tenant="acme"),
        query(resource=None),
        False,
    ),
    "row for every tenant": (
        AccessRule(caller="*", tool="*"),
        query(resource=None, tenant="acme"),
        True,
    ),
}


@pytest.mark.requirement("ACC-1")
@pytest.mark.parametrize(("rule", "asked", "allow"), ROWS.values(), ids=ROWS)
async def test_a_row_allows_what_it_names_and_nothing_else(
    rule: AccessRule, asked: AccessQuery, allow: bool
) -> None:
    assert allow is (await TableAuthorizer([rule]).decide(asked)).allow


async def test_an_empty_table_denies() -> None:
    decision = await TableAuthorizer([]).decide(query())
    assert (decision.allow, decision.reason) == (False, "no row allows")


async def test_the_second_row_allows_what_the_first_does_not() -> None:
    table = TableAuthorizer([DEPLOY, AccessRule(caller="*", tool="job_status")])
    decision = await table.decide(query(resource=None))
    assert (decision.allow, decision.reason) == (True, "row 2 allows")


async def test_two_rows_do_not_add_up() -> None:
    table = TableAuthorizer(
        [
            AccessRule(caller="svc-deploy", tool="other"),
            AccessRule(caller="svc-other", tool="job_status"),
        ]
    )
    assert False is (await table.decide(query(resource=None))).allow


@pytest.mark.requirement("ACC-1")
async def test_each_decision_has_its_own_id_and_the_version_of_the_table() -> None:
    numbers = count(1)
    table = TableAuthorizer([DEPLOY], new_id=lambda: f"d{next(numbers)}")
    first, second = await table.decide(query()), await table.decide(query(resource=None))
    assert (first.decision_id, second.decision_id) == ("d1", "d2")
    assert table.policy_version == first.policy_version == second.policy_version
    assert (first.errors, first.obligations) == ((), ())


async def test_decision_ids_are_unique_by_default() -> None:
    table = TableAuthorizer([DEPLOY])
    ids = {(await table.decide(query())).decision_id for _ in range(100)}
    assert len(ids) == 100


def test_the_policy_version_follows_the_rules_and_not_their_objects() -> None:
    def version(*resources: str, caller: str = "a") -> str:
        rule = AccessRule(
            caller=caller, tool="t", resource_type="p", resource_in=frozenset(resources)
        )
        return TableAuthorizer([rule]).policy_version

    assert version("x", "y") == version("y", "x")
    assert version("x") != version("y")
    assert version("x") != version("x", caller="b")


def contract_of(*types: str) -> Contract:
    """A contract as far as access looks at it."""
    resources = tuple(ResourceRule(type=each, id=Pointer.parse("/id")) for each in types)
    asked: Any = SimpleNamespace(tool="job_status", arguments=SimpleNamespace(resources=resources))
    contract: Contract = asked
    return contract


def row(caller: str = "a", *, tenant: str | None = None, kind: str | None = None) -> AccessRule:
    return AccessRule(caller=caller, tool="job_status", tenant=tenant, resource_type=kind)


POSSIBLE: dict[str, tuple[list[AccessRule], Contract, bool]] = {
    "no row": ([], contract_of("project"), False),
    "a row of the type": ([DEPLOY], contract_of("project"), True),
    "a row of another type": ([DEPLOY], contract_of("team"), False),
    "a row of one type of two": ([DEPLOY], contract_of("project", "team"), False),
    "two rows of one caller": (
        [row(kind="project"), row(kind="team")],
        contract_of("project", "team"),
        True,
    ),
    "two rows of two callers": (
        [row(kind="project"), row("b", kind="team")],
        contract_of("project", "team"),
        False,
    ),
    "a row of one caller and one of all": (
        [row(kind="project"), row("*", kind="team")],
        contract_of("project", "team"),
        True,
    ),
    "two rows of one tenant": (
        [row(tenant="t", kind="project"), row(tenant="t", kind="team")],
        contract_of("project", "team"),
        True,
    ),
    "two rows of two tenants": (
        [row(tenant="t", kind="project"), row(tenant="u", kind="team")],
        contract_of("project", "team"),
        False,
    ),
    "a row of one tenant and one of all": (
        [row(tenant="t", kind="project"), row(kind="team")],
        contract_of("project", "team"),
        True,
    ),
    "a row of another action": (
        [AccessRule(caller="a", tool="job_status", action="list")],
        contract_of(),
        False,
    ),
    "a row of another tool": ([AccessRule(caller="a", tool="job_stop")], contract_of(), False),
    "a row of every tool": ([AccessRule(caller="a", tool="*")], contract_of(), True),
    "a row that admits none": (
        [AccessRule(caller="a", tool="*", resource_type="project", resource_in=frozenset())],
        contract_of("project"),
        False,
    ),
    "a row without resource, none asked": ([row()], contract_of(), True),
    "a row without resource, one asked": ([row()], contract_of("project"), False),
    "a row with resource, none asked": ([DEPLOY], contract_of(), False),
}


@pytest.mark.parametrize(("rules", "contract", "possible"), POSSIBLE.values(), ids=POSSIBLE)
def test_whether_anybody_could_call_is_told_by_the_rows_of_the_gate(
    rules: list[AccessRule], contract: Contract, possible: bool
) -> None:
    assert could_allow(rules, contract) is possible


def test_a_table_of_thousands_of_rows_for_others_is_no_work() -> None:
    others = [
        AccessRule(caller=f"svc-{each}", tool="other", tenant=f"t{each}") for each in range(3_000)
    ]
    assert not could_allow(others, contract_of())
    assert could_allow([*others, row()], contract_of())


NAMES = st.sampled_from(["a", "b", "*"])
TYPES = st.sampled_from(["project", "team"])
RULES = st.builds(
    AccessRule,
    caller=NAMES,
    tool=st.sampled_from(["job_status", "other", "*"]),
    action=st.sampled_from(["call", "list"]),
    tenant=st.sampled_from([None, "t", "u"]),
    resource_type=st.none() | TYPES,
    resource_in=st.none() | st.frozensets(st.sampled_from(["x", "y"])),
)


@given(rules=st.lists(RULES, max_size=4), types=st.sets(TYPES))
def test_what_could_be_allowed_is_what_some_caller_is_allowed(
    rules: list[AccessRule], types: set[str]
) -> None:
    def decide(asked: AccessQuery) -> bool:
        return asyncio.run(TableAuthorizer(rules).decide(asked)).allow

    found = any(
        all(
            any(
                decide(query(subject=subject, tenant=tenant, resource=resource))
                for resource in (
                    [None] if kind is None else [Resource(type=kind, id=each) for each in "xyz"]
                )
            )
            for kind in types or {None}
        )
        for subject in ("a", "b", "c")
        for tenant in (None, "t", "u")
    )
    assert could_allow(rules, contract_of(*types)) is found
