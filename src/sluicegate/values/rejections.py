"""The outcome of a rung that did not hold: a value, never an exception."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from sluicegate.values.codes import Code, Stage
from sluicegate.values.findings import Finding
from sluicegate.values.json import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """The tool that yields the evidence which is missing, and what is known of its arguments."""

    tool: str
    arguments: Mapping[str, JsonValue]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """What stopped, where, and why; ``policy_version`` names what a decision point decided by.

    Final, so that a rung's outcome is told apart by ``type(outcome) is Rejected``: every accepted
    answer pays for the question nine times, and it costs half of ``isinstance``.

    ``mapped_code`` is the contract's own error code (SPEC 2, ``errors``) that the agent sees
    in place of the default, where the contract maps this refusal. ``engine_message`` is the
    engine's own text: it may hold received text, so it goes to custody and nowhere else.
    ``decision_id`` is the denial's, where a decision point gave one. ``needed`` stands with
    EVIDENCE_REQUIRED alone. ``told`` is what the record says besides, for the operator: names of
    the contract, numbers, times and request ids, and nothing that was received.
    """

    stage: Stage
    code: Code
    findings: tuple[Finding, ...] = ()
    policy_version: str | None = None
    mapped_code: str | None = None
    engine_message: str | None = None
    decision_id: str | None = None
    needed: Needed | None = None
    told: Mapping[str, JsonValue] | None = None

    @classmethod
    def because(
        cls, stage: Stage, *findings: Finding, engine_message: str | None = None
    ) -> Rejected:
        """Reject for ``findings``; the first names the code. Raises: IndexError if none."""
        return cls(
            stage=stage, code=findings[0].code, findings=findings, engine_message=engine_message
        )
