"""Texts that match a pattern: made from its syntax tree, and meant to be validated afterwards."""

from __future__ import annotations

# The standard library's own reader of patterns: its place is private, its tree is old and stable.
import re._constants as op  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Final

_LONGER: Final = (0, 3, 8)
"""So much longer than they must be are repetitions, where shorter ones have run out of texts."""

_PATIENCE: Final = 64
_MAX_EDGES: Final = 64
_MAX_REPEATED: Final = 4_000
_REPEATS: Final = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
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


def make_edge_texts(pattern: str) -> Iterator[str]:
    """Yield texts in which one repetition of ``pattern`` is as short or as long as it may be.

    Up to 64, and none of a repetition beyond 4,000; as ``make_texts`` otherwise. A pattern with
    another bound tells them apart.
    """
    tree = _read(pattern)
    if tree is None:
        return
    for pinned in islice(_pin(tree), _MAX_EDGES):
        yield _emit_all(pinned, [0, 0])


def _pin(tree: Sequence[tuple[Any, Any]]) -> Iterator[Sequence[tuple[Any, Any]]]:
    """Yield the tree with one repetition held at one of its bounds."""
    for index, (code, argument) in enumerate(tree):
        for other in _pin_part(code, argument):
            yield [*tree[:index], other, *tree[index + 1 :]]


def _pin_part(code: Any, argument: Any) -> Iterator[tuple[Any, Any]]:
    if code in _REPEATS:
        least, most, inner = argument
        for times in (least, int(most)):
            if times <= _MAX_REPEATED:
                yield code, (times, times, inner)
        for other in _pin(inner):
            yield code, (least, most, other)
    elif code is op.SUBPATTERN:
        for other in _pin(argument[-1]):
            yield code, (*argument[:-1], other)
    elif code is op.ATOMIC_GROUP:
        for other in _pin(argument):
            yield code, other
    elif code is op.BRANCH:
        for branch in argument[1]:
            yield op.ATOMIC_GROUP, branch
            for other in _pin(branch):
                yield op.ATOMIC_GROUP, other


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
    if code in _REPEATS:
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
