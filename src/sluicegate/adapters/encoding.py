"""A Python value as JSON text, strictly: what JSON cannot hold is refused, nothing is coerced."""

from __future__ import annotations

import dataclasses
import json
from typing import Final

_MAX_DEPTH: Final = 200


class NotJson(Exception):  # noqa: N818  (named as its fault)
    """The value holds what JSON cannot; the text names the type, never the value."""


def encode_value(value: object) -> bytes:
    """Return ``value`` as UTF-8 JSON text.

    Takes None, booleans, integers, floats, strings, dicts with string keys, lists, tuples,
    dataclasses and Pydantic models (by alias, as their schemas are). A string of a subclass, such
    as a member of a string enum, stands for its own characters. Raises: NotJson for everything
    else, NaN and infinities, lone surrogates, cycles, nesting beyond 200 and two keys of the same
    characters.
    """
    try:
        return json.dumps(_plain(value, 0), ensure_ascii=False, allow_nan=False).encode("utf-8")
    except UnicodeEncodeError:
        raise NotJson("a string holds half of a surrogate pair") from None
    except ValueError as error:  # NaN, infinities, integers of too many digits
        raise NotJson(f"{type(error).__name__} while encoding") from error


def _plain(value: object, depth: int) -> object:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if depth >= _MAX_DEPTH:
        raise NotJson(f"the value nests deeper than {_MAX_DEPTH}, or holds itself")
    if isinstance(value, dict):
        return _plain_object(value, depth)
    if isinstance(value, list | tuple):
        return [_plain(item, depth + 1) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: _plain(getattr(value, field.name), depth + 1)
            for field in dataclasses.fields(value)
        }
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        try:
            dumped: object = dump(mode="json", by_alias=True, warnings="error")
        except Exception as error:
            raise NotJson(f"the model cannot be dumped: {type(error).__name__}") from error
        return _plain(dumped, depth + 1)
    raise NotJson(f"a {type(value).__name__} is no JSON value")


def _plain_object(value: dict[object, object], depth: int) -> dict[str, object]:
    plain: dict[str, object] = {}
    for key, member in value.items():
        if not isinstance(key, str):
            raise NotJson(f"a member name is a {type(key).__name__}, not a string")
        name = str.__str__(key)  # its characters; what its class says of itself may be others
        if name in plain:
            raise NotJson("two member names are the same text")
        plain[name] = _plain(member, depth + 1)
    return plain
