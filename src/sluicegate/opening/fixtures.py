"""The fixtures of a contract, climbed through the real ladders (SPEC 2, LIF-2).

``fixtures/arguments/{accepted,rejected}`` and ``fixtures/result/{accepted,rejected}`` hold raw
bytes, one file a case; ``NAME.expect.yaml`` beside one says what it needs and what must come out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from sluicegate.checks.selection import Selected
from sluicegate.contracts.contract import CommandFetch, Contract, HttpFetch
from sluicegate.gates.serving import Line
from sluicegate.gates.verdicts import Verdict
from sluicegate.opening.collecting import FIXTURES, Stray, collect
from sluicegate.opening.documents import read_inside
from sluicegate.opening.sidecars import read_sidecar
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Code, Stage
from sluicegate.values.digests import digest_of_bytes
from sluicegate.values.findings import Finding
from sluicegate.values.instants import EPOCH, moment_of, parse_rfc3339
from sluicegate.values.json import JsonValue
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request, RequestId

DEFAULT_REQUEST_ID: Final = "req.fixture0"
_TIME_CODES: Final = frozenset({Code.STALE, Code.FROM_FUTURE, Code.BAD_TIME})


@dataclass(frozen=True, slots=True, kw_only=True)
class FixtureResult:
    """One fixture and what became of it. ``path`` is relative to the folder with the settings.

    ``expected`` is ``accepted`` or ``rejected``; ``ok`` says that the verdict, and stage, code
    and pointer where the sidecar names them, are as expected; ``note`` says why not. ``side`` and
    ``expected`` are empty for what looks like a fixture and is none.
    """

    path: str
    tool: str
    side: str
    expected: str
    verdict: Verdict
    ok: bool
    note: str = ""


def run_fixtures(folder: Path, line: Line, *, root: Path) -> Iterator[FixtureResult]:
    """Climb every fixture below ``folder``, a contract's in ``root``, and yield the results.

    What looks like a fixture and is read by nothing is a result that is not ``ok``.
    """
    default = _default_arguments(folder)
    for found in collect(folder):
        if isinstance(found, Stray):
            yield _not_run(root, line, found.path, found.note)
            continue
        expected = found.expected
        try:
            raw, needs = _read(folder, found.path), read_sidecar(found.path)
            expected = str(needs.get("verdict", expected))
            verdict = _climb(line, found.side, raw, needs, default)
        except (OSError, ValueError) as error:
            yield _not_run(root, line, found.path, str(error), side=found.side, expected=expected)
            continue
        note = _compare(verdict, expected, needs) or _lack_now(line.contract, verdict, needs)
        yield FixtureResult(
            path=_show(root, found.path),
            tool=line.contract.tool,
            side=found.side,
            expected=expected,
            verdict=verdict,
            ok=not note,
            note=note,
        )


def _not_run(
    root: Path, line: Line, path: Path, note: str, *, side: str = "", expected: str = ""
) -> FixtureResult:
    return FixtureResult(
        path=_show(root, path),
        tool=line.contract.tool,
        side=side,
        expected=expected,
        verdict=_unreadable(),
        ok=False,
        note=note,
    )


def _show(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def _read(folder: Path, path: Path) -> bytes:
    """Return what a fixture holds. Raises: ValueError for a link that leaves the folder."""
    content = read_inside(folder, path)
    if isinstance(content, bytes):
        return content
    raise ValueError(content.message)


def _default_arguments(folder: Path) -> bytes | None:
    """The first accepted arguments stand in where a result's sidecar names none."""
    paths = sorted((folder / FIXTURES / "arguments" / "accepted").glob("*.json"))
    return _read(folder, paths[0]) if paths else None


def _climb(
    line: Line, side: str, raw: bytes, needs: Mapping[str, JsonValue], default: bytes | None
) -> Verdict:
    caller = _caller(needs.get("caller"))
    if side == "arguments":
        outcome: object = line.call.climb(raw, caller)
        return _verdict(raw, outcome if isinstance(outcome, Rejected) else None)
    request = Request(
        tool=line.contract.tool,
        request_id=RequestId(str(needs.get("request_id", DEFAULT_REQUEST_ID))),
        arguments=_arguments(line, needs, default, caller),
        caller=caller,
    )
    judged = line.result.climb(_receipt(line.contract, raw, needs), request, _now(needs))
    return _verdict(raw, None if isinstance(judged, Selected) else judged)


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


def _receipt(contract: Contract, raw: bytes, needs: Mapping[str, JsonValue]) -> Receipt:
    fetch = contract.fetch
    status = needs.get("status", 200 if isinstance(fetch, HttpFetch) else None)
    exit_code = needs.get("exit_code", 0 if isinstance(fetch, CommandFetch) else None)
    content_type = needs.get("content_type")
    if content_type is None and status is not None:
        content_type = contract.upstream.content_type[0]
    headers = needs.get("headers")
    return Receipt(
        adapter="fixture",
        adapter_version="1",
        endpoint="",
        raw=raw,
        status=status if isinstance(status, int) else None,
        exit_code=exit_code if isinstance(exit_code, int) else None,
        content_type=content_type if isinstance(content_type, str) else None,
        headers=tuple((name, str(text)) for name, text in headers.items())
        if isinstance(headers, Mapping)
        else (),
    )


def _now(needs: Mapping[str, JsonValue]) -> datetime:
    text = needs.get("now")
    if text is None:
        return EPOCH
    now = parse_rfc3339(text) if isinstance(text, str) else None
    if now is None:
        raise ValueError("`now` in the sidecar must be an RFC 3339 time with an offset")
    return moment_of(now)


def _caller(value: JsonValue) -> Caller:
    if isinstance(value, Mapping):
        tenant = value.get("tenant")
        return Caller(
            subject=str(value.get("subject", "fixture")),
            tenant=tenant if isinstance(tenant, str) else None,
        )
    return Caller(subject=value if isinstance(value, str) else "fixture")


def _verdict(raw: bytes, rejected: Rejected | None) -> Verdict:
    if rejected is None:
        return Verdict(
            accepted=True, stage=None, code=None, findings=(), digest=digest_of_bytes(raw)
        )
    return Verdict(
        accepted=False,
        stage=rejected.stage,
        code=rejected.code,
        findings=rejected.findings or (Finding(code=rejected.code),),
        digest=digest_of_bytes(raw),
    )


def _unreadable() -> Verdict:
    return Verdict(
        accepted=False,
        stage=Stage.INTERNAL,
        code=Code.INTERNAL,
        findings=(),
        digest=digest_of_bytes(b""),
    )


def _compare(verdict: Verdict, expected: str, needs: Mapping[str, JsonValue]) -> str:
    """Return what differs from the expectation; empty where nothing does."""
    got = "accepted" if verdict.accepted else "rejected"
    if got != expected:
        if verdict.accepted:
            return "was accepted, and must be rejected"
        hint = " (does the sidecar name `now`?)" if verdict.code is Code.FROM_FUTURE else ""
        return f"was rejected with {verdict.stage}/{verdict.code}, and must be accepted{hint}"
    for member, value in (("stage", verdict.stage), ("code", verdict.code)):
        if member in needs and needs[member] != str(value):
            return f"{member} is {value}, and must be {needs[member]}"
    if "pointer" in needs and needs["pointer"] not in [f.pointer for f in verdict.findings]:
        return f"no finding stands at {needs['pointer']}"
    return ""


def _lack_now(contract: Contract, verdict: Verdict, needs: Mapping[str, JsonValue]) -> str:
    """A refusal for its time proves nothing where the fixture does not say what time it is."""
    if contract.result.fresh is None or "now" in needs or verdict.stage is not Stage.VOUCH:
        return ""
    if verdict.code not in _TIME_CODES:
        return ""
    return f"was rejected with {verdict.stage}/{verdict.code}: the sidecar must name `now`"
