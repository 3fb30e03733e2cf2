"""How each row is driven: the question of ``judge``, a ladder, a whole contract, or a gate."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from tests.cases.bare import bare_contract, contract_document
from tests.cases.rows import Row, question_of
from tests.cases.waiting import STAGES

from sluicegate.access.table import TableAuthorizer
from sluicegate.checks.authentication import NOBODY, Trust
from sluicegate.contracts.contract import (
    JwsSignature,
    Signature,
    TextRule,
    UpstreamPart,
    WebhookSignature,
)
from sluicegate.contracts.loading import load
from sluicegate.gates.judging import judge
from sluicegate.gates.ports import Adapter, Dispatch
from sluicegate.gates.result_gate import ResultLadder
from sluicegate.opening.fixture_signatures import FixtureSignature
from sluicegate.stores.heads import NO_HEAD, public_keys_of, read_heads, sign_head
from sluicegate.stores.heads_check import compare_heads, walk_chain
from sluicegate.stores.memory import MemoryStore
from sluicegate.testing import RecordedUpstream, contracts_of, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Stage
from sluicegate.values.instants import moment_of, parse_rfc3339
from sluicegate.values.receipts import Fault, Receipt
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request, RequestId


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What became of a row: ``found`` are (code, pointer) pairs."""

    accepted: bool
    stage: str | None = None
    found: Sequence[tuple[str, str]] = ()


def drive(row: Row) -> Seen:
    """Drive the row the way its side and context ask for."""
    if row.id in BY_ID:
        return BY_ID[row.id](row)
    if row.side == "mcp_result":
        return climb_result(row, row.raw, UpstreamPart(carrier="mcp", mcp_version=era_of(row)))
    if row.side == "registration" and row.profile is not None:
        return load_contract(row)
    if row.context.get("upstream_status", 200) != 200:
        return climb_result(row, row.raw, UpstreamPart(), status=row.context["upstream_status"])
    return judge_row(row)


def differs(row: Row, seen: Seen) -> str:
    """Say how ``seen`` is not what the row expects; empty where it is."""
    expect = row.expect
    wanted_stage = STAGES.get(row.id, expect.get("stage"))
    if expect["verdict"] == "accepted":
        if expect.get("outcome") == "failure":
            codes = {code for code, _ in seen.found}
            return "" if codes == {"TOOL_FAILED"} else f"{seen} and must be the upstream's failure"
        return "" if seen.accepted else f"{seen} and must be accepted"
    if seen.accepted:
        return f"accepted, and must be rejected with {expect['codes']}"
    if wanted_stage is not None and seen.stage != wanted_stage:
        return f"{seen} and must be rejected at {wanted_stage}"
    fitting = [pointer for code, pointer in seen.found if code in expect["codes"]]
    if "pointer" in expect:
        fitting = [pointer for pointer in fitting if pointer == expect["pointer"]]
    return "" if fitting else f"{seen} and must have one of {expect['codes']} at the pointer named"


def judge_row(row: Row) -> Seen:
    verdict = judge(row.raw, question_of(row))
    return Seen(
        accepted=verdict.accepted,
        stage=verdict.stage,
        found=[(finding.code, finding.pointer) for finding in verdict.findings],
    )


def climb_result(
    row: Row,
    raw: bytes,
    upstream: UpstreamPart,
    *,
    status: int | None = None,
    schema: object = None,
    sign: Callable[[Receipt, Request, datetime], tuple[Receipt, Trust]] | None = None,
) -> Seen:
    contract = bare_contract(
        row.schema if schema is None else schema,
        upstream=upstream,
        limits=row.limits,
        integers=row.integers,
    )
    receipt = Receipt(
        adapter="case",
        adapter_version="1",
        endpoint="",
        raw=raw,
        status=status,
        content_type="application/json",
    )
    request = Request(
        tool="case",
        request_id=RequestId(row.context.get("request_id", "req.case0001")),
        arguments={},
        caller=Caller(subject="case"),
    )
    receipt, trust = (receipt, NOBODY) if sign is None else sign(receipt, request, now_of(row))
    outcome = ResultLadder(contract).climb(receipt, request, now_of(row), trust)
    return seen_of(outcome if isinstance(outcome, Rejected) else None)


def load_contract(row: Row) -> Seen:
    """Load a folder that holds the row's schema, or its whole tool definition."""
    if row.raw_kind == "tool_definition":
        tool, schema = row.schema["name"], row.schema["inputSchema"]
    else:
        tool, schema = "case", row.schema
    documents = {"case/contract.json": contract_document(schema, tool=tool).encode()}
    if "already_registered" in row.options:
        documents["first/contract.json"] = contract_document(
            row.options["already_registered"], tool="first"
        ).encode()
    loaded = load(documents, resolve=None)
    if not isinstance(loaded, tuple):
        return Seen(accepted=True)
    return Seen(
        accepted=False,
        stage="register",
        found=[(problem.code, "") for problem in loaded],
    )


def call_for_principal(row: Row) -> Seen:
    """Call through a gate whose table grants the row's principal what it owns and no more."""
    (name,) = [name for name in ("/article_id", "/account_ids") if name[1:] in row.raw.decode()]
    settings = {
        "access": [
            {
                "caller": row.context["principal"],
                "action": "call",
                "tool": "case",
                "resource": {"type": "thing", "in": [str(own) for own in row.context["owns"]]},
            }
        ]
    }
    contract = contract_document(
        row.schema, arguments={"resource": [{"type": "thing", "id": name}]}
    )
    return call_once(row, contract, settings, RecordedUpstream(b'{"done": true}'), calls=1)


def call_again_after_timeout(row: Row) -> Seen:
    """Send a write whose answer is lost, with a retry rule that would cover a read."""
    contract = contract_document(
        row.schema,
        effect="write",
        fetch={
            "http": {
                "method": "POST",
                "url": "http://127.0.0.1:9/orders",
                "timeout_s": 5,
                "body": "arguments",
            }
        },
        errors={"UPSTREAM_UNAVAILABLE": {"retryable": True}},
        retry={"attempts": 2, "budget_s": 10, "on": ["UPSTREAM_UNAVAILABLE"]},
    )
    lost = Receipt(adapter="case", adapter_version="1", endpoint="", fault=Fault.TIMEOUT)
    upstream = RecordedUpstream(lost)
    seen = call_once(row, contract, {}, upstream, calls=2)
    assert len(upstream.dispatches) == 1, "a write was sent twice"
    return seen


def call_under_held_key(row: Row) -> Seen:
    """Call under a key that another call holds: one that still runs, or one that is done."""
    ((key, held),) = row.context["store"].items()
    contract = contract_document(
        row.schema,
        effect="write",
        fetch={
            "http": {
                "method": "POST",
                "url": "http://127.0.0.1:9/orders",
                "timeout_s": 5,
                "body": "arguments",
            }
        },
        idempotency={"key": "host", "keep_s": 600},
    )
    served = contracts_of({"case/contract.json": contract})
    caller = Caller(subject="case")
    first = json.dumps(held.get("fingerprint_of", json.loads(row.raw)))

    async def run() -> Seen:
        upstream = HeldUpstream(b'{"done": true}')
        gate = gate_of(served, {"case": upstream})
        running = asyncio.ensure_future(gate.call("case", first, caller=caller, call_id=key))
        await upstream.asked.wait()
        if held["state"] == "done":
            upstream.release.set()
            await running
        answer = await gate.call("case", row.raw, caller=caller, call_id=key)
        upstream.release.set()
        await running
        *_, last = gate.audit.events(request_id=answer.request_id)
        assert len(upstream.dispatches) == 1, "it was sent twice"
        if last.code is None:
            return Seen(accepted=True)
        return Seen(accepted=False, stage=last.stage, found=[(last.code, "")])

    return asyncio.run(run())


class HeldUpstream(RecordedUpstream):
    """Answers once it is told to."""

    def __init__(self, *received: bytes) -> None:
        super().__init__(*received)
        self.asked, self.release = asyncio.Event(), asyncio.Event()

    async def fetch(self, dispatch: Dispatch) -> Receipt:
        receipt = await super().fetch(dispatch)
        self.asked.set()
        await self.release.wait()
        return receipt


def call_once(row: Row, contract: str, settings: object, upstream: Adapter, *, calls: int) -> Seen:
    """Call ``calls`` times and report the last event of the last call."""
    served = contracts_of({"sluicegate.yaml": json.dumps(settings), "case/contract.json": contract})
    caller = Caller(subject=row.context.get("principal", "case"))
    rules = served.settings.access.rules

    async def run() -> Seen:
        store = MemoryStore()
        authorizer = TableAuthorizer(rules) if rules else None
        gate = gate_of(served, {"case": upstream}, store=store, authorizer=authorizer)
        for _ in range(calls):
            answer = await gate.call("case", row.raw, caller=caller)
        *_, last = store.events(request_id=answer.request_id)
        if last.code is None:
            return Seen(accepted=True)
        return Seen(accepted=False, stage=last.stage, found=[(last.code, "")])

    return asyncio.run(run())


def climb_text_only(row: Row) -> Seen:
    """A text block that is declared as plain text: what stands in it is text."""
    schema = {
        "type": "object",
        "properties": {"text": {"type": "string", "maxLength": 4000}},
        "required": ["text"],
        "additionalProperties": False,
    }
    upstream = UpstreamPart(carrier="mcp", text=TextRule(kind="plain"))
    return climb_result(row, row.raw, upstream, schema=schema)


def climb_without_structure(row: Row) -> Seen:
    """The row's context holds the result's parts; its null says that the member is absent."""
    raw = json.dumps({"content": row.context["mcp"]["content"]}).encode()
    return climb_result(row, raw, UpstreamPart(carrier="mcp"))


def climb_signed(row: Row) -> Seen:
    """Sign the row's bytes as its context says, and judge them under a contract that demands it."""
    told = row.context["signature"]
    window = {"max_age_s": row.context.get("max_age_s", 300)}
    if told["alg"] == "hmac-sha256":
        rule: Signature = WebhookSignature(secrets=("SECRET",), **window)
        covers_time = "timestamp" in told["covers"] and told.get("timestamp") is not None
        how = "good" if covers_time else "without_time"
    else:
        how = "good" if told["issuer"] == row.context["expected_issuer"] else "other_issuer"
        rule = JwsSignature(
            issuer=row.context["expected_issuer"],
            algorithms=(told["alg"],),
            keys="case.jwks",
            header="x-signature",
            **window,
        )
    upstream = UpstreamPart(signature=rule)
    return climb_result(row, row.raw, upstream, sign=FixtureSignature(rule=rule, how=how).sign)


CLOSED = {"type": "object", "additionalProperties": False}


def cut_the_tail(row: Row) -> Seen:
    """Drop the last rows of a record and hold what is left against a head that stands elsewhere."""
    dropped = int(re.fullmatch(r"drop last (\d+) rows", row.raw.decode())[1])  # type: ignore[index]
    caller = Caller(subject="case")
    served = contracts_of({"case/contract.json": contract_document(CLOSED)})

    async def run() -> Seen:
        store = MemoryStore()
        gate = gate_of(served, {"case": RecordedUpstream(b"{}")}, store=store)
        for _ in range(3):
            await gate.call("case", "{}", caller=caller)
        events = [*store.events()]
        _, line = sign_head(
            b"s" * 32,
            record=events[0].link,
            seq=events[-1].seq,
            link=events[-1].link,
            time=row.context["now"],
            before=NO_HEAD,
        )
        assert walk_chain(events[:-dropped]).broken_at is None, "the chain alone shows it"
        heads = read_heads([line + b"\n"], public_keys_of([b"s" * 32]))
        report = compare_heads(heads, events[:-dropped])
        if report.code is None:
            return Seen(accepted=True)
        return Seen(accepted=False, stage=Stage.AUDIT, found=[(report.code, "")])

    return asyncio.run(run())


BY_ID: dict[str, Callable[[Row], Seen]] = {
    "seed-article-unauthorised": call_for_principal,
    "authz-01-object-level": call_for_principal,
    "retry-01-lost-response": call_again_after_timeout,
    "retry-02-timeout-read-as-failure": call_under_held_key,
    "retry-03-key-reuse": call_under_held_key,
    "audit-03-tail-cut": cut_the_tail,
    "res-025": climb_text_only,
    "drift-05-structured-missing": climb_without_structure,
    "sig-01-body-only-replay": climb_signed,
    "sig-02-missing-timestamp": climb_signed,
    "sig-04-wrong-issuer": climb_signed,
}


def era_of(row: Row) -> str:
    era: str = row.options.get("mcp_version", "2026-07-28")
    return era


def now_of(row: Row) -> datetime:
    now = parse_rfc3339(row.context.get("now", "2026-11-30T12:00:00Z"))
    assert now is not None
    return moment_of(now)


def seen_of(rejected: Rejected | None) -> Seen:
    if rejected is None:
        return Seen(accepted=True)
    findings = [(finding.code, finding.pointer) for finding in rejected.findings]
    return Seen(accepted=False, stage=rejected.stage, found=[(rejected.code, ""), *findings])
