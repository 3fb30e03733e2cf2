"""A version held to the releases before it: does its number say what changed (LIF-3)?

One judgement for ``release``, which refuses by it, and for ``check``, which finds by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sluicegate.contracts.contract import Contract
from sluicegate.contracts.file_names import SETTINGS_NAME
from sluicegate.contracts.freezing import freeze
from sluicegate.contracts.loading import load
from sluicegate.contracts.loading_released import load_released
from sluicegate.contracts.marks import Document
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.settings import Settings
from sluicegate.contracts.yaml_reading import read_document
from sluicegate.errors import ConfigurationError
from sluicegate.gates.serving import Line
from sluicegate.lifecycle.diff.changes import Change, judge_by_table
from sluicegate.lifecycle.diff.comparison import (
    Comparison,
    ToolDiff,
    compare_contracts,
    judge,
    pair_proofs,
)
from sluicegate.lifecycle.diff.containment import Proof
from sluicegate.lifecycle.diff.kinds import Bump
from sluicegate.lifecycle.diff.tombstones import find_returning
from sluicegate.lifecycle.diff.versions import VersionFinding, judge_version
from sluicegate.lifecycle.diff.waiving import Waiver, apply_waivers
from sluicegate.lifecycle.releasing import choose_supported, order_deployment, record_members
from sluicegate.opening.comparing import WAIVERS_NAME, read_folder_waivers
from sluicegate.opening.documents import Folder
from sluicegate.opening.fixtures import FixtureResult, TriedFixture
from sluicegate.opening.loaded import Loaded
from sluicegate.opening.proving import prove_parts
from sluicegate.opening.python_names import Resolver, choose_resolver
from sluicegate.opening.release_terms import refuse_names
from sluicegate.opening.released_folder import ReleasedFolder
from sluicegate.values.json import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Succession:
    """How a contract follows the release ``before``: ``diff`` says what changed since.

    ``faults`` are sentences, one for each release that its version does not follow; ``order`` says
    what is deployed first; ``waived`` are changes that a person accepted, against any release.
    """

    before: str
    diff: ToolDiff
    order: tuple[str, ...]
    faults: tuple[str, ...] = ()
    waived: tuple[Change, ...] = ()

    def list_faults(self, version: str) -> tuple[str, ...]:
        """Return why ``version`` cannot follow, whatever a person says beside it."""
        return self.faults or tuple(refuse_names(self.diff.changes, version))


@dataclass(frozen=True, slots=True, kw_only=True)
class Unraised:
    """The version of ``tool``, in the document ``source``, does not say what changed.

    ``asks_more``: a higher version would; else the message says what would.
    """

    tool: str
    source: str
    message: str
    asks_more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """What a succession is judged with: waivers of the folder, and the time they expire by.

    ``served`` are the versions that ``serve`` names, by tool.
    """

    read: Folder
    settings: Settings
    served: Mapping[str, Sequence[str]]
    waivers: Sequence[Waiver]
    now: datetime
    resolver: Resolver | None


def prepare_judging(loaded: Loaded, now: datetime, *, python: bool) -> Judging:
    """Read what every succession of a folder is judged with.

    Raises: ConfigurationError where the waivers cannot be read.
    """
    root = loaded.read.root
    try:
        waivers = read_folder_waivers(root)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{root / WAIVERS_NAME}: {error}") from error
    settings = loaded.contracts.settings if loaded.contracts is not None else Settings()
    return Judging(
        read=loaded.read,
        settings=settings,
        served={tool: [row.version for row in each] for tool, each in settings.serve.items()},
        waivers=waivers,
        now=now,
        resolver=choose_resolver(python=python),
    )


def find_unraised(
    judged: Iterable[tuple[Line, Sequence[TriedFixture]]], judging: Judging
) -> Iterator[Unraised]:
    """Yield what keeps ``release`` from freezing a version, beside what a person may still say.

    That is a number that does not say what changed, and a name that went and is kept by nothing.
    So it is where a release that it follows cannot be read or does not load: then nothing shows
    what changed. ``judged`` are the lines of the versions being worked on, with their fixtures.
    """
    for line, fixtures in judged:
        contract = line.contract
        found = _judge_line(line, fixtures, judging)
        if isinstance(found, tuple):
            faults: tuple[str, ...] = (_spell_unreadable(contract, found[0]),)
            of_version: tuple[str, ...] = ()
        elif found is not None:
            faults, of_version = found.list_faults(contract.version), found.faults
        else:
            continue
        for fault in faults:
            yield Unraised(
                tool=contract.tool,
                source=contract.source,
                message=fault,
                asks_more=fault in of_version,
            )


def _judge_line(
    line: Line, fixtures: Iterable[TriedFixture], judging: Judging
) -> Succession | tuple[Problem, ...] | None:
    root = judging.read.root
    released = read_releases(ReleasedFolder(root=root, home=(root / line.contract.source).parent))
    if isinstance(released, Problem):
        return (released,)
    return judge_succession(line, freeze_line(line, fixtures), released, judging)


def _spell_unreadable(contract: Contract, problem: Problem) -> str:
    return (
        f"version {contract.version} cannot be held to its releases: {problem.document} does not"
        f" load: {problem.message}"
    )


def freeze_line(line: Line, fixtures: Iterable[TriedFixture]) -> bytes:
    """Return the document that a release of the line's contract freezes.

    ``fixtures`` are those that were judged: the accepted answers record what the upstream sends.
    """
    answers = [
        each.raw
        for each in fixtures
        if isinstance(each, FixtureResult) and (each.side, each.expected) == ("result", "accepted")
    ]
    document = record_members(line.contract.document, line.contract.upstream, answers)
    return freeze(replace(line.contract, document=document)).encode()


def read_releases(released: ReleasedFolder) -> dict[str, bytes] | Problem:
    """Return every released document by its version, each held to its digest."""
    documents: dict[str, bytes] = {}
    for version in released.versions():
        found = released.document(version)
        if isinstance(found, Problem):
            return found
        documents[version] = found
    return documents


def judge_succession(
    line: Line, content: bytes, released: Mapping[str, bytes], judging: Judging
) -> Succession | tuple[Problem, ...] | None:
    """Hold the contract of ``line``, which would be frozen as ``content``, to what is released.

    None where nothing is, or where this very document is. One number for two documents is a
    fault, and so is a version that is not raised as its changes since the newest final release,
    since the newest of all, and since each that is served ask. Problems: one does not load.
    """
    contract = line.contract
    if not released or released.get(contract.version) == content:
        return None
    new = load_frozen(judging, contract, content)
    if isinstance(new, tuple):
        return new
    before, *others = (
        (contract.version,)
        if contract.version in released
        else choose_supported(released, judging.served.get(contract.tool, ()))
    )
    compared: list[Comparison] = []
    for version in (before, *(each for each in others if _may_be_less(contract, each))):
        old = _load_released(judging, contract, released[version], version)
        if isinstance(old, tuple):
            return old
        comparison = compare_contracts(old, new)
        if version == before:
            older = {name: raw for name, raw in released.items() if name != before}
            comparison = _with_returning(comparison, old, new, _read_documents(older))
        compared.append(comparison)
    return _judge(contract, compared, judging)


def load_frozen(
    judging: Judging, contract: Contract, content: bytes
) -> Contract | tuple[Problem, ...]:
    """Load what a release would freeze by itself, with the settings of the folder alone."""
    documents = {contract.source: content}
    if SETTINGS_NAME in judging.read.documents:
        documents[SETTINGS_NAME] = judging.read.documents[SETTINGS_NAME]
    contracts = load(documents, resolve=judging.resolver)
    if isinstance(contracts, tuple):
        return contracts
    (found,) = contracts.contracts.values()
    return found


def _load_released(
    judging: Judging, contract: Contract, content: bytes, version: str
) -> Contract | tuple[Problem, ...]:
    """Load the release ``version``; what is wrong is told of the file where it stands."""
    found = load_released(contract.source, content, judging.settings)
    if isinstance(found, Contract):
        return found
    root = judging.read.root
    home = (root / contract.source).parent
    source = ReleasedFolder(root=root, home=home).document_name(version)
    return tuple(replace(problem, document=source) for problem in found)


def _may_be_less(contract: Contract, version: str) -> bool:
    """Whether some change would ask more than the step from ``version``; else none is looked at."""
    return judge_version(contract.tool, version, contract.version, Bump.MAJOR) is not None


def _with_returning(
    comparison: Comparison,
    old: Contract,
    new: Contract,
    older: Iterable[tuple[str, JsonObject]],
) -> Comparison:
    returning = (
        judge_by_table(difference, new.tool, role)
        for role, difference in find_returning(older, old, new)
    )
    return replace(comparison, changes=(*comparison.changes, *returning))


def _read_documents(frozen: Mapping[str, bytes]) -> Iterator[tuple[str, JsonObject]]:
    """Yield what older releases wrote; their schemas are read for names alone, not loaded."""
    for version, raw in frozen.items():
        document = read_document(f"{version}.yaml", raw)
        if isinstance(document, Document) and isinstance(document.value, Mapping):
            yield version, document.value


def _judge(contract: Contract, compared: Sequence[Comparison], judging: Judging) -> Succession:
    proofs = list(prove_parts([part for one in compared for part in one.unproven]))
    diffs: list[ToolDiff] = []
    orders: list[tuple[str, ...]] = []
    for one in compared:
        mine, proofs = proofs[: len(one.unproven)], proofs[len(one.unproven) :]
        diffs.append(judge(one, mine))
        orders.append(_order(one, mine))
    found, _ = apply_waivers(diffs, judging.waivers, judging.now.astimezone(UTC).date())
    waived = {
        change.fingerprint: change
        for diff in found
        for change in diff.changes
        if change.waived is not None
    }
    return Succession(
        before=compared[0].versions[0] if compared[0].versions else "",
        diff=found[0],
        order=orders[0],
        faults=tuple(fault for diff in found for fault in _find_fault(contract, diff)),
        waived=tuple(waived.values()),
    )


def _order(comparison: Comparison, proofs: Sequence[Proof]) -> tuple[str, ...]:
    found = {part.reader: proof for part, proof in pair_proofs(comparison, proofs)}
    return tuple(order_deployment(found["tool"], found["agent"], found["data"]))


def _find_fault(contract: Contract, diff: ToolDiff) -> Iterator[str]:
    old, new = diff.versions or ("", "")
    asked = diff.bump if diff.bump is not Bump.NONE else Bump.PATCH
    finding = judge_version(contract.tool, old, new, asked)
    if finding is not None:
        yield _spell_fault(finding, diff)


def _spell_fault(finding: VersionFinding, diff: ToolDiff) -> str:
    breaking = sorted({change.kind for change in diff.changes if change.breaks})
    why = f": {', '.join(breaking)}" if breaking else ""
    return (
        f"version {finding.new} does not follow {finding.old}: its changes ask for a"
        f" {finding.required} release, at least {finding.wanted}{why}."
    )
