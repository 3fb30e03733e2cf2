"""Questions about sets of values, answered in a child process that the kernel ends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Final

from sluicegate.lifecycle.lint.sets import Inquiry, Question
from sluicegate.opening.children import run_through
from sluicegate.values.json import JsonObject, JsonValue

WALL_S: Final = 10.0
"""For one child; each question has 2 s of processor time in it."""

_CHILD: Final = Path(__file__).with_name("deciding_child.py")

MAX_CHILDREN: Final = 8
"""For all documents of one run; what is not answered by then is not known."""


def decide(inquiries: Sequence[Inquiry]) -> tuple[tuple[JsonValue, ...], ...]:
    """Answer the questions about each document; null where the engine, or its limits, do not tell.

    One child does for all, unless a question ends it: that one is not known, and the next child
    goes on behind it. Never raises for what the documents hold.
    """
    wanted = [
        (inquiry.document, question) for inquiry in inquiries for question in inquiry.questions
    ]
    lines = run_through(_CHILD, wanted, WALL_S, most=MAX_CHILDREN, pack=_write_jobs)
    given = iter([None if line is None else json.loads(line) for line in lines])
    return tuple(tuple(next(given) for _ in inquiry.questions) for inquiry in inquiries)


def _write_jobs(wanted: Sequence[tuple[JsonObject, Question]]) -> list[JsonValue]:
    """Each document once, with the questions about it in their order."""
    groups = [list(group) for _, group in groupby(wanted, key=lambda pair: id(pair[0]))]
    return [
        {"document": pairs[0][0], "questions": [asdict(question) for _, question in pairs]}
        for pairs in groups
    ]
