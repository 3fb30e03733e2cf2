"""What holds for every command: exit codes, streams, colour, help, and quiet ways out."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import click
import pytest
from tests.acceptance.commands import Here, expected, run_apart

from sluicegate.cli import explain as explain_module
from sluicegate.cli.exits import MEANINGS, Exit
from sluicegate.cli.main import program
from sluicegate.contracts.problems import Problem
from sluicegate.errors import ConfigurationError, ContractFolderError
from sluicegate.values.codes import Code

COMMANDS = program.list_commands(click.Context(program))


@pytest.mark.requirement("CLI")
def test_help_lists_every_command_and_every_exit_code(sluicegate: Here) -> None:
    done = sluicegate("--help")
    assert (done.code, done.out, done.err) == (0, expected("help.txt"), "")
    assert sluicegate("help").out == done.out


@pytest.mark.requirement("CLI")
def test_the_exit_codes_are_an_interface(sluicegate: Here) -> None:
    done = sluicegate("help", "exit-codes")
    assert (done.code, done.out) == (0, expected("exit-codes.txt"))
    assert set(MEANINGS) == set(Exit)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help_of_its_own(sluicegate: Here, name: str) -> None:
    done = sluicegate(name, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: sluicegate {name}")
    assert sluicegate("help", name).out == done.out


@pytest.mark.requirement("CLI")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("explan",), "Did you mean 'explain'?", id="near command"),
        pytest.param(("nothing-like-it",), "No such command", id="unknown command"),
        pytest.param((), "Usage:", id="no command"),
        pytest.param(("help", "nothing"), "no command or topic", id="unknown topic"),
        pytest.param(("judge", "--no-such"), "No such option", id="unknown option"),
        pytest.param(("explain", "STAL"), "Near names: STALE", id="near code"),
        pytest.param(("explain", "enum-widend"), "enum-widened", id="near kind of change"),
        pytest.param(("explain", "\x1b[31m"), "is no code", id="hostile code"),
        pytest.param(("completion", "tcsh"), "tcsh", id="unknown shell"),
    ],
)
def test_a_wrong_command_line_is_exit_2_on_stderr(
    sluicegate: Here, arguments: tuple[str, ...], said: str
) -> None:
    done = sluicegate(*arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "\x1b" not in done.err


@pytest.mark.requirement("CODES")
def test_explain_prints_the_page_of_a_code_in_any_case(sluicegate: Here) -> None:
    done = sluicegate("explain", "stale")
    assert (done.code, done.out) == (0, expected("explain-stale.txt"))


@pytest.mark.requirement("CODES", "LIF-1", "LIF-3")
def test_explain_lists_all_that_has_a_page_and_prints_each(sluicegate: Here) -> None:
    lines = sluicegate("explain").out.splitlines()
    told = json.loads(sluicegate("explain", "--format", "json-v1").out)
    names = [
        *[row["code"] for row in told["codes"]],
        *[row["rule"] for row in told["rules"]],
        *[row["change"] for row in told["changes"]],
    ]
    listed = [line.split()[0] for line in lines if "  " in line]
    assert listed == names
    assert [row["code"] for row in told["codes"]] == list(Code)
    assert {"DOUBT", "MUTANT", "under-bumped", "C01", "enum-widened"} < set(names)
    for name in names:
        done = sluicegate("explain", name.upper())
        assert (done.code, done.out.splitlines()[0].split()[:2]) == (0, ["#", name])


@pytest.mark.parametrize(
    ("name", "told"), [("b02", ("rule", "B02")), ("ENUM-WIDENED", ("change", "enum-widened"))]
)
def test_explain_tells_a_program_the_name_as_outputs_bear_it(
    sluicegate: Here, name: str, told: tuple[str, str]
) -> None:
    found = json.loads(sluicegate("explain", name, "--format", "json-v1").out)
    assert found[told[0]] == told[1]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_the_script_of_a_shell(sluicegate: Here, shell: str) -> None:
    done = sluicegate("completion", shell)
    assert done.code == 0
    assert "_SLUICEGATE_COMPLETE" in done.out


def test_completion_knows_the_commands() -> None:
    done = run_apart(
        environment={
            "_SLUICEGATE_COMPLETE": "bash_complete",
            "COMP_WORDS": "sluicegate ex",
            "COMP_CWORD": "1",
        }
    )
    assert done.out == "plain,explain\n"


@pytest.mark.requirement("CLI")
@pytest.mark.parametrize(
    ("color", "environment", "painted"),
    [
        pytest.param("auto", {}, False, id="piped"),
        pytest.param("auto", {"FORCE_COLOR": "1"}, True, id="forced"),
        pytest.param("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, id="NO_COLOR wins"),
        pytest.param("always", {"NO_COLOR": "1"}, True, id="the option wins"),
        pytest.param("never", {"FORCE_COLOR": "1"}, False, id="never"),
        pytest.param("auto", {"NO_COLOR": ""}, False, id="an empty NO_COLOR says nothing"),
    ],
)
def test_colour_follows_option_environment_terminal_in_this_order(
    sluicegate: Here,
    monkeypatch: pytest.MonkeyPatch,
    color: str,
    environment: dict[str, str],
    painted: bool,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    done = sluicegate("explain", "STALE", "--color", color)
    assert ("\x1b[" in done.out) == painted


@pytest.mark.parametrize(
    ("environment", "painted"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colour_is_on_at_a_terminal(environment: dict[str, str], painted: bool) -> None:
    leader, follower = pty.openpty()
    plain = {name: value for name, value in os.environ.items() if "COLOR" not in name}
    process = subprocess.Popen(
        [sys.executable, "-c", "from sluicegate.cli.main import main; main()", "explain", "EMPTY"],
        stdout=follower,
        env={**plain, "TERM": "xterm", **environment},
    )
    os.close(follower)
    seen = b""
    try:
        while piece := os.read(leader, 65_536):
            seen += piece
    except OSError:  # Linux ends a pseudo-terminal so
        pass
    os.close(leader)
    assert process.wait(30) == 0
    assert (b"\x1b[1m" in seen) == painted


def test_a_reader_that_goes_away_is_quiet() -> None:
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen(
        [sys.executable, "-c", "from sluicegate.cli.main import main; main()", "explain"],
        stdout=write,
        stderr=subprocess.PIPE,
    )
    os.close(write)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (Exit.READER_GONE, b"")


def test_a_full_disk_behind_the_output_is_said() -> None:
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run(
            [sys.executable, "-c", "from sluicegate.cli.main import main; main()", "explain"],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=30,
            check=False,
        )
    said = b"the output cannot be written: No space left on device; what is there is cut\n"
    assert (process.returncode, process.stderr) == (Exit.INTERNAL, said)


def fail_with(error: BaseException) -> object:
    def choose_paint(color: str) -> object:
        raise error

    return choose_paint


@pytest.mark.requirement("CLI")
@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        pytest.param(
            RuntimeError("holds a secret"), Exit.INTERNAL, "internal error: RuntimeError", id="70"
        ),
        pytest.param(KeyboardInterrupt(), Exit.INTERRUPTED, "interrupted", id="130"),
        pytest.param(BrokenPipeError(), Exit.READER_GONE, "", id="141"),
        pytest.param(ConfigurationError("mend it"), Exit.USAGE, "mend it\n", id="configuration"),
        pytest.param(
            ContractFolderError(
                [Problem(code=Code.CONTRACT_INVALID, document="c", message="m", mend="n")]
            ),
            Exit.DOES_NOT_LOAD,
            "c: CONTRACT_INVALID: m n\n",
            id="contracts",
        ),
    ],
)
def test_every_way_out_has_its_exit_code_and_no_traceback(
    sluicegate: Here,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: Exit,
    said: str,
) -> None:
    monkeypatch.setattr(explain_module, "choose_paint", fail_with(error))
    done = sluicegate("explain", "STALE")
    assert (done.code, done.out) == (code, "")
    assert done.err.lstrip().startswith(said)
    assert "Traceback" not in done.err
    assert "secret" not in done.err


def test_a_traceback_is_there_for_who_asks(
    sluicegate: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explain_module, "choose_paint", fail_with(RuntimeError("why")))
    monkeypatch.setenv("SLUICEGATE_DEBUG", "1")
    done = sluicegate("explain", "STALE")
    assert done.code == Exit.INTERNAL
    assert "Traceback" in done.err


def test_an_output_encoding_that_lacks_a_character_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"type": "array"}')
    (tmp_path / "d.json").write_text('{"日本": 1}', encoding="utf-8")
    done = run_apart(
        "judge",
        "--schema",
        tmp_path / "s.json",
        tmp_path / "d.json",
        environment={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    )
    assert done.code == 1
    assert "\\u65e5" in done.out


def test_a_command_imports_no_other_command() -> None:
    start = "import sys; from sluicegate.cli.main import run; run(['help', 'exit-codes'])"
    names = "sluicegate.cli.demo sluicegate.cli.judge sluicegate.cli.explain rich"
    ended = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{start}; print([name for name in {names.split()} if name in sys.modules])",
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ended.stdout.splitlines()[-1] == "[]"
