"""``sluicegate replay``: two versions of one contract, an archive, and processes that judge."""

from __future__ import annotations

import multiprocessing
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Final

from sluicegate.contracts.file_names import SETTINGS_NAME
from sluicegate.contracts.freezing import freeze
from sluicegate.contracts.loading import load
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.versions import CURRENT
from sluicegate.errors import ConfigurationError, ContractFolderError
from sluicegate.gates import operator_acts
from sluicegate.lifecycle.releasing import find_newest
from sluicegate.lifecycle.replaying import (
    Answer,
    Ladders,
    NeverAskedError,
    Tally,
    build_ladders,
    list_needs,
    tally_answers,
)
from sluicegate.opening.archives import ArchiveError, read_archive, read_record
from sluicegate.opening.clock import new_request_id
from sluicegate.opening.documents import Folder, read_folder
from sluicegate.opening.folder import read_settings
from sluicegate.opening.python_names import resolve, resolve_callable
from sluicegate.opening.released import tool_of
from sluicegate.opening.released_folder import ReleasedFolder
from sluicegate.opening.trial import try_contracts
from sluicegate.values.names import show_name

BATCH_ANSWERS: Final = 256
BATCH_BYTES: Final = 1_048_576
"""A batch ends with the answer that reaches either: what waits for a process is bounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked: ``tool`` under ``against``; ``base`` judges what bears no old verdict.

    None: the newest release where ``against`` is the current version, else the current one; where
    there is no release, every answer must bear its verdict.
    ``archive`` None: the record of the folder, for which ``who`` and ``reason`` stand in it.
    ``since`` counts for the record alone.
    """

    tool: str
    against: str
    base: str | None = None
    archive: Path | None = None
    since: datetime | None = None
    who: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What came of it; ``left_out`` counts answers of the record that cannot be judged again."""

    tally: Tally
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Recipe:
    """What a process needs to build the ladders of one version: documents, nothing open."""

    documents: tuple[tuple[str, bytes], ...]
    python: bool


def replay(
    root: Path,
    question: Question,
    *,
    processes: int,
    now: datetime,
    python: bool,
    tell: Callable[[int], None] = lambda _: None,
) -> Replayed:
    """Judge stored answers again, without any network, in ``processes`` at once.

    ``tell`` hears how many were judged, batch by batch. A few are judged in this process. Raises:
    ContractFolderError where a version does not load or is not what was released; ArchiveError,
    ConfigurationError, RecordMissing, AuditUnavailable.
    """
    read = read_folder(root)
    if read.problems:
        raise ContractFolderError(read.problems)
    against = _prepare(read, question.tool, question.against, python=python)
    base = None
    answers: Generator[Answer]
    left_out: Counter[str] = Counter()
    if question.archive is not None:
        version = question.base or _base_of(read, question.tool, question.against)
        base = None if version is None else _prepare(read, question.tool, version, python=python)
        judges = [_ladders(recipe) for recipe in (against, base) if recipe is not None]
        needs = list_needs(ladders.contract for ladders in judges)
        answers = read_archive(question.archive, needs)
        if base is None:
            answers = _demand_verdicts(answers)
    else:
        act = operator_acts.replay(
            question.tool,
            question.against,
            act_id=new_request_id(),
            who=question.who,
            reason=question.reason,
            now=now,
        )
        settings = read_settings(root, python=python)
        answers = read_record(root, settings, act, since=question.since, left_out=left_out)
    tally = Tally()
    with closing(answers):
        try:
            for part in _judge(_batches(answers), against, base, processes):
                tally.merge(part)
                tell(tally.replayed)
        except NeverAskedError as error:
            raise ArchiveError(str(error)) from error
    return Replayed(tally=tally, left_out=left_out)


# --- versions -----------------------------------------------------------------------------------


def _prepare(read: Folder, tool: str, version: str, *, python: bool) -> _Recipe:
    """Load one version, try its schemas in a child process, and write it down in one piece."""
    tools = {name: tool_of(read, name) for name in read.tool_folders()}
    documents = {name: raw for name, raw in read.documents.items() if tools.get(name, tool) == tool}
    source = next(name for name in tools if tools[name] == tool)
    if version != CURRENT:
        home = (read.root / source).parent
        frozen = ReleasedFolder(root=read.root, home=home).document(version)
        if isinstance(frozen, Problem):
            raise ContractFolderError((frozen,))
        documents[source] = frozen
    contracts = load(documents, resolve=resolve if python else None)
    if isinstance(contracts, tuple):
        raise ContractFolderError(contracts)
    contract = contracts.contracts[tool]
    refused = try_contracts([contract])
    if refused:
        raise ContractFolderError(refused)
    settings = [(name, raw) for name, raw in documents.items() if name == SETTINGS_NAME]
    return _Recipe((*settings, ("frozen/contract.json", freeze(contract).encode())), python)


def _base_of(read: Folder, tool: str, against: str) -> str | None:
    if against != CURRENT:
        return CURRENT
    homes = read.tool_folders()
    home = next(homes[name] for name in homes if tool_of(read, name) == tool)
    released = ReleasedFolder(root=read.root, home=home).versions()
    return find_newest(released) if released else None


def _demand_verdicts(answers: Generator[Answer]) -> Generator[Answer]:
    """Yield ``answers``. Raises: ConfigurationError at the first that bears no verdict."""
    with closing(answers):
        for answer in answers:
            if answer.was is None:
                raise ConfigurationError(
                    f"{show_name(answer.name)} does not say what it was judged, and the tool has "
                    "no release to judge it by: say --from, or release it first"
                )
            yield answer


@lru_cache(maxsize=2)
def _ladders(recipe: _Recipe) -> Ladders:
    contracts = load(dict(recipe.documents), resolve=resolve if recipe.python else None)
    if isinstance(contracts, tuple):
        raise ContractFolderError(contracts)
    (contract,) = contracts.contracts.values()
    return build_ladders(contract, resolve_callable)


# --- processes ----------------------------------------------------------------------------------


def _batches(answers: Iterator[Answer]) -> Iterator[list[Answer]]:
    batch: list[Answer] = []
    size = 0
    for answer in answers:
        batch.append(answer)
        size += len(answer.raw)
        if len(batch) >= BATCH_ANSWERS or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _judge(
    batches: Iterator[list[Answer]], against: _Recipe, base: _Recipe | None, processes: int
) -> Iterator[Tally]:
    first = list(islice(batches, 2))
    batches = chain(first, batches)
    if processes < 2 or len(first) < 2:
        for batch in batches:
            yield _judge_batch(batch, against, base)
        return
    # Spawned: a fork would copy the threads' locks, and what this process holds open.
    context = multiprocessing.get_context("spawn")
    waiting: deque[Future[Tally]] = deque()
    try:
        with ProcessPoolExecutor(processes, mp_context=context) as pool:
            for batch in batches:
                waiting.append(pool.submit(_judge_batch, batch, against, base))
                if len(waiting) > 2 * processes:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise ConfigurationError(
            "a process that judged ended: use fewer with --processes"
        ) from error


def _judge_batch(batch: list[Answer], against: _Recipe, base: _Recipe | None) -> Tally:
    return tally_answers(batch, _ladders(against), None if base is None else _ladders(base))
