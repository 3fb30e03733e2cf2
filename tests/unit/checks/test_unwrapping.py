"""Answers in their carriers: a text, an envelope, an MCP result."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluicegate.checks.parsing import ParseRule
from sluicegate.checks.unwrapping import unwrap
from sluicegate.contracts.contract import TextRule, UpstreamPart
from sluicegate.contracts.extraction import compile_extraction
from sluicegate.contracts.schemas.guards import shape_guard
from sluicegate.values.callers import Caller
from sluicegate.values.codes import CODES, Code, Stage
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request, RequestId

REQUEST = Request(
    tool="job_status",
    request_id=RequestId("req.J7q94MkP"),
    arguments={},
    caller=Caller(subject="svc"),
)
ERRORS = {"NOT_FOUND": False}
BARE = UpstreamPart()
ENVELOPE = UpstreamPart(carrier="envelope")
MCP = UpstreamPart(carrier="mcp", tool_failed="NOT_FOUND")
MARKER = "zqj-marker"


def open_carrier(value: object, upstream: UpstreamPart, inner: ParseRule | None = None) -> Any:
    parsed: Any = value
    if inner is None:
        return unwrap(parsed, upstream, REQUEST, ERRORS)
    return unwrap(parsed, upstream, REQUEST, ERRORS, inner)


def refusal(value: object, upstream: UpstreamPart) -> tuple[Stage, Code, str]:
    outcome = open_carrier(value, upstream)
    assert isinstance(outcome, Rejected), outcome
    assert outcome.stage in CODES[outcome.code].stages
    assert MARKER not in repr(outcome)
    return outcome.stage, outcome.code, outcome.findings[0].pointer


def envelope(**changes: object) -> dict[str, object]:
    shaped: dict[str, object] = {
        "tool": "job_status",
        "request_id": "req.J7q94MkP",
        "outcome": "success",
        "data": {"state": "failed"},
    }
    shaped.update(changes)
    return {name: value for name, value in shaped.items() if value is not ...}


def failure(**changes: object) -> dict[str, object]:
    error = {"code": "NOT_FOUND", "retryable": True}
    return envelope(**{"outcome": "failure", "data": ..., "error": error, **changes})


# --- bare --------------------------------------------------------------------------------------


@pytest.mark.requirement("RES-10")
@pytest.mark.parametrize("value", [{"a": 1}, [], None, False, "text", 0])
def test_a_bare_answer_is_its_own_data(value: object) -> None:
    assert open_carrier(value, BARE) is value


def test_a_json_text_on_a_bare_carrier_is_what_was_parsed() -> None:
    value = {"a": 1}
    assert open_carrier(value, UpstreamPart(text=TextRule(kind="json"))) is value


def plain(max_chars: int) -> UpstreamPart:
    return UpstreamPart(text=TextRule(kind="plain", max_chars=max_chars))


def extract(pattern: str) -> UpstreamPart:
    return UpstreamPart(text=TextRule(kind="extract", pattern=pattern))


@pytest.mark.requirement("RES-10")
def test_a_plain_text_becomes_one_member_up_to_its_limit() -> None:
    assert open_carrier("4️⃣x", plain(4)) == {"text": "4️⃣x"}
    assert refusal(MARKER, plain(len(MARKER) - 1)) == (Stage.BOUND, Code.TOO_LARGE, "")


@pytest.mark.requirement("RES-10")
@pytest.mark.parametrize(
    ("pattern", "text", "data"),
    [
        (r"(?P<name>[a-z]+) (?P<count>\d+)", "job 7", {"name": "job", "count": "7"}),
        (r"(?P<name>[a-z]+)(?: (?P<count>\d+))?", "job", {"name": "job"}),
        (r"(?P<all>(?s).*)", "a\nb", {"all": "a\nb"}),
        (r"(?P<zürich>é.)", "éß", {"zürich": "éß"}),
        (r"(?P<empty>x*)", "", {"empty": ""}),
    ],
)
def test_named_groups_of_the_whole_text_become_the_object(
    pattern: str, text: str, data: object
) -> None:
    assert open_carrier(text, extract(pattern)) == data


@pytest.mark.requirement("RES-10")
@pytest.mark.parametrize(
    "text",
    ["", "JOB", f"job {MARKER}", "job\n", "\njob", "jobs done", "job\x00"],
)
def test_a_text_that_matches_only_in_part_is_not_matched(text: str) -> None:
    assert refusal(text, extract("(?P<name>job)")) == (Stage.UNWRAP, Code.NOT_MATCHED, "")


@pytest.mark.parametrize("rule", [plain(9), extract("(?P<a>.)")], ids=["plain", "extract"])
def test_what_is_no_text_is_refused_where_a_text_was_declared(rule: UpstreamPart) -> None:
    assert refusal({"a": 1}, rule) == (Stage.UNWRAP, Code.ENVELOPE, "")


@pytest.mark.requirement("RES-10")
def test_a_hostile_text_costs_linear_time() -> None:
    rule = extract(r"(?P<a>(a+)+)")
    started = time.process_time()
    assert refusal("a" * 200_000 + "!", rule)[1] is Code.NOT_MATCHED
    assert time.process_time() - started < 1.0


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?P<a>", "missing"),
        ("(?=a)(?P<a>a)", "RE2"),
        (r"(?P<a>a)\1", "RE2"),
        (r"(?P<a>\C)", "single bytes"),
        ("a", "names no group"),
        ("(a)", "names no group"),
        ("(?P<a>(((a{99}){99}){99}){99})", "RE2"),
        ("(?P<a>a)(?P<a>b)", "same name"),
    ],
)
def test_an_expression_that_cannot_be_used_says_why(pattern: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        compile_extraction(pattern)


def test_group_names_stand_in_the_order_of_the_pattern() -> None:
    assert compile_extraction("(?P<b>.)(?P<a>.)").names == ("b", "a")


# --- envelope ----------------------------------------------------------------------------------


@pytest.mark.requirement("ENV-3")
@pytest.mark.parametrize("data", [{"state": "failed"}, [], None, False, 0, ""])
def test_a_success_yields_its_data_whatever_that_is(data: object) -> None:
    assert open_carrier(envelope(data=data), ENVELOPE) is data


MALFORMED = {
    "no object": ([], ""),
    "text": ("success", ""),
    "no outcome": (envelope(outcome=...), "/outcome"),
    "refused": (envelope(outcome="refused"), "/outcome"),
    "outcome of another type": (envelope(outcome=["success"]), "/outcome"),
    "no tool": (envelope(tool=...), "/tool"),
    "no request": (envelope(request_id=...), "/request_id"),
    "no data": (envelope(data=...), "/data"),
    "one more member": (envelope(debug=MARKER), "/debug"),
    "replayed": (envelope(replayed=True), "/replayed"),
    "data and error": (envelope(error={}), "/error"),
    "tool of another type": (envelope(tool=7), "/tool"),
    "tool of another form": (envelope(tool=f"a b {MARKER}"), "/tool"),
    "request of another type": (envelope(request_id=7), "/request_id"),
    "short request": (envelope(request_id="req"), "/request_id"),
    "request with a line feed": (envelope(request_id="req.J7q94MkP\n"), "/request_id"),
    "failure without error": (failure(error=...), "/error"),
    "failure with data": (failure(data={}), "/data"),
    "error that is a text": (failure(error=MARKER), "/error"),
    "error without code": (failure(error={"retryable": True}), "/error/code"),
    "error without retryable": (failure(error={"code": "NOT_FOUND"}), "/error/retryable"),
    "error with a message": (
        failure(error={"code": "NOT_FOUND", "retryable": True, "message": MARKER}),
        "/error/message",
    ),
    "code of another type": (failure(error={"code": 7, "retryable": True}), "/error/code"),
    "retryable as text": (
        failure(error={"code": "NOT_FOUND", "retryable": "true"}),
        "/error/retryable",
    ),
    "retryable as number": (
        failure(error={"code": "NOT_FOUND", "retryable": 1}),
        "/error/retryable",
    ),
    "code that nobody declared": (
        failure(error={"code": MARKER, "retryable": False}),
        "/error/code",
    ),
}


@pytest.mark.requirement("ENV-3", "RES-10")
@pytest.mark.parametrize(("value", "pointer"), MALFORMED.values(), ids=MALFORMED)
def test_an_envelope_is_held_to_its_closed_shape(value: object, pointer: str) -> None:
    assert refusal(value, ENVELOPE) == (Stage.UNWRAP, Code.ENVELOPE, pointer)


@pytest.mark.requirement("ENV-3")
def test_a_declared_failure_is_mapped_and_its_retryable_is_not_believed() -> None:
    outcome = open_carrier(failure(), ENVELOPE)
    assert isinstance(outcome, Rejected)
    assert (outcome.stage, outcome.code) == (Stage.UNWRAP, Code.TOOL_FAILED)
    assert outcome.mapped_code == "NOT_FOUND"
    assert (
        open_carrier(failure(error={"code": "NOT_FOUND", "retryable": False}), ENVELOPE) == outcome
    )


@pytest.mark.requirement("ENV-3", "RES-5")
@pytest.mark.parametrize(
    ("changes", "code", "pointer"),
    [
        ({"tool": "job_statuses"}, Code.WRONG_TOOL, "/tool"),
        ({"request_id": "req.J7q94Mkp"}, Code.WRONG_REQUEST, "/request_id"),
        ({"tool": "other", "request_id": "req.other"}, Code.WRONG_TOOL, "/tool"),
    ],
)
def test_a_failure_that_answers_another_question_is_not_ours(
    changes: dict[str, object], code: Code, pointer: str
) -> None:
    assert refusal(failure(**changes), ENVELOPE) == (Stage.VOUCH, code, pointer)


def test_every_unknown_member_is_told_cut_and_escaped_up_to_twenty() -> None:
    outcome = open_carrier(envelope(**{f"\x1b{n:02}/~" + "n" * 99: 1 for n in range(30)}), ENVELOPE)
    assert isinstance(outcome, Rejected)
    assert len(outcome.findings) == 20
    assert outcome.findings[0].pointer == "/\\u001b00~1~0" + "n" * 59 + "…"


# --- an MCP result -----------------------------------------------------------------------------

STRUCTURED = {"temp": 3}


@pytest.mark.requirement("RES-10")
@pytest.mark.parametrize("value", [STRUCTURED, [1], "plain", 0, False, None])
def test_structured_content_is_any_value_and_null_is_not_absent(value: object) -> None:
    assert open_carrier({"content": [], "structuredContent": value}, MCP) is value


@pytest.mark.requirement("RES-10")
@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_before_2026_07_28_structured_content_is_an_object(version: str) -> None:
    legacy = UpstreamPart(carrier="mcp", mcp_version=version)
    assert open_carrier({"content": [], "structuredContent": STRUCTURED}, legacy) == STRUCTURED
    for value in ([1], "plain", None):
        result = {"content": [], "structuredContent": value}
        assert refusal(result, legacy) == (Stage.UNWRAP, Code.ENVELOPE, "/structuredContent")


def test_what_the_protocol_admits_beside_the_answer_is_admitted() -> None:
    result = {
        "content": [{"type": "text", "text": "3C"}, {"type": "image", "data": "", "mimeType": ""}],
        "structuredContent": STRUCTURED,
        "isError": False,
        "resultType": "complete",
        "_meta": {"any": ["thing"]},
    }
    assert open_carrier(result, MCP) is STRUCTURED


def result(**changes: object) -> dict[str, object]:
    shaped: dict[str, object] = {"content": [], "structuredContent": STRUCTURED}
    shaped.update(changes)
    return {name: value for name, value in shaped.items() if value is not ...}


ILL_SHAPED = {
    "no object": ([], ""),
    "no content": (result(content=...), "/content"),
    "content null": (result(content=None), "/content"),
    "content object": (result(content={}), "/content"),
    "block that is a text": (result(content=["3C"]), "/content/0"),
    "block without type": (result(content=[{"text": "x"}]), "/content/0"),
    "block of odd type": (result(content=[{"type": 1}]), "/content/0"),
    "isError as text": (result(isError="false"), "/isError"),
    "isError null": (result(isError=None), "/isError"),
    "isError 0": (result(isError=0), "/isError"),
    "meta null": (result(_meta=None), "/_meta"),
    "unknown result type": (result(resultType="partial"), "/resultType"),
    "input required": (result(resultType="input_required"), "/resultType"),
    "result type null": (result(resultType=None), "/resultType"),
    "unknown member": (result(vendorDebug=MARKER), "/vendorDebug"),
    "JSON-RPC around it": ({"jsonrpc": "2.0", "id": 1, "result": result()}, "/id"),
}


@pytest.mark.requirement("RES-10")
@pytest.mark.parametrize(("value", "pointer"), ILL_SHAPED.values(), ids=ILL_SHAPED)
def test_an_mcp_result_is_held_to_its_closed_shape(value: object, pointer: str) -> None:
    assert refusal(value, MCP) == (Stage.UNWRAP, Code.ENVELOPE, pointer)
    failed = (
        {**value, "isError": True} if isinstance(value, dict) and "isError" not in value else value
    )
    assert refusal(failed, MCP)[1] is Code.ENVELOPE


@pytest.mark.requirement("RES-10")
@pytest.mark.parametrize("mapped", ["NOT_FOUND", None])
def test_a_failing_tool_is_mapped_as_declared(mapped: str | None) -> None:
    upstream = UpstreamPart(carrier="mcp", tool_failed=mapped)
    content = [{"type": "text", "text": MARKER}]
    for value in (result(isError=True), {"content": content, "isError": True}):
        outcome = open_carrier(value, upstream)
        assert isinstance(outcome, Rejected)
        assert (outcome.stage, outcome.code) == (Stage.UNWRAP, Code.TOOL_FAILED)
        assert outcome.mapped_code == mapped
        assert MARKER not in repr(outcome)


@pytest.mark.requirement("RES-10")
def test_a_text_is_never_promoted_to_data() -> None:
    value = {"content": [{"type": "text", "text": '{"temp": 3}'}]}
    assert refusal(value, MCP) == (Stage.UNWRAP, Code.STRUCTURED_MISSING, "/structuredContent")


def mcp_text(kind: Any, **rule: Any) -> UpstreamPart:
    return UpstreamPart(carrier="mcp", text=TextRule(kind=kind, **rule))


def text_result(text: object) -> dict[str, object]:
    return result(content=[{"type": "text", "text": text}], structuredContent=...)


@pytest.mark.requirement("RES-10")
@pytest.mark.parametrize(
    ("upstream", "text", "data"),
    [
        (mcp_text("json"), '{"temp": 3}', {"temp": 3}),
        (mcp_text("json"), " null\n", None),
        (mcp_text("plain"), "a\nb", {"text": "a\nb"}),
        (mcp_text("extract", pattern="(?P<t>[0-9]+)C"), "3C", {"t": "3"}),
    ],
)
def test_a_declared_text_is_read_from_the_one_block(
    upstream: UpstreamPart, text: str, data: object
) -> None:
    assert open_carrier(text_result(text), upstream) == data
    both = {**text_result(text), "structuredContent": {"result": text}}
    assert open_carrier(both, upstream) == data


@pytest.mark.requirement("RES-10")
@pytest.mark.parametrize(
    ("content", "pointer"),
    [
        ([], "/content"),
        ([{"type": "text", "text": "1"}, {"type": "text", "text": "1"}], "/content"),
        ([{"type": "text", "text": "1"}, {"type": "image"}], "/content"),
        ([{"type": "image"}], "/content"),
        ([{"type": "text"}], "/content/0/text"),
        ([{"type": "text", "text": 1}], "/content/0/text"),
        ([{"type": "text", "text": "1", "more": 1}], "/content/0/more"),
    ],
)
def test_a_declared_text_stands_alone(content: object, pointer: str) -> None:
    value = result(content=content)
    assert refusal(value, mcp_text("json")) == (Stage.UNWRAP, Code.ENVELOPE, pointer)


STRICT_TEXTS = {
    "NaN": ('{"sd": NaN}', Stage.PARSE, Code.NON_FINITE_NUMBER),
    "overflow": ('{"sd": 1e400}', Stage.PARSE, Code.NON_FINITE_NUMBER),
    "duplicate": ('{"a":1,"\\u0061":2}', Stage.PARSE, Code.DUPLICATE_MEMBER),
    "two documents": ("{}{}", Stage.PARSE, Code.TRAILING_DATA),
    "banner": ("Result: {}", Stage.PARSE, Code.NOT_JSON),
    "fence": ("```json\n{}\n```", Stage.PARSE, Code.NOT_JSON),
    "empty": ("", Stage.PARSE, Code.EMPTY),
    "cut": ('{"a":', Stage.PARSE, Code.TRUNCATED),
    "lone surrogate": ('"\\ud800"', Stage.PARSE, Code.LONE_SURROGATE),
    "BOM": ("\ufeff{}", Stage.PARSE, Code.NOT_UTF8),
    "too deep for the parser": ("[" * 5000 + "]" * 5000, Stage.BOUND, Code.TOO_DEEP),
}


@pytest.mark.requirement("RES-10", "RES-2")
@pytest.mark.parametrize(("text", "stage", "code"), STRICT_TEXTS.values(), ids=STRICT_TEXTS)
def test_a_json_text_is_parsed_as_strictly_as_an_answer(
    text: str, stage: Stage, code: Code
) -> None:
    assert refusal(text_result(text), mcp_text("json"))[:2] == (stage, code)


@pytest.mark.requirement("RES-10", "ARG-1", "ARG-2")
def test_the_rule_of_the_contract_holds_inside_a_text_too() -> None:
    rule = ParseRule(3, shape_guard(3), "i-json")
    assert open_carrier(text_result("[[[1]]]"), mcp_text("json"), rule) == [[[1]]]
    deep = open_carrier(text_result("[[[[1]]]]"), mcp_text("json"), rule)
    unsafe = open_carrier(text_result("9007199254740993"), mcp_text("json"), rule)
    assert isinstance(deep, Rejected)
    assert isinstance(unsafe, Rejected)
    assert (deep.code, unsafe.code) == (Code.TOO_DEEP, Code.UNSAFE_INTEGER)


MEMBERS = [
    *("tool", "request_id", "outcome", "data", "error", "code", "retryable"),
    *("content", "structuredContent", "isError", "_meta", "resultType", "type", "text", "x"),
]
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(MEMBERS) | st.text(max_size=3),
            inner,
            max_size=5,
        )
    ),
    max_leaves=10,
)


@given(
    JSON_VALUES,
    st.sampled_from([BARE, ENVELOPE, MCP, plain(3), mcp_text("json"), extract("(?P<a>.)")]),
)
def test_whatever_comes_there_is_a_verdict_and_nothing_is_changed(
    value: object, upstream: UpstreamPart
) -> None:
    before = json.dumps(value)
    outcome = open_carrier(value, upstream)
    assert json.dumps(value) == before
    if isinstance(outcome, Rejected):
        assert outcome.findings[0].code is outcome.code
