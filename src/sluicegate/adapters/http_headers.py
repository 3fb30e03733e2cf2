"""Response headers: bounded, and unambiguous where a decision hangs on one (SPEC ADP-2, RET-1)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

MAX_HEADERS: Final = 100
MAX_HEADER_BYTES: Final = 32_768

_SINGLE: Final = frozenset(
    {"content-length", "content-type", "content-encoding", "transfer-encoding", "location"}
)
_HIDDEN: Final = frozenset(
    {"set-cookie", "set-cookie2", "authorization", "authentication-info", "proxy-authenticate"}
)

Headers = Sequence[tuple[str, str]]


def read_headers(raw: Sequence[tuple[bytes, bytes]]) -> Headers | None:
    """Return names in lower case with their values, or None if there are too many of them."""
    if len(raw) > MAX_HEADERS or sum(len(n) + len(v) for n, v in raw) > MAX_HEADER_BYTES:
        return None
    return [
        (name.decode("latin-1").lower(), value.decode("latin-1").strip()) for name, value in raw
    ]


def find_ambiguity(headers: Headers) -> str | None:
    """Return why two readers could take this answer apart differently; None if they cannot.

    Refuses a header twice that stands once, and a length beside a transfer coding
    (RFC 9112 6.3, request smuggling).
    """
    names = [name for name, _ in headers]
    for name in _SINGLE:
        if names.count(name) > 1:
            return f"the header {name} stands more than once"
    if "transfer-encoding" in names and "content-length" in names:
        return "the answer bears both a length and a transfer coding"
    return None


def find_header(headers: Headers, wanted: str) -> str | None:
    """Return the value of the header ``wanted`` (lower case), or None."""
    return next((value for name, value in headers if name == wanted), None)


def show_headers(headers: Headers) -> tuple[tuple[str, str], ...]:
    """Return the headers for the operator: those that carry secrets keep their name only."""
    return tuple((name, "***" if name in _HIDDEN else value) for name, value in headers)


def read_retry_after(text: str | None, now: datetime) -> float | None:
    """Return the seconds that ``Retry-After`` asks for: delta-seconds or an HTTP-date.

    Unjudged, never negative; None for an absent header and for any other text (RFC 9110 10.2.3).
    """
    if text is None:
        return None
    if text.isascii() and text.isdigit():
        return float(text) if len(text) <= 9 else None
    try:
        moment = parsedate_to_datetime(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return max((moment - now).total_seconds(), 0.0)
    except (ValueError, OverflowError):  # an offset of any number of digits is read, then added
        return None
