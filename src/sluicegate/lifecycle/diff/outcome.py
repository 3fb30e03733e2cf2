"""The whole diff: every tool, and what it comes to."""

from __future__ import annotations

from dataclasses import dataclass

from sluicegate.lifecycle.diff.changes import Outcome
from sluicegate.lifecycle.diff.comparison import ToolDiff
from sluicegate.lifecycle.diff.kinds import Bump
from sluicegate.lifecycle.diff.versions import VersionFinding
from sluicegate.lifecycle.diff.waiving import IdleWaiver


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """``tools`` hold those that changed and those that did not; ``idle`` waivers waived nothing."""

    tools: tuple[ToolDiff, ...]
    idle: tuple[IdleWaiver, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """The worst of all tools: a break that is known, else one that cannot be ruled out."""
        outcomes = {tool.outcome for tool in self.tools}
        for outcome in (Outcome.BREAKING, Outcome.UNDECIDED):
            if outcome in outcomes:
                return outcome
        return Outcome.COMPATIBLE

    @property
    def bump(self) -> Bump:
        """The greatest bump that a tool asks for; a patch at least, since none asks for less."""
        bumps = (tool.bump for tool in self.tools)
        return max([Bump.PATCH, *bumps], key=lambda bump: bump.weight)

    @property
    def version_findings(self) -> tuple[VersionFinding, ...]:
        """What is wrong with declared versions."""
        found = (tool.version_finding for tool in self.tools)
        return tuple(one for one in found if one is not None)

    @property
    def clean(self) -> bool:
        """Whether nothing stands in the way: compatible, and the versions tell what changed."""
        return self.outcome is Outcome.COMPATIBLE and not self.version_findings
