"""Opening a contract folder: read, load, try, wire, run the fixtures, hand back a gate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches
from functools import partial
from pathlib import Path

from sluicegate.adapters.credentials import Credentials
from sluicegate.contracts.loading import load
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.served import ContractSet
from sluicegate.contracts.settings import AuditSettings, Settings
from sluicegate.errors import ConfigurationError, ContractFolderError
from sluicegate.gates.gate import Gate, Opened
from sluicegate.gates.means import Means
from sluicegate.gates.ports import AuditStore, Clock
from sluicegate.gates.serving import Line, Serving
from sluicegate.notices.notices import open_notifier
from sluicegate.opening.clock import SystemClock, draw, new_request_id
from sluicegate.opening.documents import SETTINGS_NAME, Folder, read_folder
from sluicegate.opening.fixtures import FixtureResult, run_fixtures
from sluicegate.opening.python_names import resolve
from sluicegate.opening.released import put_released
from sluicegate.opening.steering import read_steering
from sluicegate.opening.trial import try_contracts
from sluicegate.opening.waivers import Waived, list_waivers, refuse_expired
from sluicegate.opening.wiring import build_authored, build_authorizer, build_lines
from sluicegate.stores.stores import open_store
from sluicegate.values.codes import Code
from sluicegate.values.names import show_name


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderReport:
    """What ``check`` found: ``contracts`` is None where the folder does not load.

    ``waivers`` are those of every contract that could be read, the expired ones too. ``notes`` say
    what loads and yet is hardly meant.
    """

    contracts: ContractSet | None
    problems: tuple[Problem, ...]
    fixtures: tuple[FixtureResult, ...]
    waivers: tuple[Waived, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """``contracts`` None: see ``problems``. ``rolled_back`` are names of contract documents."""

    read: Folder
    contracts: ContractSet | None = None
    problems: tuple[Problem, ...] = ()
    rolled_back: frozenset[str] = frozenset()
    waivers: tuple[Waived, ...] = ()

    def run_fixtures(self, line: Line) -> tuple[FixtureResult, ...]:
        """Climb the working fixtures, which judge the working version: none if rolled back."""
        source = line.contract.source
        if source in self.rolled_back:
            return ()
        return tuple(run_fixtures((self.read.root / source).parent, line))


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
    serving = _open_serving(root, clock.now(), python=python, fixtures=fixtures)
    if isinstance(serving, tuple):
        raise ContractFolderError(serving)
    settings = serving.contracts.settings
    means = Means(
        clock=clock,
        store=_open_record(settings, root),
        authorizer=build_authorizer(settings.access),
        notifier=open_notifier(settings.notify),
        retention=settings.retention,
        new_request_id=new_request_id,
        draw=draw,
    )
    return Gate(
        means,
        serving,
        reopen=partial(_reopen, root, settings.audit, python=python, fixtures=fixtures),
        author=build_authored(root, Credentials(root), settings.limits, clock.now)
        if python
        else None,
    )


def _reopen(
    root: Path, audit: AuditSettings, means: Means, *, python: bool, fixtures: bool
) -> Opened | tuple[Problem, ...]:
    """Open the folder anew: its contracts, and who may call, who is told and what is kept."""
    serving = _open_serving(root, means.clock.now(), python=python, fixtures=fixtures)
    if isinstance(serving, tuple):
        return serving
    settings = serving.contracts.settings
    if settings.audit != audit:
        return (
            Problem(
                code=Code.CONTRACT_INVALID,
                document="sluicegate.yaml",
                message="A running gate keeps its record: `audit` cannot change while it runs.",
                mend="Put `audit` back, or start the gate anew.",
            ),
        )
    return Opened(
        serving=serving,
        means=replace(
            means,
            authorizer=build_authorizer(settings.access),
            notifier=open_notifier(settings.notify),
            retention=settings.retention,
        ),
    )


def check_folder(folder: Path, *, python: bool = True, now: datetime | None = None) -> FolderReport:
    """Load the folder and climb every fixture, without opening a store or serving anything.

    ``now`` is the time by which waivers expire; by default the machine's. A version that an
    operator rolled back to has no fixtures here, as in ``open_gate``.
    """
    loaded = _load(folder, now or SystemClock().now(), python=python)
    contracts, problems, results = loaded.contracts, loaded.problems, list[FixtureResult]()
    if contracts is not None:
        lines = build_lines(contracts.contracts.values(), folder, Credentials(folder))
        if isinstance(lines, tuple):
            contracts, problems = None, lines
        else:
            for line in lines.values():
                results.extend(loaded.run_fixtures(line))
    return FolderReport(
        contracts=contracts,
        problems=problems,
        fixtures=tuple(results),
        waivers=loaded.waivers,
        notes=() if contracts is None else tuple(_list_doubts(loaded.read, contracts, results)),
    )


def _list_doubts(
    read: Folder, contracts: ContractSet, results: Sequence[FixtureResult]
) -> Iterator[str]:
    served = contracts.contracts.keys()
    for tool in sorted(served - {each.tool for each in results}):
        yield f"{tool} has no fixtures: nothing shows that its contract fits its tool's answers"
    if SETTINGS_NAME not in read.documents:
        yield f"there is no {SETTINGS_NAME}, so no access rule: every call will be DENIED"
    for rule in contracts.settings.access.rules:
        if rule.tool != "*" and rule.tool not in served:
            near = get_close_matches(rule.tool, served, n=1)
            yield f"an access rule names the tool {show_name(rule.tool)}, which has no contract" + (
                f"; did you mean {near[0]}?" if near else ""
            )


def open_folder_store(folder: Path, *, python: bool = False) -> AuditStore:
    """Open the record of a folder for an operator, whether or not its contracts load.

    Raises: ConfigurationError where the settings or the store are wrong.
    """
    read = read_folder(folder)
    wanted = {name: raw for name, raw in read.documents.items() if name == "sluicegate.yaml"}
    loaded = load(wanted, resolve=resolve if python else None)
    if isinstance(loaded, tuple):
        raise ConfigurationError("\n".join(str(problem) for problem in loaded))
    return _open_record(loaded.settings, folder)


def _open_record(settings: Settings, folder: Path) -> AuditStore:
    """Open the record and its keys; what the system says of their paths is configuration."""
    try:
        return open_store(settings.audit, settings.retention, folder)
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"the record of {folder} cannot be opened: {error}; look at audit.store and audit.keys"
        ) from error


def _open_serving(
    root: Path, now: datetime, *, python: bool, fixtures: bool
) -> Serving | tuple[Problem, ...]:
    loaded = _load(root, now, python=python)
    contracts = loaded.contracts
    if contracts is None:
        return loaded.problems
    withdrawn = {
        tool: f"switched off by an operator: {reason}"
        for tool, reason in read_steering(root).disabled.items()
    }
    lines = build_lines(
        [each for tool, each in contracts.contracts.items() if tool not in withdrawn],
        root,
        Credentials(root),
    )
    if isinstance(lines, tuple):
        return lines
    for tool, line in list(lines.items()) if fixtures else ():
        failing = next((each for each in loaded.run_fixtures(line) if not each.ok), None)
        if failing is not None:
            withdrawn[tool] = f"fixture {failing.path} {failing.note}"
            del lines[tool]
    return Serving(contracts=contracts, lines=lines, withdrawn=withdrawn)


def _load(root: Path, now: datetime, *, python: bool) -> _Loaded:
    read = read_folder(root)
    if read.problems:
        return _Loaded(read=read, problems=read.problems)
    steered = put_released(read, read_steering(root))
    if steered.problems:
        return _Loaded(read=read, problems=steered.problems)
    contracts = load(steered.documents, resolve=resolve if python else None)
    if isinstance(contracts, tuple):
        return _Loaded(read=read, problems=contracts)
    waivers = list_waivers(contracts.contracts.values(), now)
    problems = refuse_expired(waivers) or try_contracts(contracts.contracts.values())
    return _Loaded(
        read=read,
        contracts=None if problems else contracts,
        problems=problems,
        rolled_back=steered.replaced,
        waivers=waivers,
    )
