"""The memory of signed answers of many gates: one table beside their record (SPEC RES-6)."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from datetime import datetime
from typing import Final

import psycopg

from sluicegate.errors import ConfigurationError
from sluicegate.stores.postgres_place import Place, find_place
from sluicegate.stores.postgres_session import Session, connect, tell_error
from sluicegate.stores.replays_memory import KEPT_LONGER
from sluicegate.values.instants import instant_of

_PATIENCE_MS: Final = 1_000


class PostgresReplays:
    """Remembers in the schema of a record, for every gate that writes it.

    The table is made by ``audit prepare``. One connection, opened anew after it broke; what was
    asked on a broken one is an error, and never a yes.
    """

    def __init__(self, place: Place) -> None:
        """Raises: ConfigurationError where the table cannot be reached."""
        self._place = place
        self._threads = threading.Lock()
        self._session: Session | None = None
        try:
            self._session = connect(place, patience_ms=_PATIENCE_MS)
            self._session.execute("SELECT count(*) FROM seen_answer WHERE until < 0").fetchone()
        except (OSError, psycopg.Error) as error:
            self._close()
            raise ConfigurationError(
                f"the memory of signed answers ({place.shown}) cannot be opened:"
                f" {tell_error(error)}; look at the server, and run `sluicegate audit prepare`"
            ) from None

    async def is_new(self, *, scope: str, replay_id: str, until: datetime, now: datetime) -> bool:
        """Record the id and say whether it was not there. Raises: psycopg.Error, OSError."""
        return await asyncio.to_thread(
            self._record, scope, replay_id, instant_of(until + KEPT_LONGER), instant_of(now)
        )

    async def close(self) -> None:
        """Close the connection."""
        await asyncio.to_thread(self._close)

    def _record(self, scope: str, replay_id: str, until: int, now: int) -> bool:
        with self._threads:
            session = self._renewed()
            # Each statement is a commit of its own: the id is on disk before it is told as new.
            added = session.execute(
                "INSERT INTO seen_answer (scope, replay_id, until) VALUES (?, ?, ?)"
                " ON CONFLICT DO NOTHING",
                (scope, replay_id, until),
            ).rowcount
            with suppress(psycopg.errors.DeadlockDetected):  # another gate forgets the same ones
                session.execute("DELETE FROM seen_answer WHERE until < ?", (now,))
        return added == 1

    def _renewed(self) -> Session:
        if self._session is not None and self._session.is_broken:
            self._session.close()
            self._session = None
        if self._session is None:
            self._session = connect(self._place, patience_ms=_PATIENCE_MS)
        return self._session

    def _close(self) -> None:
        with self._threads:
            if self._session is not None:
                self._session.close()
                self._session = None


def open_postgres_replays(store: str) -> PostgresReplays:
    """Open the memory beside the record that ``audit.store`` names. Raises: ConfigurationError."""
    return PostgresReplays(find_place(store))
