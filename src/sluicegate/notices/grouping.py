"""Like notices gathered per window: the first is told at once, the rest as one count (AUD-6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, TypeAlias

from sluicegate.gates.ports import Notice

MAX_GROUPS: Final = 256

_Key: TypeAlias = tuple[str, str, str, str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """``notice`` is the first of its group; ``first`` and ``last`` are aware UTC times."""

    notice: Notice
    first: datetime
    last: datetime
    count: int


class Groups:
    """Open groups by owner, tool, version, stage, code and sentence; times are monotonic."""

    def __init__(self, window_s: float) -> None:
        self._window_s = window_s
        self._open: dict[_Key, tuple[float, Gathered]] = {}

    def take(self, notice: Notice, at: float) -> Gathered | None:
        """Return the notice if it opens a group and should be told now; None if it was counted.

        With ``MAX_GROUPS`` open, a notice of a new kind is told without opening a group.
        """
        key = (
            notice.owner,
            notice.tool,
            notice.contract_version,
            notice.stage,
            notice.code,
            notice.says,
        )
        known = self._open.get(key)
        if known is not None:
            ends, gathered = known
            grown = replace(gathered, count=gathered.count + 1, last=notice.time)
            self._open[key] = (ends, grown)
            return None
        gathered = Gathered(notice=notice, first=notice.time, last=notice.time, count=1)
        if len(self._open) < MAX_GROUPS:
            self._open[key] = (at + self._window_s, gathered)
        return gathered

    def next_end(self) -> float | None:
        """Return when the oldest window ends; None if no group is open."""
        return min((ends for ends, _ in self._open.values()), default=None)

    def close_due(self, at: float) -> list[Gathered]:
        """Close the windows that ended by ``at``; return those that counted more than the first."""
        due = [key for key, (ends, _) in self._open.items() if ends <= at]
        closed = [self._open.pop(key)[1] for key in due]
        return [gathered for gathered in closed if gathered.count > 1]

    def close_all(self) -> list[Gathered]:
        """Close every window, as ``close_due``."""
        return self.close_due(float("inf"))
