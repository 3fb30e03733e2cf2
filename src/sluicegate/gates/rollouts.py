"""Which of several versions a caller gets: named callers first, then by share (SPEC 2, LIF-3).

Nothing is drawn and no clock is read: the same caller gets the same version of a tool as long as
the rows stay as they are. A share that grows takes callers in and lets none out, where two rows
share them.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from sluicegate.contracts.settings import WHOLE_SHARE, ServeRow
from sluicegate.values.callers import Caller
from sluicegate.values.json import canonical_text

_DOMAIN: Final = b"sluicegate/serve/1\0"
"""Of this hash alone: no digest of the record is made so."""


def choose_row(rows: Sequence[ServeRow], tool: str, caller: Caller) -> int:
    """Return which of ``rows`` serves ``caller``: the one that names it, else by its share.

    Raises: ValueError where the shares do not add up to the whole, as the loader demands.
    """
    for index, row in enumerate(rows):
        if caller.subject in row.callers:
            return index
    return row_at(rows, point_of(tool, caller))


def row_at(rows: Sequence[ServeRow], point: int) -> int:
    """Return which of ``rows`` holds ``point``, 0 up to and without ``WHOLE_SHARE``."""
    ends = list(accumulate(row.share or 0 for row in rows))
    if not ends or ends[-1] != WHOLE_SHARE or not 0 <= point < WHOLE_SHARE:
        raise ValueError("the shares of a tool add up to the whole")
    return bisect_right(ends, point)


def point_of(tool: str, caller: Caller) -> int:
    """Return where ``caller`` stands among the millionths of ``tool``; its session changes nothing.

    Two tools place the same caller independently of one another.
    """
    text = canonical_text([tool, caller.subject, caller.tenant])
    hashed = hashlib.sha256(_DOMAIN + text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(hashed) % WHOLE_SHARE


def main_row(rows: Sequence[ServeRow]) -> int:
    """Return the row of the greatest share, the first of equals: what a tool is shown at when
    nobody says for whom."""
    return max(range(len(rows)), key=lambda index: (rows[index].share or 0, -index))
