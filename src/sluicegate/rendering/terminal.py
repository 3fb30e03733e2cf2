"""For a person at a terminal: file, line and column, the source line, a caret, and the way on."""

from __future__ import annotations

from typing import Final

from sluicegate.gates.ports import AnchorReport, ChainReport
from sluicegate.gates.verdicts import Verdict
from sluicegate.rendering.counting import count_of
from sluicegate.rendering.escaping import escape_terminal
from sluicegate.rendering.paint import PLAIN, Paint
from sluicegate.rendering.places import Excerpt, Source, excerpt, place_findings
from sluicegate.rendering.spans import Span
from sluicegate.values.codes import Code
from sluicegate.values.findings import Finding

DEFAULT_WIDTH: Final = 100
_MIN_SOURCE_WIDTH: Final = 20
_INDENT: Final = "  "


def render_verdict(
    verdict: Verdict, source: Source, *, paint: Paint = PLAIN, width: int = DEFAULT_WIDTH
) -> str:
    """Return the verdict in the style of a compiler; it ends with a line feed.

    ``source`` is the text that the findings are about: the document, or the schema when the
    verdict stopped at ``register``. Names and source lines are escaped; values are shown as they
    stand in the person's own file, one line of it.
    """
    name = escape_terminal(source.name)
    if verdict.accepted:
        return f"{paint.place(name)}: {paint.good('ACCEPTED')}  {paint.dim(verdict.digest)}\n"
    spans = place_findings(source, verdict.findings)
    blocks = [
        _finding_block(finding, span, source, paint=paint, width=width)
        for finding, span in zip(verdict.findings, spans, strict=True)
    ]
    count = count_of(len(verdict.findings), "finding")
    summary = (
        f"{paint.bad('REJECTED')} at {verdict.stage} with {verdict.code}: "
        f"{count}  {paint.dim(verdict.digest)}\n"
    )
    return "\n".join([*blocks, summary])


def _finding_block(
    finding: Finding, span: Span | None, source: Source, *, paint: Paint, width: int
) -> str:
    where = _where(source.name, finding, span)
    lines = [f"{paint.place(where)}: {paint.bad(str(finding.code))}"]
    says = escape_terminal(spell_expectation(finding))
    if span is not None and source.raw is not None:
        number = len(str(span.line))
        room = max(width - number - len(_INDENT) - 3, _MIN_SOURCE_WIDTH)
        lines += _excerpt_lines(excerpt(source.raw, span, room), says, paint)
    elif says:
        lines.append(_INDENT + says)
    lines.append(_INDENT + _pointers(finding, source))
    if finding.hint is not None:
        lines.append(f"{_INDENT}hint: {escape_terminal(finding.hint)}")
    lines.append(_INDENT + paint.dim(how_to_explain(finding.code)))
    return "\n".join(lines) + "\n"


def _excerpt_lines(shown: Excerpt, says: str, paint: Paint) -> list[str]:
    number = str(shown.line)
    blank = " " * len(number)
    caret = paint.bad("^" * shown.marked)
    return [
        f"{_INDENT}{paint.place(f'{number} |')} {shown.text}",
        f"{_INDENT}{paint.place(f'{blank} |')} {' ' * shown.indent}{caret} {says}".rstrip(),
    ]


def spell_expectation(finding: Finding) -> str:
    """Return what was expected and of which type and size the received was; not yet escaped."""
    parts = []
    if finding.expected is not None:
        parts.append(f"expected {finding.expected}")
    if finding.received is not None:
        received = f"received {finding.received}"
        if finding.received_size is not None:
            received += f" of size {finding.received_size}"
        parts.append(received)
    return ", ".join(parts)


def _pointers(finding: Finding, source: Source) -> str:
    places = []
    if not source.of_schema:
        places.append(f"at {escape_terminal(finding.pointer) or '(the whole document)'}")
    if finding.schema_pointer is not None:
        places.append(f"rule {escape_terminal(finding.schema_pointer) or '(the whole schema)'}")
    return "   ".join(places) or "at (the whole schema)"


def _where(name: str, finding: Finding, span: Span | None) -> str:
    line = finding.line if span is None else span.line
    column = finding.column if span is None else span.column
    shown = escape_terminal(name)
    return shown if line is None else f"{shown}:{line}:{column or 1}"


def how_to_explain(code: Code) -> str:
    """Return the line that tells where the runbook of ``code`` stands."""
    return f"sluicegate explain {code}"


def render_chain(report: ChainReport, anchor: AnchorReport | None, *, paint: Paint = PLAIN) -> str:
    """Return the outcome of verifying the record: two lines for its links, two for its heads.

    No event is not intact, and neither is a whole chain that its signed heads show to be another,
    or whose columns were not recomputed.
    """
    vouched = report.keyed and (anchor is None or anchor.problem is None)
    links = _links(report, vouched=vouched, paint=paint)
    return links if anchor is None else links + _heads(anchor, paint)


def _links(report: ChainReport, *, vouched: bool, paint: Paint) -> str:
    if report.broken_at is None and not report.events:
        return f"{paint.warn('EMPTY')}  0 events: nothing was checked\n"
    if report.broken_at is None:
        word = paint.good("INTACT") if vouched else paint.warn("LINKED")
        return f"{word}  {count_of(report.events, 'event')}  {paint.dim(report.head)}\n"
    problem = escape_terminal(report.problem or "the event does not fit the chain")
    return (
        f"{paint.bad('CHAIN_BROKEN')} at event {report.broken_at}: {problem}\n"
        f"{_INDENT}{paint.dim(how_to_explain(Code.CHAIN_BROKEN))}\n"
    )


def _heads(report: AnchorReport, paint: Paint) -> str:
    if report.problem is None and report.signed_seq is None:
        return f"{paint.warn('UNSIGNED')}  the heads name no event\n"
    if report.problem is None:
        signed = f"event {report.signed_seq} was signed at {report.signed_at}"
        heads = count_of(report.heads, "head")
        return f"{paint.good('SIGNED')}  {heads}  {paint.dim(escape_terminal(signed))}\n"
    problem = escape_terminal(report.problem)
    if report.code is None:
        return f"{paint.bad('HEADS')}  {problem}\n"
    return (
        f"{paint.bad(str(report.code))} at event {report.broken_at}: {problem}\n"
        f"{_INDENT}{paint.dim(how_to_explain(report.code))}\n"
    )
