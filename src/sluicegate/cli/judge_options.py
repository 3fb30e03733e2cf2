"""What ``judge`` is told on its command line, read strictly."""

from __future__ import annotations

import json
import math
import re
from typing import Final, NoReturn

import click

from sluicegate.cli.reading import read_input
from sluicegate.contracts.contract import FreshRule
from sluicegate.values.json import JsonValue
from sluicegate.values.pointers import Pointer
from sluicegate.values.requests import is_request_id

_NUMBER: Final = r"[0-9]+(?:\.[0-9]+)?"
_MAX_ARGUMENTS: Final = 16_777_216
_FRESH: Final = re.compile(rf"(.*?):({_NUMBER})(?::({_NUMBER}))?")


def read_request_id(text: str | None) -> str | None:
    """Return the id that the document must bear. Raises: click.BadParameter."""
    if text is not None and not is_request_id(text):
        raise click.BadParameter(
            "a request id has 8 to 64 letters, digits, '_' and '.'", param_hint="--request-id"
        )
    return text


def read_arguments(text: str) -> bytes:
    """Return the arguments as they were written, or those of @FILE; ends the command as judge."""
    if text.startswith("@"):
        return read_input(text[1:], _MAX_ARGUMENTS)
    return text.encode("utf-8", "surrogateescape")


def read_binds(texts: tuple[str, ...]) -> dict[Pointer, JsonValue]:
    """Return what must stand where. Raises: click.BadParameter.

    ``POINTER=VALUE`` is cut at the first ``=``; VALUE is a JSON string, number or boolean, and
    any other text stands for itself, so ``/id=42`` is a number and ``/id="42"`` a string.
    """
    binds: dict[Pointer, JsonValue] = {}
    for text in texts:
        place, equals, value = text.partition("=")
        if not equals:
            raise click.BadParameter(f"{text!r} is not POINTER=VALUE", param_hint="--bind")
        pointer = _pointer(place, "--bind")
        if pointer in binds:
            raise click.BadParameter(f"{place} is bound twice", param_hint="--bind")
        binds[pointer] = _scalar(value)
    return binds


def _scalar(text: str) -> JsonValue:
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, float) and not math.isfinite(value):
        return text
    return value if isinstance(value, str | int | float) else text


def _refuse(text: str) -> NoReturn:
    raise ValueError(text)


def read_fresh(text: str | None) -> FreshRule | None:
    """Return the rule of freshness. Raises: click.BadParameter."""
    if text is None:
        return None
    matched = _FRESH.fullmatch(text)
    if matched is None:
        raise click.BadParameter(
            "write POINTER:MAX_AGE_S or POINTER:MAX_AGE_S:MAX_AHEAD_S, as /observed_at:60:5",
            param_hint="--fresh",
        )
    place, age, ahead = matched.groups()
    pointer = _pointer(place, "--fresh")
    if ahead is None:
        return FreshRule(at=pointer, max_age_s=float(age))
    return FreshRule(at=pointer, max_age_s=float(age), max_ahead_s=float(ahead))


def _pointer(text: str, option: str) -> Pointer:
    try:
        return Pointer.parse(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=option) from None
