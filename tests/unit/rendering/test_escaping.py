"""Each reader's own escaping: nothing that the other side wrote is acted on, or hides."""

from __future__ import annotations

import json
import unicodedata

import pytest
from tests.unit.rendering.hostile import HOSTILE

from sluicegate.rendering.escaping import (
    escape_github_message,
    escape_github_property,
    escape_json,
    escape_terminal,
    show_cells,
)

ACTED_ON = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}

hostile_names = pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())


def acted_on(text: str) -> list[str]:
    return [character for character in text if unicodedata.category(character) in ACTED_ON]


@pytest.mark.requirement("AUD-5")
@hostile_names
def test_a_terminal_sees_no_character_that_it_would_act_on(name: str) -> None:
    shown = escape_terminal(name)
    assert acted_on(shown) == []
    assert "##[" not in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("plain text", "plain text", id="plain"),
        pytest.param("\x1b[31m", "␛[31m", id="escape is its picture"),
        pytest.param("a\nb\x00\x7f", "a␊b␀␡", id="controls are their pictures"),
        pytest.param("a\tb", "a b", id="a tab is one blank"),
        pytest.param("\u202eabc", "�abc", id="bidi override"),
        pytest.param("日本é", "日本é", id="letters stay"),
        pytest.param("e\u0301", "e\u0301", id="one combining mark stays"),
        pytest.param("e\u0301\u0301\u0301\u0301", "e\u0301\u0301��", id="a pile of marks does not"),
        pytest.param("##[error]", "##⟦error]", id="old command form"),
        pytest.param(" ::error::x", " : :error::x", id="new command form"),
        pytest.param("a::b", "a::b", id="two colons inside"),
    ],
)
def test_a_terminal_sees_each_character_as_this(text: str, shown: str) -> None:
    assert escape_terminal(text) == shown


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        pytest.param("a\x1b\u202e", (1, 1, 1), id="replaced ones take one cell"),
        pytest.param("日é", (2, 1), id="wide ones take two"),
        pytest.param("e\u0301", (1, 0), id="a mark takes none"),
    ],
)
def test_cells_are_counted_for_each_character(text: str, cells: tuple[int, ...]) -> None:
    assert show_cells(text)[1] == cells


@pytest.mark.requirement("AUD-5")
@hostile_names
def test_a_github_message_stays_one_line_and_one_command(name: str) -> None:
    line = f"::error file=a.json::{escape_github_message(name)}\n"
    assert line.count("\n") == 1
    assert acted_on(line[:-1]) == []


@pytest.mark.requirement("AUD-5")
@hostile_names
def test_a_github_property_cannot_end_itself(name: str) -> None:
    shown = escape_github_property(name)
    assert not {":", ",", "\n", "\r"} & set(shown)
    assert "%" not in shown.replace("%25", "").replace("%0A", "").replace("%3A", "").replace(
        "%2C", ""
    )


@pytest.mark.requirement("AUD-5")
@hostile_names
def test_json_is_inert_ascii_and_reads_back_as_it_was(name: str) -> None:
    text = escape_json({"name": name})
    assert text.isascii()
    assert acted_on(text) == []
    assert not {"<", ">", "&"} & set(text)
    assert "##[" not in text
    assert json.loads(text) == {"name": name}


@pytest.mark.parametrize("value", [float("nan"), float("inf")], ids=["nan", "infinity"])
def test_json_refuses_what_is_not_json(value: float) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        escape_json({"number": value})
