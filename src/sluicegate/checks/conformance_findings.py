"""What a value breaks of its schema: up to 20 findings, ours in every word (SPEC ARG-3)."""

from __future__ import annotations

from sluicegate.checks.conformance_engine import find_errors
from sluicegate.checks.conformance_report import Report
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.values.findings import MAX_ENGINE_MESSAGE, MAX_FINDINGS, Finding


def explain_violations(
    value: object, schema: CompiledSchema, is_arguments: bool
) -> tuple[tuple[Finding, ...], str | None]:
    """Return up to 20 findings, none of a valid value, and the engine's own first text, cut.

    Order: about the whole document first, missing before unexpected members, then as they stand
    in the document. ``is_arguments``: a root that must be an object and is none is NOT_AN_OBJECT;
    of data it is TYPE, NULL or STRINGIFIED as any other value. Of a very large value only the
    first violation is told. Findings never echo a value, and names in them are cut and escaped;
    the engine's text may hold values. Raises: what the engine raises. Source: SPEC ARG-3.
    """
    errors, start = find_errors(value, schema)
    report = Report(schema.document, value, start, is_arguments=is_arguments)
    for error in errors:
        report.take(error)
    findings = tuple(entry.finding for entry in report.close()[:MAX_FINDINGS])
    return findings, errors[0].message[:MAX_ENGINE_MESSAGE] if errors else None
