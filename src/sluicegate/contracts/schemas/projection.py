"""The agent-side schema: exactly the selected fields, closed.

The published schema is exact where the choice of fields allows it: layers that hold together are
joined, branches of a choice stand under ``anyOf`` (without the fields that told them apart, more
than one may fit), and nothing else is promised. Source: SPEC RES-7.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sluicegate.contracts.schemas.composition import Composition, CompositionTooLargeError
from sluicegate.contracts.schemas.copying import SubschemaCopier, UncopyableError
from sluicegate.contracts.schemas.faults import SchemaFault
from sluicegate.contracts.schemas.formulas import (
    Either,
    Every,
    Formula,
    Leaf,
    greatest,
    holds,
    is_extension,
    leaves,
    requires,
    types,
)
from sluicegate.contracts.schemas.reach import Reach, certain, find_subschemas, step_below
from sluicegate.contracts.schemas.tree import SchemaTree
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.names import show_name
from sluicegate.values.pointers import EVERY, Pointer

__all__ = ["Reach", "Selection", "find_subschemas", "project"]

UNTRUSTED_TEXT: Final = "untrusted_text"


def project(
    document: JsonObject, pointers: Sequence[Pointer], untrusted_text: Mapping[str, Pointer]
) -> JsonObject | tuple[SchemaFault, ...]:
    """Return the published schema of the object that ``pointers`` and ``untrusted_text`` select.

    Shape: closed objects of exactly the selected fields; arrays below ``*`` keep their shape; a
    place that may be no object or array is null then; text stands below ``untrusted_text``, in
    arrays where its pointer is wild. Every selected object of a valid document fits it.
    Refuses, as CONTRACT_INVALID: a pointer that leads to nothing, or covers another; anything of
    an ``x-extension``; text that is not always a string, or has no ``maxLength``.
    """
    faults = [*_overlaps([*pointers, *untrusted_text.values()])]
    if faults:
        return tuple(faults)
    selection = Selection()
    for pointer in pointers:
        selection.add(pointer.segments)
    builder = _Builder(document)
    try:
        formula = builder.composition.of(document)
        published = builder.publish(formula, selection, Pointer(()))
        if untrusted_text:
            published = builder.add_texts(published, formula, selection, untrusted_text)
    except CompositionTooLargeError:
        return (_too_large(),)
    if builder.faults:
        return tuple(builder.faults)
    definitions = builder.copier.definitions()
    return {**published, "$defs": definitions} if definitions else published


@dataclass(slots=True)
class Selection:
    """What is selected at one place: all of it, or these segments of it."""

    whole: bool = False
    below: dict[str, Selection] = field(default_factory=dict)

    def add(self, segments: Sequence[str]) -> None:
        """Select the place that ``segments`` lead to from here."""
        at = self
        for segment in segments:
            at = at.below.setdefault(segment, Selection())
        at.whole = True


class _Builder:
    """Builds one published schema; notes what stands against it in ``faults``."""

    __slots__ = ("composition", "copier", "faults")

    def __init__(self, document: JsonObject) -> None:
        tree = SchemaTree(document)
        self.composition = Composition(tree)
        self.copier = SubschemaCopier(tree)
        self.faults: list[SchemaFault] = []

    def publish(self, formula: Formula, selection: Selection, at: Pointer) -> dict[str, JsonValue]:
        """Return the schema of what is selected of the place ``formula``."""
        if holds(formula, is_extension):
            self._fault(at, "is an extension, and an extension never reaches the agent")
            return {}
        if selection.whole:
            return self._copy(formula, at)
        if EVERY in selection.below:
            return self._publish_items(formula, selection, at)
        return self._publish_members(formula, selection, at)

    def _publish_members(
        self, formula: Formula, selection: Selection, at: Pointer
    ) -> dict[str, JsonValue]:
        properties: dict[str, JsonValue] = {}
        required: list[JsonValue] = []
        for name, inner in selection.below.items():
            place = at.child(name)
            step = None
            if "object" in types(formula):
                step = step_below(self.composition, formula, name)
            if step is None:
                self._fault(place, "leads to nothing in the schema")
                continue
            properties[name] = self.publish(step[0], inner, place)
            if requires(formula, name):
                required.append(name)
        published: dict[str, JsonValue] = {
            **_texts_of(formula),
            "type": _or_null("object", formula),
            "properties": properties,
        }
        if required:
            published["required"] = required
        published["additionalProperties"] = False
        return published

    def _publish_items(
        self, formula: Formula, selection: Selection, at: Pointer
    ) -> dict[str, JsonValue]:
        place = at.child(EVERY)
        step = step_below(self.composition, formula, EVERY)
        if step is None or len(selection.below) > 1:
            self._fault(place, "leads to no array, or beside `*` stands another segment")
            return {}
        published: dict[str, JsonValue] = {
            **_texts_of(formula),
            "type": _or_null("array", formula),
            "items": self.publish(step[0], selection.below[EVERY], place),
        }
        longest = greatest(formula, "maxItems")
        if longest is not None:
            published["maxItems"] = longest
        return published

    def add_texts(
        self,
        published: dict[str, JsonValue],
        formula: Formula,
        selection: Selection,
        untrusted_text: Mapping[str, Pointer],
    ) -> dict[str, JsonValue]:
        """Return ``published`` with the declared texts in a member of their own."""
        if selection.whole or EVERY in selection.below or types(formula) != {"object"}:
            self._fault(Pointer(()), "must be an object of selected members to hold untrusted text")
            return published
        if UNTRUSTED_TEXT in selection.below:
            self._fault(Pointer((UNTRUSTED_TEXT,)), "bears the name that untrusted text stands in")
            return published
        texts: dict[str, JsonValue] = {}
        required: list[JsonValue] = []
        for name, pointer in untrusted_text.items():
            texts[name], always = self._publish_text(formula, pointer, 0)
            if always:
                required.append(name)
        text: dict[str, JsonValue] = {"type": "object", "properties": texts}
        if required:
            text["required"] = required
        text["additionalProperties"] = False
        properties = published["properties"]
        names = published.get("required", [])
        return {
            **published,
            "properties": {
                **(properties if isinstance(properties, Mapping) else {}),
                UNTRUSTED_TEXT: text,
            },
            "required": [*(names if isinstance(names, list) else []), UNTRUSTED_TEXT],
        }

    def _publish_text(
        self, formula: Formula, pointer: Pointer, position: int
    ) -> tuple[dict[str, JsonValue], bool]:
        """Return the schema of the text, and whether it is always there; in arrays null is not."""
        if position == len(pointer.segments):
            return self._publish_string(formula, pointer), True
        segment = pointer.segments[position]
        step = step_below(self.composition, formula, segment)
        if step is None or (segment != EVERY and "object" not in types(formula)):
            self._fault(pointer, "leads to nothing in the schema")
            return {}, True
        inner, always = step
        published, inner_always = self._publish_text(inner, pointer, position + 1)
        if segment != EVERY:
            return published, always and inner_always
        items: JsonValue = published
        if not inner_always:
            items = {"anyOf": [published, {"type": "null"}]}
        array: dict[str, JsonValue] = {"type": "array", "items": items}
        longest = greatest(formula, "maxItems")
        if longest is not None:
            array["maxItems"] = longest
        return array, always

    def _publish_string(self, formula: Formula, pointer: Pointer) -> dict[str, JsonValue]:
        if types(formula) != {"string"}:
            self._fault(pointer, "is not always a string, and untrusted text must be one")
        elif greatest(formula, "maxLength") is None:
            self._fault(
                pointer,
                "is untrusted text without a bound",
                mend="Give it a `maxLength`.",
            )
        return self._copy(formula, pointer)

    def _copy(self, formula: Formula, at: Pointer) -> dict[str, JsonValue]:
        try:
            copied = self._render(formula)
        except UncopyableError as error:
            self._fault(at, str(error))
            return {}
        return copied if isinstance(copied, dict) else {} if copied else {"not": {}}

    def _render(self, formula: Formula) -> JsonValue:
        match formula:
            case Leaf(schema=schema):
                return self.copier.copy(schema)
            case Either(branches=branches):
                return {"anyOf": [self._render(branch) for branch in branches]}
            case Every():
                kept = self._without_derived(formula)
                if not kept:
                    return True
                rendered = [self._render(part) for part in kept]
                return rendered[0] if len(rendered) == 1 else {"allOf": rendered}

    def _without_derived(self, formula: Every) -> list[Formula]:
        """The parts that no other part says already: a schema's text holds its own branches."""
        derived: set[int] = set()
        kept: list[Formula] = []
        for part in formula.parts:
            speaking = list(leaves(part))
            if speaking and all(id(schema) in derived for schema in speaking):
                continue
            kept.append(part)
            if isinstance(part, Leaf) and isinstance(part.schema, Mapping):
                derived.update(map(id, self.composition.tree.reachable(part.schema)))
        return kept

    def _fault(
        self, at: Pointer, message: str, mend: str = "Select a field that the schema declares."
    ) -> None:
        shown = show_name(at.text) or "the whole"
        self.faults.append(
            SchemaFault(
                code=Code.CONTRACT_INVALID,
                message=f"`{shown}` {message}.",
                mend=mend,
            )
        )


def _or_null(kind: str, formula: Formula) -> JsonValue:
    """A place that may hold something else is selected as null then."""
    return kind if types(formula) == {kind} else [kind, "null"]


def _texts_of(formula: Formula) -> dict[str, JsonValue]:
    """Title and description that hold for the place, from its outermost schema."""
    found: dict[str, JsonValue] = {}
    for schema in certain(formula):
        for keyword in ("title", "description"):
            if keyword in schema:
                found.setdefault(keyword, schema[keyword])
    return found


def _overlaps(pointers: Sequence[Pointer]) -> Iterator[SchemaFault]:
    for position, one in enumerate(pointers):
        for other in pointers[:position]:
            if _covers(one, other):
                yield SchemaFault(
                    code=Code.CONTRACT_INVALID,
                    message=f"`{show_name(one.text)}` and `{show_name(other.text)}` overlap.",
                    mend="Select each place once: the whole, or some of its members.",
                )


def _too_large() -> SchemaFault:
    return SchemaFault(
        code=Code.SCHEMA_TOO_COMPLEX,
        message="composed, the schemas of the selected places multiply beyond reading.",
        mend="Use fewer branches.",
    )


def _covers(one: Pointer, other: Pointer) -> bool:
    """Whether one of the two places lies inside the other; ``*`` meets every item."""
    return all(
        a == b or (EVERY in (a, b) and (a + b).strip("0123456789*") == "")
        for a, b in zip(one.segments, other.segments, strict=False)
    )
