"""The fixtures of a contract, climbed through the real ladders (SPEC 2, LIF-2).

``fixtures/arguments/{accepted,rejected}`` and ``fixtures/result/{accepted,rejected}`` hold raw
bytes, one file a case; ``NAME.expect.yaml`` beside one says what it needs and what must come out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from sluicegate.adapters.credentials import CredentialUnreadable
from sluicegate.contracts.contract import Contract
from sluicegate.gates.serving import Line
from sluicegate.gates.verdicts import Verdict
from sluicegate.opening.collecting import SIDECAR, Stray, collect
from sluicegate.opening.sidecars import read_beside, understand
from sluicegate.opening.situations import (
    Situation,
    default_arguments,
    find_default,
    read_fixture,
    situate,
)
from sluicegate.values.codes import Code, Stage
from sluicegate.values.digests import digest_of_bytes
from sluicegate.values.findings import Finding
from sluicegate.values.json import JsonValue
from sluicegate.values.rejections import Rejected

_TIME_CODES: Final = frozenset({Code.STALE, Code.FROM_FUTURE, Code.BAD_TIME})


@dataclass(frozen=True, slots=True, kw_only=True)
class FixtureResult:
    """One fixture that was judged. ``path`` is relative to the folder with the settings.

    ``expected`` is ``accepted`` or ``rejected``; ``ok`` says that the verdict, and stage, code
    and pointer where the sidecar names them, are as expected; ``note`` says why not. ``raw`` and
    ``sidecar`` are the very bytes that were judged.
    """

    path: str
    tool: str
    side: str
    expected: str
    verdict: Verdict
    ok: bool
    note: str = ""
    raw: bytes = b""
    sidecar: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadFixture:
    """A file among the fixtures that no rung judged: never well, and ``note`` says why.

    It cannot be read, its sidecar is nonsense, or it looks like a fixture and is none; there
    ``expected`` is empty.
    """

    path: str
    tool: str
    note: str
    expected: str = ""

    @property
    def ok(self) -> bool:
        """What was not judged is not as expected."""
        return False


TriedFixture: TypeAlias = FixtureResult | UnreadFixture


def run_fixtures(folder: Path, line: Line, *, root: Path) -> Iterator[TriedFixture]:
    """Climb every fixture below ``folder``, a contract's in ``root``, and yield the results.

    What looks like a fixture and is read by nothing is told of as one that cannot be read.
    """
    first, default = find_default(folder), default_arguments(folder)
    tool = line.contract.tool
    for found in collect(folder):
        path = found.path.relative_to(root).as_posix()
        if isinstance(found, Stray):
            yield UnreadFixture(path=path, tool=tool, note=found.note)
            continue
        expected = found.expected
        try:
            # What others were judged with is judged itself, be the file another by now.
            held = default if found.path == first else None
            raw = read_fixture(folder, found.path) if held is None else held
            beside = read_beside(found.path)
            needs = {} if beside is None else understand(found.path.stem + SIDECAR, beside)
            expected = str(needs.get("verdict", expected))
            verdict = _climb(line, found.side, raw, situate(line, needs, default))
        except (OSError, ValueError, CredentialUnreadable) as error:
            yield UnreadFixture(path=path, tool=tool, note=str(error), expected=expected)
            continue
        note = _compare(verdict, expected, needs) or _lack_now(line.contract, verdict, needs)
        yield FixtureResult(
            path=path,
            tool=tool,
            side=found.side,
            expected=expected,
            verdict=verdict,
            ok=not note,
            note=note,
            raw=raw,
            sidecar=beside,
        )


def _climb(line: Line, side: str, raw: bytes, situation: Situation) -> Verdict:
    outcome = situation.climb(line, side, raw)
    return _verdict(raw, outcome if isinstance(outcome, Rejected) else None)


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
