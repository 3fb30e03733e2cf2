"""The call ladder: model → tool. The order of its pure rungs lives here.

    bound → parse → conform → check → authorize → admit → execute

``climb`` makes the pure rungs; ``authorize`` and ``admit`` ask the ports. Source: SPEC section 3.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from sluicegate.checks.bounds import bound_arguments
from sluicegate.checks.conformance import ConformingArguments, conform
from sluicegate.checks.parsing import ParsedArguments, ParseRule, parse
from sluicegate.checks.soundness import ArgumentCheck, Sound, check_arguments
from sluicegate.contracts.contract import Contract
from sluicegate.contracts.schemas.guards import residual_guard, shape_guard
from sluicegate.gates.rigour import DISAGREEMENT, Rigour
from sluicegate.values.callers import Caller
from sluicegate.values.pointers import NOTHING, Pointer
from sluicegate.values.rejections import Rejected


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Arguments that passed the pure rungs.

    ``sound`` is the evidence; ``text`` the bytes that will be used, unchanged unless the contract
    adds absent members; ``added`` are the pointers of those members (ARG-4).
    """

    sound: Sound
    text: bytes
    added: tuple[str, ...] = ()

    @property
    def arguments(self) -> Mapping[str, object]:
        """The validated object; the root of every arguments schema is an object (CON-2)."""
        return cast("Mapping[str, object]", self.sound)


class CallLadder:
    """The pure rungs of one contract's call side."""

    __slots__ = ("_checks", "_contract", "_exact", "_quick")

    def __init__(self, contract: Contract, checks: Sequence[ArgumentCheck] = ()) -> None:
        arguments, limits = contract.arguments, contract.call_limits
        guard = shape_guard(limits.max_depth)
        left = residual_guard(arguments.schema.document, limits.max_depth)
        self._contract = contract
        self._checks = tuple(checks)
        self._exact = Rigour(
            parse=ParseRule(limits.max_depth, guard, arguments.integers),
            count_nesting=True,
            explain="arguments",
        )
        self._quick = Rigour(
            parse=ParseRule(limits.max_depth, left, arguments.integers, explain=False),
            count_nesting=False,
            explain=None,
        )

    def climb(self, raw: bytes, caller: Caller) -> Prepared | Rejected:
        """Judge the text of one call. Nothing is coerced, stripped, filled in or repaired.

        Returns the sound arguments, or the refusal with up to 20 findings. Never raises for what
        ``raw`` holds. Source: SPEC ARG-1 to ARG-6.
        """
        outcome = self._climb(raw, caller, self._quick)
        if isinstance(outcome, Rejected):
            explained = self._climb(raw, caller, self._exact)
            return explained if isinstance(explained, Rejected) else DISAGREEMENT
        return outcome

    def _climb(self, raw: bytes, caller: Caller, rigour: Rigour) -> Prepared | Rejected:
        bounded = bound_arguments(raw, self._contract.call_limits, rigour.count_nesting)
        if isinstance(bounded, Rejected):
            return bounded
        parsed = parse(bounded, rigour.parse)
        if isinstance(parsed, Rejected):
            return parsed
        conforming = conform(parsed, self._contract.arguments.schema, rigour.explain)
        if isinstance(conforming, Rejected):
            return conforming
        completed = self._complete(conforming, raw, rigour)
        if isinstance(completed, Rejected):
            return completed
        conforming, text, added = completed
        sound = check_arguments(conforming, self._checks, caller)
        if isinstance(sound, Rejected):
            return sound
        return Prepared(sound=sound, text=text, added=added)

    def _complete(
        self, conforming: ConformingArguments, raw: bytes, rigour: Rigour
    ) -> tuple[ConformingArguments, bytes, tuple[str, ...]] | Rejected:
        """Add what ``arguments.on_absent`` declares, then parse and conform again (ARG-4)."""
        absent = {
            pointer: value
            for pointer, value in self._contract.arguments.on_absent.items()
            if pointer.find(conforming) is NOTHING
            and Pointer(pointer.segments[:-1]).find(conforming) is not NOTHING
        }
        if not absent:
            return conforming, raw, ()
        completed = json.loads(json.dumps(conforming))
        for pointer, value in absent.items():
            parent = Pointer(pointer.segments[:-1]).find(completed)
            cast("dict[str, object]", parent)[pointer.segments[-1]] = value
        text = json.dumps(completed, ensure_ascii=False, allow_nan=False).encode()
        parsed = parse_arguments_again(text, self._contract, rigour)
        if isinstance(parsed, Rejected):
            return parsed
        again = conform(parsed, self._contract.arguments.schema, rigour.explain)
        if isinstance(again, Rejected):
            return again
        return again, text, tuple(pointer.text for pointer in absent)


def parse_arguments_again(
    text: bytes, contract: Contract, rigour: Rigour
) -> ParsedArguments | Rejected:
    """Climb bound and parse with the completed text: the bytes that will be used (ARG-5)."""
    bounded = bound_arguments(text, contract.call_limits, rigour.count_nesting)
    if isinstance(bounded, Rejected):
        return bounded
    return parse(bounded, rigour.parse)
