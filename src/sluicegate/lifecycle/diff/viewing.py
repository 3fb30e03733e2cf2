"""The schema of what is seen of a value, to prove by: which values can a reader come to see?

A value changes unseen only if each value that is seen afterwards could be seen before. So each
version gets a schema of its views. It admits the view of every valid value; and each value that it
admits is the view of a valid one, if what the view was ``assumed`` for holds: then a proof over the
schemas of the views is one over what the reader sees (facts: lifecycle B2, row 6).

A keyword that joins members, as ``if`` or ``minProperties``, is kept as it is written, and what it
rests on is seen with it. What cannot be taken apart is seen as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from sluicegate.contracts.schemas.keywords import (
    Schema,
    is_false,
    names_at,
    schema_at,
    schema_list,
    schema_map,
    walk,
)
from sluicegate.lifecycle.diff.branching import CHOICES, Step, Taken, find_ways
from sluicegate.lifecycle.diff.sights import Sight, Way
from sluicegate.lifecycle.diff.spelling import is_led_by_pointers
from sluicegate.lifecycle.diff.touching import (
    Touched,
    admits_null,
    conjuncts,
    touch_correlations,
    touch_test,
    types_of,
)
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.pointers import EVERY, Pointer

_ROUNDS: Final = 16
_DEFINED: Final = "#/$defs/"
_PLACED_APART: Final = frozenset({"$ref", "allOf", "$defs", "$schema", "$id"})
_OF_ARRAYS: Final = frozenset(
    {
        *("uniqueItems", "contains", "minContains", "maxContains", "const", "enum", "not", "if"),
        *("then", "else", "oneOf", "anyOf", "$dynamicRef"),
    }
)
"""Keywords that look at several items, or at an item as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """``schema`` of the views; ``assumed`` are schemas that must admit something each."""

    schema: JsonObject
    assumed: tuple[JsonObject, ...] = ()


def widen_together(pairs: Sequence[tuple[JsonObject, Sight]]) -> tuple[Sight, ...]:
    """Return for each document what is seen of it and all that this rests on.

    What one version needs is shown of all of them, so that their views can be compared.
    """
    sights = [sight.copy() for _, sight in pairs]
    more = Sight()
    for _ in range(_ROUNDS):
        before = more.facts()
        for (document, _), sight in zip(pairs, sights, strict=True):
            sight.join(more)
            _Widener(document, more).widen(sight)
        if more.facts() == before:
            return tuple(sights)
    return tuple(Sight(whole=True) for _ in pairs)


def view(document: JsonObject, sight: Sight) -> View:
    """Return the view of ``document``; ``sight`` was widened to all that it rests on."""
    return _Viewer(document).view(sight)


class _Widener:
    """Widens what is seen of one document; ``_more`` notes by what."""

    __slots__ = ("_more", "_root")

    def __init__(self, root: JsonObject, more: Sight) -> None:
        self._root = root
        self._more = more

    def widen(self, sight: Sight) -> None:
        if _is_plain(self._root):
            self._widen(self._root, sight, ())
        else:
            self._show(sight, ())

    def _show(self, sight: Sight, way: Way) -> None:
        sight.whole = True
        self._more.add(way)

    def _widen(self, schema: Schema, sight: Sight, way: Way) -> None:
        if sight.whole or schema is False:
            return
        known = self._widen_items if EVERY in sight.below else self._widen_members
        if not known(schema, sight, way):
            self._show(sight, way)

    def _widen_items(self, schema: Schema, sight: Sight, way: Way) -> bool:
        parts = conjuncts(schema, self._root)
        if parts is None or len(sight.below) > 1 or types_of(parts) - {"array", "null"}:
            return False
        speaking = [part for part in parts if _items(part)]
        if len(speaking) > 1 or any(map(_looks_across, parts)):
            return False
        if len(parts) > 1 and any("unevaluatedItems" in part for part in parts):
            return False  # taken apart, it would no longer see what the others have evaluated
        for part in speaking:
            for inner in _items(part):
                self._widen(inner, sight.below[EVERY], (*way, EVERY))
        return True

    def _widen_members(self, schema: Schema, sight: Sight, way: Way) -> bool:
        ways = find_ways(schema, self._root, _whole_members(sight))
        if ways is None or admits_null(schema, self._root) is None:
            return False
        return all(self._widen_way(each, sight, way) for each in ways)

    def _widen_way(self, taken: Taken, sight: Sight, way: Way) -> bool:
        parts = [step.schema for step in taken.steps]
        types = types_of(parts)
        if types - {"object", "null"}:
            return False
        if "object" not in types:
            return True
        touched = self._touched(taken)
        if touched.everything or not _is_closed(taken):
            return False
        speaking: dict[str, list[Schema]] = {}
        for part in parts:
            for name, inner in schema_map(part, "properties").items():
                speaking.setdefault(name, []).append(inner)
        # What two schemas say of a place that is seen in part cannot be taken apart.
        twice = {name for name in sight.below if len(speaking.get(name, ())) > 1}
        for name in touched.values | twice:
            self._show(sight.below.setdefault(name, Sight()), (*way, name))
        for name in touched.presence | (speaking.keys() if touched.counted else set()):
            sight.present.add(name)
            self._more.reach(way).present.add(name)
        for name, inner_sight in list(sight.below.items()):
            for inner in speaking.get(name, ()):
                self._widen(inner, inner_sight, (*way, name))
        return True

    def _touched(self, taken: Taken) -> Touched:
        touched = Touched()
        for step in taken.steps:
            touch_correlations(step.schema, self._root, touched)
            for keyword in CHOICES:
                if keyword not in step.opened:
                    for branch in schema_list(step.schema, keyword):
                        touch_test(branch, self._root, touched)
        return touched


class _Viewer:
    """Makes the schema of what is seen of one document."""

    __slots__ = ("_assumed", "_root")

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._assumed: list[JsonObject] = []

    def view(self, sight: Sight) -> View:
        if sight.whole:
            return View(schema=self._root)
        seen = self._seen(self._root, sight)
        return View(schema=self._as_document(seen), assumed=tuple(self._assumed))

    def _as_document(self, schema: Schema) -> JsonObject:
        document: dict[str, JsonValue] = (
            {"allOf": [schema]} if isinstance(schema, bool) else dict(schema)
        )
        defined = schema_map(self._root, "$defs")
        kept: dict[str, JsonValue] = {}
        waiting: list[Schema] = [document]
        while waiting:
            for name in _names_defined(waiting.pop()) & defined.keys() - kept.keys():
                kept[name] = defined[name]
                waiting.append(defined[name])
        if kept:
            document["$defs"] = dict(sorted(kept.items()))
        return document

    def _seen(self, schema: Schema, sight: Sight) -> Schema:
        if sight.whole or isinstance(schema, bool):
            return schema
        if EVERY in sight.below:
            parts = conjuncts(schema, self._root)
            assert parts is not None  # noqa: S101  (else it was widened to be seen as a whole)
            return {"allOf": [self._seen_items(part, sight.below[EVERY]) for part in parts]}
        ways = find_ways(schema, self._root, _whole_members(sight))
        assert ways is not None  # noqa: S101  (as above)
        # Ways are told apart by members, and a null has none: it may take several, so it is tried
        # on the schema as it is written, and each way is one of objects.
        found: list[JsonValue] = [{"type": "null"}] if admits_null(schema, self._root) else []
        for way in ways:
            if "object" not in types_of([step.schema for step in way.steps]):
                continue
            self._assume(way, sight)
            seen: list[JsonValue] = [self._seen_members(step, sight) for step in way.steps]
            found.append(_together(way, [*seen, {"type": "object"}]))
        return {"anyOf": found} if found else False

    def _assume(self, way: Taken, sight: Sight) -> None:
        """Hidden members must be there to be had; what they hold is no matter of what is seen."""
        parts = [step.schema for step in way.steps]
        needed = frozenset[str]().union(*(names_at(part, "required") for part in parts))
        present = sight.present - sight.below.keys()
        if all(map(sight.shows, needed)) and not present:
            return
        declared = {name for part in parts for name in schema_map(part, "properties")}
        whole: list[JsonObject] = [_bare(step) for step in way.steps]
        if present:
            whole.append({"required": sorted(present & declared)})
        together = _together(way, [*whole, {"type": "object"}])
        self._assumed.append(self._as_document(together))

    def _seen_members(self, step: Step, sight: Sight) -> JsonObject:
        seen = dict(_bare(step))
        if "properties" in seen:
            seen["properties"] = {
                name: self._seen(inner, below) if (below := sight.step(name)) else True
                for name, inner in schema_map(step.schema, "properties").items()
                if sight.shows(name)
            }
        if "required" in seen:
            seen["required"] = sorted(filter(sight.shows, names_at(step.schema, "required")))
        return seen

    def _seen_items(self, part: JsonObject, sight: Sight) -> JsonObject:
        seen = {key: member for key, member in part.items() if key not in _PLACED_APART}
        inner = schema_at(part, "items")
        if inner is not None:
            seen["items"] = self._seen(inner, sight)
        if "prefixItems" in part:
            seen["prefixItems"] = [
                self._seen(one, sight) for one in schema_list(part, "prefixItems")
            ]
        return seen


def _together(way: Taken, schemas: Sequence[JsonValue]) -> JsonObject:
    whole: JsonObject = {"allOf": list(schemas)}
    return {**whole, "unevaluatedProperties": False} if way.closing else whole


def _bare(step: Step) -> JsonObject:
    """The keywords of one schema, without what the way has taken apart already."""
    apart = _PLACED_APART | step.opened | {"unevaluatedProperties"}
    return {key: member for key, member in step.schema.items() if key not in apart}


def _whole_members(sight: Sight) -> frozenset[str]:
    return frozenset(name for name, inner in sight.below.items() if inner.whole)


def _is_plain(root: JsonObject) -> bool:
    """Whether each reference leads to a definition, which stays where it is."""
    return is_led_by_pointers(root) and all(
        isinstance(schema, bool) or str(schema.get("$ref", _DEFINED)).startswith(_DEFINED)
        for _, schema in walk(root)
    )


def _names_defined(schema: Schema) -> set[str]:
    """The definitions that ``schema`` refers to, or into."""
    return {
        Pointer.parse(unquote(str(inner["$ref"])[1:])).segments[1]
        for _, inner in walk(schema)
        if not isinstance(inner, bool) and "$ref" in inner
    }


def _is_closed(way: Taken) -> bool:
    return way.closing or any(
        is_false(schema_at(step.schema, "additionalProperties")) for step in way.steps
    )


def _items(part: JsonObject) -> list[Schema]:
    rest = schema_at(part, "items")
    return [*schema_list(part, "prefixItems"), *([] if rest is None else [rest])]


def _looks_across(part: JsonObject) -> bool:
    return any(part[keyword] is not False for keyword in _OF_ARRAYS & part.keys())
