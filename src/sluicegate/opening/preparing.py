"""Tables for a record in PostgreSQL: made, or brought up, by whoever owns them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sluicegate.errors import ConfigurationError
from sluicegate.opening.folder import read_settings
from sluicegate.stores.stores import demand_postgres, is_postgres


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """Versions of the tables; ``before`` 0: a record was begun."""

    before: int
    after: int


def prepare_record(folder: Path, *, gate_role: str | None, now: datetime) -> Preparation:
    """Make or bring up the tables of the folder's record, and give ``gate_role`` its rights.

    Raises: ConfigurationError, also where the record is not in PostgreSQL. Source: SPEC AUD-3.
    """
    settings = read_settings(folder).audit
    if not is_postgres(settings):
        raise ConfigurationError(
            "audit.store names no PostgreSQL: the record is prepared by the first gate"
        )
    demand_postgres()
    from sluicegate.stores.postgres_opening import prepare_postgres

    done = prepare_postgres(settings, folder, gate_role=gate_role, now=now)
    return Preparation(before=done.before, after=done.after)
