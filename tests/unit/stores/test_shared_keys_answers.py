"""Idempotency keys that records of their own share: what another gate gives again, and what not."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.unit.stores.made import NOW, intent, kept, outcome
from tests.unit.stores.sharing_gates import (
    CALLER,
    DAY_S,
    SELECTED,
    C,
    Gates,
    answered,
    make,
    said,
    state_of,
)
from tests.unit.stores.test_terms import ANSWER_OF_A, A, B, later, terms_of

from sluicegate.gates.operator_acts import resolve
from sluicegate.gates.ports import AuditStore, AuditUnavailable, HeldBack
from sluicegate.gates.terms import (
    Accepted,
)
from sluicegate.stores.custody import SealBroken
from sluicegate.stores.keys import AuditKeys, draw_keys
from sluicegate.stores.postgres import PostgresStore
from sluicegate.stores.shared_keys_scripts import ANSWER
from sluicegate.stores.shared_keys_secrets import Bond, derive_secrets, open_answer, seal_answer
from sluicegate.stores.sqlite import SqliteStore
from sluicegate.values.callers import Caller

pytestmark = pytest.mark.requirement("ACC-4")


async def test_another_gate_gives_the_answer_that_this_one_would(gates: Gates) -> None:
    one, other = await gates.open(), await gates.open()
    await make(one, kept=kept(SELECTED, "selected"))
    assert await said(other, intent(B)) == f"done as {A}"
    own, given = await answered(one), await answered(other)
    assert own is not None
    assert given is not None
    assert given.data == json.loads(SELECTED)
    assert (given.event_id, given.time, given.contract_digest) == (
        own.event_id,
        own.time,
        own.contract_digest,
    )
    assert await answered(other, now=later(100)) is None  # kept no more


@pytest.mark.parametrize("why", ["not kept", "an operator's word", "expired in custody"])
async def test_what_the_record_would_not_give_again_no_other_gives(gates: Gates, why: str) -> None:
    one, other = await gates.open(), await gates.open()
    if why == "an operator's word":
        await one.record([intent(A)], terms=terms_of())
        act, _ = resolve(
            one.events(), A, found="done", who="a", reason="b", now=NOW, gate_is_gone=True
        )
        await one.record([act])
        await one.settle(A)
    else:
        days = 0.0 if why == "expired in custody" else 30
        await make(one, kept=kept(SELECTED, "selected", days) if days == 0.0 else ())
    assert await said(other, intent(B)) == f"done as {A}"
    assert await answered(one) is await answered(other) is None


@pytest.mark.requirement("AUD-4")
async def test_what_one_gate_destroyed_no_gate_gives_again(gates: Gates) -> None:
    one, other = await gates.open(), await gates.open()
    await make(one, kept=kept(SELECTED, "selected"))
    assert await said(one, intent(B)) == await said(other, intent(B)) == f"done as {A}"
    assert await answered(other) is not None
    ref = selected_ref(one)
    await one._store.purge(now=NOW, who="ada", refs=[ref])
    assert await answered(one) is None  # as its record says, whatever Redis still has
    assert await answered(other) is not None
    # Destroyed before, or elsewhere: a purge that finds nothing more tells of it as well.
    assert await one.purge(now=NOW, who="ada") == 0
    assert await answered(other) is None
    assert await said(other, intent(B)) == f"done as {A}"


@pytest.mark.requirement("AUD-4")
async def test_a_rotation_of_one_gate_takes_its_answers_from_no_gate(gates: Gates) -> None:
    new, held = draw_keys(), gates.keys
    both = replace(held, custody={**held.custody, **new.custody}, active=new.active)
    source = [held]
    path = gates.folder / "rotated.db"
    record = SqliteStore(path, held, read_keys=lambda: source[-1])
    one, other = await gates.open(record), await gates.open()
    await one.record([intent(A)], terms=terms_of())
    await record.record([outcome(A, kept=kept(SELECTED, "selected"))])  # Redis is not told yet
    rotating = SqliteStore(path, both)
    await rotating.rewrap(now=NOW, who="ada")
    await rotating.close()
    with pytest.raises(AuditUnavailable, match="is not among those that this process has"):
        await one.settle(A)
    assert state_of(gates.server) == ("dispatched", A)  # and not: done, without an answer
    source.append(both)
    assert await one.settle(A) is True
    assert await said(other, intent(B)) == f"done as {A}"
    given = await answered(other)
    assert given is not None
    assert given.data == json.loads(SELECTED)


@pytest.mark.requirement("AUD-4")
async def test_what_is_purged_before_its_time_no_gate_gives_again(gates: Gates) -> None:
    one, other = await gates.open(), await gates.open()
    await make(one, kept=kept(SELECTED, "selected"))
    await one.record([intent(C)], terms=terms_of("l" * 64))
    await one.record([outcome(C, kept=kept(b'{"n":1}', "selected", 900))])
    assert await said(other, intent(B)) == f"done as {A}"
    assert await said(other, intent(B), terms_of("l" * 64)) == f"done as {C}"
    assert await one.purge(now=NOW, who="ada", expired_by=later(40 * DAY_S)) == 1
    assert await answered(other) is None
    again = await other.answer_of(replace(ANSWER_OF_A, request_id=C), now=NOW)
    assert again is not None
    assert again.data == {"n": 1}


async def test_a_record_in_postgresql_shares_keys_with_one_in_a_file(
    gates: Gates, postgres: PostgresStore
) -> None:
    one, other = await gates.open(postgres), await gates.open()
    await make(one, kept=kept(SELECTED, "selected"))
    assert await said(other, intent(B)) == f"done as {A}"
    given = await answered(other)
    assert given is not None
    assert given.data == json.loads(SELECTED)
    await other.record([intent(C)], terms=terms_of("l" * 64))
    assert await said(one, intent(B), terms_of("l" * 64)) == "IN_PROGRESS"


def selected_ref(store: AuditStore) -> str:
    (event,) = [each for each in store.events() if each.outcome == "success"]
    ref: str = json.loads(event.detail)["custody"]["selected"]
    return ref


BOND = Bond(entry="e", request_id=A, tool="restart", caller=CALLER)


BONDS = {
    "entry": Bond(entry="f", request_id=A, tool="restart", caller=CALLER),
    "request": Bond(entry="e", request_id=B, tool="restart", caller=CALLER),
    "tool": Bond(entry="e", request_id=A, tool="remove", caller=CALLER),
    "caller": Bond(entry="e", request_id=A, tool="restart", caller=Caller(subject="x")),
    "tenant": Bond(entry="e", request_id=A, tool="restart", caller=Caller(subject="svc-deploy")),
}


@pytest.mark.requirement("AUD-4")
@pytest.mark.parametrize("case", BONDS)
def test_a_sealed_answer_opens_for_its_own_call_alone(keys: AuditKeys, case: str) -> None:
    answer = Accepted(
        event_id="e",
        seq=7,
        request_id=A,
        time=NOW,
        contract_digest="sha256:aa",
        data={"n": 12345678901234567890},
        spent=False,
    )
    secrets = derive_secrets(keys)
    sealed = seal_answer(secrets, BOND, answer, later(100))
    opened = open_answer(secrets, BOND, sealed, NOW)
    assert opened is not None
    assert opened.data == answer.data
    assert open_answer(secrets, BOND, sealed, later(100)) is None
    with pytest.raises(SealBroken):
        open_answer(secrets, BONDS[case], sealed, NOW)
    for bad in (b"", sealed[:11], sealed[:-1], sealed[:-1] + bytes([sealed[-1] ^ 1])):
        with pytest.raises(SealBroken):
            open_answer(secrets, BOND, bad, NOW)
    with pytest.raises(SealBroken):
        open_answer(derive_secrets(draw_keys()), BOND, sealed, NOW)


async def test_an_answer_that_was_changed_in_redis_closes_the_call(gates: Gates) -> None:
    one, other = await gates.open(), await gates.open()
    await make(one, kept=kept(SELECTED, "selected"))
    assert await said(other, intent(B)) == f"done as {A}"
    (name,) = [each for each in gates.server.names() if each.endswith(ANSWER.encode())]
    with gates.server.client() as client:
        assert 0 < client.pttl(name) <= 100_000  # not a moment longer than it is kept
        client.set(name, b"anything")
    with pytest.raises(HeldBack, match="not what was sealed"):
        await answered(other)


@pytest.mark.requirement("AUD-4", "AUD-5")
async def test_nothing_stands_in_redis_in_clear(gates: Gates) -> None:
    one = await gates.open()
    planted = {"arguments": {"secret": "PLANTED-ARGUMENT"}, "tool": "planted_tool"}
    members = {**planted, "caller_subject": "planted-caller", "caller_tenant": "planted-tenant"}
    terms = terms_of("0123456789abcdef" * 4)
    await one.record([intent(A, **members)], terms=terms)
    await one.record([outcome(A, **members, kept=kept(SELECTED, "selected"))])
    content = gates.server.content().lower()
    assert A.encode() in content  # what is looked through is what was written
    assert b"planted" not in content
    assert b"0123456789abcdef" not in content
