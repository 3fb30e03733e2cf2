"""The rung that takes the answer out of its carrier (SPEC RES-10, ENV-3).

A bare answer is its own data. A text becomes data by declaration only. An MCP result or an
envelope is held to its closed shape, and a failure that it reports is a failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NewType

from sluicegate.checks.authentication import accept_unsigned
from sluicegate.checks.bounds import bound_answer
from sluicegate.checks.delivery import accept_delivery
from sluicegate.checks.parsing import ParsedAnswer, ParseRule, parse
from sluicegate.contracts.contract import TextRule, UpstreamPart
from sluicegate.contracts.extraction import compile_extraction
from sluicegate.contracts.schemas.guards import shape_guard
from sluicegate.values.codes import Code, Stage
from sluicegate.values.findings import MAX_FINDINGS, Finding
from sluicegate.values.json import json_type
from sluicegate.values.limits import ENGINE_MAX_DEPTH, Limits
from sluicegate.values.names import show_name
from sluicegate.values.pointers import escape_segment
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request, is_request_id, is_tool_name

Unwrapped = NewType("Unwrapped", object)

FIRST_OPEN_VERSION: Final = "2026-07-28"
"""From this MCP revision on ``structuredContent`` is any JSON value; before, an object."""
_ABSENT: Final = object()
_INNER_RULE: Final = ParseRule(ENGINE_MAX_DEPTH, shape_guard(ENGINE_MAX_DEPTH), "any")
_INNER_UPSTREAM: Final = UpstreamPart()

_SUCCESS: Final = frozenset({"tool", "request_id", "outcome", "data"})
ENVELOPE_STRINGS: Final = len(_SUCCESS) + 3
"""Strings of a success beside those of its data: four names, tool, request id and outcome."""
_FAILURE: Final = frozenset({"tool", "request_id", "outcome", "error"})
_ERROR: Final = frozenset({"code", "retryable"})
_RESULT: Final = frozenset({"content", "structuredContent", "isError", "_meta", "resultType"})
_TEXT_BLOCK: Final = frozenset({"type", "text", "annotations", "_meta"})


def unwrap(
    parsed: ParsedAnswer,
    upstream: UpstreamPart,
    request: Request,
    errors: Mapping[str, bool],
    inner: ParseRule = _INNER_RULE,
) -> Unwrapped | Rejected:
    """Return the data that stands in the carrier.

    ``errors`` are the contract's own codes; ``inner`` is the rule for a JSON document inside a
    text block. Rejects: ENVELOPE, STRUCTURED_MISSING, NOT_MATCHED; TOOL_FAILED with the mapped
    code; WRONG_TOOL or WRONG_REQUEST (stage vouch) for a failure that is not the answer to
    ``request``; TOO_LARGE (stage bound) for plain text over its limit; the parse codes (stage
    parse) for a text that is no JSON document. Source: SPEC RES-10, ENV-3; facts: mcp A1.
    """
    carrier = upstream.carrier
    if carrier == "envelope":
        value: Any = parsed
        try:
            # Four members, all of them named: the closed success shape, and an answer to ours.
            is_ours = (
                len(value) == 4
                and "data" in value
                and value["outcome"] == "success"
                and value["tool"] == request.tool
                and value["request_id"] == request.request_id
            )
        except (LookupError, TypeError):
            is_ours = False  # no object, or one of another shape
        value = value["data"] if is_ours else _open_envelope(parsed, request, errors)
    elif carrier == "mcp":
        value = _open_result(parsed, upstream, inner)
    elif upstream.text is None:
        value = parsed
    else:
        value = _read_text(parsed, upstream.text)
    minted: Any = value
    unwrapped: Unwrapped | Rejected = minted
    return unwrapped


def _read_text(value: object, rule: TextRule) -> object:
    """Apply the declared rule to the whole text; a JSON text has been parsed already."""
    if rule.kind == "json":
        return value
    if not isinstance(value, str):
        return _malformed("", "a text", value)
    if rule.kind == "plain":
        if len(value) > rule.max_chars:
            return Rejected.because(
                Stage.BOUND,
                Finding(
                    code=Code.TOO_LARGE,
                    received="string",
                    received_size=len(value),
                    limit=f"{rule.max_chars} characters",
                ),
            )
        return {"text": value}
    groups = compile_extraction(rule.pattern or "").match_whole(value)
    if groups is None:
        return Rejected.because(
            Stage.UNWRAP,
            Finding(
                code=Code.NOT_MATCHED,
                expected="a text that the declared expression matches from end to end",
                received="string",
                received_size=len(value),
            ),
        )
    return groups


# --- an envelope -------------------------------------------------------------------------------


def _open_envelope(value: object, request: Request, errors: Mapping[str, bool]) -> object:
    if type(value) is not dict:
        return _malformed("", "object", value)
    outcome = value.get("outcome")
    if outcome != "success" and outcome != "failure":
        return _malformed("/outcome", '"success" or "failure"', value.get("outcome", _ABSENT))
    findings = _hold_closed(value, _SUCCESS if outcome == "success" else _FAILURE, "")
    if findings:
        return Rejected.because(Stage.UNWRAP, *findings)
    tool, request_id = value["tool"], value["request_id"]
    if not (isinstance(tool, str) and is_tool_name(tool)):
        return _malformed("/tool", "the name of a tool", tool)
    if not (isinstance(request_id, str) and is_request_id(request_id)):
        return _malformed("/request_id", "a request id", request_id)
    if outcome == "success":
        return value["data"]
    return _refuse_failure(value["error"], tool, request_id, request, errors)


def _refuse_failure(
    error: object, tool: str, request_id: str, request: Request, errors: Mapping[str, bool]
) -> Rejected:
    """Refuse a failure: as TOOL_FAILED where it is ours and declared. ``retryable`` is ignored."""
    if type(error) is not dict:
        return _malformed("/error", "object", error)
    findings = _hold_closed(error, _ERROR, "/error")
    if findings:
        return Rejected.because(Stage.UNWRAP, *findings)
    code = error["code"]
    if not isinstance(code, str):
        return _malformed("/error/code", "string", code)
    if type(error["retryable"]) is not bool:
        return _malformed("/error/retryable", "boolean", error["retryable"])
    if tool != request.tool:
        return Rejected.because(Stage.VOUCH, Finding(code=Code.WRONG_TOOL, pointer="/tool"))
    if request_id != request.request_id:
        return Rejected.because(
            Stage.VOUCH, Finding(code=Code.WRONG_REQUEST, pointer="/request_id")
        )
    if code not in errors:
        return _malformed("/error/code", "a code that the contract declares", code)
    return Rejected(
        stage=Stage.UNWRAP,
        code=Code.TOOL_FAILED,
        findings=(Finding(code=Code.TOOL_FAILED, pointer="/error/code"),),
        mapped_code=code,
    )


# --- an MCP tool result ------------------------------------------------------------------------


def _open_result(value: object, upstream: UpstreamPart, inner: ParseRule) -> object:
    if type(value) is not dict:
        return _malformed("", "object", value)
    malformed = _judge_result_shape(value)
    if malformed is not None:
        return malformed
    if value.get("isError") is True:
        return Rejected(
            stage=Stage.UNWRAP,
            code=Code.TOOL_FAILED,
            findings=(Finding(code=Code.TOOL_FAILED, pointer="/isError"),),
            mapped_code=upstream.tool_failed,
        )
    if upstream.text is not None:
        return _read_text_block(value["content"], upstream.text, inner)
    if "structuredContent" not in value:
        return Rejected.because(
            Stage.UNWRAP,
            Finding(
                code=Code.STRUCTURED_MISSING,
                pointer="/structuredContent",
                hint="text is never promoted to data; declare upstream.text if the text is meant",
            ),
        )
    structured: object = value["structuredContent"]
    if upstream.mcp_version < FIRST_OPEN_VERSION and type(structured) is not dict:
        return _malformed(
            "/structuredContent", f"object (MCP before {FIRST_OPEN_VERSION})", structured
        )
    return structured


def _judge_result_shape(value: dict[str, object]) -> Rejected | None:
    unknown = _find_unknown(value, _RESULT, "")
    if unknown:
        return Rejected.because(Stage.UNWRAP, *unknown)
    if "resultType" in value and value["resultType"] != "complete":
        return _malformed("/resultType", '"complete", or absent', value["resultType"])
    content = value.get("content", _ABSENT)
    if type(content) is not list:
        return _malformed("/content", "array", content)
    for index, block in enumerate(content):
        if type(block) is not dict or type(block.get("type")) is not str:
            return _malformed(f"/content/{index}", "object with a string type", block)
    if "isError" in value and type(value["isError"]) is not bool:
        return _malformed("/isError", "boolean", value["isError"])
    if "_meta" in value and type(value["_meta"]) is not dict:
        return _malformed("/_meta", "object", value["_meta"])
    return None


def _read_text_block(content: object, rule: TextRule, inner: ParseRule) -> object:
    """Read the one text block; ``structuredContent``, where also sent, is not what was declared."""
    if type(content) is not list or len(content) != 1 or content[0]["type"] != "text":
        return _malformed("/content", "exactly one text block", content)
    block = content[0]
    unknown = _find_unknown(block, _TEXT_BLOCK, "/content/0")
    if unknown:
        return Rejected.because(Stage.UNWRAP, *unknown)
    text = block.get("text", _ABSENT)
    if type(text) is not str:
        return _malformed("/content/0/text", "string", text)
    if rule.kind != "json":
        return _read_text(text, rule)
    return _parse_inner(text.encode(), inner)


def _parse_inner(raw: bytes, inner: ParseRule) -> object:
    """Climb to a parsed value again, from the bytes of the text; nesting is counted anew."""
    delivered = accept_delivery(
        Receipt(adapter="text", adapter_version="1", endpoint="", raw=raw), _INNER_UPSTREAM
    )
    if isinstance(delivered, Rejected):
        return delivered
    limits = Limits(max_bytes=len(raw), max_depth=inner.max_depth)
    bounded = bound_answer(delivered, limits, True)
    if isinstance(bounded, Rejected):
        return bounded
    return parse(accept_unsigned(bounded), inner)


# --- findings ----------------------------------------------------------------------------------


def _hold_closed(value: dict[str, object], members: frozenset[str], at: str) -> list[Finding]:
    """Return findings unless the members are exactly ``members``."""
    missing = [
        Finding(code=Code.ENVELOPE, pointer=f"{at}/{name}", expected="present")
        for name in sorted(members - value.keys())
    ]
    return missing + _find_unknown(value, members, at)


def _find_unknown(value: dict[str, object], members: frozenset[str], at: str) -> list[Finding]:
    unknown = sorted(value.keys() - members)[:MAX_FINDINGS]
    return [
        Finding(
            code=Code.ENVELOPE,
            pointer=f"{at}/{escape_segment(show_name(name))}",
            expected="no member of this name",
        )
        for name in unknown
    ]


def _malformed(pointer: str, expected: str, received: object) -> Rejected:
    found = None if received is _ABSENT else json_type(received)
    return Rejected.because(
        Stage.UNWRAP,
        Finding(code=Code.ENVELOPE, pointer=pointer, expected=expected, received=found),
    )
