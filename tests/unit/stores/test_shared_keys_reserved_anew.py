"""Idempotency keys that records share: what comes of a call while another one holds its key."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest
from tests.unit.stores.made import NOW, intent, kept, outcome
from tests.unit.stores.sharing_gates import (
    ARGUMENTS,
    SELECTED,
    C,
    Gates,
    answered,
    said,
    state_of,
)
from tests.unit.stores.test_shared_keys_telling import free_by_operator, resolve_elsewhere
from tests.unit.stores.test_terms import A, B, later, terms_of

from sluicegate.gates.events import Outcome
from sluicegate.gates.terms import IF_INTENDED
from sluicegate.stores.shared_keys import SharedKeysStore
from sluicegate.stores.shared_keys_fates import Became
from sluicegate.stores.shared_keys_table import Claim

pytestmark = pytest.mark.requirement("ACC-4", "RET-2")

D = "req.00000004"


async def reserve(gate: SharedKeysStore, request_id: str, at: datetime, **times: datetime) -> Claim:
    """Reserve the key in Redis alone, as a gate that goes no further."""
    reservation = terms_of().reservation
    assert reservation is not None
    claim = gate._claim(reservation, request_id=request_id, attempt=1, arguments=ARGUMENTS)
    claim = replace(claim, **times)
    assert (await gate._table.reserve(claim, at)).word == "reserved"
    return claim


async def test_a_success_counts_whoever_held_the_key_before_the_reservation(gates: Gates) -> None:
    one, two, three = await gates.open(), await gates.open(), await gates.open()
    await free_by_operator(one)
    await two.record([intent(B, time=later(3))], terms=terms_of())
    await two.record([outcome(B, became=Outcome.FAILURE)])
    reserved = await reserve(three, C, later(3))
    await one.record([outcome(A)])
    assert await three._table.undo(reserved) is True
    assert state_of(gates.server) == ("done", A)
    assert await said(two, intent(D, time=later(4))) == f"done as {A}"


async def test_nothing_is_sent_under_a_reservation_that_took_over_another(gates: Gates) -> None:
    one, two, three = await gates.open(), await gates.open(), await gates.open()
    await free_by_operator(one)
    await reserve(two, B, later(3))
    reserved = await reserve(three, C, later(15), runs_until=later(30))
    await one.record([outcome(A)])
    assert await three._table.dispatch(reserved) is False


async def test_a_success_behind_a_reservation_is_kept_as_long_as_its_own_call(
    gates: Gates,
) -> None:
    one, two, three = await gates.open(), await gates.open(), await gates.open()
    await free_by_operator(one)
    await reserve(two, B, later(3), runs_until=later(10), kept_until=later(11))
    await one.record([outcome(A)])
    assert await said(three, intent(C, time=later(12))) == f"done as {A}"


async def test_what_is_purged_behind_a_reservation_is_given_by_no_gate(gates: Gates) -> None:
    one, two, three = await gates.open(), await gates.open(), await gates.open()
    await free_by_operator(one)
    await reserve(two, B, later(3))
    await one.record([outcome(A, kept=kept(SELECTED, "selected"))])
    assert await one.purge(now=later(5), who="ada", expired_by=later(100_000_000)) == 1
    assert await said(three, intent(C, time=later(12))) == f"done as {A}"
    assert await answered(three, now=later(12)) is None


async def test_what_is_purged_behind_an_operators_done_is_given_by_no_gate(gates: Gates) -> None:
    one, two = await gates.open(), await gates.open()
    await one.record([intent(A)], terms=terms_of())
    await one.record([outcome(A, kept=kept(SELECTED, "selected"))])
    doubt = [intent(A, attempt=2), outcome(A, attempt=2, became=Outcome.UNKNOWN)]
    await one.record(doubt, terms=IF_INTENDED)
    await resolve_elsewhere(one, "done")
    await one.settle(A)
    assert await said(two, intent(C, time=later(4))) == f"done as {A}"
    assert await answered(two, now=later(4)) is not None
    assert await one.purge(now=later(5), who="ada", expired_by=later(100_000_000)) == 1
    assert await answered(two, now=later(6)) is None


async def test_a_word_that_comes_late_comes_late_behind_a_reservation_too(gates: Gates) -> None:
    one, two = await gates.open(), await gates.open()
    await one.record([intent(A)], terms=terms_of())
    claim = one._claims[A]
    await one.record([intent(A, attempt=2), outcome(A, attempt=2, became=Outcome.UNKNOWN)])
    await resolve_elsewhere(one, "not-done")
    await one.settle(A)
    reserved = await reserve(two, B, later(3))
    assert await one._table.settle(claim, Became.DONE, NOW) == "other"
    assert await two._table.dispatch(reserved) is True
