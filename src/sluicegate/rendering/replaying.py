"""What a replay found: a table for a person, a report for programs and GitHub."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sluicegate.rendering.counting import count_of
from sluicegate.rendering.escaping import escape_terminal
from sluicegate.rendering.paint import PLAIN, Paint
from sluicegate.rendering.reports import Item, Report, Severity
from sluicegate.values.digests import digest_of_json
from sluicegate.values.json import JsonValue

_SEVERITIES: Final[Mapping[str, Severity]] = {
    "now refused": "error",
    "now accepted": "error",
    "refused otherwise": "info",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Matter:
    """Answers that changed alike; ``examples`` are names of a few of them."""

    change: str
    was: str
    would_be: str
    stage: str
    code: str
    pointer: str
    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedTool:
    """``accepted`` and ``refused`` count what stays as it was; ``left_out`` what was not judged.

    ``checked``: whether what was judged says anything of the version. Where accepted answers were
    left out and none was judged, answers that stay refused do not.
    ``file`` is the document of the version that judged: code scanning shows what has a file.
    """

    tool: str
    against: str
    file: str
    replayed: int
    accepted: int
    refused: int
    matters: tuple[Matter, ...]
    left_out: Mapping[str, int]
    checked: bool = True


def render_replay(found: ReplayedTool, *, paint: Paint = PLAIN) -> str:
    """Return one line a matter, the most frequent first, and what stayed and was left out."""
    lines = []
    for matter in found.matters:
        is_news = _SEVERITIES[matter.change] == "error"
        place = f" at {matter.pointer}" if matter.pointer else ""
        head = escape_terminal(
            f"{matter.count:>7}  {matter.change}: {matter.was} -> {matter.would_be}{place}"
        )
        lines.append(paint.bad(head) if is_news else paint.dim(head))
        lines.append(escape_terminal(f"         as {', '.join(matter.examples)}"))
    lines.append(escape_terminal(_summarize(found)))
    lines += [
        escape_terminal(f"{count} left out: {why}") for why, count in sorted(found.left_out.items())
    ]
    return "\n".join(lines) + "\n"


def _summarize(found: ReplayedTool) -> str:
    return (
        f"{found.tool} against {found.against}: {count_of(found.replayed, 'answer')} judged"
        f" again, {found.accepted} accepted and {found.refused} refused as before"
    )


def report_replay(found: ReplayedTool) -> Report:
    """Return the report that every other reader is served from."""
    return Report(
        command="replay",
        verdict="changed" if any(_is_error(each) for each in found.matters) else "unchanged",
        items=tuple(_item(found, matter) for matter in found.matters),
        checked=found.replayed,
        summary=_summarize(found),
        cases=(found.tool,) if found.replayed and found.checked else (),
        facts={
            "tool": found.tool,
            "against": found.against,
            "accepted_as_before": found.accepted,
            "refused_as_before": found.refused,
            "groups": shape_matters(found.matters),
            "left_out": dict(found.left_out),
        },
    )


def shape_matters(matters: Sequence[Matter]) -> list[JsonValue]:
    """Return the groups as JSON objects with the members of ``Matter``."""
    return [
        {
            "change": each.change,
            "was": each.was,
            "would_be": each.would_be,
            "stage": each.stage,
            "code": each.code,
            "pointer": each.pointer,
            "count": each.count,
            "examples": list(each.examples),
        }
        for each in matters
    ]


def _is_error(matter: Matter) -> bool:
    return _SEVERITIES[matter.change] == "error"


def _item(found: ReplayedTool, matter: Matter) -> Item:
    place = f" at {matter.pointer}" if matter.pointer else ""
    return Item(
        rule=matter.code,
        name=matter.change.replace(" ", "-"),
        severity=_SEVERITIES[matter.change],
        message=f"{count_of(matter.count, 'answer')} of {found.tool}: {matter.was} ->"
        f" {matter.would_be}{place}",
        file=found.file,
        pointer=matter.pointer,
        line=None,
        column=None,
        why=f"as {', '.join(matter.examples)}",
        # One code at one pointer can be news in both directions.
        fingerprint=str(digest_of_json([found.tool, matter.was, matter.would_be, matter.pointer])),
        count=matter.count,
        tool=found.tool,
        group=found.tool,
    )
