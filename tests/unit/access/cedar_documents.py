"""A Cedar folder as documents: two tools, one that names projects and one that names nothing."""

from __future__ import annotations

SCHEMA = """\
entity Caller in [Group];
entity Group;
entity Tool;
entity project = { owner: String, archived?: Bool };

type Asked = { tool: String, contract_digest: String, tenant?: String };

action read;
action job_status in [read] appliesTo {
  principal: [Caller], resource: [project], context: Asked,
};
action list_projects in [read] appliesTo {
  principal: [Caller], resource: [Tool], context: Asked,
};
"""

POLICIES = """\
// Who may look at runs; a semicolon in a comment; ends nothing.
@id("deploy")
permit (principal == Caller::"svc-deploy", action == Action::"job_status", resource)
when { resource.owner == "a;b" };

permit (principal in Group::"readers", action in Action::"read", resource);
"""

FORBID = """\
forbid (principal, action, resource is project)
when { resource.archived };
"""

GUARDED = """\
forbid (principal, action, resource is project)
when { resource has archived && resource.archived };
"""

ENTITIES = """\
[
  {"uid": {"type": "project", "id": "bluebird"}, "attrs": {"owner": "a;b"}, "parents": []},
  {"uid": {"type": "project", "id": "attic"}, "parents": [],
   "attrs": {"owner": "a;b", "archived": true}},
  {"uid": {"type": "Caller", "id": "svc-read"}, "attrs": {},
   "parents": [{"type": "Group", "id": "readers"}]}
]
"""


def documents(**changed: str | None) -> dict[str, bytes]:
    """Return the folder ``policies``; a name with ``__`` stands for one with a dot; None drops."""
    folder: dict[str, str | None] = {
        "schema.cedarschema": SCHEMA,
        "runs.cedar": POLICIES,
        "archive.cedar": GUARDED,
        "entities.json": ENTITIES,
        **{name.replace("__", "."): text for name, text in changed.items()},
    }
    return {f"policies/{name}": text.encode() for name, text in folder.items() if text is not None}
