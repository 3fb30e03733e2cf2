"""The guard refuses nesting beyond its limit, and infinite numbers, in one native pass."""

from __future__ import annotations

import jiter
import pytest

from sluicegate.contracts.schemas.guards import shape_guard

pytestmark = pytest.mark.requirement("ARG-1", "ARG-2", "RES-1", "RES-2")


@pytest.mark.parametrize(
    ("depth", "raw", "expected"),
    [
        (0, b"1", True),
        (0, b"[]", False),
        (0, b"{}", False),
        (1, b"[]", True),
        (1, b'{"a": null}', True),
        (1, b"[[]]", False),
        (2, b'[{"a": "x"}, {}]', True),
        (2, b'[{"a": [1]}]', False),
        (2, b'{"a": [true, 1.5, "x", null]}', True),
        (200, b"[" * 200 + b"]" * 200, True),
        (199, b"[" * 200 + b"]" * 200, False),
        (5, b"1e400", False),
        (5, b"-1e400", False),
        (5, b'{"a": [{"b": 1e400}]}', False),
        (5, b"1e308", True),
        (5, b"1" * 4_000, True),
    ],
)
def test_judges_depth_and_finiteness(depth: int, raw: bytes, expected: bool) -> None:
    value = jiter.from_json(raw, allow_inf_nan=False)
    assert shape_guard(depth)(value) is expected


def test_one_guard_serves_all_contracts_of_one_depth() -> None:
    assert shape_guard(7) is shape_guard(7)


@pytest.mark.parametrize("depth", [-1, 201])
def test_a_depth_that_the_parser_cannot_reach_is_misuse(depth: int) -> None:
    with pytest.raises(ValueError, match="0 to 200"):
        shape_guard(depth)
