"""Every place of an accepted value, with the view of the schema that it is held to there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sluicegate.contracts.schemas.formulas import is_extension
from sluicegate.contracts.schemas.keywords import Schema, schema_list
from sluicegate.lifecycle.mutants.views import View, Viewer
from sluicegate.values.json import JsonValue

_ITEMS: Final = 3
"""Items of one array, behind those that have schemas of their own, that are looked into: the rest
differ in nothing that a schema sees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """One place: ``schemas`` as they stand in the document, ``view`` flattened for ``value``.

    ``is_extension``: it is a named extension or lies in one, where anything is admitted on purpose.
    """

    segments: tuple[str | int, ...]
    value: JsonValue
    schemas: tuple[Schema, ...]
    view: View
    is_extension: bool = False

    @property
    def name(self) -> str:
        """The member name that leads here; items bear their array's."""
        return next((each for each in reversed(self.segments) if isinstance(each, str)), "")

    @property
    def is_item(self) -> bool:
        """Whether it is an item of an array, and has no name of its own."""
        return bool(self.segments) and isinstance(self.segments[-1], int)


def walk_spots(
    value: JsonValue,
    viewer: Viewer,
    schemas: Sequence[Schema],
    at: tuple[str | int, ...] = (),
    *,
    within_extension: bool = False,
) -> Iterator[Spot]:
    """Yield the place itself and all below it, outside in; of an array its first items."""
    view = viewer.view_of(value, schemas)
    inside = within_extension or any(map(is_extension, view.parts))
    yield Spot(segments=at, value=value, schemas=tuple(schemas), view=view, is_extension=inside)
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from walk_spots(
                inner, viewer, view.member(name), (*at, name), within_extension=inside
            )
    elif isinstance(value, list | tuple):
        first = max((len(schema_list(part, "prefixItems")) for part in view.parts), default=0)
        for index, inner in enumerate(value[: first + _ITEMS]):
            yield from walk_spots(
                inner, viewer, view.item(index), (*at, index), within_extension=inside
            )
