"""Whatever the validator refuses of the official suite is explained, and at places that exist."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from sluicegate.checks.conformance_findings import explain_violations
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.registration import register
from sluicegate.values.pointers import NOTHING, Pointer

SUITES: Final = os.environ.get("SLUICEGATE_SUITES")

pytestmark = [
    pytest.mark.requirement("ARG-3", "RES-4"),
    pytest.mark.skipif(SUITES is None, reason="SLUICEGATE_SUITES names no folder of suites"),
]

META_SCHEMA: Final = "https://json-schema.org/draft/2020-12/schema"


def refused() -> Iterator[tuple[str, CompiledSchema, Any]]:
    """Every instance that a registrable schema of the suite refuses, with where it stands."""
    folder = Path(SUITES or "") / "json-schema-test-suite"
    for path in sorted(folder.rglob("draft2020-12/**/*.json")):
        if "remotes" in path.parts:
            continue
        for group in json.loads(path.read_bytes()):
            schema = register(group["schema"], side="result", strict=False)
            if isinstance(schema, CompiledSchema):
                for case in group["tests"]:
                    if not schema.is_valid(case["data"]):
                        yield f"{path.stem}: {group['description']}", schema, case["data"]


def test_every_refusal_has_findings_whose_places_exist() -> None:
    judged = 0
    unexplained = []
    for name, schema, value in refused():
        if schema.document.get("$ref") == META_SCHEMA:
            continue  # the violated keyword stands in the meta-schema, not in the document
        judged += 1
        found, _ = explain_violations(value, schema, False)
        places = [Pointer.parse(one.schema_pointer or "").find(schema.document) for one in found]
        if not found or NOTHING in places or len(found) > 20:
            unexplained.append((name, [one.schema_pointer for one in found]))
    assert unexplained == []
    assert judged > 900
