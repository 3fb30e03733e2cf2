"""The ways through ``oneOf`` and ``anyOf``: what holds together for a value that takes one.

A choice is opened into ways only where each object that takes a branch is told of by that branch
alone, so that nothing of the other branches has to be known. What is no object has no members to
tell branches apart, so the ways speak of objects alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from sluicegate.contracts.schemas.composition import listed_values
from sluicegate.contracts.schemas.formulas import is_enumerated
from sluicegate.contracts.schemas.keywords import (
    Schema,
    is_false,
    names_at,
    schema_at,
    schema_list,
    schema_map,
)
from sluicegate.lifecycle.diff.touching import Touched, conjuncts, touch_test, types_of
from sluicegate.values.json import JsonObject, identity_text

CHOICES: Final = ("oneOf", "anyOf")
MAX_WAYS: Final = 32
_MAX_TRIED: Final = 400
_MAX_DEPTH: Final = 6

_SILENT: Final = frozenset(
    {"$ref", "$comment", "$defs", "$schema", "$id", "title", "description", "examples", "default"}
)


@dataclass(frozen=True, slots=True)
class Step:
    """One schema of a way; ``opened`` are its choices, which the way has taken."""

    schema: JsonObject
    opened: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Taken:
    """All that holds together. ``closing``: nothing unevaluated is admitted beside it."""

    steps: tuple[Step, ...]
    closing: bool = False


def find_ways(schema: Schema, root: JsonObject, shown: frozenset[str]) -> list[Taken] | None:
    """Return every way through ``schema``; together they admit the objects that it admits.

    Of other values they may admit more: a null can take several branches of a ``oneOf``. A choice
    that rests on members of ``shown`` alone stays as it is written. None where there is no telling,
    or where there are too many ways.
    """
    return _Finder(root, shown).find(schema)


class _Finder:
    """One search; ``_left`` bounds it, as a schema may lead back to itself."""

    __slots__ = ("_left", "_root", "_shown")

    def __init__(self, root: JsonObject, shown: frozenset[str]) -> None:
        self._root = root
        self._shown = shown
        self._left = _MAX_TRIED

    def find(self, schema: Schema, depth: int = 0, *, closed: bool = False) -> list[Taken] | None:
        """``closed``: what stands around it refuses whatever no branch has evaluated."""
        self._left -= 1
        parts = conjuncts(schema, self._root)
        if parts is None or self._left < 0 or depth > _MAX_DEPTH:
            return None
        closing = _closes(parts)
        if closing is None:
            return None
        ways: list[tuple[Step, ...]] = [()]
        for part in parts:
            opened: set[str] = set()
            taken: list[list[tuple[Step, ...]]] = []
            for keyword in CHOICES:
                branches = schema_list(part, keyword)
                if not branches or _is_shown(branches, self._root, self._shown):
                    continue
                within = closed or closing
                found = self._open(
                    parts, branches, depth, alone=keyword == "oneOf" or within, closed=within
                )
                if found is not None:
                    opened.add(keyword)
                    taken.append(found)
            ways = [(*way, Step(part, frozenset(opened))) for way in ways]
            for found in taken:
                ways = [(*way, *branch) for way in ways for branch in found]
                if len(ways) > MAX_WAYS:
                    return None
        return [Taken(way, closing) for way in ways]

    def _open(
        self,
        base: Sequence[JsonObject],
        branches: Sequence[Schema],
        depth: int,
        *,
        alone: bool,
        closed: bool,
    ) -> list[tuple[Step, ...]] | None:
        """Return the ways through all branches; None where they cannot be told apart."""
        found: list[tuple[Step, ...]] = []
        listed: list[list[JsonObject]] = []
        for branch in branches:
            if branch is False:
                continue
            parts = conjuncts(branch, self._root)
            inner = self.find(branch, depth + 1, closed=closed)
            if parts is None or inner is None or any(way.closing for way in inner):
                return None
            listed.append(parts)
            found.extend(way.steps for way in inner)
        if alone and not all(_are_apart(base, *pair) for pair in combinations(listed, 2)):
            return None
        return found


def _is_shown(branches: Sequence[Schema], root: JsonObject, shown: frozenset[str]) -> bool:
    touched = Touched()
    for branch in branches:
        touch_test(branch, root, touched)
    return (
        not (touched.everything or touched.counted) and (touched.values | touched.presence) <= shown
    )


def _closes(parts: Sequence[JsonObject]) -> bool | None:
    """Whether the place refuses what is unevaluated; None where a part does so for itself alone."""
    closing = [index for index, part in enumerate(parts) if "unevaluatedProperties" in part]
    if not closing:
        return False
    first, *others = closing
    # Behind a bare reference a schema has all to itself, as at the place itself.
    leads = all(part.keys() <= _SILENT for part in parts[:first])
    return _refuses(parts[first]) if leads and not others else None


def _refuses(part: JsonObject) -> bool:
    return is_false(schema_at(part, "unevaluatedProperties"))


def _are_apart(
    base: Sequence[JsonObject], one: Sequence[JsonObject], other: Sequence[JsonObject]
) -> bool:
    """Whether no object can take both branches, by a member that tells them apart."""
    if not types_of((*base, *one, *other)) & {"object", "any"}:
        return True
    for mine, theirs in ((one, other), (other, one)):
        needed = {name for part in (*base, *mine) for name in names_at(part, "required")}
        for name in needed:
            told, others = _listed(mine, name), _listed(theirs, name)
            if told is not None and others is not None and not told & others:
                return True
            if any(_lacks(part, name) for part in theirs):
                return True
    return False


def _listed(parts: Sequence[JsonObject], name: str) -> frozenset[str] | None:
    for part in parts:
        member = schema_map(part, "properties").get(name)
        if isinstance(member, Mapping) and is_enumerated(member):
            return frozenset(_texts(member))
    return None


def _texts(member: JsonObject) -> Iterator[str]:
    yield from map(identity_text, listed_values(member))


def _lacks(part: JsonObject, name: str) -> bool:
    """Whether the schema refuses the member."""
    properties = schema_map(part, "properties")
    if name in properties:
        return is_false(properties[name])
    return is_false(schema_at(part, "additionalProperties")) and "patternProperties" not in part
