"""Whether a well-formed answer is the answer to our question."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluicegate.checks.meaning import Expectations, prepare_vouching, vouch
from sluicegate.contracts.contract import BindRule, FreshRule
from sluicegate.values.callers import Caller
from sluicegate.values.codes import CODES, Code, Stage
from sluicegate.values.findings import Finding
from sluicegate.values.instants import NANOS, instant_of, parse_rfc3339
from sluicegate.values.json import canonical_text
from sluicegate.values.pointers import Pointer
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request, RequestId

NOW_TEXT = "2026-11-30T03:00:00Z"
NOW = datetime(2026, 11, 30, 3, tzinfo=UTC)
NOW_NANOS = instant_of(NOW)
CALLER = Caller(subject="svc-deploy", tenant="acme")


def request(arguments: object = None, caller: Caller = CALLER) -> Request:
    return Request(
        tool="job_status",
        request_id=RequestId("req.J7q94MkP"),
        arguments={"project_id": "bluebird"} if arguments is None else arguments,
        caller=caller,
    )


def expect(**parts: Any) -> Expectations:
    silent: dict[str, Any] = {
        "bind": (),
        "fresh": None,
        "checks": (),
        "free_text": (),
        "envelope": False,
        "tool_at": None,
        "request_id_at": None,
        "dated": False,
    }
    return Expectations(**{**silent, **parts})


def bind(data: str, argument: str | None = None, caller: Any = None) -> BindRule:
    place = None if argument is None else Pointer.parse(argument)
    return BindRule(data=Pointer.parse(data), argument=place, caller=caller)


def ask(
    data: object,
    expectations: Expectations,
    *,
    asked: Request | None = None,
    now: datetime = NOW,
    parsed: object = None,
    raw: bytes | None = None,
) -> Any:
    conforming: Any = data
    document: Any = data if parsed is None else parsed
    text: Any = canonical_text(document).encode("utf-8", "surrogatepass") if raw is None else raw
    vouching = prepare_vouching(expectations, quick=False)
    return vouch(conforming, document, text, vouching, asked or request(), now=now)


def codes(outcome: object) -> list[tuple[Code, str]]:
    """Return what was found; nothing for an answer that is vouched for."""
    if not isinstance(outcome, Rejected):
        return []
    assert outcome.stage is Stage.VOUCH
    assert outcome.code is outcome.findings[0].code
    assert all(Stage.VOUCH in CODES[finding.code].stages for finding in outcome.findings)
    return [(finding.code, finding.pointer) for finding in outcome.findings]


def test_an_answer_of_which_nothing_is_expected_is_vouched_for_as_it_is() -> None:
    data = {"a": [1, None, {"b": "c"}]}
    assert ask(data, expect()) is data


# --- whose answer ------------------------------------------------------------------------------

ENVELOPE = {"tool": "job_status", "request_id": "req.J7q94MkP", "outcome": "success", "data": {}}


@pytest.mark.requirement("RES-5", "ENV-3")
@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, []),
        ({"tool": "job_statu"}, [(Code.WRONG_TOOL, "/tool")]),
        ({"tool": "Job_status"}, [(Code.WRONG_TOOL, "/tool")]),
        ({"request_id": "req.J7q94Mkp"}, [(Code.WRONG_REQUEST, "/request_id")]),
        ({"tool": "x", "request_id": "y"}, [(Code.WRONG_TOOL, "/tool")]),
    ],
)
def test_an_envelope_bears_our_tool_and_our_request(changes: Any, found: object) -> None:
    parsed = {**ENVELOPE, **changes}
    assert codes(ask({}, expect(envelope=True), parsed=parsed)) == found


@pytest.mark.requirement("RES-5")
@pytest.mark.parametrize("parsed", [{"data": {}}, [], "text"])
def test_an_envelope_without_names_is_of_nobody(parsed: object) -> None:
    assert codes(ask({}, expect(envelope=True), parsed=parsed)) == [(Code.WRONG_TOOL, "/tool")]


@pytest.mark.requirement("RES-5")
@pytest.mark.parametrize(
    ("data", "found"),
    [
        ({"tool": "job_status", "id": "req.J7q94MkP"}, []),
        ({}, []),
        ({"tool": "other", "id": "req.other"}, [(Code.WRONG_TOOL, "/tool")]),
        ({"tool": "job_status", "id": "req.other"}, [(Code.WRONG_REQUEST, "/id")]),
        ({"id": None}, [(Code.WRONG_REQUEST, "/id")]),
        ({"id": ["req.J7q94MkP"]}, [(Code.WRONG_REQUEST, "/id")]),
    ],
)
def test_names_inside_the_data_are_ours_where_they_are_present(data: object, found: object) -> None:
    expectations = expect(tool_at=Pointer(("tool",)), request_id_at=Pointer(("id",)))
    assert codes(ask(data, expectations)) == found


# --- whose subject -----------------------------------------------------------------------------


def stranger(pointer: str) -> list[tuple[Code, str]]:
    return [(Code.WRONG_SUBJECT, pointer)]


@pytest.mark.requirement("RES-5")
@pytest.mark.parametrize(
    ("found", "wanted", "holds"),
    [
        ("bluebird", "bluebird", True),
        ("bluebird", "bluebird2", False),
        ("Bluebird", "bluebird", False),
        ("é", "e\u0301", False),
        ("", "", True),
        (7, 7, True),
        (7, 8, False),
        (7, 7.0, False),
        (7.0, 7.0, True),
        (7, "7", False),
        ("7", 7, False),
        (1, True, False),
        (True, True, True),
        (0, False, False),
        (None, None, True),
        (None, False, False),
        ("null", None, False),
        (2**60 + 1, 2**60, False),
        ([1, 2], [1, 2], True),
        ([1, 2], [2, 1], False),
        ([1], [1.0], False),
        ([1], [True], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": {"b": [0]}}, {"a": {"b": [False]}}, False),
        ([], {}, False),
    ],
)
def test_a_bound_value_equals_the_argument_in_type_and_value(
    found: object, wanted: object, holds: bool
) -> None:
    expectations = expect(bind=(bind("/project_id", "/project_id"),))
    nested = expect(bind=(bind("/of/project", "/filter/project"),))
    flat = ask({"project_id": found}, expectations, asked=request({"project_id": wanted}))
    deep = ask({"of": {"project": found}}, nested, asked=request({"filter": {"project": wanted}}))
    assert codes(flat) == ([] if holds else stranger("/project_id"))
    assert codes(deep) == ([] if holds else stranger("/of/project"))


@pytest.mark.requirement("RES-5")
@pytest.mark.parametrize(
    ("data", "arguments"),
    [
        ({}, {"project_id": "bluebird"}),
        ({"project_id": "bluebird"}, {}),
        ({}, {}),
        ([], {"project_id": "bluebird"}),
        ("bluebird", {"project_id": "bluebird"}),
        ({"project_id": None}, {}),
        ({"project_id": "bluebird"}, []),
    ],
)
def test_what_is_absent_equals_nothing(data: object, arguments: object) -> None:
    expectations = expect(bind=(bind("/project_id", "/project_id"),))
    assert codes(ask(data, expectations, asked=request(arguments))) == stranger("/project_id")


@pytest.mark.requirement("RES-5")
@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([], []),
        ([{"p": "bluebird"}], []),
        ([{"p": "bluebird"}, {"p": "bluebird"}], []),
        ([{"p": "bluebird"}, {"p": "other"}, {}], [*stranger("/rows/1/p"), *stranger("/rows/2/p")]),
        ([{"p": "bluebird"}, None], stranger("/rows/1/p")),
        ({"p": "bluebird"}, stranger("/rows/*/p")),
        (None, stranger("/rows/*/p")),
    ],
)
def test_every_item_is_about_the_subject(rows: object, found: object) -> None:
    expectations = expect(bind=(bind("/rows/*/p", "/project_id"),))
    assert codes(ask({"rows": rows}, expectations)) == found


@pytest.mark.requirement("RES-5")
@pytest.mark.parametrize(
    ("member", "data", "caller", "holds"),
    [
        ("tenant", "acme", CALLER, True),
        ("tenant", "evil", CALLER, False),
        ("tenant", "svc-deploy", CALLER, False),
        ("subject", "svc-deploy", CALLER, True),
        ("subject", "acme", CALLER, False),
        ("tenant", None, Caller(subject="svc-deploy"), False),
        ("tenant", "", Caller(subject="svc-deploy"), False),
    ],
)
def test_data_are_bound_to_the_caller(
    member: str, data: object, caller: Caller, holds: bool
) -> None:
    expectations = expect(bind=(bind("/owner", caller=member),))
    outcome = ask({"owner": data}, expectations, asked=request(caller=caller))
    assert codes(outcome) == ([] if holds else stranger("/owner"))


@pytest.mark.requirement("RES-5")
def test_every_rule_holds_however_the_rules_are_mixed() -> None:
    rules = (
        bind("/project_id", "/project_id"),
        bind("/owner", caller="tenant"),
        bind("/n", "/n"),
        bind("/rows/*/p", "/project_id"),
    )
    good = {"project_id": "bluebird", "owner": "acme", "n": 7, "rows": [{"p": "bluebird"}]}
    asked = request({"project_id": "bluebird", "n": 7})
    assert codes(ask(good, expect(bind=rules), asked=asked)) == []
    for name, bad in (("project_id", "x"), ("owner", "x"), ("n", 7.0), ("rows", [{"p": "x"}])):
        pointer = "/rows/0/p" if name == "rows" else f"/{name}"
        wrong = {**good, name: bad}
        assert codes(ask(wrong, expect(bind=rules), asked=asked)) == stranger(pointer)


def test_a_stranger_is_told_without_any_value() -> None:
    outcome = ask({"project_id": "zqj-1"}, expect(bind=(bind("/project_id", "/project_id"),)))
    assert "zqj-1" not in repr(outcome)
    assert "bluebird" not in repr(outcome)
    assert outcome.findings[0].expected == "exactly the argument /project_id"
    rows = {"rows": [{"p": "x"}] * 1000}
    many = ask(rows, expect(bind=(bind("/rows/*/p", "/project_id"),)))
    assert len(many.findings) == 20


# --- when --------------------------------------------------------------------------------------

FRESH = FreshRule(at=Pointer(("at",)), max_age_s=60, max_ahead_s=5)


def seen_at(nanos: int) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=nanos // 1000)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{nanos % NANOS:09}Z"


@pytest.mark.requirement("RES-5")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        (NOW_TEXT, None),
        ("2026-11-30T02:59:00Z", None),
        ("2026-11-30T02:58:59Z", Code.STALE),
        (seen_at(NOW_NANOS - 60 * NANOS - 1), Code.STALE),
        (seen_at(NOW_NANOS - 60 * NANOS), None),
        ("2026-11-30T03:00:05Z", None),
        ("2026-11-30T03:00:06Z", Code.FROM_FUTURE),
        (seen_at(NOW_NANOS + 5 * NANOS + 1), Code.FROM_FUTURE),
        (seen_at(NOW_NANOS + 5 * NANOS), None),
        ("2026-11-30T04:00:00+01:00", None),
        ("2026-11-30t03:00:00z", None),
        ("2026-11-30T03:00:00+01:00", Code.STALE),
        ("2026-11-30T03:00:00-01:00", Code.FROM_FUTURE),
        ("2025-11-30T03:00:00Z", Code.STALE),
        ("2026-11-30T02:59:60Z", Code.BAD_TIME),
    ],
)
def test_time_holds_within_both_edges(text: str, code: Code | None) -> None:
    wanted = [] if code is None else [(code, "/at")]
    assert codes(ask({"at": text}, expect(fresh=FRESH))) == wanted
    deep = FreshRule(at=Pointer(("a", "at")), max_age_s=60, max_ahead_s=5)
    wanted = [] if code is None else [(code, "/a/at")]
    assert codes(ask({"a": {"at": text}}, expect(fresh=deep))) == wanted


@given(
    st.text(alphabet="0123456789-:TtZzW.,+ ٣", min_size=20, max_size=20)
    | st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z", fullmatch=True)
    | st.from_regex(r"2026-1[12]-[0-9]{2}T[0-9]{2}:[0-6][0-9]:[0-6][0-9]Z", fullmatch=True)
    | st.sampled_from(["2026-W49-1T02:59:59Z", "2026-11-29T24:00:00Z", "0000-01-01T00:00:00Z"])
)
@pytest.mark.requirement("RES-5")
def test_the_native_reading_of_the_common_form_judges_as_the_exact_one(text: str) -> None:
    wide = FreshRule(at=Pointer(("at",)), max_age_s=40_000_000, max_ahead_s=40_000_000)
    instant = parse_rfc3339(text)
    holds = instant is not None and abs(NOW_NANOS - instant) <= 40_000_000 * NANOS
    judged = codes(ask({"at": text}, expect(fresh=wide)))
    assert (judged == []) == holds
    assert instant is not None or judged == [(Code.BAD_TIME, "/at")]


@pytest.mark.requirement("RES-5")
def test_a_leap_second_is_the_first_second_of_the_next_day() -> None:
    now = datetime(2017, 1, 1, 0, 1, tzinfo=UTC)
    leap = {"at": "2016-12-31T23:59:60Z"}
    assert codes(ask(leap, expect(fresh=FRESH), now=now)) == []
    later = now + timedelta(microseconds=1)
    assert codes(ask(leap, expect(fresh=FRESH), now=later)) == [(Code.STALE, "/at")]


@pytest.mark.requirement("RES-5")
@pytest.mark.parametrize(
    "data",
    [
        {"at": "2026-11-30T03:00:00"},
        {"at": "2026-11-30T03:00:00-00:00"},
        {"at": "2026-11-30 03:00:00Z"},
        {"at": "2026-W48-1T03:00:00Z"},
        {"at": ""},
        {"at": None},
        {"at": 1796007600},
        {"at": True},
        {"at": [NOW_TEXT]},
        {"at": {NOW_TEXT: 1}},
        {},
        [],
        NOW_TEXT,
        7,
    ],
    ids=repr,
)
def test_a_time_in_doubt_is_a_bad_time(data: object) -> None:
    for _ in range(2):  # a second reading must not remember the first one otherwise
        assert codes(ask(data, expect(fresh=FRESH))) == [(Code.BAD_TIME, "/at")]


@pytest.mark.requirement("RES-5")
@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([NOW_TEXT, NOW_TEXT], []),
        ([NOW_TEXT, "2026-11-30T02:00:00Z"], [(Code.STALE, "/rows/1")]),
        (["x", "2026-11-30T02:00:00Z"], [(Code.BAD_TIME, "/rows/0"), (Code.STALE, "/rows/1")]),
        ([], [(Code.BAD_TIME, "/rows/*")]),
        (NOW_TEXT, [(Code.BAD_TIME, "/rows/*")]),
    ],
)
def test_every_named_time_holds_and_none_at_all_is_in_doubt(rows: object, found: object) -> None:
    fresh = FreshRule(at=Pointer(("rows", "*")), max_age_s=60)
    assert codes(ask({"rows": rows}, expect(fresh=fresh))) == found


@pytest.mark.parametrize(
    ("max_age_s", "edge"),
    [(0, 0), (0.1, 100_000_000), (0.3, 300_000_000), (1e-9, 1), (1.1, 1_100_000_000)],
)
def test_limits_that_no_binary_number_spells_are_exact_all_the_same(
    max_age_s: float, edge: int
) -> None:
    fresh = FreshRule(at=Pointer(("at",)), max_age_s=max_age_s, max_ahead_s=max_age_s)
    for nanos, code in ((edge, Code.STALE), (-edge, Code.FROM_FUTURE)):
        outward = 1 if code is Code.STALE else -1
        assert codes(ask({"at": seen_at(NOW_NANOS - nanos)}, expect(fresh=fresh))) == []
        beyond = ask({"at": seen_at(NOW_NANOS - nanos - outward)}, expect(fresh=fresh))
        assert codes(beyond) == [(code, "/at")]


# --- the contract's own checks -----------------------------------------------------------------


def failing(pointer: str, code: Code = Code.CHECK_FAILED) -> Any:
    def check(data: object, *, document: object, request: Request, now: datetime) -> list[Finding]:
        return [Finding(code=code, pointer=pointer)]

    return check


def holds(data: object, *, document: object, request: Request, now: datetime) -> tuple[()]:
    return ()


@pytest.mark.requirement("RES-5")
def test_a_check_sees_the_data_the_document_the_request_and_the_time() -> None:
    seen: list[object] = []

    def check(data: object, *, document: object, request: Request, now: datetime) -> list[Finding]:
        seen.extend([data, document, request, now])
        return []

    data, parsed, asked = {"a": 1}, {"data": {"a": 1}}, request()
    assert codes(ask(data, expect(checks=(check,)), parsed=parsed, asked=asked)) == []
    assert seen == [data, parsed, asked, datetime(2026, 11, 30, 3, tzinfo=UTC)]


@pytest.mark.requirement("RES-5")
def test_all_checks_run_and_whatever_they_find_is_check_failed() -> None:
    checks = (failing("/a"), holds, failing("/b", Code.STALE), failing("/c", Code.INTERNAL))
    found = codes(ask({}, expect(checks=checks)))
    assert found == [(Code.CHECK_FAILED, place) for place in ("/a", "/b", "/c")]
    many = ask({}, expect(checks=(failing("/a"),) * 30))
    assert len(many.findings) == 20


def raising(data: object, **_: object) -> list[Finding]:
    raise RuntimeError("zqj-secret")


async def asynchronous(data: object, **_: object) -> list[Finding]:
    return []


def changing_data(data: Any, **_: object) -> list[Finding]:
    data["a"] = True
    return []


def changing_deeper(data: Any, **_: object) -> list[Finding]:
    data["b"].append(1)
    return []


def changing_document(data: Any, *, document: Any, **_: object) -> list[Finding]:
    document["x"] = 1
    return []


def changing_arguments(data: Any, *, request: Request, **_: object) -> list[Finding]:
    arguments: Any = request.arguments
    arguments["project_id"] = "other"
    return []


def unjsoning(data: Any, **_: object) -> list[Finding]:
    data["a"] = object()
    return []


DEFECTIVE: list[Any] = [
    raising,
    asynchronous,
    changing_data,
    changing_deeper,
    changing_document,
    changing_arguments,
    unjsoning,
    lambda data, **_: None,
    lambda data, **_: True,
    lambda data, **_: "finding",
    lambda data, **_: ["finding"],
    lambda data, **_: iter(()),
    lambda data: [],
]


@pytest.mark.requirement("RES-5", "RES-9")
@pytest.mark.parametrize("check", DEFECTIVE)
def test_a_defective_check_closes_the_gate(check: Any) -> None:
    data = {"a": 1, "b": []}
    outcome = ask(data, expect(checks=(failing("/a"), check, holds)), parsed={"data": data})
    assert isinstance(outcome, Rejected)
    assert (outcome.stage, outcome.code) == (Stage.INTERNAL, Code.INTERNAL)
    assert outcome.mapped_code is None
    assert "zqj-secret" not in repr(outcome.findings)
    assert outcome.engine_message


class OddlyNamedError(Exception):
    pass


OddlyNamedError.__name__ = "Odd\u202e\nname"


def raising_oddly(data: Any, **_: object) -> list[Finding]:
    raise OddlyNamedError("zqj-secret")


@pytest.mark.requirement("RES-5")
@pytest.mark.parametrize(
    ("check", "says"),
    [
        (raising, f"{__name__}:raising raised "),
        (raising_oddly, "raised Odd\\u202E\\u000Aname"),
        (asynchronous, f"{__name__}:asynchronous is a coroutine function"),
        (lambda data, **_: True, "returned bool, not a list of findings"),
        (changing_data, f"changed what it was given: {__name__}:changing_data"),
    ],
)
def test_a_defective_check_is_named_with_what_it_did_and_none_of_its_text(
    check: Any, says: str
) -> None:
    outcome = ask({"a": 1, "b": []}, expect(checks=(check,)))
    assert isinstance(outcome, Rejected)
    (finding,) = outcome.findings
    assert says.lower() in (finding.hint or "").lower()
    assert "zqj-secret" not in repr(outcome.findings)


def test_all_checks_are_run_though_one_raises() -> None:
    ran: list[str] = []

    def last(data: object, **_: object) -> list[Finding]:
        ran.append("last")
        return []

    ask({}, expect(checks=(raising, last)))
    assert ran == ["last"]


# --- order -------------------------------------------------------------------------------------


@pytest.mark.requirement("RES-5")
def test_the_first_kind_of_fault_names_the_refusal() -> None:
    expectations = expect(
        bind=(bind("/p", "/project_id"),), fresh=FRESH, checks=(failing(""),), envelope=True
    )
    good = {"p": "bluebird", "at": NOW_TEXT, "t": "x"}
    parsed = {**ENVELOPE, "data": good}
    faults: list[tuple[Code, dict[str, Any], dict[str, Any]]] = [
        (Code.WRONG_TOOL, {}, {"tool": "x"}),
        (Code.WRONG_REQUEST, {}, {"request_id": "x"}),
        (Code.WRONG_SUBJECT, {"p": "x"}, {}),
        (Code.STALE, {"at": "2020-01-01T00:00:00Z"}, {}),
        (Code.FORBIDDEN_TEXT, {"t": "\u202e"}, {}),
        (Code.CHECK_FAILED, {}, {}),
    ]
    for first in range(len(faults)):
        data, names = dict(good), dict(parsed)
        for _, in_data, in_names in faults[first:]:
            data.update(in_data)
            names.update(in_names)
        outcome = ask(data, expectations, parsed={**names, "data": data})
        assert outcome.code is faults[first][0]


# --- forbidden text on the rung ----------------------------------------------------------------


@pytest.mark.requirement("RES-5")
def test_forbidden_text_is_found_wherever_it_hides() -> None:
    for data in ({"a": "x\u200b"}, {"x\u200b": 1}, {"a": ["\x1b"]}, {"a": "\ud800"}):
        outcome = ask(data, expect(), raw=b'{"a": "\\u"}')
        assert codes(outcome)[0][0] is Code.FORBIDDEN_TEXT


@pytest.mark.requirement("RES-5", "RES-10")
def test_raw_control_characters_of_a_declared_text_are_found() -> None:
    data = {"text": "red \x1b[31m"}
    outcome = ask(
        data, expect(free_text=(Pointer(("text",)),)), parsed="red \x1b[31m", raw=b"red \x1b[31m"
    )
    assert codes(outcome) == [(Code.FORBIDDEN_TEXT, "/text")]
    lines = {"text": "one\n\ttwo"}
    free = expect(free_text=(Pointer(("text",)),))
    assert codes(ask(lines, free, parsed="one\n\ttwo", raw=b"one\n\ttwo")) == []
    assert codes(ask(lines, expect(), parsed="one\n\ttwo", raw=b"one\n\ttwo")) == [
        (Code.FORBIDDEN_TEXT, "/text")
    ]
