"""Where a PostgreSQL record stands, and that its password shows nowhere."""

from __future__ import annotations

import pytest

from sluicegate.errors import ConfigurationError
from sluicegate.stores.postgres_place import find_place

SECRET = "pa55-of-the-gate"


@pytest.mark.parametrize(
    ("store", "options", "schema", "shown"),
    [
        pytest.param(
            "postgresql://gate@db.example:5433/audit",
            {"user": "gate", "host": "db.example", "port": "5433", "dbname": "audit"},
            "sluicegate_default",
            "PostgreSQL at db.example:5433, chain default",
            id="a URL",
        ),
        pytest.param(
            "postgresql://gate@db.example/audit?chain=eu_1&sslmode=verify-full",
            {"user": "gate", "host": "db.example", "dbname": "audit", "sslmode": "verify-full"},
            "sluicegate_eu_1",
            "PostgreSQL at db.example, chain eu_1",
            id="a URL with a chain and an option",
        ),
        pytest.param(
            "postgresql:///audit",
            {"dbname": "audit"},
            "sluicegate_default",
            "PostgreSQL at local socket, chain default",
            id="a local socket",
        ),
        pytest.param(
            "postgresql:service=audit?chain=eu",
            {"service": "audit"},
            "sluicegate_eu",
            "PostgreSQL at service audit, chain eu",
            id="a service",
        ),
        pytest.param(
            "postgresql:env:AUDIT_DSN?chain=eu",
            {"user": "gate", "password": SECRET, "host": "db.example", "dbname": "audit"},
            "sluicegate_eu",
            "PostgreSQL at db.example, chain eu",
            id="a variable",
        ),
    ],
)
@pytest.mark.requirement("AUD-3")
def test_the_place_is_read_from_the_settings(
    store: str, options: dict[str, str], schema: str, shown: str
) -> None:
    environment = {"AUDIT_DSN": f"postgresql://gate:{SECRET}@db.example/audit"}
    place = find_place(store, environment)
    assert (place.options, place.schema, place.shown) == (options, schema, shown)
    assert SECRET not in repr(place)


@pytest.mark.parametrize(
    ("store", "dsn", "mend"),
    [
        pytest.param(
            f"postgresql://gate:{SECRET}@db/audit", "", "environment variable", id="in the file"
        ),
        pytest.param(
            f"postgresql://gate@db/audit?password={SECRET}", "", "environment variable", id="option"
        ),
        pytest.param("postgresql:env:AUDIT_DSN", "", "AUDIT_DSN", id="variable not set"),
        pytest.param("postgresql:env:AUDIT_DSN", SECRET, "AUDIT_DSN", id="no URL at all"),
        pytest.param(
            "postgresql:env:AUDIT_DSN",
            f"postgresql://gate:x@{SECRET}@db/audit",
            "percent-encode",
            id="an @ in the password",
        ),
        pytest.param(
            "postgresql:env:AUDIT_DSN",
            f"postgresql://gate:{SECRET}/x@db/audit",
            "percent-encode",
            id="a slash in the password",
        ),
        pytest.param(
            "postgresql:env:AUDIT_DSN",
            f"postgresql://gate:7/{SECRET}@db/audit",
            "percent-encode",
            id="a slash after a digit",
        ),
        pytest.param(
            "postgresql:env:AUDIT_DSN",
            f"postgresql://gate:{SECRET}@db/audit?chain=eu",
            r"\(audit.store\) holds chain=, which stands in sluicegate.yaml instead",
            id="a chain in the variable",
        ),
        pytest.param(
            "postgresql:env:AUDIT_DSN",
            f"host=db password={SECRET} chain=eu",
            "postgresql:env:VARIABLE.chain=NAME",
            id="a chain among words of libpq",
        ),
        pytest.param(f"postgresql:{SECRET}", "", "postgresql:env:NAME", id="no known form"),
        pytest.param("postgresql://u@db/a?chain=A-B", "", "chain=NAME", id="name of a chain"),
        pytest.param("postgresql:env:AUDIT_DSN?sslmode=x", "x", "chain=NAME", id="option of env"),
    ],
)
@pytest.mark.requirement("ADP-5", "AUD-5")
def test_what_is_refused_is_not_repeated(store: str, dsn: str, mend: str) -> None:
    with pytest.raises(ConfigurationError, match=mend) as refused:
        find_place(store, {"AUDIT_DSN": dsn} if dsn else {})
    assert SECRET not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__ is (refused.value.__context__ is not None)
