"""The rung that asks whether a well-formed answer is the answer to our question (SPEC RES-5)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NewType, Protocol

from sluicegate.values.findings import Finding
from sluicegate.values.requests import Request

Vouched = NewType("Vouched", object)


class ResultCheck(Protocol):
    """A pure function over the conforming data (SPEC 2, ``result.checks``)."""

    def __call__(
        self, data: object, *, document: object, request: Request, now: datetime
    ) -> Sequence[Finding]:
        """Return findings; none means the rule holds."""
