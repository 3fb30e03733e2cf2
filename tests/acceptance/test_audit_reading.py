"""``sluicegate audit tail`` and ``export``: for people as it happens, and for other tools."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyarrow import parquet
from tests.acceptance.commands import Here
from tests.acceptance.folders import write_folder

from sluicegate.gates.events import StoredEvent
from sluicegate.opening.blocking import open_blocking
from sluicegate.opening.exporting import ROWS_AT_ONCE, export_events
from sluicegate.opening.standing import open_standing_store
from sluicegate.values.callers import Caller

COLUMNS = list(StoredEvent.__dataclass_fields__)
PATIENCE_S = 30


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path / "contracts")


def call(state: str = "failed", *, caller: str = "svc") -> None:
    with open_blocking("contracts") as gate:
        arguments = json.dumps({"run_id": "run_1", "state": state})
        gate.call("job_status", arguments, caller=Caller(subject=caller))


@pytest.mark.requirement("CLI")
def test_tail_shows_the_last_events_with_what_became_of_them(sluicegate: Here) -> None:
    call()
    call("other")
    call(caller="nobody")
    done = sluicegate("audit", "tail", "-n", "5")
    shown = [line.split()[2:] for line in done.out.splitlines()]
    assert (done.code, len(shown)) == (0, 5)
    assert [words[0] for words in shown] == [
        *("contracts", "intent", "outcome"),  # of the second call
        *("contracts", "refused"),  # of the third
    ]
    assert shown[2][1:5] == ["job_status", "svc", "failure", "vouch/WRONG_SUBJECT"]
    assert shown[-1][:5] == ["refused", "job_status", "nobody", "refused", "authorize/DENIED"]
    assert "\x1b" not in done.out
    assert "\x1b[1;31m" in sluicegate("audit", "tail", "--color", "always").out


@pytest.mark.requirement("AUD-5")
def test_what_others_chose_cannot_act_on_the_terminal(sluicegate: Here) -> None:
    call(caller="a\x1b[2J\u202eb\nc")
    done = sluicegate("audit", "tail", "-n", "1")
    assert done.out.count("\n") == 1
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out


def test_a_record_without_events_is_nothing_to_show(sluicegate: Here) -> None:
    with open_blocking("contracts"):
        pass
    assert sluicegate("audit", "tail").code == 3


@contextmanager
def following() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "sluicegate", "audit", "tail", "-f", "-n", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.requirement("CLI")
def test_tail_follows_new_events_until_it_is_interrupted() -> None:
    call()
    with following() as process:
        assert process.stdout is not None
        assert "success" in process.stdout.readline()
        call("other")  # the opening of the set, an intent and an outcome
        seen = [process.stdout.readline().split()[2] for _ in range(3)]
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0
    assert seen == ["contracts", "intent", "outcome"]


@pytest.mark.requirement("CLI")
def test_an_export_holds_every_column_of_every_event_and_nothing_of_custody(
    sluicegate: Here,
) -> None:
    call("other")
    done = sluicegate("audit", "export", "out.jsonl")
    assert (done.code, done.out) == (0, "3 events\n")
    lines = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert [line["seq"] for line in lines] == [1, 2, 3]
    assert {tuple(line) for line in lines} == {tuple(COLUMNS)}
    assert lines[-1]["findings"][0]["code"] == "WRONG_SUBJECT"
    assert "SECRET-OF-UPSTREAM" not in Path("out.jsonl").read_text()
    assert Path("out.jsonl").stat().st_mode & 0o777 == 0o600

    assert sluicegate("audit", "export", "out.parquet").code == 0
    table = parquet.read_table("out.parquet")
    assert table.column_names == COLUMNS
    assert table["seq"].to_pylist() == [1, 2, 3]
    assert table["link"].to_pylist() == [line["link"] for line in lines]
    assert json.loads(table["detail"].to_pylist()[0]) == lines[0]["detail"]


@pytest.mark.requirement("CLI")
def test_an_export_takes_what_is_asked_for_alone(sluicegate: Here) -> None:
    call("other")
    call(caller="nobody")
    for arguments, count in (
        (("--code", "DENIED"), 1),
        (("--tool", "job_status"), 3),
        (("--since", "1h"), 5),
        (("--as", "parquet"), 5),
    ):
        Path("out").unlink(missing_ok=True)
        told = "1 event\n" if count == 1 else f"{count} events\n"
        assert sluicegate("audit", "export", "out", *arguments).out == told
    assert parquet.read_table("out").num_rows == 5


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("there",), 2),
        (("no/such/folder/out",), 2),
        (("out.csv",), 2),
        (("out", "--code", "STALE"), 3),
        (("out", "--code", "STALLE"), 2),
        (("out", "--tool", "job_statu"), 2),
    ],
    ids=[
        "a file that stands there",
        "no folder",
        "another ending",
        "no event",
        "no code",
        "no tool",
    ],
)
def test_an_export_that_cannot_be_made_leaves_no_file(
    sluicegate: Here, arguments: tuple[str, ...], code: int
) -> None:
    call()
    Path("there").write_text("mine")
    assert sluicegate("audit", "export", *arguments).code == code
    assert Path("there").read_text() == "mine"
    assert not Path("out").exists()


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_an_export_that_breaks_off_leaves_no_file(tmp_path: Path, form: str) -> None:
    call()
    store = open_standing_store(Path("contracts"))
    (event, *_) = store.events(limit=1)

    def breaking() -> Iterator[StoredEvent]:
        for _ in range(ROWS_AT_ONCE + 1):
            yield event
        raise RuntimeError

    with pytest.raises(RuntimeError):
        export_events(breaking(), tmp_path / "out", form=form)
    assert not (tmp_path / "out").exists()


def test_without_the_library_the_extra_is_named(
    sluicegate: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    call()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = sluicegate("audit", "export", "out.parquet")
    assert (done.code, "install sluicegate[archive]" in done.err) == (2, True)
    assert not Path("out.parquet").exists()


@pytest.mark.requirement("ADP-5", "AUD-2", "AUD-5", "AUD-6")
def test_a_constant_of_a_command_that_may_be_a_secret_is_told_to_nobody(
    sluicegate: Here, caplog: pytest.LogCaptureFixture
) -> None:
    contract = Path("contracts/job_status/contract.yaml")
    argv = '"{/run_id}", "{/state}"'
    secret = f'{argv}, "--token=hunter2", "-phunter2", hunter2'
    contract.write_text(contract.read_text().replace(argv, secret))
    call("other")
    (request,) = {
        line["request_id"]
        for line in json.loads(sluicegate("audit", "list", "--format", "json-v1").out)["events"]
        if line["tool"] == "job_status"
    }
    told = [
        sluicegate(*command).out
        for command in (
            ("why", request),
            ("why", request, "--format", "json-v1"),
            ("audit", "show", request),
            ("audit", "show", request, "--format", "json-v1"),
            ("audit", "export", "out.jsonl"),
        )
    ]
    exported = Path("out.jsonl").read_text()
    assert "{/run_id} {/state} --token=… … …" in told[0]
    assert "WRONG_SUBJECT" in caplog.text
    assert "hunter2" not in f"{told} {exported} {caplog.text}"
