"""Questions answered by the engine in this process: as the child does, without its limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from typing import Any

from sluicegate.lifecycle.lint.findings import LintFinding
from sluicegate.lifecycle.lint.linting import Profile, lint
from sluicegate.lifecycle.lint.sets import Inquiry
from sluicegate.lifecycle.lint.subject import BARE, SideName, Subject, Surroundings
from sluicegate.opening.deciding_child import answer_if_known

TODAY = date(2026, 11, 30)


def decide_here(inquiries: Sequence[Inquiry]) -> list[list[Any]]:
    return [
        [answer_if_known(asdict(question), inquiry.document) for question in inquiry.questions]
        for inquiry in inquiries
    ]


def lint_here(
    schema: Any,
    side: SideName = "result",
    *,
    around: Surroundings = BARE,
    profile: Profile | None = None,
) -> tuple[LintFinding, ...]:
    subject = Subject(schema=schema, side=side, around=around)
    return lint([subject], decide=decide_here, today=TODAY, profile=profile)[0]
