"""This package's own work on the documents: the ladder, its refusal, and the audited return."""

from __future__ import annotations

import asyncio
import atexit
import json
import shutil
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from documents import Document
from timing import Timer, timer_of

from sluicegate.contracts.contract import Contract
from sluicegate.contracts.served import ContractSet
from sluicegate.gates.envelopes import Success, succeed
from sluicegate.gates.outstanding import Outstanding
from sluicegate.gates.ports import AuditStore
from sluicegate.gates.result_gate import ResultLadder
from sluicegate.stores.keys import draw_keys
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.sqlite import SqliteStore
from sluicegate.testing import FixedClock, RecordedUpstream, contracts_of, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request, RequestId

NOW = datetime(2026, 11, 30, 3, 14, 20, tzinfo=UTC)
ARGUMENTS = {"project_id": "proj-42"}
REQUEST_ID = RequestId("req_01HZX4T9")
CALLER = Caller(subject="benchmark")

FIELDS: dict[str, dict[str, list[str]]] = {
    "few": {
        "small": ["/article_id", "/status"],
        "rows": ["/observed_at", "/rows/*/id", "/rows/*/state", "/rows/*/score"],
    },
    "all": {
        "small": ["/project_id", "/article_id", "/status", "/observed_at", "/signed_by"],
        "rows": [
            "/project_id",
            "/observed_at",
            "/rows/*/id",
            "/rows/*/state",
            "/rows/*/score",
            "/rows/*/updated_at",
            "/rows/*/owner",
            "/rows/*/tags",
        ],
    },
}


def contracts_for(document: Document, fields: str, *, proven: bool = True) -> ContractSet:
    """The document's contract: bound, fresh, in an envelope; titles are declared free text.

    ``proven=False`` adds an optional member that may nest without end, so that depth and
    finiteness are watched at run time.
    """
    kind = "small" if document.name == "small" else "rows"
    data = json.loads(json.dumps(document.data))
    if not proven:
        tree = {
            "type": "object",
            "maxProperties": 4,
            "propertyNames": {"pattern": "^[a-z]{1,8}$"},
            "additionalProperties": {"$ref": "#/$defs/tree"},
        }
        data["properties"]["notes"] = {"$ref": "#/$defs/tree"}
        data["$defs"] = {"tree": tree}
    result: dict[str, Any] = {
        "schema": data,
        "bind": {"/project_id": "/project_id"},
        "fresh": {"at": "/observed_at", "max_age_s": 60, "max_ahead_s": 5},
        "agent": FIELDS[fields][kind],
    }
    if kind == "rows" and (fields == "all" or document.name == "medium_unicode"):
        result["untrusted_text"] = {"titles": "/rows/*/title"}
    contract = {
        "sluicegate": 1,
        "tool": document.tool,
        "version": "1.0.0",
        "owner": "benchmarks",
        "description": "One document of the benchmark.",
        "effect": "read",
        "arguments": {
            "schema": {
                "type": "object",
                "properties": {"project_id": {"type": "string", "maxLength": 64}},
                "required": ["project_id"],
                "additionalProperties": False,
            }
        },
        "fetch": {"host": {}},
        "limits": {"max_bytes": 2_000_000, "max_depth": 16},
        "upstream": {"envelope": True},
        "result": result,
        "errors": {"NOT_FOUND": {"retryable": False}},
    }
    settings = {"limits": {"max_bytes": 2_000_000}}
    return contracts_of(
        {
            "sluicegate.yaml": json.dumps(settings),
            "benchmark/contract.json": json.dumps(contract),
        }
    )


def _contract(served: ContractSet) -> Contract:
    (contract,) = served.contracts.values()
    return contract


def _request(document: Document) -> Request:
    return Request(tool=document.tool, request_id=REQUEST_ID, arguments=ARGUMENTS, caller=CALLER)


def _receipt(raw: bytes) -> Receipt:
    return Receipt(
        adapter="benchmark",
        adapter_version="1",
        endpoint="benchmark",
        raw=raw,
        status=200,
        content_type="application/json",
    )


def climb(fields: str, *, proven: bool = True) -> Callable[[Document], Timer]:
    """The result ladder from a receipt to the agent's envelope, without the record."""

    def build(document: Document) -> Timer:
        ladder = ResultLadder(_contract(contracts_for(document, fields, proven=proven)))
        receipt, request, now = _receipt(document.raw), _request(document), NOW
        tool = document.tool

        def work() -> Success:
            selected: Any = ladder.climb(receipt, request, now)
            return succeed(tool, REQUEST_ID, selected[0])  # TypeError for what is rejected

        return timer_of(work)

    return build


def refuse(document: Document) -> Timer:
    """One finding: an undeclared member in an otherwise good answer."""
    value = json.loads(document.raw)
    value["data"]["message"] = "approved"
    receipt = _receipt(json.dumps(value, separators=(",", ":")).encode())
    ladder = ResultLadder(_contract(contracts_for(document, "all")))
    request, now = _request(document), NOW

    def work() -> Rejected:
        rejected = ladder.climb(receipt, request, now)
        assert isinstance(rejected, Rejected)
        assert len(rejected.findings) == 1, rejected
        return rejected

    return timer_of(work)


def audited(open_store: Callable[[Path], AuditStore]) -> Callable[[Document], Timer]:
    """A whole call through a gate, one after another: two events are durable before the answer."""

    def build(document: Document) -> Timer:
        served = contracts_for(document, "all")
        value = json.loads(document.raw)
        arguments = json.dumps(ARGUMENTS)
        folder = Path(tempfile.mkdtemp(prefix="sluicegate-benchmark-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        loop = asyncio.new_event_loop()
        gate = gate_of(
            served,
            {document.tool: RecordedUpstream()},
            clock=FixedClock(NOW),
            store=open_store(folder),
        )

        async def calls(count: int) -> float:
            spent = 0.0
            for _ in range(count):
                begun = time.perf_counter()
                asked = await gate.check_call(document.tool, arguments, caller=CALLER)
                spent += time.perf_counter() - begun
                assert isinstance(asked, Outstanding)
                value["request_id"] = asked.request_id
                raw = json.dumps(value, separators=(",", ":")).encode()
                begun = time.perf_counter()
                answer = await gate.check_result(asked, _receipt(raw))
                spent += time.perf_counter() - begun
                assert answer.outcome == "success", answer
            return spent

        return lambda count: loop.run_until_complete(calls(count))

    return build


def in_memory(folder: Path) -> AuditStore:
    return MemoryStore()


def on_disk(folder: Path) -> AuditStore:
    return SqliteStore(folder / "audit.db", draw_keys())


LADDERS: dict[str, tuple[str, Callable[[Document], Timer]]] = {
    "few": ("ladder, proven, few fields", climb("few")),
    "all": ("ladder, proven, all fields", climb("all")),
    "unproven": ("ladder, unproven, all fields", climb("all", proven=False)),
    "refusal": ("refusal with one finding", refuse),
    "memory": ("whole call, record in memory", audited(in_memory)),
    "sqlite": ("whole call, record in SQLite", audited(on_disk)),
}
"""Key → (what the table calls it, builder)."""
