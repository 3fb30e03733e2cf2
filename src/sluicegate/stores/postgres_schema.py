"""The tables, guards and rights of the PostgreSQL record; one schema holds one chain.

The columns are those of the SQLite record. Times are RFC 3339 texts in UTC and compare as bytes
(``COLLATE "C"``), so that a month is a range of texts and one text of each question fits both
stores. Every function pins its search path.
"""

from __future__ import annotations

from typing import Final

SCHEMA_VERSION: Final = 1

TEXT: Final = 'text COLLATE "C"'

TABLES: Final = (
    f"""
    CREATE TABLE audit_event (
        seq bigint NOT NULL,
        event_id {TEXT} NOT NULL,
        time {TEXT} NOT NULL,
        kind {TEXT} NOT NULL,
        request_id {TEXT} NOT NULL,
        attempt bigint NOT NULL,
        outcome {TEXT} NOT NULL,
        tool {TEXT} NOT NULL,
        contract_version {TEXT} NOT NULL,
        contract_digest {TEXT} NOT NULL,
        caller_subject {TEXT},
        caller_tenant {TEXT},
        session {TEXT},
        call_id {TEXT},
        adapter {TEXT},
        adapter_version {TEXT},
        endpoint {TEXT},
        upstream_status {TEXT},
        stage {TEXT},
        code {TEXT},
        agent_code {TEXT},
        schema_pointer {TEXT},
        decision_id {TEXT},
        trace_id {TEXT},
        arguments_hmac {TEXT},
        arguments_ref {TEXT},
        raw_hmac {TEXT},
        raw_bytes bigint,
        raw_ref {TEXT},
        returned_hmac {TEXT},
        findings {TEXT} NOT NULL,
        masked {TEXT} NOT NULL,
        detail {TEXT} NOT NULL,
        previous {TEXT} NOT NULL,
        link {TEXT} NOT NULL
    ) PARTITION BY RANGE (time)
    """,
    # One index a question: a call's story, a time, a tool, a code, the acts. Those that are unique
    # belong to each month: PostgreSQL has none over all partitions.
    "CREATE INDEX audit_event_request ON audit_event (request_id, attempt, kind, outcome)",
    "CREATE INDEX audit_event_time ON audit_event (time)",
    "CREATE INDEX audit_event_tool ON audit_event (tool)",
    "CREATE INDEX audit_event_code ON audit_event (code) WHERE code IS NOT NULL",
    "CREATE INDEX audit_event_operator ON audit_event (seq) WHERE kind = 'operator'",
    # One row: whoever locks it is the one writer of this chain.
    f"""
    CREATE TABLE chain_head (
        one boolean PRIMARY KEY DEFAULT true CHECK (one),
        seq bigint NOT NULL,
        link {TEXT} NOT NULL
    ) WITH (fillfactor = 50)
    """,
    f"""
    CREATE TABLE custody_blob (
        ref {TEXT} PRIMARY KEY,
        kind {TEXT} NOT NULL,
        tool {TEXT} NOT NULL,
        contract_digest {TEXT} NOT NULL,
        request_id {TEXT} NOT NULL,
        content_hmac {TEXT} NOT NULL,
        content_bytes bigint NOT NULL,
        algorithm {TEXT} NOT NULL,
        key_id {TEXT},
        wrapped_key bytea,
        nonce bytea,
        ciphertext bytea,
        stored {TEXT} NOT NULL,
        expires {TEXT} NOT NULL,
        purged_at {TEXT}
    )
    """,
    # It is encrypted: to compress it again would only cost time.
    "ALTER TABLE custody_blob ALTER COLUMN ciphertext SET STORAGE EXTERNAL",
    "CREATE INDEX custody_blob_content ON custody_blob (content_hmac)",
    "CREATE INDEX custody_blob_expires ON custody_blob (expires) WHERE purged_at IS NULL",
    f"""
    CREATE TABLE custody_day (
        tool {TEXT} NOT NULL,
        day {TEXT} NOT NULL,
        bytes bigint NOT NULL,
        PRIMARY KEY (tool, day)
    )
    """,
    f"CREATE TABLE store_fact (name {TEXT} PRIMARY KEY, value {TEXT} NOT NULL)",
    f"""
    CREATE TABLE open_call (
        seq bigint PRIMARY KEY,
        request_id {TEXT} NOT NULL,
        attempt bigint NOT NULL,
        tool {TEXT} NOT NULL,
        caller_subject {TEXT},
        caller_tenant {TEXT},
        arguments_hmac {TEXT}
    )
    """,
    "CREATE INDEX open_call_request ON open_call (request_id)",
    """
    CREATE INDEX open_call_arguments
    ON open_call (arguments_hmac, tool, caller_subject, caller_tenant)
    """,
    f"CREATE TABLE quota_spent (key {TEXT} NOT NULL, at {TEXT} NOT NULL)",
    "CREATE INDEX quota_spent_key ON quota_spent (key, at)",
    "CREATE INDEX quota_spent_at ON quota_spent (at)",
    """
    CREATE INDEX audit_event_success ON audit_event (tool, caller_subject, time)
    WHERE kind = 'outcome' AND outcome = 'success'
    """,
    f"""
    CREATE TABLE custody_share (
        tool {TEXT} NOT NULL,
        day {TEXT} NOT NULL,
        caller {TEXT} NOT NULL,
        bytes bigint NOT NULL,
        PRIMARY KEY (tool, day, caller)
    )
    """,
    f"""
    CREATE TABLE reservation (
        key {TEXT} PRIMARY KEY,
        request_id {TEXT} NOT NULL,
        arguments_hmac {TEXT} NOT NULL,
        runs_until {TEXT} NOT NULL,
        kept_until {TEXT} NOT NULL
    )
    """,
    "CREATE INDEX reservation_kept ON reservation (kept_until)",
    f"CREATE TABLE evidence_spent (event_id {TEXT} PRIMARY KEY, request_id {TEXT} NOT NULL)",
    # Signed answers that were received; ``until`` in nanoseconds since 1970.
    f"""
    CREATE TABLE seen_answer (
        scope {TEXT} NOT NULL,
        replay_id {TEXT} NOT NULL,
        until bigint NOT NULL,
        PRIMARY KEY (scope, replay_id)
    )
    """,
    "CREATE INDEX seen_answer_until ON seen_answer (until)",
)

_REFUSE: Final = "BEGIN RAISE EXCEPTION 'APPEND_ONLY: %', TG_ARGV[0]; END"
_MONTH: Final = "^[0-9]{4}-(0[1-9]|1[0-2])$"

# name → (arguments, what it returns, whether it acts with the owner's rights, body).
FUNCTIONS: Final = {
    "refuse": ("", "trigger", False, _REFUSE),
    "demand_next_head": (
        "",
        "trigger",
        False,
        """
        BEGIN
            IF NEW.seq < OLD.seq OR (NEW.seq = OLD.seq AND NEW.link <> OLD.link)
                OR NOT EXISTS (
                    SELECT 1 FROM audit_event AS e WHERE e.seq = NEW.seq AND e.link = NEW.link
                )
            THEN
                RAISE EXCEPTION 'APPEND_ONLY: the head of the chain names its newest event';
            END IF;
            RETURN NEW;
        END
        """,
    ),
    "follow_open_calls": (
        "",
        "trigger",
        True,
        """
        BEGIN
            IF NEW.kind = 'intent' THEN
                INSERT INTO open_call
                SELECT NEW.seq, NEW.request_id, NEW.attempt, NEW.tool,
                    NEW.caller_subject, NEW.caller_tenant, NEW.arguments_hmac
                WHERE NOT EXISTS (
                    SELECT 1 FROM audit_event AS o
                    WHERE o.request_id = NEW.request_id AND o.attempt >= NEW.attempt
                        AND o.kind = 'outcome' AND o.outcome <> 'unknown'
                );
            ELSIF NEW.kind = 'outcome' AND NEW.outcome <> 'unknown' THEN
                DELETE FROM open_call
                WHERE request_id = NEW.request_id AND attempt <= NEW.attempt;
            ELSIF NEW.kind = 'operator'
                AND strpos(NEW.detail, '"resolves":"' || NEW.request_id || '"') > 0
            THEN
                DELETE FROM open_call WHERE request_id = NEW.request_id;
            END IF;
            RETURN NULL;
        END
        """,
    ),
    # Asked by values, one look into an index each: a join would be planned once, while the table is
    # small, and walk all of it later.
    "demand_closed": (
        "",
        "trigger",
        False,
        """
        BEGIN
            IF EXISTS (
                SELECT 1 FROM audit_event AS e WHERE e.seq = OLD.seq AND e.kind = 'intent'
            ) AND NOT EXISTS (
                SELECT 1 FROM audit_event AS o
                WHERE o.request_id = OLD.request_id AND o.attempt >= OLD.attempt
                    AND o.kind = 'outcome' AND o.outcome <> 'unknown'
            ) AND NOT EXISTS (
                SELECT 1 FROM audit_event AS r
                WHERE r.request_id = OLD.request_id AND r.kind = 'operator' AND r.seq > OLD.seq
                    AND strpos(r.detail, '"resolves":"' || r.request_id || '"') > 0
            ) THEN
                RAISE EXCEPTION 'APPEND_ONLY: a call stays open until its outcome is known';
            END IF;
            RETURN OLD;
        END
        """,
    ),
    # ATTACH takes no lock that a reader or a writer holds; CREATE … PARTITION OF would wait for
    # every reader. All times of a month lie between "2026-11" and "2026-11.", as bytes. Idempotent:
    # every writer asks for every new month.
    "prepare_month": (
        "month text",
        "void",
        True,
        f"""
        DECLARE
            name text := 'audit_event_' || replace(month, '-', '_');
            here text := TG_SCHEMA;
        BEGIN
            IF month IS NULL OR month !~ '{_MONTH}' THEN
                RAISE EXCEPTION 'a month is written as 2026-11';
            END IF;
            PERFORM pg_advisory_xact_lock(hashtext(here), hashtext(name));
            IF to_regclass(format('%I.%I', here, name)) IS NOT NULL THEN
                RETURN;
            END IF;
            EXECUTE format('CREATE TABLE %I.%I (LIKE %I.audit_event)', here, name, here);
            EXECUTE format('CREATE UNIQUE INDEX ON %I.%I (seq)', here, name);
            EXECUTE format('CREATE UNIQUE INDEX ON %I.%I (event_id)', here, name);
            EXECUTE format(
                'CREATE TRIGGER no_truncate BEFORE TRUNCATE ON %I.%I FOR EACH STATEMENT'
                ' EXECUTE FUNCTION %I.refuse(%L)',
                here, name, here, 'an event is never deleted'
            );
            EXECUTE format(
                'ALTER TABLE %I.audit_event ATTACH PARTITION %I.%I FOR VALUES FROM (%L) TO (%L)',
                here, here, name, month, month || '.'
            );
        END
        """,
    ),
}

_LASTING: Final = (
    "ref, kind, tool, contract_digest, request_id, content_hmac, content_bytes, algorithm, stored"
)

# name → (when, table, what for each, function and argument).
TRIGGERS: Final = {
    "audit_event_no_change": (
        "BEFORE UPDATE",
        "audit_event",
        "ROW",
        "refuse('an event is never changed')",
    ),
    "audit_event_no_delete": (
        "BEFORE DELETE",
        "audit_event",
        "ROW",
        "refuse('an event is never deleted')",
    ),
    "audit_event_no_truncate": (
        "BEFORE TRUNCATE",
        "audit_event",
        "STATEMENT",
        "refuse('an event is never deleted')",
    ),
    "audit_event_open_calls": (
        "AFTER INSERT",
        "audit_event",
        "ROW",
        "follow_open_calls()",
    ),
    "chain_head_next": ("BEFORE UPDATE", "chain_head", "ROW", "demand_next_head()"),
    "chain_head_stays": (
        "BEFORE DELETE",
        "chain_head",
        "ROW",
        "refuse('the head of the chain stays')",
    ),
    "custody_blob_no_delete": (
        "BEFORE DELETE",
        "custody_blob",
        "ROW",
        "refuse('a blob is purged, its row stays')",
    ),
    "custody_blob_no_update": (
        f"BEFORE UPDATE OF {_LASTING}",
        "custody_blob",
        "ROW",
        "refuse('what a blob is never changes')",
    ),
    "custody_blob_no_return": (
        "BEFORE UPDATE",
        "custody_blob",
        "ROW WHEN (OLD.purged_at IS NOT NULL)",
        "refuse('what is purged stays purged')",
    ),
    "open_call_no_update": (
        "BEFORE UPDATE",
        "open_call",
        "ROW",
        "refuse('an open call is never changed')",
    ),
    "open_call_no_delete": ("BEFORE DELETE", "open_call", "ROW", "demand_closed()"),
    "evidence_spent_stays": (
        "BEFORE UPDATE OR DELETE",
        "evidence_spent",
        "ROW",
        "refuse('spent evidence stays spent')",
    ),
}

GRANTS: Final = (
    "GRANT USAGE ON SCHEMA {schema} TO {role}",
    "GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}",
    "GRANT INSERT ON audit_event, custody_blob, custody_day, custody_share TO {role}",
    "GRANT INSERT ON quota_spent, reservation, evidence_spent TO {role}",
    "GRANT UPDATE (seq, link) ON chain_head TO {role}",
    "GRANT UPDATE (expires, purged_at) ON custody_blob TO {role}",
    "GRANT UPDATE (key_id, wrapped_key, nonce, ciphertext) ON custody_blob TO {role}",
    "GRANT UPDATE (bytes) ON custody_day, custody_share TO {role}",
    "GRANT UPDATE, DELETE ON reservation TO {role}",
    "GRANT DELETE ON quota_spent TO {role}",
    "GRANT INSERT, DELETE ON seen_answer TO {role}",
    "GRANT EXECUTE ON FUNCTION prepare_month(text) TO {role}",
)
"""What the role of a gate may do, and nothing else; ``schema`` and ``role`` are quoted names."""


def create_function(name: str, schema: str) -> str:
    """Return the statement that creates one of FUNCTIONS in ``schema``, a quoted name."""
    arguments, returns, as_owner, body = FUNCTIONS[name]
    rights = "DEFINER" if as_owner else "INVOKER"
    here = "'" + schema.strip('"') + "'"
    return (
        f"CREATE FUNCTION {name}({arguments}) RETURNS {returns} LANGUAGE plpgsql"
        f" SECURITY {rights} SET search_path = {schema}, pg_temp"
        f" AS $body${body.replace('TG_SCHEMA', here)}$body$"
    )


def create_trigger(name: str) -> str:
    """Return the statement that creates one of TRIGGERS."""
    when, table, each, does = TRIGGERS[name]
    return f"CREATE TRIGGER {name} {when} ON {table} FOR EACH {each} EXECUTE FUNCTION {does}"
