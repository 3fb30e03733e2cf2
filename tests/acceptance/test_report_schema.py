"""What each judging command really prints for programs fits the schema that is published for it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
from tests.acceptance.commands import Here
from tests.acceptance.folders import write_folder

pytestmark = pytest.mark.requirement("LIF-5", "CLI")

SCHEMA: Final = json.loads(
    files("sluicegate.rendering").joinpath("schemas/report.schema.json").read_bytes()
)
STRICT: Final = Path(__file__).parent / "strict"
CONTRACT: Final = Path("strict/job_status/contract.yaml")
FIXTURES: Final = Path("strict/job_status/fixtures")


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work beside a copy of the strict example, two folders of contracts, and two schemas."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(STRICT, "strict")
    write_folder(Path("old"))
    write_folder(Path("new"))
    Path("short.json").write_text('{"type": "string", "maxLength": 4}')
    Path("long.json").write_text('{"type": "string", "maxLength": 9}')
    Path("broken.json").write_text('{"type": 1}')
    Path("empty").mkdir()


def change(old: str, new: str, path: Path = CONTRACT) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def open_holes() -> None:
    """Everything at once: findings of lint, holes, failing and unread fixtures, idle rows."""
    change("        maxItems: 8\n", "")
    (FIXTURES / "arguments/rejected/misnamed.expect.yaml").write_text("code: MISSING\n")
    (FIXTURES / "result/rejected/another-project.expect.yaml").write_text("code: NONE\n")
    change("tool: job_status", "tool: job_statsu", Path("strict/sluicegate.yaml"))


def break_contract() -> None:
    change("effect: read", "effect: reed")


def break_new() -> None:
    contract = Path("new/job_status/contract.yaml")
    change("[failed, succeeded, other]", "[failed, lost]", contract)
    Path("new/restart/contract.yaml").unlink()
    shutil.rmtree("new/job_status/released", ignore_errors=True)
    Path("new/diff-waivers.yaml").write_text(
        '- {fingerprint: "0123456789ab", reason: agreed, until: 2999-01-01}\n'
    )


def nothing() -> None:
    """Leave all as it is."""


Run = tuple[tuple[str, ...], Callable[[], None], str]
RUNS: Final[dict[str, Run]] = {
    "lint, clean": (("lint", "--side", "arguments", "short.json"), nothing, "passes"),
    "lint, findings": (("lint", "strict"), open_holes, "findings"),
    "lint, nothing": (("lint", "empty"), nothing, "nothing-checked"),
    "check, well": (("check", "strict"), nothing, "ok"),
    "check, fails": (("check", "strict"), open_holes, "fails"),
    "check, not loaded": (("check", "strict"), break_contract, "does-not-load"),
    "check, nothing": (("check", "empty"), nothing, "nothing-checked"),
    "test, well": (("test", "strict"), nothing, "ok"),
    "test, fails": (("test", "strict"), open_holes, "fails"),
    "test, cut": (("test", "strict", "--max-mutants", "100"), nothing, "fails"),
    "test, not loaded": (("test", "strict"), break_contract, "does-not-load"),
    "test, nothing": (("test", "empty"), nothing, "nothing-checked"),
    "diff, same": (("diff", "old", "old"), nothing, "compatible"),
    "diff, breaking": (("diff", "old", "new"), break_new, "breaking"),
    "diff, of schemas": (
        ("diff", "--side", "arguments", "long.json", "short.json"),
        nothing,
        "breaking",
    ),
    "diff, narrower": (
        ("diff", "--side", "result", "long.json", "short.json"),
        nothing,
        "compatible",
    ),
    "diff, not loaded": (
        ("diff", "--side", "result", "long.json", "broken.json"),
        nothing,
        "does-not-load",
    ),
    "diff, nothing": (("diff", "empty", "empty"), nothing, "nothing-checked"),
}


@pytest.mark.parametrize(("arguments", "prepare", "verdict"), RUNS.values(), ids=RUNS)
def test_a_real_run_fits_the_published_schema(
    sluicegate: Here, arguments: tuple[str, ...], prepare: Callable[[], None], verdict: str
) -> None:
    prepare()
    told = json.loads(sluicegate(*arguments, "--format", "json-v1").out)
    assert (told["format"], told["command"]) == ("json-v1", arguments[0])
    assert told["verdict"] == verdict
    hold(told)


def hold(told: Any) -> None:
    """Validate, without the other branches, so that a mistake is named and not `oneOf`."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    branch = {**SCHEMA, "oneOf": [{"$ref": f"#/$defs/{told['command']}"}]}
    jsonschema.validate(told, branch, cls=jsonschema.Draft202012Validator)
    jsonschema.validate(told, SCHEMA, cls=jsonschema.Draft202012Validator)


def test_every_list_of_items_was_filled_by_some_run(sluicegate: Here) -> None:
    """Else the schema of its items was held to nothing."""
    filled: set[str] = set()
    for arguments, prepare, _ in (RUNS["check, fails"], RUNS["test, fails"]):
        if arguments[0] == "check":
            prepare()
        told = json.loads(sluicegate(*arguments, "--format", "json-v1").out)
        filled |= {f"{arguments[0]}.{name}" for name, value in told.items() if value}
    break_new()
    told = json.loads(sluicegate("diff", "old", "new", "--format", "json-v1").out)
    filled |= {f"diff.{name}" for name, value in told.items() if value}
    assert {
        *("check.settings", "check.lint", "check.holes", "check.fixtures"),
        *("test.survivors", "test.fixtures"),
        *("diff.changes", "diff.witnesses", "diff.versions", "diff.idle_waivers"),
    } <= filled


@pytest.mark.parametrize("command", ["lint", "check", "test", "diff", "replay"])
def test_the_schema_refuses_what_is_no_report(command: str) -> None:
    shell = {"format": "json-v1", "command": command, "verdict": "ok", "checked": 1}
    counts = {"errors": 0, "warnings": 0, "infos": 0}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**shell, **counts}, SCHEMA, cls=jsonschema.Draft202012Validator)
