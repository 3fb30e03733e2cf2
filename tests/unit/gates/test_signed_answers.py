"""Signed contracts in a gate: replays, keys, and what happens when either fails (RES-6, RES-9)."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from tests.unit.checks import signing
from tests.unit.gates.job_status import ARGUMENTS, CONTRACT, answer

from sluicegate.checks.authentication_keys import PublicKeys
from sluicegate.contracts.served import ContractSet
from sluicegate.gates import authenticating
from sluicegate.gates.gate import Gate
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.replays_memory import MemoryReplays
from sluicegate.testing import FixedClock, RecordedUpstream, contracts_of, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.receipts import Receipt

pytestmark = pytest.mark.requirement("RES-6")
CI = Caller(subject="ci")
RULE = {
    "issuer": signing.ISSUER,
    "algorithms": ["Ed25519"],
    "keys": "ci.jwks",
    "header": "x-signature",
    "max_age_s": 60,
}


class Keys:
    """Keys that a test can change, or let fail."""

    scope = "ci"

    def __init__(self) -> None:
        self.read: Callable[[], Any] = lambda: signing.public(signing.ED25519)


class Memory(MemoryReplays):
    """A memory that a test can let fail."""

    answer: Callable[[], Any] | None = None

    async def is_new(self, *, scope: str, replay_id: str, until: datetime, now: datetime) -> bool:
        if self.answer is None:
            return await super().is_new(scope=scope, replay_id=replay_id, until=until, now=now)
        given = self.answer()
        if asyncio.iscoroutine(given):
            given = await given
        return given  # type: ignore[no-any-return]


class Signed:
    """One gate over an upstream that signs; ``now`` is that of ``signing``."""

    def __init__(self, *receipts: Receipt, effect: str = "read", **changes: object) -> None:
        document = {**CONTRACT, "upstream": {"signature": {"jws": RULE}}, "effect": effect}
        served: ContractSet = contracts_of(
            {"job_status/contract.json": json.dumps({**document, **changes})}
        )
        self.upstream = RecordedUpstream(*receipts)
        self.store, self.keys, self.memory = MemoryStore(), Keys(), Memory()
        self.gate: Gate = gate_of(
            served,
            {"job_status": self.upstream},
            clock=FixedClock(signing.NOW),
            store=self.store,
            keys={"job_status": self.keys},
            replays=self.memory,
        )

    async def call(self) -> tuple[str, str | None, str | None]:
        """Return what the agent sees, and stage and code of the last event."""
        told = await self.gate.call("job_status", ARGUMENTS, caller=CI)
        *_, last = self.store.events(request_id=told.request_id)
        return str(told.code or told.outcome), last.stage, last.code


def signed(raw: bytes | None = None, **claims: Any) -> Receipt:
    raw = answer() if raw is None else raw
    received: Receipt = signing.receive(raw, signing.detached(raw, **claims))
    return received


async def test_a_good_answer_is_accepted_once_and_its_replay_refused() -> None:
    gate = Signed(signed())
    assert await gate.call() == ("success", None, None)
    assert await gate.call() == ("INVALID_RESPONSE", "authenticate", "REPLAYED")


async def test_an_answer_that_a_later_rung_refuses_is_remembered_as_well() -> None:
    raw = answer(state="unheard of")
    gate = Signed(signed(raw, jti="one"), signed(jti="one"))
    assert await gate.call() == ("INVALID_RESPONSE", "conform", "ENUM")
    assert await gate.call() == ("INVALID_RESPONSE", "authenticate", "REPLAYED")


async def test_what_is_not_signed_cannot_fill_the_memory() -> None:
    good = signed(jti="one")
    forged = replace(good, raw=answer(state="running"))
    gate = Signed(forged, good)
    assert await gate.call() == ("INVALID_RESPONSE", "authenticate", "BAD_SIGNATURE")
    assert await gate.call() == ("success", None, None)


async def test_each_attempt_is_an_answer_of_its_own() -> None:
    """RET-3: the second attempt brings what the first brought, and that is a replay."""
    gate = Signed(
        signed(answer(state="unheard of"), jti="one"),
        signed(jti="one"),
        retry={"attempts": 2, "budget_s": 5, "on": ["INVALID_RESPONSE"]},
    )
    assert await gate.call() == ("INVALID_RESPONSE", "authenticate", "REPLAYED")
    assert len(gate.upstream.dispatches) == 2


async def test_a_key_that_was_exchanged_counts_from_the_next_answer_on() -> None:
    gate = Signed(signed(jti="one"), signed(jti="two"))
    assert await gate.call() == ("success", None, None)
    gate.keys.read = lambda: signing.public(signing.OTHER)
    assert await gate.call() == ("INVALID_RESPONSE", "authenticate", "BAD_SIGNATURE")


async def test_a_host_that_fetches_for_itself_is_held_to_the_signature() -> None:
    gate = Signed(fetch={"host": {}}).gate
    for received, expected in ((answer(), "INVALID_RESPONSE"), (signed(), None)):
        outstanding = await gate.check_call("job_status", ARGUMENTS, caller=CI)
        told = await gate.check_result(outstanding, received)  # type: ignore[arg-type]
        assert told.code == expected


def fails() -> Any:
    raise OSError("the disk is gone, and with it whsec_c2VjcmV0")


async def hangs() -> bool:
    await asyncio.Event().wait()
    return True


MEMORY_FAULTS = {
    "down": fails,
    "slow": hangs,
    "lying with a number": lambda: 1,
    "lying with nothing": lambda: None,
    "raising": lambda: (_ for _ in ()).throw(RuntimeError("whsec_c2VjcmV0")),
}


@pytest.mark.requirement("RES-9")
@pytest.mark.parametrize("fault", MEMORY_FAULTS)
@pytest.mark.parametrize(("effect", "seen"), [("read", None), ("write", "OUTCOME_UNKNOWN")])
async def test_a_memory_that_fails_closes_the_call(
    fault: str, effect: str, seen: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fault == "slow":
        monkeypatch.setattr(authenticating, "MEMORY_WITHIN_S", 0.0)
    gate = Signed(signed(), effect=effect)
    gate.memory.answer = MEMORY_FAULTS[fault]
    told, stage, code = await gate.call()
    assert (stage, code) == ("internal", "INTERNAL")
    assert told == (seen or "UPSTREAM_UNAVAILABLE")


KEY_FAULTS: dict[str, Callable[[], Any]] = {
    "down": fails,
    "lying": lambda: None,
    "lying with no keys": PublicKeys,
    "raising": lambda: (_ for _ in ()).throw(RuntimeError("whsec_c2VjcmV0")),
}


@pytest.mark.requirement("RES-9", "AUD-1")
@pytest.mark.parametrize("fault", ["down", "raising"])
async def test_without_keys_nothing_is_sent(fault: str) -> None:
    gate = Signed(signed(), effect="write")
    gate.keys.read = KEY_FAULTS[fault]
    assert await gate.call() == ("UNAVAILABLE", "internal", "INTERNAL")
    assert gate.upstream.dispatches == []


@pytest.mark.requirement("RES-9")
async def test_keys_that_take_too_long_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authenticating, "KEYS_WITHIN_S", 0.05)
    released = threading.Event()
    gate = Signed(signed())
    gate.keys.read = lambda: released.wait(20) and signing.public(signing.ED25519)
    assert await gate.call() == ("UNAVAILABLE", "internal", "INTERNAL")
    released.set()
    assert gate.upstream.dispatches == []


@pytest.mark.requirement("RES-9")
@pytest.mark.parametrize("fault", ["lying", "lying with no keys"])
async def test_keys_that_are_none_verify_nothing(fault: str) -> None:
    gate = Signed(signed())
    gate.keys.read = KEY_FAULTS[fault]
    assert await gate.call() == ("INVALID_RESPONSE", "authenticate", "BAD_SIGNATURE")


@pytest.mark.requirement("RES-9")
async def test_keys_that_vanish_while_the_upstream_answers_close_the_call() -> None:
    gate = Signed(signed())
    readings = iter([signing.public(signing.ED25519)])
    gate.keys.read = lambda: next(readings, None) or fails()
    assert await gate.call() == ("UPSTREAM_UNAVAILABLE", "internal", "INTERNAL")


@pytest.mark.requirement("RES-9")
async def test_a_signed_contract_without_a_memory_is_closed() -> None:
    gate = Signed(signed())
    gate.gate = Gate(replace(gate.gate._means, replays=None), gate.gate._serving)
    assert await gate.call() == ("UPSTREAM_UNAVAILABLE", "internal", "INTERNAL")


async def test_a_signed_contract_without_keys_accepts_nothing() -> None:
    gate = Signed(signed())
    (line,) = gate.gate._serving.lines.values()
    serving = replace(gate.gate._serving, lines={"job_status": replace(line, keys=None)})
    gate.gate = Gate(gate.gate._means, serving)
    assert await gate.call() == ("INVALID_RESPONSE", "authenticate", "BAD_SIGNATURE")
