"""What stands around a fixture's bytes: caller, outstanding request, time, status and media type.

A sidecar says it (SPEC 2); what it leaves out is what a good answer would have had.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from sluicegate.checks.selection import Selected
from sluicegate.contracts.contract import (
    CommandFetch,
    Contract,
    HttpFetch,
    JwsSignature,
    SshFetch,
)
from sluicegate.gates.call_gate import Prepared
from sluicegate.gates.serving import Line
from sluicegate.opening.collecting import FIXTURES
from sluicegate.opening.documents import read_inside
from sluicegate.opening.fixture_signatures import FixtureSignature
from sluicegate.opening.sidecars import read_now
from sluicegate.values.callers import Caller
from sluicegate.values.json import JsonValue
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request, RequestId

DEFAULT_REQUEST_ID: Final = "req.fixture0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Everything that a ladder asks for beside the bytes; ``receipt`` bears none yet.

    ``signature``: how an answer of a signed contract is signed.
    """

    request: Request
    now: datetime
    receipt: Receipt
    signature: FixtureSignature | None = None

    def climb(self, line: Line, side: str, raw: bytes) -> Selected | Prepared | Rejected:
        """Climb the real ladder of a side with ``raw``.

        Raises: CredentialUnreadable for an answer that is judged by secrets that are not here.
        """
        if side == "arguments":
            return line.call.climb(raw, self.request.caller)
        receipt = replace(self.receipt, raw=raw)
        if self.signature is None:
            return line.result.climb(receipt, self.request, self.now)
        receipt, trust = self.signature.sign(receipt, self.request, self.now)
        return line.result.climb(receipt, self.request, self.now, trust)

    def brings_signature(self, raw: bytes) -> bool:
        """Whether an answer with ``raw`` brings its own signature."""
        signed = self.signature
        return signed is not None and signed.is_brought(replace(self.receipt, raw=raw))


def situate(line: Line, needs: Mapping[str, JsonValue], default: bytes | None) -> Situation:
    """Return the situation that ``needs``, the words of a sidecar, describe.

    ``default`` are the arguments where none are named. Raises: ValueError for arguments that do
    not fit the contract, for a ``now`` that is no time, and for a ``signature`` of a contract that
    demands none or beside headers that bring one.
    """
    caller = _caller(needs.get("caller"))
    request = Request(
        tool=line.contract.tool,
        request_id=RequestId(str(needs.get("request_id", DEFAULT_REQUEST_ID))),
        arguments=_arguments(line, needs, default, caller),
        caller=caller,
    )
    receipt = _receipt(line.contract, needs)
    return Situation(
        request=request,
        now=read_now(needs),
        receipt=receipt,
        signature=_signature(line, needs, receipt),
    )


def read_fixture(folder: Path, path: Path) -> bytes:
    """Return what a fixture holds. Raises: ValueError for a link that leaves the folder."""
    content = read_inside(folder, path)
    if isinstance(content, bytes):
        return content
    raise ValueError(content.message)


def default_arguments(folder: Path) -> bytes | None:
    """The first accepted arguments stand in where a result's sidecar names none."""
    path = find_default(folder)
    return None if path is None else read_fixture(folder, path)


def find_default(folder: Path) -> Path | None:
    """Return the fixture of those arguments; None where there is none."""
    return min((folder / FIXTURES / "arguments" / "accepted").glob("*.json"), default=None)


def _arguments(
    line: Line, needs: Mapping[str, JsonValue], default: bytes | None, caller: Caller
) -> object:
    """The outstanding arguments; what an arguments fixture holds has climbed its own ladder."""
    if "arguments" in needs:
        named = line.call.climb(json.dumps(needs["arguments"]).encode(), caller)
        if isinstance(named, Rejected):
            raise ValueError(
                "`arguments` in the sidecar do not fit the contract: "
                f"{named.stage}/{named.code}{_at(named)}"
            )
        return named.arguments
    if default is None:
        return {}
    prepared = line.call.climb(default, caller)
    return {} if isinstance(prepared, Rejected) else prepared.arguments


def _at(rejected: Rejected) -> str:
    return f" at {rejected.findings[0].pointer or '/'}" if rejected.findings else ""


def _receipt(contract: Contract, needs: Mapping[str, JsonValue]) -> Receipt:
    fetch, upstream = contract.fetch, contract.upstream
    usual = _usual(upstream.success_status, 200) if isinstance(fetch, HttpFetch) else None
    status = needs.get("status", usual)
    is_command = isinstance(fetch, CommandFetch | SshFetch)
    exit_code = needs.get("exit_code", _usual(upstream.success_exit, 0) if is_command else None)
    content_type = needs.get("content_type")
    if content_type is None and status is not None:
        content_type = contract.upstream.content_type[0]
    headers = needs.get("headers")
    return Receipt(
        adapter="fixture",
        adapter_version="1",
        endpoint="",
        status=status if isinstance(status, int) else None,
        exit_code=exit_code if isinstance(exit_code, int) else None,
        content_type=content_type if isinstance(content_type, str) else None,
        headers=tuple((name, str(text)) for name, text in headers.items())
        if isinstance(headers, Mapping)
        else (),
    )


def _usual(successes: frozenset[int], usual: int) -> int:
    """What comes with an answer whose sidecar says nothing, so that a good one is accepted."""
    return usual if usual in successes else min(successes)


def _signature(
    line: Line, needs: Mapping[str, JsonValue], receipt: Receipt
) -> FixtureSignature | None:
    rule, how = line.contract.upstream.signature, str(needs.get("signature", "good"))
    if rule is None:
        if "signature" in needs:
            raise ValueError("`signature` in the sidecar: the contract demands none")
        return None
    if how == "other_issuer" and not isinstance(rule, JwsSignature):
        raise ValueError("`signature: other_issuer` in the sidecar: only a JWS names its issuer")
    own = None if line.keys is None else line.keys.source
    signature = FixtureSignature(rule=rule, how=how, own=own)
    if "signature" in needs and signature.is_brought(receipt):
        raise ValueError("`signature` in the sidecar stands beside a signature in `headers`")
    return signature


def _caller(value: JsonValue) -> Caller:
    if isinstance(value, Mapping):
        tenant = value.get("tenant")
        return Caller(
            subject=str(value.get("subject", "fixture")),
            tenant=tenant if isinstance(tenant, str) else None,
        )
    return Caller(subject=value if isinstance(value, str) else "fixture")
