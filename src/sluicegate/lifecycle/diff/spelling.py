"""Schemas as texts to compare by: what a reference leads to counts, the name it bears does not.

A definition that is renamed, moved or no longer used leaves the text as it was; one that changed
changes the text of every schema that reaches it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias
from urllib.parse import unquote

from sluicegate.contracts.fingerprints import strip_annotations
from sluicegate.contracts.schemas.keywords import Schema, rebuild_member, walk
from sluicegate.values.json import JsonObject, JsonValue, canonical_text
from sluicegate.values.pointers import Pointer

Placed: TypeAlias = "tuple[str, Schema]"
"""Where a subschema stands in its document, and the subschema."""

_MAX_WRITTEN: Final = 200_000
"""Subschemas of definitions that one document's texts write out in all. Beyond, the text of a
reference stands for what it leads to: names are for people, and the proof covers the whole."""
_MAX_STEPS: Final = 200
_BESIDE: Final = frozenset({"$ref", "title", "description", "$comment"})
_LED_OTHERWISE: Final = frozenset({"$anchor", "$dynamicAnchor", "$dynamicRef"})
"""With these, or an ``$id`` below the root, a reference leads where no pointer tells."""


def follow(schema: JsonObject, root: JsonObject) -> Placed | None:
    """Return what a reference of the document ``root`` leads to; None where none is led by."""
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    try:
        pointer = Pointer.parse(unquote(reference[1:]))
        target = pointer.find(root)
    except ValueError:  # an anchor: the text of the reference stands for it
        return None
    return (pointer.text, target) if isinstance(target, Mapping | bool) else None


def is_written_alike(old: JsonObject, new: JsonObject) -> bool:
    """Whether two schemas are the same text, their annotations and the order of members apart."""
    return canonical_text(strip_annotations(old)) == canonical_text(strip_annotations(new))


def is_spelled_alike(old: JsonObject, new: JsonObject) -> bool:
    """Whether two schemas are the same but for annotations and the names of definitions.

    Then they admit exactly the same values, also where recursion leaves a proof no form.
    """
    if is_written_alike(old, new):
        return True
    if not (is_led_by_pointers(old) and is_led_by_pointers(new)):
        return False
    return _Text(old, None).write(old) == _Text(new, None).write(new)


def is_led_by_pointers(root: JsonObject) -> bool:
    """Whether every reference is a pointer that leads somewhere; else its text says too little."""
    return not any(
        isinstance(schema, Mapping)
        and (
            _LED_OTHERWISE & schema.keys()
            or (at and "$id" in schema)
            or ("$ref" in schema and follow(schema, root) is None)
        )
        for at, schema in walk(root)
    )


class Speller:
    """The texts of the subschemas of one document, with one allowance for all of them."""

    __slots__ = ("_left", "root")

    def __init__(self, root: JsonObject) -> None:
        self.root = root
        self._left = _MAX_WRITTEN

    @property
    def exhausted(self) -> bool:
        """Whether the allowance is used up, so that texts may say too little."""
        return self._left <= 0

    def spell(self, schema: Schema) -> str:
        """Return a text that is equal for equal subschemas, definitions and all."""
        text = _Text(self.root, self._left)
        written = text.write(schema)
        self._left = 0 if text.cut else self._left - text.spent
        return written

    def spell_target(self, placed: Placed) -> str:
        """Return the text of a place; a mere reference is followed first."""
        schema = placed[1]
        for _ in range(_MAX_STEPS):
            if isinstance(schema, bool) or schema.keys() - _BESIDE:
                break
            target = follow(schema, self.root)
            if target is None:
                break
            schema = target[1]
        return self.spell(schema)


class _Text:
    """One text: definitions bear the number in which they are reached. ``left`` None: no limit."""

    __slots__ = ("_left", "_numbers", "_reached", "_root", "cut", "spent")

    def __init__(self, root: JsonObject, left: int | None) -> None:
        self._root = root
        self._left = left
        self._numbers: dict[int, int] = {}
        self._reached: list[Schema] = []
        self.spent = 0
        self.cut = False

    def write(self, schema: Schema) -> str:
        written = [self._number(strip_annotations(schema))]
        # The list grows on the way, as definitions lead to others.
        written.extend(self._number(strip_annotations(target)) for target in self._reached)
        return canonical_text(written)

    def _number(self, schema: JsonValue) -> JsonValue:
        if not isinstance(schema, Mapping):
            return schema
        told = {
            keyword: rebuild_member(keyword, _in_order(member), self._rebuild)
            for keyword, member in sorted(schema.items())
            if keyword != "$defs"
        }
        target = follow(schema, self._root)
        number = None if target is None else self._reach(target[1])
        return told if number is None else {**told, "$ref": number}

    def _rebuild(self, schema: Schema) -> Schema:
        numbered = self._number(schema)
        return numbered if isinstance(numbered, Mapping | bool) else schema

    def _reach(self, target: Schema) -> int | None:
        """Return the number of a definition; None where no more of them are written out."""
        number = self._numbers.get(id(target))
        if number is not None:
            return number
        if self._left is not None:
            size = sum(1 for _ in walk(target))
            if self.spent + size > self._left:
                self.cut = True
                return None
            self.spent += size
        self._numbers[id(target)] = len(self._reached)
        self._reached.append(target)
        return self._numbers[id(target)]


def _in_order(member: JsonValue) -> JsonValue:
    """Members by name: the order in which definitions are reached must not rest on the writer."""
    return dict(sorted(member.items())) if isinstance(member, Mapping) else member
