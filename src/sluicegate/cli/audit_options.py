"""What ``audit list`` is told on its command line."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

import click

from sluicegate.cli.judge_options import read_now

_AGE: Final = re.compile(r"([0-9]{1,6})([smhd])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def read_since(text: str | None, now: datetime) -> datetime | None:
    """Return the moment to list from: an RFC 3339 time, or an age. Raises: click.BadParameter."""
    if text is None:
        return None
    matched = _AGE.fullmatch(text)
    if matched is None:
        try:
            return read_now(text)
        except click.BadParameter:
            raise click.BadParameter(
                "write an RFC 3339 time with an offset, or an age as 90m, 12h, 7d",
                param_hint="--since",
            ) from None
    number, unit = matched.groups()
    try:
        return now - timedelta(**{_UNITS[unit]: int(number)})
    except OverflowError:
        raise click.BadParameter("that is before all time", param_hint="--since") from None
