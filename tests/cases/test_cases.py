"""Every field case through the real ladders; what waits for a later part is listed by id."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.cases.climbing import differs, drive
from tests.cases.rows import ALL, INCIDENTS, MISSION, TOOL_CALLS, Row
from tests.cases.waiting import STAGES, WAITING
from tests.requirements import PARTS

RUN = [row for row in ALL if row.id not in WAITING]
WAIT = [row for row in ALL if row.id in WAITING]


@pytest.mark.requirement("ARG-1", "ARG-2", "ARG-3", "RES-2", "RES-4", "RES-5", "RES-10")
@pytest.mark.parametrize("row", RUN, ids=[row.id for row in RUN])
def test_the_row_gets_the_verdict_that_it_names(row: Row) -> None:
    assert differs(row, drive(row)) == ""


@pytest.mark.parametrize("row", WAIT, ids=[row.id for row in WAIT])
def test_a_row_that_waits_does_not_hold_yet(row: Row) -> None:
    assert differs(row, drive(row)) != "", "it holds: take it off the list"


def test_every_id_on_the_lists_is_a_row_and_every_part_is_known() -> None:
    ids = {row.id for row in ALL}
    assert set(WAITING) - ids == set()
    assert set(STAGES) - ids == set()
    assert set(WAITING.values()) - set(PARTS) == set()


def test_no_row_is_lost_on_the_way_from_the_files() -> None:
    assert (len(MISSION), len(TOOL_CALLS), len(INCIDENTS)) == (48, 84, 45)
    assert Counter(row.id for row in ALL).most_common(1)[0][1] == 1
    assert len(RUN) + len(WAIT) == len(ALL)
