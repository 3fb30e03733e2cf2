"""Mutants a minute and core: made, and climbed through the real ladders.

    python benchmarks/mutants.py [FOLDER …] [--rounds 5]

For each accepted fixture of the folders: how many mutants, how many a minute of processor time are
made and validated by their schema alone, and how many are made and climbed. The median of the
rounds. Without FOLDER: the strict example of the tests, and the folder of real webhooks.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from sluicegate.adapters.credentials import Credentials
from sluicegate.gates.serving import Line
from sluicegate.lifecycle.mutants.structure import mutate_structure
from sluicegate.opening.clock import SystemClock
from sluicegate.opening.examples import Example, list_examples
from sluicegate.opening.loaded import Loaded
from sluicegate.opening.loading import load_folder
from sluicegate.opening.testing_contracts import judge_example
from sluicegate.opening.wiring import build_lines

ROOT = Path(__file__).parents[1]
FOLDERS = (ROOT / "tests/acceptance/strict", ROOT / "examples/webhooks/contracts")


def rate_of(work: Callable[[], int], rounds: int) -> tuple[int, float]:
    """Return how many mutants one round has, and the median of mutants a minute."""
    count, rates = work(), []
    for _ in range(rounds):
        begun = time.process_time()
        work()
        rates.append(60 * count / (time.process_time() - begun))
    return count, statistics.median(rates)


def describe(line: Line, home: Path, example: Example, rounds: int) -> str:
    contract = line.contract
    climbed, climb_rate = rate_of(
        lambda: sum(1 for _ in judge_example(line, home, example)), rounds
    )
    head = f"{contract.tool} {example.side} ({len(example.raw)} B)"
    told = f"{climbed} mutants of all levels, {climb_rate:,.0f} a minute made and climbed"
    mapped = example.side == "result" and contract.upstream.map is not None
    if contract.upstream.carrier == "bare" and not mapped:
        side = contract.arguments if example.side == "arguments" else contract.result
        value, schema = json.loads(example.raw), side.schema
        made, make_rate = rate_of(
            lambda: sum(1 for _ in mutate_structure(value, schema.document, schema.is_valid)),
            rounds,
        )
        told += f"; {made} of structure, {make_rate:,.0f} a minute made and validated"
    return f"{head}: {told}"


def run(folder: Path, rounds: int) -> None:
    loaded: Loaded = load_folder(folder, SystemClock().now(), python=True)
    if loaded.contracts is None:
        raise SystemExit("\n".join(map(str, loaded.problems)))
    lines = build_lines(loaded.contracts.contracts.values(), folder, Credentials(folder))
    if isinstance(lines, tuple):
        raise SystemExit("\n".join(map(str, lines)))
    for line in lines:
        home = (folder / line.contract.source).parent
        passing = {each.path for each in loaded.run_fixtures(line) if each.ok}
        for example in list_examples(folder, home, line, passing):
            print(describe(line, home, example, rounds), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, default=FOLDERS)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for folder in options.folders:
        run(folder, options.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
