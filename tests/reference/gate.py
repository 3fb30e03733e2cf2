"""A second gate: slow, plain, and independent of everything the first one is built from.

It uses the standard library's ``json`` and python-jsonschema with formats asserted, and brings its
own strictness for what those two let through. It shares no check with ``src``: only the types of
the question and the names of the stages. Both gates must agree on every corpus; where they may
not, ``exceptions.py`` says so by name and with the reason.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker, ValidationError, validators
from jsonschema.exceptions import SchemaError
from jsonschema_specifications import REGISTRY
from referencing import Registry
from referencing.exceptions import Unresolvable

from sluicegate.gates.verdicts import Question
from sluicegate.values.codes import Stage

Judgement = tuple[bool, Stage | None, str | None]
"""Accepted or not; the stage that refused; and the code, or the class of codes it is one of."""

ACCEPTED: Judgement = (True, None, None)
MAX_SAFE_INTEGER = 2**53 - 1
MAX_DIGITS = 4300
BLANKS = " \t\n\r"
FORBIDDEN_CATEGORIES = {"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"}


class Refused(Exception):  # noqa: N818  (it is a verdict that travels, not an error)
    """The first thing that does not hold."""

    def __init__(self, stage: Stage, code: str) -> None:
        super().__init__(stage, code)
        self.judgement: Judgement = (False, stage, code)


def judge_slowly(raw: bytes, question: Question, registry: Registry[Any] = REGISTRY) -> Judgement:
    """Return the verdict on ``raw``.

    Codes are exact but for three classes: ``SCHEMA`` (register), ``SYNTAX`` (what is not one JSON
    document: NOT_JSON, TRUNCATED, TRAILING_DATA) and ``CONFORM`` (every code of that stage).
    ``registry`` resolves references beside the schema; nothing is ever fetched.
    """
    try:
        validator = build_validator(question.schema, registry)
        bound(raw, question)
        value = parse(raw)
        if question.integers == "i-json":
            refuse_unsafe_integers(value)
        conform(value, validator)
        if question.side == "result":
            vouch(value, question)
    except Refused as refused:
        return refused.judgement
    return ACCEPTED


# --- register ----------------------------------------------------------------------------------


def build_validator(schema: Any, registry: Registry[Any]) -> Any:
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise Refused(Stage.REGISTER, "SCHEMA") from error
    return STRICT(schema, format_checker=FORMATS, registry=registry)


# --- bound -------------------------------------------------------------------------------------


def bound(raw: bytes, question: Question) -> None:
    if len(raw) > question.limits.max_bytes:
        raise Refused(Stage.BOUND, "TOO_LARGE")
    depth = 0
    inside_string = False
    escaped = False
    for byte in raw:
        if inside_string:
            if escaped:
                escaped = False
            elif byte == 0x5C:
                escaped = True
            elif byte == 0x22:
                inside_string = False
        elif byte == 0x22:
            inside_string = True
        elif byte in b"[{":
            depth += 1
            if depth > question.limits.max_depth:
                raise Refused(Stage.BOUND, "TOO_DEEP")
        elif byte in b"]}":
            depth = max(depth - 1, 0)


# --- parse -------------------------------------------------------------------------------------


def parse(raw: bytes) -> Any:
    if not raw.strip(BLANKS.encode()):
        raise Refused(Stage.PARSE, "EMPTY")
    try:
        text = raw.decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        raise Refused(Stage.PARSE, "NOT_UTF8") from error
    if text.startswith("\ufeff"):
        raise Refused(Stage.PARSE, "NOT_UTF8")
    start = len(text) - len(text.lstrip(BLANKS))
    try:
        value, end = DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise Refused(Stage.PARSE, "SYNTAX") from error
    if text[end:].strip(BLANKS):
        raise Refused(Stage.PARSE, "SYNTAX")
    for string in every_string(value):
        if any(0xD800 <= ord(character) <= 0xDFFF for character in string):
            raise Refused(Stage.PARSE, "LONE_SURROGATE")
    return value


def refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise Refused(Stage.PARSE, "DUPLICATE_MEMBER")
    return dict(pairs)


def refuse_constant(name: str) -> Any:
    raise Refused(Stage.PARSE, "NON_FINITE_NUMBER")


def read_float(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise Refused(Stage.PARSE, "NON_FINITE_NUMBER")
    return number


def read_integer(text: str) -> int:
    if len(text.lstrip("-")) > MAX_DIGITS:
        raise Refused(Stage.PARSE, "NON_FINITE_NUMBER")
    return int(text)


DECODER = json.JSONDecoder(
    object_pairs_hook=refuse_duplicates,
    parse_constant=refuse_constant,
    parse_float=read_float,
    parse_int=read_integer,
    strict=True,
)


def every_string(value: Any) -> Iterator[str]:
    """Every member name and every string value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from every_string(member)
    elif isinstance(value, list):
        for item in value:
            yield from every_string(item)


def refuse_unsafe_integers(value: Any) -> None:
    if isinstance(value, int) and abs(value) > MAX_SAFE_INTEGER:
        raise Refused(Stage.PARSE, "UNSAFE_INTEGER")
    if isinstance(value, dict):
        value = list(value.values())
    for child in value if isinstance(value, list) else ():
        refuse_unsafe_integers(child)


# --- conform -----------------------------------------------------------------------------------


def conform(value: Any, validator: Any) -> None:
    try:
        valid = validator.is_valid(value)
    except Unresolvable as error:
        raise Refused(Stage.REGISTER, "SCHEMA") from error
    if not valid:
        raise Refused(Stage.CONFORM, "CONFORM")


def match_like_ecma(
    validator: Any, pattern: str, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    """Python's ``$`` also matches before a last line feed, and its classes are not ASCII."""
    if validator.is_type(instance, "string"):
        python = re.sub(r"(?<!\\)\$$", r"\\Z", pattern)
        if re.search(python, instance, re.ASCII) is None:
            yield ValidationError("does not match")


STRICT = validators.extend(Draft202012Validator, {"pattern": match_like_ecma})
FORMATS = FormatChecker()
FORMATS.checkers = dict(Draft202012Validator.FORMAT_CHECKER.checkers)


@FORMATS.checks("date-time")
def is_date_time(instance: object) -> bool:
    """The schema's format admits ``-00:00``; freshness does not."""
    return not isinstance(instance, str) or read_time(instance.replace("-00:00", "Z")) is not None


# --- vouch -------------------------------------------------------------------------------------


def vouch(value: Any, question: Question) -> None:
    wanted_id = question.request_id
    if isinstance(value, dict) and wanted_id not in (None, value.get("request_id", wanted_id)):
        raise Refused(Stage.VOUCH, "WRONG_REQUEST")
    for pointer, wanted in question.bind.items():
        for found in every_place(value, list(pointer.segments)):
            if json.dumps(found, sort_keys=True) != json.dumps(wanted, sort_keys=True):
                raise Refused(Stage.VOUCH, "WRONG_SUBJECT")
    if question.fresh is not None:
        assert question.now is not None
        (text,) = every_place(value, list(question.fresh.at.segments))
        vouch_for_time(text, question.now, question.fresh.max_age_s, question.fresh.max_ahead_s)
    if any(is_forbidden(character) for string in every_string(value) for character in string):
        raise Refused(Stage.VOUCH, "FORBIDDEN_TEXT")


ABSENT = {"nothing stands here": []}
"""What ``every_place`` finds where nothing is: equal to no value that a row binds."""


def every_place(value: Any, segments: list[str]) -> list[Any]:
    if not segments:
        return [value]
    first, rest = segments[0], segments[1:]
    if isinstance(value, list) and first == "*":
        return [found for item in value for found in every_place(item, rest)]
    if isinstance(value, list) and first.isdecimal() and int(first) < len(value):
        return every_place(value[int(first)], rest)
    if isinstance(value, dict) and first in value:
        return every_place(value[first], rest)
    return [ABSENT]


def vouch_for_time(text: object, now: datetime, max_age_s: float, max_ahead_s: float) -> None:
    seconds = read_time(text) if isinstance(text, str) else None
    if seconds is None:
        raise Refused(Stage.VOUCH, "BAD_TIME")
    since_epoch = now - datetime(1970, 1, 1, tzinfo=UTC)
    present = Fraction(since_epoch.days * 86400 + since_epoch.seconds) + Fraction(
        since_epoch.microseconds, 1_000_000
    )
    if present - seconds > Fraction(max_age_s):
        raise Refused(Stage.VOUCH, "STALE")
    if seconds - present > Fraction(max_ahead_s):
        raise Refused(Stage.VOUCH, "FROM_FUTURE")


def read_time(text: str) -> Fraction | None:
    """Seconds since 1970, exactly; None for whatever is not RFC 3339 or has no known offset."""
    shape = re.fullmatch(
        r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)", text.upper(), re.ASCII
    )
    if shape is None or shape[5] == "-00:00" or re.search(r"[^0-9TtZz:.+-]", text):
        return None
    leap = shape[3] == "60"
    offset = "+00:00" if shape[5] == "Z" else shape[5]
    if int(offset[1:3]) > 23 or int(offset[4:6]) > 59:
        return None
    try:
        moment = datetime.fromisoformat(
            f"{shape[1]}T{shape[2]}:{'59' if leap else shape[3]}{offset}"
        )
        since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    whole = since.days * 86400 + since.seconds
    if leap and whole % 86400 != 86399:
        return None
    return Fraction(whole + leap) + Fraction("0" + (shape[4] or ".0"))


def is_forbidden(character: str) -> bool:
    """Control, format and tag characters, separators but the blank, and what is no character."""
    point = ord(character)
    if unicodedata.category(character) in FORBIDDEN_CATEGORIES and character != " ":
        return True
    if 0xE0000 <= point <= 0xE0FFF:
        return True
    return point & 0xFFFE == 0xFFFE or 0xFDD0 <= point <= 0xFDEF
