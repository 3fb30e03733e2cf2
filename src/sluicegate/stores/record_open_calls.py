"""The open calls as a small table of their own: asking costs the same however long the record is.

It is derived from the events and kept by triggers, in the transaction of each event: no crash and
no other process, also one of an earlier release, leaves it behind. Source: SPEC RET-2;
docs/decisions/0007.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sluicegate.stores.connections import Connection
from sluicegate.stores.encoding import Column
from sluicegate.stores.record_faults import Fault

# What ``gates.open_calls.open_attempts`` says, in SQL: one table of cases holds both to it. The
# member is looked for as the writer spells it, since older SQLite lets no trigger call json_extract
# while trusted_schema is off; inside a text of the detail its quotation marks would be escaped.
OPEN: Final = """
    e.kind = 'intent'
    AND NOT EXISTS (
        SELECT 1 FROM audit_event AS o
        WHERE o.request_id = e.request_id AND o.attempt >= e.attempt AND o.kind = 'outcome'
            AND o.outcome <> 'unknown'
    )
    AND NOT EXISTS (
        SELECT 1 FROM audit_event AS r
        WHERE r.request_id = e.request_id AND r.kind = 'operator' AND r.seq > e.seq
            AND instr(r.detail, '"resolves":"' || e.request_id || '"')
    )
"""

_UNTOLD: Final = "the table of open calls does not say of it what the events say"

_COLUMNS: Final = "seq, request_id, attempt, tool, caller_subject, caller_tenant, arguments_hmac"

OPEN_CALL_TABLES: Final = (
    """
    CREATE TABLE open_call (
        seq INTEGER PRIMARY KEY,
        request_id TEXT NOT NULL,
        attempt INTEGER NOT NULL,
        tool TEXT NOT NULL,
        caller_subject TEXT,
        caller_tenant TEXT,
        arguments_hmac TEXT
    ) STRICT
    """,
    "CREATE INDEX open_call_request ON open_call (request_id)",
    """
    CREATE INDEX open_call_arguments
    ON open_call (arguments_hmac, tool, caller_subject, caller_tenant)
    """,
)

OPEN_CALL_TRIGGERS: Final = {
    "open_call_begins": """
        AFTER INSERT ON audit_event
        WHEN NEW.kind = 'intent' AND NOT EXISTS (
            SELECT 1 FROM audit_event AS o
            WHERE o.request_id = NEW.request_id AND o.attempt >= NEW.attempt
                AND o.kind = 'outcome' AND o.outcome <> 'unknown'
        )
        BEGIN
            INSERT INTO open_call VALUES (
                NEW.seq, NEW.request_id, NEW.attempt, NEW.tool,
                NEW.caller_subject, NEW.caller_tenant, NEW.arguments_hmac
            );
        END
    """,
    "open_call_ends": """
        AFTER INSERT ON audit_event WHEN NEW.kind = 'outcome' AND NEW.outcome <> 'unknown'
        BEGIN
            DELETE FROM open_call
            WHERE request_id = NEW.request_id AND attempt <= NEW.attempt;
        END
    """,
    "open_call_resolved": """
        AFTER INSERT ON audit_event
        WHEN NEW.kind = 'operator'
            AND instr(NEW.detail, '"resolves":"' || NEW.request_id || '"')
        BEGIN DELETE FROM open_call WHERE request_id = NEW.request_id; END
    """,
    # A row that went by another way would free a write that may have been made.
    "open_call_no_delete": f"""
        BEFORE DELETE ON open_call
        WHEN EXISTS (SELECT 1 FROM audit_event AS e WHERE e.seq = OLD.seq AND {OPEN.strip()})
        BEGIN SELECT RAISE(ABORT, 'APPEND_ONLY: a call stays open until its outcome is known'); END
    """,  # noqa: S608  (constant text)
    "open_call_no_update": """
        BEFORE UPDATE ON open_call
        BEGIN SELECT RAISE(ABORT, 'APPEND_ONLY: an open call is never changed'); END
    """,
}

FILL_OPEN_CALLS: Final = (
    f"INSERT INTO open_call ({_COLUMNS})"  # noqa: S608  (constant text)
    f" SELECT {_COLUMNS} FROM audit_event AS e WHERE {OPEN}"
)


def find_open_row(connection: Connection, columns: Mapping[str, Column]) -> str | None:
    """Return the newest other request that is open for the call of an event with ``columns``.

    Raises: sqlite3.Error.
    """
    row = connection.execute(
        "SELECT request_id FROM open_call WHERE arguments_hmac = :arguments_hmac AND tool = :tool"
        " AND caller_subject IS :caller_subject AND caller_tenant IS :caller_tenant"
        " AND request_id <> :request_id ORDER BY seq DESC LIMIT 1",
        columns,
    ).fetchone()
    return None if row is None else str(row[0])


def find_disagreement(connection: Connection, *, after: int = 0) -> Fault | None:
    """Return the first event that is open by the events and not in the table, or the other way.

    Only what stands behind seq ``after`` is looked at. Raises: sqlite3.Error.
    """
    row = connection.execute(
        "SELECT min(seq) FROM ("  # noqa: S608  (constant text)
        f" SELECT * FROM (SELECT {_COLUMNS} FROM audit_event AS e WHERE e.seq > :after AND {OPEN}"
        f" EXCEPT SELECT {_COLUMNS} FROM open_call) AS untold"
        f" UNION ALL SELECT * FROM (SELECT {_COLUMNS} FROM open_call WHERE seq > :after"
        f" EXCEPT SELECT {_COLUMNS} FROM audit_event AS e WHERE {OPEN} AND e.seq > :after)"
        " AS unknown_to_events) AS differing",
        {"after": after},
    ).fetchone()
    return None if row[0] is None else Fault(row[0], _UNTOLD)
