"""Events of the record into a file for other tools: JSON Lines or Parquet, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, Final

from sluicegate.errors import ConfigurationError
from sluicegate.gates.events import StoredEvent
from sluicegate.rendering.escaping import escape_json
from sluicegate.rendering.json_v1 import shape_event
from sluicegate.stores.encoding import COLUMNS, TYPES

JSONL: Final = "jsonl"
PARQUET: Final = "parquet"
ROWS_AT_ONCE: Final = 2_000

_Write = Callable[[Iterable[StoredEvent], BinaryIO], int]


def export_events(events: Iterable[StoredEvent], path: Path, *, form: str) -> int:
    """Write the events to a new file for this account alone, and return how many there are.

    Every column stands in it, HMACs and references too; nothing of custody does. Without an event,
    and after a failure, there is no file. Rejects: a file that stands there already. Raises:
    ConfigurationError; AuditUnavailable where the record cannot be read to its end.
    """
    write = _find_writer(form)
    found = iter(events)
    first = next(found, None)
    if first is None:
        return 0
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise ConfigurationError(f"{path} stands there already: name a new file") from None
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written ({error.strerror})") from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            count = write(chain([first], found), file)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        path.unlink(missing_ok=True)
        raise ConfigurationError(f"{path} cannot be written ({error.strerror})") from error
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return count


def _find_writer(form: str) -> _Write:
    if form == JSONL:
        return _write_lines
    try:
        import pyarrow  # noqa: F401  (found before the file is made)
    except ImportError as error:
        raise ConfigurationError(
            "Parquet needs the extra: install sluicegate[archive]; or export jsonl"
        ) from error
    return _write_parquet


def _write_lines(events: Iterable[StoredEvent], file: BinaryIO) -> int:
    count = 0
    for event in events:
        file.write(escape_json(shape_event(event)).encode("ascii") + b"\n")
        count += 1
    return count


def _write_parquet(events: Iterable[StoredEvent], file: BinaryIO) -> int:
    """Findings, masked and detail stay the JSON texts that they are in the record."""
    import pyarrow
    from pyarrow import parquet

    schema = pyarrow.schema(
        pyarrow.field(
            name,
            pyarrow.int64() if int in types else pyarrow.string(),
            nullable=type(None) in types,
        )
        for name, types in zip(COLUMNS, TYPES, strict=True)
    )
    count = 0
    with parquet.ParquetWriter(file, schema) as writer:
        for rows in _in_batches(events):
            columns = [[getattr(row, name) for row in rows] for name in COLUMNS]
            writer.write_batch(pyarrow.record_batch(columns, schema=schema))
            count += len(rows)
    return count


def _in_batches(events: Iterable[StoredEvent]) -> Iterator[list[StoredEvent]]:
    found = iter(events)
    while rows := list(islice(found, ROWS_AT_ONCE)):
        yield rows
