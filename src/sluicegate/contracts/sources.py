"""One schema source (SPEC CON-5): models, dataclasses, typed dicts, functions → closed schema."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, get_type_hints

from sluicegate.contracts.schemas.keywords import subschemas
from sluicegate.values.json import JsonValue

_KINDS: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_NEED: Final = (
    "a schema is derived from Python by pydantic, which is not installed: "
    "install sluicegate[schemas]."
)
_MAX_REASON: Final = 200
_FOREIGN: Final = frozenset({"discriminator"})
"""What pydantic adds beyond draft 2020-12; the ``const`` of each branch says the same."""


def schema_of(
    source: object, *, side: Literal["arguments", "result"]
) -> Mapping[str, JsonValue] | str:
    """Return the closed draft 2020-12 schema of ``source``, or a sentence that says why not.

    ``source``: a Pydantic model, a dataclass, a TypedDict, any annotated type; a function, whose
    parameters are the members on the arguments side and whose return annotation counts on the
    result side; or a schema as a mapping. Objects are closed, titles that only repeat a name are
    dropped. What pydantic cannot express as a schema is said. Source: SPEC CON-5.
    """
    if isinstance(source, Mapping):
        return source
    try:
        pydantic = importlib.import_module("pydantic")
    except ImportError:
        return _NEED
    wanted: object = source
    if inspect.isroutine(source):
        wanted = _type_of(source, side, pydantic)
        if isinstance(wanted, str):
            return wanted
    mode = "validation" if side == "arguments" else "serialization"
    try:
        schema = pydantic.TypeAdapter(wanted).json_schema(mode=mode)
    except Exception as error:  # noqa: BLE001  (whatever pydantic raises, there is no schema)
        reason = " ".join(str(error).partition("\n")[0].split())[:_MAX_REASON]
        return f"pydantic takes no schema from it ({type(error).__name__}: {reason})."
    closed: JsonValue = close_schema(schema, is_root=True)
    return closed if isinstance(closed, Mapping) else "it admits everything."


def close_schema(schema: JsonValue, *, is_root: bool = False, name: str = "") -> JsonValue:
    """Return ``schema`` with every object closed and without titles that repeat a name."""
    if not isinstance(schema, Mapping):
        return schema
    closed: dict[str, JsonValue] = {
        key: member for key, member in schema.items() if key not in _FOREIGN
    }
    title = closed.get("title")
    if isinstance(title, str) and (is_root or _plain(title) in ("", _plain(name))):
        del closed["title"]
    if closed.get("type") == "object" and "properties" in closed:
        closed.setdefault("additionalProperties", False)
        if closed["additionalProperties"] is True:
            closed["additionalProperties"] = False
    for segments, inner in subschemas(closed):
        own = segments[-1] if segments[0] in ("properties", "$defs") else ""
        _put(closed, segments, close_schema(inner, name=own))
    return closed


def _plain(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


def _put(holder: dict[str, JsonValue], segments: tuple[str, ...], value: JsonValue) -> None:
    keyword = segments[0]
    if len(segments) == 1:
        holder[keyword] = value
        return
    inner = holder[keyword]
    if isinstance(inner, Mapping):
        holder[keyword] = {**inner, segments[1]: value}
    elif isinstance(inner, list):
        index = int(segments[1])
        holder[keyword] = [*inner[:index], value, *inner[index + 1 :]]


def _type_of(function: Callable[..., object], side: str, pydantic: Any) -> object | str:
    """A model of the parameters, or the return annotation; a sentence where there is none."""
    try:
        hints = get_type_hints(function, include_extras=True)
        parameters = inspect.signature(function).parameters.values()
    except (NameError, TypeError, ValueError) as error:
        return f"its annotations cannot be read ({type(error).__name__})."
    if side == "result":
        return hints.get("return") or "it has no return annotation."
    members: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.kind not in _KINDS:
            return f"its parameter `{parameter.name}` cannot be passed by its name."
        if parameter.name not in hints:
            return f"its parameter `{parameter.name}` has no annotation."
        required = parameter.default is inspect.Parameter.empty
        members[parameter.name] = (hints[parameter.name], ... if required else parameter.default)
    config = pydantic.ConfigDict(extra="forbid")
    model: object = pydantic.create_model("Arguments", __config__=config, **members)
    return model
