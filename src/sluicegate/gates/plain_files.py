"""Files that somebody named: regular ones alone, opened without waiting for another process.

It stands on this floor because every room above opens such files, and all do it in this one way.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

_OPENLY: Final = os.O_CLOEXEC | os.O_NONBLOCK
"""So a FIFO that nobody writes to gives a descriptor at once, and is refused by its kind."""


PATH_FAULTS: Final = (OSError, RuntimeError, ValueError)
"""What is raised for a path that cannot be followed: pathlib has a RuntimeError for a circle."""


def say_path_fault(error: Exception) -> str:
    """Return why a path cannot be followed, for any of ``PATH_FAULTS``."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    if isinstance(error, RuntimeError):
        return os.strerror(errno.ELOOP)
    return "no file can bear this name"


def open_plain(path: Path) -> BinaryIO:
    """Open ``path`` for reading; the file behind a link counts. Raises: as ``open_descriptor``."""
    return os.fdopen(open_descriptor(path, os.O_RDONLY), "rb")


def open_descriptor(path: Path, flags: int, mode: int = 0o600) -> int:
    """Return a descriptor of the regular file ``path``, opened with ``flags``.

    Raises: OSError where it cannot be opened or the name can be that of no file, and where it is a
    folder, a FIFO, a socket or a device: a read of these may wait for ever, or never end.
    """
    try:
        descriptor = os.open(path, flags | _OPENLY, mode)
    except ValueError:  # a NUL, or half of a surrogate pair
        raise OSError(errno.EINVAL, "no file can bear this name", str(path)) from None
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket; a FIFO that nobody reads
            raise _irregular(path) from None
        raise
    kind = os.fstat(descriptor).st_mode
    if stat.S_ISREG(kind):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise _irregular(path)


def read_plain(path: Path, max_bytes: int) -> bytes:
    """Return at most ``max_bytes`` and one byte more, by which a reader sees that it is too long.

    Raises: as ``open_descriptor``.
    """
    with open_plain(path) as file:
        return file.read(max_bytes + 1)


def demand_plain(path: Path) -> None:
    """See that ``path`` can be read, for a library that opens it by its name.

    Raises: as ``open_descriptor``.
    """
    open_plain(path).close()


def _irregular(path: Path) -> OSError:
    return OSError(errno.EINVAL, "it is no regular file", str(path))
