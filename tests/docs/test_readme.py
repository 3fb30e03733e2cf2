"""The README says what happens: its example is a file that runs, its output is what it prints."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from tests.docs.examples import run_example

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.mark.skipif(
    shutil.which("findmnt") is None, reason="the example needs findmnt (util-linux, Linux only)"
)
@pytest.mark.requirement("CON-8", "ADP-3")
def test_the_example_of_the_readme_runs_and_prints_what_the_readme_says() -> None:
    example = (ROOT / "docs_src" / "quickstart.py").read_text("utf-8")
    assert blocks("python") == [example]
    shown = run_example("quickstart.py")
    printed = re.sub(r"req\.[A-Za-z0-9]{20}", "req.J7q94MkPqTz3xYw8Lr2N", shown)
    assert printed in README


def test_the_example_has_no_more_than_25_lines() -> None:
    (example,) = blocks("python")
    assert len(example.splitlines()) <= 25


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#]+)\)", README))))
def test_each_link_of_the_readme_leads_to_something(target: str) -> None:
    assert (ROOT / target).exists()


def test_the_two_commands_of_the_readme_are_the_ones_that_ci_runs() -> None:
    assert "pip install uv && uv run sluicegate demo" in README
    assert "pip install uv && uv run pytest" in README
    assert "\npip install uv && uv run pytest\n" in (ROOT / ".ci" / "run").read_text("utf-8")
