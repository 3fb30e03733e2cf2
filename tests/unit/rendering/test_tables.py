"""Lists of events: a line each, grouped by what is one matter."""

from __future__ import annotations

import pytest
from tests.unit.rendering.hostile import HOSTILE
from tests.unit.rendering.stored import outcome, stored

from sluicegate.rendering.tables import (
    group_events,
    render_event,
    render_events,
    render_groups,
    shape_groups,
)

EARLY = outcome(time="2026-11-30T03:00:00.000000Z", outcome="failure", stage="vouch", code="STALE")
LATE = outcome(time="2026-11-30T04:00:00.000000Z", outcome="failure", stage="vouch", code="STALE")
GOOD = outcome(time="2026-11-30T03:30:00.000000Z", outcome="success")


def test_events_stand_in_columns() -> None:
    assert render_events([LATE, stored()]) == (
        "time                 request id    kind     tool        caller      what\n"
        "2026-11-30 04:00:00  req.J7q94MkP  outcome  job_status  svc-deploy  failure vouch/STALE\n"
        "2026-11-30 03:00:00  req.J7q94MkP  intent   job_status  svc-deploy  pending\n"
    )


def test_groups_count_what_is_one_matter_and_begin_with_the_last() -> None:
    groups = group_events([stored(), LATE, GOOD, EARLY])
    assert render_groups(groups) == (
        "count  first                last                 tool              what\n"
        "2      2026-11-30 03:00:00  2026-11-30 04:00:00  job_status@1.0.0  failure vouch/STALE\n"
        "1      2026-11-30 03:30:00  2026-11-30 03:30:00  job_status@1.0.0  success\n"
    )
    assert shape_groups(groups)[0] == {
        "tool": "job_status",
        "contract_version": "1.0.0",
        "stage": "vouch",
        "code": "STALE",
        "outcome": "failure",
        "first": "2026-11-30T03:00:00.000000Z",
        "last": "2026-11-30T04:00:00.000000Z",
        "count": 2,
    }


def test_one_event_is_shown_with_every_column_that_is_not_empty() -> None:
    lines = render_event(stored()).splitlines()
    assert lines[0].split() == ["seq", "1"]
    assert not any(line.startswith("trace_id") for line in lines)


@pytest.mark.requirement("AUD-5")
@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_names_stay_inside_their_line(name: str) -> None:
    event = outcome(tool=name, caller_subject=name, request_id=name, outcome=name, detail=name)
    text = render_events([event]) + render_event(event) + render_groups(group_events([event]))
    assert all(character.isprintable() or character == "\n" for character in text)
    assert len(render_events([event]).splitlines()) == 2
