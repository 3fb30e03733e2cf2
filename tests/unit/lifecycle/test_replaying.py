"""The count of a replay: what is one matter, what is no news, and that it stays small."""

from __future__ import annotations

import pytest

from sluicegate.lifecycle.replaying import (
    ACCEPTED,
    MAX_EXAMPLES,
    MAX_GROUPS,
    OTHER_PLACES,
    Judged,
    Tally,
)

ENUM = Judged(False, "conform", "ENUM", "/state")
ELSEWHERE = Judged(False, "conform", "ENUM", "/other")
STALE = Judged(False, "vouch", "STALE", "/at")


@pytest.mark.requirement("LIF-4")
@pytest.mark.parametrize(
    ("was", "would_be", "change"),
    [
        pytest.param(ACCEPTED, ACCEPTED, None, id="accepted as before"),
        pytest.param(ENUM, ENUM, None, id="refused as before"),
        pytest.param(ENUM, ELSEWHERE, None, id="another place of the same refusal"),
        pytest.param(ACCEPTED, ENUM, ("now refused", "ENUM", "/state"), id="now refused"),
        pytest.param(ENUM, ACCEPTED, ("now accepted", "ENUM", "/state"), id="now accepted"),
        pytest.param(ENUM, STALE, ("refused otherwise", "STALE", "/at"), id="refused otherwise"),
    ],
)
def test_an_answer_is_news_where_its_verdict_or_its_code_changed(
    was: Judged, would_be: Judged, change: tuple[str, str, str] | None
) -> None:
    tally = Tally()
    tally.add("one", was, would_be)
    found = [(key.change, key.code, key.pointer) for key in tally.groups]
    assert found == ([] if change is None else [change])
    assert tally.replayed == 1
    assert tally.accepted + tally.refused == (1 if change is None else 0)


@pytest.mark.requirement("LIF-4")
def test_items_of_an_array_are_one_place_with_few_examples() -> None:
    tally = Tally()
    for number in range(9):
        tally.add(f"req {number}", ACCEPTED, Judged(False, "conform", "TYPE", f"/jobs/{number}/id"))
    ((key, (count, examples)),) = tally.groups.items()
    assert (key.pointer, count) == ("/jobs/*/id", 9)
    assert examples == tuple(f"req {number}" for number in range(MAX_EXAMPLES))


@pytest.mark.requirement("LIF-4")
def test_names_that_the_other_side_chose_do_not_make_groups_without_end() -> None:
    tally = Tally()
    for number in range(MAX_GROUPS + 50):
        tally.add("x", ACCEPTED, Judged(False, "conform", "UNEXPECTED", f"/n{number}"))
    assert len(tally.groups) == MAX_GROUPS + 1
    assert [count for key, (count, _) in tally.groups.items() if key.pointer == OTHER_PLACES] == [
        50
    ]
    assert sum(tally.total().values()) == MAX_GROUPS + 50


@pytest.mark.requirement("LIF-4")
def test_what_processes_count_apart_is_the_count_of_all() -> None:
    verdicts = [(ACCEPTED, ACCEPTED), (ACCEPTED, ENUM), (ENUM, ACCEPTED), (ENUM, ENUM)] * 3
    whole, first, second = Tally(), Tally(), Tally()
    for number, (was, would_be) in enumerate(verdicts):
        whole.add(str(number), was, would_be)
        (first if number < 6 else second).add(str(number), was, would_be)
    first.merge(second)
    assert first == whole
