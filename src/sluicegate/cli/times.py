"""What time it is, and the times that options name: one clock and one spelling for all commands."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

import click

from sluicegate.values.instants import moment_of, parse_rfc3339

_AGE: Final = re.compile(r"([0-9]{1,6})([smhd])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_SINCE: Final = "--since"


def now() -> datetime:
    """Return the aware UTC time of this machine."""
    return datetime.now(UTC)


def read_time(text: str | None, hint: str) -> datetime | None:
    """Return the time that stands behind the option ``hint``; None where it is not given.

    Raises: click.BadParameter unless it is RFC 3339.
    """
    if text is None:
        return None
    return _read(text, hint, "write an RFC 3339 time with an offset, as 2026-11-30T12:00:00Z")


def read_since(text: str | None, moment: datetime) -> datetime | None:
    """Return the time of --since: an RFC 3339 time, or an age before ``moment``.

    Raises: click.BadParameter.
    """
    if text is None:
        return None
    matched = _AGE.fullmatch(text)
    if matched is None:
        wanted = "write an RFC 3339 time with an offset, or an age as 90m, 12h, 7d"
        return _read(text, _SINCE, wanted)
    number, unit = matched.groups()
    try:
        return moment - timedelta(**{_UNITS[unit]: int(number)})
    except OverflowError:
        raise click.BadParameter("that is before all time", param_hint=_SINCE) from None


def _read(text: str, hint: str, wanted: str) -> datetime:
    instant = parse_rfc3339(text)
    if instant is None:
        raise click.BadParameter(wanted, param_hint=hint)
    try:
        return moment_of(instant)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=hint) from None
