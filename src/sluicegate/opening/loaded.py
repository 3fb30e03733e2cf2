"""A contract folder as it was loaded: its contracts, or what keeps them from being served."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from sluicegate.contracts.contract import Contract
from sluicegate.contracts.file_names import CONTRACT_NAMES
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.served import ContractSet
from sluicegate.gates.serving import Line
from sluicegate.opening.documents import Folder
from sluicegate.opening.fixtures import TriedFixture, run_fixtures
from sluicegate.opening.locating import locate
from sluicegate.opening.offering import find_home
from sluicegate.opening.released import Release, tell_of_releases
from sluicegate.opening.steering import Steering
from sluicegate.opening.waivers import Waived


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """``contracts`` None: see ``problems``. ``rolled_back`` maps contract documents to releases.

    ``contracts`` holds the versions being worked on, and in ``rollouts`` those that are served.
    ``steering`` is what an operator had steered when the folder was read.
    """

    read: Folder
    steering: Steering = field(default_factory=Steering)
    contracts: ContractSet | None = None
    problems: tuple[Problem, ...] = ()
    rolled_back: Mapping[str, Release] = field(default_factory=dict)
    waivers: tuple[Waived, ...] = ()

    def run_fixtures(self, line: Line) -> tuple[TriedFixture, ...]:
        """Climb the fixtures of the line's version: none if rolled back.

        Those of the folder judge the version being worked on; a release has those frozen with it.
        """
        if line.contract.source in self.rolled_back:
            return ()
        home = find_home(self.read.root, line.contract)
        return tuple(run_fixtures(home, line, root=self.read.root))

    def is_worked_on(self, contract: Contract) -> bool:
        """Whether it is the version being worked on, and no release stands in for it or beside."""
        return (
            PurePosixPath(contract.source).name in CONTRACT_NAMES
            and contract.source not in self.rolled_back
        )

    def tell(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """Return ``problems`` at their lines; a rolled back tool's under its released document."""
        return tuple(locate(tell_of_releases(problems, self.rolled_back), self.read.root))
