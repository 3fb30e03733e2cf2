"""What the YAML scanner met, in words that say how to mend it (SPEC CON-1)."""

from __future__ import annotations

import re
from typing import Final

from ruamel.yaml.error import MarkedYAMLError

from sluicegate.contracts.marks import Mark

_VALUE: Final = re.compile(r"[\s-]*+[^:\s][^:]*+:\s++(\S)")
"""The first character of the plain value on a line ``name: value``."""

_QUOTES: Final = "\"'"
_OTHERWISE: Final = (
    "Mend the text here; a text with other characters than letters, digits and blanks is best put "
    "into quotation marks."
)
_INDENT: Final = (
    "Indent this line with as many blanks as those beside it; a text that goes on over lines is "
    "put into quotation marks."
)


def explain_fault(text: str, error: MarkedYAMLError) -> tuple[str, Mark | None]:
    """Return how to mend what ``error`` met in ``text``, and where: line and column from 1.

    A quotation mark or bracket that is not closed is told where it opens, not where the text ends.
    """
    at = error.problem_mark or error.context_mark
    if at is None:
        return _OTHERWISE, None
    problem, context = str(error.problem), str(error.context)
    opened = error.context_mark
    if opened is not None and "end of stream" in problem and "quoted scalar" in context:
        return "Close the quotation mark that opens here.", (opened.line + 1, opened.column + 1)
    if opened is not None and "<stream end>" in problem and "flow" in context:
        return "Close the bracket that opens here.", (opened.line + 1, opened.column + 1)
    if opened is not None and problem.startswith("could not find expected ':'"):
        mend = "Write `name: value`, with a blank behind the colon."
        return mend, (opened.line + 1, opened.column + 1)
    lines = text.split("\n")
    line = lines[at.line] if at.line < len(lines) else ""
    return _explain_line(problem, context, line, at.column), (at.line + 1, at.column + 1)


def _explain_line(problem: str, context: str, line: str, column: int) -> str:
    before, here = line[:column], line[column : column + 1]
    begins = _VALUE.match(line)
    first = begins[1] if begins is not None and begins.start(1) <= column else ""
    if "\t" in line[: len(line) - len(line.lstrip())] or here == "\t":
        return "Indent with blanks; a tab is none."
    if "unknown escape" in problem:
        return "Write `\\\\` for a backslash, or take single quotation marks."
    if "cannot start any token" in problem:
        return f"Put the text into quotation marks: a plain one cannot begin with `{here}`."
    if "alphabetic or numeric" in problem and "alias" in context:
        return 'Put it into quotation marks: "*".'
    if "chomping or indentation" in problem:
        return "Begin the text on the next line."
    if "flow" in context:
        return (
            "Put the text into quotation marks if it holds `[`, `]`, `{`, `}` or `,`; else put "
            "commas between the members and close the bracket."
        )
    if first and first in _QUOTES and "<block end>" in problem:
        return f"Write nothing behind the closing `{first}`; inside, write it as {_twice(first)}."
    if first and first in "[{" and "<block end>" in problem:
        return f"Put the whole text into quotation marks: a plain one cannot begin with `{first}`."
    if "mapping values" in problem and _VALUE.match(before + "x"):
        return "Put the text into quotation marks: a plain one cannot hold `: `."
    if "mapping values" in problem or "<block end>" in problem or "not allowed here" in problem:
        return _INDENT
    return _OTHERWISE


def _twice(quote: str) -> str:
    return '`\\"`' if quote == '"' else "`''`"
