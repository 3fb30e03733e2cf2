"""The frozen form of a contract: one self-contained document, which a release writes (CON-7)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from sluicegate.contracts.contract import Contract
from sluicegate.values.json import JsonObject, JsonValue

# JSON admits these raw in a string; a YAML reader takes some for line breaks, others not at all.
_ESCAPED: Final = {
    point: f"\\u{point:04x}"
    for point in (*range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF)
}


def freeze_document(written: Mapping[str, JsonValue], contract: Contract) -> JsonObject:
    """Return ``written`` with effective schemas in the place of theirs, and effective limits."""
    frozen = dict(written)
    frozen["arguments"] = _with_schema(written.get("arguments"), contract.arguments.schema.document)
    frozen["result"] = _with_schema(written.get("result"), contract.result.schema.document)
    frozen["limits"] = {
        "max_call_bytes": contract.call_limits.max_bytes,
        "max_bytes": contract.limits.max_bytes,
        "max_depth": contract.limits.max_depth,
    }
    return frozen


def _with_schema(part: JsonValue, schema: JsonObject) -> JsonValue:
    members: dict[str, JsonValue] = dict(part) if isinstance(part, Mapping) else {}
    members["schema"] = schema
    return members


def freeze(contract: Contract) -> str:
    """Return the text of ``contract`` as a release freezes it.

    JSON, which is YAML 1.2 as well: it loads under ``contract.yaml`` and under ``contract.json``,
    with the same digest, and refers to no other schema. Python names stay names (CON-5 freezes
    schemas). Source: SPEC CON-5, CON-7.
    """
    text = json.dumps(contract.document, indent=2, ensure_ascii=False, allow_nan=False)
    return text.translate(_ESCAPED) + "\n"
