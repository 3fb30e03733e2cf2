"""From an event to its columns."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta, timezone
from uuid import UUID

import pytest
from tests.unit.stores.made import NOW, intent, outcome

from sluicegate.stores.encoding import (
    COLUMNS,
    encode_event,
    make_event_id,
    time_text,
)
from sluicegate.stores.keys import AuditKeys, draw_keys
from sluicegate.values.codes import Code
from sluicegate.values.findings import Finding


@pytest.mark.requirement("AUD-2")
def test_an_event_has_every_column_but_its_place_in_the_chain(keys: AuditKeys) -> None:
    encoded = encode_event(intent(), keys)
    assert tuple(encoded.columns) == COLUMNS[1:-2]
    assert (COLUMNS[0], COLUMNS[-2:]) == ("seq", ("previous", "link"))


@pytest.mark.requirement("AUD-2", "AUD-5")
def test_values_are_stored_as_keyed_digests_that_differ_by_column(keys: AuditKeys) -> None:
    value = {"pin": "quux-pin"}
    columns = encode_event(
        outcome(arguments=value, returned=value, raw=b'{"pin":"quux-pin"}'), keys
    ).columns
    digests = [columns[name] for name in ("arguments_hmac", "returned_hmac", "raw_hmac")]
    plain = hashlib.sha256(b'{"pin":"quux-pin"}').hexdigest()
    assert len({*digests, plain}) == 4
    assert all(len(str(digest)) == 64 for digest in digests)
    assert "quux" not in json.dumps(columns)


def test_the_digest_of_arguments_does_not_depend_on_the_order_of_members(keys: AuditKeys) -> None:
    one = encode_event(intent(arguments={"a": 1, "b": 2}), keys).columns["arguments_hmac"]
    two = encode_event(intent(arguments={"b": 2, "a": 1}), keys).columns["arguments_hmac"]
    assert one == two


def test_another_key_gives_another_digest(keys: AuditKeys) -> None:
    one = encode_event(intent(), keys).columns["arguments_hmac"]
    assert one != encode_event(intent(), draw_keys()).columns["arguments_hmac"]


def test_what_was_not_there_is_null_and_what_was_empty_is_not(keys: AuditKeys) -> None:
    absent = encode_event(intent(arguments=None), keys).columns
    empty = encode_event(outcome(raw=b""), keys).columns
    assert (absent["arguments_hmac"], absent["raw_hmac"], absent["raw_bytes"]) == (None,) * 3
    assert (empty["raw_hmac"] is None, empty["raw_bytes"]) == (False, 0)


def test_findings_hold_only_the_members_that_say_something(keys: AuditKeys) -> None:
    finding = Finding(code=Code.MISSING, pointer="/run_id", expected="string")
    columns = encode_event(intent(findings=(finding,), masked=("/token",)), keys).columns
    assert columns["findings"] == '[{"code":"MISSING","pointer":"/run_id","expected":"string"}]'
    assert columns["masked"] == '["/token"]'


def test_a_lone_surrogate_is_escaped_and_not_lost(keys: AuditKeys) -> None:
    columns = encode_event(intent(call_id="a\ud800b", detail={"k": "\ud800"}), keys).columns
    assert columns["call_id"] == "a\\ud800b"
    assert json.loads(str(columns["detail"])) == {"k": "\ud800"}


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        pytest.param(NOW, "2026-11-30T12:00:00.123456Z", id="UTC"),
        pytest.param(NOW.replace(microsecond=0), "2026-11-30T12:00:00.000000Z", id="whole second"),
        pytest.param(
            datetime(2026, 11, 30, 1, tzinfo=timezone(timedelta(hours=-5))),
            "2026-11-30T06:00:00.000000Z",
            id="offset",
        ),
        pytest.param(NOW.replace(year=9999), "9999-11-30T12:00:00.123456Z", id="last year"),
    ],
)
def test_times_are_utc_text_of_one_width(moment: datetime, text: str) -> None:
    assert time_text(moment) == text


def test_a_time_without_an_offset_is_refused() -> None:
    with pytest.raises(ValueError, match="needs an offset"):
        time_text(NOW.replace(tzinfo=None))


def test_event_ids_are_version_7_and_bear_their_moment() -> None:
    ids = [UUID(make_event_id(NOW)) for _ in range(50)]
    assert {(made.version, made.variant) for made in ids} == {(7, "specified in RFC 4122")}
    assert {made.int >> 80 for made in ids} == {int(NOW.timestamp() * 1000)}
    assert len(set(ids)) == 50
