"""Texts that a view of a string admits, most ordinary first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from sluicegate.lifecycle.mutants.patterns import make_texts
from sluicegate.lifecycle.mutants.views import View

FORMAT_TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "date-time": ("2026-01-01T12:00:00Z", "2026-01-01T12:00:01Z"),
    "date": ("2026-01-01", "2026-01-02"),
    "time": ("12:00:00Z", "12:00:01Z"),
    "duration": ("P1D", "P2D"),
    "email": ("one@example.org", "two@example.org"),
    "idn-email": ("one@example.org", "two@example.org"),
    "hostname": ("one.example", "two.example"),
    "idn-hostname": ("one.example", "two.example"),
    "ipv4": ("192.0.2.1", "192.0.2.2"),
    "ipv6": ("2001:db8::1", "2001:db8::2"),
    "uri": ("https://one.example/", "https://two.example/"),
    "uri-reference": ("https://one.example/", "/two"),
    "iri": ("https://one.example/", "https://two.example/"),
    "iri-reference": ("https://one.example/", "/two"),
    "uuid": ("2b1f8a4e-5c3d-4e6f-8a9b-0c1d2e3f4a5b", "2b1f8a4e-5c3d-4e6f-8a9b-0c1d2e3f4a5c"),
    "uri-template": ("/one/{id}", "/two/{id}"),
    "json-pointer": ("/one", "/two"),
    "relative-json-pointer": ("1/one", "1/two"),
    "regex": ("^one$", "^two$"),
}
"""Two texts of every format that the engine asserts."""

_PLAIN: Final = "text"


def admitted_texts(view: View, count: int) -> Iterator[str]:
    """Yield up to ``count`` different texts that should fit ``view``; they must be validated."""
    least, most = view.least("minLength"), view.most("maxLength")
    patterns, formats = view.texts("pattern"), view.texts("format")
    seen: set[str] = set()
    for text in _texts(patterns, formats, least, most, count):
        if text not in seen and len(text) >= least and (most is None or len(text) <= most):
            seen.add(text)
            yield text
        if len(seen) >= count:
            return


def _texts(
    patterns: list[str], formats: list[str], least: int, most: int | None, count: int
) -> Iterator[str]:
    for form in formats:
        yield from FORMAT_TEXTS.get(form, ())
    for pattern in patterns:
        yield from make_texts(pattern, min_length=least, count=count)
    if formats or patterns:
        return
    for turn in range(count):
        text = (_PLAIN if turn == 0 else f"{_PLAIN}{turn}").ljust(least, "x")
        yield text if most is None or len(text) <= most else _short(turn, most)


def _short(turn: int, most: int) -> str:
    digits = "abcdefghijklmnopqrstuvwxyz"
    text = ""
    while len(text) < most:
        text += digits[turn % len(digits)]
        turn //= len(digits)
    return text
