"""From a folder's files to its contracts: read, steered, loaded, waivers judged, schemas tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from sluicegate.adapters.credentials import Credentials
from sluicegate.contracts.contract import Contract
from sluicegate.contracts.evidence import judge_evidence, mark_witnesses
from sluicegate.contracts.loading import load
from sluicegate.contracts.problems import Problem
from sluicegate.opening.documents import Folder, read_folder
from sluicegate.opening.loaded import Loaded
from sluicegate.opening.locating import locate
from sluicegate.opening.offering import offer_versions
from sluicegate.opening.python_names import Resolver, choose_resolver
from sluicegate.opening.released import put_released, tool_of
from sluicegate.opening.released_folder import ReleasedFolder
from sluicegate.opening.steering import Steering, read_steering
from sluicegate.opening.trial import try_contracts
from sluicegate.opening.waivers import list_waivers, refuse_expired
from sluicegate.opening.wiring import try_line
from sluicegate.values.names import show_name


def load_folder(root: Path, now: datetime, *, python: bool) -> Loaded:
    """Load the folder as an operator steered it. Raises: ConfigurationError as ``read_steering``.

    ``now`` is the time by which waivers expire; ``python=False`` forbids every Python name.
    """
    return start_loading(root, now, python=python).load()


def start_loading(root: Path, now: datetime, *, python: bool) -> FolderLoading:
    """Read a folder and its steering file, each once. Raises and parameters: ``load_folder``."""
    read = read_folder(root)
    return FolderLoading(
        read=read,
        tools={name: tool_of(read, name) for name in read.tool_folders()},
        steering=Steering() if read.problems else read_steering(root),
        now=now,
        resolver=choose_resolver(python=python),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderLoading:
    """A folder as it was read: whatever is loaded of it comes from these very bytes.

    ``tools`` has the tool of each contract document. ``now`` is the time by which waivers expire;
    ``resolver`` None forbids every Python name.
    """

    read: Folder
    tools: Mapping[str, str]
    steering: Steering
    now: datetime
    resolver: Resolver | None

    @property
    def python(self) -> bool:
        """Whether a contract may import what it names."""
        return self.resolver is not None

    def load(self) -> Loaded:
        """Load it as an operator steered it; what is wrong with a rollback names its way out."""
        if self.read.problems:
            return Loaded(read=self.read, problems=self.read.problems)
        loaded = self.load_steered(self.steering.versions)
        tools = {document: tool for tool, document in self._steered_documents()}
        return replace(
            loaded,
            problems=tuple(
                _with_way_out(problem, tools[problem.document])
                if problem.document in tools
                else problem
                for problem in loaded.problems
            ),
        )

    def _steered_documents(self) -> Iterator[tuple[str, str]]:
        """Yield each tool that is rolled back, with the name of the release that stands for it."""
        for name, home in self.read.tool_folders().items():
            version = self.steering.versions.get(self.tools[name])
            if version is not None:
                released = ReleasedFolder(root=self.read.root, home=home)
                yield self.tools[name], released.document_name(version)

    def load_steered(self, versions: Mapping[str, str]) -> Loaded:
        """Load it with the tools in ``versions`` rolled back to these, to the last step."""
        loaded = _try_working(self._load_untried(versions))
        if loaded.contracts is not None and loaded.contracts.settings.serve:
            loaded = self._offer(loaded, versions)
        if loaded.contracts is None:
            return loaded
        unproven = judge_evidence(loaded.contracts)
        if unproven:
            return replace(loaded, contracts=None, problems=loaded.tell(unproven))
        return replace(loaded, contracts=mark_witnesses(loaded.contracts))

    def _load_untried(self, versions: Mapping[str, str]) -> Loaded:
        """Put releases in the place of what they stand for, load, and judge waivers."""
        steered = put_released(self.read, self.tools, versions)
        loaded = Loaded(
            read=self.read,
            problems=steered.problems,
            steering=self.steering,
            rolled_back=steered.replaced,
        )
        if steered.problems:
            return loaded
        contracts = load(steered.documents, resolve=self.resolver)
        if isinstance(contracts, tuple):
            return replace(loaded, problems=steered.tell(contracts))
        working = contracts.contracts.values()
        waivers = list_waivers(working, self.now)
        problems = tuple(steered.find_strangers(working)) or refuse_expired(waivers)
        return replace(
            loaded,
            contracts=None if problems else contracts,
            problems=tuple(locate(steered.tell(problems), self.read.root)),
            waivers=waivers,
        )

    def _offer(self, loaded: Loaded, versions: Mapping[str, str]) -> Loaded:
        """Add every released version that ``serve`` names, and try their schemas together."""
        assert loaded.contracts is not None  # noqa: S101  (narrows for the checker)
        offered = offer_versions(self.read, loaded.contracts, versions, self._load_released)
        if isinstance(offered, tuple):
            return replace(loaded, contracts=None, problems=offered)
        frozen = offered.frozen()
        refused = try_contracts(frozen)
        return replace(
            loaded,
            contracts=None if refused else offered,
            problems=refused,
            waivers=(*loaded.waivers, *list_waivers(frozen, self.now)),
        )

    # --- one release by itself ------------------------------------------------------------------

    def _load_released(self, tool: str, version: str) -> Contract | tuple[Problem, ...]:
        """Load one released document with the settings and schema files, but no other contract.

        Returns it under its own name, its schemas untried, or what is wrong with it.
        """
        documents = {
            name: raw
            for name, raw in self.read.documents.items()
            if self.tools.get(name, tool) == tool
        }
        alone = replace(self, read=replace(self.read, documents=documents))
        loaded = alone._load_untried({tool: version})
        if loaded.contracts is None:
            return loaded.problems
        (contract,) = loaded.contracts.contracts.values()
        return replace(contract, source=loaded.rolled_back[contract.source].document)

    def _judge_released(self, tool: str, version: str) -> Contract | tuple[Problem, ...]:
        """Load one released document and build its line, or say what is wrong with it."""
        contract = self._load_released(tool, version)
        if isinstance(contract, tuple):
            return contract
        line = try_line(contract, self.read.root, Credentials(self.read.root))
        return (line,) if isinstance(line, Problem) else contract

    def judge_releases(self) -> tuple[Problem, ...]:
        """Return what keeps released documents of the folder from being served again.

        Their schemas are tried together: a child process each would take longer than all the rest.
        """
        judged = [
            self._judge_released(self.tools[name], version)
            for name, home in sorted(self.read.tool_folders().items())
            for version in ReleasedFolder(root=self.read.root, home=home).versions()
        ]
        refused = [problem for each in judged if isinstance(each, tuple) for problem in each]
        return (*refused, *try_contracts([each for each in judged if isinstance(each, Contract)]))

    def rehearse_rollback(self, tool: str, version: str) -> tuple[Problem, ...]:
        """Return what a rollback of ``tool`` to ``version`` would break; nothing is changed.

        The released document is loaded alone, to the last step before it is served, and then with
        the whole folder as it would be. What is broken already is no reason to refuse.
        """
        alone = self._judge_released(tool, version)
        if isinstance(alone, tuple):
            return alone
        refused = try_contracts([alone])
        if refused or self.read.problems:
            return refused
        before = self.load_steered(self.steering.versions)
        after = self.load_steered({**self.steering.versions, tool: version})
        return tuple(problem for problem in after.problems if problem not in before.problems)


def _try_working(loaded: Loaded) -> Loaded:
    """Try the schemas of the versions being worked on, or of what stands in for them."""
    if loaded.contracts is None:
        return loaded
    refused = try_contracts(loaded.contracts.contracts.values())
    return replace(
        loaded, contracts=None if refused else loaded.contracts, problems=loaded.tell(refused)
    )


def _with_way_out(problem: Problem, tool: str) -> Problem:
    way = (
        f"An operator rolled back to it: `sluicegate rollback` to another version, or"
        f" `sluicegate disable {show_name(tool)} --undo --reason …`, ends that."
    )
    return replace(problem, mend=f"{problem.mend} {way}".strip())
