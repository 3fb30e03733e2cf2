"""Members that one schema declares and another one, applied to the same object, always refuses.

``additionalProperties: false`` sees what stands beside it; ``unevaluatedProperties: false`` also
what its own schema applies in place. Neither sees what its neighbours declare.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, TypeAlias

from sluicegate.contracts.schemas.compiling import matches
from sluicegate.contracts.schemas.keywords import Schema, is_false, schema_at, schema_map
from sluicegate.contracts.schemas.proofs import choices, conjuncts
from sluicegate.lifecycle.lint.matching import Matching
from sluicegate.lifecycle.lint.sheet import Sheet
from sluicegate.lifecycle.mutants.patterns import make_texts
from sluicegate.values.json import JsonObject
from sluicegate.values.pointers import join_segments

Keyword: TypeAlias = Literal["additionalProperties", "unevaluatedProperties"]

_SAMPLES: Final = 4
"""Names that stand for all that match one pattern."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The keyword at ``pointer`` refuses ``names``, and whoever declares them is never obeyed.

    A name that only a pattern declares is told by the pattern.
    """

    keyword: Keyword
    pointer: str
    names: tuple[str, ...]


def find_refusals(sheet: Sheet) -> Iterator[Refusal]:
    """Yield one refusal a keyword, its names sorted.

    A member that only some branch of a choice refuses is the choice of its author, and no fault.
    Raises: TooManyMatchesError, RecursionError.
    """
    closers = _Closers(sheet)
    found: dict[tuple[str, Keyword], set[str]] = {}
    for node in sheet.nodes:
        for name, words in closers.declared_around(node.schema):
            for closer, keyword in closers.refusing(node.schema, name):
                at = sheet.place_of(closer)
                if at is not None:
                    found.setdefault((join_segments((*at, keyword)), keyword), set()).add(words)
    for (pointer, keyword), names in found.items():
        yield Refusal(keyword=keyword, pointer=pointer, names=tuple(sorted(names)))


@dataclass(frozen=True, slots=True)
class _Sight:
    """The member names that a closing keyword sees."""

    names: frozenset[str]
    patterns: tuple[str, ...]
    all: bool


class _Closers:
    def __init__(self, sheet: Sheet) -> None:
        self._tree = sheet.tree
        self._matching = Matching()
        self._sights: dict[tuple[int, Keyword], _Sight] = {}

    def declared_around(self, schema: JsonObject) -> Iterator[tuple[str, str]]:
        """Yield (name, words for it) of all that is declared for the objects of ``schema``.

        Nothing where no schema that applies in place could refuse another one's members.
        """
        reached = [one for one in self._tree.reachable(schema) if isinstance(one, Mapping)]
        if len(reached) < 2 or not any(map(_closes, reached)):
            return
        names: dict[str, str] = {}
        for one in reached:
            for name, inner in schema_map(one, "properties").items():
                if not is_false(inner):
                    names.setdefault(name, name)
            for pattern, inner in schema_map(one, "patternProperties").items():
                if not is_false(inner):
                    for name in _sample(pattern):
                        names.setdefault(name, pattern)
        yield from names.items()

    def refusing(
        self, schema: Schema, name: str, active: frozenset[int] = frozenset()
    ) -> list[tuple[JsonObject, Keyword]]:
        """Return the keywords that refuse ``name`` in every object of ``schema``."""
        if isinstance(schema, bool) or id(schema) in active:
            return []
        self._matching.spend(1)
        inside = active | {id(schema)}
        found = [
            (schema, keyword)
            for keyword in _closes(schema)
            if not self._sees(schema, keyword, name)
        ]
        dependent = schema_map(schema, "dependentSchemas").get(name, True)
        for inner in (*conjuncts(self._tree, schema), dependent):
            found += self.refusing(inner, name, inside)
        for branches in choices(schema):
            refused = [
                [each for inner in branch for each in self.refusing(inner, name, inside)]
                for branch in branches
            ]
            if all(refused):
                found += [each for one in refused for each in one]
        return found

    def _sees(self, schema: JsonObject, keyword: Keyword, name: str) -> bool:
        sight = self._sight(schema, keyword)
        return (
            sight.all
            or name in sight.names
            or any(self._matching.matches(pattern, name) for pattern in sight.patterns)
        )

    def _sight(self, schema: JsonObject, keyword: Keyword) -> _Sight:
        key = (id(schema), keyword)
        if key not in self._sights:
            seen: Iterable[Schema] = [schema]
            if keyword == "unevaluatedProperties":
                seen = self._tree.reachable(schema)
            written = [one for one in seen if isinstance(one, Mapping)]
            self._sights[key] = _Sight(
                names=frozenset(name for one in written for name in schema_map(one, "properties")),
                patterns=tuple(
                    pattern for one in written for pattern in schema_map(one, "patternProperties")
                ),
                all=any(_sees_all(one) for one in written),
            )
        return self._sights[key]


def _closes(schema: JsonObject) -> list[Keyword]:
    keywords: tuple[Keyword, ...] = ("additionalProperties", "unevaluatedProperties")
    return [keyword for keyword in keywords if is_false(schema_at(schema, keyword))]


def _sees_all(schema: JsonObject) -> bool:
    """Whether it evaluates members that it does not name; an empty schema may be opaque."""
    rest = (schema_at(schema, "additionalProperties"), schema_at(schema, "unevaluatedProperties"))
    return not schema or any(each is not None and not is_false(each) for each in rest)


def _sample(pattern: str) -> list[str]:
    made = islice(make_texts(pattern, count=_SAMPLES), _SAMPLES)
    return [name for name in made if matches(pattern, name)]
