"""The peak memory of one call in this process, above what an idle gate holds; one line of JSON.

    python benchmarks/memory.py document|endless|parse

``document`` is a result of 1 MB that is accepted, ``endless`` a body that never stops, under a
limit of 1 MB; ``parse`` is what ``json.loads`` alone takes for the same 1 MB.
"""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from documents import read_document

HERE = Path(__file__).parent


def forget_peak() -> None:
    """Let the peak begin anew from what is held now (Linux, proc(5), clear_refs)."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")


def peak_kib() -> int:
    """The greatest resident size since then. ``ru_maxrss`` would count the parent's as well."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def write_folder(folder: Path, port: int) -> None:
    """A folder with both tools: the same result schema, another path and another limit."""
    schema = read_document("large").data
    settings = {
        "limits": {"max_bytes": 2_000_000},
        "audit": {"store": "memory:"},
        "access": [
            {"caller": "benchmark", "action": "call", "tool": tool}
            for tool in ("document", "endless")
        ],
    }
    (folder / "sluicegate.yaml").write_text(json.dumps(settings))
    for tool, limit in (("document", 2_000_000), ("endless", 1_000_000)):
        contract: dict[str, Any] = {
            "sluicegate": 1,
            "tool": tool,
            "version": "1.0.0",
            "owner": "benchmarks",
            "description": "One document of the benchmark.",
            "effect": "read",
            "arguments": {"schema": {"type": "object", "additionalProperties": False}},
            "fetch": {
                "http": {
                    "method": "GET",
                    "url": f"http://127.0.0.1:{port}/{tool}",
                    "timeout_s": 20,
                }
            },
            "limits": {"max_bytes": limit, "max_depth": 16},
            "result": {
                "schema": schema,
                "agent": ["/project_id", "/rows/*/id", "/rows/*/state", "/rows/*/score"],
            },
        }
        (folder / tool).mkdir()
        (folder / tool / "contract.json").write_text(json.dumps(contract))


async def call(folder: Path, tool: str) -> dict[str, object]:
    from sluicegate.opening.folder import open_gate
    from sluicegate.values.callers import Caller

    async with open_gate(folder) as gate:
        await gate.call(tool, "[", caller=Caller(subject="benchmark"))  # what a first call loads
        forget_peak()
        idle = peak_kib()
        answer = await gate.call(tool, "{}", caller=Caller(subject="benchmark"))
        peak = peak_kib()
        *_, last = gate.audit.events(request_id=answer.request_id)
    return {"idle_kib": idle, "peak_kib": peak - idle, "code": last.code}


def main(what: str) -> None:
    if what == "parse":
        raw = read_document("large").raw
        forget_peak()
        idle = peak_kib()
        value = json.loads(raw)
        print(json.dumps({"idle_kib": idle, "peak_kib": peak_kib() - idle, "code": None}))
        assert value
        return
    command = [sys.executable, str(HERE / "upstream.py")]
    with (
        tempfile.TemporaryDirectory() as name,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as upstream,
    ):
        assert upstream.stdout is not None
        try:
            write_folder(Path(name), int(upstream.stdout.readline()))
            print(json.dumps(asyncio.run(call(Path(name), what))))
        finally:
            upstream.terminate()


if __name__ == "__main__":
    main(sys.argv[1])
