"""For code scanning: a report as one SARIF 2.1.0 log (SPEC LIF-5).

Source: OASIS SARIF 2.1.0, sections named at each rule; GitHub docs, SARIF support for code
scanning (``partialFingerprints``, one location a result).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import PurePath
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

from sluicegate.rendering.escaping import show_cells
from sluicegate.rendering.reports import (
    Item,
    Report,
    RuleHelp,
    Severity,
    fingerprint_item,
    tell_item,
)
from sluicegate.values.json import JsonValue

SCHEMA_URI: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_FINGERPRINT: Final = "sluicegate/v1"
_ROOT: Final = "%SRCROOT%"
_LEVELS: Final[Mapping[Severity, str]] = MappingProxyType(
    {"error": "error", "warning": "warning", "info": "note"}
)


def render_sarif(report: Report, rules: Iterable[RuleHelp]) -> dict[str, JsonValue]:
    """Return the log: one run, its rules with help, one result an item.

    An item whose rule is not among ``rules`` gets a rule of its own name.
    """
    table = {rule.id: rule for rule in rules}
    for item in report.items:
        table.setdefault(
            item.rule, RuleHelp(id=item.rule, name=item.name, text=item.name or item.rule)
        )
    places = {rule_id: index for index, rule_id in enumerate(table)}
    return {
        "$schema": SCHEMA_URI,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "sluicegate",
                        "semanticVersion": version("sluicegate"),
                        "rules": [_shape_rule(rule) for rule in table.values()],
                    }
                },
                "automationDetails": {"id": f"sluicegate/{report.command}/"},
                "columnKind": "unicodeCodePoints",
                "results": [_shape_result(item, places[item.rule]) for item in report.items],
                "properties": {"verdict": report.verdict, "checked": report.checked},
            }
        ],
    }


def _shape_rule(rule: RuleHelp) -> dict[str, JsonValue]:
    shaped: dict[str, JsonValue] = {
        "id": rule.id,
        "shortDescription": {"text": _plain(rule.text)},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "help": {"text": _plain(rule.text)},
    }
    if rule.name:
        shaped["name"] = rule.name
    if rule.page:
        shaped["help"] = {"text": _plain(rule.page), "markdown": rule.page}
    return shaped


def _shape_result(item: Item, index: int) -> dict[str, JsonValue]:
    said = "\n".join(tell_item(item))
    shaped: dict[str, JsonValue] = {
        "ruleId": item.rule,
        "ruleIndex": index,
        "level": _LEVELS[item.severity],
        "message": {"text": _plain(said) or item.rule},
        "partialFingerprints": {_FINGERPRINT: fingerprint_item(item)},
    }
    if item.count > 1:
        shaped["occurrenceCount"] = item.count
    if item.file:
        shaped["locations"] = [_shape_location(item)]
    return shaped


def _shape_location(item: Item) -> dict[str, JsonValue]:
    # Code scanning shows a result only at a line, so what has none stands at the first one.
    region: dict[str, JsonValue] = {"startLine": item.line or 1}
    if item.line is not None and item.column is not None:
        region["startColumn"] = item.column
    location: dict[str, JsonValue] = {
        "physicalLocation": {"artifactLocation": _artifact(item.file), "region": region}
    }
    if item.pointer:
        location["logicalLocations"] = [{"fullyQualifiedName": _plain(item.pointer)}]
    return location


def _artifact(file: str) -> dict[str, JsonValue]:
    """Return where a file lies: a path below the root of the sources, or a whole URI (3.4)."""
    path = PurePath(file)
    shown = quote(path.as_posix(), errors="replace")
    if path.is_absolute():
        return {"uri": f"file://{shown}"}
    return {"uri": shown, "uriBaseId": _ROOT}


def _plain(text: str) -> str:
    """Return ``text`` without what a viewer acts on: control characters, links (3.11.6)."""
    shown = "\n".join(show_cells(line)[0] for line in text.split("\n"))
    if "](" not in shown:
        return shown
    return shown.replace("[", "\\[").replace("]", "\\]")
