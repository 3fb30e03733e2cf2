"""The table of codes against the specification's own table (section 15)."""

from __future__ import annotations

import pytest

from sluicegate.values.codes import (
    CODES,
    FAILURE_CODES,
    REFUSED_CODES,
    AgentCode,
    Code,
    Side,
    Stage,
)

STAGES = {
    "register": "SCHEMA_META_INVALID SCHEMA_DIALECT SCHEMA_UNKNOWN_KEYWORD SCHEMA_UNKNOWN_FORMAT "
    "SCHEMA_REMOTE_REF SCHEMA_UNRESOLVED_REF SCHEMA_ID_COLLISION SCHEMA_PATTERN "
    "SCHEMA_DEFAULT_INVALID SCHEMA_OPEN_OBJECT SCHEMA_ROOT_NOT_OBJECT SCHEMA_TOO_COMPLEX "
    "TOOL_NAME_LENGTH TOOL_NAME_PATTERN X_MCP_HEADER_INVALID DUPLICATE_MEMBER CONTRACT_INVALID "
    "DEFINITION_CHANGED CACHE_STALE UNKNOWN_TOOL",
    "vendor": "VENDOR_ARRAY_WITHOUT_ITEMS VENDOR_UNSUPPORTED_KEYWORD VENDOR_TOPLEVEL_COMBINATOR "
    "VENDOR_NAME VENDOR_BUDGET",
    "bound": "TOO_LARGE TOO_DEEP",
    "fetch": "UPSTREAM_UNAVAILABLE UPSTREAM_TIMEOUT UPSTREAM_DENIED UPSTREAM_STATUS EXIT_STATUS "
    "CONTENT_TYPE BAD_ENCODING",
    "authenticate": "SIGNATURE_MISSING BAD_SIGNATURE WRONG_ISSUER SIGNATURE_WITHOUT_TIME REPLAYED",
    "parse": "EMPTY NOT_UTF8 NOT_JSON TRUNCATED TRAILING_DATA DUPLICATE_MEMBER NON_FINITE_NUMBER "
    "LONE_SURROGATE UNSAFE_INTEGER",
    "unwrap": "ENVELOPE STRUCTURED_MISSING NOT_MATCHED TOOL_FAILED",
    "narrow": "NOT_FOUND_AT UNMAPPED_VALUE UPSTREAM_NEW_MEMBER",
    "conform": "NOT_AN_OBJECT MISSING UNEXPECTED MISNAMED TYPE STRINGIFIED NULL ENUM CONST RANGE "
    "MULTIPLE_OF LENGTH PATTERN FORMAT ITEMS UNIQUE PROPERTIES DEPENDENT BRANCH FORBIDDEN "
    "REPEATED_INVALID_CALL",
    "vouch": "WRONG_TOOL WRONG_REQUEST WRONG_SUBJECT STALE FROM_FUTURE BAD_TIME FORBIDDEN_TEXT "
    "CHECK_FAILED",
    "check": "CHECK_FAILED",
    "authorize": "DENIED PDP_UNAVAILABLE",
    "admit": "QUOTA_EXCEEDED KEY_REUSED IN_PROGRESS EVIDENCE_REQUIRED KEY_MISSING "
    "QUOTA_UNAVAILABLE OUTCOME_UNKNOWN",
    "retry": "OUTCOME_UNKNOWN BUDGET_SPENT",
    "audit": "AUDIT_UNAVAILABLE APPEND_ONLY CHAIN_BROKEN CHAIN_SHORTER_THAN_ANCHOR",
    "internal": "INTERNAL",
}


def codes_of(stage: Stage) -> set[str]:
    return {str(code) for code, entry in CODES.items() if stage in entry.stages}


@pytest.mark.requirement("CODES")
@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_has_the_codes_of_the_specification(stage: str) -> None:
    assert codes_of(Stage(stage)) == set(STAGES[stage].split())


@pytest.mark.requirement("CODES")
def test_every_code_has_one_row_that_says_what_it_means() -> None:
    assert set(CODES) == set(Code)
    for code, entry in CODES.items():
        assert entry.code is code
        assert entry.summary.endswith(".")
        assert entry.stages


@pytest.mark.requirement("CODES", "ENV-1")
def test_before_dispatch_an_agent_sees_a_refusal_and_afterwards_a_failure() -> None:
    for code, entry in CODES.items():
        if entry.side is Side.LOAD:
            continue
        assert entry.before in REFUSED_CODES, code
        if entry.side in {Side.RESULT, Side.BOTH}:
            assert entry.after in FAILURE_CODES, code


@pytest.mark.requirement("CODES", "RES-8")
def test_a_result_that_nothing_maps_is_an_invalid_response_and_final() -> None:
    for stage in ("authenticate", "unwrap", "narrow", "vouch"):
        for name in STAGES[stage].split():
            entry = CODES[Code(name)]
            assert entry.after is AgentCode.INVALID_RESPONSE
            if entry.side is Side.RESULT:
                assert not entry.retryable


@pytest.mark.requirement("CODES")
def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        CODES[Code.INTERNAL] = CODES[Code.STALE]  # type: ignore[index]
