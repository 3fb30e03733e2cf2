"""Two pieces of work timed against each other in one process, block by block."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

Timer: TypeAlias = Callable[[int], float]
"""Does its work so many times and returns the seconds that all of it took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """``block_s`` is how long one block lasts; ``rounds`` at most, ``limit_s`` for all of them."""

    block_s: float
    rounds: int
    limit_s: float


FULL = Effort(block_s=0.02, rounds=25, limit_s=4.0)
QUICK = Effort(block_s=0.001, rounds=3, limit_s=0.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Microseconds a piece of work, and the median of the ratios of neighbouring blocks."""

    ratio: float
    work_us: float
    baseline_us: float


def timer_of(work: Callable[[], object]) -> Timer:
    """Time plain calls of ``work``, in processor time: what else the machine does is left out."""

    def run(count: int) -> float:
        begun = time.process_time()
        for _ in range(count):
            work()
        return time.process_time() - begun

    return run


def compare(work: Timer, baseline: Timer, effort: Effort) -> Timing:
    """Time ``work`` and ``baseline`` in turns, so that a slow moment of the machine meets both."""
    many_work, many_baseline = _count(work, effort), _count(baseline, effort)
    ratios, works, baselines = [], [], []
    begun = time.perf_counter()
    for done in range(effort.rounds):
        baselines.append(baseline(many_baseline) / many_baseline)
        works.append(work(many_work) / many_work)
        ratios.append(works[-1] / baselines[-1])
        if done >= 2 and time.perf_counter() - begun > effort.limit_s:
            break
    return Timing(
        ratio=statistics.median(ratios),
        work_us=statistics.median(works) * 1e6,
        baseline_us=statistics.median(baselines) * 1e6,
    )


def _count(work: Timer, effort: Effort) -> int:
    work(1)
    once = min(work(1) for _ in range(3))
    return max(1, round(effort.block_s / once))
