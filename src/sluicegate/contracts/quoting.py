"""What a message may quote of a contract or the settings: nothing that may hold a secret.

People write an address, a command line or a token where another value belongs. So a wrong text is
quoted only where it has the form of a plain word, a number or a pointer; of a member name no more
is shown than reaches up to the first character that addresses and command lines have. The line of
a text that is not quoted is not shown either. Source: SPEC ADP-5, AUD-5.
"""

from __future__ import annotations

import re
from typing import Final

from sluicegate.values.json import JsonValue, json_type
from sluicegate.values.names import show_name

_WORD: Final = r"(?:[A-Za-z]{1,16}[_-]){0,3}[A-Za-z]{1,16}"
WORD: Final = re.compile(_WORD)
"""A word, or a few that are joined: a token has digits, and the others have other characters."""

_NUMBER: Final = r"[+-]?[0-9]{1,6}(?:[.-][0-9]{1,6}){0,2}[A-Za-z%]{0,2}"
NUMBER: Final = re.compile(_NUMBER)
"""A number, perhaps with its unit; a version or a day too."""

PLAIN: Final = re.compile(rf"{_WORD}|{_NUMBER}|(?:/(?:{_WORD}|\*)){{1,8}}")
"""A word, a number, or a pointer whose segments are words."""

_WHOLE_NAME: Final = re.compile(rf"[^:=\s]*+|{_WORD}(?: {_WORD}){{1,5}}")
_SHOWN_NAME: Final = re.compile(r"[^:=\s]*+(?:://)?")


def is_quotable(value: JsonValue, form: re.Pattern[str] = PLAIN) -> bool:
    """Whether a message may quote ``value``: a text must have the form that is given."""
    return not isinstance(value, str) or form.fullmatch(value) is not None


def quote_text(text: str) -> str:
    """Return ``text`` in quotation marks, or words in its place."""
    return f"`{show_name(text)}`" if is_quotable(text) else "what is written here"


def describe(value: JsonValue) -> str:
    """Return ``value`` as it may be told where it is quotable."""
    kind = json_type(value)
    if isinstance(value, str):
        return f"`{show_name(value)}`" if value.strip() else "a blank text"
    if kind in ("null", "boolean", "integer", "number"):
        return f"the {kind} {show_name(str(value).lower() if kind != 'null' else 'null')}"
    return {"object": "a mapping", "array": "a list"}[kind]


def describe_kind(value: JsonValue, text: str = "a text") -> str:
    """Return what ``value`` is, and nothing of what it says."""
    if isinstance(value, str):
        return text if value.strip() else "a blank text"
    kind = json_type(value)
    kinds = {"object": "a mapping", "array": "a list", "null": "null", "integer": "a number"}
    return kinds.get(kind, f"a {kind}")


def show_member(name: str) -> str:
    """Return a member name fit to be shown; of an address nothing behind its scheme."""
    if is_shown_whole(name):
        return show_name(name)
    begun = _SHOWN_NAME.match(name)
    return show_name("" if begun is None else begun[0]) + "…"


def is_shown_whole(name: str) -> bool:
    """Whether ``show_member`` leaves nothing out but what is too long."""
    return _WHOLE_NAME.fullmatch(name) is not None
