"""The field cases as rows, and the question that each one asks of a gate."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sluicegate.contracts.contract import FreshRule
from sluicegate.gates.verdicts import Question
from sluicegate.values.limits import Limits
from sluicegate.values.pointers import Pointer

FOLDER = Path(__file__).parent
DEFAULT_LIMITS = Limits(max_bytes=262_144, max_depth=64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a file; ``side`` is arguments, result, mcp_result, registration or audit."""

    id: str
    side: str
    schema: Any
    raw: bytes
    expect: Mapping[str, Any]
    context: Mapping[str, Any]
    options: Mapping[str, Any]
    profile: str | None
    raw_kind: str

    @property
    def limits(self) -> Limits:
        told = {**self.context, **self.options}
        return Limits(
            max_bytes=told.get("max_bytes", DEFAULT_LIMITS.max_bytes),
            max_depth=told.get("max_depth", DEFAULT_LIMITS.max_depth),
        )

    @property
    def integers(self) -> Any:
        return "i-json" if self.options.get("integer_range") == "ieee754-safe" else "any"


GENERATED = {
    '{"gen":"x*33554432"}': lambda: b"x" * 33_554_432,
    '{"gen":"{\\"x\\":[*10000"}': lambda: b'{"x":' + b"[" * 10_000,
    '{"gen":"{k0..k999999}"}': lambda: (
        b"{" + b",".join(b'"k%d":0' % index for index in range(1_000_000)) + b"}"
    ),
}
"""Rows too long to stand in a file say which shape to build."""


def read_rows(name: str) -> list[Row]:
    lines = (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [_row(json.loads(line)) for line in lines]


def _row(told: Mapping[str, Any]) -> Row:
    if told.get("raw_b64"):
        raw = base64.b64decode(told["raw_b64"])
    elif told["raw"] in GENERATED:
        raw = GENERATED[told["raw"]]()
    else:
        raw = told["raw"].encode()
    return Row(
        id=told["id"],
        side=told["side"],
        schema=told["schema"],
        raw=raw,
        expect=told["expect"],
        context=told.get("context", {}),
        options=told.get("options", {}),
        profile=told.get("profile"),
        raw_kind=told.get("raw_kind", "schema"),
    )


def question_of(row: Row) -> Question:
    """What ``sluicegate judge`` would be asked about this row's raw bytes."""
    context = row.context
    fresh = None
    if "fresh_at" in context:
        fresh = FreshRule(
            at=Pointer.parse(context["fresh_at"]),
            max_age_s=context["max_age_s"],
            max_ahead_s=context.get("max_ahead_s", 5.0),
        )
    return Question(
        schema=row.schema,
        side="arguments" if row.side == "arguments" else "result",
        limits=row.limits,
        integers=row.integers,
        now=datetime.fromisoformat(context["now"]) if "now" in context else None,
        request_id=context.get("request_id"),
        bind={Pointer.parse(at): value for at, value in context.get("bind", {}).items()},
        fresh=fresh,
    )


MISSION = read_rows("mission")
TOOL_CALLS = read_rows("tool-calls")
INCIDENTS = read_rows("incidents")
ALL = [*MISSION, *TOOL_CALLS, *INCIDENTS]
