"""Run every benchmark and write the table.

    uv run --group bench python benchmarks/run.py [--quick] [--only diffs|postgres] [--out FILE]

Each variant runs in a process of its own, in turns with its own ``json.loads`` of the same bytes;
a figure is the median of the ratios of five such processes. ``--quick`` only shows that all of it
runs: one process, a few rounds, figures that mean nothing. ``--only`` measures that section
alone and leaves the rest of the page as it is. The lists of tools are those of SLUICEGATE_SUITES.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from documents import NAMES
from ladders import LADDERS
from page import Results, replace_section, write_diffs, write_page, write_postgres
from peers import PEERS

HERE = Path(__file__).parent
OUT = HERE.parent / "docs" / "reference" / "benchmarks.md"


def documents_of(variant: str, *, quick: bool) -> tuple[str, ...]:
    if quick or variant == "refusal":
        return ("small",)
    return NAMES if variant in {"few", "all", "unproven", "parse"} else ("small", "medium", "large")


def run_python(script: str, *arguments: str) -> str:
    command = [sys.executable, str(HERE / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def measure(*, quick: bool, processes: int) -> Results:
    results = Results()
    for turn in range(processes):
        for variant in (*LADDERS, *PEERS):
            for document in documents_of(variant, quick=quick):
                if variant in results.missing:
                    continue
                effort = "quick" if quick else "full"
                told = json.loads(run_python("measure.py", variant, document, effort))
                if told is None:
                    results.missing.add(variant)
                else:
                    results.timings[variant, document].append(told)
                print(f"{turn + 1}/{processes} {variant} {document} {told}", file=sys.stderr)
    for what in ("parse", "document", "endless"):
        results.memory[what] = json.loads(run_python("memory.py", what))
    rounds = ("1", "0.2") if quick else ("5", "2")
    told = run_python("audit_commit.py", "--rounds", rounds[0], "--seconds", rounds[1])
    results.commits = told.strip().splitlines()[-1]
    results.mutants = run_python("mutants.py", "--rounds", "1" if quick else "5").splitlines()
    results.diffs = measure_diffs(quick=quick)
    results.postgres = measure_postgres(quick=quick)
    return results


def measure_diffs(*, quick: bool) -> str:
    rounds = 1 if quick else 5
    return write_diffs(run_python("diffs.py", "--rounds", str(rounds)).strip(), rounds=rounds)


def measure_postgres(*, quick: bool) -> str:
    seconds = "1" if quick else "60"
    return write_postgres(run_python("postgres.py", "--seconds", seconds).strip())


SECTIONS = {"diffs": measure_diffs, "postgres": measure_postgres}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only show that everything runs")
    parser.add_argument("--only", choices=list(SECTIONS), help="write this section alone anew")
    parser.add_argument("--processes", type=int, default=5, help="processes a figure")
    parser.add_argument("--out", type=Path, default=OUT, help="the page to write")
    options = parser.parse_args()
    if options.only is not None:
        section = SECTIONS[options.only](quick=options.quick)
        options.out.write_text(replace_section(options.out.read_text("utf-8"), section), "utf-8")
        print(f"wrote the section into {options.out}", file=sys.stderr)
        return 0
    processes = 1 if options.quick else options.processes
    results = measure(quick=options.quick, processes=processes)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(write_page(results, quick=options.quick, processes=processes), "utf-8")
    print(f"wrote {options.out}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
