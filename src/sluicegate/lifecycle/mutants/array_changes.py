"""Arrays with too many, too few or repeated items. Floods use distinct items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from sluicegate.contracts.schemas.keywords import schema_list
from sluicegate.lifecycle.mutants.changes import Change
from sluicegate.lifecycle.mutants.examples import Maker
from sluicegate.lifecycle.mutants.mutant import spell
from sluicegate.lifecycle.mutants.places import Spot
from sluicegate.values.json import JsonValue, canonical_text

_FLOOD_BYTES: Final = 16_000
"""Below every byte limit that a contract is likely to have: another rung must not hide the hole."""

_MOST: Final = 2_000
_FEWEST: Final = 20


def change_array(spot: Spot, maker: Maker) -> Iterator[Change]:
    """Yield the changes of one array's items."""
    items = spot.value
    if not isinstance(items, list | tuple):
        return
    yield from _flooded(spot, items, maker)
    view = spot.view
    least = view.least("minItems")
    if 0 < least <= len(items):
        yield _change("too-few-items", spot, list(items[: least - 1]), "minItems")
    if items and True in view.all("uniqueItems"):
        yield _change("repeated-item", spot, [*items, items[0]], "uniqueItems")
    first = max((len(schema_list(part, "prefixItems")) for part in view.parts), default=0)
    if first and len(items) == first:
        yield _change("tuple-extra-item", spot, [*items, "unreviewed"], "items", "B10")
        yield _change("tuple-lacks-item", spot, list(items[:-1]), "minItems", "B10")


def _flooded(spot: Spot, items: Sequence[JsonValue], maker: Maker) -> Iterator[Change]:
    view = spot.view
    most = view.most("maxItems")
    if most is not None and most >= _MOST:
        return
    schemas = view.item(len(items))
    size = max((len(spell(each)) for each in items), default=20)
    wanted = min(max(_FLOOD_BYTES // (size + 1), _FEWEST), _MOST) if most is None else most + 1
    flood = list(items)
    seen = {canonical_text(each) for each in items}
    for value in maker.distinct(schemas, wanted + len(items)) if schemas else range(wanted):
        if len(flood) >= wanted:
            break
        key = canonical_text(value)
        if key not in seen:
            seen.add(key)
            flood.append(value)
    if len(flood) < wanted:
        if True in view.all("uniqueItems") or not flood:
            return  # there are no more different items: the array is bounded by them
        flood = [flood[index % len(flood)] for index in range(wanted)]
    if len(flood) > len(items):
        rule = "B03" if most is None else ""
        yield _change("too-many-items", spot, flood[:wanted], "maxItems", rule)


def _change(operator: str, spot: Spot, value: JsonValue, keyword: str, rule: str = "") -> Change:
    return Change(
        operator=operator, segments=spot.segments, value=value, keyword=keyword, rule=rule
    )
