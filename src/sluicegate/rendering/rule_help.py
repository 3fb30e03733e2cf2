"""What code scanning is told of a rule: our own, one of lint, a kind of change, or a code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from types import MappingProxyType
from typing import Final

from sluicegate.rendering.change_pages import read_change_page
from sluicegate.rendering.pages import read_page
from sluicegate.rendering.reports import Report, RuleHelp
from sluicegate.rendering.rule_pages import read_rule_page
from sluicegate.values.codes import CODES, Code

FIXTURE: Final = RuleHelp(
    id="FIXTURE",
    name="fixture-as-expected",
    text="A fixture must come out of the real ladders as it says.",
)
MUTANT: Final = RuleHelp(
    id="MUTANT",
    name="mutant-refused",
    text="A wrong document made of an accepted one must be refused at its rung.",
)
VERSION: Final = RuleHelp(
    id="VERSION",
    name="version-raised",
    text="A version must be raised as far as its changes since the releases ask.",
)
ACCESS: Final = RuleHelp(
    id="ACCESS",
    name="row-allows",
    text="An access row must name a tool and a resource type that a contract here has.",
)
AUDIT: Final = RuleHelp(
    id="AUDIT",
    name="gate-opens",
    text="A gate must open with the places that `audit` in sluicegate.yaml names.",
)
LIMITS: Final = RuleHelp(
    id="LIMITS",
    name="stores-installed",
    text="What counts quotas and keeps keys must be installed where `limits` names it.",
)
NOTIFY: Final = RuleHelp(
    id="NOTIFY",
    name="owner-told",
    text="A route of `notify` must lead from an owner that a contract here has.",
)
DOUBT: Final = RuleHelp(
    id="DOUBT",
    name="hardly-meant",
    text="The folder loads, and something in it is hardly meant.",
    severity="warning",
)
SERVING: Final = RuleHelp(
    id="SERVING",
    name="served-otherwise",
    text="A tool is served otherwise than its folder stands: switched off, rolled back, shared.",
    severity="info",
)
NOTHING_CHECKED: Final = RuleHelp(
    id="NOTHING_CHECKED",
    name="nothing-checked",
    text="There was nothing to check, so nothing is known to be well.",
)
IDLE_WAIVER: Final = RuleHelp(
    id="idle-waiver", name="idle-waiver", text="A waiver that waives nothing.", severity="warning"
)
FAULTS_OF_VERSION: Final[Mapping[str, RuleHelp]] = MappingProxyType(
    {
        fault: RuleHelp(id=fault, name=fault, text=text)
        for fault, text in (
            ("not-bumped", "The declared version is the old one, and something changed."),
            ("under-bumped", "The declared version says less than what changed."),
            ("decreased", "The declared version is lower than the old one."),
        )
    }
)
_OWN: Final[Mapping[str, RuleHelp]] = MappingProxyType(
    {
        rule.id: rule
        for rule in (
            FIXTURE,
            MUTANT,
            VERSION,
            ACCESS,
            AUDIT,
            LIMITS,
            NOTIFY,
            DOUBT,
            SERVING,
            NOTHING_CHECKED,
            IDLE_WAIVER,
            *FAULTS_OF_VERSION.values(),
        )
    }
)


def explain_rules(report: Report) -> tuple[RuleHelp, ...]:
    """Return what can be told of each rule that an item of the report bears."""
    return tuple(_explain(rule) for rule in sorted({item.rule for item in report.items}))


def _explain(rule: str) -> RuleHelp:
    if rule in _OWN:
        return replace(_OWN[rule], page=_read_own_page(rule))
    if rule in CODES:
        code = Code(rule)
        return RuleHelp(id=rule, name=_spell(rule), text=CODES[code].summary, page=read_page(code))
    page = read_rule_page(rule)
    if page is not None:
        head, text = page.splitlines()[0], page.splitlines()[2]
        return RuleHelp(id=rule, name=head.split()[-1], text=text, page=page)
    page = read_change_page(rule)
    if page is not None:
        return RuleHelp(id=rule, name=rule, text=page.splitlines()[2], page=page)
    # An archive may tell of a verdict that was another program's.
    return RuleHelp(id=rule, name=_spell(rule), text=rule)


def list_own_rules() -> tuple[RuleHelp, ...]:
    """Return what `check` and `diff` look for beside fixtures, lint and changes, with its page."""
    return tuple(replace(rule, page=_read_own_page(rule.id)) for rule in _OWN.values())


def _read_own_page(rule: str) -> str:
    page = files("sluicegate.rendering").joinpath("own_rules", f"{rule}.md")
    return page.read_text(encoding="utf-8")


def _spell(rule: str) -> str:
    return rule.lower().replace("_", "-")
