"""What a request came to, by its events in their order."""

from __future__ import annotations

import pytest

from sluicegate.gates.upshots import Upshot, follow, read_found

pytestmark = pytest.mark.requirement("ACC-4", "RET-2")

Event = tuple[str, str, str | None]
INTENT: Event = ("intent", "pending", None)
REVEALED: Event = ("operator", "done", None)


def outcome(became: str) -> Event:
    return ("outcome", became, None)


def word(found: str) -> Event:
    return ("operator", "done", found)


STORIES: dict[str, tuple[list[Event], Upshot | None]] = {
    "nothing": ([], None),
    "refused": ([("refused", "refused", None)], None),
    "runs": ([INTENT], Upshot(outcome="pending")),
    "succeeded": ([INTENT, outcome("success")], Upshot(outcome="success")),
    "revealed": ([INTENT, outcome("success"), REVEALED], Upshot(outcome="success")),
    "not known": ([INTENT, outcome("unknown")], Upshot(outcome="unknown")),
    "resolved as done": ([INTENT, word("done")], Upshot(outcome="success", found="done")),
    "resolved as not done": (
        [INTENT, word("not-done")],
        Upshot(outcome="failure", found="not-done"),
    ),
    "not known behind a word": (
        [INTENT, word("not-done"), outcome("unknown")],
        Upshot(outcome="failure", found="not-done"),
    ),
    "failed behind a word": (
        [INTENT, word("done"), outcome("failure")],
        Upshot(outcome="success", found="done"),
    ),
    "refused behind a word": (
        [INTENT, word("done"), outcome("unknown"), outcome("refused")],
        Upshot(outcome="success", found="done"),
    ),
    "succeeded behind a word": (
        [INTENT, word("not-done"), outcome("unknown"), outcome("success")],
        Upshot(outcome="success"),
    ),
    "sent anew behind a word": (
        [INTENT, word("not-done"), INTENT, outcome("unknown")],
        Upshot(outcome="unknown"),
    ),
}


@pytest.mark.parametrize("case", STORIES)
def test_an_operators_word_stands_until_a_success_is_seen(case: str) -> None:
    events, expected = STORIES[case]
    upshot: Upshot | None = None
    for kind, became, found in events:
        upshot = follow(upshot, kind=kind, outcome=became, found=found)
    assert upshot == expected


@pytest.mark.parametrize(
    ("detail", "found"),
    [
        ('{"act":"resolve","resolves":"req.1","as":"not-done"}', "not-done"),
        ('{"act":"resolve","resolves":"req.2","as":"done"}', None),
        ('{"act":"reveal","reason":"\\"resolves\\":"}', None),
        ("", None),
    ],
)
def test_what_an_act_says_of_another_request_is_not_said_of_this_one(
    detail: str, found: str | None
) -> None:
    assert read_found(detail, "req.1") == found
