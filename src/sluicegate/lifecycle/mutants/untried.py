"""Places of a schema that no accepted example reaches: no mutant is made there (SPEC LIF-2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from sluicegate.contracts.schemas.formulas import is_enumerated
from sluicegate.contracts.schemas.keywords import (
    Schema,
    is_false,
    schema_at,
    schema_list,
    schema_map,
)
from sluicegate.contracts.schemas.proofs import own_types
from sluicegate.lifecycle.mutants.places import Spot, walk_spots
from sluicegate.lifecycle.mutants.views import Viewer
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.names import show_name
from sluicegate.values.pointers import EVERY, join_segments

MAX_TOLD: Final = 100


class Reached:
    """What accepted examples of one schema reached. An example is added once, whole."""

    __slots__ = ("_seen", "_spots", "_viewer")

    def __init__(self, document: JsonObject) -> None:
        self._viewer = Viewer(document)
        self._seen: set[int] = set()
        self._spots: dict[int, tuple[JsonObject, str]] = {}

    def add(self, value: JsonValue) -> None:
        """Remember every place that mutants of ``value`` are made at."""
        for spot in walk_spots(value, self._viewer, [self._viewer.document]):
            for part in spot.view.parts:
                self._seen.add(id(part))
                if not spot.is_extension:
                    self._spots.setdefault(id(part), (part, _tell_place(spot)))

    def tell_untried(self) -> tuple[str, ...]:
        """Return the outermost places that nothing reached, a few words each, each once.

        Nothing where no example was added at all: the side itself is untried then.
        """
        found: dict[str, None] = {}
        for part, at in self._spots.values():
            if not is_enumerated(part):
                found.update(dict.fromkeys(self._below(part, at)))
        return tuple(found)[:MAX_TOLD]

    def _below(self, part: JsonObject, at: str) -> Iterator[str]:
        for name, inner in schema_map(part, "properties").items():
            if self._lacks([inner]):
                yield f"{at}/{show_name(name)}"
        members = [
            schema_at(part, "additionalProperties"),
            schema_at(part, "unevaluatedProperties"),
        ]
        if self._lacks([*members, *schema_map(part, "patternProperties").values()]):
            yield f"{at}/{EVERY}"
        first = schema_list(part, "prefixItems")
        for index, inner in enumerate(first):
            if self._lacks([inner]):
                yield f"{at}/{index}"
        if self._lacks([schema_at(part, "items"), schema_at(part, "unevaluatedItems")]):
            yield f"{at}/{EVERY}"
        for keyword in ("oneOf", "anyOf"):
            for index, branch in enumerate(schema_list(part, keyword)):
                if self._lacks([branch]) and own_types(branch) != {"null"}:
                    yield f"{at or '/'} by {keyword}/{index}"
        if schema_at(part, "if") is not None:
            for keyword in ("then", "else"):
                if self._lacks([schema_at(part, keyword)]):
                    yield f"{at or '/'} by {keyword}"

    def _lacks(self, schemas: Iterable[Schema | None]) -> bool:
        """Whether something may stand there, and no example has it."""
        asked = [
            each for each in schemas if not isinstance(each, bool | None) and not is_false(each)
        ]
        return bool(asked) and not any(id(each) in self._seen for each in asked)


def _tell_place(spot: Spot) -> str:
    shown = [EVERY if isinstance(each, int) else show_name(each) for each in spot.segments]
    return join_segments(tuple(shown))
