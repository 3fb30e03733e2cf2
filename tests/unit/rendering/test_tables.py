"""Lists of events: a line each, grouped by what is one matter."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.rendering.hostile import HOSTILE
from tests.unit.rendering.stored import outcome, stored

from sluicegate.gates.events import StoredEvent
from sluicegate.rendering.tables import (
    group_events,
    omit_repeats,
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


def act(**detail: object) -> StoredEvent:
    return stored(kind="operator", outcome="done", caller_subject="os:o", detail=json.dumps(detail))


def opening(digest: str, **members: Any) -> StoredEvent:
    detail = {"set": "opened", "tools": {"a": "x", "b": "y"}, "withdrawn": {}, "problems": []}
    detail.update(members.pop("detail", {}))
    members = {"outcome": "done", "caller_subject": None, "tool": "", **members}
    return stored(kind="contracts", contract_digest=digest, detail=json.dumps(detail), **members)


@pytest.mark.requirement("CLI")
@pytest.mark.parametrize(
    ("event", "told"),
    [
        pytest.param(act(act="disable", reason="slow"), "disable: slow", id="disable"),
        pytest.param(
            act(act="rollback", version="1.0.0", reason="x"), "rollback to 1.0.0: x", id="rollback"
        ),
        pytest.param(
            act(**{"act": "resolve", "resolves": "req.1", "as": "done", "reason": "looked"}),
            "resolve as done: looked",
            id="resolve",
        ),
        pytest.param(
            act(act="reveal", ref="blob-a", who="os:o", reason="ticket"),
            "reveal blob-a: ticket",
            id="reveal",
        ),
        pytest.param(act(act="purge", who="os:o", count=3, refs=[]), "purge of 3", id="purge"),
        pytest.param(act(), "done", id="an act of no name"),
        pytest.param(opening("sha256:a"), "opened with 2 tools", id="opened"),
        pytest.param(
            opening("sha256:a", detail={"tools": {"a": "x"}, "withdrawn": {"a": "off"}}),
            "opened with 1 tool, 1 withdrawn",
            id="withdrawn",
        ),
        pytest.param(
            opening("sha256:a", code="CONTRACT_INVALID", outcome="refused"),
            "opened with 2 tools: refused CONTRACT_INVALID",
            id="refused",
        ),
    ],
)
def test_an_act_says_itself_and_its_reason_and_a_set_what_it_serves(
    event: StoredEvent, told: str
) -> None:
    assert render_events([event]).splitlines()[1].endswith(f"  {told}")


def test_only_an_opening_that_is_news_is_listed() -> None:
    one, two = opening("sha256:a"), opening("sha256:b")
    off = opening("sha256:b", detail={"withdrawn": {"a": "off"}})
    bad = opening("sha256:b", code="CONTRACT_INVALID", outcome="refused")
    newest_first = [off, bad, bad, two, LATE, two, one, stored(), one]
    kept = omit_repeats(newest_first)
    assert [event.contract_digest for event in kept if event.kind == "contracts"] == [
        "sha256:b",
        "sha256:b",
        "sha256:b",
        "sha256:b",
        "sha256:a",
    ]
    assert [event for event in kept if event.kind != "contracts"] == [LATE, stored()]
    assert kept[-1] is one


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
