"""Texts that match a pattern: made from its syntax tree, and meant to be validated afterwards."""

from __future__ import annotations

# The standard library's own reader of patterns: its place is private, its tree is old and stable.
import re._constants as op  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

_LONGER: Final = (0, 3, 8)
"""So much longer than they must be are repetitions, where shorter ones have run out of texts."""

_PATIENCE: Final = 64
_DIGITS: Final = "0123456789"
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_WORD: Final = _LETTERS + _DIGITS + "_"
_BY_CATEGORY: Final = {
    op.CATEGORY_DIGIT: _DIGITS,
    op.CATEGORY_WORD: _WORD,
    op.CATEGORY_SPACE: " ",
    op.CATEGORY_NOT_DIGIT: _LETTERS,
    op.CATEGORY_NOT_WORD: "-.",
    op.CATEGORY_NOT_SPACE: _WORD,
}
_ORDINARY: Final = _LETTERS + _DIGITS + _LETTERS.upper() + "_-.:/@ +#"


def make_texts(pattern: str, *, min_length: int = 0, count: int = 1) -> Iterator[str]:
    """Yield up to ``count`` different texts that should match ``pattern``.

    Nothing for what Python's own syntax cannot read: the engine that judges has another one, so
    each text must be validated. ``min_length`` is tried for where repetitions allow it.
    """
    tree = _read(pattern)
    if tree is None:
        return
    seen: set[str] = set()
    for longer in _LONGER:
        stale = 0
        for turn in range(count * 4):
            text = _emit_all(tree, [turn, longer])
            if len(text) < min_length:
                text = _emit_all(tree, [turn, longer + min_length - len(text)])
            stale += 1
            if text not in seen:
                seen.add(text)
                stale = 0
                yield text
            if len(seen) == count:
                return
            if stale > _PATIENCE:
                break


@lru_cache(maxsize=1024)
def _read(pattern: str) -> Sequence[tuple[Any, Any]] | None:
    try:
        tree: Sequence[tuple[Any, Any]] = parser.parse(pattern)
    except (parser.error, OverflowError, RecursionError):
        return None
    return tree


def _emit_all(tree: Sequence[tuple[Any, Any]], state: list[int]) -> str:
    """``state`` is an odometer of choices, and the characters that repetitions still lack."""
    return "".join(_emit(code, argument, state) for code, argument in tree)


def _emit(code: Any, argument: Any, state: list[int]) -> str:
    if code is op.LITERAL:
        return chr(argument)
    if code is op.NOT_LITERAL:
        return next(each for each in _ORDINARY if each != chr(argument))
    if code is op.ANY:
        return _pick(_LETTERS, state)
    if code is op.IN:
        return _pick(_members(tuple(argument)), state)
    if code is op.BRANCH:
        branches = argument[1]
        chosen = branches[state[0] % len(branches)]
        state[0] //= len(branches)
        return _emit_all(chosen, state)
    if code is op.SUBPATTERN:
        return _emit_all(argument[-1], state)
    if code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        least, most, inner = argument
        times = least or min(1, most)
        more = min(state[1], most - times)
        state[1] -= more
        return "".join(_emit_all(inner, state) for _ in range(times + more))
    if code is op.ATOMIC_GROUP:
        return _emit_all(argument, state)
    return ""  # anchors and assertions take no room


def _pick(choices: str, state: list[int]) -> str:
    if not choices:
        return ""
    chosen = choices[state[0] % len(choices)]
    state[0] //= len(choices)
    return chosen


@lru_cache(maxsize=1024)
def _members(argument: tuple[tuple[Any, Any], ...]) -> str:
    negated = argument[0][0] is op.NEGATE
    named: list[str] = []
    for code, value in argument:
        if code is op.LITERAL:
            named.append(chr(value))
        elif code is op.RANGE:
            first, last = value
            named += [chr(each) for each in range(first, min(last, first + 64) + 1)]
        elif code is op.CATEGORY:
            named += _BY_CATEGORY.get(value, "a")
    if not negated:
        return "".join(sorted(set(named), key=lambda each: (not each.isalnum(), each)))
    return "".join(each for each in _ORDINARY if each not in named)
