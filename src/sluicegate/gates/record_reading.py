"""What stands in the record, read as a gate would have written it; what no gate wrote is told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from sluicegate.gates.ports import AuditUnavailable


@contextmanager
def as_written(request_id: str) -> Iterator[None]:
    """Read, in the block, what is recorded of a request.

    Raises: AuditUnavailable for what its columns do not hold if a gate wrote them.
    """
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
        raise AuditUnavailable(
            f"CHAIN_BROKEN: what is recorded of {request_id} was changed; verify the record"
        ) from None


def read_time(text: str) -> datetime:
    """Return a time of the record. Raises: ValueError for none, and for one without its zone."""
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError("a time of the record names its zone")
    return time
