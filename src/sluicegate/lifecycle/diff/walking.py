"""The walk over two schemas that names what differs, and where (LIF-3, step 4).

It is for people: each difference gets a kind and a place. Whether values are lost or gained is
proven elsewhere, so where a keyword alone does not tell, the kind says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final

from sluicegate.contracts.fingerprints import strip_annotations
from sluicegate.lifecycle.diff.changes import Difference, Reach, Within, seal
from sluicegate.lifecycle.diff.facets import (
    CONDITIONS,
    CONSTRAINTS,
    LOWER,
    TYPES,
    UPPER,
    Bound,
    Facets,
    is_tighter,
    read_facets,
)
from sluicegate.lifecycle.diff.members import compare_members
from sluicegate.lifecycle.diff.sights import WHOLE, Sight, Way
from sluicegate.lifecycle.diff.spelling import Placed, Speller, is_led_by_pointers
from sluicegate.values.json import JsonObject
from sluicegate.values.names import show_name
from sluicegate.values.pointers import EVERY

_MAX_DEPTH: Final = 48
_MAX_PLACES: Final = 20_000
_MAX_SHOWN: Final = 6


def find_differences(
    old: JsonObject, new: JsonObject, sight: Sight = WHOLE
) -> tuple[Difference, ...]:
    """Return what differs between two registered schemas, outside in; no order beyond that.

    Annotations count too. ``sight`` is what a reader sees of the values, and each difference says
    whether it lies there. A place that both schemas reach by several ways is told once. Beyond
    20,000 places or 48 levels nothing more is named; the proof covers the whole all the same.
    """
    found: dict[tuple[str, ...], Difference] = {}
    walk = _Walk(old, new)
    for one in walk.compare(("", old), ("", new), sight, ()):
        facts = (one.kind, one.pointer, one.within, one.old, one.new, one.sealed)
        if facts not in found or found[facts].reach == "hidden":
            found[facts] = one
    if not walk.cut_short:
        return tuple(found.values())
    # What was not walked has no name of its own, so what was named answers for it.
    return tuple(replace(one, sealed=walk.seal_whole(one.sealed)) for one in found.values())


class _Walk:
    """One walk over two documents; ``_seen`` holds the pairs of places that were compared.

    ``cut_short``: there was more than it looks at.
    """

    __slots__ = ("_new", "_old", "_plain", "_seen", "cut_short")

    def __init__(self, old: JsonObject, new: JsonObject) -> None:
        self._old = Speller(old)
        self._new = Speller(new)
        self._plain = is_led_by_pointers(old) and is_led_by_pointers(new)
        self._seen: dict[tuple[object, ...], tuple[Placed, Placed]] = {}
        self.cut_short = False

    def compare(
        self, old: Placed, new: Placed, sight: Sight | None, way: Way
    ) -> Iterator[Difference]:
        """Yield the differences of one place and of all below it; ``way`` leads there."""
        pair = (_identity(old), _identity(new), id(sight))
        if pair in self._seen:
            return
        if len(way) > _MAX_DEPTH or len(self._seen) > _MAX_PLACES:
            self.cut_short = True
            return
        self._seen[pair] = (old, new)
        before, after = read_facets(old, self._old), read_facets(new, self._new)
        paired = [self._pair_branches(before, after, keyword) for keyword in ("oneOf", "anyOf")]
        branches = [each for _, found in paired for each in found]
        for one in self._own((old, new), before, after, branches):
            reach = _reach(sight, one.way)
            yield replace(one, way=(*way, *one.way), reach=reach, sealed=self._sealed(one))
        if not before.types & after.types:
            return
        if "object" in before.types & after.types:
            for name in before.properties:
                if name in after.properties:
                    yield from self.compare(
                        before.properties[name],
                        after.properties[name],
                        _step(sight, name),
                        (*way, name),
                    )
        if "array" in before.types & after.types:
            yield from self._items(before, after, sight, way)
        for common, _ in paired:
            for one_branch, other in common:
                yield from self.compare(one_branch, other, sight, way)

    def _sealed(self, one: Difference) -> str:
        """Texts that were cut short do not say all that differs: the documents stand for them."""
        if self._plain and not (self._old.exhausted or self._new.exhausted):
            return one.sealed
        return self.seal_whole(one.sealed)

    def seal_whole(self, sealed: str) -> str:
        """Return what stands for ``sealed`` and for both documents, annotations apart."""
        old, new = (strip_annotations(side.root) for side in (self._old, self._new))
        return seal([sealed, old], new)

    def _seal_all(self, one: Difference, places: tuple[Placed, Placed]) -> Difference:
        """Seal both subschemas too: the walk does not compare what only one of them speaks of."""
        old, new = places
        texts = [one.sealed, self._old.spell_target(old)]
        return replace(one, sealed=seal(texts, self._new.spell_target(new)))

    def _own(
        self,
        places: tuple[Placed, Placed],
        before: Facets,
        after: Facets,
        branches: Iterable[Difference],
    ) -> Iterator[Difference]:
        """Yield the differences of the place itself."""
        yield from _annotations(before, after)
        for one in _types(before, after):
            yield self._seal_all(one, places)
        if not before.types & after.types:
            return
        listed_once = (before.values is None) != (after.values is None)
        for one in _values(before, after):
            yield self._seal_all(one, places) if listed_once else one
        if not listed_once:
            yield from _bounds(before, after)
            yield from _texts(before, after)
            yield from _sets(before, after)
        if "object" in before.types & after.types:
            yield from compare_members(
                before, after, (self._old.spell_target, self._new.spell_target)
            )
        if "array" in before.types & after.types:
            yield from self._lengths(before, after)
        yield from branches

    def _lengths(self, before: Facets, after: Facets) -> Iterator[Difference]:
        if len(before.prefix) != len(after.prefix):
            yield Difference(
                kind="items-changed",
                pointer=f"{after.at}/prefixItems",
                old=f"{len(before.prefix)} listed",
                new=f"{len(after.prefix)} listed",
                sealed=seal(
                    list(map(self._old.spell_target, before.prefix)),
                    list(map(self._new.spell_target, after.prefix)),
                ),
            )

    def _items(
        self, before: Facets, after: Facets, sight: Sight | None, way: Way
    ) -> Iterator[Difference]:
        below, item = _step(sight, EVERY), (*way, EVERY)
        for one, other in zip(before.prefix, after.prefix, strict=False):
            yield from self.compare(one, other, below, item)
        if before.items is not None or after.items is not None:
            absent_old, absent_new = (f"{before.at}/items", True), (f"{after.at}/items", True)
            yield from self.compare(
                before.items or absent_old, after.items or absent_new, below, item
            )

    def _pair_branches(
        self, before: Facets, after: Facets, keyword: str
    ) -> tuple[list[tuple[Placed, Placed]], list[Difference]]:
        """Return the branches to compare one by one, and what differs in which there are."""
        old, new = before.branches.get(keyword, ()), after.branches.get(keyword, ())
        if not old and not new:
            return [], []
        old_texts = list(map(self._old.spell_target, old))
        new_texts = list(map(self._new.spell_target, new))
        olds, news = (
            list(zip(*each, strict=True)) for each in ((old, old_texts), (new, new_texts))
        )
        gone = [one for one in olds if one[1] not in new_texts]
        come = [one for one in news if one[1] not in old_texts]
        if not gone and not come:
            # The same branches; what is said of them may still differ.
            return [(one, new[new_texts.index(text)]) for one, text in olds], []
        if old and new and len(gone) == len(come):
            return [(one[0], other[0]) for one, other in zip(gone, come, strict=True)], []
        if old and not gone:
            return [], [
                Difference(kind="branch-added", pointer=one[0], sealed=seal(None, text))
                for one, text in come
            ]
        if new and not come:
            return [], [
                Difference(
                    kind="branch-removed", pointer=one[0], within="old", sealed=seal(text, None)
                )
                for one, text in gone
            ]
        return [], [
            Difference(
                kind="branches-changed",
                pointer=f"{after.at if new else before.at}/{keyword}",
                within="new" if new else "old",
                old=_count(len(old), "branch"),
                new=_count(len(new), "branch"),
                sealed=seal(sorted(old_texts), sorted(new_texts)),
            )
        ]


def _identity(placed: Placed) -> object:
    """What a place is known by: there is one ``true`` only, however many places hold it."""
    at, schema = placed
    return at if isinstance(schema, bool) else id(schema)


def _step(sight: Sight | None, segment: str) -> Sight | None:
    return None if sight is None else sight.step(segment)


def _reach(sight: Sight | None, way: Way) -> Reach:
    """What a reader sees of the place, or of the member that ``way`` names."""
    if sight is None or (way and sight.step(way[0]) is None):
        return "hidden"
    return "seen" if way or sight.whole else "mixed"


def _annotations(before: Facets, after: Facets) -> Iterator[Difference]:
    for name, kind in (
        ("texts", "schema-text-changed"),
        ("comments", "comment-changed"),
        ("default", "default-changed"),
        ("deprecated", "deprecated-changed"),
    ):
        old, new = (side.annotations.get(name, frozenset()) for side in (before, after))
        if old != new:
            keywords = sorted({text.partition(":")[0] for text in old ^ new})
            told = ", ".join(map(show_name, keywords)) if name in ("texts", "comments") else name
            yield Difference(
                kind=kind, pointer=after.at, new=told, sealed=seal(sorted(old), sorted(new))
            )


def _types(before: Facets, after: Facets) -> Iterator[Difference]:
    if before.types == after.types:
        return
    kind = "type-changed"
    if before.types and before.types < after.types:
        kind = "type-widened"
    elif after.types and after.types < before.types:
        kind = "type-narrowed"
    yield Difference(
        kind=kind,
        pointer=after.at,
        old=_show_types(before.types),
        new=_show_types(after.types),
        sealed=seal(sorted(before.types), sorted(after.types)),
    )


def _show_types(types: frozenset[str]) -> str:
    if types == TYPES:
        return "any type"
    names = types - {"integer"} if "number" in types else types
    return " or ".join(sorted(names)) or "no value"


def _values(before: Facets, after: Facets) -> Iterator[Difference]:
    old, new = before.values, after.values
    if old == new:
        return
    sealed = seal(None if old is None else sorted(old), None if new is None else sorted(new))
    if old is None or new is None:
        yield Difference(
            kind="enum-added" if old is None else "enum-removed",
            pointer=after.at,
            old="" if old is None else _show_values(old),
            new="" if new is None else _show_values(new),
            sealed=sealed,
        )
        return
    kind = "enum-changed"
    if old < new:
        kind = "enum-widened"
    elif new < old:
        kind = "enum-narrowed"
    yield Difference(
        kind=kind,
        pointer=after.at,
        old=_show_values(old - new) and f"without {_show_values(old - new)}",
        new=_show_values(new - old) and f"with {_show_values(new - old)}",
        sealed=sealed,
    )


def _show_values(values: frozenset[str]) -> str:
    shown = [show_name(text.partition(":")[2]) for text in sorted(values)]
    more = len(shown) - _MAX_SHOWN
    return ", ".join(shown[:_MAX_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _bounds(before: Facets, after: Facets) -> Iterator[Difference]:
    for name in (*LOWER, *UPPER):
        old, new = before.bounds.get(name), after.bounds.get(name)
        if old == new:
            continue
        tighter = old is None or (new is not None and is_tighter(name, new, old))
        yield Difference(
            kind="bound-tightened" if tighter else "bound-loosened",
            pointer=f"{before.at if new is None else after.at}/{name}",
            within="old" if new is None else "new",
            old=_show_bound(name, old),
            new=_show_bound(name, new),
            sealed=seal(old, new),
        )


def _show_bound(name: str, bound: Bound | None) -> str:
    if bound is None:
        return f"no {name}"
    limit, excluded = bound
    return f"{name} {limit}{' excluded' if excluded else ''}"


def _texts(before: Facets, after: Facets) -> Iterator[Difference]:
    for name, old, new in (
        ("pattern", before.patterns, after.patterns),
        ("format", before.formats, after.formats),
    ):
        yield from _gained_or_lost(name, name, (before.at, old), (after.at, new), show_name)


def _sets(before: Facets, after: Facets) -> Iterator[Difference]:
    for kind, names, old, new in (
        ("constraint", CONSTRAINTS, before.constraints, after.constraints),
        ("condition", CONDITIONS, before.conditions, after.conditions),
    ):
        for name in names:
            was, became = old.get(name, frozenset()), new.get(name, frozenset())
            yield from _gained_or_lost(kind, name, (before.at, was), (after.at, became), None)


def _gained_or_lost(
    kind: str,
    keyword: str,
    old: tuple[str, frozenset[str]],
    new: tuple[str, frozenset[str]],
    show: Callable[[str], str] | None,
) -> Iterator[Difference]:
    gone, come = old[1] - new[1], new[1] - old[1]
    if not gone and not come:
        return
    verb = "changed" if gone and come else "added" if come else "removed"
    within: Within = "new" if come else "old"
    yield Difference(
        kind=f"{kind}-{verb}",
        pointer=f"{new[0] if come else old[0]}/{keyword}",
        within=within,
        old=_show_facts(keyword, gone, show),
        new=_show_facts(keyword, come, show),
        sealed=seal(sorted(old[1]), sorted(new[1])),
    )


def _show_facts(keyword: str, facts: frozenset[str], show: Callable[[str], str] | None) -> str:
    """A subschema is too long to show: its keyword stands for it."""
    if show is None:
        return keyword if facts else ""
    return ", ".join(sorted(map(show, facts)))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}es"
