"""A folder held to all that it says: loaded, its fixtures climbed, linted, versions compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from sluicegate.contracts.problems import Problem
from sluicegate.contracts.served import ContractSet
from sluicegate.gates.serving import Line
from sluicegate.opening.clock import SystemClock
from sluicegate.opening.decision_points import open_decision_point
from sluicegate.opening.doubts import list_doubts, list_services
from sluicegate.opening.fixtures import TriedFixture
from sluicegate.opening.flaws import find_lint_errors
from sluicegate.opening.frozen_files import find_edited
from sluicegate.opening.linting import Linted
from sluicegate.opening.loaded import Loaded
from sluicegate.opening.loading import FolderLoading, start_loading
from sluicegate.opening.probing import Probed, probe_briefly
from sluicegate.opening.serving import build_all
from sluicegate.opening.steering import Steering
from sluicegate.opening.succession import Unraised, find_unraised, prepare_judging
from sluicegate.opening.unfit import find_unfit
from sluicegate.opening.waivers import Waived


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderReport:
    """What ``check`` found: ``contracts`` is None where the folder does not load.

    ``waivers`` are those of every contract that could be read, the expired ones too. ``notes`` say
    what loads and yet is hardly meant, ``services`` what is served otherwise than the folder
    stands. ``lint`` are the errors of lint in what is served; ``unraised`` are the versions that
    do not say what changed since their releases; ``probes`` are the mutants of each version being
    worked on; ``unfit`` is what the settings say and cannot mean. ``steering`` is what an operator
    had steered when the folder was read.
    """

    contracts: ContractSet | None
    problems: tuple[Problem, ...]
    fixtures: tuple[TriedFixture, ...]
    waivers: tuple[Waived, ...] = ()
    notes: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    lint: tuple[Linted, ...] = ()
    unraised: tuple[Unraised, ...] = ()
    probes: tuple[Probed, ...] = ()
    unfit: tuple[Problem, ...] = ()
    steering: Steering = field(default_factory=Steering)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A folder that a gate could serve: ``lines`` are those of every version."""

    contracts: ContractSet
    lines: tuple[Line, ...]


def check_folder(
    folder: Path, *, python: bool = True, now: datetime | None = None, mutants: bool = True
) -> FolderReport:
    """Load, climb every fixture and mutants of them, lint, hold each version to its releases.

    No store is opened and nothing is served. ``now`` is the time by which waivers expire; by
    default the machine's; ``mutants=False`` leaves mutants out. A version that an operator rolled
    back to has no fixtures here, as in ``open_gate``, and the version being worked on is then held
    to nothing. A frozen file that is not what was released is a problem here, though a gate opens
    as long as it does not serve it; nothing is judged where there is one. Raises:
    ConfigurationError where steering file or waivers are wrong.
    """
    loading = start_loading(folder, now or SystemClock().now(), python=python)
    loaded = loading.load()
    ready = _ready(loaded)
    if isinstance(ready, Ready):
        return _judge(loading, loaded, ready, mutants=mutants)
    return FolderReport(
        contracts=None,
        problems=ready,
        fixtures=(),
        waivers=loaded.waivers,
        steering=loaded.steering,
    )


def _ready(loaded: Loaded) -> Ready | tuple[Problem, ...]:
    """Build what a gate would serve, or say all that keeps it from being served."""
    problems = tuple(dict.fromkeys((*loaded.problems, *find_edited(loaded.read))))
    if loaded.contracts is None or problems:
        return problems
    lines = build_all(loaded.contracts, loaded.read.root)
    if isinstance(lines, tuple):
        return loaded.tell(lines)
    point = open_decision_point(loaded.contracts, loaded.read.root)
    if isinstance(point, tuple):
        return point
    return Ready(contracts=loaded.contracts, lines=tuple(lines))


def _judge(loading: FolderLoading, loaded: Loaded, ready: Ready, *, mutants: bool) -> FolderReport:
    """Hold what could be served to its fixtures, to lint and to its releases."""
    judged = [(line, loaded.run_fixtures(line)) for line in ready.lines]
    fixtures = tuple(each for _, found in judged for each in found)
    working = [(line, own) for line, own in judged if loaded.is_worked_on(line.contract)]
    judging = prepare_judging(loaded, loading.now, python=loading.python)
    unraised = tuple(find_unraised(working, judging))
    probes = tuple(probe_briefly(loaded, line, own) for line, own in working) if mutants else ()
    notes = list_doubts(loaded, ready.contracts, fixtures, releases=loading.judge_releases())
    return FolderReport(
        contracts=ready.contracts,
        problems=(),
        fixtures=fixtures,
        waivers=loaded.waivers,
        services=tuple(list_services(loaded, ready.contracts)),
        notes=tuple(notes),
        lint=tuple(find_lint_errors(loaded, loading.now, python=loading.python)),
        unraised=unraised,
        probes=probes,
        unfit=tuple(find_unfit(loaded.read, ready.contracts)),
        steering=loaded.steering,
    )
