"""A waiver takes one change out of the verdict until its day, and an idle one is told."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from tests.unit.lifecycle.diff.comparing import compare

from sluicegate.lifecycle.diff.kinds import Bump
from sluicegate.lifecycle.diff.outcome import Diff
from sluicegate.lifecycle.diff.waiving import Waiver, apply_waivers, read_waivers

pytestmark = pytest.mark.requirement("LIF-3")

BROKEN = compare({"type": "integer", "maximum": 2}, {"type": "integer", "maximum": 1}, "arguments")
FINGERPRINT = BROKEN.changes[0].fingerprint
DAY = date(2026, 11, 30)


def waiver(fingerprint: str = FINGERPRINT, until: date = DAY) -> Waiver:
    return Waiver(fingerprint=fingerprint, reason="No caller sends it.", until=until)


def test_a_waived_change_does_not_break_and_asks_for_no_version() -> None:
    (tool,), idle = apply_waivers([BROKEN], [waiver()], DAY)
    assert (tool.outcome, tool.bump, idle) == ("compatible", Bump.NONE, ())
    assert tool.changes[0].waived == "No caller sends it."
    assert Diff(tools=(tool,)).clean


@pytest.mark.parametrize(
    ("given", "why"),
    [
        pytest.param(waiver(until=date(2026, 11, 29)), "expired", id="its day has passed"),
        pytest.param(waiver("0" * 12), "unused", id="it names no change"),
    ],
)
def test_an_idle_waiver_is_told_and_waives_nothing(given: Waiver, why: str) -> None:
    (tool,), idle = apply_waivers([BROKEN], [given], DAY)
    assert tool.outcome == "breaking"
    assert [(one.fingerprint, one.why) for one in idle] == [(given.fingerprint, why)]


def test_a_fingerprint_stays_until_the_facts_change() -> None:
    again = compare(
        {"type": "integer", "maximum": 2}, {"type": "integer", "maximum": 1}, "arguments"
    )
    other = compare(
        {"type": "integer", "maximum": 2}, {"type": "integer", "maximum": 0}, "arguments"
    )
    assert again.changes[0].fingerprint == FINGERPRINT
    assert other.changes[0].fingerprint != FINGERPRINT


ENTRY = {"fingerprint": "0123456789ab", "reason": "because", "until": "2027-01-31"}


def test_waivers_are_read_from_a_list() -> None:
    assert read_waivers([ENTRY]) == (
        Waiver(fingerprint="0123456789ab", reason="because", until=date(2027, 1, 31)),
    )
    assert read_waivers([]) == ()


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({}, "a list"),
        (["x"], "waiver 1 must have the keys"),
        ([ENTRY, {**ENTRY, "by": "me"}], "waiver 2 must have the keys"),
        ([{**ENTRY, "fingerprint": 123456789012}], "twelve digits"),
        ([{**ENTRY, "fingerprint": "0123456789AB"}], "twelve digits"),
        ([{**ENTRY, "reason": "  "}], "say the reason"),
        ([{**ENTRY, "until": "31.1.2027"}], "a day"),
    ],
)
def test_a_waiver_that_is_wrong_is_refused_by_its_number(document: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        read_waivers(document)
