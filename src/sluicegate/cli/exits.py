"""The exit codes: an interface, so a number is never given another meaning."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final


class Exit(IntEnum):
    """What the shell is told (SPEC section 14)."""

    ACCEPTED = 0
    REJECTED = 1
    USAGE = 2
    NOTHING_CHECKED = 3
    DOES_NOT_LOAD = 4
    UNREADABLE = 5
    INTERNAL = 70
    INTERRUPTED = 130
    READER_GONE = 141


MEANINGS: Final[Mapping[Exit, str]] = MappingProxyType(
    {
        Exit.ACCEPTED: "accepted, or nothing found",
        Exit.REJECTED: "rejected, or something found",
        Exit.USAGE: "the command line or the configuration is wrong",
        Exit.NOTHING_CHECKED: "nothing was there to be checked",
        Exit.DOES_NOT_LOAD: "a contract or a schema does not load",
        Exit.UNREADABLE: "an input cannot be read",
        Exit.INTERNAL: "something unexpected happened; nothing was accepted",
        Exit.INTERRUPTED: "interrupted by the user",
        Exit.READER_GONE: "the reader of the output went away",
    }
)


def list_exits() -> str:
    """Return the table of exit codes, one line each."""
    return "".join(f"{code.value:>4}  {meaning}\n" for code, meaning in MEANINGS.items())
