"""Credentials are named, read anew, and shown nowhere."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from sluicegate.adapters.credentials import (
    Credentials,
    CredentialUnreadable,
    check_credential_name,
)
from sluicegate.errors import ConfigurationError
from sluicegate.values.receipts import Fault, Receipt

pytestmark = pytest.mark.requirement("ADP-5")


def write(path: Path, content: bytes, mode: int = 0o600) -> Path:
    path.write_bytes(content)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("name", ["CI_TOKEN", "env:CI_TOKEN"])
def test_a_bare_name_is_an_environment_variable(name: str) -> None:
    assert Credentials(environ={"CI_TOKEN": "s3cret"}).read(name) == "s3cret"


def test_a_file_is_read_beside_the_folder_without_its_last_line_break(tmp_path: Path) -> None:
    write(tmp_path / "ci", b"s3cret\n")
    assert Credentials(tmp_path).read("file:ci") == "s3cret"


def test_a_rotated_file_counts_from_the_next_call_on(tmp_path: Path) -> None:
    credentials = Credentials(tmp_path)
    write(tmp_path / "ci", b"first")
    assert credentials.read("file:ci") == "first"
    write(tmp_path / "ci", b"second")
    assert credentials.read("file:ci") == "second"
    assert {"first", "second"} == credentials.secrets()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644], ids=oct)
def test_a_file_that_others_may_use_is_not_read(tmp_path: Path, mode: int) -> None:
    write(tmp_path / "ci", b"s3cret", mode)
    with pytest.raises(CredentialUnreadable, match="chmod 600"):
        Credentials(tmp_path).read("file:ci")


BAD_FILES = {
    "empty": b"",
    "only a line break": b"\n",
    "not UTF-8": b"\xff\xfe",
    "two lines": b"a\nb",
    "header injection": b"a\r\nX-Evil: 1",
    "NUL": b"a\0b",
    "too large": b"a" * 65_537,
}


@pytest.mark.parametrize("content", BAD_FILES.values(), ids=BAD_FILES)
def test_a_file_that_holds_no_secret_is_not_read(tmp_path: Path, content: bytes) -> None:
    write(tmp_path / "ci", content)
    with pytest.raises(CredentialUnreadable):
        Credentials(tmp_path).read("file:ci")


def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo", 0o600)
    (tmp_path / "folder").mkdir()
    for name in ("file:fifo", "file:folder", "file:absent"):
        with pytest.raises(CredentialUnreadable):
            Credentials(tmp_path).read(name)


def test_a_variable_that_is_unset_or_empty_is_not_read() -> None:
    credentials = Credentials(environ={"EMPTY": ""})
    for name in ("EMPTY", "ABSENT"):
        with pytest.raises(CredentialUnreadable, match=name):
            credentials.read(name)


def test_no_form_of_the_object_shows_a_secret() -> None:
    credentials = Credentials(environ={"CI_TOKEN": "s3cret"})
    credentials.read("CI_TOKEN")
    assert "s3cret" not in f"{credentials!r} {credentials}"


def test_every_secret_is_masked_the_longer_first() -> None:
    credentials = Credentials(environ={"A": "abc", "B": "abcdef"})
    credentials.read("A")
    credentials.read("B")
    assert credentials.mask("x abcdef y abc z") == "x *** y *** z"


@pytest.mark.parametrize("name", ["CI_TOKEN", "env:_X9", "file:/run/ci", "keyring:ci/deploy"])
def test_a_name_of_a_known_form_is_accepted(name: str) -> None:
    assert check_credential_name(name) is None


BAD_NAMES = ["", "Bearer abc", "ghp-12345", "env:", "file:", "keyring:ci", "vault:x", "https://x"]


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_may_be_the_secret_itself_is_refused_and_not_repeated(name: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        check_credential_name(name)
    assert name in ("", "env:", "file:") or name not in str(refused.value)


ECHOES = {
    "as it stands": rb'{"t": "gh/p+k3y"}',
    "as PHP writes it": rb'{"t": "gh\/p+k3y"}',
    "a letter by its number": rb'{"t": "gh/\u0070+k3y"}',
    "a solidus by its number": rb'{"t": "gh\u002Fp+k3y"}',
    "every character by its number": rb'{"t": "\u0067\u0068\u002f\u0070\u002b\u006b\u0033\u0079"}',
    "as a member's name": rb'{"gh\/p+k3y": 1}',
    "in the JSON of an MCP text": rb'{"content": [{"text": "{\"t\": \"gh\\/p+k3y\"}"}]}',
}


def received(raw: bytes = b"{}", **members: object) -> Receipt:
    return Receipt(
        raw=raw,
        content_type="application/json",
        adapter="http",
        adapter_version="1",
        endpoint="GET /",
        **members,  # type: ignore[arg-type]
    )


def knowing(secret: str) -> Credentials:
    credentials = Credentials(environ={"T": secret})
    credentials.read("T")
    return credentials


@pytest.mark.parametrize("raw", ECHOES.values(), ids=ECHOES)
def test_an_answer_that_holds_a_secret_in_any_spelling_is_dropped(raw: bytes) -> None:
    given = knowing("gh/p+k3y").without_secrets(received(raw))
    assert (given.raw, given.fault) == (b"", Fault.LEAK)


@pytest.mark.parametrize("raw", ECHOES.values(), ids=ECHOES)
def test_a_secret_inside_a_signed_body_is_seen_as_well(raw: bytes) -> None:
    payload = base64.urlsafe_b64encode(raw).rstrip(b"=")
    given = knowing("gh/p+k3y").without_secrets(received(b"e30." + payload + b".AAAA"))
    assert (given.raw, given.fault) == (b"", Fault.LEAK)


def test_an_answer_without_a_secret_is_handed_on_as_it_came() -> None:
    receipt = received(rb'{"t": "gh\/p+k3", "u": "\ud83d"}')
    assert knowing("gh/p+k3y").without_secrets(receipt) == receipt


@pytest.mark.parametrize("raw", ECHOES.values(), ids=ECHOES)
def test_headers_and_diagnostics_show_a_secret_in_no_spelling(raw: bytes) -> None:
    given = knowing("gh/p+k3y").without_secrets(
        received(headers=(("X-Note", raw.decode()), ("Server", "s")), diagnostics=raw)
    )
    shown = (given.headers[0][1], given.diagnostics.decode())
    masked = raw.decode().replace("gh/p+k3y", "***")
    expected = "***" if masked == raw.decode() else masked
    assert shown == (expected, expected)
    assert given.headers[1] == ("Server", "s")
