"""Run every benchmark and write the table.

    uv run --group bench python benchmarks/run.py [--quick] [--out FILE]

Each variant runs in a process of its own, in turns with its own ``json.loads`` of the same bytes;
a figure is the median of the ratios of five such processes. ``--quick`` only shows that all of it
runs: one process, a few rounds, figures that mean nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from documents import NAMES, SIZES
from ladders import LADDERS
from peers import PEERS

HERE = Path(__file__).parent
OUT = HERE.parent / "docs" / "reference" / "benchmarks.md"
COMMAND = "uv run --group bench python benchmarks/run.py"
LIBRARIES = (
    "jiter",
    "jsonschema-rs",
    "jsonschema",
    "fastjsonschema",
    "pydantic",
    "msgspec",
    "mcp",
    "cryptography",
)
TARGETS = {
    "few": {"small": 1.5, "medium": 1.5, "large": 1.5},
    "all": {"small": 1.5, "medium": 1.7, "large": 1.8},
    "unproven": {"small": 1.6, "medium": 1.9, "large": 2.1},
}


@dataclass(slots=True)
class Results:
    """By (variant, document): what each process measured; by name: what is not installed."""

    timings: dict[tuple[str, str], list[dict[str, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    missing: dict[str, str] = field(default_factory=dict)
    memory: dict[str, dict[str, Any]] = field(default_factory=dict)
    commits: str = ""

    def ratio(self, variant: str, document: str) -> float | None:
        timings = self.timings.get((variant, document))
        return statistics.median(timing["ratio"] for timing in timings) if timings else None

    def microseconds(self, variant: str, document: str) -> float:
        return statistics.median(timing["work_us"] for timing in self.timings[variant, document])


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
                if "missing" in told:
                    results.missing[variant] = told["missing"]
                else:
                    results.timings[variant, document].append(told)
                print(f"{turn + 1}/{processes} {variant} {document} {told}", file=sys.stderr)
    for what in ("parse", "document", "endless"):
        results.memory[what] = json.loads(run_python("memory.py", what))
    rounds = ("1", "0.2") if quick else ("5", "2")
    told = run_python("audit_commit.py", "--rounds", rounds[0], "--seconds", rounds[1])
    results.commits = told.strip().splitlines()[-1]
    return results


# --- the page ----------------------------------------------------------------------------------


def show(results: Results, variant: str, document: str) -> str:
    ratio = results.ratio(variant, document)
    if ratio is None:
        return "–"
    microseconds = results.microseconds(variant, document)
    took = f"{microseconds / 1000:.1f} ms" if microseconds >= 1000 else f"{microseconds:.1f} µs"
    target = TARGETS.get(variant, {}).get(document)
    aim = "" if target is None else f", target {target}"
    return f"{ratio:.2f} ({took}{aim})"


def table(results: Results, variants: dict[str, tuple[str, Any]]) -> list[str]:
    lines = [
        "| work | " + " | ".join(SIZES[name] for name in NAMES) + " |",
        "|---|" + "---|" * len(NAMES),
    ]
    for variant, (label, _) in variants.items():
        if variant in results.missing:
            lines.append(f"| {label} | {results.missing[variant]} is not installed |" + " |" * 3)
        else:
            cells = [show(results, variant, name) for name in NAMES]
            lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return lines


def refusal(results: Results) -> str:
    refused, accepted = results.ratio("refusal", "small"), results.ratio("all", "small")
    assert refused is not None
    assert accepted is not None
    return f"{refused / accepted:.1f} × an acceptance at 208 B"


def machine() -> str:
    cpu = "unknown processor"
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = names[0].partition(":")[2].strip() if names else cpu
    return f"{os.cpu_count()} × {cpu}, {platform.system()}, CPython {platform.python_version()}"


def versions() -> str:
    told = []
    for name in LIBRARIES:
        try:
            told.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            told.append(f"{name} not installed")
    return ", ".join(told)


def write_page(results: Results, *, quick: bool, processes: int) -> str:
    kib = {what: told["peak_kib"] / 1024 for what, told in results.memory.items()}
    lines = [
        "# Benchmarks",
        "",
        f"Written by `{COMMAND}{' --quick' if quick else ''}` on "
        f"{datetime.now(UTC):%Y-%m-%d}. Times are those of one noisy machine: trust the ratios.",
        "",
        f"- Machine: {machine()}",
        f"- Versions: sluicegate {version('sluicegate')}, {versions()}",
        f"- Each cell: time ÷ `json.loads` of the same bytes, median over {processes} "
        f"process{'es' if processes > 1 else ''}, each timing its variant and `json.loads` in "
        "turns; in brackets the median time.",
        "- A ladder begins with the received bytes and ends with the agent's envelope. The "
        "contract binds the project, demands freshness by an injected clock, and holds the "
        "envelope to the outstanding request id.",
    ]
    if quick:
        lines += ["", "**A quick run: the figures only show that everything runs.**"]
    lines += ["", "## This package", "", *table(results, LADDERS)]
    lines += [
        "",
        f"A refusal with one finding takes {refusal(results)}.",
        "",
        "*proven*: the schema bounds depth and admits no infinite number, so neither is watched "
        "at run time. *whole call*: both ladders, one call after another, with the intent "
        "durable before dispatch and the outcome before the answer.",
        "",
        "## Others on the same bytes",
        "",
        *table(results, PEERS),
        "",
        "None of them checks request id, subject or freshness, and only the first and the fifth "
        "refuse duplicate members. The MCP client's check asserts no formats.",
        "",
        "## Memory",
        "",
        "Peak resident memory of one call above an idle process, over a real loopback server:",
        "",
        "| call | peak | outcome |",
        "|---|---|---|",
        f"| `json.loads` of 1 MB, nothing else | {kib['parse']:.1f} MiB | – |",
        f"| a result of 1 MB | {kib['document']:.1f} MiB | "
        f"{results.memory['document']['code'] or 'accepted'} |",
        f"| an endless body under a limit of 1 MB | {kib['endless']:.1f} MiB | "
        f"{results.memory['endless']['code']} |",
        "",
        "## Record",
        "",
        f"{results.commits[:1].upper()}{results.commits[1:]}.",
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only show that everything runs")
    parser.add_argument("--processes", type=int, default=5, help="processes a figure")
    parser.add_argument("--out", type=Path, default=OUT, help="the page to write")
    options = parser.parse_args()
    processes = 1 if options.quick else options.processes
    results = measure(quick=options.quick, processes=processes)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(write_page(results, quick=options.quick, processes=processes), "utf-8")
    print(f"wrote {options.out}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
