"""A wide answer mapped by pointers, tables and normalisers; members that are new."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluicegate.checks.narrowing import find_new_members, narrow
from sluicegate.checks.narrowing_members import list_members
from sluicegate.checks.narrowing_values import NORMALISERS, REFUSED
from sluicegate.contracts.contract import MapRule
from sluicegate.values.codes import CODES, Code, Stage
from sluicegate.values.instants import NANOS, parse_rfc3339
from sluicegate.values.pointers import Pointer
from sluicegate.values.rejections import Rejected

MARKER = "zqj-marker"
STATES = {"SUCCESS": "succeeded", "FAILURE": "failed"}


def at(text: str, **rule: Any) -> MapRule:
    return MapRule(at=Pointer.parse(text), **rule)


def build(document: object, **rules: MapRule) -> Any:
    unwrapped: Any = document
    return narrow(unwrapped, rules)


def findings(document: object, **rules: MapRule) -> list[tuple[Code, str]]:
    outcome = build(document, **rules)
    assert isinstance(outcome, Rejected), outcome
    assert outcome.stage is Stage.NARROW
    assert MARKER not in repr(outcome)
    for finding in outcome.findings:
        assert Stage.NARROW in CODES[finding.code].stages
    return [(finding.code, finding.pointer) for finding in outcome.findings]


@pytest.mark.parametrize("value", [{"a": 1}, [], None, 0])
def test_without_a_map_the_answer_passes_as_it_is(value: Any) -> None:
    assert narrow(value, None) is value


@pytest.mark.requirement("RES-3")
def test_what_no_rule_names_is_dropped() -> None:
    received = {"project": {"slug": "bluebird", "secret": MARKER}, "id": "run_1", "more": MARKER}
    built = build(received, project_id=at("/project/slug"), run_id=at("/id"))
    assert built == {"project_id": "bluebird", "run_id": "run_1"}


def test_a_rule_can_take_the_whole_answer_or_a_subtree_as_it_is() -> None:
    received = {"a": [{"b": None}]}
    assert build(received, all=at(""), some=at("/a/0"), null=at("/a/0/b")) == {
        "all": received,
        "some": {"b": None},
        "null": None,
    }


@pytest.mark.requirement("RES-3")
@pytest.mark.parametrize(
    ("pointer", "document"),
    [
        ("/a", {}),
        ("/a/b", {"a": None}),
        ("/a/b", {"a": "b"}),
        ("/a/0", {"a": []}),
        ("/a", []),
        ("/a", None),
        ("/a~1b", {"a": {"b": 1}}),
    ],
)
def test_a_pointer_that_finds_nothing_is_a_finding_unless_optional(
    pointer: str, document: object
) -> None:
    assert findings(document, member=at(pointer)) == [(Code.NOT_FOUND_AT, pointer)]
    assert build(document, member=at(pointer, optional=True)) == {}


@pytest.mark.requirement("RES-3")
@pytest.mark.parametrize(("received", "mapped"), STATES.items())
def test_a_value_is_mapped_by_its_table(received: str, mapped: str) -> None:
    assert build({"s": received}, state=at("/s", values=STATES)) == {"state": mapped}


@pytest.mark.requirement("RES-3")
@pytest.mark.parametrize(
    "received", [MARKER, "success", "SUCCESS ", "", None, 0, True, ["SUCCESS"], {"SUCCESS": 1}]
)
def test_a_value_outside_the_table_is_unmapped(received: object) -> None:
    assert findings({"s": received}, state=at("/s", values=STATES)) == [(Code.UNMAPPED_VALUE, "/s")]


@pytest.mark.parametrize("received", ["NEW", None, 7, 7.5, True])
def test_other_stands_for_every_scalar_outside_the_table(received: object) -> None:
    rule = at("/s", values=STATES, has_other=True, other=None)
    assert build({"s": received}, state=rule) == {"state": None}
    assert build({"s": "SUCCESS"}, state=rule) == {"state": "succeeded"}


@pytest.mark.parametrize("received", [[], {}, ["SUCCESS"]])
def test_other_does_not_stand_for_a_container(received: object) -> None:
    rule = at("/s", values=STATES, has_other=True, other="unknown")
    assert findings({"s": received}, state=rule) == [(Code.UNMAPPED_VALUE, "/s")]


def test_other_does_not_stand_for_what_is_absent() -> None:
    rule = at("/s", values=STATES, has_other=True, other="unknown")
    assert findings({}, state=rule) == [(Code.NOT_FOUND_AT, "/s")]


def test_a_number_is_mapped_by_its_text() -> None:
    rule = at("/s", convert="string", values={"1": "open", "true": "yes"})
    assert build({"s": 1}, state=rule) == {"state": "open"}
    assert build({"s": True}, state=rule) == {"state": "yes"}
    assert findings({"s": 1.0}, state=rule) == [(Code.UNMAPPED_VALUE, "/s")]


ROWS = at(
    "/rows",
    every=True,
    members={"id": at("/key"), "state": at("/s/now", values=STATES, optional=True)},
)


@pytest.mark.requirement("RES-3")
def test_every_item_of_an_array_becomes_one_object() -> None:
    received = {"rows": [{"key": 1, "s": {"now": "FAILURE"}}, {"key": 2, "x": MARKER}]}
    assert build(received, rows=ROWS) == {"rows": [{"id": 1, "state": "failed"}, {"id": 2}]}
    assert build({"rows": []}, rows=ROWS) == {"rows": []}


@pytest.mark.requirement("RES-3")
def test_findings_name_the_item_they_stand_in() -> None:
    received = {"rows": [{"key": 1}, {"s": {"now": MARKER}}, 7, None]}
    assert findings(received, rows=ROWS, gone=at("/gone")) == [
        (Code.NOT_FOUND_AT, "/rows/1/key"),
        (Code.UNMAPPED_VALUE, "/rows/1/s/now"),
        (Code.NOT_FOUND_AT, "/rows/2/key"),
        (Code.NOT_FOUND_AT, "/rows/3/key"),
        (Code.NOT_FOUND_AT, "/gone"),
    ]


@pytest.mark.parametrize("rows", [None, {}, "rows", 7])
def test_every_over_no_array_is_a_finding_even_where_the_member_is_optional(rows: object) -> None:
    rule = at("/rows", every=True, optional=True, members={})
    assert findings({"rows": rows}, rows=rule) == [(Code.NOT_FOUND_AT, "/rows/*")]
    assert build({}, rows=rule) == {}


def test_nested_members_start_where_their_object_stands() -> None:
    rule = at("/owner", optional=True, members={"name": at("/login"), "site": at("/site/url")})
    received = {"owner": {"login": "ada", "site": {"url": "u"}}}
    assert build(received, owner=rule) == {"owner": {"name": "ada", "site": "u"}}
    assert build({}, owner=rule) == {}
    assert findings({"owner": {"login": 1}}, owner=rule) == [(Code.NOT_FOUND_AT, "/owner/site/url")]


def test_at_most_twenty_findings_are_told() -> None:
    assert len(findings({"rows": [{}] * 100_000}, rows=ROWS)) == 20
    assert len(findings({}, **{f"m{n}": at("/gone") for n in range(50)})) == 20


# --- normalisers -------------------------------------------------------------------------------

CONVERTED: list[tuple[str, object, object]] = [
    ("integer", 7, 7),
    ("integer", -7.0, -7),
    ("integer", "7", 7),
    ("integer", "0", 0),
    ("integer", "-12", -12),
    ("integer", 2**80, 2**80),
    ("integer", "9007199254740993", 9007199254740993),
    ("integer", float(2**53 - 1), 2**53 - 1),
    ("integer", "9" * 64, int("9" * 64)),
    ("number", 7, 7),
    ("number", 7.5, 7.5),
    ("number", "7.50", 7.5),
    ("number", "-1e3", -1000.0),
    ("number", "9007199254740993", 9007199254740993),
    ("number", "0.0", 0.0),
    ("string", "a", "a"),
    ("string", 7, "7"),
    ("string", -(2**70), str(-(2**70))),
    ("string", True, "true"),
    ("string", False, "false"),
    ("boolean", True, True),
    ("boolean", "true", True),
    ("boolean", "false", False),
    ("epoch_s", 0, "1970-01-01T00:00:00Z"),
    ("epoch_s", 1796007600, "2026-11-30T03:00:00Z"),
    ("epoch_s", 1796007600.0, "2026-11-30T03:00:00Z"),
    ("epoch_s", -62_135_596_800, "0001-01-01T00:00:00Z"),
    ("epoch_s", 253_402_300_799, "9999-12-31T23:59:59Z"),
    ("epoch_ms", 1796007600123, "2026-11-30T03:00:00.123Z"),
    ("epoch_ms", 1796007600000, "2026-11-30T03:00:00.000Z"),
    ("epoch_ms", -1, "1969-12-31T23:59:59.999Z"),
]
IN_DOUBT: list[tuple[str, object]] = [
    *(
        ("integer", value)
        for value in ("-0", "007", "+7", "7.0", "1e3", " 7", "7\n", "", "0x7", "٧", "7_0", "9" * 65)
    ),
    *(("integer", value) for value in (True, None, 7.5, 1e300, float(2**53), math.inf, [7], {})),
    *(
        ("number", value)
        for value in (
            "NaN",
            "Infinity",
            "1e400",
            "1e-400",
            "-0",
            "-0.0",
            ".5",
            "5.",
            "+1",
            "01",
            "",
        )
    ),
    *(("number", value) for value in ("1,5", "0x1", " 1", True, None, math.inf, [1], "1" * 65)),
    *(("string", value) for value in (7.0, None, [], {}, 10**64)),
    *(("boolean", value) for value in ("True", "1", "yes", "", 1, 0, None, [])),
    *(("epoch_s", value) for value in ("1796007600", 1.5, True, None, 253_402_300_800, 1e300)),
    *(("epoch_s", value) for value in (1796007600123, -62_135_596_801, math.inf, [0])),
    *(("epoch_ms", value) for value in ("0", 0.5, True, None, 253_402_300_800_000)),
]


@pytest.mark.requirement("RES-3")
@pytest.mark.parametrize(("kind", "received", "normal"), CONVERTED)
def test_a_normaliser_converts_exactly(kind: Any, received: object, normal: object) -> None:
    built = build({"v": received}, member=at("/v", convert=kind))
    assert built == {"member": normal}
    assert type(built["member"]) is type(normal)


@pytest.mark.requirement("RES-3")
@pytest.mark.parametrize(("kind", "received"), IN_DOUBT)
def test_a_normaliser_in_doubt_refuses(kind: Any, received: object) -> None:
    rule = at("/v", convert=kind)
    assert findings({"v": received}, member=rule) == [(Code.UNMAPPED_VALUE, "/v")]


def test_a_finding_says_what_the_normaliser_takes_and_what_came() -> None:
    outcome = build({"v": None}, member=at("/v", convert="boolean"))
    (finding,) = outcome.findings
    assert finding.expected == 'a boolean, "true" or "false"'
    assert finding.received == "null"
    assert finding.hint == "needed for the member member"


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.from_regex(r"-?[0-9]{1,12}(\.[0-9]{1,4})?(e[+-]?[0-9]{1,3})?", fullmatch=True)
)


@pytest.mark.parametrize("kind", NORMALISERS)
@given(value=SCALARS)
def test_a_normaliser_never_raises_and_is_idempotent_on_what_it_yields(
    kind: str, value: object
) -> None:
    normal = NORMALISERS[kind].convert(value)
    if normal is not REFUSED and not kind.startswith("epoch"):
        assert NORMALISERS[kind].convert(normal) == normal


@given(st.integers(-62_135_596_800, 253_402_300_799), st.integers(0, 999))
def test_an_epoch_reads_back_as_the_same_instant(seconds: int, fraction: int) -> None:
    if seconds > -62_135_596_800:
        assert parse_rfc3339(str(NORMALISERS["epoch_s"].convert(seconds))) == seconds * NANOS
    milliseconds = seconds * 1000 + fraction
    text = str(NORMALISERS["epoch_ms"].convert(milliseconds))
    assert parse_rfc3339(text) == milliseconds * (NANOS // 1000)


JSON_VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["rows", "key", "s", "now", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON_VALUES)
def test_whatever_comes_there_is_a_verdict_and_nothing_is_changed(document: object) -> None:
    before = copy.deepcopy(document)
    outcome = build(document, rows=ROWS, state=at("/s", convert="string"))
    assert repr(document) == repr(before)
    if not isinstance(outcome, Rejected):
        assert outcome.keys() == {"rows", "state"}
        assert all(row.keys() <= {"id", "state"} for row in outcome["rows"])


# --- new members -------------------------------------------------------------------------------

RECORDED = {"id": 1, "rows": [{"a": 1}, {"b": [{"c": 2}]}], "a/b": {"~": [[{"d": 1}]]}, "e": {}}


def new_members(document: object, known: frozenset[str]) -> list[str]:
    unwrapped: Any = document
    found = find_new_members(unwrapped, known)
    assert {finding.code for finding in found} <= {Code.UPSTREAM_NEW_MEMBER}
    return [finding.pointer for finding in found]


def test_lists_every_member_with_a_star_for_items() -> None:
    assert list_members(RECORDED) == {
        *("/id", "/rows", "/rows/*/a", "/rows/*/b", "/rows/*/b/*/c"),
        *("/a~1b", "/a~1b/~0", "/a~1b/~0/*/*/d", "/e"),
    }


@pytest.mark.requirement("RES-3")
def test_an_answer_with_recorded_members_alone_has_nothing_new() -> None:
    known = list_members(RECORDED)
    assert new_members(RECORDED, known) == []
    assert new_members({"rows": [{"b": []}]}, known) == []
    assert new_members({}, known) == []


@pytest.mark.requirement("RES-3")
@pytest.mark.parametrize(
    ("document", "pointers"),
    [
        ({"id": 1, "new": MARKER}, ["/new"]),
        ({"rows": [{"a": 1}, {"a": 1, "z": 1}, {"z": 2}]}, ["/rows/*/z"]),
        ({"new": {"deeper": {"still": 1}}}, ["/new"]),
        ({"id": {"a": 1}}, ["/id/a"]),
        ({"x": 1, "rows": [{"y": 1}]}, ["/x", "/rows/*/y"]),
        ({"a": {"b": 1}}, ["/a"]),
        ({"A": 1, "id ": 1}, ["/A", "/id "]),
        ({"\x1b[2J": 1}, ["/\\u001b[2J"]),
        ({"n" * 70: 1}, ["/" + "n" * 64 + "…"]),
    ],
)
def test_a_member_that_never_came_before_is_told_once(document: object, pointers: object) -> None:
    assert new_members(document, list_members(RECORDED)) == pointers


def test_at_most_twenty_new_members_are_told() -> None:
    many: Mapping[str, int] = {f"n{index:05}": 1 for index in range(10_000)}
    found = new_members(many, frozenset())
    assert found == [f"/n{index:05}" for index in range(20)]


def test_a_deep_answer_is_walked_without_recursion() -> None:
    document: Any = 1
    for _ in range(5000):
        document = {"a": document}
    assert new_members(document, frozenset({"/a"})) == ["/a/a"]
    assert len(list_members(document)) == 5000


@given(JSON_VALUES)
def test_nothing_is_new_in_what_was_recorded(document: object) -> None:
    assert new_members(document, list_members(document)) == []
