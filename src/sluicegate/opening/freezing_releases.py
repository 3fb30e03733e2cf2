"""``sluicegate release``: the folder is checked, then one contract is frozen beside it (LIF-3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path, PurePosixPath

from sluicegate.adapters.credentials import Credentials
from sluicegate.contracts.contract import Contract
from sluicegate.contracts.problems import Problem
from sluicegate.errors import ConfigurationError
from sluicegate.lifecycle.diff.changes import Change
from sluicegate.lifecycle.diff.kinds import Bump
from sluicegate.lifecycle.releasing import DIGESTS_NAME, hex_digest, spell_digests
from sluicegate.opening.flaws import find_flaws
from sluicegate.opening.frozen_files import judge_home
from sluicegate.opening.frozen_fixtures import name_frozen
from sluicegate.opening.loaded import Loaded
from sluicegate.opening.loading import load_folder
from sluicegate.opening.release_terms import Said, count_former, refuse, resume
from sluicegate.opening.released_folder import (
    REPLAYED,
    ROLLOUT,
    WAIVED,
    ReleasedFolder,
)
from sluicegate.opening.succession import (
    Judging,
    Succession,
    freeze_line,
    judge_succession,
    load_frozen,
    prepare_judging,
    read_releases,
)
from sluicegate.opening.wiring import try_line
from sluicegate.stores.file_lock import FileLock
from sluicegate.stores.whole_files import is_half_written, replace_file
from sluicegate.values.json import JsonValue, canonical_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """``written`` False: the very same stood there. ``before`` is the release it was held to.

    ``changes`` are those against ``before``; ``bump`` is the least that they ask; ``order`` says
    what is deployed first; ``waived`` are changes that a person accepted, against this or another
    release; ``replayed`` is what a person said of a replay.
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
    waived: tuple[Change, ...] = ()
    replayed: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Why nothing was written: ``problems`` of documents, or ``reasons`` in whole sentences."""

    problems: tuple[Problem, ...] = ()
    reasons: tuple[str, ...] = ()


def release(
    root: Path, tool: str, *, said: Said, now: datetime, python: bool
) -> Released | Refused:
    """Freeze the contract of ``tool`` as ``released/VERSION.yaml`` and record its digest.

    Refused: a folder that does not load, a fixture that fails, whatever else fails the check of
    the contract (errors of lint, mutants that are not refused), a frozen file that was edited or is
    gone, a version that stands there with other content, one that is not raised as far as its
    changes ask, a major without a rollout, and a result that narrows without a replay or a former
    fixture. A release of the same contract that did not end is completed.

    Raises: ConfigurationError for what cannot be read or written. Source: SPEC LIF-3.
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
                    f" is not served; first run"
                    f" `sluicegate disable {tool} --undo --reason TEXT`."
                ),
            )
        )
    released = ReleasedFolder(root=root, home=(root / contract.source).parent)
    judging = prepare_judging(loaded, now, python=python)
    try:
        released.path.mkdir(exist_ok=True)
        (root / "state").mkdir(mode=0o700, exist_ok=True)
        with FileLock.once(root / "state" / "release.lock"):
            return _release(loaded, contract, released, said, judging)
    except OSError as error:
        raise ConfigurationError(f"{released.home} cannot be written: {error.strerror}") from error


def _release(
    loaded: Loaded, contract: Contract, released: ReleasedFolder, said: Said, judging: Judging
) -> Released | Refused:
    root, home, version = released.root, released.home, contract.version
    line = try_line(contract, root, Credentials(root))
    if isinstance(line, Problem):
        return Refused(problems=(line,))
    fixtures = loaded.run_fixtures(line)
    failing = [each for each in fixtures if not each.ok]
    if failing:
        return Refused(reasons=tuple(f"fixture {each.path} {each.note}." for each in failing))
    flaws = tuple(find_flaws(loaded, line, fixtures, judging))
    if flaws:
        return Refused(reasons=flaws)
    content = freeze_line(line, fixtures)
    edited = tuple(judge_home(root, home, (version, hex_digest(content))))
    if edited:
        return Refused(problems=edited)
    recorded = released.digests()
    others = read_releases(released)
    if isinstance(recorded, Problem) or isinstance(others, Problem):
        return Refused(problems=tuple(e for e in (recorded, others) if isinstance(e, Problem)))
    frozen = load_frozen(judging, contract, content)
    if isinstance(frozen, tuple):
        return Refused(problems=frozen)
    there = others.pop(version, None)
    path = released.document_path(version)
    if there is not None and there != content:
        return Refused(
            reasons=(
                (
                    f"{path} stands there with other content; a released version never changes:"
                    " raise `version`."
                ),
            )
        )
    judged = Released(
        tool=contract.tool,
        version=version,
        digest=str(frozen.fingerprints.digest),
        path=path,
        written=there is None,
    )
    begun = there is None and path.name in (recorded or {})
    if begun:
        resumed = resume(said, released, version, recorded or {})
        if isinstance(resumed, str):
            return Refused(reasons=(resumed,))
        said = resumed
    if there is None:
        succession = judge_succession(line, content, others, judging)
        if isinstance(succession, tuple):
            return Refused(problems=succession)
        if succession is not None:
            judged = _follow(judged, succession, said)
            former = count_former(str(PurePosixPath(contract.source).parent), fixtures)
            reasons = succession.list_faults(version) or refuse(
                judged.changes,
                version=version,
                before=succession.before,
                bump=judged.bump,
                said=said,
                former=former,
            )
            if reasons:
                return Refused(reasons=reasons)
    if begun or there is not None:
        return _write(judged, content, {}, recorded)
    try:
        named = name_frozen(fixtures, PurePosixPath(contract.source).parent, version)
        beside = _gather(judged, released, {**named, **said.spell(version)})
    except ValueError as error:
        return Refused(reasons=(f"{error}.",))
    return _write(judged, content, beside, recorded)


def _follow(judged: Released, succession: Succession, said: Said) -> Released:
    return replace(
        judged,
        before=succession.before,
        bump=succession.diff.bump,
        changes=succession.diff.changes,
        order=succession.order,
        waived=succession.waived,
        replayed=(said.replayed or "").strip() or None,
    )


def _gather(
    judged: Released, released: ReleasedFolder, named: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Return what is written beside the document, by its name below ``released``.

    ``named`` are fixtures and what a person said. Raises: ValueError for a file that lies where
    this release writes and is none of its own.
    """
    beside = dict(named)
    if judged.waived:
        beside[f"{judged.version}{WAIVED}"] = _spell_waived(judged.waived)
    frozen = released.fixtures(judged.version)
    for path in (
        *sorted(each for each in frozen.rglob("*") if not each.is_dir()),
        *(released.path / f"{judged.version}{suffix}" for suffix in (ROLLOUT, REPLAYED, WAIVED)),
    ):
        if is_half_written(path):
            path.unlink()
        elif path.relative_to(released.path).as_posix() not in beside and path.exists():
            raise ValueError(f"{path} lies there, and this release does not write it: remove it")
    return beside


def _spell_waived(changes: Iterable[Change]) -> bytes:
    told: list[JsonValue] = [
        {
            "fingerprint": change.fingerprint,
            "kind": change.kind,
            "role": change.role,
            "pointer": change.pointer,
            "reason": change.waived,
        }
        for change in changes
    ]
    return canonical_text(told).encode() + b"\n"


def _write(
    judged: Released,
    content: bytes,
    beside: Mapping[str, bytes],
    recorded: Mapping[str, str] | None,
) -> Released:
    """Write what stands beside the document, then the digests of all, and the document last.

    Wherever it ends before its time, the version is not released, and the same release again
    completes it: files without a digest are written anew, and a digest says what is to be written.
    """
    path = judged.path
    digests = dict(recorded or {})
    digests.update({name: hex_digest(raw) for name, raw in beside.items()})
    digests[path.name] = hex_digest(content)
    for name, raw in beside.items():
        (path.parent / name).parent.mkdir(parents=True, exist_ok=True)
        replace_file(path.parent / name, raw)
    if digests != recorded:
        replace_file(path.parent / DIGESTS_NAME, spell_digests(digests))
    if judged.written:
        replace_file(path, content)
    return judged
