"""``serve`` of sluicegate.yaml → rows by tool: which version is served to whom (SPEC 2, LIF-3).

Whether the tools and versions are there is judged where released files are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Final

from sluicegate.contracts.near_names import member_of, read_members
from sluicegate.contracts.places import Place
from sluicegate.contracts.settings import WHOLE_SHARE, ServeRow
from sluicegate.contracts.versions import CURRENT, VERSION
from sluicegate.values.names import show_name

_WANTED_VERSION: Final = f"a released version such as 1.0.0, or `{CURRENT}`"
_EVERYBODY: Final = "*"


def read_serve(place: Place | None) -> dict[str, tuple[ServeRow, ...]]:
    """Return the rows of each tool; what is at fault is noted, and its tool has none."""
    entries = place.entries() if place is not None else None
    served = {}
    for tool, inner in (entries or {}).items():
        rows = _read_rows(inner)
        if rows:
            served[tool] = rows
    return served


def _read_rows(place: Place) -> tuple[ServeRow, ...]:
    items = place.items()
    if items is None:
        return ()
    if not items:
        place.fault(
            f"`{place.name}` names no version.", "Name one, or remove the tool from `serve`."
        )
        return ()
    read = [(item, _read_row(item)) for item in items]
    rows = [(item, row) for item, row in read if row is not None]
    if len(rows) < len(read):
        return ()
    before = len(place.problems)
    _refuse_twice(rows)
    whole = _divide(place, rows)
    return whole if len(place.problems) == before else ()


def _read_row(place: Place) -> ServeRow | None:
    before = len(place.problems)
    members = read_members(place, "serve row", ("version",)) or {}
    version = None
    if "version" in members:
        version = members["version"].text(f"{CURRENT}|{VERSION}", _WANTED_VERSION)
    share = _read_share(members["share"]) if "share" in members else None
    callers: frozenset[str] = frozenset()
    if "callers" in members:
        callers = frozenset(members["callers"].texts())
        if not callers and len(place.problems) == before:
            members["callers"].fault("`callers` names nobody.", "Name a caller, or remove it.")
        if _EVERYBODY in callers:
            members["callers"].fault(
                "`*` is no caller here.", "Leave `callers` out: the row is then for all others."
            )
    if version is None or len(place.problems) > before:
        return None
    return ServeRow(version=version, share=share, callers=callers)


def _read_share(place: Place) -> int | None:
    """A share in millionths, read exactly as it is written: 0.1 is a hundred thousand."""
    value = place.value
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        share = Decimal(str(value)) * WHOLE_SHARE
        if share == share.to_integral_value():
            return int(share)
    place.fault(
        f"`{place.name}` must be a number from 0 to 1 with up to six decimals.",
        "Write a share such as 0.1, without quotation marks.",
    )
    return None


def _refuse_twice(rows: Sequence[tuple[Place, ServeRow]]) -> None:
    versions: set[str] = set()
    callers: set[str] = set()
    for place, row in rows:
        if row.version in versions:
            member_of(place, "serve row", "version").fault(
                f"`{row.version}` stands here twice.",
                "Keep one row a version; it may have a share and callers.",
            )
        for caller in sorted(callers & row.callers):
            member_of(place, "serve row", "callers").fault(
                f"`{show_name(caller)}` is a caller of a row before this one.",
                "Keep each caller in one row.",
            )
        versions.add(row.version)
        callers |= row.callers


def _divide(place: Place, rows: Sequence[tuple[Place, ServeRow]]) -> tuple[ServeRow, ...]:
    """See that every caller has one version; the one row for all others has the whole share."""
    shared = [row.share for _, row in rows if row.share is not None]
    rest = [item for item, row in rows if row.share is None and not row.callers]
    if shared:
        for item in rest:
            item.fault("this row has no share, and others have.", "Give it a share, or callers.")
        if not rest and sum(shared) != WHOLE_SHARE:
            place.fault(
                f"the shares of `{place.name}` add up to {_spell(shared)}, not to 1.",
                "Make them add up to 1, so that every caller has one version.",
            )
    elif not rest:
        place.fault(
            f"`{place.name}` is served to the callers of its rows alone.",
            "Add a row without `callers` for all others.",
        )
    for item in rest[1:] if not shared else ():
        item.fault("a row before this one is for all others.", "Give both rows a share.")
    return tuple(
        ServeRow(
            version=row.version,
            share=WHOLE_SHARE if row.share is None and not row.callers else row.share or 0,
            callers=row.callers,
        )
        for _, row in rows
    )


def _spell(shares: Iterable[int]) -> str:
    return f"{(Decimal(sum(shares)) / WHOLE_SHARE).normalize():f}"
