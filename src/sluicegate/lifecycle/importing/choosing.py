"""Which fields of a result reach the agent by default: the ones that hold no free text.

Places are judged after composition, so that a ``$ref`` or ``allOf`` at the root hides none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from sluicegate.contracts.schemas.formulas import holds, is_extension
from sluicegate.contracts.schemas.keywords import integer_at, names_at
from sluicegate.lifecycle.lint.exposures import is_free_text
from sluicegate.lifecycle.lint.naming import is_secret_name
from sluicegate.lifecycle.lint.sheet import Place, Sheet
from sluicegate.lifecycle.lint.subject import Subject
from sluicegate.values.json import JsonObject
from sluicegate.values.names import show_name
from sluicegate.values.pointers import join_segments

MAX_CHOSEN: Final = 40
_EVERY: Final = "*"
_MAX_STEPS: Final = 4
_SCALARS: Final = frozenset({"boolean", "number", "null", "string"})


@dataclass(frozen=True, slots=True)
class _Field:
    """A place by the way that leads to it: ``*`` is every item of an array."""

    path: tuple[str, ...]
    place: Place

    @property
    def pointer(self) -> str:
        return join_segments(self.path)

    @property
    def name(self) -> str:
        return next((each for each in reversed(self.path) if each != _EVERY), "")


def choose_agent_fields(schema: JsonObject) -> dict[str, Any]:
    """Return the selecting members of ``result``: ``agent``, else ``untrusted_text``.

    Top-level scalars without free text and without the name of a secret, the required ones first;
    where there are none, those further down. Where there are none either, the first bounded text
    stands under ``untrusted_text``, else the first member of all is chosen.
    """
    fields = list(_list_fields(schema))
    narrow = [each for each in fields if _is_narrow(each)]
    top = [each for each in narrow if len(each.path) == 1]
    if narrow:
        return {"agent": [each.pointer for each in (top or narrow)[:MAX_CHOSEN]]}
    texts = [each for each in fields if _is_text(each)]
    if texts:
        return {"untrusted_text": {"text": texts[0].pointer}}
    rest = [each for each in fields if not holds(each.place.formula, is_extension)]
    return {"agent": [rest[0].pointer if rest else ""]}


def list_free_texts(schema: JsonObject) -> list[str]:
    """Return the names of top-level members that hold free text, as they may be shown."""
    return [
        show_name(field.name)
        for field in _list_fields(schema)
        if len(field.path) == 1 and is_free_text(field.place, field.name)
    ]


def _list_fields(schema: JsonObject) -> Iterator[_Field]:
    """Yield every place that a pointer can name, outside in, the required members first.

    What may be absent as a whole, or be something else, is not looked into; nor are maps.
    """
    sheet = Sheet(Subject(schema=schema, side="result"))
    waiting = [_Field((), place) for place in sheet.places[:1]]
    while waiting:
        above = waiting.pop(0)
        if above.path:
            yield above
        if len(above.path) < _MAX_STEPS:
            waiting += _list_below(sheet, above)


def _list_below(sheet: Sheet, above: _Field) -> list[_Field]:
    below = sheet.below(above.place)
    if above.place.types == {"array"}:
        return [_Field((*above.path, _EVERY), place) for place in below] if len(below) == 1 else []
    if above.place.types != {"object"}:
        return []
    required = {name for each in above.place.schemas() for name in names_at(each, "required")}
    named = [
        _Field((*above.path, place.name), place)
        for place in below
        if place.name not in (None, _EVERY)
    ]
    return sorted(named, key=lambda field: field.path[-1] not in required)


def _is_narrow(field: _Field) -> bool:
    place = field.place
    return (
        place.is_typed
        and place.types <= _SCALARS
        and not is_free_text(place, field.name)
        and not is_secret_name(field.name)
    )


def _is_text(field: _Field) -> bool:
    place = field.place
    return (
        place.types == {"string"}
        and _EVERY not in field.path
        and not is_secret_name(field.name)
        and place.always("string", lambda schema: integer_at(schema, "maxLength") is not None)
    )
