"""Schemas are tried in a child process that the kernel ends (CON-2)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from sluicegate.opening import children, trial, trial_child
from sluicegate.opening.trial import try_schemas
from sluicegate.values.codes import Code

pytestmark = pytest.mark.requirement("CON-2")

PLAIN: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "additionalProperties": False,
}


def bomb(levels: int) -> dict[str, Any]:
    """Registration would refuse it; the trial must not rely on that."""
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(levels):
        schema = {"allOf": [schema], "properties": {"a": {}}, "unevaluatedProperties": False}
    return schema


def codes(*schemas: Any) -> list[Code | None]:
    return [None if fault is None else fault.code for fault in try_schemas(schemas)]


def test_a_folder_of_plain_schemas_comes_through_in_one_child(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = []
    run = children.subprocess.run

    def count(*arguments: Any, **options: Any) -> Any:
        started.append(arguments)
        return run(*arguments, **options)

    monkeypatch.setattr(children.subprocess, "run", count)
    assert codes(*[PLAIN] * 60) == [None] * 60
    assert len(started) == 1


def test_nothing_to_try_starts_no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children.subprocess, "run", None)
    assert try_schemas([]) == ()


def test_a_bomb_is_refused_and_those_around_it_are_not() -> None:
    assert codes(PLAIN, bomb(20), PLAIN) == [None, Code.SCHEMA_TOO_COMPLEX, None]


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"type": "dict"}, id="does not compile"),
        pytest.param({"$ref": "file:///etc/hostname"}, id="wants to read a file"),
        pytest.param({"pattern": "(?=a)"}, id="a pattern that backtracks"),
        pytest.param({"pattern": "(((a{99}){99}){99}){9}"}, id="a pattern that fills memory"),
    ],
)
def test_any_end_but_success_is_a_refusal(schema: object) -> None:
    assert codes(PLAIN, schema) == [None, Code.SCHEMA_TOO_COMPLEX]


def test_a_child_that_cannot_start_refuses_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    assert codes(PLAIN, PLAIN) == [Code.SCHEMA_TOO_COMPLEX] * 2


def test_a_child_that_hangs_is_ended_and_its_schema_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hanging = tmp_path / "hanging.py"
    hanging.write_text(
        "import sys\nprint('.', flush=True)\nsys.stdin.read()\nimport signal\nsignal.pause()\n"
    )
    monkeypatch.setattr(trial, "_CHILD", hanging)
    monkeypatch.setattr(trial, "WALL_S", 0.5)
    assert codes(PLAIN, PLAIN)[1] is Code.SCHEMA_TOO_COMPLEX


def test_a_child_that_claims_more_than_it_was_given_is_not_believed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    boasting = tmp_path / "boasting.py"
    boasting.write_text("import sys\nprint('.\\n' * 99, flush=True)\nsys.exit(1)\n")
    monkeypatch.setattr(trial, "_CHILD", boasting)
    assert codes(PLAIN, PLAIN) == [None, Code.SCHEMA_TOO_COMPLEX]


def test_the_child_has_no_environment_and_cannot_write(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen = tmp_path / "seen"
    prying = tmp_path / "prying.py"
    prying.write_text(
        "import json, os, sys\n"
        "sys.stdin.read()\n"
        f"open({str(seen)!r}, 'w').write(json.dumps([sorted(os.environ), os.getcwd()]))\n"
    )
    monkeypatch.setenv("CI_TOKEN", "secret")
    monkeypatch.setattr(trial, "_CHILD", prying)
    try_schemas([PLAIN])
    environment, folder = json.loads(seen.read_text())
    assert "CI_TOKEN" not in environment
    assert folder == "/"


def test_probes_reach_every_declared_name_many_levels_down() -> None:
    schema = {"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}}}}
    deepest = max(
        str(probe).count("next") for probe in trial_child.probes(schema) if isinstance(probe, dict)
    )
    assert deepest >= 32


def test_probes_of_a_wide_schema_stay_within_their_budget() -> None:
    schema = {"properties": {f"m{index}": {} for index in range(400)}}
    longest = max(len(str(probe)) for probe in trial_child.probes(schema))
    assert longest < 100_000
