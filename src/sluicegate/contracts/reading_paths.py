"""Texts that name a file or a folder: what no file can bear is refused where it is read.

A NUL, a name of 300 letters or none at all would else come back from the system, as whatever the
first to open it raises.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from posixpath import normpath
from typing import Final

from sluicegate.contracts.places import Place

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Also half of a surrogate pair, which no text that a file system takes holds."""

_MAX_NAME_BYTES: Final = 255
"""NAME_MAX of Linux and macOS."""

_ROOM_BYTES: Final = 15
"""The longest ending of a file that is made beside another one, `.rotation.lock`, and one more."""

_MAX_PATH_BYTES: Final = 4_000
"""PATH_MAX of Linux, less what the folder with the settings may need."""


def read_path(members: Mapping[str, Place], key: str, wanted: str = "a path") -> str | None:
    """Return the path at ``key`` of what is only read."""
    text = members[key].text("", wanted) if key in members else None
    if text is None or holds_control(members[key]) or not holds_path(members[key], text):
        return None
    return text


def holds_control(place: Place) -> bool:
    """Whether a character stands here that nobody sees; noted as a fault."""
    if not isinstance(place.value, str) or _CONTROL.search(place.value) is None:
        return False
    place.fault("this holds a control character.", "Write it without one.", discreet=True)
    return True


def holds_path(
    place: Place, path: str, *, names_file: bool = False, has_company: bool = False
) -> bool:
    """Whether ``path``, which stands at ``place``, can be a path; else a fault is noted.

    ``names_file``: it ends with the name of a file. ``has_company``: files with longer names are
    made beside it.
    """
    *folders, last = normpath(path).split("/")
    is_crowded = has_company and len(last.encode()) > _MAX_NAME_BYTES - _ROOM_BYTES
    most = _MAX_NAME_BYTES - _ROOM_BYTES if is_crowded else _MAX_NAME_BYTES
    if len(path.encode()) > _MAX_PATH_BYTES:
        said, mend = f"is a path of more than {_MAX_PATH_BYTES} bytes", "Write a shorter one."
    elif is_crowded or max(len(name.encode()) for name in (*folders, last)) > most:
        said = f"names a file or folder with more than {most} bytes"
        mend = "Give it a shorter name."
    elif names_file and normpath(path).rpartition("/")[2] in ("", ".", ".."):
        said, mend = "names no file", "Write the path of a file."
    else:
        return True
    place.fault(f"this {said}.", mend, discreet=True)
    return False
