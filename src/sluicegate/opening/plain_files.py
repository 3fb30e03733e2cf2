"""Files that somebody named: plain ones alone, opened without waiting for another process."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

_OPENLY: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
"""So a FIFO that nobody writes to gives a descriptor at once, and is refused by its kind."""


def open_plain(path: Path) -> BinaryIO:
    """Open ``path`` for reading; the file behind a link counts.

    Raises: OSError where it cannot be opened, and where it is a folder, a FIFO, a socket or a
    device: a read of these may wait for ever, or never end.
    """
    descriptor = os.open(path, _OPENLY)
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISREG(kind):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise OSError(errno.EINVAL, "it is no plain file", str(path))


def read_plain(path: Path, max_bytes: int) -> bytes:
    """Return at most ``max_bytes`` and one byte more, by which a reader sees that it is too long.

    Raises: as ``open_plain``.
    """
    with open_plain(path) as file:
        return file.read(max_bytes + 1)
