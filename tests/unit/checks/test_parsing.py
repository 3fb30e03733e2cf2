"""Bytes become a value only if they are one strict JSON document; else the fault is placed."""

from __future__ import annotations

import json
from typing import Any, Final

import jiter
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluicegate.checks.parsing import ParseRule, parse
from sluicegate.checks.parsing_faults import TextFault, find_fault
from sluicegate.contracts.schemas.guards import shape_guard
from sluicegate.contracts.schemas.string_counts import compile_string_count
from sluicegate.values.codes import Code
from sluicegate.values.findings import MAX_ENGINE_MESSAGE, Finding
from sluicegate.values.rejections import Rejected

GUARDED = ParseRule(32, shape_guard(32), "any")
PROVEN = ParseRule(32, None, "any")
I_JSON = ParseRule(32, shape_guard(32), "i-json")
TEXT = ParseRule(32, None, "any", text=True)


def read(raw: bytes, rule: ParseRule = GUARDED) -> Any:
    bounded: Any = raw
    return parse(bounded, rule)


def finding_of(raw: bytes, rule: ParseRule = GUARDED) -> Finding:
    outcome = read(raw, rule)
    assert isinstance(outcome, Rejected), outcome
    (finding,) = outcome.findings
    assert finding.code is outcome.code
    return finding


def fault_of(raw: bytes) -> tuple[str, int]:
    fault = find_fault(raw)
    assert isinstance(fault, TextFault)
    return str(fault.code), fault.offset


@pytest.mark.requirement("ARG-2", "RES-2")
@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b' {"a": [1, -2.5, true, null]}\r\n', {"a": [1, -2.5, True, None]}),
        (b'"caf\\u00e9 \\ud83d\\ude00"', "caf\u00e9 \U0001f600"),
        (b"12345678901234567890123", 12345678901234567890123),
        (b"0", 0),
        (b'{"a":1,"A":2,"\\u00e9":3,"e\\u0301":4}', {"a": 1, "A": 2, "\u00e9": 3, "e\u0301": 4}),
        (b'{"a":{"x":1},"b":{"x":1}}', {"a": {"x": 1}, "b": {"x": 1}}),
        (b'"\\u0000\\uffff\\u2028"', "\x00\uffff\u2028"),
        (b"1e-400", 0.0),
    ],
)
def test_one_strict_document_is_its_value(raw: bytes, value: object) -> None:
    assert read(raw) == value
    assert find_fault(raw) is None


@pytest.mark.requirement("ARG-2", "RES-2", "CODES")
@pytest.mark.parametrize(
    ("raw", "code", "offset"),
    [
        pytest.param(b"", "EMPTY", 0, id="nothing"),
        pytest.param(b" \t\r\n", "EMPTY", 0, id="blank"),
        pytest.param(b"\xef\xbb\xbf{}", "NOT_UTF8", 0, id="byte order mark"),
        pytest.param('{"a":1}'.encode("utf-16"), "NOT_UTF8", 0, id="utf-16 with mark"),
        pytest.param('{"a":1}'.encode("utf-16-le"), "NOT_UTF8", 0, id="utf-16le"),
        pytest.param('{"a":1}'.encode("utf-16-be"), "NOT_UTF8", 0, id="utf-16be"),
        pytest.param('{"a":1}'.encode("utf-32-le"), "NOT_UTF8", 0, id="utf-32le"),
        pytest.param('{"a":1}'.encode("utf-32-be"), "NOT_UTF8", 0, id="utf-32be"),
        pytest.param(b'{"a":"\xe9"}', "NOT_UTF8", 6, id="latin-1"),
        pytest.param(b'{"a":"\xed\xa0\xbd\xed\xb8\x80"}', "NOT_UTF8", 6, id="cesu-8"),
        pytest.param(b'"\xc0\xaf"', "NOT_UTF8", 1, id="overlong"),
        pytest.param(b'{"a":1}\xc3', "NOT_UTF8", 7, id="half a character after the document"),
        pytest.param(b"[\xc3", "NOT_UTF8", 1, id="half a character outside a string"),
        pytest.param(b"Last login\n{}", "NOT_JSON", 0, id="banner"),
        pytest.param(b"2026-11-30 INFO {}", "NOT_JSON", 0, id="log line"),
        pytest.param(b"[command]/opt/x\n{}", "NOT_JSON", 1, id="wrapper line"),
        pytest.param(b"<html></html>", "NOT_JSON", 0, id="html"),
        pytest.param(b"```json\n{}\n```", "NOT_JSON", 0, id="fence"),
        pytest.param(b"{'a': 1}", "NOT_JSON", 1, id="python repr"),
        pytest.param(b"[True]", "NOT_JSON", 1, id="python true"),
        pytest.param(b")]}'\n{}", "NOT_JSON", 0, id="xssi prefix"),
        pytest.param(b"[1,]", "NOT_JSON", 3, id="trailing comma in an array"),
        pytest.param(b'{"a":1,}', "NOT_JSON", 7, id="trailing comma in an object"),
        pytest.param(b'{"a":1/*x*/}', "NOT_JSON", 6, id="comment"),
        pytest.param(b'{"a" 1}', "NOT_JSON", 5, id="no colon"),
        pytest.param(b"[1 2]", "NOT_JSON", 3, id="no comma"),
        pytest.param(b"[1}", "NOT_JSON", 2, id="crossed brackets"),
        pytest.param(b"]", "NOT_JSON", 0, id="only a closing bracket"),
        pytest.param(b"[01]", "NOT_JSON", 1, id="leading zero"),
        pytest.param(b"[+1]", "NOT_JSON", 1, id="plus"),
        pytest.param(b"[5.]", "NOT_JSON", 1, id="no fraction"),
        pytest.param(b"[.5]", "NOT_JSON", 1, id="no integer part"),
        pytest.param(b"[1e]", "NOT_JSON", 1, id="no exponent"),
        pytest.param(b"[-]", "NOT_JSON", 1, id="only a sign"),
        pytest.param(b"nul", "TRUNCATED", 3, id="cut literal"),
        pytest.param(b"nulx", "NOT_JSON", 0, id="wrong literal"),
        pytest.param(b"nullx", "NOT_JSON", 0, id="continued literal"),
        pytest.param(b'["\\x"]', "NOT_JSON", 2, id="unknown escape"),
        pytest.param(b'["\\u12g4"]', "NOT_JSON", 2, id="bad hexadecimal"),
        pytest.param(b'["a\nb"]', "NOT_JSON", 3, id="raw line feed in a string"),
        pytest.param(b'{"a":1}\x00', "TRAILING_DATA", 7, id="trailing NUL"),
        pytest.param(b"{}{}", "TRAILING_DATA", 2, id="second document"),
        pytest.param(b"{}\n{}\n", "TRAILING_DATA", 3, id="ndjson"),
        pytest.param(b'{"a":1}\nWARN: deprecated', "TRAILING_DATA", 8, id="warning after"),
        pytest.param(b'"a" "b"', "TRAILING_DATA", 4, id="two strings"),
        pytest.param(b"{}\xc2\xa0", "TRAILING_DATA", 2, id="no-break space"),
        pytest.param(b'{"a":1,"a":2}', "DUPLICATE_MEMBER", 7, id="duplicate"),
        pytest.param(b'{"a":1,"\\u0061":2}', "DUPLICATE_MEMBER", 7, id="escaped duplicate"),
        pytest.param(b'{"":1,"":2}', "DUPLICATE_MEMBER", 6, id="empty name twice"),
        pytest.param(
            b'{"\xf0\x9f\x98\x80":1,"\\ud83d\\ude00":2}', "DUPLICATE_MEMBER", 10, id="emoji twice"
        ),
        pytest.param(b"NaN", "NON_FINITE_NUMBER", 0, id="nan"),
        pytest.param(b"[Infinity]", "NON_FINITE_NUMBER", 1, id="infinity"),
        pytest.param(b"[-Infinity]", "NON_FINITE_NUMBER", 1, id="minus infinity"),
        pytest.param(b"[1e400]", "NON_FINITE_NUMBER", 1, id="overflow"),
        pytest.param(b"[-1.0E+4096]", "NON_FINITE_NUMBER", 1, id="negative overflow"),
        pytest.param(b"[" + b"9" * 4301 + b"]", "NON_FINITE_NUMBER", 1, id="4301 digits"),
        pytest.param(b"[NaNs]", "NOT_JSON", 1, id="nan with more"),
        pytest.param(b"[nan]", "NOT_JSON", 1, id="lower-case nan"),
        pytest.param(b'["\\ud800"]', "LONE_SURROGATE", 2, id="leading half"),
        pytest.param(b'["x\\udc00"]', "LONE_SURROGATE", 3, id="trailing half"),
        pytest.param(b'["\\ude00\\ud83d"]', "LONE_SURROGATE", 2, id="halves in wrong order"),
        pytest.param(b'["\\ud83d\\u0041"]', "LONE_SURROGATE", 2, id="half and a letter"),
        pytest.param(b'["\\ud83dx\\ude00"]', "LONE_SURROGATE", 2, id="halves apart"),
        pytest.param(b'{"\\ud800":1}', "LONE_SURROGATE", 2, id="in a name"),
        pytest.param(b'["\\\\ud800\\ud800"]', "LONE_SURROGATE", 9, id="after an escaped one"),
    ],
)
def test_each_fault_has_its_code_and_offset(raw: bytes, code: str, offset: int) -> None:
    finding = finding_of(raw)
    assert (str(finding.code), finding.offset) == (code, offset)
    assert fault_of(raw) == (code, offset)


WHOLE = (
    '{"name": "caf\u00e9 \\u00e9 \\ud83d\\ude00 \\n\\\\", "n": [-0, -1.25e+10, 1E3], '
    '"t": true, "f": false, "z": null, "o": {}, "l": []}'
).encode()


@pytest.mark.requirement("ARG-2", "RES-2")
def test_every_proper_prefix_of_a_document_is_truncated() -> None:
    assert find_fault(WHOLE) is None
    wrong = {
        end: str(finding_of(WHOLE[:end]).code)
        for end in range(1, len(WHOLE))
        if str(finding_of(WHOLE[:end]).code) != "TRUNCATED"
    }
    assert wrong == {}


@pytest.mark.requirement("ARG-2")
@pytest.mark.parametrize("raw", [b"-", b"1.", b"1e", b"1e+", b"-0.", b'"', b'"\\u', b"t", b"["])
def test_a_scalar_that_breaks_off_is_truncated(raw: bytes) -> None:
    assert fault_of(raw) == ("TRUNCATED", len(raw))


@pytest.mark.requirement("ARG-2", "RES-2")
@pytest.mark.parametrize(
    ("raw", "pointer"),
    [
        (b'{"data":{"id":1,"id":2}}', "/data/id"),
        (b'[{"a":1},{"a":1,"a":2}]', "/1/a"),
        (b'{"a/b":{"x~y":1e400}}', "/a~1b/x~0y"),
        (b'{"a":[0,{"b":NaN}]}', "/a/1/b"),
        (b'{"a":{"b":1},"c":[[1],2e999]}', "/c/1"),
        (b'{"a":{"b":1} x', ""),
    ],
)
def test_the_pointer_names_the_place(raw: bytes, pointer: str) -> None:
    finding = finding_of(raw)
    assert (finding.pointer if pointer else "") == pointer


@pytest.mark.requirement("ARG-2", "ARG-3")
def test_names_of_the_other_side_are_cut_and_escaped() -> None:
    name = "\u202e" + "x" * 100
    raw = json.dumps({name: 0}, ensure_ascii=False)[:-1] + f', "{name}": 1}}'
    finding = finding_of(raw.encode())
    assert finding.pointer == "/\\u202e" + "x" * 63 + "\u2026"


@pytest.mark.requirement("ARG-2")
def test_line_and_column_count_bytes_from_one() -> None:
    finding = finding_of('{"\u00e9": 1,\n "\u00e9\u00e9": NaN}'.encode())
    assert (finding.offset, finding.line, finding.column) == (19, 2, 10)


@pytest.mark.requirement("ARG-1", "ARG-2")
def test_nesting_beyond_the_limit_is_a_refusal_of_the_earlier_rung() -> None:
    raw = b'{"a":1e400,"b":' + b"[" * 32 + b"]" * 32 + b"}"
    outcome = read(raw)
    assert (str(outcome.stage), str(outcome.code)) == ("bound", "TOO_DEEP")
    assert read(raw.replace(b"1e400", b"1")).code is outcome.code


@pytest.mark.requirement("ARG-1", "RES-1")
@pytest.mark.parametrize("raw", [b"[" * 201 + b"1" + b"]" * 201, b"[" * 100_000], ids=len)
def test_what_the_engine_finds_too_deep_is_too_deep(raw: bytes) -> None:
    outcome = read(raw, ParseRule(200, shape_guard(200), "any"))
    assert (str(outcome.stage), str(outcome.code)) == ("bound", "TOO_DEEP")
    assert outcome.findings[0].offset == 200


@pytest.mark.requirement("ARG-2")
@pytest.mark.parametrize(
    ("raw", "pointer"),
    [
        (b'{"id":9007199254740992}', "/id"),
        (b'{"ids":[1,-9007199254740992]}', "/ids/1"),
        (b'{"s":"1234567890123456","id":12345678901234567890}', "/id"),
        (b'{"id":9007199254740993.0}', "/id"),
        (b'{"id":9.007199254740993e15}', "/id"),
        (b'{"id":-1E20}', "/id"),
    ],
)
def test_i_json_refuses_whole_numbers_that_a_double_rounds(raw: bytes, pointer: str) -> None:
    finding = finding_of(raw, I_JSON)
    assert (str(finding.code), finding.pointer) == ("UNSAFE_INTEGER", pointer)
    assert not isinstance(read(raw, GUARDED), Rejected)


@pytest.mark.requirement("ARG-2")
@pytest.mark.parametrize(
    "raw", [b"9007199254740991", b"-9007199254740991", b'"12345678901234567890"'], ids=str
)
def test_i_json_admits_what_it_need_not_refuse(raw: bytes) -> None:
    assert read(raw, I_JSON) == json.loads(raw)


@pytest.mark.requirement("ARG-2")
def test_without_a_guard_the_schema_has_proved_what_the_guard_would_watch() -> None:
    assert read(b"[1]", PROVEN) == [1]


ROWS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
                "required": ["id"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["rows"],
    "additionalProperties": False,
}
COUNTED = ParseRule(32, None, "any", strings=compile_string_count(ROWS))


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b'{"rows":[],"rows":[]}', id="a member twice"),
        pytest.param(b'{"rows":[{"id":1}],"rows":[{"id":1,"name":"a"}]}', id="the longer last"),
        pytest.param(b'{"rows":[{"id":1,"name":"a"}],"rows":[{"id":1}]}', id="the longer first"),
        pytest.param(b'{"rows":[{"id":1},{"id":2,"id":3}]}', id="in an item"),
        pytest.param(b'{"rows":[{"id":1,"name":"a","name":"b"}]}', id="an optional one twice"),
        pytest.param(b'{"rows":[{"id":1,"\\u0069d":2}]}', id="spelt with an escape"),
        pytest.param(b'{"rows":[{"id":1,"id":2,"name":"\\""}]}', id="beside an escaped quote"),
        pytest.param(b'{"rows":[],"a":{},"a":{}}', id="in a value of another shape"),
    ],
)
def test_a_count_of_strings_finds_each_repeated_name(raw: bytes) -> None:
    assert compile_string_count(ROWS) is not None
    assert read(raw, COUNTED) == read(raw)
    assert finding_of(raw, COUNTED).code is Code.DUPLICATE_MEMBER


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b'{"rows":[{"id":1,"name":"a"},{"id":2}]}', id="valid"),
        pytest.param(b'{"rows":[{"id":1,"name":"\\" \\u0022 \\\\"}]}', id="escapes"),
        pytest.param(b'{"rows":[{"id":1,"name":"caf\xc3\xa9"}]}', id="not ASCII"),
        pytest.param(b'{"rows":1}', id="of another shape"),
        pytest.param(b"[]", id="no object"),
    ],
)
def test_a_count_of_strings_changes_no_value(raw: bytes) -> None:
    assert read(raw, COUNTED) == read(raw)
    assert not isinstance(read(raw), Rejected)


@pytest.mark.requirement("RES-9")
def test_a_guard_that_refuses_for_no_visible_reason_closes_the_ladder() -> None:
    outcome = read(b"[1]", ParseRule(32, lambda value: False, "any"))
    assert (str(outcome.stage), str(outcome.code)) == ("internal", "INTERNAL")


@pytest.mark.requirement("RES-9")
def test_a_guard_that_raises_closes_the_ladder() -> None:
    def broken(value: object) -> bool:
        raise RuntimeError("engine")

    outcome = read(b"[1]", ParseRule(32, broken, "any"))
    assert (str(outcome.code), outcome.engine_message) == ("INTERNAL", "engine")


@pytest.mark.requirement("RES-10")
@pytest.mark.parametrize("raw", [b"", b"plain", "caf\u00e9 {".encode()], ids=str)
def test_declared_text_is_only_decoded(raw: bytes) -> None:
    assert read(raw, TEXT) == raw.decode()


@pytest.mark.requirement("RES-10")
@pytest.mark.parametrize(
    ("raw", "offset"), [(b"a\xff", 1), (b"\xef\xbb\xbfa", 0), (b"\xed\xa0\x80", 0)], ids=str
)
def test_declared_text_must_be_utf8(raw: bytes, offset: int) -> None:
    outcome = read(raw, TEXT)
    assert isinstance(outcome, Rejected)
    assert (str(outcome.stage), str(outcome.code)) == ("parse", "NOT_UTF8")
    assert outcome.findings[0].offset == offset


@pytest.mark.requirement("RES-8")
def test_the_engines_text_goes_to_custody_and_is_cut() -> None:
    outcome = read(b'{"' + b"k" * 9000 + b'":1,"' + b"k" * 9000 + b'":2}')
    assert outcome.engine_message is not None
    assert len(outcome.engine_message) == MAX_ENGINE_MESSAGE
    assert "kkkk" * 20 not in repr(outcome.findings)


@pytest.mark.requirement("ARG-2")
@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b'["' + b'\\"' * 400_000, id="escaped quotes"),
        pytest.param(b'["' + b"\\u0041" * 150_000, id="escapes"),
        pytest.param(b"[" + b"1" * 900_000, id="digits"),
        pytest.param(b"[" + b" " * 900_000, id="blanks"),
        pytest.param(b"[" + b"0," * 100_000, id="items"),
    ],
)
def test_hostile_texts_of_a_megabyte_are_classified(raw: bytes) -> None:
    assert str(finding_of(raw).code) in {"TRUNCATED", "NON_FINITE_NUMBER"}


PIECES = st.sampled_from(
    [
        *b'{}[],:"\\ \n\x00'.decode(),
        *("0", "-1.5e3", "1e999", "01", "NaN", "-Infinity", "true", "nul", "null"),
        *('"a"', '"\u00e9"', '"a":1,', '"b": [],', "\\u0061", "\\ud83d", "\\ude00", "//", "1,2,"),
    ]
)


@pytest.mark.requirement("ARG-2")
@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(PIECES, max_size=12), st.sampled_from([b"", b"\xc3", b"\xa9", b"\xef\xbb\xbf"]))
def test_the_own_scan_finds_a_fault_exactly_where_the_rules_are_broken(
    pieces: list[str], ending: bytes
) -> None:
    raw = "".join(pieces).encode() + ending
    try:
        value = jiter.from_json(raw, allow_inf_nan=False, catch_duplicate_keys=True)
        sound = "inf" not in repr(value)  # no piece holds that text
    except ValueError:
        sound = False
    fault = find_fault(raw)
    assert (fault is None) == sound
    assert fault is None or 0 <= fault.offset <= len(raw)
