"""What ``test`` found, in the words of its renderers: every place as one can open it from here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sluicegate.opening.testing_contracts import FolderProbe, Hole, ProbedContract
    from sluicegate.rendering.testing import ContractScore, Survivor, Tested


def as_tested(folder: str, probe: FolderProbe, min_score: float) -> Tested:
    """Return the probe of ``folder`` for its readers."""
    from sluicegate.cli.check import as_checked_fixture
    from sluicegate.rendering.testing import Tested

    contracts = probe.contracts
    return Tested(
        folder=folder,
        contracts=None if contracts is None else tuple(map(_as_score, contracts)),
        problems=tuple(
            replace(problem, document=str(Path(folder, problem.document)))
            for problem in probe.problems
        ),
        fixtures=tuple(
            as_checked_fixture(folder, each)
            for contract in contracts or ()
            for each in contract.fixtures
        ),
        survivors=tuple(
            as_survivor(folder, contract.tool, hole)
            for contract in contracts or ()
            for side in contract.sides.values()
            for hole in side.holes
        ),
        min_score=min_score,
    )


def _as_score(contract: ProbedContract) -> ContractScore:
    from sluicegate.rendering.testing import ContractScore, SideScore

    return ContractScore(
        tool=contract.tool,
        version=contract.version,
        score=contract.score,
        rolled_back=contract.rolled_back,
        sides={
            name: SideScore(
                mutants=side.mutants,
                killed=side.killed,
                equivalent=side.equivalent,
                score=side.score,
                untried=side.untried,
                unreached=side.unreached,
                alike=side.alike,
            )
            for name, side in contract.sides.items()
        },
    )


def as_survivor(folder: str, tool: str, hole: Hole) -> Survivor:
    """Return one hole of a tool's contract for its readers."""
    from sluicegate.rendering.testing import Survivor

    judged = hole.judged
    return Survivor(
        tool=tool,
        name=hole.name,
        file=str(Path(folder, hole.example.path)),
        raw=hole.example.raw,
        pointer=judged.mutant.pointer,
        level=judged.mutant.level,
        stage=judged.mutant.stage,
        fate=judged.fate,
        got="" if judged.stage is None else f"{judged.stage}/{judged.code}",
        rule=judged.mutant.rule,
        keyword=judged.mutant.keyword,
    )
