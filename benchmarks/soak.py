"""A gate under steady work for an hour: resident memory and open files over time.

    python benchmarks/soak.py [--minutes 60] [--calls-a-second 40]

One process serves a folder of three tools over a real upstream on the loopback, with the record in
SQLite and everything that lives longer than a call: refusals, drift notices, quotas, replayed keys,
evidence that is spent, calls that are cancelled, a reload a minute, custody that expires. A row a
minute; the last line says how much either grew from the first quarter to the last. Not a test.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from sluicegate import Caller, open_gate

CALLER = Caller(subject="soak")
PROJECT = {"type": "string", "pattern": "^[a-z0-9-]{3,40}$", "maxLength": 40}
ARGUMENTS = {
    "schema": {
        "type": "object",
        "properties": {"project": PROJECT},
        "required": ["project"],
        "additionalProperties": False,
    }
}
UPSTREAM = """
import json, random, sys
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Upstream(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        project = self.path.rpartition("/")[2]
        if self.command == "POST":
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            data = {"restarted": project}
        else:
            now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
            data = {"project": project, "state": "failed", "observed_at": now}
            if random.random() < 0.2:
                data["note"] = "x" * random.randrange(2000)
        raw = json.dumps(data).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
"""


def write_folder(folder: Path, port: int) -> None:
    """Three tools: one that reads, one that acts on its evidence, one whose key makes calls one."""
    settings = {
        "access": [{"caller": "soak", "action": "call", "tool": "*"}],
        "retention": {"rejected": {"days": 0.01}, "arguments": {"days": 0.01}},
        "limits": {"quotas": [{"per": ["caller"], "count": 100_000, "window_s": 60}]},
        "notify": {"soak": "log:"},
    }
    (folder / "sluicegate.yaml").write_text(json.dumps(settings))
    head = {"sluicegate": 1, "version": "1.0.0", "owner": "soak", "arguments": ARGUMENTS}
    status: dict[str, Any] = {
        **head,
        "tool": "status",
        "description": "State of one project.",
        "effect": "read",
        "fetch": {"http": {"method": "GET", "url": url(port), "timeout_s": 5}},
        "result": {
            "schema": {
                "type": "object",
                "properties": {
                    "project": PROJECT,
                    "state": {"enum": ["failed", "running"]},
                    "observed_at": {"type": "string", "format": "date-time", "maxLength": 35},
                },
                "required": ["project", "state", "observed_at"],
                "additionalProperties": False,
            },
            "bind": {"/project": "/project"},
            "fresh": {"at": "/observed_at", "max_age_s": 60, "max_ahead_s": 5},
            "agent": ["/project", "/state", "/observed_at"],
        },
    }
    acting: dict[str, Any] = {
        **head,
        "description": "Restart one project.",
        "effect": "write",
        "fetch": {
            "http": {"method": "POST", "url": url(port), "timeout_s": 5, "body": "arguments"}
        },
        "result": {
            "schema": {
                "type": "object",
                "properties": {"restarted": PROJECT},
                "required": ["restarted"],
                "additionalProperties": False,
            },
            "bind": {"/restarted": "/project"},
            "agent": ["/restarted"],
        },
    }
    proof = {
        "tool": "status",
        "bind": {"/project": "/project"},
        "where": {"/state": "failed"},
        "max_age_s": 60,
        "once": True,
    }
    tools = {
        "status": status,
        "restart": {**acting, "tool": "restart", "evidence": [proof]},
        "keyed": {**acting, "tool": "keyed", "idempotency": {"key": "host", "keep_s": 30}},
    }
    for name, contract in tools.items():
        (folder / name).mkdir()
        (folder / name / "contract.json").write_text(json.dumps(contract))


def url(port: int) -> str:
    return f"http://127.0.0.1:{port}/projects/{{/project}}"


def resident_mib() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def call(gate: Any, number: int, counted: Counter[str]) -> None:
    kind = random.choice(("status", "status", "restart", "keyed", "bad", "gone"))
    project = f"project-{number % 50}"
    arguments = json.dumps({"project": project})
    if kind == "bad":
        answer = await gate.call("status", '{"project": 1}', caller=CALLER)
    elif kind == "gone":
        running = asyncio.ensure_future(gate.call("status", arguments, caller=CALLER))
        await asyncio.sleep(0.002)
        running.cancel()
        counted["cancelled"] += 1
        await asyncio.gather(running, return_exceptions=True)
        return
    else:
        key = f"c-{number // 3}"
        answer = await gate.call(kind, arguments, caller=CALLER, call_id=key)
    counted[answer.code or answer.outcome] += 1


async def soak(folder: Path, minutes: float, rate: float) -> list[tuple[float, float, int]]:
    samples: list[tuple[float, float, int]] = []
    counted: Counter[str] = Counter()
    async with open_gate(folder) as gate:
        began, number = time.monotonic(), 0
        running: set[asyncio.Task[None]] = set()
        print("| minute | calls | resident MiB | open files | record MiB |")
        print("|---|---|---|---|---|")
        while (elapsed := time.monotonic() - began) < minutes * 60 + 1:
            if elapsed >= 60 * len(samples):
                await gate.reload()
                gc.collect()
                samples.append((elapsed / 60, resident_mib(), files := open_files()))
                size = (folder / "state" / "audit.db").stat().st_size / 2**20
                print(
                    f"| {elapsed / 60:.0f} | {number} | {samples[-1][1]:.1f} | {files} |"
                    f" {size:.0f} |",
                    flush=True,
                )
            task = asyncio.ensure_future(call(gate, number, counted))
            running.add(task)
            task.add_done_callback(running.discard)
            number += 1
            await asyncio.sleep(max(0.0, number / rate - (time.monotonic() - began)))
        await asyncio.gather(*running)
        report = gate.audit.verify()
    assert report.broken_at is None, report
    told = ", ".join(f"{name} {count}" for name, count in counted.most_common())
    print(f"\n{number} calls ({told}); {report.events} events, the chain holds.")
    return samples


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--calls-a-second", type=float, default=40)
    options = parser.parse_args()
    command = [sys.executable, "-c", UPSTREAM]
    with (
        tempfile.TemporaryDirectory() as name,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as upstream,
    ):
        assert upstream.stdout is not None
        try:
            write_folder(Path(name), int(upstream.stdout.readline()))
            samples = asyncio.run(soak(Path(name), options.minutes, options.calls_a_second))
        finally:
            upstream.terminate()
    quarter = max(1, len(samples) // 4)
    first, last = samples[1 : quarter + 1] or samples[:1], samples[-quarter:]

    def mean(rows: list[tuple[float, float, int]], column: int) -> float:
        return sum(row[column] for row in rows) / len(rows)

    print(
        f"From the first quarter to the last: memory {mean(last, 1) - mean(first, 1):+.1f} MiB,"
        f" open files {mean(last, 2) - mean(first, 2):+.1f}."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
