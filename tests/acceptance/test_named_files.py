"""A file that a command is given by its name: a plain one, or exit code 5 at once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.acceptance.commands import run_apart
from tests.acceptance.folders import write_folder

COMMANDS = [
    pytest.param("judge --schema plain.json {}", id="judge, the document"),
    pytest.param("judge --schema {} plain.json", id="judge, the schema"),
    pytest.param("judge --contract {} plain.json", id="judge, the contract"),
    pytest.param(
        "judge --contract contracts/job_status/contract.yaml --arguments @{} plain.json",
        id="judge, the arguments",
    ),
    pytest.param("call job_status --caller svc --arguments @{}", id="call, the arguments"),
    pytest.param("lint --side result {}", id="lint"),
    pytest.param("lint --side result --baseline {} plain.json", id="lint, the baseline"),
    pytest.param("diff --side result {} plain.json", id="diff, the older"),
    pytest.param("diff --side result plain.json {}", id="diff, the newer"),
    pytest.param("diff --side result --waivers {} plain.json plain.json", id="diff, the waivers"),
    pytest.param("replay job_status --against current --archive {}", id="replay, lines"),
    pytest.param("replay job_status --against current --archive {}.parquet", id="replay, Parquet"),
    pytest.param("import mcp {}", id="import mcp"),
    pytest.param("import openapi {} --tool t", id="import openapi"),
    pytest.param("import schema {} --tool t", id="import schema"),
    pytest.param("import schema plain.json --tool t --example {}", id="import, the example"),
    pytest.param("import samples {} --tool t", id="import samples"),
]


@pytest.mark.requirement("CLI")
@pytest.mark.parametrize("line", COMMANDS)
def test_a_fifo_that_nobody_writes_to_is_refused_and_not_waited_for(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path / "contracts")
    Path("plain.json").write_text('{"type": "string", "maxLength": 9}')
    for name in ("fifo", "fifo.parquet"):
        os.mkfifo(name)
    done = run_apart(*line.format("fifo").split())
    assert done.code == 5
    assert done.err.splitlines()[-1].endswith("cannot be read: it is no regular file")


@pytest.mark.requirement("CLI")
def test_a_device_without_an_end_is_refused() -> None:
    done = run_apart("lint", "--side", "result", "/dev/zero")
    assert (done.code, done.err) == (5, "/dev/zero cannot be read: it is no regular file\n")


@pytest.mark.requirement("CLI")
def test_a_pipe_is_read_as_standard_input_where_it_is_named_so(tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text('{"type": "string", "maxLength": 9}')
    assert run_apart("judge", "--schema", schema, "-", stdin=b'"a"').code == 0
