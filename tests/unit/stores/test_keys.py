"""Keys: where they come from, how they are protected, when they are made."""

from __future__ import annotations

import base64
import os
import re
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

from sluicegate.errors import ConfigurationError
from sluicegate.stores.keys import (
    KeyringEmpty,
    draw_keys,
    open_keys,
    open_signing_keys,
    rotate_custody_key,
)

MASTER = base64.b64encode(b"m" * 32).decode()
OTHER = base64.b64encode(b"o" * 32).decode()


def test_a_missing_key_directory_is_made_for_this_account_alone(tmp_path: Path) -> None:
    open_keys("file:keys/", tmp_path)
    modes = {
        path.relative_to(tmp_path).as_posix(): stat.S_IMODE(path.stat().st_mode)
        for path in sorted(tmp_path.rglob("*"))
    }
    assert modes == {
        "keys": 0o700,
        "keys/audit.key": 0o600,
        "keys/chain.key": 0o600,
        "keys/custody.keyring": 0o600,
    }


def test_keys_that_were_made_are_found_again(tmp_path: Path) -> None:
    assert open_keys("file:keys", tmp_path) == open_keys("file:keys", tmp_path)


def test_keys_never_show_in_a_repr() -> None:
    keys = draw_keys()
    assert repr(keys) == f"AuditKeys(active={keys.active!r})"


@pytest.mark.parametrize("name", ["audit.key", "chain.key", "custody.keyring"])
def test_a_key_missing_beside_others_is_never_made_anew(tmp_path: Path, name: str) -> None:
    open_keys("file:keys", tmp_path)
    (tmp_path / "keys" / name).unlink()
    with pytest.raises(ConfigurationError, match=f"{re.escape(name)} is missing"):
        open_keys("file:keys", tmp_path)


def test_no_keys_are_made_for_a_record_that_exists(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="put the keys back from your backup"):
        open_keys("file:keys", tmp_path, may_create=False)
    assert not (tmp_path / "keys").exists()


@pytest.mark.parametrize(
    ("path", "mode", "mend"),
    [
        pytest.param("keys", 0o750, "chmod 700", id="directory"),
        pytest.param("keys/audit.key", 0o640, "chmod 600", id="audit key"),
        pytest.param("keys/chain.key", 0o604, "chmod 600", id="chain key"),
        pytest.param("keys/custody.keyring", 0o644, "chmod 600", id="custody keys"),
    ],
)
def test_keys_that_others_may_read_are_refused(
    tmp_path: Path, path: str, mode: int, mend: str
) -> None:
    open_keys("file:keys", tmp_path)
    (tmp_path / path).chmod(mode)
    with pytest.raises(ConfigurationError, match=f"{mend} .*{re.escape(path)}"):
        open_keys("file:keys", tmp_path)


@pytest.mark.parametrize(
    ("keys", "database"),
    [
        pytest.param("file:state", "state/audit.db", id="same directory"),
        pytest.param("file:state/../state", "state/audit.db", id="same directory, spelt otherwise"),
        pytest.param("file:state", "state/deeper/audit.db", id="database below the keys"),
    ],
)
def test_keys_beside_the_database_are_refused(tmp_path: Path, keys: str, database: str) -> None:
    (tmp_path / "state").mkdir()
    with pytest.raises(ConfigurationError, match="beside the database"):
        open_keys(keys, tmp_path, database=tmp_path / database)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("", id="empty"),
        pytest.param("not base64!", id="not base64"),
        pytest.param(base64.b64encode(b"short").decode(), id="too short"),
        pytest.param(base64.b64encode(b"x" * 33).decode(), id="too long"),
    ],
)
def test_a_damaged_key_is_named_and_not_shown(tmp_path: Path, content: str) -> None:
    open_keys("file:keys", tmp_path)
    (tmp_path / "keys" / "audit.key").write_text(content)
    with pytest.raises(ConfigurationError, match=r"audit\.key") as caught:
        open_keys("file:keys", tmp_path)
    assert content == "" or content not in str(caught.value)


@pytest.mark.requirement("AUD-4")
def test_a_rotation_adds_an_active_key_and_keeps_the_old_ones(tmp_path: Path) -> None:
    before = open_keys("file:keys", tmp_path)
    added = rotate_custody_key("file:keys", tmp_path)
    after = open_keys("file:keys", tmp_path)
    assert (after.active, list(after.custody)) == (added, [before.active, added])
    assert (after.audit, after.chain) == (before.audit, before.chain)


@pytest.mark.requirement("AUD-4")
def test_rotations_at_the_same_moment_lose_no_key(tmp_path: Path) -> None:
    before = open_keys("file:keys", tmp_path)
    with ThreadPoolExecutor(8) as pool:
        rotations = [pool.submit(rotate_custody_key, "file:keys", tmp_path) for _ in range(24)]
        added = {each.result() for each in rotations}
    after = open_keys("file:keys", tmp_path)
    assert len(added) == 24
    assert set(after.custody) == {before.active, *added}
    assert stat.S_IMODE((tmp_path / "keys" / "custody.keyring").stat().st_mode) == 0o600
    assert list((tmp_path / "keys").glob(".*")) == []


def test_a_rotation_that_cannot_be_written_leaves_the_keys_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = open_keys("file:keys", tmp_path)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        with pytest.raises(ConfigurationError, match="cannot be written: No space"):
            rotate_custody_key("file:keys", tmp_path)
    assert open_keys("file:keys", tmp_path) == before


def test_keys_in_the_environment_cannot_be_rotated_here(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="append the new master key"):
        rotate_custody_key("env:KEYS", tmp_path)


def test_a_master_key_of_the_environment_yields_three_different_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEYS", MASTER)
    keys = open_keys("env:KEYS", tmp_path)
    assert len({keys.audit, keys.chain, *keys.custody.values(), b"m" * 32}) == 4
    assert keys == open_keys("env:KEYS", tmp_path)


def test_a_second_master_key_wraps_new_blobs_and_leaves_the_record_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEYS", MASTER)
    one = open_keys("env:KEYS", tmp_path)
    monkeypatch.setenv("KEYS", f"{MASTER} {OTHER}")
    two = open_keys("env:KEYS", tmp_path)
    assert (two.check, two.active != one.active, one.active in two.custody) == (
        one.check,
        True,
        True,
    )


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        pytest.param("env:SLUICEGATE_TEST_UNSET", "is not set", id="unset variable"),
        pytest.param("vault:x", "only file:, env: and keyring:", id="unknown scheme"),
        pytest.param("keys/", "write file:DIRECTORY", id="no scheme"),
        pytest.param("file:", "write file:DIRECTORY", id="no directory"),
    ],
)
def test_a_wrong_spec_says_what_to_write(tmp_path: Path, spec: str, text: str) -> None:
    with pytest.raises(ConfigurationError, match=text):
        open_keys(spec, tmp_path)


def test_a_keyring_without_its_package_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(ConfigurationError, match=r"sluicegate\[keyring\]"):
        open_keys("keyring:acme", tmp_path)


def test_a_keyring_is_filled_once_and_read_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries: dict[tuple[str, str], str] = {}
    keyring = ModuleType("keyring")
    keyring.get_password = lambda service, user: entries.get((service, user))  # type: ignore[attr-defined]
    keyring.set_password = lambda service, user, text: entries.update({(service, user): text})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    with pytest.raises(KeyringEmpty, match="put the entry back"):
        open_keys("keyring:acme", tmp_path, may_create=False)
    assert open_keys("keyring:acme", tmp_path) == open_keys("keyring:acme", tmp_path)
    assert list(entries) == [("acme", "sluicegate")]


@pytest.mark.parametrize("may_create", [True, False])
def test_a_keyring_that_refuses_is_a_fault_of_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, may_create: bool
) -> None:
    class NoKeyringError(RuntimeError):
        """As the package raises where it finds no backend."""

    def refuse(service: str, user: str) -> None:
        raise NoKeyringError("an engine's own text, told to nobody")

    keyring = ModuleType("keyring")
    keyring.get_password = refuse  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    with pytest.raises(ConfigurationError, match=r"refuses \(NoKeyringError\)") as caught:
        open_keys("keyring:acme", tmp_path, may_create=may_create)
    assert "own text" not in str(caught.value)


def test_a_signing_key_is_drawn_once_where_nothing_was_signed(tmp_path: Path) -> None:
    open_keys("file:keys", tmp_path)
    with ThreadPoolExecutor(8) as pool:
        drawn = set(
            pool.map(lambda _: open_signing_keys("file:keys", tmp_path, may_draw=True), range(8))
        )
    assert len(drawn) == 1
    assert stat.S_IMODE((tmp_path / "keys" / "signing.key").stat().st_mode) == 0o600
    assert {open_signing_keys("file:keys", tmp_path, may_draw=False)} == drawn


def test_a_signing_key_is_never_drawn_where_something_was_signed(tmp_path: Path) -> None:
    open_keys("file:keys", tmp_path)
    with pytest.raises(ConfigurationError, match=r"signing\.key is missing"):
        open_signing_keys("file:keys", tmp_path, may_draw=False)
    assert not (tmp_path / "keys" / "signing.key").exists()


def test_a_master_key_carries_a_signing_key_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MASTERS", f"{MASTER} {OTHER}")
    (key,) = open_signing_keys("env:MASTERS", tmp_path, may_draw=False)
    keys = open_keys("env:MASTERS", tmp_path)
    assert key not in {keys.audit, keys.chain, *keys.custody.values()}
    monkeypatch.setenv("MASTERS", MASTER)
    assert open_signing_keys("env:MASTERS", tmp_path, may_draw=False) == (key,)


@pytest.mark.requirement("RES-9")
@pytest.mark.parametrize("name", ["audit.key", "chain.key", "custody.keyring"])
def test_a_fifo_in_the_place_of_a_key_is_waited_for_by_nobody(tmp_path: Path, name: str) -> None:
    open_keys("file:keys", tmp_path)
    path = tmp_path / "keys" / name
    path.unlink()
    os.mkfifo(path, 0o600)
    with pytest.raises(ConfigurationError, match=f"{name} cannot be read"):
        open_keys("file:keys", tmp_path)
