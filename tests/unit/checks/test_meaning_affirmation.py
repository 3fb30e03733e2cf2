"""What is affirmed at a glance must hold under the rules, one by one."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from sluicegate.checks.meaning import Expectations, prepare_vouching, vouch
from sluicegate.checks.meaning_affirmation import compile_affirmation
from sluicegate.contracts.contract import BindRule, FreshRule
from sluicegate.values.callers import Caller
from sluicegate.values.json import canonical_text
from sluicegate.values.pointers import Pointer
from sluicegate.values.requests import Request, RequestId

NOW = datetime(2026, 11, 30, 0, 0, 10, tzinfo=UTC)
BIND = (BindRule(data=Pointer(("project",)), argument=Pointer(("project",))),)
FRESH = FreshRule(at=Pointer(("at",)), max_age_s=60, max_ahead_s=5)
EXPECTED = Expectations(
    bind=BIND,
    fresh=FRESH,
    checks=(),
    free_text=(),
    envelope=True,
    tool_at=None,
    request_id_at=None,
    dated=True,
)
QUICK = prepare_vouching(EXPECTED, quick=True)
EXACT = prepare_vouching(EXPECTED, quick=False)
REQUEST = Request(
    tool="job_status",
    request_id=RequestId("req_12345678"),
    arguments={"project": "bluebird"},
    caller=Caller(subject="svc"),
)
GOOD = {"project": "bluebird", "at": "2026-11-30T00:00:00Z", "note": "fine"}
OURS = {"tool": "job_status", "request_id": "req_12345678"}


def affirm(data: object, names: object = None, request: Request = REQUEST) -> bool:
    assert QUICK.affirm is not None
    document = {**OURS, **(names if isinstance(names, dict) else {}), "data": data}
    return QUICK.affirm(data, document, request, NOW)


def judge(data: Any, names: dict[str, object], request: Request, *, quick: bool) -> Any:
    document: Any = {**OURS, **names, "data": data}
    raw: Any = canonical_text(document).encode()
    return vouch(data, document, raw, QUICK if quick else EXACT, request, now=NOW)


AGES = st.integers(-8, 65).map(lambda age_s: f"{NOW - timedelta(seconds=age_s):%Y-%m-%dT%H:%M:%SZ}")
TIME: Final = "2026-11-30T00:00:00Z"
is_date_time: Final = Draft202012Validator({"format": "date-time"}, validate_formats=True).is_valid
NO_DATE_TIMES: Final = (
    *("2026-11-30 00:00:00Z", "2026-W49-1T00:00:00Z", "2026-11-29T24:00:00Z"),
    *("20261130T000000+0000", "+026-11-30T00:00:00Z", "2026-11-30T00:00:60Z"),
)
ODD_TIMES = st.sampled_from(
    [
        *("2026-11-29T23:59:10Z", "2026-11-30T00:00:15Z", "2026-11-30t00:00:00z"),
        *("2026-11-29T23:59:60Z", "2026-11-30T00:00:00.5Z", "2026-11-30T01:00:00+01:00"),
    ]
).filter(is_date_time)
VALUES = st.sampled_from(["bluebird", "other", 1, 1.0, True, None, ["bluebird"]])
NAMES = st.sampled_from([{}, {}, {"tool": "other"}, {"request_id": "req_87654321"}, {"tool": None}])


@given(
    project=st.just("bluebird") | VALUES,
    asked=st.just("bluebird") | VALUES,
    at=AGES | ODD_TIMES | VALUES,
    note=st.sampled_from(["fine", "fine", "\x7f", "\u200b"]),
    names=NAMES,
)
@pytest.mark.requirement("RES-5")
def test_the_shortcut_never_changes_the_verdict(
    project: Any, asked: Any, at: Any, note: str, names: dict[str, object]
) -> None:
    data = {"project": project, "at": at, "note": note}
    request = replace(REQUEST, arguments={"project": asked})
    exact = judge(data, names, request, quick=False)
    assert judge(data, names, request, quick=True) == exact


@pytest.mark.requirement("RES-5")
@pytest.mark.parametrize(
    "at",
    ["2026-11-29T23:59:11Z", "2026-11-30T00:00:00Z", "2026-11-30T00:00:14Z"],
    ids=["oldest", "recent", "ahead"],
)
def test_a_good_answer_is_affirmed(at: str) -> None:
    assert affirm({**GOOD, "at": at})


@pytest.mark.requirement("RES-5")
@pytest.mark.parametrize(
    ("data", "names", "arguments"),
    [
        (GOOD, {"tool": "other"}, {}),
        (GOOD, {"request_id": "req_87654321"}, {}),
        ({**GOOD, "project": "other"}, {}, {}),
        ({**GOOD, "project": True}, {}, {"project": 1}),
        ({**GOOD, "project": 1}, {}, {"project": 1}),
        (GOOD, {}, {"project": None}),
        ({**GOOD, "at": "2026-11-29T23:59:09Z"}, {}, {}),
        ({**GOOD, "at": "2026-11-30T00:00:16Z"}, {}, {}),
        ({**GOOD, "at": "2026-11-29T23:59:60Z"}, {}, {}),
        ({**GOOD, "at": "2026-11-30T00:00:00.5Z"}, {}, {}),
        ({**GOOD, "at": 1}, {}, {}),
        ({"project": "bluebird"}, {}, {}),
        ([GOOD], {}, {}),
    ],
    ids=[
        *("another tool", "another request", "another subject", "true is not 1", "no texts"),
        *("no argument", "stale", "from the future", "a leap second", "a fraction"),
        *("no text", "no time", "no object"),
    ],
)
def test_what_differs_in_one_thing_is_not_affirmed(
    data: object, names: dict[str, object], arguments: dict[str, object]
) -> None:
    request = replace(REQUEST, arguments={**REQUEST.arguments, **arguments})
    assert not affirm(data, names, request)


@pytest.mark.parametrize(
    ("bind", "fresh"),
    [
        (BIND, None),
        (BIND, replace(FRESH, at=Pointer(("rows", "*", "at")))),
        ((BindRule(data=Pointer(("tenant",)), argument=None, caller="tenant"),), FRESH),
        ((BindRule(data=Pointer(("a", "b")), argument=Pointer(("b",))),), FRESH),
    ],
    ids=["no time", "every row's time", "the caller's tenant", "a deeper place"],
)
def test_what_reaches_deeper_is_left_to_the_rules(
    bind: tuple[BindRule, ...], fresh: FreshRule | None
) -> None:
    assert compile_affirmation(bind, fresh, dated=True, envelope=True) is None


def test_a_text_that_the_schema_does_not_call_a_date_time_is_left_to_the_rules() -> None:
    assert compile_affirmation(BIND, FRESH, dated=False, envelope=True) is None


@pytest.mark.requirement("RES-5")
@given(
    st.lists(
        st.tuples(st.integers(0, 19), st.sampled_from("0123456789TtZz:-+. _W,\u0660")), max_size=4
    )
)
def test_of_all_date_times_one_form_alone_is_twenty_characters_long(
    edits: list[tuple[int, str]],
) -> None:
    characters = list(TIME)
    for at, character in edits:
        characters[at] = character
    time = "".join(characters)
    form = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt]([01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2}[Zz]"
    assert not is_date_time(time) or re.fullmatch(form, time)


@pytest.mark.parametrize("time", NO_DATE_TIMES)
def test_what_the_native_reader_takes_beyond_date_times_the_schema_refuses(time: str) -> None:
    assert len(time) == 20
    assert not is_date_time(time)


def test_the_exact_climb_takes_no_shortcut() -> None:
    assert EXACT.affirm is None
