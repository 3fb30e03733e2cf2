"""What an import tells a person: the same thing of many tools once, counted, with their names.

The contracts and json-v1 hold every question of every tool; a terminal that repeats them a hundred
times is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from sluicegate.contracts.problems import Problem
from sluicegate.lifecycle.importing.blueprint import Decision
from sluicegate.lifecycle.importing.drafts import Draft
from sluicegate.values.names import show_name

_MAX_NAMED: Final = 8
_ALIKE: Final = 3
"""Faults of one kind are told one by one up to here."""

_NAMED: Final = re.compile(r"`[^`]*`|^the \w+ schema of .*?: ")


def tell_decisions(drafts: Sequence[Draft], folder: Path) -> Iterator[str]:
    """Yield one line a question; one that several drafts have in common is told of all of them."""
    groups: dict[tuple[str, str], dict[str, list[Decision]]] = {}
    for each in drafts:
        for decision in each.decisions:
            mark = "decide" if decision in each.open else "default taken"
            key = (mark, decision.topic or decision.question)
            groups.setdefault(key, {}).setdefault(each.tool, []).append(decision)
    for (mark, topic), asked in groups.items():
        if len(asked) > 1:
            yield f"{folder}: {mark}, {_count(list(asked), len(drafts))}: {_shared(topic, asked)}"
            continue
        for tool, decisions in asked.items():
            for decision in decisions:
                yield f"{folder / tool / 'contract.yaml'}: {mark}: {decision.question}"


def tell_left_out(problems: Sequence[Problem]) -> Iterator[str]:
    """Yield one line a tool that was left out; of many for one reason, the first and the rest."""
    groups: dict[tuple[str, str, str], list[Problem]] = {}
    for each in problems:
        key = (each.code, _NAMED.sub("`", each.message), each.mend)
        groups.setdefault(key, []).append(each)
    for alike in groups.values():
        told = len(alike) if len(alike) <= _ALIKE else 1
        for each in alike[:told]:
            yield f"{each} Left out: {each.pointer}"
        rest = alike[told:]
        if rest:
            places = [f"{each.pointer} (line {each.line})" for each in rest]
            yield (
                f"{alike[0].document}: {alike[0].code}: left out for the same reason, {len(rest)}"
                f" more: {_list(places)}"
            )


def _count(tools: Sequence[str], of: int) -> str:
    if len(tools) == of:
        return f"all {of} contracts"
    return f"{len(tools)} of {of} contracts ({_list(list(map(show_name, tools)))})"


def _shared(topic: str, asked: dict[str, list[Decision]]) -> str:
    """The question in the words that all have, and what each adds only where it is the same."""
    questions = {each.question for decisions in asked.values() for each in decisions}
    return questions.pop() if len(questions) == 1 else f"{topic} … (see each contract.yaml)"


def _list(texts: Sequence[str]) -> str:
    rest = len(texts) - _MAX_NAMED
    shown = ", ".join(texts[:_MAX_NAMED])
    return f"{shown} and {rest} more" if rest > 0 else shown
