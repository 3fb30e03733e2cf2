"""Cedar decides by the policies alone, and an error of theirs is never an Allow."""

from __future__ import annotations

import pytest
from cedarpy import Entities, PolicySet, Schema, is_authorized
from tests.unit.access.cedar_documents import ENTITIES, SCHEMA, documents

from sluicegate.access.cedar import CedarAuthorizer, CedarPolicies
from sluicegate.access.cedar_folder import load_cedar
from sluicegate.access.cedar_statements import split_statements
from sluicegate.gates.ports import AccessQuery, Resource
from sluicegate.values.callers import Caller
from sluicegate.values.digests import Digest

pytestmark = pytest.mark.requirement("ACC-2")


BLUEBIRD = Resource(type="project", id="bluebird")
ATTIC = Resource(type="project", id="attic")


def loaded(**changed: str | None) -> CedarAuthorizer:
    authorizer = load_cedar("policies/", documents(**changed))
    assert isinstance(authorizer, CedarAuthorizer), authorizer
    return authorizer


def query(
    *,
    subject: str = "svc-deploy",
    tenant: str | None = None,
    tool: str = "job_status",
    resource: Resource | None = BLUEBIRD,
) -> AccessQuery:
    return AccessQuery(
        subject=Caller(subject=subject, tenant=tenant),
        action="call",
        tool=tool,
        resource=resource,
        context={"tool": tool, "contract_digest": "sha256:0"},
    )


DECIDED: dict[str, tuple[AccessQuery, bool, str]] = {
    "the caller that a policy names": (query(), True, "policies/runs.cedar:2 permits"),
    "another caller": (query(subject="svc-other"), False, "no policy permits"),
    "a caller in other letters": (query(subject="SVC-DEPLOY"), False, "no policy permits"),
    "a member of a group": (query(subject="svc-read"), True, "policies/runs.cedar:6 permits"),
    "the tool as the resource": (
        query(subject="svc-read", tool="list_projects", resource=None),
        True,
        "policies/runs.cedar:6 permits",
    ),
    "a tool that the caller has no policy for": (
        query(tool="list_projects", resource=None),
        False,
        "no policy permits",
    ),
    "a resource that a policy forbids": (
        query(subject="svc-read", resource=ATTIC),
        False,
        "policies/archive.cedar:1 forbids",
    ),
    "a subject that would end a literal": (
        query(subject='x" || true || "'),
        False,
        "no policy permits",
    ),
    "a subject with a line break and a NUL": (
        query(subject="svc-deploy\n\0"),
        False,
        "no policy permits",
    ),
    "any tenant, where no policy asks": (query(tenant="acme"), True, "runs.cedar:2 permits"),
}


@pytest.mark.requirement("ACC-1")
@pytest.mark.parametrize(("asked", "allow", "reason"), DECIDED.values(), ids=DECIDED)
async def test_what_no_policy_permits_is_denied_and_a_forbid_is_final(
    asked: AccessQuery, allow: bool, reason: str
) -> None:
    decision = await loaded().decide(asked)
    assert (decision.allow, decision.errors, decision.obligations) == (allow, (), ())
    assert decision.reason.endswith(reason)


@pytest.mark.parametrize(("tenant", "allow"), [("acme", True), ("evil", False), (None, False)])
async def test_a_policy_may_ask_for_the_tenant(tenant: str | None, allow: bool) -> None:
    policy = (
        "permit (principal, action, resource) "
        'when { context has tenant && context.tenant == "acme" };'
    )
    authorizer = loaded(runs__cedar=policy)
    assert allow is (await authorizer.decide(query(tenant=tenant))).allow


def unjudged(policies: str) -> CedarAuthorizer:
    """A decision point whose policies the schema would not have taken."""
    schema = Schema.from_str(SCHEMA)
    return CedarAuthorizer(
        CedarPolicies(
            policies=PolicySet.from_str(policies),
            schema=schema,
            entities=Entities.from_json_str(ENTITIES, schema),
            statements=tuple(split_statements("policies/a.cedar", policies)),
            version=Digest("sha256:0"),
        )
    )


ERRING = {
    "a member that is absent": "forbid (principal, action, resource) when { resource.archived };",
    "a number that overflows": "forbid (principal, action, resource) "
    "when { 9223372036854775807 + 1 > 0 };",
    "an entity that does not exist": "forbid (principal, action, resource) "
    'when { project::"nowhere".owner == "x" };',
}


@pytest.mark.requirement("ACC-1", "RES-9")
@pytest.mark.parametrize("forbid", ERRING.values(), ids=ERRING)
async def test_a_forbid_that_errs_is_no_decision_though_the_engine_says_allow(forbid: str) -> None:
    policies = f"permit (principal, action, resource);\n{forbid}"
    schema = Schema.from_str(SCHEMA)
    engine = is_authorized(
        {
            "principal": {"type": "Caller", "id": "svc-deploy"},
            "action": {"type": "Action", "id": "job_status"},
            "resource": {"type": "project", "id": "bluebird"},
            "context": {"tool": "job_status", "contract_digest": "sha256:0"},
        },
        policies,
        Entities.from_json_str(ENTITIES, schema),
        schema=schema,
    )
    assert engine.decision.value == "Allow"  # what makes this test worth having
    decision = await unjudged(policies).decide(query())
    assert decision.allow is False
    assert "error while evaluating policy at policies/a.cedar:2" in decision.errors[0]


@pytest.mark.requirement("ACC-1")
async def test_a_permit_that_errs_beside_one_that_holds_is_no_decision() -> None:
    overflow = "permit (principal, action, resource) when { 9223372036854775807 + 1 > 0 };"
    decision = await unjudged(f"permit (principal, action, resource);{overflow}").decide(query())
    assert (decision.allow, len(decision.errors)) == (False, 1)


NO_DECISION = {
    "a tool that the schema does not know": query(tool="job_stop"),
    "a resource type that the schema does not know": query(resource=Resource(type="team", id="x")),
    "a type that is no name": query(resource=Resource(type="pro ject", id="x")),
    "a resource type of another action": query(resource=Resource(type="Tool", id="job_status")),
    "a resource that does not exist": query(resource=Resource(type="project", id="nowhere")),
}


@pytest.mark.requirement("ACC-1")
@pytest.mark.parametrize("asked", NO_DECISION.values(), ids=NO_DECISION)
async def test_a_question_that_the_schema_does_not_take_is_an_error(asked: AccessQuery) -> None:
    decision = await loaded().decide(asked)
    assert decision.allow is False
    assert decision.errors


@pytest.mark.requirement("ACC-1")
async def test_a_subject_that_is_no_text_raises_and_so_is_no_decision() -> None:
    with pytest.raises(UnicodeEncodeError):
        await loaded().decide(query(subject="svc-\ud800"))


async def test_each_decision_has_its_own_id_and_the_version_of_all_documents() -> None:
    authorizer = loaded()
    first, second = await authorizer.decide(query()), await authorizer.decide(query(subject="x"))
    assert first.decision_id != second.decision_id
    assert first.policy_version == second.policy_version == authorizer.policy_version


@pytest.mark.parametrize(
    "changed",
    [
        {"runs__cedar": "permit (principal, action, resource);"},
        {"schema__cedarschema": SCHEMA + "\n"},
        {"entities__json": "[]"},
        {"archive__cedar": None},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_the_version_follows_every_document(changed: dict[str, str | None]) -> None:
    assert loaded().policy_version != loaded(**changed).policy_version
    assert loaded().policy_version == loaded().policy_version


@pytest.mark.parametrize(
    ("tool", "resource_type", "fits"),
    [
        ("job_status", "project", True),
        ("list_projects", None, True),
        ("job_status", None, False),
        ("job_status", "team", False),
        ("job_stop", "project", False),
    ],
)
def test_a_tool_that_the_schema_does_not_take_is_known_before_it_is_called(
    tool: str, resource_type: str | None, fits: bool
) -> None:
    assert fits is (loaded().find_unfit(tool, resource_type) is None)


@pytest.mark.parametrize("declared", ["tenant: String", "tenant?: Long", "session?: String"])
def test_a_context_that_leaves_the_tenant_out_or_demands_it_does_not_fit(declared: str) -> None:
    schema = SCHEMA.replace("tenant?: String", declared)
    assert loaded(schema__cedarschema=schema).find_unfit("job_status", "project") is not None
