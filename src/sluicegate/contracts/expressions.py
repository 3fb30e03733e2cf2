"""Small functions built as syntax trees: straight lines over a parsed value.

A tree is built from nodes, never from text: a member's name can only become a constant, so that no
document can say what runs. What is compiled sees the names that it is given, and no builtins.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def compile_function(
    parameters: Sequence[str], body: ast.expr, names: Mapping[str, object], purpose: str
) -> Callable[..., Any]:
    """Return the function of positional ``parameters`` that returns ``body``.

    ``names`` is all that it can refer to beside them; ``purpose`` stands in a traceback.
    """
    return _compile(parameters, [ast.Return(body)], names, purpose)


def compile_total_function(
    parameters: Sequence[str],
    body: ast.expr,
    names: Mapping[str, object],
    purpose: str,
    *,
    otherwise: bool | int,
) -> Callable[..., Any]:
    """As ``compile_function``; returns ``otherwise`` for a value of another shape.

    That is one for which ``body`` raises LookupError, TypeError or ValueError.
    """
    errors = {kind.__name__: kind for kind in (LookupError, TypeError, ValueError)}
    handler = ast.ExceptHandler(
        ast.Tuple([variable(kind) for kind in errors], ast.Load()),
        None,
        [ast.Return(ast.Constant(otherwise))],
    )
    guarded = ast.Try([ast.Return(body)], [handler], [], [])
    return _compile(parameters, [guarded], {**errors, **names}, purpose)


def _compile(
    parameters: Sequence[str],
    statements: list[ast.stmt],
    names: Mapping[str, object],
    purpose: str,
) -> Callable[..., Any]:
    arguments = ast.arguments(
        posonlyargs=[ast.arg(parameter) for parameter in parameters],
        args=[],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[],
    )
    function = ast.FunctionDef("compiled", arguments, statements, [])
    tree = ast.fix_missing_locations(ast.Module([function], []))
    scope: dict[str, Any] = {"__builtins__": {}, **names}
    exec(compile(tree, f"<{purpose}>", "exec"), scope)  # noqa: S102  (a tree of our own nodes)
    compiled: Callable[..., Any] = scope["compiled"]
    return compiled


def variable(text: str) -> ast.expr:
    """``text``"""
    return ast.Name(text, ast.Load())


def subscript(value: ast.expr, key: str) -> ast.expr:
    """``value["key"]``"""
    return ast.Subscript(value, ast.Constant(key), ast.Load())


def attribute(value: ast.expr, key: str) -> ast.expr:
    """``value.key``"""
    return ast.Attribute(value, key, ast.Load())


def call(function: str, *values: ast.expr) -> ast.expr:
    """``function(value, …)``"""
    return ast.Call(variable(function), list(values), [])


def has(value: ast.expr, key: str) -> ast.expr:
    """``"key" in value``"""
    return ast.Compare(ast.Constant(key), [ast.In()], [value])


def is_type(value: ast.expr, kind: str) -> ast.expr:
    """``type(value) is kind``"""
    return ast.Compare(call("type", value), [ast.Is()], [variable(kind)])


def equal(left: ast.expr, right: ast.expr) -> ast.expr:
    """``left == right``"""
    return ast.Compare(left, [ast.Eq()], [right])


def every(conditions: Sequence[ast.expr]) -> ast.expr:
    """``condition and …``"""
    return conditions[0] if len(conditions) == 1 else ast.BoolOp(ast.And(), list(conditions))


def either(condition: ast.expr, value: ast.expr, otherwise: ast.expr) -> ast.expr:
    """``value if condition else otherwise``"""
    return ast.IfExp(condition, value, otherwise)


def each(item: ast.expr, of: str, array: ast.expr) -> ast.expr:
    """``[item for of in array]``"""
    loop = ast.comprehension(ast.Name(of, ast.Store()), array, [], 0)
    return ast.ListComp(item, [loop])
