"""From a folder's files to its contracts: read, steered, loaded, waivers judged, schemas tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path, PurePosixPath

from sluicegate.adapters.credentials import Credentials
from sluicegate.contracts.contract import Contract
from sluicegate.contracts.evidence import judge_evidence, mark_witnesses
from sluicegate.contracts.loading import load
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.served import ContractSet
from sluicegate.gates.serving import Line
from sluicegate.opening.documents import CONTRACT_NAMES, Folder, read_folder
from sluicegate.opening.fixtures import TriedFixture, run_fixtures
from sluicegate.opening.offering import find_home, list_frozen, offer_versions
from sluicegate.opening.python_names import resolve
from sluicegate.opening.released import (
    Release,
    list_released,
    put_released,
    tell_of_releases,
    tool_of,
)
from sluicegate.opening.steering import read_steering
from sluicegate.opening.trial import try_contracts
from sluicegate.opening.waivers import Waived, list_waivers, refuse_expired
from sluicegate.opening.wiring import build_lines
from sluicegate.values.names import show_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """``contracts`` None: see ``problems``. ``rolled_back`` maps contract documents to releases.

    ``contracts`` holds the versions being worked on, and in ``rollouts`` those that are served.
    """

    read: Folder
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
        """Return ``problems`` with those of a rolled back tool under its released document."""
        return tuple(tell_of_releases(problems, self.rolled_back))


def load_folder(root: Path, now: datetime, *, python: bool) -> Loaded:
    """Load the folder as an operator steered it. Raises: ConfigurationError as ``read_steering``.

    ``now`` is the time by which waivers expire; ``python=False`` forbids every Python name.
    """
    read = read_folder(root)
    if read.problems:
        return Loaded(read=read, problems=read.problems)
    loaded = _load_offered(read, read_steering(root).versions, now, python=python)
    released = {release.document: release for release in loaded.rolled_back.values()}
    return replace(
        loaded,
        problems=tuple(
            replace(problem, mend=f"{problem.mend} {_way_out(released[problem.document])}".strip())
            if problem.document in released
            else problem
            for problem in loaded.problems
        ),
    )


def _way_out(release: Release) -> str:
    return (
        "An operator rolled back to it; "
        f"`sluicegate disable {show_name(release.tool)} --undo --reason …` ends that."
    )


def rehearse_rollback(
    root: Path, tool: str, version: str, now: datetime, *, python: bool
) -> tuple[Problem, ...]:
    """Return what a rollback of ``tool`` to ``version`` would break; nothing is changed.

    The released document is loaded alone, to the last step before it is served, and then with
    the whole folder as it would be. What is broken already is no reason to refuse.
    """
    read = read_folder(root)
    alone = _judge_released(read, _tools_of(read), tool, version, now, python=python)
    if isinstance(alone, tuple):
        return alone
    refused = try_contracts([alone])
    if refused or read.problems:
        return refused
    versions = read_steering(root).versions
    before = _load_offered(read, versions, now, python=python)
    after = _load_offered(read, {**versions, tool: version}, now, python=python)
    return tuple(problem for problem in after.problems if problem not in before.problems)


def judge_releases(read: Folder, now: datetime, *, python: bool) -> tuple[Problem, ...]:
    """Return what keeps released documents of the folder from being served again.

    Their schemas are tried together: a child process each would take longer than all the rest.
    """
    tools = _tools_of(read)
    judged = [
        _judge_released(read, tools, tools[name], version, now, python=python)
        for name, home in sorted(read.tool_folders().items())
        for version in list_released(home)
    ]
    refused = [problem for each in judged if isinstance(each, tuple) for problem in each]
    return (*refused, *try_contracts([each for each in judged if isinstance(each, Contract)]))


def _tools_of(read: Folder) -> dict[str, str]:
    return {name: tool_of(read, name) for name in read.tool_folders()}


def _judge_released(
    read: Folder, tools: Mapping[str, str], tool: str, version: str, now: datetime, *, python: bool
) -> Contract | tuple[Problem, ...]:
    """Load one released document and build its line, or say what is wrong with it."""
    contract = _load_released(read, tools, tool, version, now, python=python)
    if isinstance(contract, tuple):
        return contract
    lines = build_lines([contract], read.root, Credentials(read.root))
    return lines if isinstance(lines, tuple) else contract


def _load_released(
    read: Folder, tools: Mapping[str, str], tool: str, version: str, now: datetime, *, python: bool
) -> Contract | tuple[Problem, ...]:
    """Load one released document with the settings and schema files, but no other contract.

    Returns it under its own name, its schemas untried, or what is wrong with it.
    """
    documents = {name: raw for name, raw in read.documents.items() if tools.get(name, tool) == tool}
    loaded = _load(
        replace(read, documents=documents), {tool: version}, now, python=python, trial=False
    )
    if loaded.contracts is None:
        return loaded.problems
    (contract,) = loaded.contracts.contracts.values()
    return replace(contract, source=loaded.rolled_back[contract.source].document)


def _load_offered(
    read: Folder, versions: Mapping[str, str], now: datetime, *, python: bool
) -> Loaded:
    """As ``_load``, every released version that ``serve`` names, and what rests on what."""
    loaded = _load_versions(read, versions, now, python=python)
    if loaded.contracts is None:
        return loaded
    unproven = judge_evidence(loaded.contracts)
    if unproven:
        return replace(loaded, contracts=None, problems=loaded.tell(unproven))
    return replace(loaded, contracts=mark_witnesses(loaded.contracts))


def _load_versions(
    read: Folder, versions: Mapping[str, str], now: datetime, *, python: bool
) -> Loaded:
    loaded = _load(read, versions, now, python=python)
    if loaded.contracts is None or not loaded.contracts.settings.serve:
        return loaded
    tools = _tools_of(read)

    def load_frozen(tool: str, version: str) -> Contract | tuple[Problem, ...]:
        return _load_released(read, tools, tool, version, now, python=python)

    offered = offer_versions(read, loaded.contracts, versions, load_frozen)
    if isinstance(offered, tuple):
        return replace(loaded, contracts=None, problems=offered)
    frozen = list_frozen(offered)
    refused = try_contracts(frozen)
    return replace(
        loaded,
        contracts=None if refused else offered,
        problems=refused,
        waivers=(*loaded.waivers, *list_waivers(frozen, now)),
    )


def _load(
    read: Folder,
    versions: Mapping[str, str],
    now: datetime,
    *,
    python: bool,
    trial: bool = True,
) -> Loaded:
    steered = put_released(read, versions)
    if steered.problems:
        return Loaded(read=read, problems=steered.problems)
    contracts = load(steered.documents, resolve=resolve if python else None)
    if isinstance(contracts, tuple):
        return Loaded(read=read, problems=steered.tell(contracts), rolled_back=steered.replaced)
    served = contracts.contracts.values()
    waivers = list_waivers(served, now)
    problems = tuple(steered.find_strangers(served)) or refuse_expired(waivers)
    if trial and not problems:
        problems = try_contracts(served)
    return Loaded(
        read=read,
        contracts=None if problems else contracts,
        problems=steered.tell(problems),
        rolled_back=steered.replaced,
        waivers=waivers,
    )
