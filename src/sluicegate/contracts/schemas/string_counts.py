"""How many strings the text of a valid value holds, names included: a proof that none was lost.

A parser that keeps the last of two equal names drops at least one name. So where a text without
escapes holds as many quotation marks as the value that came of it accounts for, nothing was
dropped, and no name stood twice in one object (RFC 8259 sections 4 and 7). To look for equal names
while parsing costs a third of the parse; to count costs a tenth of it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from sluicegate.contracts.expressions import (
    call,
    compile_total_function,
    each,
    either,
    has,
    is_type,
    subscript,
    variable,
)
from sluicegate.contracts.schemas.keywords import Schema, names_at, schema_at, schema_map
from sluicegate.contracts.schemas.proofs import own_types
from sluicegate.contracts.schemas.tree import SchemaTree
from sluicegate.values.json import JsonObject

StringCount: TypeAlias = Callable[[Any], int]
"""A parsed value → its strings, exact where the value is valid. Of others it may say anything;
-1 where they have not the shape that is counted. Never raises."""

_ROOT: Final = "document"
_MAX_NODES: Final = 300
_SCALARS: Final = frozenset({"null", "boolean", "number", "string"})
_LEADS_ON: Final = frozenset({"$ref", "$comment", "title", "description"})
_UNTOLD: Final = (
    *("allOf", "anyOf", "oneOf", "if", "not", "$ref", "$dynamicRef", "patternProperties"),
    *("dependentSchemas", "unevaluatedProperties", "prefixItems", "unevaluatedItems"),
)
"""Beside these, ``properties`` and ``items`` do not tell all about members and items."""


def compile_string_count(
    document: JsonObject, *, inside: str | None = None, beside: int = 0
) -> StringCount | None:
    """Return what counts the strings of a value that is valid under ``document``.

    ``inside``: the value stands in this member of the text's object, which holds ``beside`` more
    strings. What the schema does not tell apart (open objects, choices of schemas) is walked where
    it may be absent. None where it is always there: walking costs more than it saves.
    """
    counting = _Counting(document)
    root = variable(_ROOT)
    try:
        counted = counting.of(
            document, root if inside is None else subscript(root, inside), sure=True
        )
    except _UncountableError:
        return None
    names = {"len": len, "sum": sum, "type": type, "str": str, "dict": dict, "list": list}
    return compile_total_function(
        (_ROOT,),
        _Count(counted.fixed + beside, counted.varying).expression,
        {**names, "walk": count_strings},
        "string count",
        otherwise=-1,
    )


def count_strings(value: object) -> int:
    """Return how many strings a parsed value holds, names included."""
    count = 0
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, str):
            count += 1
        elif isinstance(current, dict):
            count += len(current)
            waiting.extend(current.values())
        elif isinstance(current, list):
            waiting.extend(current)
    return count


class _UncountableError(Exception):
    """The schema does not tell how many strings there are."""


@dataclass(frozen=True, slots=True)
class _Count:
    """``fixed`` strings in every valid value, and expressions for those that vary."""

    fixed: int
    varying: tuple[ast.expr, ...] = ()

    @property
    def expression(self) -> ast.expr:
        total: ast.expr = ast.Constant(self.fixed)
        for more in self.varying:
            total = ast.BinOp(total, ast.Add(), more)
        return total

    def __add__(self, other: _Count) -> _Count:
        return _Count(self.fixed + other.fixed, self.varying + other.varying)


_NONE: Final = _Count(0)
_ONE: Final = _Count(1)


class _Counting:
    """Builds the expression of one schema."""

    def __init__(self, document: JsonObject) -> None:
        self._tree = SchemaTree(document)
        self._within: list[int] = []
        self._nodes = 0

    def of(self, schema: Schema, value: ast.expr, *, sure: bool) -> _Count:
        """Count a value that is valid under ``schema``; ``sure``: there always is one."""
        self._nodes += 1
        if self._nodes > _MAX_NODES:
            raise _UncountableError
        schema = self._follow(schema)
        if isinstance(schema, bool) or id(schema) in self._within:
            return self._walk(value, sure=sure)
        self._within.append(id(schema))
        try:
            return self._of(schema, own_types(schema), value, sure=sure)
        finally:
            self._within.pop()

    def _of(
        self, schema: JsonObject, types: frozenset[str], value: ast.expr, *, sure: bool
    ) -> _Count:
        if types <= _SCALARS:
            if types == {"string"}:
                return _ONE
            return _Count(0, (is_type(value, "str"),)) if "string" in types else _NONE
        if any(keyword in schema for keyword in _UNTOLD):
            return self._walk(value, sure=sure)
        if types == {"object"}:
            return self._members(schema, value, sure=sure)
        if types == {"array"}:
            return self._items(schema, value, sure=sure)
        counted: ast.expr = is_type(value, "str") if "string" in types else ast.Constant(0)
        if "array" in types:
            counted = either(
                is_type(value, "list"), self._items(schema, value, sure=sure).expression, counted
            )
        if "object" in types:
            inner = self._members(schema, value, sure=sure)
            counted = either(is_type(value, "dict"), inner.expression, counted)
        return _Count(0, (counted,))

    def _members(self, schema: JsonObject, value: ast.expr, *, sure: bool) -> _Count:
        if schema_at(schema, "additionalProperties") is not False:
            return self._walk(value, sure=sure)
        required = names_at(schema, "required")
        counted = _NONE
        for key, inner in schema_map(schema, "properties").items():
            place = subscript(value, key)
            if key in required:
                counted += _ONE + self.of(inner, place, sure=sure)
            elif inner is not False:
                present = (_ONE + self.of(inner, place, sure=False)).expression
                counted += _Count(0, (either(has(value, key), present, ast.Constant(0)),))
        return counted

    def _items(self, schema: JsonObject, value: ast.expr, *, sure: bool) -> _Count:
        items = schema_at(schema, "items")
        if items is None:
            return self._walk(value, sure=sure)
        each_item = f"item_{self._nodes}"
        item = self.of(items, variable(each_item), sure=sure)
        counted = _NONE
        if item.fixed:
            length = call("len", value)
            counted += _Count(0, (ast.BinOp(ast.Constant(item.fixed), ast.Mult(), length),))
        if item.varying:
            varying = _Count(0, item.varying).expression
            counted += _Count(0, (call("sum", each(varying, each_item, value)),))
        return counted

    def _follow(self, schema: Schema) -> Schema:
        """Follow references that stand alone; they end, or lead back to what is being counted."""
        for _ in range(_MAX_NODES):
            if isinstance(schema, bool) or "$ref" not in schema or not schema.keys() <= _LEADS_ON:
                return schema
            schema = next(self._tree.referred(schema), True)
        return True

    def _walk(self, value: ast.expr, *, sure: bool) -> _Count:
        if sure:
            raise _UncountableError
        return _Count(0, (call("walk", value),))
