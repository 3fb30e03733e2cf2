"""What real processes do wrong, and what the adapter hands over then."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.unit.adapters.dispatches import dispatch

from sluicegate.adapters.command import CommandAdapter
from sluicegate.adapters.credentials import Credentials
from sluicegate.adapters.provenance import MAX_DIAGNOSTICS
from sluicegate.contracts.contract import CommandFetch
from sluicegate.errors import ConfigurationError
from sluicegate.values.receipts import Fault, Receipt

SECRET = "s3cret-of-ci"


def adapter(*words: str, **options: object) -> CommandAdapter:
    settings: dict[str, object] = {"argv": words, "timeout_s": 10, **options}
    return CommandAdapter(
        CommandFetch(**settings),  # type: ignore[arg-type]
        Credentials(environ={"CI_TOKEN": SECRET}),
        environ={"LANG": "C", "AWS_SECRET_ACCESS_KEY": "x", "LD_PRELOAD": "/evil.so"},
    )


async def shell(
    script: str, *, timeout_s: float = 10.0, max_bytes: int = 65_536, **options: object
) -> Receipt:
    return await adapter("sh", "-c", script, **options).fetch(
        dispatch({"id": "r1"}, timeout_s=timeout_s, max_bytes=max_bytes)
    )


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that waits to be reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


async def all_die(pids: Iterable[int]) -> bool:
    deadline = time.monotonic() + 5
    while any(is_alive(pid) for pid in pids):
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.01)
    return True


async def pids_in(path: Path, count: int) -> list[int]:
    """Wait until ``count`` process ids stand in the file."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        lines = path.read_text().split() if path.exists() else []
        if len(lines) == count:
            return [int(line) for line in lines]
        await asyncio.sleep(0.01)
    raise AssertionError("the processes did not start")


@pytest.mark.requirement("ADP-3", "RES-1")
async def test_stdout_is_the_answer_and_stderr_is_for_the_operator() -> None:
    receipt = await shell("echo '{}'; echo careful >&2")
    assert (
        receipt.fault,
        receipt.raw,
        receipt.diagnostics,
        receipt.exit_code,
    ) == (None, b"{}\n", b"careful\n", 0)
    assert (receipt.adapter, receipt.status, receipt.content_type) == ("command", None, None)


@pytest.mark.requirement("ADP-3")
@pytest.mark.parametrize(
    ("script", "code"), [("exit 3", 3), ("kill -TERM $$", -15)], ids=["code", "signal"]
)
async def test_the_exit_code_is_handed_over_and_not_judged(script: str, code: int) -> None:
    receipt = await shell(f"echo '{{}}'; {script}")
    assert (None, code, b"{}\n") == (receipt.fault, receipt.exit_code, receipt.raw)


@pytest.mark.requirement("ADP-1")
async def test_an_argument_reaches_the_program_as_one_element_and_no_shell_reads_it() -> None:
    program = "import json, sys; print(json.dumps(sys.argv[1:]))"
    value = "a b'\"$(id);\n*"
    receipt = await adapter(sys.executable, "-c", program, "{/id}", "x={/n}").fetch(
        dispatch({"id": value, "n": -5 + 10})
    )
    assert [value, "x=5"] == json.loads(receipt.raw)


@pytest.mark.requirement("ADP-1")
@pytest.mark.parametrize("value", ["-rf", "", "..", "a\0b", 1.5])
async def test_an_argument_that_could_be_an_option_starts_nothing(
    value: object, tmp_path: Path
) -> None:
    receipt = await adapter("touch", "started", "{/id}", directory=str(tmp_path)).fetch(
        dispatch({"id": value})
    )
    assert (
        receipt.fault,
        receipt.dispatched,
        list(tmp_path.iterdir()),
    ) == (Fault.BAD_ARGUMENT, False, [])


@pytest.mark.requirement("ADP-3")
async def test_the_environment_is_empty_but_for_the_allow_list() -> None:
    program = "import json, os; print(json.dumps(dict(os.environ)))"
    bare = await adapter(sys.executable, "-I", "-c", program).fetch(dispatch())
    named = await adapter(
        sys.executable, "-I", "-c", program, environment=("LANG", "ABSENT")
    ).fetch(dispatch())
    # Python itself adds LC_CTYPE where no locale is set.
    assert set(json.loads(bare.raw)) - {"LC_CTYPE"} == {"SLUICEGATE_REQUEST_ID"}
    assert {name: value for name, value in json.loads(named.raw).items() if name != "LC_CTYPE"} == {
        "LANG": "C",
        "SLUICEGATE_REQUEST_ID": dispatch().request_id,
    }


@pytest.mark.requirement("ADP-5")
async def test_the_credential_is_put_into_its_variable_and_masked_in_stderr() -> None:
    receipt = await shell(
        'echo "token $TOKEN" >&2; test -n "$TOKEN"',
        credential="CI_TOKEN",
        credential_variable="TOKEN",
    )
    assert (receipt.exit_code, receipt.diagnostics) == (0, b"token ***\n")


@pytest.mark.requirement("ADP-5")
async def test_a_credential_that_cannot_be_read_starts_nothing() -> None:
    receipt = await shell("echo", credential="ABSENT", credential_variable="TOKEN")
    assert (receipt.fault, receipt.dispatched) == (Fault.CREDENTIAL, False)


@pytest.mark.requirement("ADP-3")
async def test_no_descriptor_of_the_gate_is_inherited() -> None:
    left, right = os.pipe()
    os.set_inheritable(right, True)
    program = f"""
import os
try:
    os.fstat({right})
    print("open")
except OSError:
    print("closed")
"""
    try:
        receipt = await adapter(sys.executable, "-c", program).fetch(dispatch())
    finally:
        os.close(left)
        os.close(right)
    assert receipt.raw == b"closed\n"


@pytest.mark.requirement("ADP-3")
async def test_the_program_leads_a_session_of_its_own() -> None:
    program = "import os; print(os.getpid() == os.getsid(0) == os.getpgid(0))"
    receipt = await adapter(sys.executable, "-c", program).fetch(dispatch())
    assert receipt.raw == b"True\n"


@pytest.mark.requirement("ADP-3")
async def test_stdin_is_empty_unless_the_arguments_are_wanted() -> None:
    assert (await shell("cat")).raw == b""
    assert (await shell("cat", stdin="arguments")).raw == b'{"id": "r1"}'


@pytest.mark.requirement("ADP-3")
async def test_a_program_that_does_not_read_its_input_is_no_fault() -> None:
    big = dispatch({"text": "x" * 1_000_000})
    receipt = await adapter("sh", "-c", "exec <&-; echo '{}'", stdin="arguments").fetch(big)
    assert (receipt.fault, receipt.raw) == (None, b"{}\n")


@pytest.mark.requirement("ADP-3")
async def test_the_directory_is_the_contracts_constant(tmp_path: Path) -> None:
    receipt = await shell("pwd -P", directory=str(tmp_path))
    assert f"{tmp_path.resolve()}\n".encode() == receipt.raw


@pytest.mark.requirement("ADP-3", "RES-1")
async def test_output_of_exactly_the_limit_is_whole() -> None:
    assert (lambda r: (r.fault, r.raw))(await shell("printf 1234", max_bytes=4)) == (None, b"1234")
    over = await shell("printf 12345", max_bytes=4)
    assert (over.fault, over.raw, over.exit_code) == (Fault.TOO_LARGE, b"1234", None)


@pytest.mark.requirement("ADP-3")
async def test_output_without_end_kills_the_whole_group(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    receipt = await shell(f"sleep 60 & echo $! $$ > {pids}; exec cat /dev/zero")
    assert (
        receipt.fault,
        len(receipt.raw),
        receipt.dispatched,
    ) == (Fault.TOO_LARGE, 65_536, True)
    assert await all_die(await pids_in(pids, 2))


@pytest.mark.requirement("ADP-3")
async def test_stderr_without_end_is_read_and_bounded() -> None:
    receipt = await shell("head -c 3000000 /dev/zero >&2; echo '{}'; echo last words >&2")
    assert (
        receipt.fault,
        receipt.raw,
        len(receipt.diagnostics),
    ) == (None, b"{}\n", MAX_DIAGNOSTICS)
    assert receipt.diagnostics.endswith(b"last words\n")


@pytest.mark.requirement("ADP-2")
@pytest.mark.parametrize(
    "script",
    [
        "sleep 60 & echo $! $$ > PIDS; echo '{'; wait",
        "trap '' TERM INT HUP; sleep 60 & echo $! $$ > PIDS; echo '{'; wait; sleep 60",
        "exec 2>&-; sleep 60 & echo $! $$ > PIDS; echo '{'; exec >&-; wait",
    ],
    ids=["waits", "ignores signals", "closed its output"],
)
async def test_the_deadline_kills_the_whole_group(script: str, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    started = time.monotonic()
    receipt = await shell(script.replace("PIDS", str(pids)), timeout_s=0.5)
    assert time.monotonic() - started < 5
    assert (
        receipt.fault,
        receipt.raw,
        receipt.exit_code,
        receipt.dispatched,
    ) == (Fault.TIMEOUT, b"{\n", None, True)
    assert await all_die(await pids_in(pids, 2))


@pytest.mark.requirement("ADP-2")
async def test_a_cancelled_call_kills_the_whole_group(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    call = asyncio.ensure_future(shell(f"sleep 60 & echo $! $$ > {pids}; wait"))
    running = await pids_in(pids, 2)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await all_die(running)


@pytest.mark.requirement("ADP-2")
async def test_a_call_that_is_cancelled_while_it_starts_leaves_no_process(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    for turns in range(6):
        call = asyncio.ensure_future(shell(f"echo $$ >> {pids}; exec sleep 60"))
        for _ in range(turns):
            await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    started = [int(line) for line in pids.read_text().split()] if pids.exists() else []
    assert await all_die(started)


@pytest.mark.requirement("ADP-3")
async def test_a_grandchild_that_holds_the_output_open_does_not_hang_the_call(
    tmp_path: Path,
) -> None:
    pids = tmp_path / "pids"
    receipt = await shell(f"sleep 60 & echo $! > {pids}; echo '{{}}'")
    assert (receipt.fault, receipt.raw, receipt.exit_code) == (None, b"{}\n", 0)
    assert await all_die(await pids_in(pids, 1))


@pytest.mark.requirement("ADP-3")
async def test_a_grandchild_that_left_the_group_does_not_hang_the_call(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    escape = f"setsid sh -c 'echo $$ > {pids}; exec sleep 60' & "
    receipt = await shell(escape + f"while [ ! -s {pids} ]; do :; done; echo '{{}}'")
    (escaped,) = await pids_in(pids, 1)
    try:
        assert (receipt.fault, receipt.raw, receipt.exit_code) == (None, b"{}\n", 0)
    finally:
        os.kill(escaped, 9)


@pytest.mark.requirement("ADP-3")
async def test_all_that_a_program_wrote_before_it_ended_is_read() -> None:
    receipt = await shell("head -c 60000 /dev/zero | tr '\\0' x")
    assert (receipt.fault, receipt.raw) == (None, b"x" * 60_000)


@pytest.mark.requirement("ADP-3")
@pytest.mark.parametrize("program", ["no-such-program", "/nowhere/program", "/etc/passwd", "/"])
async def test_a_program_that_cannot_start_was_certainly_not_dispatched(program: str) -> None:
    receipt = await adapter(program, "x").fetch(dispatch())
    assert (receipt.fault, receipt.dispatched) == (Fault.UNREACHABLE, False)
    assert receipt.diagnostics


@pytest.mark.requirement("ADP-3")
async def test_a_directory_that_is_absent_starts_nothing(tmp_path: Path) -> None:
    receipt = await shell("echo", directory=str(tmp_path / "absent"))
    assert (receipt.fault, receipt.dispatched) == (Fault.UNREACHABLE, False)


@pytest.mark.requirement("ADP-1")
async def test_the_search_path_of_the_gate_cannot_choose_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "echo").write_text("#!/bin/sh\necho evil\n")
    (tmp_path / "echo").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert (await adapter("echo", "good").fetch(dispatch())).raw == b"good\n"


@pytest.mark.requirement("ADP-2")
async def test_many_commands_at_once_each_get_their_own_answer() -> None:
    asked = adapter("echo", "{/id}")
    receipts = await asyncio.gather(
        *(asked.fetch(dispatch({"id": number})) for number in range(24))
    )
    assert [b"%d\n" % number for number in range(24)] == [receipt.raw for receipt in receipts]


BAD_SETTINGS: dict[str, dict[str, object]] = {
    "relative program": {"argv": ("./run", "x")},
    "credential without variable": {"credential": "CI_TOKEN"},
    "variable without credential": {"credential_variable": "TOKEN"},
    "credential that may be the secret": {"credential": "ghp-1", "credential_variable": "T"},
    "variable that is none": {"environment": ("A=B",)},
}


@pytest.mark.requirement("ADP-1")
@pytest.mark.parametrize("settings", BAD_SETTINGS.values(), ids=BAD_SETTINGS)
def test_settings_of_no_use_are_a_configuration_error(settings: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError):
        adapter(**{"argv": ("ls",), **settings})  # type: ignore[arg-type]


@pytest.mark.requirement("ADP-5")
async def test_an_answer_that_echoes_our_credential_is_not_handed_on() -> None:
    program = 'import json, os; print(json.dumps({"id": os.environ["TOKEN"]}))'
    receipt = await adapter(
        sys.executable,
        "-I",
        "-c",
        program,
        credential="CI_TOKEN",
        credential_variable="TOKEN",
    ).fetch(dispatch())
    assert (receipt.raw, receipt.fault) == (b"", Fault.LEAK)
