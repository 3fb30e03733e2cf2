"""When the gate asks again, and after how long: as declared, never by the model (RET-1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sluicegate.contracts.contract import Contract, Effect, HttpFetch
from sluicegate.contracts.reading_adapter import MAX_TIMEOUT_S
from sluicegate.values.codes import Code, Stage
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected

_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 5.0
_DEFINITE: Final = frozenset({Code.UPSTREAM_DENIED, Code.TOOL_FAILED})


@dataclass(slots=True)
class Tally:
    """What one call has used so far; ``denials`` counts answers 401 and 403."""

    attempts: int = 0
    refused_answers: int = 0
    denials: int = 0


def is_outcome_open(
    contract: Contract, receipt: Receipt, rejected: Rejected, *, before: bool = False
) -> bool:
    """Whether a write was sent and nothing that can be believed says what became of it.

    A mapped code, a 4xx status and a failure that the tool itself reports are answers about the
    attempt that they answer. ``before`` says that an earlier one under the same key left it open:
    no refusal of a later attempt, mapped or not, says what became of that one; only a success does.
    """
    if contract.effect is Effect.READ:
        return False
    if before or not receipt.dispatched:
        return before
    if rejected.mapped_code is not None or rejected.code is Code.TOOL_FAILED:
        return False
    if rejected.code in _DEFINITE:
        return False
    return not (
        rejected.stage is Stage.FETCH
        and receipt.fault is None
        and receipt.status is not None
        and 400 <= receipt.status < 500
    )


def may_retry(
    contract: Contract, tally: Tally, receipt: Receipt, rejected: Rejected, code: str
) -> bool:
    """Whether another attempt is declared for ``code``. Time is judged by ``pause_s``.

    A 401 or 403 asks for one new decision and one more attempt, and never loops.
    """
    if rejected.code is Code.UPSTREAM_DENIED:
        return tally.denials <= 1
    if tally.attempts >= contract.retry.attempts or code not in contract.retry.on:
        return False
    if rejected.stage is not Stage.FETCH and rejected.code is not Code.TOOL_FAILED:
        # The answer came and did not fit: asking again is for reads, once (RET-2).
        return contract.effect is Effect.READ and tally.refused_answers <= 1
    return contract.effect is Effect.READ or not receipt.dispatched or honours_key(contract)


def granted_s(contract: Contract, deadline_s: float | None) -> float:
    """Return how long a call may take in all; the host's ``deadline_s`` can only shorten it."""
    retry, timeout_s = contract.retry, contract.fetch.timeout_s or 0.0
    granted = retry.budget_s if retry.attempts > 1 else max(retry.budget_s, timeout_s)
    return granted if deadline_s is None else min(granted, deadline_s)


def hosted_s(contract: Contract) -> float:
    """Return how long a host that fetches for itself may take: as declared, else the longest.

    Without an end nobody could say that such a call is over (ARG-9, RET-2).
    """
    timeout_s = contract.fetch.timeout_s
    return MAX_TIMEOUT_S if timeout_s is None else timeout_s


def honours_key(contract: Contract) -> bool:
    """Whether the upstream is declared to honour an idempotency key."""
    fetch = contract.fetch
    return isinstance(fetch, HttpFetch) and fetch.idempotency_header is not None


def pause_s(
    attempt: int, *, retry_after_s: float | None, remaining_s: float, jitter: Callable[[], float]
) -> float | None:
    """Return how long to wait before the next attempt, or None where the budget forbids it.

    Full jitter over an exponential ceiling; what the upstream asks for in Retry-After is kept
    where the budget holds it. ``jitter`` returns a number in [0, 1).
    """
    ceiling = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2 ** (attempt - 1))
    pause = ceiling * jitter()
    if retry_after_s is not None:
        pause = max(pause, retry_after_s)
    return pause if pause < remaining_s else None
