"""The page of the Python API shows a file that runs, what it prints, and names that exist."""

from __future__ import annotations

import inspect
import re
import shutil
from pathlib import Path

import pytest
from tests.docs.examples import run_example

import sluicegate
from sluicegate import Answer, BlockingGate, Caller, Gate, Receipt, ToolCall

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reference" / "python.md").read_text("utf-8")


@pytest.mark.skipif(
    shutil.which("findmnt") is None, reason="the example needs findmnt (util-linux, Linux only)"
)
@pytest.mark.requirement("ARG-9")
def test_the_example_runs_and_prints_what_the_page_says() -> None:
    (shown,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert shown == (ROOT / "docs_src" / "python_api.py").read_text("utf-8")
    printed = run_example("python_api.py")
    assert f"```\n{printed}```" in PAGE


@pytest.mark.parametrize("name", re.findall(r"`(?:await )?@?gate\.(\w+)", PAGE))
def test_each_method_of_a_gate_exists(name: str) -> None:
    assert hasattr(Gate, name)
    assert hasattr(BlockingGate, name) or name == "withdrawn"


def test_each_parameter_of_a_call_is_told() -> None:
    told = {"tool", "arguments", "caller", "call_id", "deadline_s", "as_"}
    assert set(inspect.signature(Gate.call).parameters) - {"self"} == told
    assert "gate.call(tool, arguments, *, caller, call_id=None, deadline_s=None, as_=None)" in PAGE


SIGNED = {
    "open_gate": sluicegate.open_gate,
    "open_blocking": sluicegate.open_blocking,
    "Caller": Caller,
    "ToolCall": ToolCall,
    "Receipt": Receipt,
    "gate.call": Gate.call,
    "gate.call_all": Gate.call_all,
    "gate.check_call": Gate.check_call,
    "gate.check_result": Gate.check_result,
    "gate.tool_definitions": Gate.tool_definitions,
    "gate.agent_instructions": Gate.agent_instructions,
    "gate.envelope_schema": Gate.envelope_schema,
    "gate.reload": Gate.reload,
}


@pytest.mark.parametrize("name", SIGNED)
def test_each_signature_is_told_as_it_is(name: str) -> None:
    called = rf"`(?:await )?{re.escape(name)}\(([^`]*)\)`"
    told = [" ".join(each.split()) for each in re.findall(called, PAGE)]
    assert told
    parts, starred = [], False
    for each in inspect.signature(SIGNED[name]).parameters.values():
        if each.name == "self":
            continue
        if each.kind is each.KEYWORD_ONLY and not starred:
            parts, starred = [*parts, "*"], True
        given = "" if each.default is each.empty else f"={each.default!r}".replace("'", '"')
        parts.append(f"{each.name}{given}")
    if name == "Receipt":  # the page names those that a host fills in
        wanted = told[0].split(", ")[:-1]
        assert wanted == [each for each in parts if each in wanted]
        assert [each for each in parts if "=" not in each] == wanted[:4]
    else:
        assert told[0] == ", ".join(parts)


def test_each_part_of_an_answer_is_told() -> None:
    table = PAGE.partition("| of an `Answer` |")[2].partition("\n\n")[0]
    told = re.findall(r"`(\w+)(?:\(\))?`", "\n".join(re.findall(r"(?m)^\| (`[^|]*) \|", table)))
    assert sorted(told) == sorted(name for name in dir(Answer) if not name.startswith("_"))


@pytest.mark.parametrize("name", re.findall(r"(?m)^\| `([A-Z]\w+)` \|", PAGE))
def test_each_error_is_public(name: str) -> None:
    assert issubclass(getattr(sluicegate, name), Exception)
