"""``upstream.map`` and ``text.extract`` held against the data they build (RES-3, RES-10)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sluicegate.contracts.contract import MapRule
from sluicegate.contracts.near_names import member_of, say_meant
from sluicegate.contracts.places import Place
from sluicegate.contracts.reach import TEXT_TYPES, Side
from sluicegate.contracts.schemas.keywords import names_at
from sluicegate.contracts.schemas.projection import find_subschemas
from sluicegate.values.names import show_name
from sluicegate.values.pointers import EVERY, Pointer


def demand_map_fits(place: Place, rules: Mapping[str, MapRule], data: Side) -> None:
    """Note members that the data does not declare, required ones that nothing builds, and table
    values that could never conform."""
    _judge_level(place, rules, data, Pointer(()))


def demand_groups_fit(
    place: Place, groups: Collection[str], rules: Mapping[str, MapRule] | None, data: Side
) -> None:
    """Note groups of an expression that the data does not take, and members that no group builds.

    With a map the groups are what its rules look into.
    """
    if data.schema is None:
        return
    if rules is not None:
        for name, rule in rules.items():
            if rule.at.segments and rule.at.segments[0] not in groups:
                place.fault(
                    f"no group is named `{show_name(rule.at.segments[0])}`, and the rule of "
                    f"`{show_name(name)}` in `map` looks for it.",
                    say_meant(rule.at.segments[0], groups),
                )
        return
    root = find_subschemas(data.schema.document, Pointer(())).schemas
    required = {name for schema in root for name in names_at(schema, "required")}
    for name in sorted(required - set(groups)):
        place.fault(
            f"no group is named `{show_name(name)}`, which the data requires.",
            "Name a group so, or make it optional in the schema.",
        )
    for name in groups:
        found = data.reach(place, Pointer((name,)))
        if found is not None and not found.types & TEXT_TYPES:
            place.fault(
                f"the group `{show_name(name)}` is a text, which the data does not take there.",
                "Convert it in `map`, or declare it as a string.",
            )


def _judge_level(place: Place, rules: Mapping[str, MapRule], data: Side, at: Pointer) -> None:
    if data.schema is None:
        return
    required = {
        name
        for schema in find_subschemas(data.schema.document, at).schemas
        for name in names_at(schema, "required")
    }
    written = place.value.keys() if isinstance(place.value, Mapping) else set()
    for name in sorted(required - written):
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
            _judge_level(member_of(inner, "map rule", "members"), rule.members, data, below)
        for key, value in (rule.values or {}).items():
            data.demand_fit(member_of(inner, "map rule", "values").follow(key), target, value)
        if rule.has_other:
            data.demand_fit(member_of(inner, "map rule", "other"), target, rule.other)
