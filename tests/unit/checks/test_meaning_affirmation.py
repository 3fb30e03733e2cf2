"""What is affirmed at a glance must hold under the rules, one by one."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluicegate.checks.meaning import Expectations, vouch
from sluicegate.checks.meaning_affirmation import compile_affirmation
from sluicegate.contracts.contract import BindRule, FreshRule
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Code
from sluicegate.values.pointers import Pointer
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request, RequestId

NOW = datetime(2026, 11, 30, 3, tzinfo=UTC)
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
)
REQUEST = Request(
    tool="job_status",
    request_id=RequestId("req_12345678"),
    arguments={"project": "bluebird"},
    caller=Caller(subject="svc"),
)
GOOD = {"project": "bluebird", "at": "2026-11-30T02:59:30Z", "note": "fine"}


def envelope(data: object, **members: object) -> dict[str, object]:
    ours = {"tool": "job_status", "request_id": "req_12345678", "outcome": "success"}
    return {**ours, **members, "data": data}


def judge(document: Any, expectations: Expectations, request: Request = REQUEST) -> Any:
    raw: Any = json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return vouch(document["data"], document, raw, expectations, request, NOW)


def without_affirmation(expectations: Expectations) -> Expectations:
    slow = replace(expectations)
    object.__setattr__(slow, "affirm", None)
    return slow


TIMES = st.integers(-70_000_000, 10_000_000).map(
    lambda age_us: (NOW + timedelta(microseconds=age_us)).isoformat().replace("+00:00", "Z")
) | st.sampled_from(
    [
        *("2026-11-30T02:59:00Z", "2026-11-30T03:00:05Z", "2026-11-30T03:00:06Z"),
        *("2026-11-30T02:58:59Z", "2026-11-30t02:59:59z", "2026-11-30 02:59:59Z", "", "Z" * 20),
        *("2026-W49-1T02:59:59Z", "2026-11-29T24:00:00Z", "2026-11-30T02:59:60Z"),
    ]
)
VALUES = st.sampled_from(["bluebird", "other", "bl\u00fcbird", 1, 1.0, True, None, ["bluebird"]])
TEXTS = st.sampled_from(["fine", "a\\b", 'say "x"', "\x7f", "\u200b", "tab\t", "\U000e0041"])
MEMBERS = st.sampled_from([{}, {"tool": "other"}, {"request_id": "req_87654321"}, {"tool": None}])


@given(project=VALUES, asked=VALUES, at=TIMES | VALUES, note=TEXTS, members=MEMBERS)
@pytest.mark.requirement("RES-5", "RES-8")
def test_the_shortcut_never_changes_the_verdict(
    project: Any, asked: Any, at: Any, note: str, members: dict[str, object]
) -> None:
    document = envelope({"project": project, "at": at, "note": note}, **members)
    request = replace(REQUEST, arguments={"project": asked})
    assert judge(document, EXPECTED, request) == judge(
        document, without_affirmation(EXPECTED), request
    )


def test_a_good_answer_is_affirmed() -> None:
    assert EXPECTED.affirm is not None
    document = envelope(GOOD)
    assert EXPECTED.affirm(GOOD, document, json.dumps(document).encode(), REQUEST, NOW)


@pytest.mark.requirement("RES-5")
def test_a_declared_text_is_never_affirmed_for_its_raw_characters_prove_nothing() -> None:
    affirm = compile_affirmation((), FRESH, envelope=False)
    assert affirm is not None
    text = "at 2026-11-30T02:59:30Z \x1b[31m"
    groups: Any = {"at": "2026-11-30T02:59:30Z", "note": "\x1b[31m"}
    assert not affirm(groups, text, text.encode(), REQUEST, NOW)
    bare = replace(EXPECTED, bind=(), envelope=False)
    document: Any = text
    refused = vouch(groups, document, document.encode(), bare, REQUEST, NOW)
    assert isinstance(refused, Rejected)
    assert refused.code is Code.FORBIDDEN_TEXT


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
    assert compile_affirmation(bind, fresh, envelope=True) is None
