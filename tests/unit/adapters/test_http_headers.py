"""Response headers: bounded, unambiguous, and Retry-After read without judging it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sluicegate.adapters.http_headers import (
    MAX_HEADER_BYTES,
    MAX_HEADERS,
    find_ambiguity,
    read_headers,
    read_retry_after,
    show_headers,
)

NOW = datetime(2026, 11, 30, 3, 0, 0, tzinfo=UTC)

RETRY_AFTER = {
    "seconds": ("120", 120.0),
    "zero": ("0", 0.0),
    "date": ("Mon, 30 Nov 2026 03:00:30 GMT", 30.0),
    "date in the past": ("Mon, 30 Nov 2026 02:59:00 GMT", 0.0),
    "obsolete date form": ("Monday, 30-Nov-26 03:01:00 GMT", 60.0),
    "absent": (None, None),
    "offset beyond all time": ("Mon, 01 Jan 2026 00:00:00 +99999999999999999999", None),
    "empty": ("", None),
    "negative": ("-1", None),
    "fraction": ("1.5", None),
    "other digits": ("１２", None),
    "beyond any sense": ("9" * 40, None),
    "words": ("soon", None),
}


@pytest.mark.requirement("RET-1")
@pytest.mark.parametrize(("text", "seconds"), RETRY_AFTER.values(), ids=RETRY_AFTER)
def test_retry_after_is_seconds_or_a_date(text: str | None, seconds: float | None) -> None:
    assert seconds == read_retry_after(text, NOW)


@pytest.mark.requirement("ADP-2")
def test_headers_are_bounded_in_number_and_size() -> None:
    assert read_headers([(b"A", b"1")] * MAX_HEADERS) is not None
    assert read_headers([(b"A", b"1")] * (MAX_HEADERS + 1)) is None
    assert read_headers([(b"A", b"x" * (MAX_HEADER_BYTES - 1))]) is not None
    assert read_headers([(b"A", b"x" * MAX_HEADER_BYTES)]) is None


AMBIGUOUS = {
    "two media types": [("content-type", "application/json"), ("content-type", "text/html")],
    "the same media type twice": [("content-type", "a/b"), ("content-type", "a/b")],
    "two codings": [("content-encoding", "gzip"), ("content-encoding", "gzip")],
    "two lengths": [("content-length", "2"), ("content-length", "3")],
    "length and chunks": [("content-length", "2"), ("transfer-encoding", "chunked")],
    "two goals": [("location", "/a"), ("location", "/b")],
}


@pytest.mark.requirement("ADP-2")
@pytest.mark.parametrize("headers", AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_an_answer_that_two_readers_could_take_apart_differently_is_named(
    headers: list[tuple[str, str]],
) -> None:
    assert find_ambiguity(headers) is not None


@pytest.mark.requirement("ADP-2")
def test_ordinary_headers_are_not_ambiguous() -> None:
    assert find_ambiguity([("vary", "a"), ("vary", "b"), ("content-length", "2")]) is None


@pytest.mark.requirement("ADP-5")
def test_headers_that_carry_secrets_are_shown_by_name_only() -> None:
    shown = show_headers([("set-cookie", "session=s3cret"), ("etag", "x")])
    assert shown == (("set-cookie", "***"), ("etag", "x"))
