"""What a pattern promises: is it anchored, how long can a text be."""

from __future__ import annotations

# The standard library's own reader of patterns: its place is private, its tree is old and stable.
import re
import re._constants as op  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import warnings
from functools import lru_cache
from typing import Any, Final

_PROPERTY: Final = re.compile(r"(\\[pP](?:\{[^{}]*\}|[A-Za-z]))|\\.", re.DOTALL)
_INLINE_FLAGS: Final = re.compile(r"\(\?[A-Za-z-]*[A-Za-z][:)]")
_BETWEEN_ANCHORS: Final = re.compile(r"\^(?![?*+{])(?:\\.|[^\\|])*\$", re.DOTALL)
"""Both anchors, neither of them repeated or escaped, and no choice between them."""


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
    nor flags; an anchor that may be left out, ``^?``, holds nothing.
    """
    tree = _parse(pattern)
    if tree is None:
        held = _BETWEEN_ANCHORS.fullmatch(pattern) is not None
        return held and _INLINE_FLAGS.search(pattern) is None
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


def shortest_match(pattern: str) -> int:
    """Return how many characters a text that fits must have at least, as far as is proven."""
    tree = _parse(pattern)
    if tree is None:
        return 0
    shortest, _ = tree.getwidth()
    return int(shortest)


def longest_match(pattern: str) -> int | None:
    """Return how many characters a text that fits can have at most; None: no bound is proven."""
    tree = _parse(pattern)
    if tree is None or not is_anchored(pattern):
        return None
    _, longest = tree.getwidth()
    return None if longest >= int(op.MAXREPEAT) or longest > 1_000_000 else int(longest)
