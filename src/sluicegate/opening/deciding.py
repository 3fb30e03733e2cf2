"""Questions about sets of values, answered in a child process that the kernel ends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from sluicegate.lifecycle.lint.sets import Question
from sluicegate.opening.children import run_child
from sluicegate.values.json import JsonObject, JsonValue

WALL_S: Final = 10.0
"""For one child; each question has 2 s of processor time in it."""

_CHILD: Final = Path(__file__).with_name("deciding_child.py")

MAX_CHILDREN: Final = 4
"""For one document; what is not answered by then is not known."""


def decide(document: JsonObject, questions: Sequence[Question]) -> tuple[JsonValue, ...]:
    """Answer each question about ``document``; null where the engine, or its limits, do not tell.

    A question that ends the child is not known, and the next child goes on behind it. Never raises
    for what the documents hold.
    """
    answers: list[JsonValue] = []
    for _ in range(MAX_CHILDREN):
        left = questions[len(answers) :]
        if not left:
            break
        ended = run_child(_CHILD, [document, *(asdict(question) for question in left)], WALL_S)
        answers.extend(json.loads(line) for line in ended.lines[: len(left)])
        if not ended.by_itself:
            break
        if len(answers) < len(questions):
            answers.append(None)
    return (*answers, *[None] * (len(questions) - len(answers)))
