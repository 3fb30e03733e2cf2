"""What events tell of an upstream: where it is, and no constant that may be a key."""

from __future__ import annotations

import pytest

from sluicegate.adapters.endpoints import tell_command, tell_line, tell_url

pytestmark = pytest.mark.requirement("ADP-5", "AUD-2", "AUD-5")

URLS = {
    "a path": ("https://h:8443/runs/{/run_id}", "https://h:8443/runs/{/run_id}"),
    "no path": ("https://h", "https://h"),
    "a constant": ("http://h/x?token=hunter2", "http://h/x?token=…"),
    "a placeholder": ("http://h/x?id={/a/b~1c}&token=h", "http://h/x?id={/a/b~1c}&token=…"),
    "both in one": ("http://h/x?id=a{/b}c", "http://h/x?id=…{/b}…"),
    "no name": ("http://h/x?hunter2", "http://h/x?…"),
    "a name without a value": ("http://h/x?token=", "http://h/x?token="),
    "another separator": ("http://h/x?a={/a};token=hunter2", "http://h/x?a={/a}…"),
    "an equals sign in the value": ("http://h/x?a=b=hunter2", "http://h/x?a=…"),
    "a question mark in the value": ("http://h/x?a=b?hunter2", "http://h/x?a=…"),
    "signs in a placeholder": (
        "http://h/{/a?b&c}?d={/e&f?}&g=h",
        "http://h/{/a?b&c}?d={/e&f?}&g=…",
    ),
    "nothing asked": ("http://h/x?", "http://h/x"),
}


@pytest.mark.parametrize(("url", "told"), URLS.values(), ids=URLS)
def test_of_a_query_the_names_are_told_and_values_that_are_placeholders(
    url: str, told: str
) -> None:
    assert tell_url("POST", url) == f"POST {told}"


COMMANDS = {
    "a program alone": (["findmnt"], "findmnt"),
    "an argument": (["/bin/echo", "--", "{/run_id}"], "/bin/echo -- {/run_id}"),
    "a value of an option": (["x", "--token=hunter2"], "x --token=…"),
    "a value that is a placeholder": (["x", "--run={/run_id}"], "x --run={/run_id}"),
    "both in one": (["x", "--run=r-{/id}", "r-{/id}"], "x --run=…{/id} …{/id}"),
    "a value beside its option": (["x", "--token", "hunter2"], "x --token …"),
    "a value at its option": (["mysql", "-phunter2", "-e", "x"], "mysql … -e …"),
    "a short option with a value": (["x", "-p=hunter2"], "x -p=…"),
    "a value with a line break": (["x", "--token=hun\nter2"], "x --token=…"),
    "no option": (["x", "--hunter2"], "x …"),
    "a script": (["sh", "-c", "echo hunter2", "sh", "{/n}"], "sh -c … … {/n}"),
    "a line in the place of a program": (["curl -H hunter2"], "curl …"),
}


@pytest.mark.parametrize(("argv", "told"), COMMANDS.values(), ids=COMMANDS)
def test_of_a_command_the_program_is_told_and_names_of_options_and_placeholders(
    argv: list[str], told: str
) -> None:
    assert tell_command(argv) == told


LINES = {
    "a program alone": ("ci-status", "ci-status"),
    "options": ("ci-status --token=hunter2", "ci-status …"),
    "a second command": ("cat; echo hunter2", "cat …"),
    "an assignment": ("TOKEN=hunter2 ci-status", "…"),
    "a quotation": ("'hunter2' x", "…"),
    "an expansion": ("$(hunter2)", "…"),
    "blanks around": ("  /bin/cat ", "/bin/cat"),
}


@pytest.mark.parametrize(("line", "told"), LINES.values(), ids=LINES)
def test_of_a_line_the_program_is_told(line: str, told: str) -> None:
    assert tell_line(line) == told
