"""Characters that no name or value of an accepted answer may hold (SPEC RES-5, FORBIDDEN_TEXT).

Forbidden everywhere: control characters, format characters (direction, zero width, soft hyphen),
tag characters and the rest of that invisible block, separators of lines and paragraphs, halves of
surrogate pairs, noncharacters. Blanks other than U+0020 are separators too: they make two
different names look alike. Declared free text may hold TAB and LF, and the wide and narrow blanks
that typography asks for (U+00A0 in French, U+3000 in Japanese); the names in it may not.
Private-use and unassigned characters are none of these and pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from jsonschema_rs import Draft202012Validator, RegexOptions

from sluicegate.contracts.schemas.compiled import Predicate
from sluicegate.values.codes import Code
from sluicegate.values.findings import MAX_FINDINGS, Finding
from sluicegate.values.json import JsonValue
from sluicegate.values.names import show_name
from sluicegate.values.pointers import EVERY, Pointer, join_segments

_TAGS: Final = "\U000e0000-\U000e0fff"  # tags, variation selectors supplement: nothing that shows
_FORMAT: Final = (
    "\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e"  # soft hyphen; by script
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # zero width, direction
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
)
_SEPARATORS: Final = "\u2028\u2029"
_BLANKS: Final = "\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
_NONCHARACTERS: Final = "\ufdd0-\ufdef\ufffe\uffff" + "".join(
    f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0x110000, 0x10000)
)
_SURROGATES: Final = "\ud800-\udfff"
_ALWAYS: Final = f"\x7f-\x9f{_SURROGATES}{_FORMAT}{_TAGS}{_SEPARATORS}{_NONCHARACTERS}"
_NOT_STRICT: Final = f"\x00-\x1f{_BLANKS}{_ALWAYS}"
_NOT_FREE: Final = f"\x00-\x08\x0b-\x1f{_ALWAYS}"

FORBIDDEN: Final = re.compile(f"[{_NOT_STRICT}]")
FORBIDDEN_IN_FREE_TEXT: Final = re.compile(f"[{_NOT_FREE}]")

_TELLING_ESCAPE: Final = re.compile(rb"\\[^\"\\/]")
"""An escape that may name a forbidden character; also found after an escaped backslash."""

_KINDS: Final = (
    (re.compile(f"[{_TAGS}]"), "a tag character"),
    (re.compile(f"[{_FORMAT}]"), "a format character"),
    (re.compile(f"[{_SEPARATORS}{_BLANKS}]"), "a separator"),
    (re.compile(f"[{_NONCHARACTERS}{_SURROGATES}]"), "no character at all"),
)


@dataclass(frozen=True, slots=True)
class FreeText:
    """Where free text is declared: a tree of segments, ``*`` for items; ``whole`` from here on."""

    whole: bool
    children: dict[str, FreeText]

    def member(self, name: str) -> FreeText:
        """Return what is declared for a member; one named ``*`` cannot be addressed."""
        if self.whole:
            return self
        return NO_FREE_TEXT if name == EVERY else self.children.get(name, NO_FREE_TEXT)

    def items(self) -> FreeText:
        """Return what is declared for the items of an array."""
        return self if self.whole else self.children.get(EVERY, NO_FREE_TEXT)


NO_FREE_TEXT: Final = FreeText(False, {})
_ALL_FREE: Final = FreeText(True, {})


def plan_free_text(places: Sequence[Pointer]) -> FreeText:
    """Merge data pointers, ``*`` for items, into one tree."""
    below: dict[str, list[Pointer]] = {}
    for place in places:
        if not place.segments:
            return _ALL_FREE
        below.setdefault(place.segments[0], []).append(Pointer(place.segments[1:]))
    return FreeText(False, {name: plan_free_text(rest) for name, rest in below.items()})


def cannot_hold_forbidden_text(raw: bytes) -> bool:
    """Whether these bytes, which are strict JSON, prove alone that no string needs a look.

    Without an escape, what stands in a string is what stands in the bytes, and the parser has
    refused raw control characters there; of the escapes, those of the quote, the slash and the
    backslash name themselves. It proves nothing about bytes that are not JSON.
    """
    if 127 in raw or not raw.isascii():
        return False
    return 92 not in raw or _TELLING_ESCAPE.search(raw) is None


@lru_cache(maxsize=256)
def text_guard(places: tuple[Pointer, ...]) -> Predicate:
    """Return a native predicate: true proves that no name or value holds a forbidden character.

    ``places`` are data pointers (``*`` for items) of declared free text. Shape: a parsed JSON
    value that jiter made; raises ValueError for a text that is not Unicode. Compiled in about a
    millisecond, once for the same places; a third of what a walk in Python costs.
    """
    definitions = {"strict": _shape(NO_FREE_TEXT), "free": _shape(_ALL_FREE)}
    schema = {**_shape(plan_free_text(places)), "$defs": definitions}
    return Draft202012Validator(schema, offline=True, pattern_options=RegexOptions()).is_valid


def _shape(place: FreeText) -> dict[str, JsonValue]:
    """Return a schema that holds every text from ``place`` on to its rule."""
    below: JsonValue = {"$ref": "#/$defs/free" if place.whole else "#/$defs/strict"}
    named = {name: _shape(child) for name, child in place.children.items() if name != EVERY}
    every = place.children.get(EVERY)
    return {
        "pattern": f"^[^{_spell(_NOT_FREE if place.whole else _NOT_STRICT)}]*$",
        "propertyNames": {"pattern": f"^[^{_spell(_NOT_STRICT)}]*$"},
        "properties": named,
        "additionalProperties": below,
        "items": below if every is None else _shape(every),
    }


def _spell(characters: str) -> str:
    """Spell a class of Python's ``re`` for the engine, whose texts hold no surrogates."""
    return "".join(
        f"\\u{ord(character):04x}" if ord(character) <= 0xFFFF and character != "-" else character
        for character in characters.replace(_SURROGATES, "")
    )


def find_forbidden_text(document: object, declared: FreeText) -> tuple[Finding, ...]:
    """Return a finding for each name and value with a forbidden character, at most 20."""
    findings = []
    for at, text, is_name, free in _every_text(document, declared):
        if (FORBIDDEN_IN_FREE_TEXT if free else FORBIDDEN).search(text):
            findings.append(_describe(at, text, is_name, free))
            if len(findings) == MAX_FINDINGS:
                break
    return tuple(findings)


def _every_text(
    document: object, declared: FreeText
) -> Iterator[tuple[tuple[str | int, ...], str, bool, bool]]:
    """Yield (place, text, whether it is a name, whether it is free text), breadth first."""
    level: list[tuple[tuple[str | int, ...], object, FreeText]] = [((), document, declared)]
    while level:
        deeper: list[tuple[tuple[str | int, ...], object, FreeText]] = []
        for at, value, free in level:
            if isinstance(value, str):
                yield at, value, False, free.whole
            elif isinstance(value, dict):
                for name, member in value.items():
                    yield (*at, name), name, True, False
                    deeper.append(((*at, name), member, free.member(name)))
            elif isinstance(value, list):
                below = free.items()
                deeper.extend(((*at, index), item, below) for index, item in enumerate(value))
        level = deeper


def _describe(at: tuple[str | int, ...], text: str, is_name: bool, free: bool) -> Finding:
    found = (FORBIDDEN_IN_FREE_TEXT if free else FORBIDDEN).search(text)
    character = found.group() if found is not None else ""
    kind = next(
        (words for pattern, words in _KINDS if pattern.match(character)), "a control character"
    )
    return Finding(
        code=Code.FORBIDDEN_TEXT,
        pointer=join_segments(
            [show_name(segment) if isinstance(segment, str) else segment for segment in at]
        ),
        expected="characters that show, and the blank U+0020",
        received="string",
        received_size=len(text),
        hint=f"the {'name' if is_name else 'value'} holds {kind}",
    )
