"""A contract that says it is a draft does not load, and names every open question."""

from __future__ import annotations

import pytest
from tests.unit.contracts.folders import problems

pytestmark = pytest.mark.requirement("LIF-6")

DRAFT = ("/draft", "This contract is a draft, and a draft is never served.")


@pytest.mark.parametrize(
    ("draft", "told"),
    [
        (
            ["owner: who?", "bind\x1b[2J: what?"],
            [
                DRAFT,
                ("/draft/0", "Still to decide: owner: who?"),
                ("/draft/1", "Still to decide: bind\\u001b[2J: what?"),
            ],
        ),
        ([], [DRAFT]),
    ],
    ids=["questions", "none left"],
)
def test_a_draft_is_refused_question_by_question(
    draft: object, told: list[tuple[str, str]]
) -> None:
    found = problems({"draft": draft})
    shown = {(each.pointer, each.message[:1].upper() + each.message[1:]) for each in found}
    assert shown == set(told)


def test_a_draft_that_is_no_list_is_refused() -> None:
    assert {each.pointer for each in problems({"draft": True})} == {"/draft"}
