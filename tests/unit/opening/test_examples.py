"""So many examples a side: each side is counted by itself, and what is left out is told."""

from __future__ import annotations

from typing import Any

import pytest

from sluicegate.opening.examples import Example, limit_examples

NOTHING: Any = None


def example(side: str, name: str) -> Example:
    return Example(
        side=side,
        name=name,
        path=f"{side}/{name}.json",
        raw=b"{}",
        needs={},
        situation=NOTHING,
        accepted=NOTHING,
    )


@pytest.mark.requirement("LIF-2")
@pytest.mark.parametrize(
    ("arguments", "results", "kept", "beyond"),
    [
        (1, 1, ["arguments/0", "result/0"], {}),
        (2, 2, ["arguments/0", "arguments/1", "result/0", "result/1"], {}),
        (
            4,
            2,
            ["arguments/0", "arguments/1", "result/0", "result/1"],
            {"arguments": "arguments/2.json"},
        ),
        (
            1,
            3,
            ["arguments/0", "result/0", "result/1"],
            {"result": "result/2.json"},
        ),
        (
            3,
            3,
            ["arguments/0", "arguments/1", "result/0", "result/1"],
            {"arguments": "arguments/2.json", "result": "result/2.json"},
        ),
    ],
    ids=["room", "full", "cut arguments", "cut result", "both cut"],
)
def test_a_full_side_takes_no_room_from_the_other_and_what_is_left_out_is_told(
    arguments: int, results: int, kept: list[str], beyond: dict[str, str]
) -> None:
    every = [example("arguments", str(number)) for number in range(arguments)]
    every += [example("result", str(number)) for number in range(results)]
    limited = limit_examples(iter(every), 2)
    assert [f"{each.side}/{each.name}" for each in limited.examples] == kept
    assert limited.beyond == beyond
    for side in ("arguments", "result"):
        told = [f"fixtures from {beyond[side]} on"] if side in beyond else []
        assert limited.tell_untried(side) == told
