"""Source lines that are not shown: a secret may stand where none should, and reports are kept.

What CI prints is read by more people than the folder is. A place that is not shown is still told by
file, line and column. Source: SPEC ADP-5, AUD-5.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

from sluicegate.contracts.file_names import SETTINGS_NAME

_TELLING: Final = re.compile(
    r"credential|secret|passw|token|api[_-]?key|authorization|bearer|://[^/\s\"']*@", re.IGNORECASE
)
_OF_SETTINGS: Final = re.compile(r"store|keys|notify|heads|also|://")
_ROWS: Final = "/access/"


def may_hold_secret(file: str, pointer: str, line: str) -> bool:
    """Whether ``line`` of ``file``, in which ``pointer`` stands, may hold one.

    Stores, keys and routes of the settings are addresses, in which people write passwords: there
    only the rows of who may call are shown.
    """
    if _TELLING.search(line) is not None:
        return True
    if PurePosixPath(file).name != SETTINGS_NAME:
        return False
    return not pointer.startswith(_ROWS) or _OF_SETTINGS.search(line) is not None
