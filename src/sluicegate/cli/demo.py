"""``sluicegate demo``: the main job against a real upstream, offline, in one command."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.table import Table

from sluicegate.cli.demo_upstream import SCENARIOS
from sluicegate.cli.exits import Exit
from sluicegate.contracts.file_names import CONTRACT_NAMES
from sluicegate.gates.answers import Answer
from sluicegate.gates.gate import Gate
from sluicegate.gates.ports import ChainReport
from sluicegate.opening.folder import open_gate
from sluicegate.values.callers import Caller
from sluicegate.values.json import JsonValue

_CONTRACTS: Final = Path(__file__).parent / "demo_contracts"
_ARGUMENTS: Final = '{"project_id": "bluebird", "run_id": "run_A1b2C3d4E5f6"}'
_CALLS: Final = (
    ("a misspelt argument", '{"projectId": "bluebird", "run_id": "run_A1b2C3d4E5f6"}'),
    ("somebody else's project", '{"project_id": "copperhead", "run_id": "run_A1b2C3d4E5f6"}'),
)
_AGENT: Final = Caller(subject="demo-agent")


@click.command()
@click.option("--keep", is_flag=True, help="Keep the folder with contracts, record and keys.")
def demo(keep: bool) -> None:
    """Show what an agent and an operator see when an upstream stops answering well.

    Starts a real HTTP server as a child process, gates one tool in front of it, and ends with
    the verified record of all calls. Needs no network, no account and no configuration.
    """
    # Each refusal tells the contract's owner, by default in the log; the table says as much.
    logging.getLogger("sluicegate").addHandler(logging.NullHandler())
    folder = Path(tempfile.mkdtemp(prefix="sluicegate-demo-"))
    try:
        with _upstream() as port:
            contracts = _write_contracts(folder, port)
            report = asyncio.run(_show(contracts))
        if keep:
            click.echo(f"kept: {contracts}")
            click.echo(f"next: sluicegate audit list --folder {contracts}")
        if report.broken_at is not None:
            raise SystemExit(Exit.REJECTED)
    finally:
        if not keep:
            shutil.rmtree(folder)


@contextlib.contextmanager
def _upstream() -> Iterator[int]:
    process = subprocess.Popen(
        [sys.executable, "-m", "sluicegate.cli.demo_upstream"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None  # noqa: S101  (PIPE was asked for)
        line = process.stdout.readline()
        if not line.strip().isdigit():
            raise click.ClickException("the demonstration's upstream could not be started")
        yield int(line)
    finally:
        process.communicate(timeout=10)


def _write_contracts(folder: Path, port: int) -> Path:
    contracts = folder / "contracts"
    shutil.copytree(_CONTRACTS, contracts)
    contract = contracts / "job_status" / CONTRACT_NAMES[0]
    contract.write_text(contract.read_text("utf-8").replace("@PORT@", str(port)), "utf-8")
    return contracts


async def _show(contracts: Path) -> ChainReport:
    console = Console(highlight=False)
    async with open_gate(contracts) as gate:
        table = Table(title="one tool, job_status, and what became of each call", show_lines=True)
        table.add_column("what happened", ratio=2)
        table.add_column("the agent sees", ratio=4, overflow="fold")
        table.add_column("the operator sees", ratio=3, overflow="fold")
        for what, arguments in _CALLS:
            answer = await gate.call("job_status", arguments, caller=_AGENT)
            _row(table, f"the model sends {what}", answer, gate)
        for what, _, _ in SCENARIOS:
            answer = await gate.call("job_status", _ARGUMENTS, caller=_AGENT)
            _row(table, f"the upstream sends {what}", answer, gate)
        console.print(table)
        report = await asyncio.to_thread(gate.audit.verify)
    if report.broken_at is None:
        console.print(f"record: {report.events} events, chain verified, head {report.head[:16]}…")
    else:
        console.print(f"record: broken at event {report.broken_at}: {report.problem}")
    return report


def _row(table: Table, what: str, answer: Answer[JsonValue], gate: Gate) -> None:
    table.add_row(what, _agent_view(answer), _operator_view(answer, gate))


def _agent_view(answer: Answer[JsonValue]) -> str:
    """Return the envelope but for tool and request_id, which every answer bears."""
    envelope = json.loads(answer.to_json())
    shown = envelope.get("data", envelope.get("error"))
    return f"{envelope['outcome']}\n{json.dumps(shown, ensure_ascii=False)}"


def _operator_view(answer: Answer[JsonValue], gate: Gate) -> str:
    """Return stage, code and where it stands, out of the record: not out of the answer."""
    events = list(gate.audit.events(request_id=answer.request_id))
    last = events[-1]
    if last.code is None:
        return f"{last.outcome}, {last.raw_bytes} bytes received, event {last.seq}"
    lines = [f"{last.stage}: {last.code}"]
    if last.schema_pointer:
        lines.append(f"schema {last.schema_pointer}")
    if last.kind == "refused":
        lines.append("nothing ran")
    elif last.raw_bytes:
        kept = "raw bytes in custody" if last.raw_ref else "digest only"
        lines.append(f"{last.raw_bytes} bytes received, {kept}")
    lines.append(f"event {last.seq}: sluicegate explain {last.code}")
    return "\n".join(lines)
