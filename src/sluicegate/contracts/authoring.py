"""A contract written in Python beside its tool: the same document, the same loader (CON-7)."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from sluicegate.contracts.contract import Contract, PythonName
from sluicegate.contracts.file_names import SETTINGS_NAME
from sluicegate.contracts.loading import load
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.sources import schema_of
from sluicegate.errors import ContractFolderError, MisuseError
from sluicegate.values.json import JsonObject, JsonValue

Check: TypeAlias = "Callable[..., object]"

_TIMEOUT_S: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Authored:
    """``document`` is what contract.yaml would hold; ``objects`` are the functions it names."""

    document: JsonObject
    objects: Mapping[PythonName, object] = field(default_factory=dict)


def write_contract(
    function: Callable[..., object] | None = None,
    *,
    owner: str,
    agent: Sequence[str] = (),
    tool: str | None = None,
    version: str = "0.1.0",
    description: str | None = None,
    effect: str = "read",
    arguments: object = None,
    result: object = None,
    bind: Mapping[str, JsonValue] | None = None,
    fresh: Mapping[str, JsonValue] | None = None,
    resource: Sequence[Mapping[str, JsonValue]] = (),
    argument_checks: Sequence[Check] = (),
    checks: Sequence[Check] = (),
    operator: Sequence[str] = (),
    display: Sequence[str] = (),
    untrusted_text: Mapping[str, str] | None = None,
    fetch: Mapping[str, JsonValue] | None = None,
    timeout_s: float = _TIMEOUT_S,
    **parts: JsonValue,
) -> Authored:
    """Return the document of a contract whose parts are given in Python.

    ``function`` names the tool, describes it (first paragraph of its docstring) and gives both
    schemas from its signature; ``arguments`` and ``result`` (a model, a dataclass, a type, a
    schema) stand before it. ``fetch`` absent: the function itself is called. ``parts`` are further
    keys of contract.yaml, such as ``upstream``, ``errors``, ``retry``, ``limits``, ``title``.
    Raises: MisuseError where a part can neither be taken from ``function`` nor is given.
    Source: SPEC CON-5, CON-7.
    """
    objects: dict[PythonName, object] = {}
    call_side = _drop_empty(
        {
            "schema": _schema(arguments, function, "arguments"),
            "resource": [dict(rule) for rule in resource],
            "checks": [_name(check, objects) for check in argument_checks],
        }
    )
    result_side = _drop_empty(
        {
            "schema": _schema(result, function, "result"),
            "bind": dict(bind or {}),
            "fresh": dict(fresh or {}),
            "checks": [_name(check, objects) for check in checks],
            "agent": list(agent),
            "untrusted_text": dict(untrusted_text or {}),
            "operator": list(operator),
            "display": list(display),
        }
    )
    document: dict[str, JsonValue] = {
        "sluicegate": 1,
        "tool": tool or getattr(function, "__name__", None) or _lacks("tool"),
        "version": version,
        "owner": owner,
        "description": description or _describe(function),
        "effect": effect,
        "arguments": call_side,
        "fetch": fetch if fetch is not None else _fetch(function, timeout_s, objects),
        "result": result_side,
        **parts,
    }
    return Authored(document=document, objects=objects)


def contract_of(function: Callable[..., object] | None = None, **parts: Any) -> Contract:
    """Return the contract that ``write_contract`` writes, read and judged by the loader.

    Only the modules of the functions that were handed in may be imported.
    Raises: MisuseError as ``write_contract``; ContractFolderError with every problem.
    Source: SPEC CON-7.
    """
    loaded = load_authored(write_contract(function, **parts))
    if isinstance(loaded, tuple):
        raise ContractFolderError(loaded)
    return loaded


def load_authored(
    authored: Authored, *, limits: Mapping[str, JsonValue] | None = None
) -> Contract | tuple[Problem, ...]:
    """Put an authored document through the loader, under ``TOOL/contract.json``.

    ``limits`` stand as those of sluicegate.yaml: ceilings and defaults; None: the built-in ones.
    """
    document = authored.document
    settings: dict[str, JsonValue] = {"python": sorted({name.module for name in authored.objects})}
    if limits is not None:
        settings["limits"] = dict(limits)
    try:
        raw = json.dumps(document, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise MisuseError(f"a part of this contract is no JSON: {error}") from error
    loaded = load(
        {
            SETTINGS_NAME: json.dumps(settings).encode(),
            f"{document['tool']}/contract.json": raw,
        },
        resolve=authored.objects.__getitem__,
    )
    return loaded if isinstance(loaded, tuple) else loaded.contracts[str(document["tool"])]


def _schema(source: object, function: Callable[..., object] | None, side: str) -> JsonValue:
    wanted = source if source is not None else function
    if wanted is None:
        _lacks(side)
    schema = schema_of(wanted, side="arguments" if side == "arguments" else "result")
    if isinstance(schema, str):
        raise MisuseError(f"the {side} have no schema: {schema}")
    return schema


def _describe(function: Callable[..., object] | None) -> str:
    text = (inspect.getdoc(function) or "").partition("\n\n")[0] if function is not None else ""
    return " ".join(text.split()) or _lacks("description")


def _fetch(
    function: Callable[..., object] | None, timeout_s: float, objects: dict[PythonName, object]
) -> JsonObject:
    if function is None:
        return {"host": {}}
    return {"python": {"function": _name(function, objects), "timeout_s": timeout_s}}


def _name(check: Check, objects: dict[PythonName, object]) -> str:
    name = PythonName(
        str(getattr(check, "__module__", "")),
        str(getattr(check, "__qualname__", "")).replace("<locals>.", ""),
    )
    objects[name] = check
    return str(name)


def _drop_empty(part: Mapping[str, JsonValue]) -> JsonObject:
    return {key: value for key, value in part.items() if value not in ({}, [])}


def _lacks(part: str) -> str:
    raise MisuseError(f"pass `{part}=`: there is no function that it could be taken from")
