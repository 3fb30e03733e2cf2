"""Pointers and a schema → one compiled expression over a valid document.

What the schema promises (a member that is required, a place that is always an object) costs no
test; everything else is tested, so that the expression is total on every valid document.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sluicegate.contracts.expressions import (
    compile_function,
    each,
    either,
    every,
    has,
    is_type,
    subscript,
    variable,
)
from sluicegate.contracts.schemas.reach import Reach, Reaching
from sluicegate.values.findings import Finding
from sluicegate.values.json import JsonObject
from sluicegate.values.pointers import EVERY, Pointer

UNTRUSTED_TEXT: Final = "untrusted_text"

_ROOT: Final = "document"
_NOTES: Final = "notes"
_SILENT: Final = frozenset(
    {
        *("$schema", "$id", "$defs", "$comment", "title", "description", "default", "examples"),
        *("type", "deprecated", "readOnly", "writeOnly"),
    }
)
_PLAIN_OBJECT: Final = _SILENT | {
    *("properties", "required", "additionalProperties", "minProperties", "maxProperties")
}
_PLAIN_ARRAY: Final = _SILENT | {"items", "minItems", "maxItems", "uniqueItems"}
"""Keywords that add no member beyond ``properties`` and speak about no item but by ``items``."""


@dataclass(slots=True)
class Branch:
    """What is selected below one place: all of it, or these segments of it."""

    whole: bool = False
    children: dict[str, Branch] = field(default_factory=dict)


def merge_pointers(pointers: Sequence[Pointer]) -> Branch:
    """Merge pointers into one tree, so that pointers through one array share one comprehension."""
    root = Branch()
    for pointer in pointers:
        branch = root
        for segment in pointer.segments:
            branch = branch.children.setdefault(segment, Branch())
        branch.whole = True
    return root


def compile_projections(
    document: JsonObject,
    parts: Sequence[Sequence[Pointer]],
    untrusted_text: Mapping[str, Pointer],
) -> Callable[[object, tuple[Finding, ...]], object]:
    """Compile the function that builds the selected objects from a document that conforms.

    Shape: (document, notes) → a tuple: an object for each part, None for a later part without
    pointers, and the notes. Where a pointer leads through a place that holds null instead of an
    object or array, null is selected. The first part bears ``untrusted_text``: a declared text
    that is absent is left out, or is null inside an array, whose shape stays. Raises: ValueError
    where it has no object to stand in.
    """
    expressions = _Expressions(document)
    root = Pointer(())
    projections: list[ast.expr] = []
    for pointers in parts:
        branch = merge_pointers(pointers)
        if projections and not pointers:
            projections.append(ast.Constant(None))
            continue
        projection = expressions.project(branch, root, variable(_ROOT))
        if untrusted_text and not projections:
            projection = expressions.add_texts(projection, branch, untrusted_text)
        projections.append(projection)
    body = ast.Tuple([*projections, variable(_NOTES)], ast.Load())
    names = {"type": type, "dict": dict, "list": list}
    return compile_function((_ROOT, _NOTES), body, names, "selector")


class _Expressions:
    """Builds the expressions of one selector over one schema."""

    def __init__(self, document: JsonObject) -> None:
        self._reaching = Reaching(document)
        self._reached: dict[Pointer, Reach] = {}
        self._items = 0

    def project(self, branch: Branch, at: Pointer, value: ast.expr) -> ast.expr:
        """Return the projection of ``value``, which stands at ``at``."""
        if self._is_whole(branch, at):
            return value
        if EVERY in branch.children:
            item = self._next_item()
            built: ast.expr = each(
                self.project(branch.children[EVERY], at.child(EVERY), variable(item)), item, value
            )
            return (
                built if self._is_always(at, "array") else _or_null(is_type(value, "list"), built)
            )
        members = _Members()
        for name, child in branch.children.items():
            place = at.child(name)
            member = self.project(child, place, subscript(value, name))
            if self._reach(place).required:
                members.add(name, member)
            else:
                members.add_if(has(value, name), name, member)
        built = members.display
        return built if self._is_always(at, "object") else _or_null(is_type(value, "dict"), built)

    def add_texts(
        self, body: ast.expr, branch: Branch, untrusted_text: Mapping[str, Pointer]
    ) -> ast.expr:
        """Return ``body`` with the declared texts in a member of their own."""
        if UNTRUSTED_TEXT in branch.children:
            raise ValueError(f"the agent's fields already bear a member {UNTRUSTED_TEXT}")
        if EVERY in branch.children or not self._is_always(Pointer(()), "object"):
            raise ValueError(f"{UNTRUSTED_TEXT} needs data that is always an object")
        texts = _Members()
        for name, pointer in untrusted_text.items():
            text, conditions = self._reach_text(pointer.segments, Pointer(()), variable(_ROOT))
            if conditions:
                texts.add_if(every(conditions), name, text)
            else:
                texts.add(name, text)
        if isinstance(body, ast.Dict):
            outer = _Members(body)
        else:
            outer = _Members()
            outer.spread(body)
        outer.add(UNTRUSTED_TEXT, texts.display)
        return outer.display

    def _reach_text(
        self, segments: tuple[str, ...], at: Pointer, value: ast.expr
    ) -> tuple[ast.expr, list[ast.expr]]:
        """Return the value at ``segments`` below ``value``, and when it is there at all."""
        if not segments:
            return value, []
        first, rest = segments[0], segments[1:]
        place = at.child(first)
        if first == EVERY:
            item = self._next_item()
            text, conditions = self._reach_text(rest, place, variable(item))
            if conditions:
                text = _or_null(every(conditions), text)
            always = self._is_always(at, "array")
            return each(text, item, value), [] if always else [is_type(value, "list")]
        text, conditions = self._reach_text(rest, place, subscript(value, first))
        if not self._reach(place).required:
            conditions.insert(0, has(value, first))
        if not self._is_always(at, "object"):
            conditions.insert(0, is_type(value, "dict"))
        return text, conditions

    def _is_whole(self, branch: Branch, at: Pointer) -> bool:
        """Whether every member that a valid value can have is selected: then it is moved."""
        if branch.whole:
            return True
        schemas = self._reach(at).schemas
        if len(schemas) != 1 or not branch.children:
            return False
        schema = schemas[0]
        if schema.get("type") == "array" and schema.keys() <= _PLAIN_ARRAY:
            item = branch.children.get(EVERY)
            return item is not None and self._is_whole(item, at.child(EVERY))
        if schema.get("type") != "object" or not schema.keys() <= _PLAIN_OBJECT:
            return False
        properties = schema.get("properties")
        return (
            schema.get("additionalProperties") is False
            and isinstance(properties, Mapping)
            and all(
                name in branch.children and self._is_whole(branch.children[name], at.child(name))
                for name in properties
            )
        )

    def _is_always(self, at: Pointer, kind: str) -> bool:
        return self._reach(at).types == {kind}

    def _reach(self, at: Pointer) -> Reach:
        reach = self._reached.get(at)
        if reach is None:
            reach = self._reached[at] = self._reaching.find(at)
        return reach

    def _next_item(self) -> str:
        self._items += 1
        return f"item_{self._items}"


class _Members:
    """A dict display under construction."""

    __slots__ = ("display",)

    def __init__(self, display: ast.Dict | None = None) -> None:
        self.display = ast.Dict([], []) if display is None else display

    def add(self, name: str, value: ast.expr) -> None:
        self.display.keys.append(ast.Constant(name))
        self.display.values.append(value)

    def spread(self, value: ast.expr) -> None:
        self.display.keys.append(None)
        self.display.values.append(value)

    def add_if(self, condition: ast.expr, name: str, value: ast.expr) -> None:
        self.spread(ast.IfExp(condition, ast.Dict([ast.Constant(name)], [value]), ast.Dict([], [])))


def _or_null(condition: ast.expr, value: ast.expr) -> ast.expr:
    return either(condition, value, ast.Constant(None))
