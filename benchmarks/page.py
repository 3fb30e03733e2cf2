"""The page that the benchmarks write."""

from __future__ import annotations

import os
import platform
import re
import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from documents import NAMES, SIZES
from ladders import LADDERS
from peers import PEERS

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
    """By (variant, document) what each process measured; ``missing`` peers are not installed."""

    timings: dict[tuple[str, str], list[dict[str, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    missing: set[str] = field(default_factory=set)
    memory: dict[str, dict[str, Any]] = field(default_factory=dict)
    commits: str = ""
    mutants: list[str] = field(default_factory=list)
    diffs: str = ""
    postgres: str = ""

    def ratio(self, variant: str, document: str) -> float | None:
        timings = self.timings.get((variant, document))
        return statistics.median(timing["ratio"] for timing in timings) if timings else None

    def microseconds(self, variant: str, document: str) -> float:
        return statistics.median(timing["work_us"] for timing in self.timings[variant, document])


def show(results: Results, variant: str, document: str) -> str:
    ratio = results.ratio(variant, document)
    if ratio is None:
        return "–"
    microseconds = results.microseconds(variant, document)
    took = f"{microseconds / 1000:.1f} ms" if microseconds >= 1000 else f"{microseconds:.1f} µs"
    target = TARGETS.get(variant, {}).get(document)
    aim = "" if target is None else f", target {target}"
    return f"{ratio:.2f} ({took}{aim})"


def table(results: Results, variants: dict[str, tuple[str, Any]]) -> str:
    lines = [
        "| work | " + " | ".join(SIZES[name] for name in NAMES) + " |",
        "|---|" + "---|" * len(NAMES),
    ]
    for variant, (label, _) in variants.items():
        if variant in results.missing:
            lines.append(f"| {label} | not installed |" + " |" * 3)
        else:
            cells = [show(results, variant, name) for name in NAMES]
            lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def machine() -> str:
    cpu = "unknown processor"
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = names[0].partition(":")[2].strip() if names else cpu
    return f"{os.cpu_count()} × {cpu}, {platform.system()}, CPython {platform.python_version()}"


def versions() -> str:
    told = [f"sluicegate {version('sluicegate')}"]
    for name in LIBRARIES:
        try:
            told.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            told.append(f"{name} not installed")
    return ", ".join(told)


PAGE = """\
# Benchmarks

Written by `{command}` on {date}. Times are those of one noisy machine: trust the ratios.

- Machine: {machine}
- Versions: {versions}
- Each cell: time ÷ `json.loads` of the same bytes, the median over processes of its own
  ({processes} a cell), each of which times its variant and `json.loads` in turns; in brackets the
  median time and the target. Processor time; for whole calls, which wait for a disk, wall time.
- A ladder begins with the received bytes and ends with the agent's envelope. The contract binds
  the project, demands freshness by an injected clock, and holds the envelope to the outstanding
  request id; titles are declared free text.
{caveat}
## This package

{ladders}

A refusal with one finding takes {refusal} × an acceptance at 208 B.

*Proven*: the schema bounds depth and admits no infinite number, so neither is watched at run time.
*Whole call*: both ladders, one call after another, with the intent durable before the dispatch and
the outcome before the answer.

## Others on the same bytes

{peers}

None of them checks request id, subject or freshness; only jiter and json with hooks refuse
duplicate members; the MCP client's check asserts no formats.

## Memory

Peak resident memory of one call above an idle process, over a real loopback server:

| call | peak | outcome |
|---|---|---|
| `json.loads` of 1 MB, nothing else | {parse_mib:.1f} MiB | |
| a result of 1 MB | {document_mib:.1f} MiB | {document_code} |
| an endless body under a limit of 1 MB | {endless_mib:.1f} MiB | {endless_code} |

## Record

64 callers on one SQLite file, each event durable before its caller goes on. {commits}.

{postgres}
## Mutants

`sluicegate test` makes them of an accepted fixture and climbs the real ladders with each; a refusal
climbs twice and explains itself. A minute is one of processor time, on one core.

{mutants}

{diffs}"""

POSTGRES = """\
## Record in PostgreSQL

Gates on one chain, each event durable before its caller goes on; every fourth intent spends a quota
that the processes share. {told} Written on {date} by

    {command}
"""

DIFFS = """\
## Diffs

`sluicegate diff OLD NEW --side arguments` between the releases of a real MCP server's tool list, as
they are written: files read, changes named, both directions proven. Wall time of one comparison,
the median of {rounds} with the shortest and the longest. Written on {date} by

    {command}

{table}
"""


def write_diffs(table: str, *, rounds: int) -> str:
    """Return the section on diffs, which can be measured without the others."""
    command = f"SLUICEGATE_SUITES=FOLDER {COMMAND} --only diffs"
    return DIFFS.format(command=command, date=today(), rounds=rounds, table=table)


def write_postgres(told: str) -> str:
    """Return the section on the record in PostgreSQL, which can be measured without the others."""
    return POSTGRES.format(told=told, date=today(), command=f"{COMMAND} --only postgres")


def replace_section(page: str, section: str) -> str:
    """Return ``page`` with ``section`` in the place of the one of its title, else at the end."""
    title = section.partition("\n")[0]
    parts = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    kept = [part for part in parts if part.partition("\n")[0] != title]
    at = next((n for n, part in enumerate(parts) if part.partition("\n")[0] == title), len(parts))
    before, after = "".join(kept[:at]), "".join(kept[at:])
    return f"{before.rstrip()}\n\n{section}" + (f"\n{after}" if after else "")


def today() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d}"


def write_page(results: Results, *, quick: bool, processes: int) -> str:
    """Return the whole page."""
    memory = {what: told["peak_kib"] / 1024 for what, told in results.memory.items()}
    refused, accepted = results.ratio("refusal", "small"), results.ratio("all", "small")
    assert refused is not None
    assert accepted is not None
    return PAGE.format(
        command=f"{COMMAND} --quick" if quick else COMMAND,
        date=today(),
        machine=machine(),
        versions=versions(),
        processes=processes,
        caveat="\n**A quick run: the figures only show that everything runs.**\n" if quick else "",
        ladders=table(results, LADDERS),
        refusal=f"{refused / accepted:.1f}",
        peers=table(results, PEERS),
        parse_mib=memory["parse"],
        document_mib=memory["document"],
        document_code=results.memory["document"]["code"] or "accepted",
        endless_mib=memory["endless"],
        endless_code=results.memory["endless"]["code"],
        commits=results.commits[:1].upper() + results.commits[1:],
        mutants="\n".join(f"- {line}" for line in results.mutants),
        diffs=results.diffs,
        postgres=results.postgres,
    )
