"""Names that were released and went: they stay taken, or whoever knew them is misled (B2, row 10).

A tombstone is a row of ``removed`` in the contract. A removal asks for one; each later version
keeps it; a name that comes back breaks whoever still reads or writes it by its old meaning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, TypeAlias

from sluicegate.contracts.contract import Contract
from sluicegate.contracts.schemas.members import TooManyMembersError, list_members
from sluicegate.lifecycle.diff.changes import Difference, Role, seal
from sluicegate.values.json import JsonObject
from sluicegate.values.names import show_name
from sluicegate.values.pointers import Pointer, escape_segment

_SideName: TypeAlias = Literal["arguments", "result"]
_SIDES: Final[tuple[_SideName, ...]] = ("arguments", "result")


def find_tombstone_differences(old: Contract, new: Contract) -> Iterator[tuple[Role, Difference]]:
    """Yield what became of names: reused, kept no longer, left free, or kept from now on."""
    for side in _SIDES:
        try:
            was, is_ = (list_members(_schema(each, side)) for each in (old, new))
        except TooManyMembersError:
            if _schema(old, side) != _schema(new, side):
                sealed = seal(_schema(old, side), _schema(new, side))
                yield (
                    side,
                    Difference(kind="names-not-compared", pointer=f"/{side}/schema", sealed=sealed),
                )
            continue
        kept, keeps = _tombstones(old, side), _tombstones(new, side)
        for pointer in sorted(kept, key=str):
            if pointer in is_:
                yield side, _reused(side, pointer, f"removed with {kept[pointer]}")
            elif not _is_kept(pointer, keeps):
                yield (
                    side,
                    Difference(
                        kind="tombstone-removed",
                        pointer=f"/removed/{side}/{escape_segment(pointer.text)}",
                        within="old",
                        old=show_name(pointer.text),
                        sealed=seal(pointer.text, kept[pointer]),
                    ),
                )
        for pointer in sorted(keeps, key=str):
            if kept.get(pointer) != keeps[pointer]:
                yield (
                    side,
                    Difference(
                        kind="tombstone-added",
                        pointer=f"/removed/{side}/{escape_segment(pointer.text)}",
                        old=kept.get(pointer, ""),
                        new=f"{show_name(pointer.text)} went with {keeps[pointer]}",
                        sealed=seal(kept.get(pointer), [pointer.text, keeps[pointer]]),
                    ),
                )
        for pointer in _outermost(was - is_):
            if not _is_kept(pointer, keeps):
                yield (
                    side,
                    Difference(
                        kind="tombstone-missing",
                        pointer=f"/{side}/schema",
                        old=show_name(pointer.text),
                        sealed=seal(pointer.text, None),
                    ),
                )


def find_returning(
    older: Iterable[tuple[str, JsonObject]], before: Contract, new: Contract
) -> Iterator[tuple[Role, Difference]]:
    """Yield the names of ``new`` that stood in an older release and not in the last, ``before``.

    ``older`` are versions with their frozen documents. Names that ``before`` keeps a tombstone of
    are left out: the comparison with it tells of them.
    """
    frozen = list(older)
    for side in _SIDES:
        try:
            come = list_members(_schema(new, side)) - list_members(_schema(before, side))
        except TooManyMembersError:
            continue  # the comparison with ``before`` says so
        come -= _tombstones(before, side).keys()
        met: set[Pointer] = set()
        for version, document in frozen if come else ():
            try:
                again = list_members(_written(document, side)) & come - met
            except TooManyMembersError:
                yield (
                    side,
                    Difference(
                        kind="names-not-compared",
                        pointer="",
                        within="old",
                        sealed=seal([version, _written(document, side)], _schema(new, side)),
                    ),
                )
                continue
            for pointer in _outermost(again):
                yield side, _reused(side, pointer, f"stood in {version}")
            met |= again


def _reused(side: _SideName, pointer: Pointer, old: str) -> Difference:
    return Difference(
        kind="removed-name-reused",
        pointer=f"/{side}/schema",
        old=old,
        new=show_name(pointer.text),
        sealed=seal(old, pointer.text),
    )


def _schema(contract: Contract, side: _SideName) -> JsonObject:
    part = contract.arguments if side == "arguments" else contract.result
    return part.schema.document


def _written(document: JsonObject, side: _SideName) -> JsonObject:
    part = document.get(side)
    schema = part.get("schema") if isinstance(part, Mapping) else None
    return schema if isinstance(schema, Mapping) else {}


def _tombstones(contract: Contract, side: _SideName) -> Mapping[Pointer, str]:
    return contract.removed.arguments if side == "arguments" else contract.removed.result


def _is_kept(pointer: Pointer, keeps: Mapping[Pointer, str]) -> bool:
    """Whether a tombstone stands for the name, or for something that it stood in."""
    return any(kept.covers(pointer) for kept in keeps)


def _outermost(pointers: frozenset[Pointer]) -> list[Pointer]:
    """Return the pointers below no other of them, in order."""
    kept = [
        pointer
        for pointer in pointers
        if not any(part in pointers for part in _way(pointer) if part != pointer)
    ]
    return sorted(kept, key=str)


def _way(pointer: Pointer) -> Iterator[Pointer]:
    for depth in range(1, len(pointer.segments) + 1):
        yield Pointer(pointer.segments[:depth])
