"""Opening a contract folder: read, load, try, wire, run the fixtures, hand back a gate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from sluicegate.adapters.credentials import Credentials
from sluicegate.contracts.loading import load
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.served import ContractSet
from sluicegate.contracts.settings import Settings
from sluicegate.errors import ConfigurationError, ContractFolderError
from sluicegate.gates.gate import Gate, Opened
from sluicegate.gates.means import Means
from sluicegate.gates.ports import AuditStore, Clock, Replays
from sluicegate.gates.serving import Serving
from sluicegate.notices.notices import open_notifier
from sluicegate.opening.clock import SystemClock, draw, new_request_id
from sluicegate.opening.decision_points import open_decision_point
from sluicegate.opening.documents import read_folder, say_misplaced
from sluicegate.opening.doubts import list_doubts
from sluicegate.opening.fixtures import TriedFixture
from sluicegate.opening.frozen_files import find_edited
from sluicegate.opening.key_stores import share_keys
from sluicegate.opening.linting import Linted, lint_paths
from sluicegate.opening.loaded import Loaded, judge_releases, load_folder
from sluicegate.opening.observing import observe
from sluicegate.opening.outside_files import demand_outside_files
from sluicegate.opening.probing import Probed, probe_briefly
from sluicegate.opening.python_names import resolve
from sluicegate.opening.quotas import open_quota
from sluicegate.opening.second_sinks import put_beside
from sluicegate.opening.serving import build_all, open_serving
from sluicegate.opening.signing import sign_as_it_grows
from sluicegate.opening.steering import read_steering
from sluicegate.opening.succession import Unraised, find_unraised, prepare_judging
from sluicegate.opening.unfit import Unfit, find_unfit
from sluicegate.opening.waivers import Waived
from sluicegate.opening.wiring import build_authored
from sluicegate.stores.replays import open_replays
from sluicegate.stores.stores import open_store
from sluicegate.values.codes import Code


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderReport:
    """What ``check`` found: ``contracts`` is None where the folder does not load.

    ``waivers`` are those of every contract that could be read, the expired ones too. ``notes`` say
    what loads and yet is hardly meant. ``lint`` are the errors of lint in what is served;
    ``unraised`` are the versions that do not say what changed since their releases; ``probes``
    are the mutants of each version being worked on; ``unfit`` is what the settings say and cannot
    mean.
    """

    contracts: ContractSet | None
    problems: tuple[Problem, ...]
    fixtures: tuple[TriedFixture, ...]
    waivers: tuple[Waived, ...] = ()
    notes: tuple[str, ...] = ()
    lint: tuple[Linted, ...] = ()
    unraised: tuple[Unraised, ...] = ()
    probes: tuple[Probed, ...] = ()
    unfit: tuple[Unfit, ...] = ()


def open_gate(
    folder: str | Path = "contracts",
    *,
    python: bool = True,
    fixtures: bool = True,
    clock: Clock | None = None,
) -> Gate:
    """Open a contract folder and return the gate that serves it.

    ``python=False`` forbids every Python name in it; ``fixtures=False`` leaves its fixtures out;
    ``clock`` stands in for the machine's in tests. A contract whose fixtures fail is not served
    and says so when it is called. A version that an operator rolled back to is served without
    fixtures: those in the folder belong to the version being worked on.
    Raises: ContractFolderError with every problem where the folder does not load;
    ConfigurationError where a store, key, credential or steering file is wrong. SPEC CON-3.
    """
    root, clock = Path(folder), clock or SystemClock()
    serving = open_serving(root, clock.now(), python=python, fixtures=fixtures)
    if isinstance(serving, tuple):
        raise ContractFolderError(serving)
    authorizer = open_decision_point(serving.contracts, root)
    if isinstance(authorizer, tuple):
        raise ContractFolderError(authorizer)
    settings = serving.contracts.settings
    demand_outside_files(settings.audit, root)
    record = put_beside(_open_record(settings, root), settings.audit, root)
    signed = sign_as_it_grows(record, settings.audit, root, clock.now)
    store, observer = observe(share_keys(signed, settings, root, clock.now))
    means = Means(
        replays=_open_replays(serving, root, None),
        clock=clock,
        store=store,
        observer=observer,
        authorizer=authorizer,
        notifier=open_notifier(settings.notify),
        retention=settings.retention,
        new_request_id=new_request_id,
        draw=draw,
        quota=open_quota(settings.limits.quota_store),
        quotas=settings.limits.quotas,
    )
    return Gate(
        means,
        serving,
        reopen=partial(_reopen, root, settings, python=python, fixtures=fixtures),
        author=build_authored(root, Credentials(root), settings.limits, clock.now)
        if python
        else None,
    )


def _reopen(
    root: Path, before: Settings, means: Means, *, python: bool, fixtures: bool
) -> Opened | tuple[Problem, ...]:
    """Open the folder anew: its contracts, and who may call, who is told and what is kept."""
    serving = open_serving(root, means.clock.now(), python=python, fixtures=fixtures)
    if isinstance(serving, tuple):
        return serving
    settings = serving.contracts.settings
    for key, changed in (
        ("audit", settings.audit != before.audit),
        ("limits.quota_store", settings.limits.quota_store != before.limits.quota_store),
        ("limits.key_store", settings.limits.key_store != before.limits.key_store),
    ):
        if changed:
            return (
                Problem(
                    code=Code.CONTRACT_INVALID,
                    document="sluicegate.yaml",
                    message=f"A running gate keeps what it counts: `{key}` cannot change"
                    " while it runs.",
                    mend=f"Put `{key}` back, or start the gate anew.",
                ),
            )
    authorizer = open_decision_point(serving.contracts, root)
    if isinstance(authorizer, tuple):
        return authorizer
    return Opened(
        serving=serving,
        means=replace(
            means,
            authorizer=authorizer,
            notifier=open_notifier(settings.notify),
            retention=settings.retention,
            quotas=settings.limits.quotas,
            replays=_open_replays(serving, root, means.replays),
        ),
    )


def _open_replays(serving: Serving, root: Path, opened: Replays | None) -> Replays | None:
    """Open the memory of signed answers once a served contract needs it (RES-6)."""
    if opened is not None or all(line.keys is None for line in serving.every_line()):
        return opened
    return open_replays(serving.contracts.settings.audit, root)


def check_folder(
    folder: Path, *, python: bool = True, now: datetime | None = None, mutants: bool = True
) -> FolderReport:
    """Load, climb every fixture and mutants of them, lint, hold each version to its releases.

    No store is opened and nothing is served. ``now`` is the time by which waivers expire; by
    default the machine's; ``mutants=False`` leaves mutants out. A version that an operator rolled
    back to has no fixtures here, as in ``open_gate``, and the version being worked on is then held
    to nothing. A frozen file that is not what was released is a problem here, though a gate opens
    as long as it does not serve it. Raises: ConfigurationError where steering file or waivers are
    wrong.
    """
    now = now or SystemClock().now()
    loaded = load_folder(folder, now, python=python)
    contracts, problems, results = loaded.contracts, loaded.problems, list[TriedFixture]()
    unraised: list[Unraised] = []
    probes: list[Probed] = []
    edited = find_edited(loaded.read)
    if edited:
        contracts, problems = None, tuple(dict.fromkeys((*problems, *edited)))
    if contracts is not None:
        lines = build_all(contracts, folder)
        if isinstance(lines, tuple):
            contracts, problems = None, loaded.tell(lines)
        else:
            for line in lines:
                results.extend(loaded.run_fixtures(line))
            point = open_decision_point(contracts, folder)
            judging = prepare_judging(loaded, now, python=python)
            working = [line for line in lines if loaded.is_worked_on(line.contract)]
            unraised = list(find_unraised(working, judging))
            tried = working if mutants else []
            probes = [probe_briefly(loaded, line, results) for line in tried]
            if isinstance(point, tuple):
                contracts, problems = None, point
    notes: Iterable[str] = ()
    linted: tuple[Linted, ...] = ()
    unfit: Iterable[Unfit] = ()
    if contracts is not None:
        linted = _lint(folder, loaded, now, python=python)
        unfit = find_unfit(loaded.read, contracts)
        notes = list_doubts(
            loaded,
            contracts,
            results,
            steering=read_steering(folder),
            releases=judge_releases(loaded.read, now, python=python),
        )
    return FolderReport(
        contracts=contracts,
        problems=problems,
        fixtures=tuple(results),
        waivers=loaded.waivers,
        notes=tuple(notes),
        lint=linted,
        unraised=tuple(unraised),
        probes=tuple(probes),
        unfit=tuple(unfit),
    )


def _lint(folder: Path, loaded: Loaded, now: datetime, *, python: bool) -> tuple[Linted, ...]:
    """The errors of lint; where an operator rolled back, the working version is not judged."""
    aside = {str(folder / name) for name in loaded.rolled_back}
    return tuple(
        linted
        for linted in lint_paths([folder], python=python, today=now.date()).findings
        if linted.finding.severity == "error" and linted.file not in aside
    )


def open_folder_store(folder: Path, *, python: bool = False) -> AuditStore:
    """Open the record of a folder for an operator, whether or not its contracts load.

    Raises: ConfigurationError where the settings or the store are wrong.
    """
    return _open_record(read_settings(folder, python=python), folder)


def read_settings(folder: Path, *, python: bool = False) -> Settings:
    """Return the settings of a folder, whether or not its contracts load.

    Raises: ConfigurationError where they are wrong.
    """
    read = read_folder(folder)
    wanted = {name: raw for name, raw in read.documents.items() if name == "sluicegate.yaml"}
    loaded = load(wanted, resolve=resolve if python else None)
    if isinstance(loaded, tuple):
        raise ConfigurationError("\n".join(str(problem) for problem in loaded))
    return loaded.settings


def _open_record(settings: Settings, folder: Path) -> AuditStore:
    """Open the record and its keys; what the system says of their paths is configuration.

    A folder inside the contract folder gets no record of its own: nobody would look for it there.
    """
    misplaced = say_misplaced(folder)
    if misplaced is not None:
        raise ConfigurationError(misplaced)
    try:
        return open_store(settings.audit, settings.retention, folder)
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"the record of {folder} cannot be opened: {error}; look at audit.store and audit.keys"
        ) from error
