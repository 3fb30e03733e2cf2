"""Pointers and a schema → one compiled expression over a valid document.

The syntax tree is built from nodes, never from text: a member's name can only become a constant.
What the schema promises (a member that is required, a place that is always an object) costs no
test; everything else is tested, so that the expression is total on every valid document.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sluicegate.contracts.schemas.projection import Reach, find_subschemas
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.pointers import EVERY, Pointer

UNTRUSTED_TEXT: Final = "untrusted_text"

_ROOT: Final = "document"
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


def compile_projection(
    document: JsonObject, pointers: Sequence[Pointer], untrusted_text: Mapping[str, Pointer]
) -> Callable[[object], JsonValue]:
    """Compile the function that builds the selected object from a document that conforms.

    Where a pointer leads through a place that holds null instead of an object or array, null is
    selected; a declared text that is absent is left out, or is null inside an array, whose shape
    stays. Raises: ValueError where ``untrusted_text`` has no object to stand in.
    """
    branch = merge_pointers(pointers)
    expressions = _Expressions(document)
    body = expressions.project(branch, Pointer(()), _name(_ROOT))
    if untrusted_text:
        body = expressions.add_texts(body, branch, untrusted_text)
    parameters = ast.arguments(
        posonlyargs=[ast.arg(_ROOT)], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    tree = ast.fix_missing_locations(ast.Expression(ast.Lambda(parameters, body)))
    names = {"__builtins__": {}, "type": type, "dict": dict, "list": list}
    compiled: Callable[[object], JsonValue] = eval(  # noqa: S307  (a tree of our own nodes)
        compile(tree, "<selector>", "eval"), names
    )
    return compiled


class _Expressions:
    """Builds the expressions of one selector over one schema."""

    def __init__(self, document: JsonObject) -> None:
        self._document = document
        self._reached: dict[Pointer, Reach] = {}
        self._items = 0

    def project(self, branch: Branch, at: Pointer, value: ast.expr) -> ast.expr:
        """Return the projection of ``value``, which stands at ``at``."""
        if self._is_whole(branch, at):
            return value
        if EVERY in branch.children:
            item = self._next_item()
            built: ast.expr = _each(
                self.project(branch.children[EVERY], at.child(EVERY), _name(item)), item, value
            )
            return built if self._is_always(at, "array") else _if(_is(value, "list"), built)
        members = _Members()
        for name, child in branch.children.items():
            place = at.child(name)
            member = self.project(child, place, _member(value, name))
            if self._reach(place).required:
                members.add(name, member)
            else:
                members.add_if(_has(value, name), name, member)
        built = members.display
        return built if self._is_always(at, "object") else _if(_is(value, "dict"), built)

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
            text, conditions = self._reach_text(pointer.segments, Pointer(()), _name(_ROOT))
            if conditions:
                texts.add_if(_all(conditions), name, text)
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
            text, conditions = self._reach_text(rest, place, _name(item))
            if conditions:
                text = _if(_all(conditions), text)
            always = self._is_always(at, "array")
            return _each(text, item, value), [] if always else [_is(value, "list")]
        text, conditions = self._reach_text(rest, place, _member(value, first))
        if not self._reach(place).required:
            conditions.insert(0, _has(value, first))
        if not self._is_always(at, "object"):
            conditions.insert(0, _is(value, "dict"))
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
            reach = self._reached[at] = find_subschemas(self._document, at)
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


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _member(value: ast.expr, name: str) -> ast.expr:
    return ast.Subscript(value, ast.Constant(name), ast.Load())


def _has(value: ast.expr, name: str) -> ast.expr:
    return ast.Compare(ast.Constant(name), [ast.In()], [value])


def _is(value: ast.expr, kind: str) -> ast.expr:
    found = ast.Call(_name("type"), [value], [])
    return ast.Compare(found, [ast.Is()], [_name(kind)])


def _all(conditions: list[ast.expr]) -> ast.expr:
    return conditions[0] if len(conditions) == 1 else ast.BoolOp(ast.And(), conditions)


def _if(condition: ast.expr, value: ast.expr) -> ast.expr:
    return ast.IfExp(condition, value, ast.Constant(None))


def _each(item: ast.expr, name: str, array: ast.expr) -> ast.expr:
    loop = ast.comprehension(ast.Name(name, ast.Store()), array, [], 0)
    return ast.ListComp(item, [loop])
