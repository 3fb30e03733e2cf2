"""Templates of a URL and of a command: where arguments may stand, and where never (SPEC ADP-1)."""

from __future__ import annotations

import re
from typing import Final

from sluicegate.contracts.places import Place
from sluicegate.contracts.reach import NAMING_TYPES, Side
from sluicegate.values.names import show_name
from sluicegate.values.pointers import Pointer

_PLACEHOLDER: Final = re.compile(r"\{(/[^{}]*)\}")
_ORIGIN: Final = re.compile(r"(?i:https?)://[^/?#{}\s@]+(?=[/?]|\Z)")
_PLACE: Final = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::([0-9]{1,5}))?", re.ASCII)
_MAX_PORT: Final = 65_535
_URL_TEXT: Final = re.compile(r"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2})*+", re.ASCII)


def read_url(place: Place, arguments: Side) -> str | None:
    """Return a URL template: constant scheme and authority, each placeholder a required argument.

    An argument stands for one encoded segment of the path or one value of the query.
    """
    text = place.text(wanted="a URL that begins with http:// or https://")
    if text is None:
        return None
    origin = _ORIGIN.match(text)
    if origin is None:
        place.fault(
            "the URL has no constant http:// or https:// origin; no argument may choose the host.",
            "Write scheme, host and port as constants, without user name, then the path.",
        )
        return None
    if not _has_place(origin[0]):
        place.fault(
            "the URL names no host, or a port that does not exist.",
            "Write a host, and a port from 1 to 65535 or none.",
        )
        return None
    rest = text[origin.end() :]
    if not all(_URL_TEXT.fullmatch(part) for part in _PLACEHOLDER.split(rest)[::2]):
        place.fault(
            "the URL holds characters that cannot stand between placeholders.",
            "Write an argument as {/pointer}, percent-encode the rest, and leave out `#`.",
        )
        return None
    if any(segment in (".", "..") for segment in rest.partition("?")[0].split("/")):
        place.fault("the URL has a `.` or `..` segment.", "Write the path without it.")
        return None
    read_placeholders(place, arguments, required=True)
    return text


def _has_place(origin: str) -> bool:
    place = _PLACE.fullmatch(origin.partition("://")[2])
    return place is not None and (place[1] is None or 1 <= int(place[1]) <= _MAX_PORT)


def read_placeholders(place: Place, arguments: Side, *, required: bool) -> tuple[Pointer, ...]:
    """Return the arguments that the text at ``place`` names, each held against its schema."""
    pointers = []
    for placeholder in _PLACEHOLDER.finditer(str(place.value)):
        pointer = place.pointer_of(placeholder[1])
        if pointer is None:
            continue
        if pointer.is_wild:
            place.fault(
                f"`{show_name(placeholder[0])}` names many values.", "Name one argument of them."
            )
            continue
        if required:
            found = arguments.demand_required(place, pointer, "so its place could stay empty")
        else:
            found = arguments.reach(place, pointer)
        arguments.demand_types(
            place, pointer, found, NAMING_TYPES, "which cannot stand in a template"
        )
        pointers.append(pointer)
    return tuple(pointers)


def has_placeholder(text: str) -> bool:
    """Whether an argument stands in ``text``."""
    return _PLACEHOLDER.search(text) is not None
