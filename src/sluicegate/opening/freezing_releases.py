"""``sluicegate release``: the folder is checked, then one contract is frozen beside it (LIF-3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from sluicegate.adapters.credentials import Credentials
from sluicegate.contracts.contract import Contract
from sluicegate.contracts.freezing import freeze
from sluicegate.contracts.loading import load
from sluicegate.contracts.marks import Document
from sluicegate.contracts.problems import Problem
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
from sluicegate.lifecycle.diff.versions import judge_version
from sluicegate.lifecycle.releasing import (
    DIGESTS_NAME,
    find_newest,
    hex_digest,
    order_deployment,
    record_members,
    spell_digests,
)
from sluicegate.opening.collecting import Stray, collect
from sluicegate.opening.documents import SETTINGS_NAME, Folder
from sluicegate.opening.frozen_fixtures import copy_fixtures
from sluicegate.opening.loaded import Loaded, load_folder
from sluicegate.opening.proving import prove_parts
from sluicegate.opening.python_names import resolve
from sluicegate.opening.released import list_released, read_frozen, read_recorded
from sluicegate.opening.wiring import build_line
from sluicegate.stores.file_lock import FileLock
from sluicegate.stores.whole_files import replace_file
from sluicegate.values.json import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """``written`` False: the very same stood there. ``before`` is the release it was held to.

    ``changes`` are those against ``before``; ``bump`` is the least that they ask; ``order`` says
    what is deployed first; ``adopted`` are older files whose digests were recorded only now.
    """

    tool: str
    version: str
    digest: str
    path: Path
    written: bool
    before: str | None = None
    bump: Bump = Bump.NONE
    changes: tuple[Change, ...] = ()
    order: tuple[str, ...] = ()
    adopted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Why nothing was written: ``problems`` of documents, or ``reasons`` in whole sentences."""

    problems: tuple[Problem, ...] = ()
    reasons: tuple[str, ...] = ()


def release(
    root: Path, tool: str, *, rollout: str | None, now: datetime, python: bool
) -> Released | Refused:
    """Freeze the contract of ``tool`` as ``released/VERSION.yaml`` and record its digest.

    Refused: a folder that does not load, a fixture that fails, an edited frozen file, a version
    that stands there with other content, one that is not raised as far as its changes ask, and a
    major without ``rollout``. Raises: ConfigurationError for what cannot be written. LIF-3.
    """
    loaded = load_folder(root, now, python=python)
    if loaded.contracts is None:
        return Refused(problems=loaded.problems)
    contract = loaded.contracts.contracts[tool]
    if contract.source in loaded.rolled_back:
        return Refused(
            reasons=(
                (
                    f"{tool} is rolled back to {contract.version}, so the version being worked on"
                    f" is not served; first run `sluicegate disable {tool} --undo`."
                ),
            )
        )
    home = (root / contract.source).parent
    try:
        (home / "released").mkdir(exist_ok=True)
        (root / "state").mkdir(mode=0o700, exist_ok=True)
        with FileLock.once(root / "state" / "release.lock"):
            return _release(loaded, contract, home, rollout, python=python)
    except OSError as error:
        raise ConfigurationError(f"{home} cannot be written: {error.strerror}") from error


def _release(
    loaded: Loaded, contract: Contract, home: Path, rollout: str | None, *, python: bool
) -> Released | Refused:
    root = loaded.read.root
    line = build_line(contract, root, Credentials(root))
    failing = [each for each in loaded.run_fixtures(line) if not each.ok]
    if failing:
        return Refused(reasons=tuple(f"fixture {each.path} {each.note}." for each in failing))
    recorded = read_recorded(root, home)
    if isinstance(recorded, Problem):
        return Refused(problems=(recorded,))
    content = _freeze(contract, home, line)
    frozen = _load_frozen(loaded.read, contract, content, python=python)
    if isinstance(frozen, tuple):
        return Refused(problems=frozen)
    try:
        fixtures = copy_fixtures(home, contract.version)
    except ValueError as error:
        return Refused(reasons=(f"{error}.",))
    others: dict[str, bytes] = {}
    for version in list_released(home):
        found = read_frozen(root, home, version)
        if isinstance(found, Problem):
            return Refused(problems=(found,))
        others[version] = found
    there = others.pop(contract.version, None)
    path = home / "released" / f"{contract.version}.yaml"
    judged = Released(
        tool=contract.tool,
        version=contract.version,
        digest=str(frozen.fingerprints.digest),
        path=path,
        written=there is None,
    )
    if there is not None and there != content:
        return Refused(
            reasons=(
                (
                    f"{path} stands there with other content; a released version never changes:"
                    " raise `version`."
                ),
            )
        )
    if there is None and others:
        before = find_newest(others)
        old = _load_frozen(loaded.read, contract, others[before], python=python)
        if isinstance(old, tuple):
            return Refused(problems=old)
        older = {version: raw for version, raw in others.items() if version != before}
        judged = _compare(judged, old, frozen, _read_documents(older))
    reasons = _refuse(judged, rollout)
    if reasons:
        return Refused(reasons=reasons)
    return _write(judged, content, fixtures, others, recorded, rollout)


def _freeze(contract: Contract, home: Path, line: Line) -> bytes:
    answers = [
        found.path.read_bytes()
        for found in collect(home)
        if not isinstance(found, Stray) and (found.side, found.expected) == ("result", "accepted")
    ]
    document = record_members(contract.document, line.contract.upstream, answers)
    return freeze(replace(contract, document=document)).encode()


def _load_frozen(
    read: Folder, contract: Contract, content: bytes, *, python: bool
) -> Contract | tuple[Problem, ...]:
    """Load a frozen document by itself, with the settings of the folder and nothing else."""
    documents = {contract.source: content}
    if SETTINGS_NAME in read.documents:
        documents[SETTINGS_NAME] = read.documents[SETTINGS_NAME]
    contracts = load(documents, resolve=resolve if python else None)
    if isinstance(contracts, tuple):
        return contracts
    (found,) = contracts.contracts.values()
    return found


def _read_documents(frozen: Mapping[str, bytes]) -> Iterator[tuple[str, JsonObject]]:
    """Yield what older releases wrote; their schemas are read for names alone, not loaded."""
    for version, raw in frozen.items():
        document = read_document(f"{version}.yaml", raw)
        if isinstance(document, Document) and isinstance(document.value, Mapping):
            yield version, document.value


def _compare(
    judged: Released, old: Contract, new: Contract, older: Iterable[tuple[str, JsonObject]]
) -> Released:
    comparison = compare_contracts(old, new)
    returning = (
        judge_by_table(difference, new.tool, role)
        for role, difference in find_returning(older, old, new)
    )
    comparison = replace(comparison, changes=(*comparison.changes, *returning))
    proofs = prove_parts(comparison.unproven)
    diff: ToolDiff = judge(comparison, proofs)
    arguments, agent, data = _proofs_of(comparison, proofs)
    return replace(
        judged,
        before=old.version,
        bump=diff.bump,
        changes=diff.changes,
        order=tuple(order_deployment(arguments, agent, data)),
    )


def _proofs_of(comparison: Comparison, proofs: Sequence[Proof]) -> tuple[Proof, Proof, Proof]:
    """One proof for arguments, the agent's fields and the data; equal where written alike."""
    found = {part.reader: proof for part, proof in pair_proofs(comparison, proofs)}
    return found["tool"], found["agent"], found["data"]


def _refuse(judged: Released, rollout: str | None) -> tuple[str, ...]:
    if judged.before is None:
        return ()
    asked = judged.bump if judged.bump is not Bump.NONE else Bump.PATCH
    finding = judge_version(judged.tool, judged.before, judged.version, asked)
    if finding is not None:
        breaking = sorted({change.kind for change in judged.changes if change.breaks})
        why = f": {', '.join(breaking)}" if breaking else ""
        return (
            (
                f"version {judged.version} does not follow {judged.before}: its changes ask for a"
                f" {asked} release, at least {finding.wanted}{why}."
            ),
        )
    free = [change for change in judged.changes if change.kind == "tombstone-missing"]
    if free:
        return tuple(
            f"{change.old} went from the {change.role}, and nothing keeps its name: write"
            f" `removed: {{{change.role}: {{{change.old}: {judged.version}}}}}` into the contract."
            for change in free
        )
    is_major = judged.version.partition(".")[0] != judged.before.partition(".")[0]
    if (is_major or judged.bump is Bump.MAJOR) and not (rollout or "").strip():
        return (
            (
                f"{judged.version} is a major after {judged.before}: say with --rollout how agents"
                " and tool come to it together."
            ),
        )
    return ()


def _write(
    judged: Released,
    content: bytes,
    fixtures: dict[str, bytes],
    others: dict[str, bytes],
    recorded: dict[str, str] | None,
    rollout: str | None,
) -> Released:
    """Write the digests first: one without its file harms nobody, a file without one is refused."""
    path = judged.path
    digests = dict(recorded or {})
    adopted: tuple[str, ...] = ()
    if recorded is None:
        adopted = tuple(sorted(others))
        digests.update({f"{name}.yaml": hex_digest(raw) for name, raw in others.items()})
    wanted = {path.name: content, **(fixtures if judged.written else {})}
    if judged.written and rollout is not None and rollout.strip():
        wanted[f"{judged.version}.rollout.txt"] = rollout.strip().encode() + b"\n"
    digests.update({name: hex_digest(raw) for name, raw in wanted.items()})
    if digests != recorded:
        replace_file(path.parent / DIGESTS_NAME, spell_digests(digests))
    for name, raw in wanted.items() if judged.written else ():
        (path.parent / name).parent.mkdir(parents=True, exist_ok=True)
        replace_file(path.parent / name, raw)
    return replace(judged, adopted=adopted)
