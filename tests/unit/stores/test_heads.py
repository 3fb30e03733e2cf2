"""Signed heads: what is signed, what a reader takes, and what each way of tampering comes to."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.stores.made import NOW, intent

from sluicegate.errors import ConfigurationError
from sluicegate.gates.ports import AnchorReport
from sluicegate.stores.appended_file import AppendedFile
from sluicegate.stores.encoding import COLUMNS, time_text
from sluicegate.stores.heads import (
    MAX_LINE_BYTES,
    NO_HEAD,
    Head,
    HeadsBroken,
    public_keys_of,
    read_heads,
    read_public_keys,
    sign_head,
    write_public_keys,
)
from sluicegate.stores.heads_check import compare_heads, read_copy, walk_chain
from sluicegate.stores.heads_writer import HeadUnwritten, HeadWriter
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.sqlite import SqliteStore
from sluicegate.values.codes import Code

SEED, OTHER = b"s" * 32, b"o" * 32
KEYS = public_keys_of([SEED])
RECORD = "ab" * 32


@pytest.fixture(autouse=True)
def away(tmp_path: Path) -> Path:
    """The other disk: nothing but a file is ever made there."""
    made = tmp_path / "away"
    made.mkdir()
    return made


def lines(count: int, *, seed: bytes = SEED, record: str = RECORD) -> list[bytes]:
    """Return the lines of ``count`` heads, of the events 10, 20, ..."""
    made, before = [], NO_HEAD
    for number in range(1, count + 1):
        head, line = sign_head(
            seed, record=record, seq=10 * number, link="cd" * 32, time=time_text(NOW), before=before
        )
        made.append(line + b"\n")
        before = head.digest
    return made


@pytest.mark.requirement("AUD-3")
def test_heads_are_read_back_as_they_were_signed() -> None:
    heads = read_heads(lines(3), KEYS)
    assert isinstance(heads, tuple)
    assert [head.seq for head in heads] == [10, 20, 30]
    assert {head.record for head in heads} == {RECORD}


def changed(line: bytes, **members: object) -> bytes:
    return json.dumps({**json.loads(line), **members}).encode() + b"\n"


FORGED: dict[str, tuple[Callable[[list[bytes]], list[bytes]], int, str]] = {
    "seq edited": (lambda made: [changed(made[0], seq=11), *made[1:]], 1, "its signature"),
    "link edited": (lambda made: [made[0], changed(made[1], link="00"), made[2]], 2, "signature"),
    "time edited": (lambda made: [*made[:2], changed(made[2], time="x")], 3, "its signature"),
    "first taken out": (lambda made: made[1:], 1, "the head before it"),
    "middle taken out": (lambda made: [made[0], made[2]], 2, "the head before it"),
    "two exchanged": (lambda made: [made[1], made[0], made[2]], 1, "the head before it"),
    "one twice": (lambda made: [made[0], made[0], *made[1:]], 2, "the head before it"),
    "another key": (lambda made: [*made, *lines(1, seed=OTHER)], 4, "a key that is not known"),
    "another record": (lambda made: [*made, *lines(1, record="00")], 4, "the head before it"),
    "no JSON": (lambda made: [made[0], b"{\n", made[2]], 2, "no head"),
    "a number": (lambda made: [b"7\n", *made], 1, "no head"),
    "another member": (lambda made: [changed(made[0], more=1), *made[1:]], 1, "no head"),
    "seq a text": (lambda made: [changed(made[0], seq="10"), *made[1:]], 1, "no head"),
    "no base64": (lambda made: [changed(made[0], signature="%"), *made[1:]], 1, "its signature"),
    "signature a number": (lambda made: [changed(made[0], signature=7)], 1, "its signature"),
    "nested deep": (lambda made: [b"[" * 4_000 + b"\n", *made], 1, "no head"),
}


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize(("forge", "line", "says"), FORGED.values(), ids=FORGED)
def test_a_heads_file_that_was_changed_is_told_with_its_line(
    forge: Callable[[list[bytes]], list[bytes]], line: int, says: str
) -> None:
    read = read_heads(forge(lines(3)), KEYS)
    assert isinstance(read, HeadsBroken)
    assert (read.line, says in read.problem) == (line, True), read


def test_a_head_that_was_never_finished_is_none() -> None:
    made = lines(3)
    heads = read_heads([*made[:2], made[2][:-1]], KEYS)
    assert isinstance(heads, tuple)
    assert len(heads) == 2


def test_a_seq_that_does_not_grow_is_told() -> None:
    first, one = sign_head(SEED, record="r", seq=5, link="l", time="t", before=NO_HEAD)
    _, two = sign_head(SEED, record="r", seq=5, link="l", time="t", before=first.digest)
    _, other = sign_head(SEED, record="q", seq=6, link="l", time="t", before=first.digest)
    assert isinstance(read_heads([one + b"\n", two + b"\n"], KEYS), HeadsBroken)
    assert read_heads([one + b"\n", other + b"\n"], KEYS) == HeadsBroken(
        line=2, problem="it is of another record than the head before it"
    )


def test_public_keys_are_read_back_as_they_were_written() -> None:
    text = write_public_keys(public_keys_of([SEED, OTHER]))
    assert list(read_public_keys(text, "here")) == list(public_keys_of([SEED, OTHER]))


@pytest.mark.parametrize(
    "text",
    ["", "ed25519", "ed25519 0000 AAAA", write_public_keys(KEYS).replace("ed25519 ", "rsa ")],
    ids=["empty", "a word", "another id", "another kind"],
)
def test_another_text_is_no_public_key(text: str) -> None:
    with pytest.raises(ConfigurationError, match="audit heads --public-key"):
        read_public_keys(text, "here")


@pytest.fixture
async def signed(sqlite: SqliteStore, tmp_path: Path) -> Path:
    """A record of twelve events, signed after every fourth; the folder that holds its heads."""
    writer = writer_of(sqlite, tmp_path)
    for number in range(12):
        await sqlite.record([intent(f"req.{number:08}")])
        if number % 4 == 3:
            assert writer.write(NOW) is not None
        back_up(tmp_path, number + 1)
    await sqlite.close()
    return tmp_path


def back_up(folder: Path, number: int) -> None:
    with closing(sqlite3.connect(folder / "a.db")) as connection:
        connection.execute("VACUUM INTO ?", (str(folder / f"backup-{number}.db"),))


def writer_of(store: SqliteStore, folder: Path) -> HeadWriter:
    return HeadWriter(store, AppendedFile(folder / "away" / "heads.jsonl"), lambda _: (SEED,))


def edit(folder: Path, *statements: str) -> None:
    with closing(sqlite3.connect(folder / "a.db", isolation_level=None)) as connection:
        named = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in named.fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)


def cut(folder: Path, *, after: int) -> None:
    edit(folder, f"DELETE FROM audit_event WHERE seq > {after}")


async def go_on(folder: Path, keys: AuditKeys, *, after: int) -> None:
    """Put a backup back that ends with event ``after``, and record other events behind it."""
    for path in folder.glob("a.db*"):
        path.unlink()
    shutil.copy(folder / f"backup-{after}.db", folder / "a.db")
    store = SqliteStore(folder / "a.db", keys)
    for number in range(20):
        await store.record([intent(f"req.again{number:03}")])
    await store.close()


def compare(folder: Path) -> AnchorReport:
    heads = read_heads(
        AppendedFile(folder / "away" / "heads.jsonl").lines(max_bytes=MAX_LINE_BYTES), KEYS
    )
    return compare_heads(heads, read_copy(folder / "a.db"))


def test_a_whole_record_fits_its_heads(signed: Path) -> None:
    assert compare(signed) == AnchorReport(heads=3, signed_seq=12, signed_at=time_text(NOW))
    assert walk_chain(read_copy(signed / "a.db")).events == 12


SWAP = (
    "UPDATE audit_event SET seq = -1 WHERE seq = 6",
    "UPDATE audit_event SET seq = 6 WHERE seq = 7",
    "UPDATE audit_event SET seq = 7 WHERE seq = -1",
)
FORGE = (
    "INSERT INTO audit_event SELECT 7, 'forged', "
    + ", ".join(COLUMNS[2:])
    + " FROM audit_event WHERE seq = 6"
)
TAMPERED: dict[str, tuple[tuple[str, ...], int]] = {
    "edited": (("UPDATE audit_event SET outcome = 'success' WHERE seq = 6",), 6),
    "deleted": (("DELETE FROM audit_event WHERE seq = 6",), 6),
    "reordered": (SWAP, 6),
    "inserted": (
        (
            "UPDATE audit_event SET seq = -seq WHERE seq > 6",
            "UPDATE audit_event SET seq = 1 - seq WHERE seq < 0",
            FORGE,
        ),
        7,
    ),
}


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize(("statements", "seq"), TAMPERED.values(), ids=TAMPERED)
def test_the_chain_names_the_event_that_was_tampered_with(
    signed: Path, keys: AuditKeys, statements: tuple[str, ...], seq: int
) -> None:
    edit(signed, *statements)
    assert SqliteStore(signed / "a.db", keys).verify().broken_at == seq


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize("left", [11, 9, 4, 3])
def test_a_cut_tail_is_shorter_than_its_head_though_the_chain_holds(
    signed: Path, left: int
) -> None:
    cut(signed, after=left)
    assert walk_chain(read_copy(signed / "a.db")).broken_at is None
    report = compare(signed)
    assert (report.code, report.broken_at) == (Code.CHAIN_SHORTER_THAN_ANCHOR, left + 1)
    assert "event 12 was signed" in str(report.problem)


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize(("left", "first_bad"), [(9, 9), (4, 5), (6, 5)])
async def test_a_backup_that_was_put_back_and_went_on_is_told(
    signed: Path, keys: AuditKeys, left: int, first_bad: int
) -> None:
    await go_on(signed, keys, after=left)
    assert SqliteStore(signed / "a.db", keys).verify().broken_at is None
    report = compare(signed)
    assert (report.code, report.broken_at) == (Code.CHAIN_BROKEN, first_bad)


@pytest.mark.requirement("AUD-3")
async def test_another_record_in_its_place_is_told(signed: Path, keys: AuditKeys) -> None:
    for path in signed.glob("a.db*"):
        path.unlink()
    store = SqliteStore(signed / "a.db", keys)
    for number in range(20):
        await store.record([intent(f"req.other{number:03}")])
    await store.close()
    report = compare(signed)
    assert (report.code, report.broken_at) == (Code.CHAIN_BROKEN, 1)
    assert "another record" in str(report.problem)


def test_broken_heads_are_no_word_about_the_record(signed: Path) -> None:
    broken = HeadsBroken(line=2, problem="it is no head")
    report = compare_heads(broken, read_copy(signed / "a.db"))
    assert report == AnchorReport(heads=1, problem="line 2 of the heads: it is no head")


def test_nothing_new_is_not_signed_again(signed: Path, keys: AuditKeys) -> None:
    path = signed / "away" / "heads.jsonl"
    before = path.read_bytes()
    assert writer_of(SqliteStore(signed / "a.db", keys), signed).write(NOW) is None
    assert path.read_bytes() == before


REPLACED = {
    "shorter": (lambda folder, _: cut(folder, after=9), "CHAIN_SHORTER_THAN_ANCHOR"),
    "empty": (lambda folder, _: cut(folder, after=0), "CHAIN_SHORTER_THAN_ANCHOR"),
    "heads cut": (
        lambda folder, _: (folder / "away" / "heads.jsonl").write_bytes(b"x\n"),
        "its last line cannot be continued",
    ),
}


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize(("tamper", "says"), REPLACED.values(), ids=REPLACED)
def test_no_head_is_signed_over_what_was_put_in_place_of_the_record(
    signed: Path, keys: AuditKeys, tamper: Callable[[Path, AuditKeys], object], says: str
) -> None:
    tamper(signed, keys)
    before = (signed / "away" / "heads.jsonl").read_bytes()
    with pytest.raises(HeadUnwritten, match=says):
        writer_of(SqliteStore(signed / "a.db", keys), signed).write(NOW)
    assert (signed / "away" / "heads.jsonl").read_bytes() == before


async def test_no_head_is_signed_over_a_record_that_went_on_from_a_backup(
    signed: Path, keys: AuditKeys
) -> None:
    await go_on(signed, keys, after=9)
    with pytest.raises(HeadUnwritten, match="CHAIN_BROKEN: event 12"):
        writer_of(SqliteStore(signed / "a.db", keys), signed).write(NOW)


async def test_heads_that_vanish_under_their_writer_are_not_begun_anew(
    sqlite: SqliteStore, tmp_path: Path
) -> None:
    writer = writer_of(sqlite, tmp_path)
    await sqlite.record([intent()])
    assert writer.write(NOW) is not None
    (tmp_path / "away" / "heads.jsonl").unlink()
    await sqlite.record([intent()])
    with pytest.raises(HeadUnwritten, match="is not in it any more"):
        writer.write(NOW)


async def test_two_writers_continue_one_chain_of_heads(sqlite: SqliteStore, tmp_path: Path) -> None:
    writers = [writer_of(sqlite, tmp_path), writer_of(sqlite, tmp_path)]
    for number in range(6):
        await sqlite.record([intent()])
        assert writers[number % 2].write(NOW) is not None
    heads = read_heads(
        AppendedFile(tmp_path / "away" / "heads.jsonl").lines(max_bytes=MAX_LINE_BYTES), KEYS
    )
    assert isinstance(heads, tuple)
    assert [head.seq for head in heads] == [1, 2, 3, 4, 5, 6]


async def test_what_a_crash_left_behind_the_last_head_goes(
    sqlite: SqliteStore, tmp_path: Path
) -> None:
    writer = writer_of(sqlite, tmp_path)
    await sqlite.record([intent()])
    writer.write(NOW)
    path = tmp_path / "away" / "heads.jsonl"
    with path.open("ab") as file:
        file.write(b'{"format":"sluiceg')
    await sqlite.record([intent()])
    writer.write(NOW)
    heads = read_heads(AppendedFile(path).lines(max_bytes=MAX_LINE_BYTES), KEYS)
    assert isinstance(heads, tuple)
    assert [head.seq for head in heads] == [1, 2]


async def test_heads_are_for_this_account_alone(sqlite: SqliteStore, tmp_path: Path) -> None:
    await sqlite.record([intent()])
    writer_of(sqlite, tmp_path).write(NOW)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "away").iterdir()}
    assert modes == {"heads.jsonl": 0o600, "heads.jsonl.lock": 0o600}


def test_a_head_shows_what_it_vouches_for() -> None:
    head, _ = sign_head(SEED, record="r", seq=7, link="l", time="t", before=NO_HEAD)
    assert replace(head, digest="") == Head(
        record="r", seq=7, link="l", time="t", before=NO_HEAD, key_id=next(iter(KEYS)), digest=""
    )
