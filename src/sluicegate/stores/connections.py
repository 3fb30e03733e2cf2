"""A connection as the shared questions of the record need it: SQLite's own, or PostgreSQL's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol


class Rows(Protocol):
    """What a statement answered."""

    @property
    def rowcount(self) -> int:
        """How many rows the statement changed."""

    def fetchone(self) -> Any:
        """Return the next row, None where there is none."""

    def fetchall(self) -> list[Any]:
        """Return the rows that are left."""

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the rows that are left."""


class Connection(Protocol):
    """Takes statements with ``?`` by order or ``:name`` by name. Raises errors of its own kind."""

    @property
    def total_changes(self) -> int:
        """A number that grows with every change."""

    def execute(self, statement: str, values: Any = ..., /) -> Rows:
        """Do one statement."""

    def executemany(self, statement: str, rows: Any, /) -> object:
        """Do one statement with each of ``rows``."""

    def close(self) -> None:
        """Let go of the connection."""
