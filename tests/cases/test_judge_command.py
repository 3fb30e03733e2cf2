"""The worked examples through ``sluicegate judge``, as a person would type it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cases.rows import MISSION, Row

SAMPLE = [
    "seed-envelope-success",
    "seed-first-test-extra-property",
    "seed-wrong-request",
    "seed-duplicate-approved",
    "seed-article-limit-string",
    "seed-ticket-misnamed",
    "seed-job-edge-of-window",
    "seed-job-stale",
    "seed-job-other-project",
    "seed-over-depth-limit",
    "seed-over-byte-limit",
    "seed-banner-before-json",
]
ROWS = {row.id: row for row in MISSION}


def judge(row: Row, folder: Path) -> subprocess.CompletedProcess[str]:
    schema, document = folder / "schema.json", folder / "document.json"
    schema.write_text(json.dumps(row.schema))
    document.write_bytes(row.raw)
    context, options = row.context, row.options
    told = ["--schema", str(schema), "--side", row.side]
    told += ["--now", context["now"]] if "now" in context else []
    told += ["--request-id", context["request_id"]] if "request_id" in context else []
    for at, value in context.get("bind", {}).items():
        told += ["--bind", f"{at}={json.dumps(value)}"]
    if "fresh_at" in context:
        told += ["--fresh", "{fresh_at}:{max_age_s}:{max_ahead_s}".format(**context)]
    for name, flag in (("max_bytes", "--max-bytes"), ("max_depth", "--max-depth")):
        if name in options:
            told += [flag, str(options[name])]
    program = Path(sys.executable).with_name("sluicegate")
    command = [str(program), "judge", *told, "--format", "json-v1", str(document)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.requirement("CLI")
@pytest.mark.parametrize("name", SAMPLE)
def test_the_command_gives_the_verdict_that_the_row_names(name: str, tmp_path: Path) -> None:
    row = ROWS[name]
    run = judge(row, tmp_path)
    told = json.loads(run.stdout)
    rejected = row.expect["verdict"] == "rejected"
    assert (told["format"], told["command"], run.returncode) == ("json-v1", "judge", rejected)
    codes = {finding["code"] for finding in told.get("findings", [])}
    assert bool(codes & set(row.expect["codes"])) == rejected, told
