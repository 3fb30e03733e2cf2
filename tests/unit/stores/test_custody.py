"""Custody: sealed, bound to its place, kept once, counted, wrapped anew, destroyed."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.unit.stores.made import NOW, kept, outcome

from sluicegate.errors import MisuseError
from sluicegate.gates.events import Kept, StoredEvent
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores.custody import COMPRESSED, PLAIN, SealBroken, rewrap, seal, unseal
from sluicegate.stores.keys import AuditKeys, draw_keys
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.sqlite import SqliteStore

SECRET = b'{"marker":"5f0c-planted-secret-4a1e"}' * 4
PLACE = {"ref": "r-1", "contract_digest": "sha256:aa", "kind": "raw"}
Store = MemoryStore | SqliteStore


async def keep(store: Store, *contents: Kept, **members: object) -> StoredEvent:
    await store.record([outcome(kept=contents, **members)])
    return next(store.events(newest_first=True))


@pytest.mark.parametrize(
    ("content", "algorithm"),
    [
        pytest.param(b"", PLAIN, id="empty"),
        pytest.param(b"\x00\xff{", PLAIN, id="too short to shrink"),
        pytest.param(b"a" * 100_000, COMPRESSED, id="compressible"),
    ],
)
def test_what_is_sealed_opens_as_it_was(keys: AuditKeys, content: bytes, algorithm: str) -> None:
    sealed = seal(content, keys, **PLACE)
    assert sealed.algorithm == algorithm
    assert unseal(sealed, keys, **PLACE, size=len(content)) == content


@pytest.mark.requirement("AUD-4")
@pytest.mark.parametrize(
    "moved",
    [
        pytest.param({"ref": "r-2"}, id="another reference"),
        pytest.param({"contract_digest": "sha256:bb"}, id="another contract"),
        pytest.param({"kind": "arguments"}, id="another kind"),
    ],
)
def test_a_blob_opens_only_in_its_own_place(keys: AuditKeys, moved: dict[str, str]) -> None:
    sealed = seal(SECRET, keys, **PLACE)
    with pytest.raises(SealBroken):
        unseal(sealed, keys, **{**PLACE, **moved}, size=len(SECRET))


@pytest.mark.parametrize("member", ["ciphertext", "nonce", "wrapped_key"])
def test_a_changed_blob_does_not_open(keys: AuditKeys, member: str) -> None:
    sealed = seal(SECRET, keys, **PLACE)
    value = getattr(sealed, member)
    broken = replace(sealed, **{member: value[:-1] + bytes([value[-1] ^ 1])})
    with pytest.raises(SealBroken):
        unseal(broken, keys, **PLACE, size=len(SECRET))


def test_each_blob_has_a_key_of_its_own(keys: AuditKeys) -> None:
    one, two = seal(SECRET, keys, **PLACE), seal(SECRET, keys, **PLACE)
    assert one.wrapped_key != two.wrapped_key
    assert one.ciphertext != two.ciphertext


def test_a_blob_of_a_custody_key_that_is_gone_says_so(keys: AuditKeys) -> None:
    with pytest.raises(SealBroken, match="is not among those that this process has"):
        unseal(seal(SECRET, keys, **PLACE), draw_keys(), **PLACE, size=len(SECRET))


def test_wrapping_anew_touches_the_key_and_not_the_text(keys: AuditKeys) -> None:
    new = draw_keys()
    both = replace(keys, custody={**keys.custody, **new.custody}, active=new.active)
    sealed = seal(SECRET, keys, **PLACE)
    key_id, wrapped = rewrap(sealed.key_id, sealed.wrapped_key, both)
    moved = replace(sealed, key_id=key_id, wrapped_key=wrapped)
    only_new = replace(both, custody=dict(new.custody))
    assert key_id == new.active
    assert unseal(moved, only_new, **PLACE, size=len(SECRET)) == SECRET


@pytest.mark.requirement("AUD-4", "AUD-5")
async def test_no_file_of_the_record_holds_plain_bytes(sqlite: SqliteStore, tmp_path: Path) -> None:
    event = await keep(sqlite, *kept(SECRET), raw=SECRET)
    assert event.raw_ref is not None
    await sqlite.close()
    assert [
        path.name for path in tmp_path.iterdir() if b"planted-secret" in path.read_bytes()
    ] == []


@pytest.mark.requirement("AUD-4")
async def test_reading_is_recorded_with_who_and_why_before_the_bytes_are_given(
    store: Store,
) -> None:
    event = await keep(store, *kept(SECRET))
    plain = await store.reveal(event.raw_ref or "", who="olga", reason="ticket 7", now=NOW)
    act = next(store.events(newest_first=True))
    assert plain == SECRET
    assert (act.kind, act.request_id, act.caller_subject) == ("operator", event.request_id, "olga")
    assert json.loads(act.detail) == {
        "act": "reveal",
        "ref": event.raw_ref,
        "kind": "raw",
        "who": "olga",
        "reason": "ticket 7",
    }


@pytest.mark.parametrize(("who", "reason"), [("", "why"), ("olga", "  ")])
async def test_no_bytes_are_given_without_a_name_and_a_reason(
    store: Store, who: str, reason: str
) -> None:
    event = await keep(store, *kept(SECRET))
    with pytest.raises(MisuseError):
        await store.reveal(event.raw_ref or "", who=who, reason=reason, now=NOW)
    assert len(list(store.events())) == 1


async def test_no_bytes_are_given_when_the_act_cannot_be_recorded(
    sqlite: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = await keep(sqlite, *kept(SECRET))

    async def refuse(_: object) -> tuple[str, ...]:
        raise AuditUnavailable("full")

    monkeypatch.setattr(sqlite, "record", refuse)
    with pytest.raises(AuditUnavailable, match="full"):
        await sqlite.reveal(event.raw_ref or "", who="olga", reason="x", now=NOW)


async def test_unknown_and_expired_blobs_are_not_given(store: Store) -> None:
    event = await keep(store, *kept(SECRET, days=1))
    for ref, now in (("nothing", NOW), (event.raw_ref or "", NOW + timedelta(days=1))):
        with pytest.raises(KeyError):
            await store.reveal(ref, who="olga", reason="x", now=now)
    assert len(list(store.events())) == 1


async def test_a_blob_that_was_tampered_with_is_not_given(
    sqlite: SqliteStore, keys: AuditKeys
) -> None:
    event = await keep(sqlite, *kept(SECRET))
    with sqlite3.connect(sqlite.path) as connection:
        connection.execute("UPDATE custody_blob SET ciphertext = zeroblob(40)")
    connection.close()
    with pytest.raises(AuditUnavailable, match="not what was sealed"):
        await sqlite.reveal(event.raw_ref or "", who="olga", reason="x", now=NOW)


@pytest.mark.requirement("AUD-4")
async def test_the_same_bytes_of_the_same_contract_are_kept_once(store: Store) -> None:
    first = await keep(store, *kept(SECRET))
    again = await keep(store, *kept(SECRET), request_id="req.00000002")
    other = await keep(store, *kept(SECRET), contract_digest="sha256:bb")
    tool = await keep(store, *kept(SECRET), tool="other")
    assert first.raw_ref == again.raw_ref
    assert len({first.raw_ref, other.raw_ref, tool.raw_ref}) == 3


async def test_bytes_kept_again_stay_as_long_as_the_later_one_asks(store: Store) -> None:
    await keep(store, *kept(SECRET, days=1))
    event = await keep(store, *kept(SECRET, days=3))
    await keep(store, *kept(SECRET, days=2))
    given = await store.reveal(
        event.raw_ref or "", who="olga", reason="x", now=NOW + timedelta(days=2.5)
    )
    assert given == SECRET


async def test_bytes_that_expired_are_kept_anew(store: Store) -> None:
    first = await keep(store, *kept(SECRET, days=1))
    later = await keep(store, *kept(SECRET, days=1), time=NOW + timedelta(days=2))
    assert first.raw_ref != later.raw_ref


async def test_each_kind_of_kept_bytes_is_found_from_its_event(store: Store) -> None:
    event = await keep(
        store,
        *kept(b"[1]", "arguments"),
        *kept(b"[2]", "raw"),
        *kept(b"[3]", "diagnostics"),
        *kept(b"[4]", "engine"),
        detail={"from_cache": True},
    )
    detail = json.loads(event.detail)
    refs = [event.arguments_ref, event.raw_ref, *detail["custody"].values()]
    given = [await store.reveal(str(ref), who="o", reason="x", now=NOW) for ref in refs]
    assert given == [b"[1]", b"[2]", b"[3]", b"[4]"]
    assert (list(detail["custody"]), detail["from_cache"]) == (["diagnostics", "engine"], True)


async def test_what_is_to_be_kept_as_a_digest_only_leaves_no_blob(store: Store) -> None:
    event = await keep(store, *kept(SECRET, days=None), raw=SECRET)
    assert (event.raw_ref, event.raw_bytes, event.detail) == (None, len(SECRET), "{}")


@pytest.mark.requirement("AUD-4")
async def test_past_the_quota_of_a_tool_and_day_only_digests_are_kept(keys: AuditKeys) -> None:
    store = MemoryStore(keys, daily_bytes=100)
    bodies = [bytes([65 + number]) * 3 + b"-%d" % number * 8 for number in range(6)]
    events = [await keep(store, *kept(body), raw=body) for body in bodies]
    held = [event.raw_ref is not None for event in events]
    assert held == [True, True, True, False, False, False]  # 28 bytes each, sealed
    assert json.loads(events[-1].detail) == {"not_kept": ["raw"]}
    assert events[-1].raw_hmac is not None
    other_tool = await keep(store, *kept(b"x"), tool="other")
    next_day = await keep(store, *kept(b"x"), time=NOW + timedelta(days=1))
    again = await keep(store, *kept(bodies[0]))
    assert None not in (other_tool.raw_ref, next_day.raw_ref)
    assert again.raw_ref == events[0].raw_ref
    await store.close()


@pytest.mark.requirement("AUD-4")
async def test_a_purge_destroys_what_expired_and_leaves_the_chain_whole(store: Store) -> None:
    short = await keep(store, *kept(b"short", days=1))
    long = await keep(store, *kept(b"long", days=9))
    later = NOW + timedelta(days=2)
    assert await store.purge(now=later, who="cron") == 1
    act = json.loads(next(store.events(newest_first=True)).detail)
    assert act == {
        "act": "purge",
        "who": "cron",
        "rule": "expired",
        "count": 1,
        "refs": [short.raw_ref],
    }
    assert await store.reveal(long.raw_ref or "", who="o", reason="x", now=later) == b"long"
    with pytest.raises(KeyError):
        await store.reveal(short.raw_ref or "", who="o", reason="x", now=NOW)
    assert store.verify().broken_at is None


async def test_an_expiry_run_that_finds_nothing_leaves_no_event(store: Store) -> None:
    await keep(store, *kept(SECRET))
    assert await store.purge(now=NOW, who="cron") == 0
    assert len(list(store.events())) == 1


@pytest.mark.requirement("AUD-4")
async def test_the_time_that_chooses_what_expired_is_not_the_time_of_the_act(store: Store) -> None:
    await keep(store, *kept(b"short", days=1))
    later = NOW + timedelta(days=2)
    assert await store.purge(now=NOW, who="olga", expired_by=later) == 1
    act = next(store.events(newest_first=True))
    assert (act.time, json.loads(act.detail)["expired_by"]) == (
        "2026-11-30T12:00:00.123456Z",
        "2026-12-02T12:00:00.123456Z",
    )


@pytest.mark.requirement("AUD-4")
async def test_a_purge_by_name_leaves_the_row_and_neither_key_nor_text(
    sqlite: SqliteStore,
) -> None:
    event = await keep(sqlite, *kept(SECRET))
    assert await sqlite.purge(now=NOW, who="olga", refs=[event.raw_ref or "", "unknown"]) == 1
    connection = sqlite3.connect(sqlite.path)
    row = connection.execute(
        "SELECT wrapped_key, ciphertext, nonce, purged_at, content_bytes FROM custody_blob"
    ).fetchone()
    connection.close()
    assert row == (None, None, None, "2026-11-30T12:00:00.123456Z", len(SECRET))


@pytest.mark.requirement("AUD-4")
async def test_after_a_rotation_every_blob_opens_under_the_new_key_alone(
    tmp_path: Path, keys: AuditKeys
) -> None:
    old = SqliteStore(tmp_path / "a.db", keys)
    refs = [(await keep(old, *kept(b"blob %d" % number))).raw_ref for number in range(3)]
    await old.close()
    new = draw_keys()
    both = replace(keys, custody={**keys.custody, **new.custody}, active=new.active)
    rotated = SqliteStore(tmp_path / "a.db", both)
    assert await rotated.rewrap(now=NOW, who="olga") == 3
    assert await rotated.rewrap(now=NOW, who="olga") == 0
    await rotated.close()
    last = SqliteStore(tmp_path / "a.db", replace(both, custody=dict(new.custody)))
    given = [await last.reveal(ref or "", who="o", reason="x", now=NOW) for ref in refs]
    assert given == [b"blob 0", b"blob 1", b"blob 2"]
    assert last.verify().broken_at is None
    await last.close()


@pytest.mark.requirement("AUD-4")
async def test_what_a_store_seals_with_the_older_key_after_a_rotation_opens_as_well(
    tmp_path: Path, keys: AuditKeys
) -> None:
    running = SqliteStore(tmp_path / "a.db", keys)
    early = await keep(running, *kept(b"early"))
    new = draw_keys()
    both = replace(keys, custody={**keys.custody, **new.custody}, active=new.active)
    rotated = SqliteStore(tmp_path / "a.db", both)
    assert await rotated.rewrap(now=NOW, who="olga") == 1
    late = await keep(running, *kept(b"late"))
    again = await keep(running, *kept(b"early"))
    for event, plain in ((early, b"early"), (late, b"late"), (again, b"early")):
        given = await rotated.reveal(event.raw_ref or "", who="o", reason="x", now=NOW)
        assert given == plain
    with pytest.raises(AuditUnavailable, match="put it back to where"):
        await running.reveal(early.raw_ref or "", who="o", reason="x", now=NOW)
    assert await rotated.rewrap(now=NOW, who="olga") == 1
    await running.close()
    await rotated.close()


@pytest.mark.requirement("AUD-4")
async def test_wrapping_anew_goes_on_until_a_batch_is_not_full(
    tmp_path: Path, keys: AuditKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("queued", "record_custody", "memory"):
        monkeypatch.setattr(f"sluicegate.stores.{module}.REWRAPPED_AT_ONCE", 2)
    new = draw_keys()
    both = replace(keys, custody={**keys.custody, **new.custody}, active=new.active)
    for count in (3, 4):
        path = tmp_path / f"{count}.db"
        old = SqliteStore(path, keys)
        for number in range(count):
            await keep(old, *kept(b"blob %d" % number))
        await old.close()
        rotated = SqliteStore(path, both)
        assert await rotated.rewrap(now=NOW, who="olga") == count
        acts = [json.loads(event.detail) for event in rotated.events() if event.kind == "operator"]
        assert [act["count"] for act in acts] == [2, count - 2]
        await rotated.close()


async def test_retention_beyond_the_calendar_is_kept_until_its_end(store: Store) -> None:
    event = await keep(store, *kept(SECRET, days=1e7))
    assert await store.purge(now=NOW + timedelta(days=365_000), who="cron") == 0
    assert event.raw_ref is not None
