"""Like notices are told once, and then as one count a window."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.unit.notices.drift import START, notice

from sluicegate.notices.grouping import MAX_GROUPS, Gathered, Groups

pytestmark = pytest.mark.requirement("AUD-6")


def test_the_first_of_its_kind_is_told_at_once_and_the_rest_as_one_count() -> None:
    groups = Groups(window_s=60)
    first = groups.take(notice(0), 100.0)
    assert Gathered(notice=notice(0), first=START, last=START, count=1) == first
    assert [groups.take(notice(1), 101.0), groups.take(notice(5), 159.0)] == [None, None]
    assert groups.close_due(159.9) == []
    expected = Gathered(notice=notice(0), first=START, last=START + timedelta(seconds=5), count=3)
    assert [expected] == groups.close_due(160.0)
    assert groups.close_due(999.0) == []


def test_a_window_with_one_notice_closes_in_silence() -> None:
    groups = Groups(window_s=60)
    groups.take(notice(), 0.0)
    assert groups.close_all() == []
    assert None is groups.next_end()


def test_a_new_window_tells_anew() -> None:
    groups = Groups(window_s=60)
    groups.take(notice(0), 0.0)
    groups.close_due(60.0)
    again = groups.take(notice(61), 61.0)
    assert again is not None
    assert again.count == 1


@pytest.mark.parametrize(
    "other",
    [notice(owner="x"), notice(tool="x"), notice(code="TYPE")],
    ids=["owner", "tool", "code"],
)
def test_another_kind_is_told_for_itself(other: object) -> None:
    groups = Groups(window_s=60)
    groups.take(notice(), 0.0)
    assert groups.take(other, 0.0) is not None  # type: ignore[arg-type]


def test_the_next_end_is_the_oldest_window() -> None:
    groups = Groups(window_s=60)
    groups.take(notice(code="A"), 10.0)
    groups.take(notice(code="B"), 20.0)
    assert groups.next_end() == 70.0


def test_open_groups_are_bounded_and_nothing_is_lost() -> None:
    groups = Groups(window_s=60)
    told = [groups.take(notice(tool=f"t{n}"), 0.0) for n in range(MAX_GROUPS + 2)]
    assert all(one is not None for one in told)
    assert groups.take(notice(tool=f"t{MAX_GROUPS + 1}"), 0.0) is not None
    assert None is groups.take(notice(tool="t0"), 0.0)
