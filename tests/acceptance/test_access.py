"""A folder whose callers are judged by Cedar policies, or by an AuthZEN service."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest
from tests.acceptance.commands import Here
from tests.acceptance.folders import write_folder
from tests.faults.upstreams import Upstream, answer, sending, serve

from sluicegate import open_gate
from sluicegate.errors import ContractFolderError
from sluicegate.gates.gate import Gate
from sluicegate.values.callers import Caller

pytestmark = pytest.mark.requirement("ACC-2")

AUDIT = 'audit: {store: "sqlite:state/audit.db", keys: "file:keys/"}\n'
SCHEMA = """\
entity Caller, Tool, run;
type Asked = { tool: String, contract_digest: String, tenant?: String };
action job_status, restart appliesTo { principal: Caller, resource: run, context: Asked };
"""
READ = 'permit (principal == Caller::"svc", action == Action::"job_status", resource);\n'
SUCCESS = '{"run_id": "run_1", "state": "succeeded"}'
SVC = Caller(subject="svc")


def write_access(folder: Path, access: str) -> None:
    (folder / "sluicegate.yaml").write_text(f"{AUDIT}access: {access}\n")


@pytest.fixture
def cedar(tmp_path: Path) -> Path:
    """A folder with two tools, one of which its policies permit."""
    folder = write_folder(tmp_path / "contracts")
    write_access(folder, "{cedar: policies/}")
    (folder / "policies").mkdir()
    (folder / "policies" / "schema.cedarschema").write_text(SCHEMA)
    (folder / "policies" / "read.cedar").write_text(READ)
    return folder


def refused_of(folder: Path) -> list[str]:
    with pytest.raises(ContractFolderError) as caught:
        open_gate(folder)
    return [str(problem) for problem in caught.value.problems]


async def codes_of(gate: Gate, request_id: str) -> list[str | None]:
    return [event.code for event in gate.audit.events(request_id=request_id)]


@pytest.mark.requirement("ACC-1", "AUD-2")
async def test_a_call_runs_where_a_policy_permits_it_and_nowhere_else(cedar: Path) -> None:
    gate = open_gate(cedar)
    try:
        given = await gate.call("job_status", SUCCESS, caller=SVC)
        assert given.outcome == "success"
        (intent, _) = gate.audit.events(request_id=given.request_id)
        assert intent.decision_id
        version = json.loads(intent.detail)["policy"]
        assert version.startswith("sha256:")
        for tool, caller in (("restart", SVC), ("job_status", Caller(subject="svc-other"))):
            refused = await gate.call(tool, SUCCESS, caller=caller)
            assert (refused.outcome, refused.code) == ("refused", "DENIED")
            (event,) = gate.audit.events(request_id=refused.request_id)
            assert (event.code, json.loads(event.detail)["policy"]) == ("DENIED", version)
    finally:
        await gate.close()


@pytest.mark.requirement("CON-3")
async def test_policies_that_change_count_from_the_next_reload_on(cedar: Path) -> None:
    gate = open_gate(cedar)
    policy = cedar / "policies" / "read.cedar"
    try:
        policy.write_text(READ.replace("svc", "svc-other"))
        assert (await gate.call("job_status", SUCCESS, caller=SVC)).outcome == "success"
        assert await gate.reload() == ()
        assert (await gate.call("job_status", SUCCESS, caller=SVC)).code == "DENIED"
    finally:
        await gate.close()


@pytest.mark.requirement("CON-3")
async def test_policies_that_do_not_load_keep_the_old_ones_and_say_where(cedar: Path) -> None:
    gate = open_gate(cedar)
    try:
        (cedar / "policies" / "read.cedar").write_text(f"{READ}permit (principal, action);\n")
        (problem,) = await gate.reload()
        assert (problem.document, problem.line) == ("policies/read.cedar", 2)
        assert (await gate.call("job_status", SUCCESS, caller=SVC)).outcome == "success"
        sets = [event.outcome for event in gate.audit.events() if event.kind == "contracts"]
        assert sorted(sets) == ["done", "refused"]
    finally:
        await gate.close()


BROKEN: dict[str, tuple[dict[str, str | None], str]] = {
    "no schema": ({"policies/schema.cedarschema": None}, "policies: CONTRACT_INVALID: The folder"),
    "a bad policy": (
        {"policies/read.cedar": "\npermit (principal);"},
        "policies/read.cedar:2:1: CONTRACT_INVALID: The policy that begins here",
    ),
    "a policy that does not fit": (
        {"policies/read.cedar": READ.replace("job_status", "job_sttus")},
        "policies/read.cedar:1:1: CONTRACT_INVALID: The policy that begins here does not fit",
    ),
    "a tool that the schema does not know": (
        {"policies/schema.cedarschema": SCHEMA.replace(", restart", "")},
        "policies/schema.cedarschema: CONTRACT_INVALID: It takes no call of the tool restart",
    ),
    "a policy by another name": (
        {"policies/deny.cedr": "forbid (principal, action, resource);"},
        "policies/deny.cedr: CONTRACT_INVALID: The file is read by nothing.",
    ),
    "a schema that is too deep": (
        {"policies/more/schema.json": "{}"},
        "policies/more/schema.json: CONTRACT_INVALID: The file is read by nothing.",
    ),
    "no folder": (
        {"sluicegate.yaml": f"{AUDIT}access: {{cedar: police/}}\n"},
        "sluicegate.yaml:2:17: CONTRACT_INVALID: There is no such folder.",
    ),
    "authorities that are not there": (
        {
            "sluicegate.yaml": f'{AUDIT}access: {{authzen: {{url: "https://127.0.0.1:1", '
            "ca_file: ca.pem}}\n"
        },
        "sluicegate.yaml:2:19: CONTRACT_INVALID: It cannot be asked: ca_file",
    ),
}


@pytest.mark.requirement("CON-1", "CON-3", "CLI")
@pytest.mark.parametrize(("files", "said"), BROKEN.values(), ids=BROKEN)
def test_access_that_does_not_load_is_exit_4_and_says_where(
    cedar: Path,
    sluicegate: Here,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, str | None],
    said: str,
) -> None:
    for name, text in files.items():
        if text is None:
            (cedar / name).unlink()
        else:
            (cedar / name).parent.mkdir(exist_ok=True)
            (cedar / name).write_text(text)
    assert any(text.startswith(said) for text in refused_of(cedar)), refused_of(cedar)
    monkeypatch.chdir(cedar.parent)
    done = sluicegate("check", "contracts")
    assert done.code == 4
    assert said.partition(": ")[0] in done.out + done.err
    assert not (cedar / "state").exists()


def test_check_asks_no_row_where_policies_decide(
    cedar: Path, sluicegate: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(cedar.parent)
    done = sluicegate("check", "contracts")
    assert done.code == 0
    assert "access rule" not in done.out + done.err


@pytest.mark.parametrize("name", ["more/deny.cedar", ".deny.cedar", "README.cedar"])
def test_every_policy_below_the_folder_counts_and_readmes_do_not(cedar: Path, name: str) -> None:
    (cedar / "policies" / name).parent.mkdir(exist_ok=True)
    (cedar / "policies" / name).write_text("forbid (principal, action, resource);\n")
    (cedar / "policies" / "README.md").write_text("What stands here.\n")
    (cedar / "policies" / ".keep").write_text("")

    async def call() -> str | None:
        gate = open_gate(cedar)
        try:
            return (await gate.call("job_status", SUCCESS, caller=SVC)).code
        finally:
            await gate.close()

    assert asyncio.run(call()) == "DENIED"


@pytest.mark.parametrize("name", ["deny.cedar", "more"])
def test_a_link_that_leaves_the_folder_is_not_followed(
    cedar: Path, tmp_path: Path, name: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.cedar").write_text("permit (principal, action, resource);\n")
    (cedar / "policies" / name).symlink_to(outside / ("a.cedar" if "." in name else ""))
    (problem,) = refused_of(cedar)
    assert problem.startswith(f"policies/{name}: CONTRACT_INVALID:")


def test_a_resource_that_could_be_any_tool_is_refused(cedar: Path) -> None:
    for tool in ("job_status", "restart"):
        path = cedar / tool / "contract.yaml"
        path.write_text(path.read_text().replace("{type: run,", "{type: Tool,"))
    schema = cedar / "policies" / "schema.cedarschema"
    schema.write_text(SCHEMA.replace("resource: run", "resource: Tool"))
    problems = refused_of(cedar)
    assert len(problems) == 2
    assert all("stands for the tool itself" in problem for problem in problems)


def test_without_its_library_the_folder_does_not_load_and_says_what_to_install(
    cedar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cedarpy", None)
    (problem,) = refused_of(cedar)
    assert problem.startswith("sluicegate.yaml:2:")
    assert "install sluicegate[access]" in problem


DOCTOR = {
    "cedar": ("{cedar: policies/}", True, "Cedar, 1 policy in policies/"),
    "the table": ("[{caller: svc, tool: job_status}]", True, "the table, 1 row"),
    "a service that is down": (
        '{authzen: "http://127.0.0.1:1"}',
        False,
        "AuthZEN at http://127.0.0.1:1/access/v1/evaluation gives no decision",
    ),
    "a credential that is not there": (
        '{authzen: {url: "http://127.0.0.1:1", credential: NO_SUCH_TOKEN}}',
        False,
        "the environment variable NO_SUCH_TOKEN is not set",
    ),
}


@pytest.mark.requirement("CLI")
@pytest.mark.parametrize(("access", "well", "says"), DOCTOR.values(), ids=DOCTOR)
def test_doctor_says_what_decides_and_whether_it_answers(
    cedar: Path,
    sluicegate: Here,
    monkeypatch: pytest.MonkeyPatch,
    access: str,
    well: bool,
    says: str,
) -> None:
    write_access(cedar, access)
    monkeypatch.chdir(cedar.parent)
    told = json.loads(sluicegate("doctor", "contracts", "--format", "json-v1").out)
    (look,) = [look for look in told["looks"] if look["name"] == "access"]
    assert (look["well"], says in look["says"]) == (well, True), look


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine must not turn an answer into a late one."""
    for module in ("access.authzen", "gates.authorizing"):
        monkeypatch.setattr(f"sluicegate.{module}.DECISION_TIMEOUT_S", 30.0)


@pytest.mark.requirement("CLI")
async def test_doctor_asks_a_service_about_nobody(
    cedar: Path, sluicegate: Here, monkeypatch: pytest.MonkeyPatch, patience: None
) -> None:
    monkeypatch.chdir(cedar.parent)
    async with serve(sending(answer(b'{"decision": false}'))) as service:
        write_access(cedar, f'{{authzen: "{service.origin}"}}')
        done = await asyncio.to_thread(sluicegate, "doctor", "contracts", "--format", "json-v1")
    (look,) = [look for look in json.loads(done.out)["looks"] if look["name"] == "access"]
    assert look["well"] is True
    assert look["says"].endswith("answers; it denies the caller sluicegate-doctor")
    assert json.loads(service.bodies[-1])["subject"] == {
        "type": "caller",
        "id": "sluicegate-doctor",
    }


@pytest.mark.requirement("ACC-1", "ADP-5")
async def test_a_folder_may_name_a_service_and_its_credential(
    cedar: Path, monkeypatch: pytest.MonkeyPatch, patience: None
) -> None:
    monkeypatch.setenv("PDP_TOKEN", "s3cret-of-the-service")
    async with serve(sending(answer(b'{"decision": true}'))) as service:
        write_access(cedar, f'{{authzen: {{url: "{service.origin}", credential: PDP_TOKEN}}}}')
        gate = await asyncio.to_thread(open_gate, cedar)
        try:
            given = await gate.call("job_status", SUCCESS, caller=SVC)
            events = list(gate.audit.events(request_id=given.request_id))
        finally:
            await gate.close()
    assert given.outcome == "success"
    assert service.header("authorization") == "Bearer s3cret-of-the-service"
    assert events[0].decision_id == service.header("x-request-id")
    assert "s3cret" not in f"{events}"


FORBIDDEN = answer(b'{"message": "Forbidden"}', status="403 Forbidden")
HTTP = '  http: {method: GET, url: "ORIGIN/runs/{/run_id}", timeout_s: 10}\n'


def ask_over_http(folder: Path, upstream: Upstream) -> None:
    path = folder / "job_status" / "contract.yaml"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(
        "".join(
            HTTP.replace("ORIGIN", upstream.origin) if line.startswith("  command:") else line
            for line in lines
        )
    )


@pytest.mark.requirement("RET-2", "ENV-1")
@pytest.mark.parametrize(
    ("decisions", "sent", "code"),
    [
        (["cedar"], 2, "UPSTREAM_DENIED"),
        ([True, True], 2, "UPSTREAM_DENIED"),
        ([True, False], 1, "DENIED"),
        ([True, None], 1, "PDP_UNAVAILABLE"),
    ],
    ids=["cedar permits again", "a service allows again", "a service denies then", "or is broken"],
)
async def test_a_refusal_upstream_is_decided_anew_once(
    cedar: Path, patience: None, decisions: list[object], sent: int, code: str
) -> None:
    waiting = iter(decisions)

    async def decide(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        decision = next(waiting)
        writer.write(answer(json.dumps({"decision": decision}).encode()))
        await writer.drain()

    async with serve(sending(FORBIDDEN)) as upstream, serve(decide) as service:
        ask_over_http(cedar, upstream)
        if decisions != ["cedar"]:
            write_access(cedar, f'{{authzen: "{service.origin}"}}')
        gate = await asyncio.to_thread(open_gate, cedar)
        try:
            given = await gate.call("job_status", SUCCESS, caller=SVC)
            codes = await codes_of(gate, given.request_id)
        finally:
            await gate.close()
        assert upstream.connections == sent
        assert service.connections == (0 if decisions == ["cedar"] else 2)
    # Something ran, so what would refuse ends as a failure; the true code is for the operator.
    assert (given.outcome, given.code) == ("failure", "UPSTREAM_UNAVAILABLE")
    assert (codes.count("UPSTREAM_DENIED"), codes[-1]) == (sent, code)
