"""Lines for problems that were found behind the reading of their documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from sluicegate.contracts.marks import Document
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.yaml_reading import read_document
from sluicegate.opening.documents import read_inside


def locate(problems: Iterable[Problem], root: Path) -> Iterator[Problem]:
    """Yield ``problems``, with line and column where one names a place in a document of ``root``.

    What two contracts make wrong together, or what a contract names and is not there, is found when
    nobody holds the text any more.
    """
    for problem in problems:
        found = None
        if problem.line is None and problem.pointer:
            found = _find_mark(problem, root)
        yield problem if found is None else replace(problem, line=found[0], column=found[1])


def _find_mark(problem: Problem, root: Path) -> tuple[int, int] | None:
    content = read_inside(root, root / problem.document)
    if not isinstance(content, bytes):
        return None
    document = read_document(problem.document, content)
    if not isinstance(document, Document):
        return None
    marks = document.marks
    return (marks.of_value if problem.at_value else marks.of_key)(problem.pointer)
