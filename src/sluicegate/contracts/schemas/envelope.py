"""The envelope schema of a tool: one 2020-12 document for any conforming validator (CON-6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from sluicegate.contracts.schemas.bundling import encode_fragment
from sluicegate.contracts.schemas.keywords import DIALECT, Schema, rebuild_member, walk
from sluicegate.values.codes import CODES, FAILURE_CODES, REFUSED_CODES, AgentCode, Side, Stage
from sluicegate.values.findings import MAX_FINDINGS
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.pointers import join_segments
from sluicegate.values.requests import REQUEST_ID_PATTERN, TOOL_NAME_PATTERN

_WITH_FINDINGS: Final = frozenset({AgentCode.INVALID_ARGUMENTS, AgentCode.CHECK_FAILED})
_WITH_NEEDS: Final = frozenset({AgentCode.EVIDENCE_REQUIRED})
_CALL_STAGES: Final = frozenset({Stage.BOUND, Stage.PARSE, Stage.CONFORM, Stage.CHECK, Stage.ADMIT})
_DATA: Final = ("$defs", "data")


def envelope_schema(tool: str, agent_schema: JsonObject, errors: Mapping[str, bool]) -> JsonObject:
    """Return the schema of everything the gate answers for ``tool``.

    ``agent_schema`` is the published schema of ``data``; ``errors`` are the contract's own codes,
    which stand in failures. Shape: ``oneOf`` of the closed shapes success, failure and refused,
    told apart by ``outcome``; no reference leads outside. Source: SPEC CON-6, ENV-1.
    """
    data, definitions = _place_data(agent_schema)
    failures = {*FAILURE_CODES, *errors}
    head: dict[str, JsonValue] = {
        "tool": {"const": tool},
        "request_id": {"type": "string", "pattern": REQUEST_ID_PATTERN},
    }
    success = _closed(
        {**head, "outcome": {"const": "success"}, "data": data, "replayed": {"const": True}},
        optional=("replayed",),
    )
    failure = _closed(
        {**head, "outcome": {"const": "failure"}, "error": _error(failures, {}, ())},
    )
    refused = _closed({**head, "outcome": {"const": "refused"}, "error": _refusal()})
    envelope: dict[str, JsonValue] = {
        "$schema": DIALECT,
        "title": f"Everything that {tool} answers",
        "type": "object",
        "oneOf": [success, failure, refused],
    }
    if definitions:
        envelope["$defs"] = definitions
    return envelope


def _refusal() -> JsonValue:
    """Refusals by code: with findings, with what is needed, or bare."""
    findings: JsonValue = {"type": "array", "items": _finding(), "maxItems": MAX_FINDINGS}
    needs = _closed(
        {
            "tool": {"type": "string", "pattern": TOOL_NAME_PATTERN},
            "arguments": {"type": "object"},
        }
    )
    return {
        "type": "object",
        "oneOf": [
            _error(_WITH_FINDINGS, {"findings": findings}, ("findings",)),
            _error(_WITH_NEEDS, {"needs": needs}, ("needs",)),
            _error(REFUSED_CODES - _WITH_FINDINGS - _WITH_NEEDS, {}, ()),
        ],
    }


def _error(
    codes: Iterable[str], more: Mapping[str, JsonValue], optional: tuple[str, ...]
) -> JsonValue:
    members: dict[str, JsonValue] = {
        "code": {"enum": sorted(str(code) for code in codes)},
        "retryable": {"type": "boolean"},
        **more,
    }
    return _closed(members, optional=optional)


def _finding() -> JsonValue:
    """One violation of the model's own arguments; no member holds a received value."""
    codes = sorted(
        str(code)
        for code, entry in CODES.items()
        if entry.stages & _CALL_STAGES and entry.side in (Side.CALL, Side.BOTH)
    )
    texts = ("expected", "received", "hint", "schema_pointer", "keyword")
    return _closed(
        {
            "code": {"enum": codes},
            "pointer": {"type": "string"},
            **{name: {"type": "string"} for name in texts},
        },
        optional=texts,
    )


def _closed(
    properties: Mapping[str, JsonValue], *, optional: tuple[str, ...] = ()
) -> dict[str, JsonValue]:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def _place_data(agent_schema: JsonObject) -> tuple[JsonValue, dict[str, JsonValue]]:
    """Inline the data schema; one with definitions moves into ``$defs`` with its references."""
    bare = {key: member for key, member in agent_schema.items() if key not in ("$schema", "$id")}
    if "$defs" not in bare and not _has_reference(bare):
        return bare, {}
    return {"$ref": "#/$defs/data"}, {"data": _move(bare)}


def _has_reference(schema: Schema) -> bool:
    return any(isinstance(inner, Mapping) and "$ref" in inner for _, inner in walk(schema))


def _move(schema: Schema) -> Schema:
    if isinstance(schema, bool):
        return schema
    moved: dict[str, JsonValue] = {}
    for keyword, member in schema.items():
        if keyword == "$ref" and isinstance(member, str) and member.startswith("#"):
            moved[keyword] = "#" + encode_fragment(join_segments(_DATA)) + member[1:]
        else:
            moved[keyword] = rebuild_member(keyword, member, _move)
    return moved
