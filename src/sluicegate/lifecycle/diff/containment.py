"""The proof: whether every value that one schema admits is admitted by the other, both ways.

``jsonschema_rs.canonical`` answers yes, no or unknown. A witness, a generated value that one side
admits and the other refuses, closes an unknown, and overrules a yes: it is judged by the very
validator that serves. A hostile schema can make all of this run for ever, so ``opening`` calls it
in a child process only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Literal, TypeAlias, cast

from jsonschema_rs import CanonicalSchema, ReferencingError, ValidationError, canonicalize

from sluicegate.contracts.schemas.compiling import ENGINE_OPTIONS, compile_validator
from sluicegate.contracts.schemas.keywords import walk
from sluicegate.lifecycle.diff.repetitions import say_wider
from sluicegate.lifecycle.mutants.examples import build_examples
from sluicegate.lifecycle.mutants.witnesses import build_edges, build_witnesses
from sluicegate.values.json import JsonObject, JsonValue, canonical_text
from sluicegate.values.pointers import NOTHING, Nothing

Answer: TypeAlias = Literal["yes", "no", "unknown"]

_MAX_CANDIDATES: Final = 800
"""From each side."""
_MAX_SEARCHED: Final = 2_000
"""Subschemas. Each candidate is as wide as its schema, so for a wider one the search would use up
the time of the proof; the canonical form alone decides there."""
_MAX_PRINTED: Final = 4_000
"""Characters. A longer witness still proves, but nobody reads it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """``lost`` is a value that only ``old`` admits, ``gained`` one that only ``new`` admits.

    NOTHING where none was found or it is too long to print.
    """

    new_covers_old: Answer
    old_covers_new: Answer
    lost: JsonValue | Nothing = NOTHING
    gained: JsonValue | Nothing = NOTHING

    @property
    def equal(self) -> bool:
        """Whether both admit exactly the same values."""
        return self.new_covers_old == self.old_covers_new == "yes"


EQUAL: Final = Proof(new_covers_old="yes", old_covers_new="yes")
UNPROVEN: Final = Proof(new_covers_old="unknown", old_covers_new="unknown")


def prove(old: JsonObject, new: JsonObject, assumed: Iterable[JsonObject] = ()) -> Proof:
    """Compare two registered schemas as sets of values; formats count, as they are asserted.

    That ``old`` covers ``new`` is said only if each schema that is ``assumed`` to admit something
    does. Witnesses are made from the schemas alone, never from what was received, so they may be
    shown.
    """
    before, after = _canonical(say_wider(old, new)), _canonical(say_wider(new, old))
    proof = Proof(
        new_covers_old=_covers(after, before),
        old_covers_new=_covers(before, after),
    )
    candidates: list[JsonValue] = []
    for schema in (old, new):
        if sum(1 for _ in walk(schema)) <= _MAX_SEARCHED:
            # A search that a schema leads too deep has found nothing; the canonical answer stays.
            with suppress(RecursionError):
                candidates.extend(islice(build_witnesses(schema, ()), _MAX_CANDIDATES))
                candidates.extend(islice(build_edges(schema), _MAX_CANDIDATES))
    for outer, inner in ((after, before), (before, after)):
        candidates.extend(_examples_of_rest(outer, inner))
    takes_old, takes_new = compile_validator(old).is_valid, compile_validator(new).is_valid
    lost: list[JsonValue] = []
    gained: list[JsonValue] = []
    for candidate in candidates:
        was, is_ = takes_old(candidate), takes_new(candidate)
        if was != is_:
            (lost if was else gained).append(candidate)
    if lost:
        proof = replace(proof, new_covers_old="no", lost=_shortest(lost))
    if gained:
        proof = replace(proof, old_covers_new="no", gained=_shortest(gained))
    if proof.old_covers_new == "yes" and not all(map(_admits_something, assumed)):
        proof = replace(proof, old_covers_new="unknown")
    return proof


def _admits_something(schema: JsonObject) -> bool:
    canonical = _canonical(schema)
    with suppress(ValueError, TypeError):
        if canonical is not None and canonical.satisfiability().value == "yes":
            return True
    with suppress(RecursionError):
        return any(True for _ in build_examples(schema, count=1))
    return False


def _canonical(schema: JsonObject) -> CanonicalSchema | None:
    try:
        return canonicalize(
            dict(schema),
            validate_formats=True,
            offline=True,
            pattern_options=ENGINE_OPTIONS["pattern_options"],
        )
    except (ValueError, TypeError, ReferencingError, ValidationError):
        return None


def _covers(outer: CanonicalSchema | None, inner: CanonicalSchema | None) -> Answer:
    if outer is None or inner is None:
        return "unknown"
    try:
        answer = outer.covers(inner).value
    except (ValueError, TypeError):
        return "unknown"
    return "yes" if answer == "yes" else "no" if answer == "no" else "unknown"


def _examples_of_rest(
    outer: CanonicalSchema | None, inner: CanonicalSchema | None
) -> Iterable[JsonValue]:
    """Yield values of what ``inner`` admits and ``outer`` does not, where that has a form."""
    if outer is None or inner is None:
        return ()
    try:
        rest = inner.subtract(outer).to_json_schema()
        schema = cast("JsonObject", rest)
        return tuple(build_examples(schema, count=8)) if isinstance(rest, dict) else ()
    except (ValueError, TypeError, RecursionError):
        return ()


def _shortest(values: Iterable[JsonValue]) -> JsonValue | Nothing:
    text, value = min(_spelled(values), key=lambda one: (len(one[0]), one[0]))
    return value if len(text) <= _MAX_PRINTED else NOTHING


def _spelled(values: Iterable[JsonValue]) -> Iterator[tuple[str, JsonValue]]:
    for value in values:
        yield canonical_text(value), value
