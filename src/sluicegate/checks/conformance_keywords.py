"""One violated keyword → code and texts, which come from the contract alone (SPEC ARG-3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sluicegate.checks.conformance_names import find_near
from sluicegate.checks.conformance_spelling import parse_spelled, spelled_type
from sluicegate.checks.conformance_words import (
    clip,
    example_of,
    join_types,
    list_options,
    show_option,
    with_article,
)
from sluicegate.values.codes import Code
from sluicegate.values.findings import Finding
from sluicegate.values.json import JsonObject, canonical_text, json_type

_LIMITS: Final[Mapping[str, tuple[Code, str, str]]] = {
    "maximum": (Code.RANGE, "at most {}", ""),
    "minimum": (Code.RANGE, "at least {}", ""),
    "exclusiveMaximum": (Code.RANGE, "less than {}", ""),
    "exclusiveMinimum": (Code.RANGE, "more than {}", ""),
    "multipleOf": (Code.MULTIPLE_OF, "a multiple of {}", ""),
    "maxLength": (Code.LENGTH, "at most {}", "character"),
    "minLength": (Code.LENGTH, "at least {}", "character"),
    "maxItems": (Code.ITEMS, "at most {}", "item"),
    "minItems": (Code.ITEMS, "at least {}", "item"),
    "maxContains": (Code.ITEMS, "at most {} of the contained kind", "item"),
    "minContains": (Code.ITEMS, "at least {} of the contained kind", "item"),
    "maxProperties": (Code.PROPERTIES, "at most {}", "member"),
    "minProperties": (Code.PROPERTIES, "at least {}", "member"),
}
_TEXTS: Final[Mapping[str, tuple[Code, str]]] = {
    "contains": (Code.ITEMS, "at least one item of the contained kind"),
    "uniqueItems": (Code.UNIQUE, "items that differ from one another"),
    "items": (Code.ITEMS, "no further items"),
    "prefixItems": (Code.ITEMS, "no further items"),
    "unevaluatedItems": (Code.ITEMS, "no further items"),
    "propertyNames": (Code.PROPERTIES, "a member name that the contract admits"),
}


@dataclass(frozen=True, slots=True)
class Judged:
    """What a finding says: its code, and texts that come from the contract."""

    code: Code
    expected: str | None = None
    limit: str | None = None
    hint: str | None = None


def judge_keyword(keyword: str, value: object, parent: JsonObject) -> Judged:
    """Judge a violated keyword that looks at one value; ``parent`` is the schema it stands in."""
    limit = _LIMITS.get(keyword)
    if limit is not None:
        code, text, unit = limit
        shown = clip(canonical_text(parent.get(keyword)))
        counted = f"{shown} {unit}{'' if shown == '1' else 's'}" if unit else shown
        return Judged(code, text.format(counted), shown)
    if keyword == "pattern":
        pattern = clip(str(parent.get("pattern")))
        return Judged(Code.PATTERN, clip(f"a string that matches {pattern}"), pattern)
    if keyword == "format":
        form = str(parent.get("format"))
        return Judged(Code.FORMAT, clip(form), clip(form), example_of(form))
    text_of = _TEXTS.get(keyword)
    if text_of is not None:
        return Judged(*text_of)
    return Judged(Code.FORBIDDEN, hint="the contract forbids this value")


def judge_type(types: Sequence[str], value: object, path: Sequence[str | int]) -> Judged:
    """Judge a value of another type than ``types`` that stands at ``path``.

    NULL for null; STRINGIFIED for a string that spells one of ``types``; else TYPE.
    """
    expected = join_types(types)
    wanted = " or ".join(with_article(one) for one in expected.split(" or "))
    received = json_type(value)
    hint = f"send {wanted}, not {with_article(received)}"
    if value is None:
        return Judged(Code.NULL, expected, hint=f"send {wanted}; null is not admitted here")
    if isinstance(value, str):
        spelled = spelled_type(value, types)
        if spelled is not None:
            return Judged(
                Code.STRINGIFIED, expected, hint=f"send {with_article(spelled)}, not a string"
            )
    if isinstance(value, float) and "integer" in types:
        hint = "send a whole number"
    if isinstance(value, dict) and path and list(value) == [path[-1]]:
        hint = f"send {wanted}; the value is wrapped one level too deep"
    return Judged(Code.TYPE, expected, hint=hint)


def judge_options(code: Code, options: Sequence[object], value: object) -> Judged:
    """Judge a value that is none of ``options``; ``code`` is ENUM or CONST.

    NULL for null; STRINGIFIED for a string that spells an option that is no string; TYPE for a
    value of a type that no option has.
    """
    expected = list_options(options)
    if value is None:
        return Judged(Code.NULL, expected, hint="null is not admitted here")
    received = _broad_type(value)
    if not isinstance(value, str) and received not in {_broad_type(one) for one in options}:
        return Judged(Code.TYPE, expected, hint=f"{with_article(received)} is not admitted here")
    hint: str | None = None
    if isinstance(value, str):
        if "string" not in {_broad_type(one) for one in options}:
            code = Code.TYPE
        types = {json_type(option) for option in options} - {"string", "null"}
        if types and spelled_type(value, types) is not None:
            spelled = parse_spelled(value)
            for option in options:
                if json_type(option) == json_type(spelled) and option == spelled:
                    return Judged(
                        Code.STRINGIFIED,
                        expected,
                        hint=f"send {with_article(json_type(option))}, not a string",
                    )
        near = find_near(value, [option for option in options if isinstance(option, str)])
        hint = None if near is None else clip(f"did you mean {show_option(near)}")
    return Judged(code, expected, hint=hint)


def judge_ambiguous(branches: int) -> Judged:
    """Judge a value that fits more than one of ``branches`` alternatives."""
    return Judged(
        Code.BRANCH,
        f"exactly one of {branches} alternatives",
        hint="the value fits more than one: leave out what makes it ambiguous",
    )


def judge_tied(branches: int, nearest: Sequence[Finding]) -> Judged:
    """Judge a value that fits none of ``branches`` alternatives, all of them equally far away."""
    ways = dict.fromkeys(f"{finding.code} at {finding.pointer or '/'}" for finding in nearest)
    return Judged(
        Code.BRANCH,
        f"one of {branches} alternatives",
        hint=clip("mend one of these: " + ", or ".join(ways)),
    )


def _broad_type(value: object) -> str:
    """The JSON type, integers and other numbers as one."""
    name = json_type(value)
    return "number" if name == "integer" else name
