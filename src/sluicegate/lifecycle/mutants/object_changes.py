"""Members that nobody declared, members that are absent, names that are nearly right."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from sluicegate.lifecycle.lint.suppressions import silences
from sluicegate.lifecycle.mutants.changes import Change
from sluicegate.lifecycle.mutants.examples import Maker
from sluicegate.lifecycle.mutants.places import Spot
from sluicegate.values.json import JsonValue
from sluicegate.values.pointers import NOTHING, Nothing

_STRANGERS: Final = ("unreviewed", "__proto__", "message")
_HIDDEN_NAME: Final = "na\u200bme"
_FLOOD: Final = 300
_MOST: Final = 2_000
_CAMEL: Final = re.compile(r"_([a-z])")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])([A-Z])")


def change_object(spot: Spot, maker: Maker) -> Iterator[Change]:
    """Yield the changes of one object's members."""
    if not isinstance(spot.value, Mapping):
        return
    yield from _extended(spot, spot.value)
    yield from _dropped(spot, spot.value)
    yield from _renamed(spot, spot.value)
    yield from _counted(spot, spot.value, maker)


def _extended(spot: Spot, members: Mapping[str, JsonValue]) -> Iterator[Change]:
    is_map = spot.view.is_map
    for name in _STRANGERS:
        if name not in spot.view.declared and name not in members:
            yield Change(
                operator=f"extra-{name.strip('_')}",
                segments=(*spot.segments, name),
                value="unreviewed",
                keyword="additionalProperties",
                rule="" if is_map else "C01",
            )
    if is_map:
        sample = next(iter(members.values()), "unreviewed")
        yield Change(
            operator="extra-hidden-name",
            segments=(*spot.segments, _HIDDEN_NAME),
            value=sample,
            keyword="propertyNames",
            rule="" if spot.view.has("propertyNames") else "C04",
        )


def _dropped(spot: Spot, members: Mapping[str, JsonValue]) -> Iterator[Change]:
    # `required: []` is the author's word that all may be absent; no word at all is a hole.
    rule = "C05" if spot.view.declared and not spot.view.has("required") else ""
    required = spot.view.required
    for name in members:
        lacking = rule
        if not rule and name not in required and not _is_declared_optional(spot, name):
            lacking = "C06"
        yield Change(
            operator="drop",
            segments=(*spot.segments, name),
            value=NOTHING,
            keyword="required",
            rule=lacking if name in spot.view.declared else "",
        )
    if len(members) > 1:
        yield Change(
            operator="drop-all", segments=spot.segments, value={}, keyword="required", rule=rule
        )


def _is_declared_optional(spot: Spot, name: str) -> bool:
    """Whether the author says by ``x-lint`` that the member may be absent, and why."""
    return any(silences(schema, "C06", "optional-in-result") for schema in spot.view.member(name))


def _renamed(spot: Spot, members: Mapping[str, JsonValue]) -> Iterator[Change]:
    rule = "" if spot.view.is_map else "C01"
    known = {*members, *spot.view.declared}
    for name, value in members.items():
        rest = {other: each for other, each in members.items() if other != name}
        for operator, new in _near_names(name):
            if new not in known:
                yield Change(
                    operator=f"rename-{operator}-{name}",
                    segments=spot.segments,
                    value={**rest, new: value},
                    keyword="additionalProperties",
                    rule=rule,
                )


def _near_names(name: str) -> Iterator[tuple[str, str]]:
    yield "case", name.swapcase()
    yield "plural", name.removesuffix("s") if name.endswith("s") else f"{name}s"
    yield "blank", f"{name} "
    camel = _CAMEL.sub(lambda found: found[1].upper(), name)
    if camel != name:
        yield "camel", camel
    snake = _HUMP.sub(r"_\1", name).lower()
    if snake not in (name, name.swapcase()):
        yield "snake", snake


def _counted(spot: Spot, members: Mapping[str, JsonValue], maker: Maker) -> Iterator[Change]:
    view = spot.view
    most = view.most("maxProperties")
    if view.is_map and (most is None or most < _MOST):
        flooded = dict(members)
        wanted = (most + 1) if most is not None else _FLOOD
        for name in maker.names(view, wanted + len(members)):
            if len(flooded) >= wanted:
                break
            value = next(iter(maker.distinct(view.member(name), 1)), NOTHING)
            if not isinstance(value, Nothing):
                flooded.setdefault(name, value)
        if len(flooded) == wanted:
            yield Change(
                operator="too-many-members",
                segments=spot.segments,
                value=flooded,
                keyword="maxProperties",
                rule="" if most is not None else "C04",
            )
    least = view.least("minProperties")
    if 0 < least <= len(members):
        fewer = dict(list(members.items())[: least - 1])
        yield Change(
            operator="too-few-members",
            segments=spot.segments,
            value=fewer,
            keyword="minProperties",
        )
