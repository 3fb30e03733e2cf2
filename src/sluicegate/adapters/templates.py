"""Templates of a contract's URL, query and command, and the arguments that may stand in them.

A placeholder ``{/pointer}`` takes one string or integer of the validated arguments. In a URL it is
one percent-encoded segment behind the authority; in a command it is (part of) one element of the
list, and no shell reads it. Source: SPEC ADP-1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlsplit

from sluicegate.errors import ConfigurationError
from sluicegate.values.pointers import NOTHING, Pointer

_PLACEHOLDER: Final = re.compile(r"\{(/[^{}]*)\}")
_URL: Final = re.compile(r"(?i:https?)://[^/?#{}\s]+(?=[/?]|\Z)")
_URL_TEXT: Final = re.compile(r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2})*", re.ASCII)
_DOTS: Final = frozenset({".", ".."})


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why an argument cannot stand in a template; names the place, never the value."""

    pointer: str
    reason: str
    is_absent: bool = False

    def __str__(self) -> str:
        return f"{self.pointer}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Template:
    """Constant text and pointers in turn."""

    parts: tuple[str | Pointer, ...]

    @property
    def constants(self) -> tuple[str, ...]:
        """The constant texts, in order."""
        return tuple(part for part in self.parts if isinstance(part, str))

    @property
    def is_constant(self) -> bool:
        """Whether no argument stands in it."""
        return all(isinstance(part, str) for part in self.parts)


def parse_template(text: str) -> Template:
    """Take ``text`` apart; braces that enclose no pointer stay text.

    Raises: ConfigurationError for a pointer that is malformed or has a wildcard.
    """
    parts: list[str | Pointer] = []
    end = 0
    for placeholder in _PLACEHOLDER.finditer(text):
        try:
            pointer = Pointer.parse(placeholder[1])
        except ValueError as error:
            raise ConfigurationError(f"placeholder {placeholder[0]}: {error}") from error
        if pointer.is_wild:
            raise ConfigurationError(
                f"placeholder {placeholder[0]} names many values; name one argument"
            )
        if placeholder.start() > end:
            parts.append(text[end : placeholder.start()])
        parts.append(pointer)
        end = placeholder.end()
    if end < len(text):
        parts.append(text[end:])
    return Template(tuple(parts))


def read_value(arguments: Mapping[str, object], pointer: Pointer) -> str | Unfit:
    """Return the text of one argument: a string as it is, an integer in decimal digits.

    Refuses what is absent, every other type, the empty string, ``.`` and ``..``.
    """
    value = pointer.find(arguments)
    if value is NOTHING:
        return Unfit(pointer.text, "there is no such argument", is_absent=True)
    if isinstance(value, bool) or not isinstance(value, str | int):
        return Unfit(pointer.text, "only a string or an integer can stand here")
    try:
        text = str(value)
        text.encode("utf-8")
    except ValueError:  # more digits than Python writes, or a lone surrogate
        return Unfit(pointer.text, "the value has no plain text")
    if text == "" or text in _DOTS:
        return Unfit(pointer.text, "the empty string, '.' and '..' are refused")
    return text


class UrlTemplate:
    """A URL whose scheme and authority are constant.

    ``origin`` is ``scheme://authority``. Query parameters come from the URL's own text and from
    ``query``; a parameter of ``query`` whose argument is absent is left out as a whole.
    """

    def __init__(self, url: str, query: Mapping[str, str] | None = None) -> None:
        """Raises: ConfigurationError for a URL that an argument could bend, or that is not one."""
        matched = _URL.match(url)
        if matched is None:
            raise ConfigurationError(
                f"{url!r} is no usable URL: write http:// or https://, a constant host, then a path"
            )
        self.origin: Final = _check_origin(matched[0])
        rest = url[matched.end() :]
        if not rest.startswith("/"):
            rest = "/" + rest
        self._target: Final = parse_template(rest)
        for text in self._target.constants:
            if _URL_TEXT.fullmatch(text) is None:
                raise ConfigurationError(
                    f"{url!r}: only URL characters may stand between placeholders; write an "
                    "argument as {/pointer}, percent-encode the rest, and leave out '#'"
                )
        if not _DOTS.isdisjoint(rest.partition("?")[0].split("/")):
            raise ConfigurationError(f"{url!r}: write the path without '.' and '..' segments")
        self._query: Final = tuple(
            (quote(name, safe=""), parse_template(text)) for name, text in (query or {}).items()
        )
        self._has_query: Final = "?" in rest

    def expand(self, arguments: Mapping[str, object]) -> str | Unfit:
        """Return path and query for ``arguments``; everything but unreserved is encoded."""
        target = _fill(self._target, arguments, encode_constants=False)
        if isinstance(target, Unfit):
            return target
        separator = "&" if self._has_query else "?"
        for name, template in self._query:
            value = _fill(template, arguments, encode_constants=True)
            if isinstance(value, Unfit):
                if value.is_absent:
                    continue
                return value
            target += f"{separator}{name}={value}"
            separator = "&"
        return target


class CommandTemplate:
    """An argument list; its first element, the program, is constant."""

    def __init__(self, argv: Sequence[str]) -> None:
        """Raises: ConfigurationError for an empty list, a NUL, or a program that is no constant."""
        if not argv or not argv[0]:
            raise ConfigurationError("a command needs a program: the first element of argv")
        if any("\0" in element for element in argv):
            raise ConfigurationError("an element of argv holds a NUL character")
        templates = [parse_template(element) for element in argv]
        if not templates[0].is_constant:
            raise ConfigurationError("no argument may choose the program: argv[0] is a constant")
        self.program: Final = argv[0]
        end_of_options = argv.index("--") if "--" in argv else len(argv)
        self._elements: Final = tuple(
            (template, position > end_of_options)
            for position, template in enumerate(templates[1:], start=1)
        )

    def expand(self, arguments: Mapping[str, object]) -> list[str] | Unfit:
        """Return the elements behind the program.

        Refuses a value with NUL, and one that begins with ``-`` unless its element stands behind
        a constant ``--``.
        """
        expanded = []
        for template, is_operand in self._elements:
            text = ""
            for part in template.parts:
                value = read_value(arguments, part) if isinstance(part, Pointer) else part
                if isinstance(value, Unfit):
                    return value
                if isinstance(part, Pointer):
                    if "\0" in value:
                        return Unfit(part.text, "a NUL character is refused")
                    if value.startswith("-") and not is_operand:
                        return Unfit(part.text, "a leading '-' is refused before '--'")
                text += value
            expanded.append(text)
        return expanded


def _check_origin(text: str) -> str:
    parts = urlsplit(text)
    try:
        is_usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise ConfigurationError(f"{text!r} names no usable host and port")
    if "@" in parts.netloc:
        raise ConfigurationError(
            "a URL bears no user name or password; name the secret as the contract's credential"
        )
    return f"{parts.scheme.lower()}://{parts.netloc.lower()}"


def _fill(
    template: Template, arguments: Mapping[str, object], *, encode_constants: bool
) -> str | Unfit:
    filled = ""
    for part in template.parts:
        if isinstance(part, Pointer):
            value = read_value(arguments, part)
            if isinstance(value, Unfit):
                return value
            filled += quote(value, safe="")
        else:
            filled += quote(part, safe="") if encode_constants else part
    return filled
