"""Every kind of change, and what it asks of the version for each reader (facts: lifecycle B2).

The model writes arguments and the tool reads them; the adapter writes results and the agent reads
them. So a widening is safe for arguments and breaks results, and a narrowing the reverse. What
narrows a result also refuses live answers of the upstream, so it asks for a replay first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from types import MappingProxyType
from typing import Final


class Bump(StrEnum):
    """What a change asks of the version, least first."""

    NONE = "none"
    PATCH = "patch"
    MINOR = "minor"
    MAJOR = "major"

    @property
    def weight(self) -> int:
        """0 to 3: a greater one asks for more."""
        return list(Bump).index(self)


class Rule(Enum):
    """What the table says of a kind on one side."""

    NONE = "none"
    """The kind does not arise on this side."""
    PATCH = "patch"
    MINOR = "minor"
    REPLAY = "minor, after a replay"
    """Compatible for the agent; live answers may be refused, so replay or former fixtures first."""
    MAJOR = "major"
    PROOF = "as proven"
    """The keyword alone does not tell; the proof over both schemas decides."""


@dataclass(frozen=True, slots=True)
class ChangeKind:
    """One row of the table. ``name`` is that of its page, and never given another meaning."""

    name: str
    arguments: Rule
    result: Rule

    @property
    def whole(self) -> Rule:
        """What a change of the tool as a whole asks: the stricter of both sides."""
        order = list(Rule)
        return max(self.arguments, self.result, key=order.index)


_NONE, _PATCH, _MINOR, _REPLAY, _MAJOR, _PROOF = Rule

_ROWS: Final = (
    # what a schema says, not what it admits
    ChangeKind("rewritten", _PATCH, _PATCH),
    ChangeKind("schema-text-changed", _MINOR, _PATCH),
    ChangeKind("comment-changed", _PATCH, _PATCH),
    ChangeKind("default-changed", _MINOR, _PATCH),
    ChangeKind("deprecated-changed", _MINOR, _MINOR),
    # the members of an object
    ChangeKind("optional-property-added", _MINOR, _MAJOR),
    ChangeKind("required-property-added", _MAJOR, _MAJOR),
    ChangeKind("property-added-to-open", _MAJOR, _REPLAY),
    ChangeKind("optional-property-removed", _MAJOR, _REPLAY),
    ChangeKind("required-property-removed", _MAJOR, _MAJOR),
    ChangeKind("property-removed-from-open", _MINOR, _MAJOR),
    ChangeKind("property-renamed", _MAJOR, _MAJOR),
    ChangeKind("property-required", _MAJOR, _REPLAY),
    ChangeKind("property-optional", _MINOR, _MAJOR),
    ChangeKind("object-opened", _MINOR, _MAJOR),
    ChangeKind("object-closed", _MAJOR, _REPLAY),
    ChangeKind("additional-changed", _PROOF, _PROOF),
    # one value
    ChangeKind("type-widened", _MINOR, _MAJOR),
    ChangeKind("type-narrowed", _MAJOR, _REPLAY),
    ChangeKind("type-changed", _MAJOR, _MAJOR),
    ChangeKind("enum-widened", _MINOR, _MAJOR),
    ChangeKind("enum-narrowed", _MAJOR, _REPLAY),
    ChangeKind("enum-changed", _MAJOR, _MAJOR),
    ChangeKind("enum-added", _MAJOR, _REPLAY),
    ChangeKind("enum-removed", _MINOR, _MAJOR),
    ChangeKind("bound-loosened", _MINOR, _MAJOR),
    ChangeKind("bound-tightened", _MAJOR, _REPLAY),
    ChangeKind("constraint-added", _MAJOR, _REPLAY),
    ChangeKind("constraint-removed", _MINOR, _MAJOR),
    ChangeKind("constraint-changed", _PROOF, _PROOF),
    ChangeKind("pattern-added", _MAJOR, _REPLAY),
    ChangeKind("pattern-removed", _MINOR, _MAJOR),
    ChangeKind("pattern-changed", _PROOF, _PROOF),
    ChangeKind("format-added", _MAJOR, _REPLAY),
    ChangeKind("format-removed", _MINOR, _MAJOR),
    ChangeKind("format-changed", _MAJOR, _MAJOR),
    # composition, arrays, and what no keyword explains
    ChangeKind("branch-added", _MINOR, _MAJOR),
    ChangeKind("branch-removed", _MAJOR, _REPLAY),
    ChangeKind("branches-changed", _PROOF, _PROOF),
    ChangeKind("condition-added", _MAJOR, _REPLAY),
    ChangeKind("condition-removed", _MINOR, _MAJOR),
    ChangeKind("condition-changed", _PROOF, _PROOF),
    ChangeKind("items-changed", _PROOF, _PROOF),
    ChangeKind("schema-changed", _PROOF, _PROOF),
    # tools and their definitions
    ChangeKind("tool-added", _MINOR, _MINOR),
    ChangeKind("tool-removed", _MAJOR, _MAJOR),
    ChangeKind("tool-text-changed", _MINOR, _MINOR),
    ChangeKind("annotations-changed", _PATCH, _PATCH),
    ChangeKind("hints-changed", _MAJOR, _MAJOR),
    ChangeKind("output-schema-added", _MINOR, _MINOR),
    ChangeKind("output-schema-removed", _MAJOR, _MAJOR),
    # the policy of a contract
    ChangeKind("effect-changed", _MAJOR, _MAJOR),
    ChangeKind("owner-changed", _PATCH, _PATCH),
    ChangeKind("resource-changed", _MAJOR, _NONE),
    ChangeKind("absence-changed", _MAJOR, _NONE),
    ChangeKind("check-added", _MAJOR, _REPLAY),
    ChangeKind("check-removed", _MAJOR, _MAJOR),
    ChangeKind("binding-changed", _NONE, _MAJOR),
    ChangeKind("freshness-widened", _NONE, _MAJOR),
    ChangeKind("freshness-narrowed", _NONE, _REPLAY),
    ChangeKind("signature-widened", _NONE, _MAJOR),
    ChangeKind("signature-narrowed", _NONE, _REPLAY),
    ChangeKind("limit-lowered", _MAJOR, _REPLAY),
    ChangeKind("limit-raised", _MINOR, _MINOR),
    ChangeKind("integers-narrowed", _MAJOR, _REPLAY),
    ChangeKind("integers-widened", _MINOR, _MAJOR),
    ChangeKind("endpoint-changed", _NONE, _REPLAY),
    ChangeKind("mapping-changed", _NONE, _REPLAY),
    ChangeKind("cache-changed", _NONE, _MINOR),
    ChangeKind("error-added", _NONE, _MAJOR),
    ChangeKind("error-removed", _NONE, _REPLAY),
    ChangeKind("error-retryable-changed", _NONE, _MAJOR),
    ChangeKind("retry-extended", _MINOR, _NONE),
    ChangeKind("retry-extended-for-writes", _MAJOR, _NONE),
    ChangeKind("retry-reduced", _MINOR, _NONE),
    # what reaches whom
    ChangeKind("selected-field-added", _NONE, _MAJOR),
    ChangeKind("selected-field-moved", _NONE, _MAJOR),
    ChangeKind("selected-field-removed", _NONE, _MAJOR),
    ChangeKind("optional-selected-field-removed", _NONE, _MINOR),
    ChangeKind("unselected-data-changed", _NONE, _MINOR),
    ChangeKind("host-fields-changed", _NONE, _MINOR),
    ChangeKind("mask-changed", _MINOR, _MINOR),
    ChangeKind("evidence-changed", _MAJOR, _NONE),
    ChangeKind("idempotency-changed", _MAJOR, _NONE),
    ChangeKind("quota-changed", _MAJOR, _NONE),
    ChangeKind("evidence-waiver-changed", _MAJOR, _NONE),
    ChangeKind("policy-changed", _MAJOR, _MAJOR),
    # names that stay taken
    ChangeKind("removed-name-reused", _MAJOR, _MAJOR),
    ChangeKind("tombstone-removed", _MAJOR, _MAJOR),
    ChangeKind("tombstone-missing", _PATCH, _PATCH),
    ChangeKind("tombstone-added", _PATCH, _PATCH),
    ChangeKind("names-not-compared", _MAJOR, _MAJOR),
)

KINDS: Final[Mapping[str, ChangeKind]] = MappingProxyType({row.name: row for row in _ROWS})
"""By name. A test holds table, pages and docs/reference/diff.md to each other."""
