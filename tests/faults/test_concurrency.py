"""A thousand calls at once, an upstream that mixes its answers up, and callers that walk away."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.faults.upstreams import Upstream, answer, serve

from sluicegate.gates.answers import Answer
from sluicegate.gates.events import StoredEvent
from sluicegate.opening.folder import open_folder_store, open_gate
from sluicegate.values.callers import Caller
from sluicegate.values.json import JsonValue

CALLS = 1_000
CROWD = 128
"""So many requests the upstream holds before it answers the first: twice the default limit."""

MOST_LATE = 5
"""So many decisions may be late (ACC-1): a machine that stands still for 250 ms makes one so."""

WHOLE = (("intent", 1), ("outcome", 1))
"""The events of a call that ran."""

SETTINGS = """
limits: {in_flight: 192}
audit: {store: "sqlite:state/audit.db", keys: "file:keys/"}
access:
  - {caller: svc-shop, action: call, tool: item}
"""
CONTRACT = """
sluicegate: 1
tool: item
version: 1.0.0
owner: shop
description: What one item of the shop costs.
effect: read
arguments:
  schema:
    type: object
    properties:
      id: {type: string, pattern: "^item-[0-9]{4}$"}
    required: [id]
    additionalProperties: false
fetch:
  http:
    method: GET
    url: "http://127.0.0.1:@PORT@/items/{/id}"
    timeout_s: 90
limits: {max_bytes: 4096, max_depth: 4}
result:
  schema:
    type: object
    properties:
      id: {type: string, pattern: "^item-[0-9]{4}$"}
      price: {type: integer, minimum: 0, maximum: 9999}
    required: [id, price]
    additionalProperties: false
  bind: {/id: /id}
  agent: [/id, /price]
"""


def id_of(number: int) -> str:
    return f"item-{number:04}"


def body(number: int) -> bytes:
    return json.dumps({"id": id_of(number), "price": number}).encode()


class MixedUp:
    """The upstream: holds a crowd, then answers it in an order of its own, not always rightly.

    What it does with an item follows from the item and the seed alone, so that each call has one
    expected end. ``arrived`` and ``answered`` are item numbers in their order.
    """

    def __init__(self, seed: int) -> None:
        self.upstream = Upstream()
        self.tasks: Sequence[asyncio.Task[Answer[JsonValue]]] = ()
        self.arrived: list[int] = []
        self.answered: list[int] = []
        draw = random.Random(seed)
        weights = {"right": 5, "right, then other": 2, "other": 2, "other, then right": 1}
        self.manners = draw.choices(list(weights), list(weights.values()), k=CALLS)
        self.others = [(number + draw.randrange(1, CALLS)) % CALLS for number in range(CALLS)]
        self.delays = [draw.uniform(0, 0.05) for _ in range(CALLS)]
        cancelled = draw.sample(range(CALLS), 100)
        self.cancelled_waiting = frozenset(cancelled[:50])
        self.cancelled_answered = frozenset(cancelled[50:75])
        self.cancelled_any_time = frozenset(cancelled[75:])
        self._crowd = asyncio.Event()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # No other request was read since this one's head: nothing was awaited in between.
        path = self.upstream.heads[-1].split(" ")[1]
        number = int(path.removeprefix("/items/item-"))
        self.arrived.append(number)
        if len(self.arrived) == CROWD:
            self._crowd.set()
        await self._crowd.wait()
        await asyncio.sleep(self.delays[number] / 2)
        if number in self.cancelled_waiting:
            self.tasks[number].cancel()
        await asyncio.sleep(self.delays[number] / 2)
        self.answered.append(number)
        right, other = answer(body(number)), answer(body(self.others[number]))
        writer.write(
            {
                "right": right,
                "right, then other": right + other,
                "other": other,
                "other, then right": other + right,
            }[self.manners[number]]
        )
        await writer.drain()
        if number in self.cancelled_answered:
            self.tasks[number].cancel()  # its answer is read, judged or recorded just now


def write_folder(root: Path, port: int) -> Path:
    (root / "item").mkdir(parents=True)
    (root / "sluicegate.yaml").write_text(SETTINGS)
    (root / "item" / "contract.yaml").write_text(CONTRACT.replace("@PORT@", str(port)))
    return root


async def run(folder: Path, seed: int) -> tuple[MixedUp, list[Answer[JsonValue] | None]]:
    """Make every call; None stands for one that ended as cancelled."""
    mixed = MixedUp(seed)
    async with (
        serve(mixed.answer, backlog=CALLS) as mixed.upstream,
        open_gate(write_folder(folder, mixed.upstream.port)) as gate,
    ):
        caller = Caller(subject="svc-shop")
        mixed.tasks = [
            asyncio.create_task(
                gate.call("item", json.dumps({"id": id_of(n)}), caller=caller, call_id=id_of(n))
            )
            for n in range(CALLS)
        ]
        loop = asyncio.get_running_loop()
        for n in mixed.cancelled_any_time:
            loop.call_later(mixed.delays[n] * 20, mixed.tasks[n].cancel)
        await asyncio.wait(mixed.tasks)
    return mixed, [None if task.cancelled() else task.result() for task in mixed.tasks]


def ends_of(events: Sequence[StoredEvent]) -> tuple[tuple[str, int], ...]:
    """Return kind and attempt of the events of one call, in their order."""
    return tuple((event.kind, event.attempt) for event in events)


def codes_of(events: Sequence[StoredEvent]) -> list[str | None]:
    return [event.code for event in events]


async def stories_of(folder: Path) -> dict[str | None, list[StoredEvent]]:
    """Return the events by the host's id of their call, of a record that is whole and closed."""
    stories: dict[str | None, list[StoredEvent]] = {}
    store = open_folder_store(folder)
    try:
        for event in store.events():
            stories.setdefault(event.call_id, []).append(event)
        assert store.open_intents() == ()
        assert store.verify().broken_at is None
    finally:
        await store.close()
    return stories


@pytest.mark.requirement("ADP-2", "RES-5", "AUD-1")
@pytest.mark.parametrize("seed", [20261130])
async def test_a_thousand_calls_at_once_get_their_own_answer_or_none(
    tmp_path: Path, seed: int
) -> None:
    began = time.process_time()
    async with asyncio.timeout(100):  # against a hang alone: a loaded machine is no defect
        mixed, answers = await run(tmp_path / "contracts", seed)
    assert time.process_time() - began < 20

    stories = await stories_of(tmp_path / "contracts")
    given = {n: each for n, each in enumerate(answers) if each is not None}
    wrong = [
        n
        for n, each in given.items()
        if each.outcome == "success" and each.data != {"id": id_of(n), "price": n}
    ]
    assert wrong == []
    late = {n for n in given if codes_of(stories[id_of(n)]) == ["PDP_UNAVAILABLE"]}
    assert len(late) <= MOST_LATE
    expected = {
        n: ("refused", "UNAVAILABLE")
        if n in late
        else ("success", None)
        if mixed.manners[n].startswith("right")
        else ("failure", "INVALID_RESPONSE")
        for n in given
    }
    assert {n: (each.outcome, each.code) for n, each in given.items()} == expected
    assert set(Counter(expected.values())) >= {("success", None), ("failure", "INVALID_RESPONSE")}

    cancelled = set(range(CALLS)) - set(given)
    assert mixed.cancelled_waiting - cancelled <= late
    assert cancelled <= (
        mixed.cancelled_waiting | mixed.cancelled_answered | mixed.cancelled_any_time
    )
    assert mixed.arrived != mixed.answered  # it did answer in another order
    assert len(set(mixed.arrived)) == len(mixed.arrived)  # nobody was asked twice
    assert not late & set(mixed.arrived)

    ran = set(given) - late
    assert {n: ends_of(stories[id_of(n)]) for n in ran} == dict.fromkeys(ran, WHOLE)
    codes = {n: codes_of(stories[id_of(n)])[1] for n in ran}
    assert codes == {n: None if expected[n][0] == "success" else "WRONG_SUBJECT" for n in ran}
    # Whoever was cancelled after the upstream was asked has one intent and one outcome too.
    asked = cancelled & set(mixed.arrived)
    assert {n: ends_of(stories[id_of(n)]) for n in asked} == dict.fromkeys(asked, WHOLE)
