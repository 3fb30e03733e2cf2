"""Opening a real folder: what is served, what is withdrawn, and how a set is swapped."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel, Field
from tests.unit.notices.test_webhook import hooked

from sluicegate.errors import ConfigurationError, ContractFolderError, MisuseError
from sluicegate.gates.definitions import envelope_of
from sluicegate.opening.blocking import open_blocking
from sluicegate.opening.checking import check_folder
from sluicegate.opening.documents import MAX_DOCUMENT_BYTES
from sluicegate.opening.folder import open_gate, read_settings
from sluicegate.values.callers import Caller

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
OPS = Caller(subject="svc-ops")
ROOT_FS = '{"mount_point": "/"}'
needs_findmnt = pytest.mark.skipif(
    shutil.which("findmnt") is None, reason="needs findmnt (util-linux, Linux only)"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "contracts"
    shutil.copytree(
        EXAMPLES / "filesystem" / "contracts",
        root,
        ignore=shutil.ignore_patterns("state", "keys"),
    )
    return root


@needs_findmnt
@pytest.mark.requirement("RES-3", "ADP-3", "AUD-3")
async def test_a_command_is_narrowed_to_what_was_asked_and_recorded(folder: Path) -> None:
    async with open_gate(folder) as gate:
        given = await gate.call("mounted_filesystem", ROOT_FS, caller=OPS)
        assert given.outcome == "success"
        assert isinstance(given.data, dict)
        assert given.data["mount_point"] == "/"
        assert gate.audit.verify().broken_at is None


@pytest.mark.requirement("ACC-2")
async def test_whom_no_row_allows_is_denied(folder: Path) -> None:
    async with open_gate(folder) as gate:
        given = await gate.call("mounted_filesystem", ROOT_FS, caller=Caller(subject="other"))
    assert (given.outcome, given.code) == ("refused", "DENIED")


@pytest.mark.requirement("CON-3")
def test_one_bad_contract_and_nothing_is_opened(folder: Path) -> None:
    bad = folder / "bad" / "contract.yaml"
    bad.parent.mkdir()
    bad.write_text("sluicegate: 1\ntool: bad\nversoin: 1.0.0\n")
    with pytest.raises(ContractFolderError, match=r"bad/contract\.yaml:3:1.*version"):
        open_gate(folder)


@pytest.mark.requirement("LIF-2")
async def test_a_contract_whose_fixture_fails_is_not_served(folder: Path) -> None:
    accepted = folder / "mounted_filesystem" / "fixtures" / "result" / "accepted" / "bad.json"
    accepted.write_text("{}")
    async with open_gate(folder) as gate:
        given = await gate.call("mounted_filesystem", ROOT_FS, caller=OPS)
    assert (given.outcome, given.code) == ("refused", "UNKNOWN_TOOL")
    failed = [result for result in check_folder(folder).fixtures if not result.ok]
    assert [result.path for result in failed] == [
        "mounted_filesystem/fixtures/result/accepted/bad.json"
    ]


@pytest.mark.requirement("CON-3")
async def test_a_reload_swaps_the_whole_set_or_keeps_the_old_one(folder: Path) -> None:
    contract = folder / "mounted_filesystem" / "contract.yaml"
    good = contract.read_text()
    async with open_gate(folder) as gate:
        before = gate.contracts.digest
        contract.write_text("sluicegate: 1\n")
        problems = await gate.reload()
        assert problems != ()
        assert gate.contracts.digest == before
        contract.write_text(good.replace("version: 1.0.0", "version: 1.0.1"))
        assert await gate.reload() == ()
        assert gate.contracts.contracts["mounted_filesystem"].version == "1.0.1"
        kinds = [
            (event.outcome, json.loads(event.detail)["set"])
            for event in gate.audit.events()
            if event.kind == "contracts"
        ]
    assert kinds == [("refused", "kept"), ("done", "swapped")]


@pytest.mark.requirement("CON-3", "ADP-5", "AUD-5", "AUD-6")
@pytest.mark.parametrize("route", ["log", "webhook"])
async def test_a_reload_tells_nobody_the_address_that_stands_in_the_place_of_a_section(
    folder: Path, caplog: pytest.LogCaptureFixture, route: str
) -> None:
    settings = folder / "sluicegate.yaml"
    with hooked() as hook:
        told_by = hook.url if route == "webhook" else "log:"
        settings.write_text(f"{settings.read_text()}notify: {{'': '{told_by}'}}\n")
        async with open_gate(folder) as gate:
            settings.write_text("audit: postgresql://u:hunter2@db/x\n")
            problems = await gate.reload()
            recorded = [event.detail for event in gate.audit.events()]
        told = hook.posted[0]["text"] if route == "webhook" else caplog.text
    assert [problem.pointer for problem in problems] == ["/audit"]
    assert "must be a mapping; here stands a text." in told
    assert "hunter2" not in f"{told} {recorded} {problems} {caplog.text} {hook.posted}"


class Weather(BaseModel):
    """Weather of one city."""

    city: str = Field(pattern="^[A-Z][a-z]{1,30}$")
    celsius: float = Field(ge=-90, le=60)


@pytest.mark.requirement("CON-5", "CON-7", "ADP-4")
def test_a_contract_written_beside_its_function_is_held_to_the_same_ladders(tmp_path: Path) -> None:
    root = tmp_path / "contracts"
    root.mkdir()
    (root / "sluicegate.yaml").write_text(
        'audit: {store: "memory:"}\naccess: [{caller: agent, action: call, tool: weather}]\n'
    )
    answers = iter(
        [{"city": "Bern", "celsius": 4.5}, {"city": "Genf", "celsius": 4.5}, {"city": "Bern"}]
    )
    with open_blocking(root) as gate:

        @gate.tool(
            owner="weather",
            result=Weather,
            arguments={
                "type": "object",
                "properties": {"city": {"type": "string", "pattern": "^[A-Z][a-z]{1,30}$"}},
                "required": ["city"],
                "additionalProperties": False,
            },
            bind={"/city": "/city"},
            agent=["/city", "/celsius"],
        )
        def weather(city: str) -> object:
            """Weather of one city."""
            return next(answers)

        caller = Caller(subject="agent")
        seen = [gate.call("weather", '{"city": "Bern"}', caller=caller) for _ in range(3)]
        assert [(a.outcome, a.code) for a in seen] == [
            ("success", None),
            ("failure", "INVALID_RESPONSE"),
            ("failure", "INVALID_RESPONSE"),
        ]
        assert seen[0].data == {"city": "Bern", "celsius": 4.5}
        with pytest.raises(MisuseError, match="served already"):
            gate.tool(owner="x", result=Weather, agent=["/city"])(weather)


def test_a_folder_that_forbids_python_forbids_it_beside_functions_too(tmp_path: Path) -> None:
    root = tmp_path / "contracts"
    root.mkdir()
    (root / "sluicegate.yaml").write_text('audit: {store: "memory:"}\n')
    with open_blocking(root, python=False) as gate, pytest.raises(MisuseError, match="forbids"):
        gate.tool(owner="x", agent=["/a"])


@pytest.mark.parametrize("example", ["filesystem", "webhooks", "restart"])
def test_each_example_checks_clean(example: str) -> None:
    report = check_folder(EXAMPLES / example / "contracts")
    assert report.problems == ()
    assert [(f.path, f.note) for f in report.fixtures if not f.ok] == []
    assert len(report.fixtures) >= 4


@pytest.mark.requirement("CON-6")
@pytest.mark.parametrize("example", ["filesystem", "webhooks", "restart"])
def test_another_validator_takes_the_envelope_of_each_example(example: str) -> None:
    """python-jsonschema judges by it, and an answer about another tool is none."""
    loaded = check_folder(EXAMPLES / example / "contracts").contracts
    assert loaded is not None
    for tool, contract in loaded.contracts.items():
        schema = envelope_of(contract)
        jsonschema.Draft202012Validator.check_schema(schema)
        judge = jsonschema.Draft202012Validator(schema)
        refusal = {
            "tool": tool,
            "request_id": "req.00000001",
            "outcome": "refused",
            "error": {"code": "DENIED", "retryable": False},
        }
        assert [error.message for error in judge.iter_errors(refusal)] == []
        assert not judge.is_valid({**refusal, "tool": f"{tool}_2"})
        assert not judge.is_valid({**refusal, "message": "approve it"})
        told = {key: refusal[key] for key in ("tool", "request_id")}
        assert not judge.is_valid({**told, "outcome": "success", "data": {"unreviewed": 1}})


@pytest.mark.requirement("CON-1")
def test_a_fixture_that_is_a_link_out_of_the_folder_is_not_read(
    folder: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text("{}")
    link = folder / "mounted_filesystem" / "fixtures" / "result" / "rejected" / "linked.json"
    link.symlink_to(outside)
    (failed,) = [result for result in check_folder(folder).fixtures if not result.ok]
    assert (failed.path, failed.note) == (
        "mounted_filesystem/fixtures/result/rejected/linked.json",
        "The file is a link that leaves the folder.",
    )


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize("audit", ['keys: "file:/dev/null"', 'store: "sqlite:/dev/null/a.db"'])
def test_a_record_that_cannot_be_opened_is_a_configuration_fault(folder: Path, audit: str) -> None:
    (folder / "sluicegate.yaml").write_text(f"audit: {{{audit}}}\n")
    with pytest.raises(ConfigurationError):
        open_gate(folder)


WRONG = {
    "no notifier": "notify: {platform: 'apprise:env:SLUICEGATE_NO_SUCH_VARIABLE'}\n",
    "no quota store": "limits: {quota_store: 'redis:env:SLUICEGATE_NO_SUCH_VARIABLE'}\n",
    "no key store": "limits: {key_store: 'redis:env:SLUICEGATE_NO_SUCH_VARIABLE'}\n",
}


@pytest.mark.requirement("RES-9")
@pytest.mark.parametrize("wrong", WRONG)
def test_a_folder_that_fails_to_open_leaves_nothing_open(folder: Path, wrong: str) -> None:
    """A supervisor may try again and again until what is missing is there."""
    settings = folder / "sluicegate.yaml"
    settings.write_text(settings.read_text() + WRONG[wrong])
    before = (threading.active_count(), open_files())
    for _ in range(3):
        with pytest.raises(ConfigurationError, match="SLUICEGATE_NO_SUCH_VARIABLE"):
            open_gate(folder)
    assert (threading.active_count(), open_files()) == before


def open_files() -> set[str]:
    found = set()
    for each in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.add(str(each.readlink()))
    return {name for name in found if name.startswith("/") and "/proc/" not in name}


async def test_a_reload_keeps_the_notifier_while_its_routes_are_the_same(folder: Path) -> None:
    settings = folder / "sluicegate.yaml"
    async with open_gate(folder) as gate:
        first = gate._means.notifier
        assert await gate.reload() == ()
        assert gate._means.notifier is first
        settings.write_text(
            settings.read_text() + "notify: {platform: 'http://127.0.0.1:9/notices'}\n"
        )
        assert await gate.reload() == ()
        assert gate._means.notifier is not first


@pytest.mark.parametrize(
    ("clock", "lacks"),
    [
        (object(), "`now`, `monotonic`, `sleep`"),
        (time, "`now`"),
        (0, "`now`, `monotonic`, `sleep`"),
    ],
    ids=["an object", "the module time", "a number"],
)
def test_a_clock_that_lacks_a_method_is_misuse(folder: Path, clock: Any, lacks: str) -> None:
    with pytest.raises(MisuseError, match=f"`clock` has no method {lacks}: it needs"):
        open_gate(folder, clock=clock)


def _is_a_fifo(settings: Path) -> None:
    settings.unlink()
    os.mkfifo(settings)


def _is_a_link_out(settings: Path) -> None:
    outside = settings.parent.parent / "settings.yaml"
    settings.rename(outside)
    settings.symlink_to(outside)


def _is_too_large(settings: Path) -> None:
    settings.write_bytes(b"#" * (MAX_DOCUMENT_BYTES + 1))


def _has_another_name(settings: Path) -> None:
    settings.rename(settings.with_suffix(".yml"))


def _links_to_what_no_file_is_called(settings: Path) -> None:
    settings.unlink()
    settings.symlink_to("a" * 300)


def _is_a_folder(settings: Path) -> None:
    settings.unlink()
    settings.mkdir()


def _stands_behind_too_many(settings: Path) -> None:
    for number in range(10_001):
        settings.with_name(f"a{number}.yaml").touch()


@pytest.mark.requirement("RES-9", "CON-1")
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_is_a_fifo, "sluicegate.yaml: .* is not a plain file"),
        (_is_a_link_out, "sluicegate.yaml: .* leaves the folder"),
        (_is_too_large, "sluicegate.yaml: .* more than 1048576 bytes"),
        (_has_another_name, "sluicegate.yml: .* not read under this name"),
        (_links_to_what_no_file_is_called, "sluicegate.yaml: .* is not a plain file"),
        (_stands_behind_too_many, "sluicegate.yaml cannot be read: .* too many files"),
        (_is_a_folder, "sluicegate.yaml cannot be read: it is no plain file"),
    ],
)
def test_settings_that_stand_there_unread_are_no_reason_for_another_record(
    folder: Path, spoil: Callable[[Path], None], said: str
) -> None:
    spoil(folder / "sluicegate.yaml")
    with pytest.raises(ConfigurationError, match=said):
        read_settings(folder)


@pytest.mark.requirement("AUD-3", "CON-1")
def test_what_is_not_read_beside_settings_that_are_keeps_nobody_from_the_record(
    folder: Path,
) -> None:
    (folder / "sluicegate").symlink_to("/usr")
    (folder / "sluicegate.json").write_text("{}")
    (folder / "mounted_filesystem" / "x.yaml").symlink_to("a" * 300)
    assert read_settings(folder).access.rules
