"""A file that is replaced whole: a reader sees the old one or the new one, also after a crash."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path
from typing import Final

_FRESH: Final = re.compile(r"\..+\.[0-9]+-[0-9a-f]{16}\.new", re.DOTALL)


def replace_file(path: Path, content: bytes, *, mode: int = 0o666) -> None:
    """Write ``content`` beside ``path``, on disk, then rename it over. ``mode`` less the umask.

    The temporary name is the writer's own, so that two writers never share one. Raises: OSError.
    """
    fresh = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(8)}.new")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def is_half_written(path: Path) -> bool:
    """Whether ``path`` is what a writer that was killed left of its ``replace_file``."""
    return _FRESH.fullmatch(path.name) is not None


def sync_directory(directory: Path) -> None:
    """Put the names that stand in ``directory`` on disk. Raises: OSError."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
