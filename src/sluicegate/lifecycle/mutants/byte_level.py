"""Texts that are no longer one sound JSON document, or larger or deeper than their limits (B3)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from sluicegate.lifecycle.mutants.mutant import Mutant, spell
from sluicegate.values.codes import Stage
from sluicegate.values.json import JsonValue
from sluicegate.values.limits import Limits
from sluicegate.values.pointers import escape_segment

_SMALL: Final = 256
"""Up to so many bytes a text is cut at every byte; a longer one at as many places, evenly."""

_PLACES: Final = 64
"""Members of one text that are repeated, outside in: the parser knows no others."""

_NUMBER: Final = re.compile(rb"(?<=[:\[,])(-?\d+(?:\.\d+)?)(?=[,}\]])")
_LITERAL: Final = re.compile(rb"(?<=[:\[,])(true|false|null)(?=[,}\]])")
_TEXT: Final = re.compile(rb'(?<=[:\[,])"((?:[^"\\]|\\.)*)"(?=[,}\]])')
_MEMBER: Final = re.compile(rb'(?<=[{,])("(?:[^"\\]|\\.)*"):')

_AROUND: Final[Mapping[str, tuple[bytes, bytes]]] = {
    "bom": (b"\xef\xbb\xbf", b""),
    "trailing-text": (b"", b" done"),
    "trailing-comma-after": (b"", b","),
    "second-document": (b"", b"\n{}"),
    "closing-bracket": (b"", b"}"),
    "nul-after": (b"", b"\x00"),
    "invalid-utf8-after": (b"", b"\xff"),
    "banner": (b"Welcome to host one.\n", b""),
    "log-line": (b"2026-01-01 12:00:00 INFO started\n", b""),
    "fence": (b"```json\n", b"\n```"),
    "prose-before": (b"Here is the result: ", b""),
    "prose-after": (b"", b"\nI hope this helps."),
    "comment-before": (b"/* ok */ ", b""),
    "comment-after": (b"", b" // ok"),
    "callback": (b"callback(", b")"),
    "event-stream": (b"data: ", b"\n\n"),
    "no-break-space": (b"\xc2\xa0", b""),
    "guard-prefix": (b")]}',\n", b""),
}
_WHOLE: Final[Mapping[str, bytes]] = {
    "empty": b"",
    "blank": b" \n\t ",
    "html-page": b"<!DOCTYPE html><html><body>Sign in</body></html>",
    "plain-text": b"error: not found",
    "undefined": b"undefined",
}
_NUMBERS: Final[Mapping[str, bytes]] = {
    "nan": b"NaN",
    "infinity": b"Infinity",
    "minus-infinity": b"-Infinity",
    "overflow": b"1e400",
    "leading-zero": b"01",
    "plus-sign": b"+1",
    "bare-fraction": b".5",
    "trailing-point": b"1.",
    "hexadecimal": b"0x1F",
    "digit-separator": b"1_000",
}
_LITERALS: Final[Mapping[str, bytes]] = {
    "python-true": b"True",
    "python-none": b"None",
    "upper-case": b"NULL",
}
_TEXTS: Final[Mapping[str, bytes]] = {
    "raw-line-feed": b'"a\nb"',
    "raw-tab": b'"a\tb"',
    "raw-nul": b'"a\x00b"',
    "bad-escape": b'"a\\xb"',
    "short-escape": b'"a\\u12"',
    "lone-high-surrogate": b'"\\ud800"',
    "lone-low-surrogate": b'"\\udc00"',
    "invalid-utf8": b'"\xff"',
    "overlong-utf8": b'"\xc0\xaf"',
    "cesu-surrogate": b'"\xed\xa0\x80"',
    "single-quotes": b"'a'",
    "unquoted": b"a",
    "unclosed": b'"a',
}


def mutate_bytes(raw: bytes, limits: Limits) -> Iterator[Mutant]:
    """Yield the byte mutants of ``raw``, one sound JSON document within ``limits``.

    Stage bound for those beyond a limit, parse for all others; the same ones each time. Yields
    nothing where ``raw`` is no object or array: a number that is cut short is a number still.
    Raises: ValueError where ``raw`` is no JSON. Source: facts lifecycle B3; SPEC ARG-1, ARG-2.
    """
    value = json.loads(raw)
    if not isinstance(value, dict | list):
        return
    text = spell(value)
    yield from _beyond(text, limits)
    for operator, (before, after) in _AROUND.items():
        yield _parse(operator, before + text + after)
    for operator, whole in _WHOLE.items():
        yield _parse(operator, whole)
    yield _parse("utf16", text.decode().encode("utf-16"))
    yield _parse("utf16-plain", text.decode().encode("utf-16-le"))
    yield _parse("trailing-comma", text[:-1] + b"," + text[-1:])
    if value:
        yield _parse("leading-comma", text[:1] + b"," + text[1:])
    yield from _repeated(value)
    yield from _misspelt(text)
    yield from _cut(text)


def mutate_text(raw: bytes, limits: Limits) -> Iterator[Mutant]:
    """Yield the byte mutants of a text that was declared as one, and is no JSON document."""
    padding = b" " * (limits.max_bytes - len(raw) + 1)
    yield _mutant("padded-beyond-limit", raw + padding, Stage.BOUND)
    yield _parse("bom", b"\xef\xbb\xbf" + raw)
    for operator, broken in (
        ("invalid-utf8-after", b"\xff"),
        ("overlong-utf8-after", b"\xc0\xaf"),
        ("cesu-surrogate-after", b"\xed\xa0\x80"),
    ):
        yield _parse(operator, raw + broken)


def _beyond(text: bytes, limits: Limits) -> Iterator[Mutant]:
    padding = b" " * (limits.max_bytes - len(text) + 1)
    yield _mutant("padded-beyond-limit", text + padding, Stage.BOUND)
    yield _mutant("padded-before", padding + text, Stage.BOUND)
    long_text = b"x" * limits.max_bytes
    yield _mutant("long-text", text[:1] + b'"' + long_text + b'"' + text[-1:], Stage.BOUND)
    many = b"[" + b",".join(b"%d" % index for index in range(limits.max_bytes // 2)) + b"]"
    yield _mutant("many-items", many, Stage.BOUND)
    deep = limits.max_depth + 1
    for operator, opening, closing in (
        ("deep-arrays", b"[" * deep, b"]" * deep),
        ("deep-objects", b'{"a":' * deep + b"0", b"}" * deep),
        ("deep-mixed", b'[{"a":' * deep + b"0", b"}]" * deep),
    ):
        if len(opening) + len(closing) <= limits.max_bytes:
            yield _mutant(operator, opening + closing, Stage.BOUND)
            yield _mutant(f"{operator}-unclosed", opening, Stage.BOUND)


def _repeated(value: JsonValue) -> Iterator[Mutant]:
    """Each member twice: the same name, with another value first, and the name by its escape."""
    for at, name, member, before, after in islice(_members(value), _PLACES):
        key, spelt = spell(name), spell(member)
        for operator, first, pair in (
            ("repeated-member", key, spelt),
            ("repeated-member-null", key, b"null"),
            ("repeated-by-escape", _escaped(name), spelt),
        ):
            yield _parse(
                f"{operator}{at.replace('/', '.')}",
                before + first + b":" + pair + b"," + key + b":" + spelt + after,
                at,
            )


def _members(
    value: JsonValue, at: str = "", before: bytes = b"", after: bytes = b""
) -> Iterator[tuple[str, str, JsonValue, bytes, bytes]]:
    """Yield each member with the text that stands before and after it; of an array one item."""
    if isinstance(value, Mapping):
        items = list(value.items())
        for index, (name, member) in enumerate(items):
            left = b"".join(spell(key) + b":" + spell(each) + b"," for key, each in items[:index])
            right = b"".join(
                b"," + spell(key) + b":" + spell(each) for key, each in items[index + 1 :]
            )
            here = f"{at}/{escape_segment(name)}"
            head, tail = before + b"{" + left, right + b"}" + after
            yield here, name, member, head, tail
            yield from _members(member, here, head + spell(name) + b":", tail)
    elif isinstance(value, list | tuple) and value:
        rest = b"".join(b"," + spell(each) for each in value[1:])
        yield from _members(value[0], f"{at}/0", before + b"[", rest + b"]" + after)


def _escaped(name: str) -> bytes:
    if not name:
        return b'""'
    head = name[0].encode("utf-16-be")
    units = b"".join(b"\\u%02x%02x" % (head[i], head[i + 1]) for i in range(0, len(head), 2))
    return b'"' + units + spell(name[1:])[1:]


def _misspelt(text: bytes) -> Iterator[Mutant]:
    """Spellings that are not JSON, in the place of the first value of each kind."""
    for pattern, spellings in (
        (_NUMBER, _NUMBERS),
        (_LITERAL, _LITERALS),
        (_TEXT, _TEXTS),
        (_TEXT, _NUMBERS),
    ):
        found = pattern.search(text)
        if found is None:
            continue
        prefix = "in-text-" if pattern is _TEXT and spellings is _NUMBERS else ""
        for operator, spelling in spellings.items():
            yield _parse(
                f"{prefix}{operator}", text[: found.start()] + spelling + text[found.end() :]
            )
    member = _MEMBER.search(text)
    if member is not None:
        name = member[1]
        for operator, spelling in (
            ("unquoted-name", b"a"),
            ("single-quoted-name", b"'a'"),
            ("number-as-name", b"1"),
            ("no-colon", name + b" "),
        ):
            colon = b"" if operator == "no-colon" else b":"
            yield _parse(operator, text[: member.start()] + spelling + colon + text[member.end() :])


def _cut(text: bytes) -> Iterator[Mutant]:
    count = min(len(text) - 1, _SMALL)
    for index in range(count):
        end = 1 + index * (len(text) - 1) // count
        yield _parse(f"cut-at-{end}", text[:end])


def _parse(operator: str, raw: bytes, pointer: str = "") -> Mutant:
    return _mutant(operator, raw, Stage.PARSE, pointer)


def _mutant(operator: str, raw: bytes, stage: Stage, pointer: str = "") -> Mutant:
    return Mutant(name=operator, level="byte", pointer=pointer, raw=raw, stage=stage)
