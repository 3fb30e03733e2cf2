"""A notice is one line of the log, and nothing in it can forge another."""

from __future__ import annotations

import logging

import pytest
from tests.unit.notices.drift import notice

from sluicegate.notices.log import LogNotifier, describe_notice

pytestmark = pytest.mark.requirement("AUD-6")


def test_a_notice_is_one_line_with_every_field(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="sluicegate.notices"):
        LogNotifier().notify(notice(7))
    expected = (
        'drift owner="ci-platform" tool="job_status" version="1.0.0" stage="conform" '
        'code="MISSING" request_id="req.00000007" time="2026-11-30T03:00:07+00:00" '
        'findings="MISSING /run_id"'
    )
    assert [("sluicegate.notices", logging.WARNING, expected)] == caplog.record_tuples


@pytest.mark.requirement("AUD-5")
@pytest.mark.parametrize(
    "evil", ["a\nWARNING forged", "a\x1b[31m", "a\u202eb", 'a" code="OK', "a" * 500, "%s %d"]
)
def test_no_name_can_break_the_line_or_its_quotes(evil: str) -> None:
    line = describe_notice(notice(owner=evil, tool=evil, pointers=("/" + evil,)))
    assert line.isprintable()
    assert line.isascii()
    assert 'a" code' not in line
    assert len(line) < 1000


def test_a_finding_about_the_whole_names_no_place() -> None:
    assert describe_notice(notice(pointers=("",))).endswith(' findings="MISSING"')


def test_a_sentence_of_the_gate_stands_before_the_findings() -> None:
    line = describe_notice(notice(says='the host "a" shows no key that is pinned\n'))
    told = r' says="the host \"a\" shows no key that is pinned\\u000a" findings="MISSING /run_id"'
    assert line.endswith(told)


def test_many_findings_are_counted_and_not_listed() -> None:
    line = describe_notice(notice(pointers=tuple(f"/m{n}" for n in range(20))))
    assert line.endswith('MISSING /m4; and 15 more"')
