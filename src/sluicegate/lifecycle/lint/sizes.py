"""B08: how many bytes a document can have that is valid in every other respect."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Final

from sluicegate.contracts.schemas.composition import listed_values
from sluicegate.contracts.schemas.formulas import Either, Every, Formula, Leaf, greatest
from sluicegate.contracts.schemas.keywords import DIALECT, is_false, schema_at
from sluicegate.lifecycle.lint.bounds import DIGIT_FORMATS, SHORT_FORMATS
from sluicegate.lifecycle.lint.findings import WORD, Example, Hit, Rule, shown
from sluicegate.lifecycle.lint.pattern_reading import longest_match
from sluicegate.lifecycle.lint.sheet import Place, Sheet
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject, canonical_text

_CHARACTER: Final = 4
"""Bytes of one character in UTF-8 at most; escapes can make it longer, and nobody means to."""

_FORMAT_CHARACTERS: Final = 255
_NUMBER: Final = 25
_MEMBER_NAME: Final = 260


def find_excess(sheet: Sheet) -> Iterator[Hit]:
    """B08. What has no bound at all is told by the rule that the bound is missing for."""
    if not sheet.places or sheet.is_too_large:
        return
    most = _Sizes(sheet).of(sheet.places[0])
    limit = sheet.subject.around.max_bytes
    if math.isfinite(most) and most > limit:
        yield Hit("", f"a valid document can have {int(most):,} bytes, and the limit is {limit:,}.")


class _Sizes:
    """Most bytes of each place, counted once; a place within itself has no end."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._done: dict[object, float] = {}

    def of(self, place: Place) -> float:
        key = place.formula.key
        if key not in self._done:
            self._done[key] = math.inf
            self._done[key] = self._count(place)
        return self._done[key]

    def _count(self, place: Place) -> float:
        if place.is_listed:
            return _listed(place.formula)
        kinds = place.types
        if not place.is_typed:
            return math.inf
        sizes = [5.0]
        if "number" in kinds:
            sizes.append(_NUMBER)
        if "string" in kinds:
            sizes.append(_CHARACTER * _characters(place.formula) + 2)
        children = self._sheet.below(place)
        others = [self.of(child) for child in children if child.name is None]
        if "object" in kinds:
            size = 2.0
            for child in children:
                if child.name is not None:
                    size += len(canonical_text(child.name)) + 2 + self.of(child)
            if others and "array" not in kinds:
                most = greatest(place.formula, "maxProperties")
                size += math.inf if most is None else most * (max(others) + _MEMBER_NAME)
            sizes.append(size)
        if "array" in kinds and (count := _items(place)):
            sizes.append(2 + count * (max(others, default=math.inf) + 1))
        return max(sizes)


def _items(place: Place) -> float:
    longest = greatest(place.formula, "maxItems")
    if longest is not None:
        return longest
    tuples = [
        len(first)
        for schema in place.schemas()
        if is_false(schema_at(schema, "items"))
        and isinstance(first := schema.get("prefixItems"), list | tuple)
    ]
    return min(tuples, default=math.inf)


def _listed(formula: Formula) -> float:
    match formula:
        case Leaf(schema=schema):
            values = listed_values(schema) if isinstance(schema, Mapping) else []
            sizes = [float(len(canonical_text(value).encode())) for value in values]
            return max(sizes, default=math.inf)
        case Every(parts=parts):
            return min(map(_listed, parts), default=math.inf)
        case Either(branches=branches):
            return max(map(_listed, branches))


def _characters(formula: Formula) -> float:
    match formula:
        case Leaf(schema=schema):
            return _own_characters(schema) if isinstance(schema, Mapping) else math.inf
        case Every(parts=parts):
            return min(map(_characters, parts), default=math.inf)
        case Either(branches=branches):
            return max(map(_characters, branches))


def _own_characters(schema: JsonObject) -> float:
    if "enum" in schema or "const" in schema:
        return max((len(v) for v in listed_values(schema) if isinstance(v, str)), default=0)
    named = schema.get("type")
    if named is not None and named != "string" and "string" not in str(named):
        return 0
    pattern = schema.get("pattern")
    bounds = [
        greatest(Leaf(schema, 0), "maxLength"),
        longest_match(pattern) if isinstance(pattern, str) else None,
        _FORMAT_CHARACTERS if schema.get("format") in SHORT_FORMATS | DIGIT_FORMATS else None,
    ]
    return min((float(bound) for bound in bounds if bound is not None), default=math.inf)


def _doubling() -> JsonObject:
    """Definitions that each apply the next one twice."""
    twice = {
        f"d{level}": {
            "allOf": [{"$ref": f"#/$defs/d{level + 1}"}, {"$ref": f"#/$defs/d{level + 1}"}]
        }
        for level in range(17)
    }
    return {"$schema": DIALECT, "$ref": "#/$defs/d0", "$defs": {**twice, "d17": WORD}}


RULES: Final = (
    Rule(
        id="B08",
        name="worst-case-size",
        arguments="warning",
        result="error",
        what="A schema that admits documents larger than the limit on bytes.",
        why="Limit and schema disagree: a valid answer is refused as too large.",
        mend="Lower the bounds of texts and arrays, or raise `limits.max_bytes`.",
        good=shown({"type": "array", "items": WORD, "maxItems": 100}),
        bad=shown({"type": "array", "items": WORD, "maxItems": 1_000_000}),
        check=find_excess,
    ),
    Rule(
        id="S01",
        name="too-complex",
        arguments="error",
        result="error",
        what="A schema whose branches, or names and patterns, multiply beyond what can be judged.",
        why="What nobody can read, nobody has reviewed; validation may explode too.",
        mend="Use fewer branches, and close each object where it stands.",
        good=shown(WORD),
        bad=Example(schema=_doubling()),
        code=Code.SCHEMA_TOO_COMPLEX,
    ),
)
