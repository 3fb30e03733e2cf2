"""Which statuses of an operation mean what: what its document declares, as a contract says it.

Successes become ``upstream.success``, errors with a plain name ``upstream.status`` and ``errors``.
What a contract cannot take over without changing what it means is asked about. Source: OpenAPI
3.0.3 and 3.1.0, section 4.8.16; RFC 9110, section 15; SPEC RES-1, RET-2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sluicegate.lifecycle.importing.blueprint import Decision, Effect
from sluicegate.values.json import JsonObject

SUCCESS: Final = 200
"""What a contract takes where it declares no success."""

_SUCCESS: Final = re.compile(r"2(?:[0-9]{2}|XX)", re.IGNORECASE)
_ERROR: Final = re.compile(r"[1345](?:[0-9]{2}|XX)", re.IGNORECASE)
_OF_RANGE: Final = (200, 201, 202, 203)
"""What ``2XX`` stands for: the others need a request that a contract does not make."""

_UNAVAILABLE: Final = "UPSTREAM_UNAVAILABLE"
_NAMED: Final[Mapping[str, str]] = {
    "400": "BAD_REQUEST",
    "404": "NOT_FOUND",
    "409": "CONFLICT",
    "410": "GONE",
    "412": "PRECONDITION_FAILED",
    "422": "UNPROCESSABLE",
    "423": "LOCKED",
    "429": "TOO_MANY_REQUESTS",
}
_AGAIN: Final = frozenset({"TOO_MANY_REQUESTS", _UNAVAILABLE})
_FAILING: Final = frozenset({"500", "502", "503", "504", "5xx"})
_DENIED: Final = frozenset({"401", "403"})
"""Unmapped they are UPSTREAM_DENIED, which asks for a new decision (RET-2); a code hides that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """``status`` as ``upstream`` has it, ``codes`` as ``errors`` has them, and what is open."""

    status: Mapping[str, str]
    codes: Mapping[str, bool]
    decisions: tuple[str, ...]


def list_successes(responses: JsonObject) -> list[str]:
    """Return the statuses of an operation that mean success: numbers first, then ``2XX``.

    ``default`` stands for what is not declared, errors above all: it is none of them.
    """
    return sorted(status for status in responses if _SUCCESS.fullmatch(status))


def number_successes(taken: Sequence[str], responses: Iterable[str], *, bare: bool) -> list[int]:
    """Return the numbers that ``taken`` stands for, out of the declared ``responses``.

    ``bare``: an answer without content is among them. What is declared by its number is not what
    ``2XX`` speaks of.
    """
    declared = {int(each) for each in responses if each.isdigit()}
    numbers = {int(each) for each in taken if each.isdigit()}
    if len(numbers) < len(taken):
        numbers |= {*_OF_RANGE, *({204} if bare else ())} - declared
    return sorted(numbers)


def map_errors(responses: JsonObject, effect: Effect) -> Errors:
    """Return what the declared errors are to the agent, those alone whose name is plain.

    A mapped status is an answer about what was done (SPEC RET-2). That a write failed with a 5xx
    is none, so for writes these stay unmapped; nor is a range mapped that 401 and 403 are of.
    """
    declared = sorted(each.lower() for each in responses if _ERROR.fullmatch(each))
    failing = [each for each in declared if each in _FAILING]
    status = {each: _NAMED[each] for each in declared if each in _NAMED}
    if effect == "read":
        status.update(dict.fromkeys(failing, _UNAVAILABLE))
    codes = {code: code in _AGAIN for code in dict.fromkeys(status.values())}
    return Errors(
        status=status,
        codes=codes,
        decisions=tuple(_ask(declared, failing, status, responses)),
    )


def _ask(
    declared: Sequence[str],
    failing: Sequence[str],
    status: Mapping[str, str],
    responses: JsonObject,
) -> Iterator[str]:
    other = [each for each in declared if each not in {*status, *failing, *_DENIED}]
    other += ["default"] if "default" in responses and list_successes(responses) else []
    text = "upstream.status: which statuses become which codes of `errors`"
    yield f"{text}; declared and not drafted: {', '.join(other)}" if other else text
    if failing and not any(each in status for each in failing):
        yield (
            f"upstream.status: a write that is answered {', '.join(failing)} may have been done, so"
            " the agent is told OUTCOME_UNKNOWN; map what says that it was not"
        )


def ask_of_codes(codes: Mapping[str, bool]) -> Iterator[Decision]:
    """Yield what is open of the drafted codes."""
    if codes:
        yield Decision(at="errors", question="errors: after which of them the agent may try again")
