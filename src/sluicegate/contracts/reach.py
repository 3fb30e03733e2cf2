"""Pointers of a contract, held against the schema they lead into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from jsonschema_rs import Draft202012Validator, ReferencingError, RegexOptions

from sluicegate.contracts.near_names import say_meant
from sluicegate.contracts.places import Place
from sluicegate.contracts.quoting import is_shown_whole, show_member
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.compiling import PATTERN_SIZE
from sluicegate.contracts.schemas.projection import Reach, find_subschemas
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.names import show_name
from sluicegate.values.pointers import Pointer

TEXT_TYPES: Final = frozenset({"string"})
NAMING_TYPES: Final = frozenset({"string", "number", "integer"})
"""What can stand in a URL, a command or the name of a resource."""


@dataclass(frozen=True, slots=True)
class Side:
    """One schema of a contract; None where it could not be registered: then nothing is judged."""

    name: Literal["arguments", "data"]
    schema: CompiledSchema | None

    def read(self, place: Place) -> Pointer | None:
        """Return the pointer that stands at ``place``, if it leads to something."""
        pointer = place.at()
        if pointer is None or self.reach(place, pointer) is None:
            return None
        return pointer

    def reach(self, place: Place, pointer: Pointer, *, at_key: bool = False) -> Reach | None:
        """Return what the schema promises at ``pointer``, or note that nothing stands there."""
        if self.schema is None:
            return None
        found = find_subschemas(self.schema.document, pointer)
        if found.exists:
            return found
        place.fault(
            f"`{show_member(pointer.text)}` leads to nothing in the schema of the {self.name}.",
            say_near_place(self.schema.document, pointer),
            at_key=at_key,
            discreet=not is_shown_whole(pointer.text),
        )
        return None

    def demand_required(
        self, place: Place, pointer: Pointer, why: str, *, at_key: bool = False
    ) -> Reach | None:
        """As ``reach``, and the place must be there in every valid document."""
        found = self.reach(place, pointer, at_key=at_key)
        if found is not None and not found.required:
            place.fault(
                f"`{show_name(pointer.text)}` is optional in the {self.name}, {why}.",
                "List it under `required` of its schema, and what it stands in.",
                at_key=at_key,
            )
        return found

    def demand_types(
        self,
        place: Place,
        pointer: Pointer,
        found: Reach | None,
        types: frozenset[str],
        why: str,
    ) -> None:
        """Note where the values at ``pointer`` can be anything but ``types``."""
        if found is None or found.types <= types:
            return
        others = ", ".join(sorted(found.types - types))
        place.fault(
            f"`{show_name(pointer.text)}` can be of type {others}, {why}.",
            f"Give it a `type` among {', '.join(sorted(types))}.",
        )

    def demand_fit(self, place: Place, pointer: Pointer, value: JsonValue) -> None:
        """Note where ``value``, put at ``pointer``, could never conform."""
        if self.schema is None:
            return
        found = find_subschemas(self.schema.document, pointer)
        definitions = self.schema.document.get("$defs", {})
        try:
            fits = Draft202012Validator(
                {"allOf": list(found.schemas), "$defs": definitions},
                validate_formats=True,
                offline=True,
                pattern_options=RegexOptions(size_limit=PATTERN_SIZE),
            ).is_valid(value)
        except (ValueError, ReferencingError):
            return  # a reference past `$defs`; the value is validated again when it is used
        if not fits:
            place.fault(
                f"this value does not fit the schema at `{show_name(pointer.text)}`.",
                f"Write one that the schema of the {self.name} admits there.",
            )


def say_near_place(document: JsonObject, pointer: Pointer) -> str:
    """Name a member that is declared where the pointer still led somewhere."""
    for depth in range(len(pointer.segments) - 1, -1, -1):
        stem = Pointer(pointer.segments[:depth])
        found = find_subschemas(document, stem)
        if not found.exists:
            continue
        declared = {
            stem.child(name).text for schema in found.schemas for name in _properties(schema)
        }
        if declared:
            return say_meant(stem.child(pointer.segments[depth]).text, declared)
        break
    return "Write a pointer to a declared member."


def _properties(schema: object) -> tuple[str, ...]:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return tuple(properties) if isinstance(properties, Mapping) else ()
