"""One clock and one spelling of times for all commands."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import pytest

from sluicegate.cli import times
from sluicegate.cli.times import read_since, read_time

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
CLI = Path(times.__file__).parent
OWN_PROCESS = "demo_upstream.py"


def test_a_time_keeps_its_microseconds() -> None:
    assert read_time("2026-11-30T13:00:00.123456+01:00", "--now") == NOW.replace(
        microsecond=123_456
    )


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        (None, None),
        ("90m", NOW - timedelta(minutes=90)),
        ("30s", NOW - timedelta(seconds=30)),
        ("12h", NOW - timedelta(hours=12)),
        ("7d", NOW - timedelta(days=7)),
        ("2026-11-30T11:00:00Z", NOW - timedelta(hours=1)),
    ],
)
def test_a_list_begins_at_a_time_or_an_age(text: str | None, moment: datetime | None) -> None:
    assert read_since(text, NOW) == moment


@pytest.mark.parametrize("text", ["", "7", "7w", "-1d", "yesterday", "2026-11-30", "999999d"])
def test_any_other_beginning_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter) as refused:
        read_since(text, NOW)
    assert refused.value.param_hint == "--since"


@pytest.mark.parametrize("text", ["", "7d", "2026-11-30", "2026-11-30T12:00:00", "now"])
def test_a_time_is_rfc_3339_and_the_option_that_is_not_is_named(text: str) -> None:
    with pytest.raises(click.BadParameter, match="RFC 3339 time with an offset") as refused:
        read_time(text, "--now")
    assert refused.value.param_hint == "--now"
    assert read_time(None, "--now") is None


def test_no_command_reads_a_clock_of_its_own() -> None:
    reading = re.compile(r"datetime\.now\(|SystemClock\(\)")
    found = {path.name for path in CLI.glob("*.py") if reading.search(path.read_text())}
    assert found == {"times.py", OWN_PROCESS}
    assert times.now().tzinfo is UTC
