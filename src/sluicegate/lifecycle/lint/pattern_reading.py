"""What a pattern promises: is it anchored, how long can a text be, which odd characters fit."""

from __future__ import annotations

# The standard library's own reader of patterns: its place is private, its tree is old and stable.
import re
import re._constants as op  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

ODD: Final = {
    "a line feed": "\n",
    "NUL": "\0",
    "a direction mark (U+202E)": "\u202e",
    "a zero-width blank (U+200B)": "\u200b",
    "a wide blank (U+00A0)": "\u00a0",
    "a Cyrillic letter that looks Latin": "\u0430",
}
"""Characters that nobody means to admit, by the words for them."""

_BLANKS: Final = frozenset("\n\t\r \u00a0\u2028\u2029\ufeff")
_PROPERTY: Final = re.compile(r"(\\[pP](?:\{[^{}]*\}|[A-Za-z]))|\\.", re.DOTALL)
_INLINE_FLAGS: Final = re.compile(r"\(\?[A-Za-z-]*[A-Za-z][:)]")


@lru_cache(maxsize=1024)
def _parse(pattern: str) -> Any:
    """Return the tree of ``pattern``; a Unicode property stands in it as one letter."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)  # classes of sets: the engine's own
            return parser.parse(_PROPERTY.sub(lambda part: "p" if part[1] else part[0], pattern))
    except (parser.error, FutureWarning, OverflowError, RecursionError):
        return None


def is_anchored(pattern: str) -> bool:
    """Whether the whole text must match: ``^…$`` with no choice outside of a group.

    Under the flag ``m`` the two stand at every line, so they hold no text. A pattern that Python's
    syntax cannot read is judged by its first and last character, and must have neither a choice
    nor flags.
    """
    tree = _parse(pattern)
    if tree is None:
        return (
            pattern.startswith("^")
            and pattern.endswith("$")
            and not pattern.endswith("\\$")
            and "|" not in pattern
            and _INLINE_FLAGS.search(pattern) is None
        )
    items, flags = list(tree), int(tree.state.flags)
    return _is_held(items, 0, op.AT_BEGINNING, flags) and _is_held(items, -1, op.AT_END, flags)


def has_line_anchors(pattern: str) -> bool:
    """Whether the flag ``m`` is set anywhere in the pattern."""
    return any("m" in found[0].partition("-")[0] for found in _INLINE_FLAGS.finditer(pattern))


def _is_held(items: list[Any], edge: int, anchor: Any, flags: int) -> bool:
    """Whether whatever matches stands at ``anchor`` with its first (0) or last (-1) part."""
    if not items:
        return False
    code, value = items[edge]
    if code is op.SUBPATTERN:
        return _is_held(list(value[-1]), edge, anchor, _flags_within(value, flags))
    if code is op.BRANCH:
        return all(_is_held(list(branch), edge, anchor, flags) for branch in value[1])
    return bool(code is op.AT and value is anchor and not flags & re.MULTILINE)


def _flags_within(group: Any, flags: int) -> int:
    """Return the flags inside a group, which may add some and take others away."""
    _, added, taken, _ = group
    return (flags | int(added)) & ~int(taken)


def longest_match(pattern: str) -> int | None:
    """Return how many characters a text that fits can have at most; None: no bound is proven."""
    tree = _parse(pattern)
    if tree is None or not is_anchored(pattern):
        return None
    _, longest = tree.getwidth()
    return None if longest >= int(op.MAXREPEAT) or longest > 1_000_000 else int(longest)


def odd_characters(pattern: str) -> list[str]:
    """Return the words of ``ODD`` for characters that some wild part of the pattern admits.

    Wild are ``.``, negated classes and categories; what the author wrote out was meant.
    """
    tree = _parse(pattern)
    if tree is None:
        return []
    wild = list(_wild(tree))
    return [
        words for words, character in ODD.items() if any(_fits(atom, character) for atom in wild)
    ]


def _wild(tree: Any) -> Iterator[tuple[Any, Any]]:
    for code, value in tree:
        if code in (op.ANY, op.NOT_LITERAL, op.IN):
            yield code, value
        elif code is op.SUBPATTERN:
            yield from _wild(value[-1])
        elif code is op.BRANCH:
            for branch in value[1]:
                yield from _wild(branch)
        elif code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            yield from _wild(value[2])


def _fits(atom: tuple[Any, Any], character: str) -> bool:
    code, value = atom
    if code is op.ANY:
        return character != "\n"  # the flag `s` changes nothing: the engine reads `.` as ECMA does
    if code is op.NOT_LITERAL:
        return bool(value != ord(character))
    members = list(value)
    negated = bool(members) and members[0][0] is op.NEGATE
    if not negated:
        return any(
            kind is op.CATEGORY and _in_category(given, character) for kind, given in members
        )
    return not any(_in_member(kind, given, character) for kind, given in members[1:])


def _in_member(kind: Any, given: Any, character: str) -> bool:
    if kind is op.LITERAL:
        return bool(given == ord(character))
    if kind is op.RANGE:
        return bool(given[0] <= ord(character) <= given[1])
    return kind is op.CATEGORY and _in_category(given, character)


def _in_category(category: Any, character: str) -> bool:
    """As the engine judges: digits and word characters are ASCII."""
    if category in (op.CATEGORY_SPACE, op.CATEGORY_NOT_SPACE):
        return (character in _BLANKS) == (category is op.CATEGORY_SPACE)
    plain = category in (op.CATEGORY_DIGIT, op.CATEGORY_WORD)
    inside = character.isascii() and (character.isalnum() or character == "_")
    if category in (op.CATEGORY_DIGIT, op.CATEGORY_NOT_DIGIT):
        inside = character in "0123456789"
    return inside == plain
