"""Every rule of lint, and the registration code that refuses a contract for the same (LIF-1)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from sluicegate.lifecycle.lint import (
    actions,
    bounds,
    dialect,
    envelopes,
    exposures,
    kinds,
    links,
    objects,
    patterns,
    sets,
    sizes,
    suppressions,
    texts,
)
from sluicegate.lifecycle.lint.findings import Rule
from sluicegate.values.codes import Code

_MODULES: Final = (
    *(objects, kinds, bounds, sizes, patterns, dialect, sets, envelopes, exposures, actions, links),
    *(texts, suppressions),
)

_LETTERS: Final = "CBXDUERTSL"

RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        rule.id: rule
        for rule in sorted(
            (rule for module in _MODULES for rule in module.RULES),
            key=lambda rule: (_LETTERS.index(rule.id[0]), rule.id),
        )
    }
)
"""By id, in the order of the reference page."""

CODES: Final[Mapping[str, Code]] = MappingProxyType(
    {rule.id: rule.code for rule in RULES.values() if rule.code is not None}
)
"""Rule id → the code with which registration refuses what an error of the rule tells of."""


def find_rule(name: str) -> Rule | None:
    """Return the rule of an id or a name, whatever the case."""
    wanted = name.lower()
    return next((rule for rule in RULES.values() if wanted in (rule.id.lower(), rule.name)), None)
