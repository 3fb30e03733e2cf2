"""A Cedar folder that is not whole does not load, and says where."""

from __future__ import annotations

import json

import pytest
from tests.unit.access.cedar_documents import FORBID, GUARDED, POLICIES, SCHEMA, documents

from sluicegate.access import cedar_folder
from sluicegate.access.cedar import CedarAuthorizer
from sluicegate.access.cedar_folder import load_cedar
from sluicegate.access.cedar_statements import Statement, split_statements

pytestmark = pytest.mark.requirement("ACC-2", "CON-3")

SCHEMA_JSON = json.dumps(
    {
        "": {
            "entityTypes": {"Caller": {}, "Tool": {}},
            "actions": {
                "list_projects": {
                    "appliesTo": {"principalTypes": ["Caller"], "resourceTypes": ["Tool"]}
                }
            },
        }
    }
)

POLICY_OF = "permit (principal, action, resource) when { X };"

REFUSED: dict[str, tuple[dict[str, str | None], str, str]] = {
    "no schema": ({"schema__cedarschema": None}, "policies", "holds no schema"),
    "two schemas": ({"schema__json": SCHEMA_JSON}, "policies", "holds two schemas"),
    "a schema that is none": (
        {"schema__cedarschema": "entity User { name String };"},
        "policies/schema.cedarschema",
        "no Cedar schema: error parsing schema",
    ),
    "a schema of unknown types": (
        {"schema__cedarschema": "entity User { name: Strin };"},
        "policies/schema.cedarschema",
        "failed to resolve type: Strin",
    ),
    "a JSON schema with a member twice": (
        {"schema__cedarschema": None, "schema__json": '{"": {},\n "": {}}'},
        "policies/schema.json:2:",
        "twice in one object",
    ),
    "a JSON schema that is none": (
        {"schema__cedarschema": None, "schema__json": '{"a": 1}'},
        "policies/schema.json",
        "no Cedar schema",
    ),
    "no policy": (
        {"runs__cedar": None, "archive__cedar": None},
        "policies",
        "holds no policy",
    ),
    "comments alone": (
        {"runs__cedar": "// nothing\n", "archive__cedar": "// nothing"},
        "policies",
        "holds no policy",
    ),
    "an empty file": ({"runs__cedar": " "}, "policies/runs.cedar:1:1", "is empty"),
    "a text that is no policy": (
        {"runs__cedar": POLICIES + "\n  permit (principal, action\n resource);"},
        "policies/runs.cedar:8:3",
        "cannot be read: unexpected token `resource`",
    ),
    "a policy without its semicolon": (
        {"runs__cedar": "// one\npermit (principal, action, resource)"},
        "policies/runs.cedar:2:1",
        "cannot be read",
    ),
    "a semicolon too many": (
        {"runs__cedar": "permit (principal, action, resource);;"},
        "policies/runs.cedar:1:38",
        "cannot be read",
    ),
    "a template": (
        {"runs__cedar": "permit (principal == ?principal, action, resource);"},
        "policies/runs.cedar:1:1",
        "is a template",
    ),
    "a forbid on a member that may be absent": (
        {"archive__cedar": "// one\n" + FORBID},
        "policies/archive.cedar:2:1",
        "unable to guarantee safety of access to optional attribute `archived`",
    ),
    "a tool that is misspelt": (
        {"runs__cedar": 'permit (principal, action == Action::"job_sttus", resource);'},
        "policies/runs.cedar:1:1",
        "unrecognized action",
    ),
    "a type that is misspelt": (
        {"runs__cedar": 'permit (principal == Callr::"a", action, resource);'},
        "policies/runs.cedar:1:1",
        "does not fit the schema",
    ),
    "a forbid on a member that is misspelt": (
        {"archive__cedar": "// one\n" + GUARDED.replace("has archived", "has archivd")},
        "policies/archive.cedar:2:1",
        "asks `has archivd`: never true there",
    ),
    "a forbid on a misspelt member, quoted, behind other words": (
        {
            "archive__cedar": FORBID.replace(
                "resource.archived", 'resource.owner == "a" || !(resource has // it\n "archivd")'
            )
        },
        "policies/archive.cedar:1:1",
        'asks `has // it\\u000a "archivd"`',
    ),
    "a forbid on a misspelt member of the context": (
        {"archive__cedar": FORBID.replace("resource.archived", "context has tennant")},
        "policies/archive.cedar:1:1",
        "asks `has tennant`",
    ),
    "a forbid on a misspelt member of a member": (
        {
            "schema__cedarschema": SCHEMA.replace(
                "archived?: Bool", "archived?: Bool, state?: {done?: Bool}"
            ),
            "archive__cedar": FORBID.replace("resource.archived", "resource has state . don"),
        },
        "policies/archive.cedar:1:1",
        "asks `has state . don`",
    ),
    "a member that no caller has": (
        {"archive__cedar": FORBID.replace("resource.archived", "principal has owner")},
        "policies/archive.cedar:1:1",
        "asks `has owner`",
    ),
    "a policy for what no question is about": (
        {"archive__cedar": FORBID.replace("resource.archived", "principal is Group")},
        "policies/archive.cedar:1:1",
        "can never apply under the schema",
    ),
    "a policy that is switched off": (
        {"runs__cedar": POLICY_OF.replace("X", "false")},
        "policies/runs.cedar:1:1",
        "can never apply under the schema",
    ),
    "a tag that nothing bears": (
        {"runs__cedar": POLICY_OF.replace("X", 'resource.hasTag("a")')},
        "policies/runs.cedar:1:1",
        "can never apply under the schema",
    ),
    "a policy that would crash the engine": (
        {"runs__cedar": POLICY_OF.replace("X", "(" * 100_000 + "true" + ")" * 100_000)},
        "policies/runs.cedar:1:1",
        "nests deeper than 64 levels",
    ),
    "a policy of sets that would crash the engine": (
        {"runs__cedar": POLICY_OF.replace("X", "[" * 1000 + "]" * 1000)},
        "policies/runs.cedar:1:1",
        "nests deeper than 64 levels",
    ),
    "a chain of conditions that would crash the engine": (
        {
            "runs__cedar": POLICY_OF.replace(
                "X", "if true then " * 5000 + "true" + " else true" * 5000
            )
        },
        "policies/runs.cedar:1:1",
        "more than 500 operators",
    ),
    "a chain that the engine would not judge to its end": (
        {"runs__cedar": POLICY_OF.replace("X", "principal" + ".x" * 5000)},
        "policies/runs.cedar:1:1",
        "more than 500 operators",
    ),
    "a policy behind a line that ends in CR alone": (
        {"runs__cedar": POLICIES + "// nobody\rforbid (principal, action, resource);\r"},
        "policies/runs.cedar:7:10",
        "holds the character \\u000d",
    ),
    "a line that ends for a reader, and not for the engine": (
        {"runs__cedar": POLICIES + "// nobody\u2028forbid (principal, action, resource);\n"},
        "policies/runs.cedar:7:10",
        "holds the character \\u2028",
    ),
    "a policy that shows in another order": (
        {"runs__cedar": POLICY_OF.replace("X", '"\u202e" == "a"')},
        "policies/runs.cedar:1:46",
        "holds the character \\u202e",
    ),
    "a string that never ends": (
        {"runs__cedar": POLICY_OF.replace("X", '\\"' * 500_000)},
        "policies/runs.cedar:1:1",
        "cannot be read",
    ),
    "a schema behind a line that ends in CR alone": (
        {"schema__cedarschema": f"// x\rtype A = {'Set<' * 20_000}Long{'>' * 20_000};"},
        "policies/schema.cedarschema:1:5",
        "holds the character \\u000d",
    ),
    "a schema with a string that never ends": (
        {"schema__cedarschema": '\\"' * 500_000},
        "policies/schema.cedarschema",
        "no Cedar schema",
    ),
    "a schema that would crash the engine": (
        {"schema__cedarschema": f"type A = {'Set<' * 100_000}Long{'>' * 100_000};"},
        "policies/schema.cedarschema",
        "nests deeper than 64 levels",
    ),
    "a JSON schema that would crash the engine": (
        {
            "schema__cedarschema": None,
            "schema__json": '{"": ' + '{"a": ' * 200 + "1" + "}" * 201,
        },
        "policies/schema.json",
        "deeper than",
    ),
    "entities that nest too deep": (
        {"entities__json": "[" * 100_000 + "]" * 100_000},
        "policies/entities.json",
        "deeper than",
    ),
    "entities with a member twice": (
        {"entities__json": '[{"uid": {"type": "Group", "id": "a", "id": "b"}}]'},
        "policies/entities.json:1:",
        "twice in one object",
    ),
    "entities that are no list": (
        {"entities__json": "{}"},
        "policies/entities.json:1:1",
        "must be a list",
    ),
    "an entity that does not fit": (
        {
            "entities__json": '[\n {"uid": {"type": "Group", "id": "a"}, "attrs": {}, '
            '"parents": []},\n {"uid": {"type": "project", "id": "b"}, "attrs": {}, '
            '"parents": []}]'
        },
        "policies/entities.json:3:2",
        "does not conform to the schema",
    ),
    "entities in a circle": (
        {
            "schema__cedarschema": "entity Caller in [Caller];",
            "runs__cedar": "permit (principal, action, resource);",
            "archive__cedar": None,
            "entities__json": json.dumps(
                [
                    {
                        "uid": {"type": "Caller", "id": one},
                        "attrs": {},
                        "parents": [{"type": "Caller", "id": other}],
                    }
                    for one, other in (("a", "b"), ("b", "a"))
                ]
            ),
        },
        "policies/entities.json",
        "cannot be used",
    ),
}


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize(("changed", "where", "said"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_whole_does_not_load_and_says_where(
    changed: dict[str, str | None], where: str, said: str
) -> None:
    problems = load_cedar("policies", documents(**changed))
    assert isinstance(problems, tuple)
    told = [str(problem) for problem in problems]
    assert any(text.startswith(where) and said in text for text in told), told


def test_all_faults_are_told_at_once() -> None:
    problems = load_cedar(
        "policies", documents(runs__cedar="permit (;\nforbid (;", entities__json="{}")
    )
    assert isinstance(problems, tuple)
    assert [(problem.document, problem.line) for problem in problems] == [
        ("policies/runs.cedar", 1),
        ("policies/runs.cedar", 2),
        ("policies/entities.json", 1),
    ]


@pytest.mark.requirement("AUD-5")
def test_what_an_engine_says_of_a_hostile_text_is_escaped_and_cut() -> None:
    condition = rf'principal["\u{{202e}}\u{{1b}}[31m{"x" * 5000}"]'
    problems = load_cedar("policies", documents(runs__cedar=POLICY_OF.replace("X", condition)))
    assert isinstance(problems, tuple)
    (text,) = map(str, problems)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert len(text) < 600


def test_a_json_schema_and_no_entities_load_as_well() -> None:
    authorizer = load_cedar(
        "policies",
        documents(
            schema__cedarschema=None,
            schema__json=SCHEMA_JSON,
            runs__cedar="permit (principal, action, resource);",
            archive__cedar=None,
            entities__json=None,
        ),
    )
    assert isinstance(authorizer, CedarAuthorizer), authorizer
    assert authorizer.count == 1


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CR LF"])
def test_a_policy_behind_a_comment_is_a_policy(end: str) -> None:
    text = "// nobody;" + end + "forbid (principal, action, resource);" + end
    authorizer = load_cedar("policies", documents(runs__cedar=text, archive__cedar=None))
    assert isinstance(authorizer, CedarAuthorizer), authorizer
    assert authorizer.count == 1


def test_a_member_that_one_of_several_resources_has_may_be_asked_of_all() -> None:
    text = "permit (principal, action, resource) when { resource has archived };"
    authorizer = load_cedar("policies", documents(runs__cedar=text))
    assert isinstance(authorizer, CedarAuthorizer), authorizer


def test_a_document_in_which_the_engine_finds_other_policies_does_not_load(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def forget_the_last(document: str, text: str) -> list[Statement]:
        return list(split_statements(document, text))[:-1]

    monkeypatch.setattr(cedar_folder, "split_statements", forget_the_last)
    problems = load_cedar("policies", documents())
    assert isinstance(problems, tuple)
    assert [(problem.document, problem.message) for problem in problems] == [
        ("policies/archive.cedar", "The engine counts 1 policies here, and 0 are told apart."),
        ("policies/runs.cedar", "The engine counts 2 policies here, and 1 are told apart."),
    ]


def test_policies_of_several_files_count_together() -> None:
    authorizer = load_cedar("policies", documents())
    assert isinstance(authorizer, CedarAuthorizer)
    assert authorizer.count == 3


@pytest.mark.parametrize(
    "condition",
    [
        "(" * 62 + "true" + ")" * 62,
        " && ".join(["true"] * 500),
        "if true then " * 400 + "true" + " else true" * 400,
        'resource.owner == "' + "(" * 5000 + '"',
        'context has tenant && context.tenant == "a" || resource has archived',
        'if context has tenant then context.tenant == "has nothing" else resource has "owner"',
        " && ".join(["resource has archived"] * 250),
        "principal in [" + ", ".join(f'Group::"{each}"' for each in range(5000)) + "]",
    ],
    ids=[
        "nested",
        "joined",
        "conditions",
        "a long text",
        "a member that may be there",
        "a member in a branch",
        "many members",
        "a long list",
    ],
)
def test_what_the_engine_can_be_trusted_with_loads(condition: str) -> None:
    scope = "permit (principal, action, resource is project) when { X };"
    authorizer = load_cedar("policies", documents(runs__cedar=scope.replace("X", condition)))
    assert isinstance(authorizer, CedarAuthorizer), authorizer
