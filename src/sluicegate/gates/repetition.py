"""The third identical invalid call in a row ends the conversation about it (SPEC ARG-8)."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import Final

from sluicegate.values.callers import Caller

LIMIT: Final = 3
_MAX_CONVERSATIONS: Final = 4096


class Repetition:
    """Remembers the last invalid call of each conversation about a tool; bounded."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: OrderedDict[tuple[object, ...], tuple[bytes, int]] = OrderedDict()

    def is_repeated(self, caller: Caller, tool: str, raw: bytes) -> bool:
        """Count one invalid call; True from the third identical one in a row on."""
        key = (caller.subject, caller.tenant, caller.session, tool)
        digest = hashlib.sha256(raw).digest()
        last, count = self._last.pop(key, (b"", 0))
        count = count + 1 if last == digest else 1
        self._last[key] = (digest, count)
        if len(self._last) > _MAX_CONVERSATIONS:
            self._last.popitem(last=False)
        return count >= LIMIT

    def forget(self, caller: Caller, tool: str) -> None:
        """A valid call ends the row."""
        self._last.pop((caller.subject, caller.tenant, caller.session, tool), None)
