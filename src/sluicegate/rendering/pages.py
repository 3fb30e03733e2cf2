"""The pages of the codes: a head made from the code table, and a runbook written by hand."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from sluicegate.gates.refusing import fail, refuse
from sluicegate.rendering.paint import PLAIN, Paint
from sluicegate.values.codes import CodeEntry, Side
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import RequestId

_NOBODY: Final = RequestId("none.none")


def header_of(entry: CodeEntry) -> str:
    """Return the head of a page, every line of it from the table; it ends with a line feed.

    A test holds each page to it, so a changed table cannot leave a page behind.
    """
    stages = ", ".join(sorted(entry.stages))
    return (
        f"# {entry.code}\n\n{entry.summary}\n\n"
        f"- stage: {stages}\n"
        f"- side: {entry.side}\n"
        f"- who acts: {entry.actor}\n"
        f"- the agent sees: {what_the_agent_sees(entry)}\n"
    )


def what_the_agent_sees(entry: CodeEntry) -> str:
    """Return in one sentence what becomes of the code before the model.

    It is asked of the very functions that answer the model, so it cannot differ from them.
    """
    if entry.side is Side.OPERATOR:
        return "nothing; it is for the operator alone"
    if entry.side is Side.LOAD:
        return f"refused {entry.before} when it calls a tool that is not served for this reason"
    parts = []
    if entry.side in (Side.CALL, Side.BOTH):
        parts.append(_refused(entry))
    if entry.side in (Side.RESULT, Side.BOTH):
        parts.append(_failed(entry))
    return "; ".join(parts)


def _refused(entry: CodeEntry) -> str:
    shown = refuse(_rejected(entry), tool="", request_id=_NOBODY)
    return f"refused {shown.code} ({_retryable(shown.retryable)}) before anything runs"


def _failed(entry: CodeEntry) -> str:
    rejected = _rejected(entry)
    shown = fail(rejected, tool="", request_id=_NOBODY, errors={}, outcome_open=False)
    text = f"failure {shown.code} ({_retryable(shown.retryable)}) once something ran"
    open_write = fail(rejected, tool="", request_id=_NOBODY, errors={}, outcome_open=True)
    if open_write.code != shown.code:
        text += f", {open_write.code} for a write"
    return text + (", or the contract's mapped code" if entry.mappable else "")


def _rejected(entry: CodeEntry) -> Rejected:
    return Rejected(stage=min(entry.stages), code=entry.code)


def _retryable(retryable: bool) -> str:
    return "retryable" if retryable else "not retryable"


def read_page(code: str) -> str:
    """Return the page of ``code`` as Markdown. Raises: FileNotFoundError for no such page."""
    page = files("sluicegate.rendering").joinpath("codes", f"{code}.md")
    return page.read_text(encoding="utf-8")


def paint_page(page: str, paint: Paint = PLAIN) -> str:
    """Return a page for a terminal: headings painted, the text as it stands."""
    return "".join(
        (paint.strong(line) if line.startswith("#") else line) + "\n" for line in page.splitlines()
    )
