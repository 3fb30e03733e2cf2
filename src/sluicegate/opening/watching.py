"""Whether something in a folder, or in the Python it names, has changed: time and size of files."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from sluicegate.contracts.file_names import SETTINGS_NAME
from sluicegate.contracts.marks import Document
from sluicegate.contracts.yaml_reading import read_document
from sluicegate.gates.plain_files import read_plain
from sluicegate.opening.documents import MAX_DOCUMENT_BYTES

PAUSE_S: Final = 0.5
_LEFT_OUT: Final = frozenset({"state", "keys", "__pycache__"})

Stamps: TypeAlias = Mapping[str, tuple[int, int]]


def list_watched(folder: Path) -> tuple[Path, ...]:
    """Return ``folder`` and where the Python lives that its settings admit, without importing it.

    Of a prefix such as ``acme.`` that is the whole package ``acme``; settings that cannot be read
    admit nothing here.
    """
    places = [folder]
    importlib.invalidate_caches()
    for package in _list_packages(folder / SETTINGS_NAME):
        try:
            found = importlib.util.find_spec(package)
        except (ImportError, ValueError):
            continue
        if found is not None:
            places += map(Path, found.submodule_search_locations or (found.origin or "",))
    return tuple(dict.fromkeys(places))


def _list_packages(settings: Path) -> list[str]:
    try:
        read = read_document(settings.name, read_plain(settings, MAX_DOCUMENT_BYTES))
    except OSError:
        return []
    value = read.value if isinstance(read, Document) else None
    listed = value.get("python") if isinstance(value, Mapping) else None
    prefixes = listed if isinstance(listed, list) else []
    names = [each.partition(".")[0] for each in prefixes if isinstance(each, str)]
    return [name for name in names if name.isidentifier()]


def stamp_files(*places: Path) -> Stamps:
    """Return time of change and size of every file at or below ``places``.

    Names that begin with a dot, ``state``, ``keys`` and compiled Python are left out, because a
    record changes by itself.
    """
    stamps: dict[str, tuple[int, int]] = {}
    for path in (each for place in places for each in _list_files(place)):
        try:
            stat = path.stat()
        except OSError:  # gone since it was listed
            continue
        stamps[str(path)] = (stat.st_mtime_ns, stat.st_size)
    return stamps


def _list_files(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
    for here, folders, files in os.walk(place):
        folders[:] = [
            name for name in folders if name not in _LEFT_OUT and not name.startswith(".")
        ]
        yield from (Path(here, name) for name in files)


def wait_for_change(places: Iterable[Path], seen: Stamps, sleep: Callable[[float], None]) -> Stamps:
    """Return the new stamps as soon as they differ from ``seen``, looking twice a second."""
    watched = tuple(places)
    while True:
        stamps = stamp_files(*watched)
        if stamps != seen:
            return stamps
        sleep(PAUSE_S)
