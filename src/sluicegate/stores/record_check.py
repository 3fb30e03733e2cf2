"""Whether the tables that the events make say what the events say: asked when a record is verified.

Who takes a call from the open ones frees a write that may have been made; who takes the mark from
evidence lets it carry a second action; who destroys a blob hides what was said.
Source: SPEC AUD-3.
"""

from __future__ import annotations

from sluicegate.stores.connections import Connection
from sluicegate.stores.record_custody_check import find_unkept
from sluicegate.stores.record_faults import Fault, first_of
from sluicegate.stores.record_open_calls import find_disagreement
from sluicegate.stores.record_terms_check import find_misheld


def find_fault(connection: Connection) -> Fault | None:
    """Return the fault of the first event at fault, whichever table shows it.

    The connection holds one snapshot: a gate may write meanwhile. Raises: sqlite3.Error.
    """
    found = (find_disagreement(connection), find_misheld(connection), find_unkept(connection))
    return first_of(fault for fault in found if fault is not None)
