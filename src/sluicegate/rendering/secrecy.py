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
    r"credential|secret|passw|passphrase|(?<![a-z])pass(?![a-z])|pgpass|pwd|token|api[_-]?key"
    r"|private[_-]?key|auth(?!ors?\b)|bearer|cookie|\bheaders?\b|\benv\b|\bargv\b"
    r"|://[^\s\"']*[@?#]",
    re.IGNORECASE,
)
_OF_SETTINGS: Final = re.compile(r"store|keys|notify|heads|also|://")
_ROWS: Final = "/access/"
_OF_FETCH: Final = re.compile(r"/fetch(?:/|\Z)")
_PLAIN_OF_FETCH: Final = re.compile(
    r"\s*\"?(?:fetch|http|command|ssh|python|host|cache|method|timeout_s|redirects|stdin|agent|port"
    r"|function|ca_file|known_hosts|directory|ttl_s|max_entries)\"?\s*:"
    r"(?:[^{}\[\]:@,]|:(?!//))*+[{\[,]?\s*"
)
"""A line of ``fetch`` with one member that is no address, header, command or variable."""


def may_hold_secret(file: str, pointer: str, line: str) -> bool:
    """Whether ``line`` of ``file``, in which ``pointer`` stands, may hold one.

    Stores, keys and routes of the settings are addresses, in which people write passwords: there
    only the rows of who may call are shown. Of what a contract fetches only the lines are shown
    that hold one plain member. Elsewhere the words of the line tell.
    """
    if _TELLING.search(line) is not None:
        return True
    if PurePosixPath(file).name != SETTINGS_NAME:
        return _OF_FETCH.match(pointer) is not None and not _PLAIN_OF_FETCH.fullmatch(line)
    return not pointer.startswith(_ROWS) or _OF_SETTINGS.search(line) is not None
