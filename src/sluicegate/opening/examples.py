"""The accepted fixtures of a contract that mutants are made of, and how many of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sluicegate.checks.selection import Selected
from sluicegate.contracts.contract import Contract
from sluicegate.gates.call_gate import Prepared
from sluicegate.gates.serving import Line
from sluicegate.opening.collecting import FIXTURES, Case, collect
from sluicegate.opening.fixtures import TriedFixture
from sluicegate.opening.sidecars import read_sidecar
from sluicegate.opening.situations import Situation, default_arguments, read_fixture, situate
from sluicegate.values.json import JsonValue
from sluicegate.values.rejections import Rejected


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One accepted fixture, ready to be changed: ``name`` is unique on its side of a contract."""

    side: str
    name: str
    path: str
    raw: bytes
    needs: Mapping[str, JsonValue]
    situation: Situation
    accepted: Selected | Prepared


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedExamples:
    """At most so many examples a side; ``beyond`` is the path of the first left out, by side."""

    examples: tuple[Example, ...]
    beyond: Mapping[str, str]

    def tell_untried(self, side: str) -> list[str]:
        """Return what was left out of ``side``, a sentence each."""
        return [f"fixtures from {self.beyond[side]} on"] if side in self.beyond else []


def find_lacking(contract: Contract, fixtures: Iterable[TriedFixture]) -> tuple[str, ...]:
    """Return the sides that no accepted fixture speaks for, so that nothing of them is tried.

    Whether such a fixture comes out as it must is another question.
    """
    home = Path(contract.source).parent / FIXTURES
    accepted = [each.path for each in fixtures if each.expected == "accepted"]
    return tuple(
        side
        for side in ("arguments", "result")
        if not any(path.startswith((home / side).as_posix() + "/") for path in accepted)
    )


def list_examples(root: Path, home: Path, line: Line, passing: set[str]) -> Iterator[Example]:
    """Yield the accepted fixtures that are as expected."""
    default = default_arguments(home)
    for found in collect(home):
        path = found.path.relative_to(root).as_posix()
        if not isinstance(found, Case) or path not in passing:
            continue
        raw, needs = read_fixture(home, found.path), read_sidecar(found.path)
        situation = situate(line, needs, default)
        if found.side == "result" and situation.brings_signature(raw):
            continue  # nothing in it can be changed and signed again: the key is not here
        accepted = situation.climb(line, found.side, raw)
        if isinstance(accepted, Rejected):
            continue
        within = found.path.relative_to(home / FIXTURES / found.side).with_suffix("")
        parts = within.parts[1:] if within.parts[0] == "accepted" else within.parts
        yield Example(
            side=found.side,
            name=".".join(parts),
            path=path,
            raw=raw,
            needs=needs,
            situation=situation,
            accepted=accepted,
        )


def limit_examples(examples: Iterable[Example], most: int) -> LimitedExamples:
    """Keep the first ``most`` of each side: a full side takes no room from the other."""
    kept: list[Example] = []
    beyond: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for example in examples:
        if counts[example.side] == most:
            beyond.setdefault(example.side, example.path)
            continue
        counts[example.side] += 1
        kept.append(example)
    return LimitedExamples(examples=tuple(kept), beyond=beyond)
