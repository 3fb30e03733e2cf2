"""The cache answers the same question of the same caller, and keeps accepted answers only."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from tests.unit.adapters.dispatches import dispatch

from sluicegate.adapters.cache import CacheAdapter
from sluicegate.contracts.contract import CacheRule
from sluicegate.gates.ports import Dispatch
from sluicegate.values.callers import Caller
from sluicegate.values.receipts import Fault, Receipt

pytestmark = pytest.mark.requirement("ADP-4")


class Counter:
    """An upstream that numbers its answers."""

    name = "counter"
    version = "7"
    endpoint = "counter:"

    def __init__(self) -> None:
        self.asked = 0
        self.is_closed = False

    async def fetch(self, dispatch: Dispatch) -> Receipt:
        self.asked += 1
        await asyncio.sleep(0)
        return Receipt(
            adapter=self.name,
            adapter_version=self.version,
            endpoint=self.endpoint,
            raw=b"%d" % self.asked,
        )

    async def keep(self, dispatch: Dispatch, receipt: Receipt) -> None:
        raise AssertionError("the adapter behind keeps nothing")

    async def close(self) -> None:
        self.is_closed = True


class Ticker:
    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


def cache(counter: Counter, ticker: Ticker, *, ttl_s: float = 30, entries: int = 8) -> CacheAdapter:
    return CacheAdapter(counter, CacheRule(ttl_s=ttl_s, max_entries=entries), monotonic=ticker)


async def ask(cached: CacheAdapter, question: Dispatch) -> Receipt:
    """Fetch and accept."""
    receipt = await cached.fetch(question)
    await cached.keep(question, receipt)
    return receipt


async def test_an_accepted_answer_comes_back_with_its_first_provenance() -> None:
    cached = cache(Counter(), Ticker())
    first = await ask(cached, dispatch({"id": "a"}))
    second = await ask(cached, dispatch({"id": "a"}))
    assert not first.from_cache
    assert replace(first, from_cache=True) == second
    assert (
        second.adapter,
        second.adapter_version,
        second.endpoint,
    ) == ("counter", "7", "counter:")


async def test_the_cache_names_itself_and_the_endpoint_behind_it() -> None:
    cached = cache(Counter(), Ticker())
    assert (cached.name, cached.version, cached.endpoint) == ("cache", "7", "counter:")


async def test_an_answer_that_was_not_accepted_is_not_kept() -> None:
    cached = cache(Counter(), Ticker())
    await cached.fetch(dispatch())
    assert (await cached.fetch(dispatch())).raw == b"2"


async def test_a_failed_attempt_is_not_kept() -> None:
    cached = cache(Counter(), Ticker())
    failed = replace(await cached.fetch(dispatch()), fault=Fault.SHORT)
    await cached.keep(dispatch(), failed)
    assert (await cached.fetch(dispatch())).raw == b"2"


BASE = dispatch({"id": "a", "n": 1}, caller=Caller(subject="s", tenant="t"))
OTHERS = {
    "caller": replace(BASE, caller=Caller(subject="x", tenant="t")),
    "tenant": replace(BASE, caller=Caller(subject="s", tenant="u")),
    "no tenant": replace(BASE, caller=Caller(subject="s")),
    "contract": replace(BASE, contract_digest="sha256:1"),
    "tool": replace(BASE, tool="other"),
    "argument": replace(BASE, arguments={"id": "b", "n": 1}),
    "type of an argument": replace(BASE, arguments={"id": "a", "n": "1"}),
    "more arguments": replace(BASE, arguments={"id": "a", "n": 1, "m": None}),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
async def test_another_question_or_caller_never_shares_an_entry(other: Dispatch) -> None:
    cached = cache(Counter(), Ticker())
    assert (await ask(cached, BASE)).raw == b"1"
    assert (await ask(cached, other)).raw == b"2"


async def test_order_of_arguments_and_session_do_not_matter() -> None:
    cached = cache(Counter(), Ticker())
    await ask(cached, BASE)
    again = replace(
        BASE,
        arguments={"n": 1, "id": "a"},
        caller=Caller(subject="s", tenant="t", session="other"),
    )
    assert (await ask(cached, again)).raw == b"1"


async def test_an_entry_lives_its_time_and_a_hit_does_not_lengthen_it() -> None:
    ticker = Ticker()
    cached = cache(Counter(), ticker, ttl_s=30)
    await ask(cached, dispatch())
    ticker.at += 29.9
    assert (await ask(cached, dispatch())).raw == b"1"
    ticker.at += 0.1
    assert (await ask(cached, dispatch())).raw == b"2"


async def test_a_kept_answer_that_is_refused_is_not_served_again() -> None:
    cached = cache(Counter(), Ticker())
    await ask(cached, dispatch())
    assert (await cached.fetch(dispatch())).from_cache  # refused: keep is not called
    assert (await ask(cached, dispatch())).raw == b"2"
    assert (await ask(cached, dispatch())).raw == b"2"


async def test_a_further_attempt_asks_the_upstream() -> None:
    cached = cache(Counter(), Ticker())
    await ask(cached, dispatch())
    assert (await cached.fetch(dispatch(attempt=2))).raw == b"2"


async def test_the_least_recently_used_entry_goes_first() -> None:
    counter = Counter()
    cached = cache(counter, Ticker(), entries=2)
    for name in ("a", "b", "a", "c"):
        await ask(cached, dispatch({"id": name}))
    assert counter.asked == 3
    assert (await ask(cached, dispatch({"id": "a"}))).from_cache
    assert not (await ask(cached, dispatch({"id": "b"}))).from_cache


async def test_a_kept_answer_beyond_the_limit_of_this_call_is_fetched_anew() -> None:
    cached = cache(Counter(), Ticker())
    await ask(cached, dispatch())
    assert not (await cached.fetch(dispatch(max_bytes=0))).from_cache


async def test_many_callers_at_once_each_get_their_own_answer() -> None:
    cached = cache(Counter(), Ticker(), entries=64)
    callers = [Caller(subject=f"s{number % 16}") for number in range(200)]
    first: dict[str, bytes] = {}
    for caller in callers[:16]:
        first[caller.subject] = (await ask(cached, dispatch(caller=caller))).raw
    answers = await asyncio.gather(*(ask(cached, dispatch(caller=caller)) for caller in callers))
    kept = [
        (caller.subject, answer.raw)
        for caller, answer in zip(callers, answers, strict=True)
        if answer.from_cache
    ]
    assert kept
    assert all(raw == first[subject] for subject, raw in kept)


async def test_closing_forgets_everything_and_closes_the_adapter_behind() -> None:
    counter = Counter()
    cached = cache(counter, Ticker())
    await ask(cached, dispatch())
    await cached.close()
    assert counter.is_closed
    assert (await cached.fetch(dispatch())).raw == b"2"
