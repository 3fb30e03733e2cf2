"""Replay: received answers, judged again under another version of their contract (SPEC LIF-4).

Pure: answers and ladders in, judgements out. Where the answers come from, and how many processes
judge them, is the affair of ``opening``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal, TypeAlias, cast

import jiter

from sluicegate.checks.authentication_signed import payload_of
from sluicegate.checks.meaning import ResultCheck
from sluicegate.checks.soundness import ArgumentCheck
from sluicegate.contracts.contract import (
    CommandFetch,
    Contract,
    HttpFetch,
    JwsSignature,
    PythonName,
    SshFetch,
)
from sluicegate.gates.call_gate import CallLadder
from sluicegate.gates.result_gate import ResultLadder
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Code, Stage
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request, RequestId

MAX_EXAMPLES: Final = 3
MAX_GROUPS: Final = 500
"""Pointers may be made of names that the other side chose; beyond this they fall together."""

OTHER_PLACES: Final = "…"

_OF_AN_EXPORT: Final = frozenset({"seq", "raw_ref", "link"})
"""Columns that every event of the record has, and no answer of an archive."""

Change: TypeAlias = Literal["now refused", "now accepted", "refused otherwise"]


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict in short: the refusal's stage, code and first pointer, empty where accepted."""

    accepted: bool
    stage: str = ""
    code: str = ""
    pointer: str = ""


ACCEPTED: Final = Judged(True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One received answer and what was asked. ``name`` is how a report calls it.

    ``arguments`` is the JSON text of the call; ``status`` the HTTP status or the exit code, None
    for that of a success; ``content_type`` None: the first that the contract takes. ``was`` is the
    verdict of that time where it is known.
    """

    name: str
    raw: bytes
    arguments: bytes | None
    request_id: str
    now: datetime
    subject: str
    tenant: str | None = None
    status: int | None = None
    content_type: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    was: Judged | None = None


class NeverAskedError(ValueError):
    """An answer is to be judged by a version that would have refused its call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladders:
    """Both ladders of one version, without an adapter: nothing is fetched."""

    contract: Contract
    call: CallLadder
    result: ResultLadder


def build_ladders(
    contract: Contract, find: Callable[[PythonName], Callable[..., object]]
) -> Ladders:
    """Return the ladders of ``contract``; ``find`` yields its checks. Raises what ``find`` does.

    Signatures are not verified again: keys and windows of that time are gone.
    """
    arguments = [cast("ArgumentCheck", find(name)) for name in contract.arguments.checks]
    result = [cast("ResultCheck", find(name)) for name in contract.result.checks]
    return Ladders(
        contract=contract,
        call=CallLadder(contract, arguments),
        result=ResultLadder(
            replace(contract, upstream=replace(contract.upstream, signature=None)), result
        ),
    )


def judge_answer(answer: Answer, ladders: Ladders) -> Judged:
    """Judge one answer as the gate would have at its time. Never raises for what it holds.

    Arguments that this version would refuse stand as they were sent: the question here is the
    answer.
    """
    contract = ladders.contract
    caller = Caller(subject=answer.subject, tenant=answer.tenant)
    request = Request(
        tool=contract.tool,
        request_id=RequestId(answer.request_id),
        arguments=_arguments(answer, ladders.call, caller),
        caller=caller,
    )
    outcome = ladders.result.climb(_receipt(answer, contract), request, answer.now)
    if not isinstance(outcome, Rejected):
        return ACCEPTED
    pointer = outcome.findings[0].pointer if outcome.findings else ""
    return Judged(False, str(outcome.stage), str(outcome.code), pointer)


def _arguments(answer: Answer, ladder: CallLadder, caller: Caller) -> object:
    if answer.arguments is None:
        return {}
    prepared = ladder.climb(answer.arguments, caller)
    if not isinstance(prepared, Rejected):
        return prepared.arguments
    try:
        sent = jiter.from_json(answer.arguments, allow_inf_nan=False)
    except ValueError:
        return {}
    return sent if isinstance(sent, dict) else {}


def _bare(raw: bytes, contract: Contract) -> bytes:
    """Return the payload where the body was a JWS, else the bytes as they are."""
    rule = contract.upstream.signature
    if isinstance(rule, JwsSignature) and rule.header is None:
        return payload_of(raw) or raw
    return raw


def _receipt(answer: Answer, contract: Contract) -> Receipt:
    is_command = isinstance(contract.fetch, CommandFetch | SshFetch)
    status = None if is_command else answer.status
    if status is None and isinstance(contract.fetch, HttpFetch):
        status = 200
    content_type = answer.content_type
    if content_type is None and status is not None:
        content_type = contract.upstream.content_type[0]
    return Receipt(
        adapter="replay",
        adapter_version="1",
        endpoint="",
        raw=_bare(answer.raw, contract),
        status=status,
        exit_code=(answer.status or 0) if is_command else None,
        content_type=content_type,
        headers=answer.headers,
    )


def judge_answers(
    answers: Iterable[Answer], against: Ladders, base: Ladders | None
) -> Iterator[tuple[str, Judged, Judged]]:
    """Yield (name, was, would be). ``base`` judges what bears no verdict of its own time.

    Raises: ValueError for an answer without a verdict where there is no ``base``; NeverAskedError
    where ``base`` would have refused the call.
    """
    for answer in answers:
        was = answer.was
        if was is None:
            if base is None:
                raise ValueError(f"{answer.name}: what it was judged is not known")
            _demand_asked(answer, base)
            was = judge_answer(answer, base)
        stays = against.contract.upstream.signature is not None and _is_of_signature(was)
        yield answer.name, was, was if stays else judge_answer(answer, against)


def _demand_asked(answer: Answer, base: Ladders) -> None:
    caller = Caller(subject=answer.subject, tenant=answer.tenant)
    if answer.arguments is None or base.contract.result.bind == ():
        return
    refused = base.call.climb(answer.arguments, caller)
    if isinstance(refused, Rejected):
        where = refused.findings[0].pointer if refused.findings else ""
        raise NeverAskedError(
            f"{answer.name}: version {base.contract.version} refuses its arguments"
            f" ({refused.stage}/{refused.code} at {where or 'the root'}), so it never asked for it;"
            " give the arguments that were sent, or `was`"
        )


def _is_of_signature(was: Judged) -> bool:
    """Whether an answer was refused for its signature, or for the time that it covers."""
    if was.stage == Stage.AUTHENTICATE:
        return True
    return not was.pointer and was.code in (Code.STALE, Code.FROM_FUTURE)


def list_needs(versions: Iterable[Contract]) -> Mapping[str, str]:
    """Return what an answer must say to be judged as at its time, and why, by the member's name.

    Names: ``now``, ``arguments``, ``request_id``, ``subject``, ``tenant``. Judged without it, an
    answer would be held to a question that nobody asked.
    """
    needs: dict[str, str] = {}
    for contract in versions:
        if contract.result.fresh is not None:
            needs["now"] = "the contract judges how old an answer is"
        if contract.upstream.carrier == "envelope":
            needs["request_id"] = "the contract holds the envelope to the request's id"
        for rule in contract.result.bind:
            name = "arguments" if rule.argument is not None else str(rule.caller)
            needs[name] = "the contract binds the answer to it"
    return needs


def demand_told(told: Mapping[str, object], needs: Mapping[str, str]) -> None:
    """Raises: ValueError where one of ``needs`` is absent from ``told``, or None there."""
    for name, why in needs.items():
        if told.get(name) is None:
            raise ValueError(f"`{name}` is missing: {why}")


def demand_answers(members: Collection[str]) -> None:
    """Raises: ValueError where ``members``, names of an archive, are those of an audit export."""
    if "raw" not in members and set(members) >= _OF_AN_EXPORT:
        raise ValueError(
            "this is an audit export, which holds no answers: leave --archive out and say --reason"
            " to judge what the record keeps, or give an archive of raw answers"
        )


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """What makes answers one matter. Stage, code and pointer are of the refusal that is news."""

    change: Change
    stage: str
    code: str
    pointer: str
    was: str
    would_be: str


@dataclass(slots=True, kw_only=True)
class Tally:
    """What a replay found so far. ``groups`` maps a matter to its count and first examples."""

    replayed: int = 0
    accepted: int = 0
    refused: int = 0
    groups: dict[Key, tuple[int, tuple[str, ...]]] = field(default_factory=dict)

    def add(self, name: str, was: Judged, would_be: Judged) -> None:
        """Count one answer."""
        self.replayed += 1
        key = tell_change(was, would_be)
        if key is not None:
            self._count(key, 1, (name,))
        elif would_be.accepted:
            self.accepted += 1
        else:
            self.refused += 1

    def merge(self, other: Tally) -> None:
        """Count what another process counted."""
        self.replayed += other.replayed
        self.accepted += other.accepted
        self.refused += other.refused
        for key, (count, examples) in other.groups.items():
            self._count(key, count, examples)

    def total(self) -> Mapping[Change, int]:
        """Return how many answers changed, by kind of change."""
        counts: Counter[Change] = Counter()
        for key, (count, _) in self.groups.items():
            counts[key.change] += count
        return counts

    def _count(self, key: Key, count: int, examples: Sequence[str]) -> None:
        if key not in self.groups and len(self.groups) >= MAX_GROUPS:
            key = Key(key.change, key.stage, key.code, OTHER_PLACES, key.was, key.would_be)
        before, named = self.groups.get(key, (0, ()))
        self.groups[key] = (before + count, (*named, *examples)[:MAX_EXAMPLES])


def tell_change(was: Judged, would_be: Judged) -> Key | None:
    """Return what matter an answer is.

    None where nothing changed: another pointer of the same refusal is no news.
    """
    if (was.accepted, was.stage, was.code) == (would_be.accepted, would_be.stage, would_be.code):
        return None
    change: Change = "refused otherwise"
    news = would_be
    if was.accepted:
        change = "now refused"
    elif would_be.accepted:
        change, news = "now accepted", was
    return Key(change, news.stage, news.code, _general(news.pointer), _say(was), _say(would_be))


def _say(judged: Judged) -> str:
    return "accepted" if judged.accepted else f"{judged.stage}/{judged.code}"


def _general(pointer: str) -> str:
    """Every item of an array is one place."""
    return "/".join(
        "*" if part.isascii() and part.isdigit() else part for part in pointer.split("/")
    )


def tally_answers(answers: Iterable[Answer], against: Ladders, base: Ladders | None) -> Tally:
    """Judge a batch and count what changed."""
    tally = Tally()
    for name, was, would_be in judge_answers(answers, against, base):
        tally.add(name, was, would_be)
    return tally
