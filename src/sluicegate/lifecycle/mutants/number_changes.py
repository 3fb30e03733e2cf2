"""Numbers just outside their bounds, and far outside where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sluicegate.lifecycle.lint.naming import is_count_name
from sluicegate.lifecycle.mutants.changes import Change
from sluicegate.lifecycle.mutants.places import Spot
from sluicegate.values.json import JsonValue

_HUGE: Final = 10**30


def change_number(spot: Spot) -> Iterator[Change]:
    """Yield the changes of one number."""
    value, view = spot.value, spot.view
    if isinstance(value, bool) or not isinstance(value, int | float) or view.is_listed:
        return
    for keyword, sign in (("maximum", 1), ("minimum", -1)):
        exclusive = f"exclusive{keyword.capitalize()}"
        limits, strict = view.numbers(keyword), view.numbers(exclusive)
        for limit in limits:
            yield _change(f"beyond-{keyword}", spot, limit + sign, keyword)
        for limit in strict:
            yield _change(f"at-exclusive-{keyword}", spot, limit, exclusive)
        if not limits and not strict:
            yield _change(f"no-{keyword}", spot, sign * _HUGE, keyword, "B04")
    for step in view.numbers("multipleOf"):
        yield _change("half-step", spot, value + step / 2, "multipleOf")
    is_count = not spot.is_item and is_count_name(spot.name)
    if isinstance(value, int) or value.is_integer():
        yield _change("fraction", spot, int(value) + 0.5, "type", "B05" if is_count else "")


def _change(operator: str, spot: Spot, value: JsonValue, keyword: str, rule: str = "") -> Change:
    return Change(
        operator=operator, segments=spot.segments, value=value, keyword=keyword, rule=rule
    )
