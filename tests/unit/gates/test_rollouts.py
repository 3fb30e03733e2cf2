"""Which version a caller gets: by name, else by a share that is exact and stays the same."""

from __future__ import annotations

from itertools import pairwise

import pytest

from sluicegate.contracts.settings import ServeRow
from sluicegate.gates.rollouts import choose_row, main_row, point_of, row_at
from sluicegate.values.callers import Caller

pytestmark = pytest.mark.requirement("LIF-3")

CALLERS = [Caller(subject=f"svc-{number}", tenant="acme") for number in range(2000)]


def rows(*shares: int) -> tuple[ServeRow, ...]:
    return tuple(ServeRow(version=f"{at}.0.0", share=share) for at, share in enumerate(shares))


EDGES = {
    "everything": ((1_000_000,), 999_999, 0),
    "first of the first": ((900_000, 100_000), 0, 0),
    "last of the first": ((900_000, 100_000), 899_999, 0),
    "first of the second": ((900_000, 100_000), 900_000, 1),
    "last of the second": ((900_000, 100_000), 999_999, 1),
    "nothing, before": ((0, 1_000_000), 0, 1),
    "nothing, between": ((500_000, 0, 500_000), 500_000, 2),
    "nothing, behind": ((1_000_000, 0), 999_999, 0),
    "one millionth": ((999_999, 1), 999_999, 1),
    "all but one millionth": ((999_999, 1), 999_998, 0),
}


@pytest.mark.parametrize("case", EDGES)
def test_a_share_ends_exactly_where_it_is_written(case: str) -> None:
    shares, point, wanted = EDGES[case]
    assert row_at(rows(*shares), point) == wanted


@pytest.mark.parametrize("shares", [(), (999_999,), (500_000, 500_001)])
def test_shares_that_are_not_the_whole_serve_nobody(shares: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="add up"):
        row_at(rows(*shares), 0)


def test_a_caller_that_a_row_names_gets_it_whatever_its_share() -> None:
    named = (
        ServeRow(version="1.0.0", share=1_000_000),
        ServeRow(version="current", share=0, callers=frozenset({"svc-canary"})),
    )
    assert choose_row(named, "t", Caller(subject="svc-canary", tenant="any")) == 1
    assert {choose_row(named, "t", caller) for caller in CALLERS} == {0}


def test_the_place_of_a_caller_never_changes() -> None:
    # Written down once: another hash would move callers from version to version at an upgrade.
    assert [
        point_of("job_status", Caller(subject="svc-deploy")),
        point_of("job_status", Caller(subject="svc-deploy", tenant="")),
        point_of("job_status", Caller(subject="svc-deploy", tenant="acme", session="s1")),
        point_of("job_status", Caller(subject="svc-deploy", tenant="acme", session="s2")),
        point_of("restart", Caller(subject="svc-deploy")),
    ] == [719596, 69958, 11171, 11171, 253669]


def test_callers_are_spread_as_the_shares_say() -> None:
    # The places are fixed, so the count is the same in each run.
    counted = [choose_row(rows(900_000, 100_000), "t", caller) for caller in CALLERS].count(1)
    assert 150 < counted < 250


def test_a_share_that_grows_takes_callers_in_and_lets_none_out() -> None:
    def served(share: int) -> set[str]:
        divided = rows(1_000_000 - share, share)
        return {each.subject for each in CALLERS if choose_row(divided, "t", each) == 1}

    steps = [served(share) for share in (0, 10_000, 100_000, 500_000, 1_000_000)]
    assert all(less < more for less, more in pairwise(steps))
    assert (len(steps[0]), len(steps[-1])) == (0, len(CALLERS))


@pytest.mark.parametrize(
    ("shares", "wanted"),
    [((900_000, 100_000), 0), ((1, 999_999), 1), ((500_000, 500_000), 0), ((0, 1_000_000), 1)],
)
def test_the_greatest_share_is_shown_and_of_equals_the_first(
    shares: tuple[int, ...], wanted: int
) -> None:
    assert main_row(rows(*shares)) == wanted
