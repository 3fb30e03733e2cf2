"""The contract's own rules on arguments: pure functions, all of them run (SPEC ARG-6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NewType, Protocol

from sluicegate.values.callers import Caller
from sluicegate.values.findings import Finding

Sound = NewType("Sound", object)


class ArgumentCheck(Protocol):
    """A pure function over the validated arguments."""

    def __call__(self, arguments: Mapping[str, object], *, caller: Caller) -> Sequence[Finding]:
        """Return findings; none means the rule holds."""
