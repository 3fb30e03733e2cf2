"""The members of an object, old and new: which came, went, were renamed, or changed their duty."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from sluicegate.lifecycle.diff.changes import Difference, seal
from sluicegate.lifecycle.diff.facets import Facets
from sluicegate.lifecycle.diff.spelling import Placed
from sluicegate.values.names import show_name

Texts: TypeAlias = "tuple[Callable[[Placed], str], Callable[[Placed], str]]"
"""The text of a subschema of the old and of the new document: equal where it says the same."""


def compare_members(before: Facets, after: Facets, texts: Texts) -> Iterator[Difference]:
    """Yield what differs in names and duties; what stands below common names is not looked at.

    ``way`` of a difference is the name that it is about.
    """
    gone = [name for name in before.properties if name not in after.properties]
    come = [name for name in after.properties if name not in before.properties]
    moved = {*gone, *come}
    for old, new in list(_renamed(before, after, (gone, come), texts)):
        gone.remove(old)
        come.remove(new)
        yield Difference(
            kind="property-renamed",
            pointer=after.properties[new][0],
            old=show_name(old),
            new=show_name(new),
            sealed=seal([old, texts[0](before.properties[old])], new),
            way=(new,),
        )
    for name in come:
        yield _added(before, after, name, texts[1](after.properties[name]))
    for name in gone:
        yield _removed(before, after, name, texts[0](before.properties[name]))
    for name in sorted((before.required ^ after.required) - moved):
        yield _duty(before, after, name)
    yield from _openness(before, after)


def _renamed(
    before: Facets, after: Facets, names: tuple[list[str], list[str]], texts: Texts
) -> Iterator[tuple[str, str]]:
    """Pair a name that went with one that came and has the same schema and duty, if only one has.

    Objects that are open on either side name no members for certain, so nothing is renamed there.
    """
    if not (before.closed and after.closed):
        return
    gone, come = (
        _by_text(facets, listed, text)
        for facets, listed, text in zip((before, after), names, texts, strict=True)
    )
    for key, old in gone.items():
        new = come.get(key, [])
        if len(old) == len(new) == 1:
            yield old[0], new[0]


def _by_text(
    facets: Facets, names: list[str], text: Callable[[Placed], str]
) -> dict[tuple[str, bool], list[str]]:
    grouped: dict[tuple[str, bool], list[str]] = {}
    for name in names:
        key = text(facets.properties[name]), name in facets.required
        grouped.setdefault(key, []).append(name)
    return grouped


def _added(before: Facets, after: Facets, name: str, text: str) -> Difference:
    if name in after.required and name not in before.required:
        kind = "required-property-added"
    else:
        kind = "optional-property-added" if before.closed else "property-added-to-open"
    return Difference(
        kind=kind,
        pointer=after.properties[name][0],
        new=show_name(name),
        sealed=seal(None, [name, text]),
        way=(name,),
    )


def _removed(before: Facets, after: Facets, name: str, text: str) -> Difference:
    if not after.closed:
        kind = "property-removed-from-open"
    elif name in before.required:
        kind = "required-property-removed"
    else:
        kind = "optional-property-removed"
    return Difference(
        kind=kind,
        pointer=before.properties[name][0],
        within="old",
        old=show_name(name),
        sealed=seal([name, text], None),
        way=(name,),
    )


def _duty(before: Facets, after: Facets, name: str) -> Difference:
    required = name in after.required
    if name in after.properties:
        pointer = after.properties[name][0]
    else:
        pointer = f"{after.at if required else before.at}/required"
    return Difference(
        kind="property-required" if required else "property-optional",
        pointer=pointer,
        within="old" if name not in after.properties and not required else "new",
        old="optional" if required else "required",
        new=f"{show_name(name)} is {'required' if required else 'optional'}",
        sealed=seal(name, required),
        way=(name,),
    )


def _openness(before: Facets, after: Facets) -> Iterator[Difference]:
    if before.closed != after.closed:
        yield Difference(
            kind="object-closed" if after.closed else "object-opened",
            pointer=after.at,
            old="closed" if before.closed else "open",
            new="closed" if after.closed else "open",
            sealed=seal(sorted(before.rest), sorted(after.rest)),
        )
    elif before.rest != after.rest:
        yield Difference(
            kind="additional-changed",
            pointer=after.at,
            sealed=seal(sorted(before.rest), sorted(after.rest)),
        )
