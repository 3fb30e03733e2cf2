"""Settings with which no gate opens, or every call is refused: ``check`` and ``doctor`` say so."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.acceptance.commands import Here
from tests.acceptance.folders import write_folder
from tests.redis_servers import RedisServer, run_redis

pytestmark = pytest.mark.requirement("CLI")

SETTINGS = Path("contracts/sluicegate.yaml")
NOWHERE = "redis://127.0.0.1:9/0"
CALL = ("call", "job_status", "--arguments", '{"run_id": "run_1", "state": "failed"}')


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path / "contracts")
    (tmp_path / "plain").write_text("")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with run_redis(tmp_path / "redis") as running:
        yield running


def settle(line: str) -> None:
    """Put ``line`` first into the settings, in the place of one that stands there."""
    key = line.partition(":")[0]
    others = [each for each in SETTINGS.read_text().splitlines() if not each.startswith(f"{key}:")]
    SETTINGS.write_text("\n".join([line, *others, ""]))


def looks(sluicegate: Here, name: str) -> list[tuple[bool, str]]:
    told = json.loads(sluicegate("doctor", "contracts", "--format", "json-v1").out)
    return [(look["well"], look["says"]) for look in told["looks"] if look["name"] == name]


UNOPENED = {
    "no variable of the quota store": (
        "limits: {quota_store: 'redis:env:NOPE'}",
        "quota store",
        "limits.quota_store: the variable NOPE is not set",
    ),
    "no variable of a route": (
        "notify: {ci-platform: 'apprise:env:NOPE'}",
        "notices",
        "ci-platform: the environment variable NOPE (`notify`) is not set",
    ),
    "no variable of the keys": (
        "audit: {store: 'sqlite:state/audit.db', keys: 'env:NOPE'}",
        "keys",
        "the environment variable NOPE (audit.keys) is not set",
    ),
    "no folder that could hold the keys": (
        "audit: {store: 'sqlite:state/audit.db', keys: 'file:../plain/keys'}",
        "keys",
        "contracts/../plain is no folder: audit.keys are to stand there",
    ),
    "no folder that could hold the record": (
        "audit: {store: 'sqlite:../plain/state/audit.db', keys: 'file:keys/'}",
        "store",
        "contracts/../plain is no folder: audit.store is to stand there",
    ),
}


@pytest.mark.parametrize(("line", "name", "says"), UNOPENED.values(), ids=UNOPENED)
def test_what_the_environment_lacks_for_a_gate_to_open_is_not_well(
    sluicegate: Here, line: str, name: str, says: str
) -> None:
    settle(line)
    ill = [told for well, told in looks(sluicegate, name) if not well]
    assert [says in told for told in ill] == [True]
    assert not [each for each in ("state", "keys") if Path("contracts", each).exists()]
    assert sluicegate(*CALL, "--caller", "svc").code == 2


@pytest.mark.requirement("ACC-3")
def test_a_quota_store_that_does_not_answer_is_not_well(
    sluicegate: Here, server: RedisServer
) -> None:
    settle(f"limits: {{quota_store: '{server.address}'}}")
    well = (True, "Redis answers, and attempts are counted there")
    assert looks(sluicegate, "quota store") == [well]
    assert server.names() == []  # nothing was counted
    server.kill()
    ((is_well, says),) = looks(sluicegate, "quota store")
    assert (is_well, "Redis does not answer (ConnectionError)" in says) == (False, True)
    assert str(server.port) not in says


REFUSALS = {
    "a user that it does not know": ("redis://nobody:s3cret@{}/0", "refuses who asks", "password"),
    "no such database": ("redis://{}/99", "has no such database", "as /0"),
}


@pytest.mark.requirement("ACC-3")
@pytest.mark.parametrize(("address", "does", "remedy"), REFUSALS.values(), ids=REFUSALS)
def test_a_redis_that_refuses_is_told_from_one_that_is_not_there(
    sluicegate: Here,
    server: RedisServer,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    does: str,
    remedy: str,
) -> None:
    monkeypatch.setenv("QUOTAS", address.format(f"127.0.0.1:{server.port}"))
    settle("limits: {quota_store: 'redis:env:QUOTAS'}")
    ((well, says),) = looks(sluicegate, "quota store")
    assert (well, f"Redis answers and {does} (" in says, remedy in says) == (False, True, True)
    assert "s3cret" not in says
    assert str(server.port) not in says


@pytest.mark.requirement("ACC-3")
def test_quotas_of_the_record_and_of_the_process_are_well(sluicegate: Here) -> None:
    assert looks(sluicegate, "quota store") == []
    settle("limits: {quota_store: 'memory:'}")
    says = "attempts are counted in each process by itself"
    assert looks(sluicegate, "quota store") == [(True, says)]


def test_before_the_first_gate_doctor_says_what_it_will_make(sluicegate: Here) -> None:
    says = "contracts/keys holds none yet: the first gate draws them"
    assert looks(sluicegate, "keys") == [(True, says)]
    assert not Path("contracts/keys").exists()


@pytest.mark.requirement("AUD-6")
def test_each_route_is_shown_by_what_is_no_secret_of_it(
    sluicegate: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWNERS", "json://127.0.0.1:9/s3cret")
    settle("notify: {ci-platform: 'https://hooks.example/s3cret', '': 'apprise:env:OWNERS'}")
    assert looks(sluicegate, "notices") == [
        (True, "ci-platform is told by hooks.example"),
        (True, "the gate itself is told by the targets of OWNERS"),
    ]
    assert sluicegate("check").code == 0


LACKING = {
    "quota store": (
        "limits: {quota_store: 'redis://127.0.0.1:6379/0'}",
        "redis",
        ("LIMITS", "/limits/quota_store", "install sluicegate[access,redis]"),
        "quota store",
    ),
    "quotas in the process": (
        "limits: {quota_store: 'memory:'}",
        "limits",
        ("LIMITS", "/limits/quota_store", "install sluicegate[access]"),
        "quota store",
    ),
    "key store": (
        "limits: {key_store: 'redis://127.0.0.1:6379/0'}",
        "redis",
        ("LIMITS", "/limits/key_store", "install sluicegate[redis]"),
        "key store",
    ),
    "record": (
        "audit: {store: 'postgresql:env:RECORD'}",
        "psycopg",
        ("AUDIT", "/audit/store", "install sluicegate[postgres]"),
        "store",
    ),
    "keyring": (
        "audit: {store: 'sqlite:state/audit.db', keys: 'keyring:gate'}",
        "keyring",
        ("AUDIT", "/audit/keys", "install sluicegate[keyring]"),
        "keys",
    ),
    "notices": (
        "notify: {ci-platform: 'apprise:env:OWNERS'}",
        "apprise",
        ("NOTIFY", "/notify/ci-platform", "install sluicegate[notify]"),
        "notices",
    ),
}


@pytest.mark.parametrize(("line", "library", "told", "name"), LACKING.values(), ids=LACKING)
def test_a_library_that_is_not_installed_fails_the_check_and_the_doctor(
    sluicegate: Here,
    monkeypatch: pytest.MonkeyPatch,
    line: str,
    library: str,
    told: tuple[str, str, str],
    name: str,
) -> None:
    settle(line)
    for module in [each for each in sys.modules if each.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, library, None)
    rule, pointer, says = told
    done = sluicegate("check", "--format", "json-v1")
    (found,) = json.loads(done.out)["settings"]
    assert (done.code, found["rule"], found["pointer"], found["line"]) == (1, rule, pointer, 1)
    assert (found["message"].startswith("No gate opens: "), says in found["message"]) == (
        True,
        True,
    )
    ill = [text for well, text in looks(sluicegate, name) if not well]
    assert [says.partition("[")[0] in text for text in ill] == [True]


RECORD = "audit: {{store: '{}', keys: 'file:keys/'}}"
ADDRESSES = {
    # what is written → the rule, the pointer, and what is told
    "a quota store at no port": (
        "limits: {quota_store: 'redis://127.0.0.1:99999/0'}",
        ("LIMITS", "/limits/quota_store", "limits.quota_store: this is no address of Redis"),
    ),
    "a key store at no port": (
        "limits: {key_store: 'redis://127.0.0.1:65536'}",
        ("LIMITS", "/limits/key_store", "limits.key_store: this is no address of Redis"),
    ),
    "a record at no port": (
        RECORD.format("postgresql://test@127.0.0.1:99999/test"),
        ("AUDIT", "/audit/store", "audit.store names a port that is none"),
    ),
    "a mode of TLS that is none": (
        RECORD.format("postgresql://test@127.0.0.1:9/test?sslmode=bogus"),
        ("AUDIT", "/audit/store", "audit.store has an sslmode that is none"),
    ),
    "a database that is not encoded": (
        RECORD.format("postgresql://test@127.0.0.1:9/%zz"),
        ("AUDIT", "/audit/store", "audit.store is not understood as a PostgreSQL URL"),
    ),
    "two chains": (
        RECORD.format("postgresql://test@127.0.0.1:9/test?chain=a&chain=b"),
        ("AUDIT", "/audit/store", "audit.store: after ? stands chain=NAME alone"),
    ),
    "authorities in a device": (
        RECORD.format("postgresql://test@127.0.0.1:9/test?sslrootcert=/dev/zero"),
        ("AUDIT", "/audit/store", "audit.store names with sslrootcert what is no regular file"),
    ),
}


@pytest.mark.parametrize(("line", "told"), ADDRESSES.values(), ids=ADDRESSES)
def test_an_address_that_no_client_takes_fails_the_check_before_any_call(
    sluicegate: Here, line: str, told: tuple[str, str, str]
) -> None:
    settle(line)
    done = sluicegate("check", "--format", "json-v1")
    (found,) = json.loads(done.out)["settings"]
    rule, pointer, says = told
    assert (done.code, found["rule"], found["pointer"], found["line"]) == (1, rule, pointer, 1)
    assert found["message"].startswith(f"No gate opens: {says}")
    assert (sluicegate("doctor").code, sluicegate(*CALL, "--caller", "svc").code) == (1, 2)


OWNERS = {
    "misspelt": ("ci-platfrom", "ci-platfrom; did you mean ci-platform?"),
    "another": ("billing", "no contract here has the owner billing"),
}


@pytest.mark.requirement("AUD-6")
@pytest.mark.parametrize(("owner", "says"), OWNERS.values(), ids=OWNERS)
def test_a_route_from_an_owner_that_no_contract_has_fails_the_check_and_the_doctor(
    sluicegate: Here, owner: str, says: str
) -> None:
    settle(f"notify: {{ci-platform: 'log:', {owner}: 'https://hooks.example/x'}}")
    done = sluicegate("check", "--format", "json-v1")
    (found,) = json.loads(done.out)["settings"]
    assert (done.code, found["rule"], found["severity"]) == (1, "NOTIFY", "error")
    assert (found["pointer"], found["line"], found["column"]) == (f"/notify/{owner}", 1, 31)
    assert found["message"].endswith(says)
    ill = [text for well, text in looks(sluicegate, "notices") if not well]
    assert [text.endswith(says) for text in ill] == [True]
    shown = sluicegate("check")
    assert ("hooks.example" in shown.out, says in shown.out) == (False, True)


@pytest.mark.requirement("AUD-6", "CLI")
def test_the_owner_of_the_version_behind_a_rollback_is_one_of_the_folder(
    sluicegate: Here,
) -> None:
    contract = Path("contracts/job_status/contract.yaml")
    contract.write_text(contract.read_text().replace("owner: ci-platform", "owner: newcomers"))
    assert sluicegate("rollback", "job_status", "1.0.0", "--reason", "regression").code == 0
    settle("notify: {ci-platform: 'log:', newcomers: 'log:'}")
    assert [well for well, _ in looks(sluicegate, "notices")] == [True, True]
