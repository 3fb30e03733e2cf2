"""One schema under lint, read once: its nodes as written, its places after composition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from sluicegate.contracts.schemas.bundling import Bundle, bundle
from sluicegate.contracts.schemas.composition import (
    Composition,
    CompositionTooLargeError,
    Item,
    Member,
    Step,
    Undeclared,
    declared_names,
    declared_patterns,
)
from sluicegate.contracts.schemas.envelope import envelope_schema
from sluicegate.contracts.schemas.faults import SchemaFault
from sluicegate.contracts.schemas.formulas import (
    Formula,
    greatest,
    holds,
    is_enumerated,
    is_extension,
    leaves,
    types,
)
from sluicegate.contracts.schemas.intake import take_in
from sluicegate.contracts.schemas.keywords import (
    ALL_TYPES,
    DIALECT,
    Schema,
    Segments,
    schema_at,
    schema_list,
    subschemas,
)
from sluicegate.contracts.schemas.proofs import conjuncts, own_types
from sluicegate.contracts.schemas.references import Library, refers_outside
from sluicegate.contracts.schemas.tree import SchemaTree
from sluicegate.contracts.schemas.vocabulary import judge_form, judge_vocabulary
from sluicegate.lifecycle.lint.matching import Matching, TooManyMatchesError
from sluicegate.lifecycle.lint.subject import Subject
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.pointers import EVERY, join_segments

MAX_PLACES: Final = 5_000
_ONLY_LEADS_ON: Final = frozenset(
    {"$ref", "$comment", "title", "description", "$defs", "$schema", "$id", "allOf"}
)
_REFUSAL: Final = envelope_schema("any", {}, {})


@dataclass(frozen=True, slots=True)
class Node:
    """A subschema as it is written, where it stands, and the node it stands in."""

    at: Segments
    schema: JsonObject
    parent: Node | None

    @property
    def pointer(self) -> str:
        """Where it stands, as pointer text."""
        return join_segments(self.at)


@dataclass(frozen=True, slots=True)
class Place:
    """A place of the document that the schema describes, with all that speaks about it.

    ``pointer`` leads to the first schema that does; ``path`` to the value, ``*`` for items and
    unnamed members; ``name`` is the member's, if the place is a named member of ``parent``.
    """

    formula: Formula
    pointer: str
    path: Segments
    name: str | None
    parent: Place | None

    @property
    def known_as(self) -> str | None:
        """The member's name; of what a list or a map holds the name of that."""
        place: Place | None = self
        while place is not None and place.name is None:
            place = place.parent
        return None if place is None else place.name

    @property
    def types(self) -> frozenset[str]:
        """The types a value can have here; ``integer`` counts as ``number``."""
        return types(self.formula)

    @property
    def is_typed(self) -> bool:
        """Whether anything says which types a value can have."""
        return self.types != ALL_TYPES

    @property
    def is_listed(self) -> bool:
        """Whether every value that can stand here is listed."""
        return holds(self.formula, is_enumerated)

    def schemas(self) -> Iterator[JsonObject]:
        """Yield every schema that speaks about the place, in whatever branch."""
        for schema in leaves(self.formula):
            if isinstance(schema, Mapping):
                yield schema

    def admits(self, kind: str) -> bool:
        """Whether the place is typed and takes values of ``kind``."""
        return self.is_typed and kind in self.types

    def always(self, kind: str, asked: Callable[[JsonObject], bool]) -> bool:
        """Whether some schema of which ``asked`` is true holds for every ``kind`` that fits."""
        return holds(
            self.formula,
            lambda schema: (
                isinstance(schema, Mapping)
                and (kind not in own_types(schema) or is_enumerated(schema) or asked(schema))
            ),
        )


class Sheet:
    """``document`` is the schema with its references into other documents resolved, if they can be.

    Everything is found once and kept. No property raises, whatever the subject holds.
    """

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        taken = take_in(subject.schema)
        self.intake: SchemaFault | None = taken if isinstance(taken, SchemaFault) else None
        self.written: JsonObject = taken if isinstance(taken, Mapping) else {}
        self.is_schema = isinstance(taken, Mapping | bool)
        self.origins: Mapping[str, tuple[str | None, Segments]] = {}
        self.library = Library(self.written, subject.home, self._documents())
        self.document = self._resolve()
        self.tree = SchemaTree(self.document)
        self.composition = Composition(self.tree)
        self.is_too_large = False
        self.is_overmatched = False
        self._children: dict[object, tuple[Place, ...]] = {}

    def _documents(self) -> dict[str, JsonValue]:
        if not refers_outside(self.written):
            return {}
        taken = {name: take_in(value, name) for name, value in self.subject.resources.items()}
        return {name: value for name, value in taken.items() if not isinstance(value, SchemaFault)}

    def _resolve(self) -> JsonObject:
        root = self.library.root
        if root is None or not refers_outside(self.written) or self.form:
            return self.written
        bundled = bundle(self.library, root)
        if not isinstance(bundled, Bundle):
            return self.written
        self.origins = {
            name: (origin.document, origin.at) for name, origin in bundled.origins.items()
        }
        return bundled.document

    @cached_property
    def form(self) -> tuple[SchemaFault, ...]:
        """What draft 2020-12 does not admit; whatever dialect the schema names."""
        return judge_form({**self.written, "$schema": DIALECT})

    @cached_property
    def vocabulary(self) -> tuple[SchemaFault, ...]:
        """Unknown keywords and formats, and patterns that the linear engine refuses."""
        return judge_vocabulary(self.document)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Every subschema that is an object, as written, outside in."""
        return tuple(self._walk(Node((), self.document, None)))

    def _walk(self, node: Node) -> Iterator[Node]:
        if _is_own_refusal(node):
            return
        yield node
        for segments, inner in subschemas(node.schema):
            if isinstance(inner, Mapping):
                yield from self._walk(Node((*node.at, *segments), inner, node))

    @cached_property
    def _own(self) -> frozenset[str]:
        return frozenset(node.pointer for node in self.nodes)

    def place_of(self, schema: Schema) -> Segments | None:
        """Return where a subschema stands; None for what the gate itself prints."""
        at = self.tree.place_of(schema)
        return at if at is not None and join_segments(at) in self._own else None

    def settle(self, pointer: str) -> str:
        """Return where the subschema at ``pointer`` leads, as long as it does nothing else.

        So what is said of a definition stands at the definition, once, however often it is used.
        """
        met: set[str] = set()
        while pointer not in met:
            met.add(pointer)
            schema = self._by_pointer.get(pointer)
            if schema is None or not schema.keys() <= _ONLY_LEADS_ON:
                break
            onward = list(conjuncts(self.tree, schema))
            at = self.place_of(onward[0]) if len(onward) == 1 else None
            if at is None:
                break
            pointer = join_segments(at)
        return pointer

    @cached_property
    def _by_pointer(self) -> Mapping[str, JsonObject]:
        return {node.pointer: node.schema for node in self.nodes}

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Every place after composition, outside in; ``is_too_large`` where there are too many."""
        found: list[Place] = []
        try:
            found.extend(self._find_places())
        except (CompositionTooLargeError, RecursionError) as error:
            self.give_up(error)
        return tuple(found)

    def give_up(self, error: Exception) -> None:
        """Remember that something was not judged, and why."""
        self.is_too_large = True
        self.is_overmatched |= isinstance(error, TooManyMatchesError)

    def demand_few_matches(self) -> None:
        """Raises TooManyMatchesError where a walk over the places would take too many."""
        if self.places and self.is_overmatched:
            raise TooManyMatchesError

    def _find_places(self) -> Iterator[Place]:
        met: set[object] = set()
        root = self.composition.of(self.document)
        waiting = [Place(root, self._pointer(root, ""), (), None, None)]
        matching = Matching()
        while waiting:
            place = waiting.pop(0)
            if place.formula.key in met:
                continue
            met.add(place.formula.key)
            if len(met) > MAX_PLACES:
                self.is_too_large = True
                return
            if place.pointer not in self._own:
                continue  # the gate's own words
            yield place
            if not place.is_listed and not holds(place.formula, is_extension):
                matching.spend(_count_matches(self.composition, place))
                below = tuple(self._below(place))
                self._children[place.formula.key] = below
                waiting.extend(below)

    def below(self, place: Place) -> tuple[Place, ...]:
        """Return the places one step below, those included that stand elsewhere too."""
        return self._children.get(place.formula.key, ())

    def _pointer(self, formula: Formula, above: str) -> str:
        """The first schema that speaks of a place and does not only lead on; else the first."""
        standing = [
            (join_segments(at), schema)
            for schema in leaves(formula)
            if (at := self.tree.place_of(schema)) is not None
        ]
        return next(
            (
                at
                for at, schema in standing
                if isinstance(schema, Mapping) and not schema.keys() <= _ONLY_LEADS_ON
            ),
            standing[0][0] if standing else above,
        )

    def _below(self, place: Place) -> Iterator[Place]:
        for taken in _steps(self.composition, place):
            formula = self.composition.below(place.formula, taken)
            name = taken.name if isinstance(taken, Member) else None
            pointer = self._pointer(formula, place.pointer)
            segment = EVERY if name is None else name
            yield Place(formula, pointer, (*place.path, segment), name, place)


def _steps(composition: Composition, place: Place) -> list[Step]:
    steps: list[Step] = []
    if "object" in place.types:
        steps.extend(map(Member, declared_names(composition, place.formula)))
        if any(schema_at(schema, "additionalProperties") for schema in place.schemas()):
            steps.append(Undeclared())
        steps.extend(map(Undeclared, declared_patterns(composition, place.formula)))
    if "array" in place.types:
        first = max(
            (len(schema_list(schema, "prefixItems")) for schema in place.schemas()), default=0
        )
        longest = greatest(place.formula, "maxItems")
        count = first + 1 if longest is None else min(first + 1, longest)
        if any(schema_at(schema, "items") is not None for schema in place.schemas()) or first:
            steps.extend(map(Item, range(count)))
    return steps


def _count_matches(composition: Composition, place: Place) -> int:
    """How often a name meets a pattern where the steps from ``place`` are taken."""
    if "object" not in place.types:
        return 0
    patterns = declared_patterns(composition, place.formula)
    return len(patterns) and len(patterns) * len(declared_names(composition, place.formula))


def _is_own_refusal(node: Node) -> bool:
    """Whether the node is, word for word, what the gate prints for its own refusals.

    They hold the model's own arguments told back to it, and not a byte of any upstream.
    """
    return node.at[-2:] == ("properties", "error") and node.schema == _own_error()


def _own_error() -> JsonValue:
    branches = schema_list(_REFUSAL, "oneOf")
    refused = branches[-1]
    properties = refused.get("properties") if isinstance(refused, Mapping) else None
    error: JsonValue = properties.get("error") if isinstance(properties, Mapping) else None
    return error
