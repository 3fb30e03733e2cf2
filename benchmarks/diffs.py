"""Diff times: each release of a real MCP server compared with the next, from files to verdict.

    SLUICEGATE_SUITES=FOLDER python benchmarks/diffs.py [--rounds 5]

One row a pair: tools of either list, changes named, and the median wall time of the rounds with
the shortest and the longest. A comparison reads both files, registers every schema, names the
changes and proves both directions; the child process that proves counts.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from sluicegate.opening.comparing import Compared, compare_files

RELEASES = ("v0.30.3", "v0.31.0", "v0.32.0", "v0.33.0", "v0.33.1", "v1.0.0")
HEAD = "| releases | tools | changes | time |\n|---|---|---|---|"


def compare(folder: Path, old: str, new: str) -> Compared:
    """Compare the arguments of two releases; none may fail to load."""
    paths = [str(folder / f"{release}.json") for release in (old, new)]
    compared = compare_files(*paths, "arguments", now=datetime.now(UTC))
    if compared.problems:
        raise SystemExit("\n".join(map(str, compared.problems)))
    return compared


def describe(folder: Path, old: str, new: str, rounds: int) -> str:
    took = []
    for _ in range(rounds):
        begun = time.perf_counter()
        compared = compare(folder, old, new)
        took.append(time.perf_counter() - begun)
    tools = compared.diff.tools
    changes = sum(len(tool.changes) for tool in tools)
    spread = f" ({min(took):.2f}-{max(took):.2f})" if rounds > 1 else ""
    return (
        f"| {old} to {new} | {len(tools)} | {changes} | {statistics.median(took):.2f} s{spread} |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    suites = os.environ.get("SLUICEGATE_SUITES")
    if suites is None:
        print("Not run: SLUICEGATE_SUITES names no folder of suites.")
        return 0
    print(HEAD)
    for old, new in pairwise(RELEASES):
        row = describe(Path(suites, "github-mcp-tools"), old, new, options.rounds)
        print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
