"""Source lines that are not shown: a secret may stand where none should, and reports are kept.

What CI prints is read by more people than the folder is. A place that is not shown is still told by
file, line and column. Source: SPEC ADP-5, AUD-5.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

from sluicegate.contracts.file_names import SETTINGS_NAME, is_contract
from sluicegate.contracts.keys import DISCREET, GUARDED, is_discreet

_TELLING: Final = re.compile(
    r"credential|secret|passw|passphrase|(?<![a-z])pass(?![a-z])|pgpass|pwd|token|api[_-]?key"
    r"|private[_-]?key|auth(?!ors?\b)|bearer|cookie|\bheaders?\b|\benv\b|\bargv\b"
    r"|(?<![\w-])(?:fetch|signature)[\"']?\s*:\s*\{"
    r"|://[^\s\"']*[@?#]",
    re.IGNORECASE,
)
_DISCREET_KEY: Final = re.compile(
    rf"(?<![\w-])(?:{'|'.join(sorted({key for keys in DISCREET.values() for key in keys}))})"
    r"[\"']?\s*:"
)
_ROWS: Final = "/access/"
_BEGINNING: Final = re.compile(r"\s*((?:- +)*)(?:[\"']?(\w+)[\"']?\s*:(?=\s|\Z))?")
_OPENING: Final = re.compile(r"\s*[\"']?\w+[\"']?\s*:\s*[{\[]?\s*(?:#.*)?")
"""A line that only begins what stands below it."""
_ONE_MEMBER: Final = re.compile(
    r"\s*[\"']?\w+[\"']?\s*:(?:[^{}\[\]:@,]|:(?!//))*+[{\[,]?\s*",
)
"""A line with one member that is no address; where its place is plain, so is the line."""


def may_hold_secret(file: str, pointer: str, line: str) -> bool:
    """Whether ``line`` of ``file``, in which ``pointer`` stands, may hold one.

    What stands at a discreet key is an address, a header or a command, in which people write
    passwords. Of the settings the rows of who may call are shown, and what a key begins that has no
    discreet one below it; beside discreet keys only a line that holds nothing but its own plain
    member. Where the line may hold other places, or no place is known, its words tell.
    """
    if _TELLING.search(line) is not None:
        return True
    if PurePosixPath(file).name == SETTINGS_NAME:
        if "://" in line or _DISCREET_KEY.search(line) is not None:
            return True
        return is_discreet("settings", pointer) or not _is_plain_setting(pointer, line)
    if is_discreet("contract", pointer):
        return True
    if not pointer:
        return is_contract(file) and _DISCREET_KEY.search(line) is not None
    if pointer in GUARDED["contract"]:
        return _OPENING.fullmatch(line) is None
    is_beside = any(pointer.startswith(f"{at}/") for at in GUARDED["contract"])
    return is_beside and _ONE_MEMBER.fullmatch(line) is None


def _is_plain_setting(pointer: str, line: str) -> bool:
    """Whether ``line`` holds the place that ``pointer`` leads to, and nothing of another key."""
    if pointer.startswith(_ROWS):
        return True
    if pointer in GUARDED["settings"]:
        return _OPENING.fullmatch(line) is not None
    begun = _BEGINNING.match(line)
    segments = pointer.split("/")[1:]
    if begun is None or not (begun[2] in segments if begun[2] else begun[1]):
        return False
    is_beside = any(at and pointer.startswith(f"{at}/") for at in GUARDED["settings"])
    return _ONE_MEMBER.fullmatch(line) is not None if is_beside else _is_whole(line)


def _is_whole(line: str) -> bool:
    """Whether what begins in ``line`` ends there, and nothing stands beside it."""
    depth = 0
    for character in line:
        depth += (character in "{[") - (character in "}]")
        if depth < 0 or (depth == 0 and character == ","):
            return False
    return depth == 0
