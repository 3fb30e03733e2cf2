"""The words of findings: short texts from the contract, never from the other side (SPEC ARG-3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sluicegate.checks.conformance_places import as_object, resolve
from sluicegate.values.json import JsonObject, canonical_text

MAX_TEXT: Final = 200

_ARTICLES: Final = {
    "null": "null",
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "array": "an array",
    "object": "an object",
}
_EXAMPLES: Final = {
    "date-time": "for instance 2026-11-30T12:00:00Z",
    "date": "for instance 2026-11-30",
    "time": "for instance 12:00:00Z",
    "duration": "for instance PT15M",
    "email": "for instance name@example.org",
    "uuid": "for instance 123e4567-e89b-42d3-a456-426614174000",
    "uri": "for instance https://example.org/",
}
_ANYTHING: Final = "any value"
_MISTAKABLE: Final = frozenset({"true", "false", "null", ""})


def clip(text: str) -> str:
    """Return ``text`` cut to 200 characters."""
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def join_types(types: Sequence[str]) -> str:
    """Return ``string or null``, null last."""
    return " or ".join(sorted(types, key=lambda name: name == "null"))


def with_article(type_name: str) -> str:
    """Return ``an integer`` for ``integer``."""
    return _ARTICLES.get(type_name, type_name)


def show_option(option: object) -> str:
    """Return one constant of the contract: a string bare where nothing can mistake it."""
    if isinstance(option, str) and option not in _MISTAKABLE and not option[0].isdigit():
        return option
    return canonical_text(option)


def list_options(options: Sequence[object]) -> str:
    """Return ``one of: staging, production``, cut at a whole option."""
    if len(options) == 1:
        return clip(show_option(options[0]))
    text = "one of: "
    for index, option in enumerate(options):
        shown = show_option(option)
        if len(text) + len(shown) + 20 > MAX_TEXT:
            return clip(f"{text}… ({len(options)} in all)")
        text += shown if index == 0 else ", " + shown
    return text


def describe(document: JsonObject, schema: object) -> str:
    """Return what a value under ``schema`` must be, in a few words: ``string (date-time)``."""
    found = resolve(document, schema)
    if "const" in found:
        return clip(show_option(found["const"]))
    options = found.get("enum")
    if isinstance(options, list | tuple):
        return list_options(options)
    types = found.get("type")
    if isinstance(types, str | list | tuple):
        text = types if isinstance(types, str) else join_types([str(name) for name in types])
        form = found.get("format")
        return clip(f"{text} ({form})" if isinstance(form, str) else text)
    for keyword in ("anyOf", "oneOf", "allOf"):
        branches = found.get(keyword)
        if isinstance(branches, list | tuple):
            texts = [describe(document, branch) for branch in branches if as_object(branch)]
            told = [text for text in texts if text != _ANYTHING]
            return join_texts(told[:1] if keyword == "allOf" else told) or _ANYTHING
    return "object" if "properties" in found else _ANYTHING


def join_texts(texts: Iterable[str]) -> str:
    """Return different texts joined by ``or``, in their order."""
    return clip(" or ".join(dict.fromkeys(texts)))


def example_of(form: str) -> str | None:
    """Return a hint for a format that people often miss."""
    return _EXAMPLES.get(form)
