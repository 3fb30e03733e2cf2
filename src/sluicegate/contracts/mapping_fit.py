"""``upstream.map`` held against the schema of the data that it builds (SPEC RES-3)."""

from __future__ import annotations

from collections.abc import Mapping

from sluicegate.contracts.contract import MapRule
from sluicegate.contracts.places import Place
from sluicegate.contracts.reach import Side
from sluicegate.contracts.schemas.keywords import names_at
from sluicegate.contracts.schemas.projection import find_subschemas
from sluicegate.values.names import show_name
from sluicegate.values.pointers import EVERY, Pointer


def demand_map_fits(place: Place, rules: Mapping[str, MapRule], data: Side) -> None:
    """Note members that the data does not declare, required ones that nothing builds, and table
    values that could never conform."""
    _judge_level(place, rules, data, Pointer(()))


def _judge_level(place: Place, rules: Mapping[str, MapRule], data: Side, at: Pointer) -> None:
    if data.schema is None:
        return
    required = {
        name
        for schema in find_subschemas(data.schema.document, at).schemas
        for name in names_at(schema, "required")
    }
    for name in sorted(required - rules.keys()):
        place.fault(
            f"no rule builds `{show_name(at.child(name).text)}`, which the data requires.",
            "Add its rule, or make it optional in the schema.",
            at_key=True,
        )
    for name, rule in rules.items():
        inner, target = place.follow(name), at.child(name)
        if data.reach(inner, target, at_key=True) is None:
            continue
        if rule.members is not None:
            below = target.child(EVERY) if rule.every else target
            _judge_level(inner.follow("members"), rule.members, data, below)
        for key, value in (rule.values or {}).items():
            data.demand_fit(inner.follow("values").follow(key), target, value)
        if rule.has_other:
            data.demand_fit(inner.follow("other"), target, rule.other)
