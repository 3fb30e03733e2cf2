"""GitHub's published webhook schemas, imported with the declared defaults, against its payloads.

Today's examples are accepted; what an older product sends for the same events is refused where it
differs, and the findings name the place. The suite is octokit/webhooks v7.6.1 (MIT), draft-07.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from sluicegate.checks.conformance_findings import explain_violations
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.registration import register
from sluicegate.lifecycle.importing.drafts import Draft, draft
from sluicegate.lifecycle.importing.gathering import gather
from sluicegate.lifecycle.importing.schema_files import blueprint_of_schema
from sluicegate.opening.drafting_schemas import read_tree

SUITES: Final = os.environ.get("SLUICEGATE_SUITES")

pytestmark = [
    pytest.mark.requirement("LIF-6"),
    pytest.mark.skipif(SUITES is None, reason="SLUICEGATE_SUITES names no folder of suites"),
]

DRIFT: Final = {
    "membership/added.json": {"/enterprise"},
    "team/edited.json": {"/enterprise"},
    "label/created.json": {"/label/description", "/repository/is_template"},
    "release/published.json": {"/release/name", "/release/body"},
}
"""What the older product sends otherwise: some of the pointers that must be named."""


@cache
def documents() -> dict[str, Any]:
    return dict(read_tree(_suite() / "payload-schemas" / "api.github.com"))


def _suite() -> Path:
    return Path(SUITES or "") / "github-webhooks"


@cache
def imported(name: str) -> CompiledSchema:
    """The result schema of the contract that is imported from one published schema."""
    schema = gather(name, documents())
    assert not isinstance(schema, tuple), schema
    made = draft(blueprint_of_schema("event", schema, "result", {}), accept_defaults=True)
    assert isinstance(made, Draft), made
    compiled = register(json.loads(made.files["schemas/result.json"]), side="result", strict=True)
    assert isinstance(compiled, CompiledSchema), compiled
    return compiled


def payloads(product: str) -> list[tuple[str, str, Any]]:
    """Each example as (its name, the schema of its event and action, its value)."""
    root = _suite() / "payload-examples" / product
    found = []
    for path in sorted(root.rglob("*.json")):
        value = json.loads(path.read_bytes())
        event = path.parent.name
        wanted = (f"{event}/{value.get('action')}.schema.json", f"{event}/event.schema.json")
        name = next((each for each in wanted if each in documents()), None)
        if name is None and event == "deployment_status":
            name = f"{event}/created.schema.json"
        if name is not None:
            found.append((path.relative_to(root).as_posix(), name, value))
    return found


def test_todays_examples_are_accepted() -> None:
    examples = payloads("api.github.com")
    root = _suite() / "payload-examples" / "api.github.com"
    names = {path.relative_to(root).as_posix() for path in root.rglob("*.json")}
    assert names == {name for name, _, _ in examples}
    refused = [name for name, schema, value in examples if not imported(schema).is_valid(value)]
    assert refused == []


def test_what_an_older_product_sends_is_refused_where_it_differs() -> None:
    pointers: dict[str, set[str]] = {}
    for name, schema, value in payloads("ghes-34"):
        compiled = imported(schema)
        assert not compiled.is_valid(value), name
        findings, _ = explain_violations(value, compiled, False)
        pointers[name] = {finding.pointer for finding in findings}
    assert len(pointers) > 50
    assert all(pointers.values())
    missed = {name: wanted - pointers[name] for name, wanted in DRIFT.items()}
    assert missed == {name: set() for name in DRIFT}, {n: pointers[n] for n in DRIFT}
