"""The members of an object, old and new: which came, went, were renamed, or changed their duty."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from sluicegate.lifecycle.diff.changes import Difference
from sluicegate.lifecycle.diff.facets import Facets, Placed
from sluicegate.values.names import show_name

Same: TypeAlias = Callable[[Placed, Placed], bool]


def compare_members(before: Facets, after: Facets, same: Same) -> Iterator[Difference]:
    """Yield what differs in names and duties; what stands below common names is not looked at.

    ``same`` says whether an old and a new subschema are written alike.
    """
    gone = [name for name in before.properties if name not in after.properties]
    come = [name for name in after.properties if name not in before.properties]
    moved = {*gone, *come}
    for old, new in _renamed(before, after, (gone, come), same):
        gone.remove(old)
        come.remove(new)
        yield Difference(
            kind="property-renamed",
            pointer=after.properties[new][0],
            old=show_name(old),
            new=show_name(new),
        )
    for name in come:
        yield _added(before, after, name)
    for name in gone:
        yield _removed(before, after, name)
    for name in sorted((before.required ^ after.required) - moved):
        yield _duty(before, after, name)
    yield from _openness(before, after)


def _renamed(
    before: Facets, after: Facets, names: tuple[list[str], list[str]], same: Same
) -> list[tuple[str, str]]:
    """Pair a name that went with one that came and has the same schema and duty, if only one has.

    Objects that are open on either side name no members for certain, so nothing is renamed there.
    """
    gone, come = names
    if not (before.closed and after.closed):
        return []
    pairs = [
        (old, new)
        for old in gone
        for new in come
        if (old in before.required) == (new in after.required)
        and same(before.properties[old], after.properties[new])
    ]
    return [
        (old, new)
        for old, new in pairs
        if sum(old == one for one, _ in pairs) == 1 and sum(new == one for _, one in pairs) == 1
    ]


def _added(before: Facets, after: Facets, name: str) -> Difference:
    if name in after.required and name not in before.required:
        kind = "required-property-added"
    else:
        kind = "optional-property-added" if before.closed else "property-added-to-open"
    return Difference(kind=kind, pointer=after.properties[name][0], new=show_name(name))


def _removed(before: Facets, after: Facets, name: str) -> Difference:
    if not after.closed:
        kind = "property-removed-from-open"
    elif name in before.required:
        kind = "required-property-removed"
    else:
        kind = "optional-property-removed"
    return Difference(
        kind=kind, pointer=before.properties[name][0], within="old", old=show_name(name)
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
    )


def _openness(before: Facets, after: Facets) -> Iterator[Difference]:
    if before.closed != after.closed:
        yield Difference(
            kind="object-closed" if after.closed else "object-opened",
            pointer=after.at,
            old="closed" if before.closed else "open",
            new="closed" if after.closed else "open",
        )
    elif before.rest != after.rest:
        yield Difference(kind="additional-changed", pointer=after.at)
