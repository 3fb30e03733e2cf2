"""Where a finding stands in the text it is about: its span, and the line it is shown in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sluicegate.rendering.escaping import defuse_old_command, show_cells
from sluicegate.rendering.spans import Place, Span, locate_all, span_at
from sluicegate.values.codes import Code
from sluicegate.values.findings import Finding
from sluicegate.values.limits import ENGINE_MAX_DEPTH

_ABOUT_NAMES: Final = frozenset({Code.UNEXPECTED, Code.MISNAMED})
_WINDOW_BYTES: Final = 1024
_DEEPEST: Final = ENGINE_MAX_DEPTH + 2
_CUT: Final = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A text that findings are about. ``raw`` None: it cannot be walked, only its name is shown.

    ``of_schema``: it is the schema that did not register, so schema pointers lead into it.
    """

    name: str
    raw: bytes | None
    of_schema: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """One line of a source, escaped and cut: ``indent`` and ``marked`` count cells."""

    line: int
    text: str
    indent: int
    marked: int


def place_findings(source: Source, findings: Sequence[Finding]) -> tuple[Span | None, ...]:
    """Return the span of each finding; where nothing stands at its pointer, its nearest parent.

    A finding that brings its own offset keeps it. A member that is absent is marked at the
    opening of the object that lacks it; a wrong name is marked at the name.
    """
    raw = source.raw
    if raw is None:
        return (None,) * len(findings)
    pointers = [
        (finding.schema_pointer or "") if source.of_schema else finding.pointer
        for finding in findings
    ]
    wanted = {text for pointer in pointers for text in _with_parents(pointer)}
    places = locate_all(raw, sorted(wanted))
    return tuple(
        _place(raw, finding, pointer, places)
        for finding, pointer in zip(findings, pointers, strict=True)
    )


def place_pointers(raw: bytes, pointers: Sequence[str]) -> dict[str, Span]:
    """Return the span of each pointer; where nothing stands there, the opening of what is around.

    The whole document stands for nothing that is absent: what the pointer means may be elsewhere.
    """
    wanted = {text for pointer in pointers for text in _with_parents(pointer)}
    places = locate_all(raw, sorted(wanted))
    found = {}
    for pointer in pointers:
        for nearest in _with_parents(pointer):
            place = places.get(nearest)
            if place is None or (nearest == "" and pointer.count("/") > 1):
                continue
            exact = nearest == pointer
            found[pointer] = place.value if exact else span_at(raw, place.value.offset, 1)
            break
    return found


def _with_parents(pointer: str) -> list[str]:
    segments = pointer.split("/")
    if len(segments) > _DEEPEST:  # no finding leads there, and its parents would fill the memory
        return [pointer, ""]
    return ["/".join(segments[:count]) for count in range(len(segments), 0, -1)]


def _place(raw: bytes, finding: Finding, pointer: str, places: dict[str, Place]) -> Span | None:
    if finding.offset is not None:
        return span_at(raw, finding.offset, 1)
    for nearest in _with_parents(pointer):
        place = places.get(nearest)
        if place is None:
            continue
        if nearest != pointer:
            return span_at(raw, place.value.offset, 1)
        if finding.code in _ABOUT_NAMES and place.key is not None:
            return place.key
        return place.value
    return None


def excerpt(raw: bytes, span: Span, width: int) -> Excerpt:
    """Return the line of ``span``, at most ``width`` cells of it, with the span inside.

    A span over several lines is marked up to the end of its first one.
    """
    start = span.offset - span.column + 1
    end = raw.find(b"\n", span.offset)
    end = len(raw) if end < 0 else end
    if end > span.offset and raw[end - 1 : end] == b"\r":
        end -= 1
    stop = min(span.offset + span.length, end)
    first = max(start, span.offset - _WINDOW_BYTES)
    last = min(end, stop + _WINDOW_BYTES)
    before, before_cells = _shown(raw[_to_boundary(raw, first, span.offset) : span.offset])
    marked, marked_cells = _shown(raw[span.offset : min(stop, span.offset + _WINDOW_BYTES)])
    after, after_cells = _shown(raw[stop:last])
    before, indent = _keep_end(before, before_cells, width // 2, cut=first > start)
    marked, length = _keep_start(marked, marked_cells, width - indent, cut=False)
    after, _ = _keep_start(after, after_cells, max(width - indent - length, 0), cut=last < end)
    text = defuse_old_command(before + marked + after)
    return Excerpt(line=span.line, text=text, indent=indent, marked=max(length, 1))


def _to_boundary(raw: bytes, first: int, limit: int) -> int:
    """A window must not begin inside a character: step over continuation bytes."""
    while first < limit and raw[first] & 0xC0 == 0x80:
        first += 1
    return first


def _shown(piece: bytes) -> tuple[str, tuple[int, ...]]:
    return show_cells(piece.decode("utf-8", "replace"))


def _keep_start(text: str, cells: tuple[int, ...], width: int, *, cut: bool) -> tuple[str, int]:
    total = sum(cells)
    if total <= width and not cut:
        return text, total
    used = kept = 0
    while kept < len(cells) and used + cells[kept] <= width - 1:
        used += cells[kept]
        kept += 1
    if width < 1:
        return "", 0
    return text[:kept] + _CUT, used + 1


def _keep_end(text: str, cells: tuple[int, ...], width: int, *, cut: bool) -> tuple[str, int]:
    kept, used = _keep_start(text[::-1], cells[::-1], width, cut=cut)
    return kept[::-1], used
