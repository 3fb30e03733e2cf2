"""The shared statements as PostgreSQL reads them."""

from __future__ import annotations

import pytest

from sluicegate.stores.postgres_spelling import spell


@pytest.mark.parametrize(
    ("statement", "spelled"),
    [
        pytest.param("a = ? AND b > ?", "a = %s AND b > %s", id="places by order"),
        pytest.param("a = :tool", "a = %(tool)s", id="places by name"),
        pytest.param("a IS ?", "a IS NOT DISTINCT FROM %s", id="equal, or both NULL"),
        pytest.param("a IS NOT ?", "a IS DISTINCT FROM %s", id="not equal, NULL included"),
        pytest.param("a IS :a", "a IS NOT DISTINCT FROM %(a)s", id="the same by name"),
        pytest.param("a IS NULL OR a IS NOT NULL", "a IS NULL OR a IS NOT NULL", id="NULL itself"),
        pytest.param(
            "instr(r.detail, '\"x\":\"' || e.id || '\"')",
            "(strpos(r.detail, '\"x\":\"' || e.id || '\"') > 0)",
            id="a search is true where it finds",
        ),
        pytest.param("a LIKE 'x%'", "a LIKE 'x%%'", id="a per cent sign is no place"),
    ],
)
def test_a_statement_is_spelled(statement: str, spelled: str) -> None:
    assert spell(statement) == spelled.encode()
