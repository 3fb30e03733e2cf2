"""A page a code: none missing, none left over, each with the head that the table gives it."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest
from click import Context

from sluicegate.cli.main import program
from sluicegate.rendering.pages import header_of, paint_page, read_page
from sluicegate.rendering.paint import Paint
from sluicegate.values.codes import CODES, Code

PAGES = Path(str(files("sluicegate.rendering").joinpath("codes")))
DOCS = Path(__file__).parents[3] / "docs" / "codes"
SECTIONS = ["## What it means", "## What to do", "## How it arises"]


@pytest.mark.requirement("CODES")
def test_the_pages_are_exactly_the_codes() -> None:
    assert sorted(path.name for path in PAGES.iterdir()) == sorted(f"{code}.md" for code in Code)


def test_the_documentation_shows_the_very_same_pages() -> None:
    assert DOCS.is_symlink()
    assert not DOCS.readlink().is_absolute()
    assert DOCS.resolve() == PAGES.resolve()


@pytest.mark.requirement("CODES")
@pytest.mark.parametrize("code", Code)
def test_the_head_of_each_page_is_the_row_of_the_table(code: Code) -> None:
    assert read_page(code)[: len(header_of(CODES[code]))] == header_of(CODES[code])


@pytest.mark.parametrize("code", Code)
def test_each_page_says_what_it_means_what_to_do_and_how_it_arises(code: Code) -> None:
    page = read_page(code)
    assert re.findall(r"^## .*$", page, re.MULTILINE) == SECTIONS
    runbook = page.partition("## What to do\n")[2].partition("## ")[0]
    steps = [line for line in runbook.splitlines() if line.startswith("- ")]
    assert 1 <= len(steps) <= 8
    assert all(len(part.strip()) > 20 for part in re.split(r"^## .*$", page, flags=re.MULTILINE))


def test_no_two_pages_tell_the_same_runbook() -> None:
    bodies = [read_page(code).partition("## What it means")[2] for code in Code]
    assert len(set(bodies)) == len(bodies)


@pytest.mark.parametrize("code", Code)
def test_a_page_names_only_codes_and_commands_that_exist(code: Code) -> None:
    named = set(re.findall(r"`sluicegate (\w+)", read_page(code)))
    assert named <= set(program.list_commands(Context(program)))


def test_headings_are_painted_and_nothing_else_is_changed() -> None:
    page = read_page(Code.STALE)
    assert paint_page(page) == page
    painted = paint_page(page, Paint(colour=True))
    assert painted.replace("\x1b[1m", "").replace("\x1b[0m", "") == page
    assert painted.startswith("\x1b[1m# STALE\x1b[0m\n")
