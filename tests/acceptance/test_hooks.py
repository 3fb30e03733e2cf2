"""The pre-commit hook and the GitHub Action run commands that there are."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.commands import Here

from sluicegate.contracts.yaml_reading import Document, read_document

pytestmark = pytest.mark.requirement("LIF-5")

ROOT = Path(__file__).resolve().parents[2]


def read(name: str) -> Any:
    document = read_document(name, (ROOT / name).read_bytes())
    assert isinstance(document, Document), document
    return document.value


@pytest.fixture(autouse=True)
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sluicegate: Here) -> None:
    """A new contract in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    sluicegate("init", "item_state")


def test_the_hook_runs_what_it_names_when_a_file_of_a_contract_changes(sluicegate: Here) -> None:
    (hook,) = read(".pre-commit-hooks.yaml")
    program, *arguments = shlex.split(hook["entry"])
    assert (program, sluicegate(*arguments).code) == ("sluicegate", 0)
    for path in (path for path in Path("contracts/item_state").rglob("*") if path.is_file()):
        assert re.search(hook["files"], path.as_posix()), path
    for name in (
        *("sluicegate.yaml", "diff-waivers.yaml", "item_state/contract.json"),
        *("item_state/result.json", "schemas/shared.yml", "policies/access.cedar"),
        *("item_state/released/DIGESTS", "item_state/fixtures/result/rejected/one.bin"),
        *("checks/rules.py", "keys/issuer.jwks", "ssh/known_hosts", "tls/ca.pem"),
    ):
        assert re.search(hook["files"], f"contracts/{name}"), name
    assert not re.search(hook["files"], "docs/index.md")


def run_action(form: str) -> tuple[subprocess.CompletedProcess[bytes], str]:
    """Run the step as the action does; return how it ended and the outputs that it wrote."""
    step = next(step for step in read("action.yml")["runs"]["steps"] if step.get("id") == "check")
    Path("outputs").write_text("")
    Path("bin").mkdir()
    program = Path("bin/sluicegate")
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sluicegate "$@"\n')
    program.chmod(0o755)
    ended = subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        env={
            **os.environ,
            "PATH": f"{Path('bin').resolve()}:{os.environ['PATH']}",
            "FOLDER": "contracts",
            "FORMAT": form,
            "OUTPUT": "out",
            "GITHUB_OUTPUT": "outputs",
        },
        capture_output=True,
        timeout=60,
        check=False,
    )
    return ended, Path("outputs").read_text()


@pytest.mark.parametrize(("form", "report"), [("github", ""), ("sarif", "report=out\n")])
def test_the_action_checks_the_folder_and_names_its_report(form: str, report: str) -> None:
    ended, outputs = run_action(form)
    assert (ended.returncode, outputs) == (0, report), ended.stderr
    written = Path("out").read_bytes() if report else ended.stdout
    assert written.startswith(b'{"$schema"' if report else b"::")


def test_no_input_of_the_action_is_put_into_a_script() -> None:
    for step in read("action.yml")["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


@pytest.mark.parametrize(
    ("extras", "installed"), [("", "/action"), ("access,signatures", "/action[access,signatures]")]
)
def test_the_action_installs_the_extras_that_are_named(extras: str, installed: str) -> None:
    step = next(
        step for step in read("action.yml")["runs"]["steps"] if step.get("name") == "Install"
    )
    told = subprocess.run(
        ["bash", "-e", "-c", f"python() {{ printf '%s\\n' \"$@\"; }}; {step['run']}"],
        env={"GITHUB_ACTION_PATH": "/action", "EXTRAS": extras},
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert told.stdout.decode().split("\n")[:-1] == ["-m", "pip", "install", installed]


def test_the_action_names_no_report_where_nothing_could_be_judged() -> None:
    Path("contracts/diff-waivers.yaml").write_text("- {}\n")
    ended, outputs = run_action("sarif")
    assert (ended.returncode, outputs) == (2, "")
