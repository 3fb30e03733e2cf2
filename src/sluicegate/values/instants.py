"""Moments as whole nanoseconds since 1970-01-01T00:00:00Z, and the RFC 3339 parser for them."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Final, NewType

Instant = NewType("Instant", int)

NANOS: Final = 1_000_000_000
_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_RFC3339: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))",
    re.ASCII,
)


def nanos_of(seconds: float) -> int:
    """Return the whole nanoseconds of a limit as its author wrote it: 0.3 is not 0.29999….

    Differences of instants are whole too, so the floor decides each of them as the limit would.
    """
    return int(Fraction(str(seconds)) * NANOS // 1)


def instant_of(moment: datetime) -> Instant:
    """Return the instant of an aware datetime. Raises: ValueError if it is naive."""
    if moment.tzinfo is None:
        raise ValueError("a time needs an offset: pass an aware datetime, for instance in UTC")
    return Instant(((moment - EPOCH) // _MICROSECOND) * 1000)


def moment_of(instant: Instant) -> datetime:
    """Return the aware datetime of an instant, in UTC, cut to whole microseconds.

    Raises: ValueError outside the years 1 to 9999, where an offset can lead.
    """
    try:
        return EPOCH + timedelta(microseconds=instant // 1000)
    except OverflowError:
        raise ValueError("the time lies outside the years 1 to 9999 in UTC") from None


def parse_rfc3339(text: str) -> Instant | None:
    """Return the instant that ``text`` names, or None where there is any doubt.

    Accepts lower-case ``t`` and ``z``, and a leap second at 23:59:60 UTC, which is the first
    second of the next day. Refuses a missing offset, ``-00:00`` (offset unknown), year 0000,
    fractions finer than a nanosecond, and everything that is not RFC 3339 section 5.6.
    """
    matched = _RFC3339.fullmatch(text)
    if matched is None:
        return None
    year, month, day, hour, minute, second, fraction, sign, off_h, off_m = matched.groups()
    if fraction is not None and len(fraction) > 9:
        return None
    try:
        days = date(int(year), int(month), int(day)).toordinal() - _EPOCH_DAY
    except ValueError:
        return None
    if int(hour) > 23 or int(minute) > 59 or int(second) > 60:
        return None
    offset = 0
    if sign is not None:
        if int(off_h) > 23 or int(off_m) > 59:
            return None
        offset = int(off_h) * 60 + int(off_m)
        if sign == "-":
            if offset == 0:
                return None
            offset = -offset
    minutes = days * 1440 + int(hour) * 60 + int(minute) - offset
    if int(second) == 60 and minutes % 1440 != 1439:
        return None
    nanos = int((fraction or "0").ljust(9, "0"))
    return Instant((minutes * 60 + int(second)) * NANOS + nanos)
