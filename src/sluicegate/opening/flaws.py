"""What speaks against a contract that loads and whose fixtures hold: errors of lint, and holes.

``check`` tells of it and ``release`` refuses for it, so both find it here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from sluicegate.gates.serving import Line
from sluicegate.opening.fixtures import TriedFixture
from sluicegate.opening.linting import Linted, lint_paths
from sluicegate.opening.loaded import Loaded
from sluicegate.opening.probing import probe_briefly
from sluicegate.opening.succession import Judging

_SAYS: Final = {
    "refused": "is refused, and must pass",
    "seen": "shows the agent what it must not see",
}


def find_lint_errors(loaded: Loaded, now: datetime, *, python: bool) -> Iterator[Linted]:
    """Yield the errors of lint; where an operator rolled back, the working version is not judged.

    ``now`` is the time by which suppressions expire.
    """
    root = loaded.read.root
    aside = {str(root / name) for name in loaded.rolled_back}
    for linted in lint_paths([root], python=python, today=now.date()).findings:
        if linted.finding.severity == "error" and linted.file not in aside:
            yield linted


def find_flaws(
    loaded: Loaded, line: Line, fixtures: Sequence[TriedFixture], judging: Judging
) -> Iterator[str]:
    """Yield a sentence for each error of lint and each hole of the line's contract.

    ``fixtures`` are its own, as they were judged.
    """
    tool, folder = line.contract.tool, loaded.read.root
    for linted in find_lint_errors(loaded, judging.now, python=judging.resolver is not None):
        if linted.owner == tool:
            at = ":".join(map(str, filter(None, (linted.file, linted.line, linted.column))))
            yield f"{at}: lint {linted.finding.rule}: {linted.finding.message}"
    probed = probe_briefly(loaded, line, fixtures)
    yield from probed.faults
    for hole in probed.holes:
        says = _SAYS.get(hole.judged.fate, "is not refused at its rung")
        yield f"the mutant {hole.name} {says}: `sluicegate test {folder} --tool {tool}` tells more."
