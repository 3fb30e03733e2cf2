"""RFC 3339, read by our own parser: what is legal, what is doubtful, and where time stands."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluicegate.values.instants import NANOS, instant_of, moment_of, nanos_of, parse_rfc3339

SECOND = 1_796_007_600  # 2026-11-30T03:00:00Z

ACCEPTED = [
    ("2026-11-30T03:00:00Z", SECOND * NANOS),
    ("2026-11-30t03:00:00z", SECOND * NANOS),
    ("2026-11-30T03:00:00+00:00", SECOND * NANOS),
    ("2026-11-30T04:30:00+01:30", SECOND * NANOS),
    ("2026-11-29T23:00:00-04:00", SECOND * NANOS),
    ("2026-11-30T03:00:00.5Z", SECOND * NANOS + 500_000_000),
    ("2026-11-30T03:00:00.000000001Z", SECOND * NANOS + 1),
    ("2026-11-30T03:00:00.123456789+00:00", SECOND * NANOS + 123_456_789),
    ("2026-12-01T02:59:00+23:59", SECOND * NANOS),
    ("1970-01-01T00:00:00Z", 0),
    ("1969-12-31T23:59:59.999999999Z", -1),
    ("2024-02-29T00:00:00Z", 1_709_164_800 * NANOS),
    ("2016-12-31T23:59:60Z", 1_483_228_800 * NANOS),
    ("2016-12-31T18:59:60-05:00", 1_483_228_800 * NANOS),
    ("0001-01-01T00:00:00Z", -62_135_596_800 * NANOS),
    ("9999-12-31T23:59:59Z", 253_402_300_799 * NANOS),
]
DOUBTFUL = {
    "no offset": "2026-11-30T03:00:00",
    "unknown offset": "2026-11-30T03:00:00-00:00",
    "blank for T": "2026-11-30 03:00:00Z",
    "blank before": " 2026-11-30T03:00:00Z",
    "line feed after": "2026-11-30T03:00:00Z\n",
    "date alone": "2026-11-30",
    "basic form": "20261130T030000Z",
    "week date": "2026-W48-1T03:00:00Z",
    "ordinal date": "2026-334T03:00:00Z",
    "comma": "2026-11-30T03:00:00,5Z",
    "empty fraction": "2026-11-30T03:00:00.Z",
    "finer than a nanosecond": "2026-11-30T03:00:00.0000000001Z",
    "no seconds": "2026-11-30T03:00Z",
    "offset without colon": "2026-11-30T03:00:00+0100",
    "offset with seconds": "2026-11-30T03:00:00+01:00:00",
    "offset of 24 hours": "2026-11-30T03:00:00+24:00",
    "offset of 60 minutes": "2026-11-30T03:00:00+01:60",
    "hour 24": "2026-11-30T24:00:00Z",
    "minute 60": "2026-11-30T03:60:00Z",
    "second 61": "2026-11-30T03:00:61Z",
    "leap second at noon": "2016-12-31T12:00:60Z",
    "leap second in local midnight": "2016-12-31T23:59:60+01:00",
    "30 February": "2026-02-30T03:00:00Z",
    "29 February of a common year": "2026-02-29T03:00:00Z",
    "month 13": "2026-13-01T03:00:00Z",
    "month 0": "2026-00-01T03:00:00Z",
    "year 0": "0000-01-01T00:00:00Z",
    "year of five digits": "12026-11-30T03:00:00Z",
    "Arabic digits": "٢٠٢٦-11-30T03:00:00Z",
    "full width": "\uff12026-11-30T03:00:00Z",
    "minus sign": "2026-11-30T03:00:00\u221201:00",
    "zone name": "2026-11-30T03:00:00Z[Europe/Paris]",
    "epoch": "1796007600",
    "empty": "",
    "words": "yesterday",
}


@pytest.mark.requirement("RES-5")
@pytest.mark.parametrize(("text", "instant"), ACCEPTED, ids=[text for text, _ in ACCEPTED])
def test_reads_rfc_3339_to_the_nanosecond(text: str, instant: int) -> None:
    assert parse_rfc3339(text) == instant


@pytest.mark.requirement("RES-5")
@pytest.mark.parametrize("text", DOUBTFUL.values(), ids=DOUBTFUL)
def test_refuses_whatever_is_in_doubt(text: str) -> None:
    assert parse_rfc3339(text) is None


MOMENTS = st.datetimes(
    datetime(2, 1, 1),  # noqa: DTZ001  (hypothesis adds the zone)
    datetime(9998, 12, 31),  # noqa: DTZ001
    timezones=st.just(UTC) | st.just(timezone(timedelta(hours=-7, minutes=-30))),
)


@given(MOMENTS)
def test_agrees_with_the_standard_library_where_both_read(moment: datetime) -> None:
    assert parse_rfc3339(moment.isoformat()) == instant_of(moment)


@given(st.text(alphabet="0123456789-:.TZtz+", max_size=30))
def test_whatever_it_reads_the_standard_library_reads_alike(text: str) -> None:
    instant = parse_rfc3339(text)
    if instant is None or ":60" in text:
        return
    moment = datetime.fromisoformat(text.upper())
    assert instant // 1000 == instant_of(moment) // 1000


def test_a_naive_time_is_no_instant() -> None:
    with pytest.raises(ValueError, match="offset"):
        instant_of(datetime(2026, 11, 30))  # noqa: DTZ001  (the point of the test)


def test_keeps_microseconds_of_a_datetime_exactly() -> None:
    moment = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    assert instant_of(moment) == 253_402_300_799_999_999 * 1000


def test_an_instant_becomes_the_moment_it_was_made_of() -> None:
    moment = datetime(2026, 11, 30, 3, 14, 15, 123_456, tzinfo=UTC)
    assert moment_of(instant_of(moment)) == moment


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59"])
def test_a_time_that_its_offset_leads_out_of_the_calendar_is_no_moment(text: str) -> None:
    instant = parse_rfc3339(text)
    assert instant is not None
    with pytest.raises(ValueError, match="outside the years 1 to 9999"):
        moment_of(instant)


@pytest.mark.parametrize(
    ("seconds", "nanos"),
    [
        (0.0, 0),
        (5, 5 * NANOS),
        (0.3, 300_000_000),
        (1e-9, 1),
        (4.5e-10, 0),
        (1e9, 10**9 * NANOS),
    ],
)
def test_a_limit_has_the_nanoseconds_that_its_author_wrote(seconds: float, nanos: int) -> None:
    assert nanos_of(seconds) == nanos
