"""The rung that turns bytes into a value: strict JSON, one document, nothing repaired (ARG-2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NewType, overload

from jiter import from_json as _read_json

from sluicegate.checks.authentication import Authentic
from sluicegate.checks.bounds import BoundedArguments, find_excess, too_deep
from sluicegate.checks.parsing_faults import TextFault, find_fault
from sluicegate.checks.parsing_scan import SAFE_INTEGER
from sluicegate.checks.positions import locate_byte
from sluicegate.contracts.contract import Integers
from sluicegate.contracts.schemas.compiled import Predicate
from sluicegate.contracts.schemas.string_counts import StringCount
from sluicegate.values.codes import Code, Stage
from sluicegate.values.failures import INTERRUPTIONS
from sluicegate.values.findings import MAX_ENGINE_MESSAGE, Finding
from sluicegate.values.limits import ENGINE_MAX_DEPTH
from sluicegate.values.rejections import Rejected

ParsedArguments = NewType("ParsedArguments", object)
ParsedAnswer = NewType("ParsedAnswer", object)

_BOM: Final = b"\xef\xbb\xbf"
# Faults of a text that is otherwise whole: its nesting is judged by an earlier rung.
_LATER_THAN_BOUND: Final = frozenset({Code.NON_FINITE_NUMBER, Code.UNSAFE_INTEGER})
_BACKSLASH: Final = 0x5C
_QUOTE: Final = b'"'
_UNEXPLAINED: Final = Rejected(stage=Stage.PARSE, code=Code.NOT_JSON)
"""What a quick climb says, and nobody reads: the exact climb finds the code."""
_LONG_NUMBER: Final = re.compile(rb"[0-9]{16}|[0-9][eE]")


@dataclass(frozen=True, slots=True)
class ParseRule:
    """How strictly a text is read.

    ``guard`` refuses values deeper than ``max_depth`` and infinite numbers; None where the schema
    proves both. ``integers`` ``i-json`` refuses whole numbers beyond ±(2^53−1), however they are
    spelt. ``text``: the answer is declared text, not JSON; the value is the decoded string.
    ``strings`` counts those of a valid value, where the schema tells how many there are: it proves
    that no name stood twice. Under such a rule a value that is not valid may have lost members.
    ``explain``: the fault is looked for and placed; without it a refusal only says that it is one.
    """

    max_depth: int
    guard: Predicate | None
    integers: Integers
    text: bool = False
    strings: StringCount | None = None
    explain: bool = True


@overload
def parse(raw: BoundedArguments, rule: ParseRule) -> ParsedArguments | Rejected: ...
@overload
def parse(raw: Authentic, rule: ParseRule) -> ParsedAnswer | Rejected: ...
def parse(raw: bytes, rule: ParseRule) -> object:
    """Parse the text of a call's arguments, or of an answer.

    Rejects, with offset, line and column: EMPTY, NOT_UTF8, NOT_JSON, TRUNCATED, TRAILING_DATA,
    DUPLICATE_MEMBER, NON_FINITE_NUMBER, LONE_SURROGATE, UNSAFE_INTEGER (stage parse); TOO_DEEP
    (stage bound); INTERNAL where the engine fails. An integer of more than 4300 digits, which the
    engine does not read, is NON_FINITE_NUMBER. A parsed value is never an instance of Rejected.
    Source: SPEC ARG-2, RES-2.
    """
    if rule.text:
        return _decode(raw)
    strings = rule.strings
    try:
        if strings is None or _BACKSLASH in raw:
            value: object = _read_json(
                raw, allow_inf_nan=False, cache_mode="keys", catch_duplicate_keys=True
            )
        else:
            value = _read_json(raw, allow_inf_nan=False, cache_mode="keys")
            # Each string of a text without escapes has two quotation marks, and no other.
            if raw.count(_QUOTE) != 2 * strings(value):
                value = _read_json(
                    raw, allow_inf_nan=False, cache_mode="keys", catch_duplicate_keys=True
                )
        guard = rule.guard
        if guard is not None and not guard(value):
            return _explain(raw, rule, "the guard refuses what the scan accepts")
    except INTERRUPTIONS:
        raise
    except BaseException as error:  # noqa: BLE001  (whatever an engine raises is a refusal: RES-9)
        return _explain(raw, rule, str(error)[:MAX_ENGINE_MESSAGE])
    if rule.integers == "i-json" and _LONG_NUMBER.search(raw) and _holds_unsafe_integer(value):
        return _explain(raw, rule, "an integer is beyond 2^53-1 in the value, not in the text")
    return value


def _decode(raw: bytes) -> str | Rejected:
    if not raw.startswith(_BOM):
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            offset = error.start
    else:
        offset = 0
    return _reject(
        raw,
        TextFault(
            code=Code.NOT_UTF8,
            offset=offset,
            pointer="",
            hint="send plain UTF-8 without a byte order mark",
        ),
        None,
    )


def _holds_unsafe_integer(value: object) -> bool:
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, dict):
            waiting.extend(current.values())
        elif isinstance(current, list):
            waiting.extend(current)
        elif isinstance(current, int):
            if not -SAFE_INTEGER <= current <= SAFE_INTEGER:
                return True
        elif isinstance(current, float) and current.is_integer() and abs(current) > SAFE_INTEGER:
            return True  # JSON Schema calls it an integer too
    return False


def _explain(raw: bytes, rule: ParseRule, message: str) -> Rejected:
    """Tell by an own scan what the engine refused; what the scan accepts stays a refusal."""
    if not rule.explain:
        return _UNEXPLAINED
    depth = min(rule.max_depth, ENGINE_MAX_DEPTH)
    fault = find_fault(raw, max_depth=depth, i_json=rule.integers == "i-json")
    if fault is None:
        return Rejected.because(
            Stage.INTERNAL,
            Finding(code=Code.INTERNAL, hint="the parser refused the text for no known reason"),
            engine_message=message,
        )
    if fault.code is Code.TOO_DEEP:
        return too_deep(raw, fault.offset, depth, fault.pointer)
    excess = find_excess(raw, depth)
    if excess is not None and fault.code in _LATER_THAN_BOUND:
        return too_deep(raw, excess, depth)
    return _reject(raw, fault, message)


def _reject(raw: bytes, fault: TextFault, message: str | None) -> Rejected:
    line, column = locate_byte(raw, fault.offset)
    return Rejected.because(
        Stage.PARSE,
        Finding(
            code=fault.code,
            pointer=fault.pointer,
            hint=fault.hint,
            offset=fault.offset,
            line=line,
            column=column,
        ),
        engine_message=message,
    )
