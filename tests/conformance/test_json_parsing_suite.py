"""JSONTestSuite (nst): what must be refused is, and every choice is written down."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import pytest

from sluicegate.checks.parsing import ParseRule, parse
from sluicegate.contracts.schemas.guards import shape_guard
from sluicegate.values.limits import ENGINE_MAX_DEPTH
from sluicegate.values.rejections import Rejected

SUITES: Final = os.environ.get("SLUICEGATE_SUITES")
RULE: Final = ParseRule(ENGINE_MAX_DEPTH, shape_guard(ENGINE_MAX_DEPTH), "any")

pytestmark = [
    pytest.mark.requirement("ARG-2", "RES-2"),
    pytest.mark.skipif(SUITES is None, reason="SLUICEGATE_SUITES names no folder of suites"),
]

DUPLICATES: Final = {
    # RFC 8259 section 4 leaves duplicate names open; ARG-2 refuses them.
    "y_object_duplicated_key.json": "DUPLICATE_MEMBER",
    "y_object_duplicated_key_and_value.json": "DUPLICATE_MEMBER",
}
CHOICES: Final = {
    "i_number_double_huge_neg_exp.json": "accepted",  # underflows to zero
    "i_number_huge_exp.json": "NON_FINITE_NUMBER",
    "i_number_neg_int_huge_exp.json": "NON_FINITE_NUMBER",
    "i_number_pos_double_huge_exp.json": "NON_FINITE_NUMBER",
    "i_number_real_neg_overflow.json": "NON_FINITE_NUMBER",
    "i_number_real_pos_overflow.json": "NON_FINITE_NUMBER",
    "i_number_real_underflow.json": "accepted",
    "i_number_too_big_neg_int.json": "accepted",  # integers are exact
    "i_number_too_big_pos_int.json": "accepted",
    "i_number_very_big_negative_int.json": "accepted",
    "i_object_key_lone_2nd_surrogate.json": "LONE_SURROGATE",
    "i_string_1st_surrogate_but_2nd_missing.json": "LONE_SURROGATE",
    "i_string_1st_valid_surrogate_2nd_invalid.json": "LONE_SURROGATE",
    "i_string_UTF-16LE_with_BOM.json": "NOT_UTF8",
    "i_string_UTF-8_invalid_sequence.json": "NOT_UTF8",
    "i_string_UTF8_surrogate_U+D800.json": "NOT_UTF8",
    "i_string_incomplete_surrogate_and_escape_valid.json": "LONE_SURROGATE",
    "i_string_incomplete_surrogate_pair.json": "LONE_SURROGATE",
    "i_string_incomplete_surrogates_escape_valid.json": "LONE_SURROGATE",
    "i_string_invalid_lonely_surrogate.json": "LONE_SURROGATE",
    "i_string_invalid_surrogate.json": "LONE_SURROGATE",
    "i_string_invalid_utf-8.json": "NOT_UTF8",
    "i_string_inverted_surrogates_U+1D11E.json": "LONE_SURROGATE",
    "i_string_iso_latin_1.json": "NOT_UTF8",
    "i_string_lone_second_surrogate.json": "LONE_SURROGATE",
    "i_string_lone_utf8_continuation_byte.json": "NOT_UTF8",
    "i_string_not_in_unicode_range.json": "NOT_UTF8",
    "i_string_overlong_sequence_2_bytes.json": "NOT_UTF8",
    "i_string_overlong_sequence_6_bytes.json": "NOT_UTF8",
    "i_string_overlong_sequence_6_bytes_null.json": "NOT_UTF8",
    "i_string_truncated-utf-8.json": "NOT_UTF8",
    "i_string_utf16BE_no_BOM.json": "NOT_UTF8",
    "i_string_utf16LE_no_BOM.json": "NOT_UTF8",
    "i_structure_500_nested_arrays.json": "TOO_DEEP",
    "i_structure_UTF-8_BOM_empty_object.json": "NOT_UTF8",
}


def verdicts(prefix: str) -> dict[str, str]:
    folder = Path(SUITES or "") / "json-test-suite" / "test_parsing"
    return {path.name: verdict(path.read_bytes()) for path in sorted(folder.glob(prefix + "*"))}


def verdict(raw: bytes) -> str:
    authentic: Any = raw
    outcome = parse(authentic, RULE)
    return str(outcome.code) if isinstance(outcome, Rejected) else "accepted"


def test_none_of_the_bad_texts_is_accepted() -> None:
    judged = verdicts("n_")
    assert len(judged) > 180
    assert {name for name, code in judged.items() if code in {"accepted", "INTERNAL"}} == set()


def test_every_one_of_the_95_good_texts_is_accepted_but_two_with_duplicate_names() -> None:
    judged = verdicts("y_")
    assert len(judged) == 95
    assert {name: code for name, code in judged.items() if code != "accepted"} == DUPLICATES


def test_what_the_rfc_leaves_open_is_decided_as_listed() -> None:
    assert verdicts("i_") == CHOICES
