"""Signed contracts in a folder: their keys, their fixtures, and their gate (RES-6, LIF-2)."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.unit.checks import signing
from tests.unit.gates.job_status import ARGUMENTS, CONTRACT, answer

from sluicegate.adapters.credentials import Credentials
from sluicegate.checks.authentication_keys import PublicKeys
from sluicegate.errors import ConfigurationError, ContractFolderError, MisuseError
from sluicegate.opening.blocking import open_blocking
from sluicegate.opening.checking import FolderReport, check_folder
from sluicegate.opening.examining.folder import examine_folder
from sluicegate.opening.fixture_signatures import HOWS
from sluicegate.opening.folder import open_gate
from sluicegate.opening.signature_keys import find_keys
from sluicegate.opening.testing_contracts import probe_folder
from sluicegate.rendering.story import tell_story
from sluicegate.testing import contracts_of
from sluicegate.values.callers import Caller

pytestmark = pytest.mark.requirement("RES-6")

JWS = {
    "issuer": signing.ISSUER,
    "algorithms": ["Ed25519"],
    "keys": "trust/ci.jwks",
    "header": "x-signature",
    "max_age_s": 60,
}
IN_BODY = {**{name: value for name, value in JWS.items() if name != "header"}, "body": True}
FORMS: dict[str, dict[str, Any]] = {
    "standard_webhooks": {"standard_webhooks": {"secrets": ["CI_SECRET"], "max_age_s": 60}},
    "jws in a header": {"jws": JWS},
    "jws as the body": {"jws": IN_BODY},
    "jws by ES256": {"jws": {**JWS, "algorithms": ["ES256", "Ed25519"]}},
    "rfc9421": {"rfc9421": {"algorithms": ["ed25519"], "keys": "trust/ci.jwks", "max_age_s": 60}},
    "rfc9421 with a tag": {
        "rfc9421": {
            "algorithms": ["ed25519"],
            "keys": "trust/ci.jwks",
            "tag": "gate",
            "max_age_s": 60,
        }
    },
}
ENDS = {
    "missing": "authenticate/SIGNATURE_MISSING",
    "stranger": "authenticate/BAD_SIGNATURE",
    "altered": "authenticate/BAD_SIGNATURE",
    "without_time": "authenticate/SIGNATURE_WITHOUT_TIME",
    "other_issuer": "authenticate/WRONG_ISSUER",
    "old": "vouch/STALE",
    "ahead": "vouch/FROM_FUTURE",
    "replayed": "authenticate/REPLAYED",
}
every_form = pytest.mark.parametrize("form", FORMS)


def write_keys(root: Path, *keys: Any) -> Path:
    path = root / "trust" / "ci.jwks"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"keys": [key.as_dict(private=False) for key in keys]}))
    return path


def write_folder(root: Path, signature: Mapping[str, object], **changes: object) -> Path:
    """Write a folder with one signed contract, its keys and one accepted fixture of each side."""
    upstream = {"signature": signature}
    if "body" in signature.get("jws", {}):  # type: ignore[operator]
        upstream["content_type"] = "application/jose"  # type: ignore[assignment]
    document = {**CONTRACT, "upstream": upstream, **changes}
    root.mkdir(exist_ok=True)
    home = root / "job_status"
    for side in ("arguments", "result"):
        for kind in ("accepted", "rejected"):
            (home / "fixtures" / side / kind).mkdir(parents=True)
    (root / "sluicegate.yaml").write_text('{"sluicegate": 1, "audit": {"store": "memory:"}}')
    (home / "contract.json").write_text(json.dumps(document))
    (home / "fixtures/arguments/accepted/one.json").write_text(ARGUMENTS)
    write_keys(root, signing.ED25519, signing.P256)
    add_fixture(root, "good", answer())
    return root


def add_fixture(root: Path, name: str, raw: bytes, kind: str = "accepted", **needs: object) -> None:
    folder = root / "job_status" / "fixtures" / "result" / kind
    (folder / f"{name}.bin").write_bytes(raw)
    sidecar = {"now": "2026-11-30T12:00:00Z", **needs}
    (folder / f"{name}.expect.yaml").write_text(json.dumps(sidecar))


def notes(report: FolderReport) -> dict[str, str]:
    assert report.problems == ()
    return {Path(each.path).stem: each.note for each in report.fixtures}


@every_form
@pytest.mark.requirement("LIF-2")
def test_fixtures_are_signed_here_and_each_fault_is_seen(form: str, tmp_path: Path) -> None:
    write_folder(tmp_path, FORMS[form])
    for how, end in ENDS.items():
        if how != "other_issuer" or "jws" in FORMS[form]:
            stage, code = end.split("/")
            add_fixture(tmp_path, how, answer(), "rejected", signature=how, stage=stage, code=code)
    told = notes(check_folder(tmp_path))
    assert set(told.values()) == {""}, told
    assert set(told) >= ENDS.keys() - {"other_issuer"}


def test_every_fault_that_a_sidecar_may_name_has_its_end() -> None:
    assert set(HOWS) == {"good", *ENDS}


@every_form
@pytest.mark.requirement("LIF-2")
def test_a_fixture_that_expects_another_end_fails(form: str, tmp_path: Path) -> None:
    write_folder(tmp_path, FORMS[form])
    add_fixture(tmp_path, "wrong", answer(), "rejected", signature="missing", code="REPLAYED")
    add_fixture(tmp_path, "late", answer(), signature="old")
    told = notes(check_folder(tmp_path))
    assert told["wrong"] == "code is SIGNATURE_MISSING, and must be REPLAYED"
    assert told["late"] == "was rejected with vouch/STALE, and must be accepted"


@every_form
@pytest.mark.requirement("LIF-2")
def test_mutants_are_signed_as_a_provider_would_and_none_survives(
    form: str, tmp_path: Path
) -> None:
    write_folder(tmp_path, FORMS[form])
    probed = probe_folder(tmp_path).contracts
    assert probed is not None
    holes = [hole.name for hole in probed[0].sides["result"].holes]
    assert holes == []
    assert probed[0].sides["result"].score == 1.0


@pytest.mark.requirement("LIF-2")
def test_a_rung_that_verifies_nothing_lets_its_mutants_survive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sluicegate.checks import authentication
    from sluicegate.gates import result_gate

    write_folder(tmp_path, FORMS["standard_webhooks"])
    unsigned = lambda bounded, *rest: authentication.accept_unsigned(bounded)  # noqa: E731
    monkeypatch.setattr(result_gate, "authenticate", unsigned)
    probed = probe_folder(tmp_path).contracts
    assert probed is not None
    holes = {hole.name.partition(".signature-")[2] for hole in probed[0].sides["result"].holes}
    assert holes >= {"missing", "stranger", "without-time", "old", "ahead", "replayed"}


def test_an_answer_that_brings_its_signature_is_judged_by_the_real_keys(tmp_path: Path) -> None:
    write_folder(tmp_path, {"jws": JWS})
    raw = answer()
    add_fixture(tmp_path, "real", raw, headers=signing.detached(raw))
    stranger = signing.detached(raw, key=signing.OTHER, kid="ed-1")
    add_fixture(tmp_path, "forged", raw, "rejected", headers=stranger, code="BAD_SIGNATURE")
    assert set(notes(check_folder(tmp_path)).values()) == {""}
    probed = probe_folder(tmp_path).contracts
    assert probed is not None
    assert probed[0].sides["result"].holes == ()
    both = signing.detached(raw)
    add_fixture(tmp_path, "both", raw, headers=both, signature="good")
    assert "beside a signature" in notes(check_folder(tmp_path))["both"]


def test_secrets_that_are_not_here_are_told_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI_SECRET", raising=False)
    write_folder(tmp_path, FORMS["standard_webhooks"])
    raw = answer()
    add_fixture(tmp_path, "real", raw, headers=signing.webhook(raw))
    assert "CI_SECRET is not set" in notes(check_folder(tmp_path))["real"]
    monkeypatch.setenv("CI_SECRET", "whsec_" + signing.SECRET)
    assert notes(check_folder(tmp_path))["real"] == ""


def test_an_unsigned_contract_takes_no_word_of_signatures(tmp_path: Path) -> None:
    write_folder(tmp_path, {"jws": JWS}, upstream={})
    add_fixture(tmp_path, "signed", answer(), signature="good")
    assert "the contract demands none" in notes(check_folder(tmp_path))["signed"]


BAD_KEYS = {
    "no file": (None, "cannot be served"),
    "no JSON": (b"{", "not JSON"),
    "a private key": (
        json.dumps({"keys": [signing.ED25519.as_dict(private=True)]}).encode(),
        "private",
    ),
    "no key for the algorithm": (
        json.dumps({"keys": [signing.P256.as_dict(private=False)]}).encode(),
        "no key for Ed25519",
    ),
}


@pytest.mark.parametrize("case", BAD_KEYS)
def test_a_folder_with_bad_keys_does_not_load(case: str, tmp_path: Path) -> None:
    content, word = BAD_KEYS[case]
    write_folder(tmp_path, {"jws": JWS})
    path = tmp_path / "trust" / "ci.jwks"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    (problem,) = check_folder(tmp_path).problems
    assert word in problem.message
    assert signing.ED25519.as_dict(private=True)["d"] not in str(problem)
    with pytest.raises(ContractFolderError, match=word):
        open_gate(tmp_path)


def test_keys_behind_a_link_that_leaves_the_folder_do_not_load(tmp_path: Path) -> None:
    root = tmp_path / "contracts"
    write_folder(root, {"jws": JWS})
    outside = tmp_path / "ci.jwks"
    outside.write_bytes((root / "trust" / "ci.jwks").read_bytes())
    (root / "trust" / "ci.jwks").unlink()
    (root / "trust" / "ci.jwks").symlink_to(outside)
    (problem,) = check_folder(root).problems
    assert "leaves the folder" in problem.message


def change(path: Path, content: str) -> None:
    """Replace the file, with a time of its own: two changes in one tick must differ."""
    path.write_text(content)
    stamp = path.stat().st_mtime_ns + 1_000_000
    os.utime(path, ns=(stamp, stamp))


ED, EC, OTHER = (
    key.as_dict(private=False) for key in (signing.ED25519, signing.P256, signing.OTHER)
)


def jwks(*keys: object) -> str:
    return json.dumps({"keys": keys})


class Source:
    """The keys of a contract of two algorithms, as a running gate reads them."""

    def __init__(self, root: Path) -> None:
        write_folder(root, FORMS["jws by ES256"])
        source = (root / "job_status" / "contract.json").read_text()
        contract = contracts_of({"job_status/contract.json": source}).contracts["job_status"]
        keys = find_keys(contract, root, Credentials(root))
        assert keys is not None
        self.keys = keys
        self.path = root / "trust" / "ci.jwks"

    def known(self) -> list[str | None]:
        read = self.keys.read()
        assert isinstance(read, PublicKeys)
        return [key.kid for key in read.keys]


def test_a_key_file_that_changes_is_taken_as_it_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source = Source(tmp_path)
    assert source.known() == ["ed-1", "ec-1"]
    change(source.path, jwks(EC))  # the other one is revoked
    assert source.known() == source.known() == ["ec-1"]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "no key for Ed25519 any more" in caplog.text
    change(source.path, jwks(OTHER, EC))
    assert source.known() == ["ed-2", "ec-1"]


def be_closed(path: Path) -> None:
    path.unlink()
    path.mkdir()


GONE: dict[str, Callable[[Path], object]] = {
    "deleted": Path.unlink,
    "deleted with its folder": lambda path: shutil.rmtree(path.parent),
    "no file any more": be_closed,
    "a link in a circle": lambda path: (path.unlink(), path.symlink_to(path)),
    "without keys": lambda path: change(path, jwks()),
    "without a key that fits": lambda path: change(path, jwks({**EC, "alg": "ES512"})),
    "with a private key": lambda path: change(path, jwks(EC, signing.OTHER.as_dict(private=True))),
    "with a key that cannot be used": lambda path: change(path, jwks(EC, {"kty": "OKP"})),
    "no JWKS": lambda path: change(path, "[]"),
    "no JSON": lambda path: change(path, "keys = []"),
    "with one member twice": lambda path: change(path, '{"keys": [], "keys": []}'),
}


@pytest.mark.parametrize("case", GONE)
def test_a_key_file_that_is_gone_or_no_jwks_gives_no_key(
    case: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source = Source(tmp_path)
    GONE[case](source.path)
    for _ in range(2):
        with pytest.raises(ConfigurationError, match=r"trust/ci\.jwks"):
            source.known()
    (line,) = caplog.messages
    assert line.startswith("no answer can be verified: the key file trust/ci.jwks ")
    assert signing.OTHER.as_dict(private=True)["d"] not in line


@pytest.mark.parametrize("cut", ["", "{", jwks(ED, EC)[:-3], jwks(ED)[:20]])
def test_a_key_file_that_is_being_written_changes_nothing_and_gives_back_nothing(
    cut: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source = Source(tmp_path)
    change(source.path, jwks(EC))
    assert source.known() == ["ec-1"]
    caplog.clear()
    change(source.path, cut)
    assert source.known() == source.known() == ["ec-1"]
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "the keys stay until the file is whole" in caplog.text
    change(source.path, jwks(OTHER, EC))
    assert source.known() == ["ed-2", "ec-1"]
    source.path.unlink()
    with pytest.raises(ConfigurationError):
        source.known()
    change(source.path, cut)  # what was gone does not come back with half a file
    with pytest.raises(ConfigurationError):
        source.known()
    change(source.path, jwks(EC))
    assert source.known() == ["ec-1"]


@pytest.mark.requirement("RES-9")
async def test_a_gate_whose_key_file_is_deleted_sends_nothing(tmp_path: Path) -> None:
    root = write_folder(tmp_path, {"jws": JWS})
    (root / "sluicegate.yaml").write_text(
        '{"sluicegate": 1, "audit": {"store": "memory:"}, "access": [{"caller": "svc", '
        '"tool": "job_status", "resource": {"type": "project"}}]}'
    )
    async with open_gate(root) as gate:
        (root / "trust" / "ci.jwks").unlink()
        given = await gate.call("job_status", ARGUMENTS, caller=Caller(subject="svc"))
        assert (given.outcome, str(given.code)) == ("refused", "UNAVAILABLE")
        (event,) = gate.audit.events(tool="job_status")
    assert (event.kind, event.code) == ("refused", "INTERNAL")
    assert json.loads(event.detail)["unreadable_key"] == "trust/ci.jwks"


@pytest.mark.requirement("RES-9", "AUD-1")
async def test_a_signing_secret_that_is_missing_is_named_in_log_and_record(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_folder(tmp_path, FORMS["standard_webhooks"])
    (root / "sluicegate.yaml").write_text(
        '{"sluicegate": 1, "audit": {"store": "memory:"}, "access": [{"caller": "svc", '
        '"tool": "job_status", "resource": {"type": "project"}}]}'
    )
    monkeypatch.delenv("CI_SECRET", raising=False)
    async with open_gate(root) as gate:
        given = await gate.call("job_status", ARGUMENTS, caller=Caller(subject="svc"))
        (event,) = gate.audit.events(tool="job_status")
    assert (given.outcome, str(given.code)) == ("refused", "UNAVAILABLE")
    assert (event.kind, event.code) == ("refused", "INTERNAL")
    assert json.loads(event.detail)["unreadable_key"] == "CI_SECRET"
    assert "CI_SECRET" not in given.to_json()
    assert (
        f"call {event.request_id}: the key CI_SECRET of upstream.signature cannot be read, "
        "closed as INTERNAL"
    ) in caplog.messages
    assert "           unreadable key: CI_SECRET\n" in tell_story([event])


async def test_an_unsigned_folder_opens_no_memory_and_a_signed_one_does(tmp_path: Path) -> None:
    settings = '{"sluicegate": 1, "audit": {"store": "sqlite:state/audit.db"}}'
    for name, upstream, expected in (
        ("unsigned", {}, False),
        ("signed", {"signature": {"jws": JWS}}, True),
    ):
        root = write_folder(tmp_path / name, {"jws": JWS}, upstream=upstream)
        (root / "sluicegate.yaml").write_text(settings)
        async with open_gate(root):
            assert (root / "state" / "replays.db").exists() is expected


async def test_a_reload_that_brings_the_first_signature_opens_the_memory(tmp_path: Path) -> None:
    root = write_folder(tmp_path, {"jws": JWS}, upstream={})
    path = root / "job_status" / "contract.json"
    async with open_gate(root) as gate:
        assert gate._means.replays is None
        document = json.loads(path.read_text())
        path.write_text(json.dumps({**document, "upstream": {"signature": {"jws": JWS}}}))
        assert await gate.reload() == ()
        opened = gate._means.replays
        assert opened is not None
        assert await gate.reload() == ()
        assert gate._means.replays is opened


def test_an_absent_library_is_one_clear_error_when_the_folder_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for form, module in (("jws in a header", "joserfc"), ("rfc9421", "http_message_signatures")):
        root = write_folder(tmp_path / module, FORMS[form])
        with monkeypatch.context() as patched:
            for name in [*sys.modules]:
                if name.startswith((f"{module}.", "sluicegate.checks.authentication_")):
                    patched.delitem(sys.modules, name)
            patched.setitem(sys.modules, module, None)
            (problem,) = check_folder(root).problems
        assert f"needs {module}" in str(problem)
        assert "install sluicegate[signatures]" in str(problem)


def test_doctor_says_which_signing_secret_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(tmp_path, FORMS["standard_webhooks"])

    def look() -> tuple[bool, str]:
        looks = examine_folder(str(tmp_path), signing.NOW)
        (found,) = [look for look in looks if look.name == "signing secret"]
        return found.well, found.says

    monkeypatch.delenv("CI_SECRET", raising=False)
    assert look() == (False, "the environment variable CI_SECRET is not set")
    monkeypatch.setenv("CI_SECRET", "whsec_c2hvcnQ=")
    well, says = look()
    assert (well, "c2hvcnQ" in says) == (False, False)
    monkeypatch.setenv("CI_SECRET", "whsec_" + signing.SECRET)
    assert look() == (True, "CI_SECRET can be read")


def test_a_key_file_that_is_gone_is_told_as_such_and_where_it_is_named(tmp_path: Path) -> None:
    root = write_folder(tmp_path, FORMS["jws in a header"])
    (root / "trust/ci.jwks").unlink()
    (problem,) = check_folder(root).problems
    assert problem.message == ("It cannot be served: the key file trust/ci.jwks does not exist.")
    assert (problem.document, problem.pointer) == (
        "job_status/contract.json",
        "/upstream/signature",
    )
    assert problem.line is not None


def test_doctor_says_whether_signed_answers_can_be_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(tmp_path, FORMS["standard_webhooks"])
    monkeypatch.setenv("CI_SECRET", "whsec_" + signing.SECRET)
    (tmp_path / "sluicegate.yaml").write_text("audit: {store: 'sqlite:state/audit.db'}\n")

    def look() -> tuple[bool, str]:
        looks = examine_folder(str(tmp_path), signing.NOW)
        (found,) = [look for look in looks if look.name == "signed answers"]
        return found.well, found.says

    memory = tmp_path / "state" / "replays.db"
    assert look() == (True, f"{memory} does not exist yet: the first gate creates it")
    assert not memory.parent.exists()
    open_blocking(tmp_path).close()
    assert look() == (True, "those that came are remembered in replays.db")
    memory.unlink()
    memory.mkdir()
    well, says = look()
    assert (well, "cannot be opened" in says) == (False, True)


def test_a_signed_contract_beside_a_function_needs_a_memory(tmp_path: Path) -> None:
    parts: dict[str, Any] = {
        "owner": "ci-platform",
        "description": "State of one CI run.",
        "arguments": CONTRACT["arguments"]["schema"],  # type: ignore[index]
        "result": CONTRACT["result"]["schema"],  # type: ignore[index]
        "agent": ["/state"],
        "fetch": {"http": {"method": "GET", "url": "https://ci.example/runs", "timeout_s": 5}},
        "upstream": {"signature": {"jws": JWS}},
    }

    def beside(project_id: str, run_id: str) -> None:
        """State of one CI run."""

    unsigned = write_folder(tmp_path / "unsigned", {"jws": JWS}, upstream={})
    with open_blocking(unsigned) as gate, pytest.raises(MisuseError, match="into the folder"):
        gate.tool(**parts)(beside)
    signed = write_folder(tmp_path / "signed", {"jws": JWS})
    with open_blocking(signed) as gate:
        gate.tool(**parts)(beside)
        assert "beside" in [each["name"] for each in gate.tool_definitions()]
