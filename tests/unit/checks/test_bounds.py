"""Bytes and nesting are bounded on the raw text, exactly and in linear time."""

from __future__ import annotations

from typing import Any

import pytest

from sluicegate.checks.bounds import bound_answer, bound_arguments, find_excess
from sluicegate.values.findings import Finding
from sluicegate.values.limits import Limits
from sluicegate.values.rejections import Rejected

LIMITS = Limits(max_bytes=64, max_depth=3)
WIDE = Limits(max_bytes=1 << 21, max_depth=3)


def bound_both(raw: bytes, limits: Limits, count_nesting: bool) -> tuple[object, object]:
    delivered: Any = raw
    return (
        bound_arguments(raw, limits, count_nesting),
        bound_answer(delivered, limits, count_nesting),
    )


def finding_of(raw: bytes, limits: Limits, *, count_nesting: bool = True) -> Finding:
    on_call, on_result = bound_both(raw, limits, count_nesting)
    assert isinstance(on_call, Rejected)
    assert on_call == on_result
    assert str(on_call.stage) == "bound"
    (finding,) = on_call.findings
    return finding


@pytest.mark.requirement("ARG-1", "RES-1")
def test_the_limit_itself_is_admitted_and_one_byte_more_is_not() -> None:
    raw = b'"' + b"x" * 62 + b'"'
    on_call, on_result = bound_both(raw, LIMITS, True)
    assert on_call is raw
    assert on_result is raw
    finding = finding_of(raw + b" ", LIMITS)
    assert (str(finding.code), finding.limit, finding.received_size) == ("TOO_LARGE", "64", 65)


@pytest.mark.requirement("ARG-1")
def test_bytes_are_counted_where_nesting_is_not() -> None:
    assert str(finding_of(b"x" * 65, LIMITS, count_nesting=False).code) == "TOO_LARGE"


@pytest.mark.requirement("ARG-1", "RES-1")
@pytest.mark.parametrize(
    ("raw", "offset"),
    [
        pytest.param(b"[[[1]]]", None, id="three"),
        pytest.param(b"[[[[1]]]]", 3, id="four"),
        pytest.param(b'{"a":{"b":{"c":{}}}}', 15, id="objects"),
        pytest.param(b"[[[]],[[]],[[]]]", None, id="siblings do not add up"),
        pytest.param(b'["[[[[[", "{{{{{"]', None, id="brackets in strings"),
        pytest.param(b'["\\"[[[[["]', None, id="behind an escaped quote"),
        pytest.param(b'["\\\\",[[[1]]]]', 8, id="behind an escaped backslash"),
        pytest.param(b'["[[[[[', None, id="in a string that is not closed"),
        pytest.param(b"[[[[", 3, id="not closed"),
        pytest.param(b"]]]][[[[", 7, id="closing first buys no depth"),
    ],
)
def test_nesting_is_counted_exactly(raw: bytes, offset: int | None) -> None:
    assert find_excess(raw, 3) == offset


@pytest.mark.requirement("ARG-1")
def test_the_refusal_names_the_place_and_the_limit() -> None:
    finding = finding_of(b'{"a":\n [[[1]]]}', WIDE)
    assert (str(finding.code), finding.limit) == ("TOO_DEEP", "3")
    assert (finding.offset, finding.line, finding.column) == (9, 2, 4)


@pytest.mark.requirement("ARG-1", "RES-1")
@pytest.mark.parametrize(
    ("raw", "offset"),
    [
        pytest.param(b'["' + b'\\"' * 500_000 + b'",[[[1]]]]', 1_000_006, id="escaped quotes"),
        pytest.param(b'"\\' * 500_000, None, id="quote, backslash, repeated"),
        pytest.param(b"[" * 1_000_000, 3, id="unterminated"),
        pytest.param(b"[]," * 330_000 + b"[[[[", 990_003, id="flat, then deep"),
        pytest.param(b'{"x":' * 200_000, 15, id="objects"),
        pytest.param(b'"' * 1_000_000, None, id="empty strings"),
        pytest.param(b"[[[" + b"\\" * 1_000_000, None, id="backslashes outside strings"),
    ],
)
def test_hostile_texts_of_a_megabyte_get_the_right_verdict(raw: bytes, offset: int | None) -> None:
    # A super-quadratic scan needs minutes for these; the run as a whole would not end.
    assert find_excess(raw, 3) == offset


def test_without_counting_a_deep_text_passes_this_rung() -> None:
    raw = b"[[[[[[1]]]]]]"
    assert bound_arguments(raw, WIDE, False) is raw
