"""``arguments`` and ``result`` → the two sides of a contract (SPEC 2, CON-2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast

from sluicegate.contracts.contract import (
    ArgumentsPart,
    BindRule,
    FreshRule,
    Integers,
    PythonName,
    ResourceRule,
    ResultPart,
)
from sluicegate.contracts.displaying import is_bounded
from sluicegate.contracts.naming import PythonNames
from sluicegate.contracts.near_names import read_choice, read_members
from sluicegate.contracts.places import Place
from sluicegate.contracts.quoting import show_member
from sluicegate.contracts.reach import NAMING_TYPES, TEXT_TYPES, Side
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.composition import listed_values
from sluicegate.contracts.schemas.keywords import integer_at
from sluicegate.contracts.schemas.projection import project
from sluicegate.values.instants import parse_rfc3339
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.names import show_name
from sluicegate.values.pointers import EVERY, Pointer

_TEXT_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]{0,63}"
_TYPE_NAME: Final = r"[A-Za-z][A-Za-z0-9_.:-]{0,63}"
_SHORTEST_TIME: Final = len("2026-01-01T12:00:00Z")
_TIMELESS: Final = frozenset(
    {"date", "time", "duration", "uuid", "email", "hostname", "ipv4", "ipv6", "uri"}
)
"""Formats of which no text is an RFC 3339 time."""
_MAX_SECONDS: Final = 10 * 365 * 86_400.0


def read_arguments(
    place: Place, schema: CompiledSchema | None, names: PythonNames
) -> ArgumentsPart | None:
    """Return the call side; None where its schema does not load."""
    members = read_members(place, "arguments", ("schema",))
    if members is None:
        return None
    side = Side("arguments", schema)
    checks = _read_checks(members.get("checks"), names)
    resources = _read_resources(members.get("resource"), side)
    added = _read_on_absent(members.get("on_absent"), side)
    integers = _read_integers(members)
    if schema is None:
        return None
    return ArgumentsPart(
        schema=schema, checks=checks, resources=resources, on_absent=added, integers=integers
    )


def _read_integers(members: Mapping[str, Place]) -> Integers:
    found = members["integers"].one_of(("any", "i-json")) if "integers" in members else None
    return cast("Integers", found or "any")


def _read_checks(place: Place | None, names: PythonNames) -> tuple[PythonName, ...]:
    items = place.items() if place is not None else None
    read = [names.read_function(item) for item in items or ()]
    return tuple(name for name in read if name is not None)


def _read_resources(place: Place | None, side: Side) -> tuple[ResourceRule, ...]:
    rules = []
    for item in (place.items() if place is not None else None) or ():
        members = read_members(item, "resource", ("type", "id")) or {}
        kind = (
            members["type"].text(_TYPE_NAME, "a name such as project")
            if "type" in members
            else None
        )
        inner = members.get("id")
        pointer = inner.at() if inner is not None else None
        if inner is None or pointer is None:
            continue
        found = side.demand_required(inner, pointer, "and access is asked about it")
        side.demand_types(
            inner, pointer, found, NAMING_TYPES | {"array"}, "which names no resource"
        )
        if kind is not None:
            rules.append(ResourceRule(type=kind, id=pointer))
    return tuple(rules)


def _read_on_absent(place: Place | None, side: Side) -> dict[Pointer, JsonValue]:
    added: dict[Pointer, JsonValue] = {}
    places: list[tuple[Place, Pointer]] = []
    for text, inner in ((place.entries() if place is not None else None) or {}).items():
        pointer = inner.pointer_of(text, at_key=True)
        found = None if pointer is None else side.reach(inner, pointer, at_key=True)
        if pointer is None:
            continue
        if pointer.is_wild or not pointer.segments:
            inner.fault("what is added stands at one place.", "Name one member.", at_key=True)
        elif found is not None and found.required:
            inner.fault(
                f"`{show_name(text)}` is required, so it is never absent.",
                "Remove it here, or from `required`.",
                at_key=True,
            )
        else:
            side.demand_fit(inner, pointer, inner.value)
        added[pointer] = inner.value
        places.append((inner, pointer))
    for inner, pointer in places:
        for above in added:
            if above.segments and above.segments == pointer.segments[: len(above.segments)]:
                _judge_below(inner, pointer, above)
    return added


def _judge_below(place: Place, pointer: Pointer, above: Pointer) -> None:
    """Which of the two were added first would decide what the call says."""
    if pointer != above:
        place.fault(
            f"`{show_name(pointer.text)}` lies in `{show_name(above.text)}`, which is added too.",
            f"Write the whole value at `{show_name(above.text)}`.",
            at_key=True,
        )


# --- the result --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Selection:
    """Which fields go where; each with the place that names it."""

    agent: Sequence[tuple[Place, Pointer]]
    untrusted: Mapping[str, tuple[Place, Pointer]]
    operator: Sequence[tuple[Place, Pointer]]
    display: Sequence[tuple[Place, Pointer]]


def read_result(
    place: Place, schema: CompiledSchema | None, arguments: Side, names: PythonNames
) -> ResultPart | None:
    """Return the result side; None where its schema, or what it publishes, does not load."""
    members = read_members(place, "result", ("schema",))
    if members is None:
        return None
    data = Side("data", schema)
    bind = _read_bind(members.get("bind"), data, arguments)
    fresh = _read_fresh(members["fresh"], data) if "fresh" in members else None
    checks = _read_checks(members.get("checks"), names)
    before = len(place.problems)
    selection = _read_selection(place, members, data)
    clean = len(place.problems) == before
    integers = _read_integers(members)
    agent_schema = _publish(place, schema, selection) if clean else None
    if schema is None or agent_schema is None:
        return None
    return ResultPart(
        schema=schema,
        agent_schema=agent_schema,
        bind=bind,
        fresh=fresh,
        checks=checks,
        agent=_pointers(selection.agent),
        untrusted_text={name: pointer for name, (_, pointer) in selection.untrusted.items()},
        operator=_pointers(selection.operator),
        display=_pointers(selection.display),
        integers=integers,
    )


def _pointers(places: Sequence[tuple[Place, Pointer]]) -> tuple[Pointer, ...]:
    return tuple(pointer for _, pointer in places)


def _read_bind(place: Place | None, data: Side, arguments: Side) -> tuple[BindRule, ...]:
    rules = []
    for text, inner in ((place.entries() if place is not None else None) or {}).items():
        target = inner.pointer_of(text, at_key=True)
        found = None if target is None else data.reach(inner, target, at_key=True)
        if isinstance(inner.value, Mapping):
            caller = _read_caller(inner)
            if target is not None and caller is not None:
                rules.append(BindRule(data=target, caller=caller))
            continue
        source = inner.at()
        if source is None:
            continue
        if source.is_wild:
            inner.fault("a value is bound to one argument.", "Name one argument.")
            continue
        given = arguments.demand_required(inner, source, "and nothing can be bound to it")
        if found is not None and given is not None and not found.types & given.types:
            inner.fault(
                f"`{show_name(text)}` and its argument have no type in common.",
                "Bind it to the argument that it repeats.",
            )
        if target is not None:
            rules.append(BindRule(data=target, argument=source))
    return tuple(rules)


def _read_caller(place: Place) -> Literal["subject", "tenant"] | None:
    members = read_members(place, "bound caller", ("caller",)) or {}
    found = read_choice(members["caller"], ("subject", "tenant")) if "caller" in members else None
    return cast('Literal["subject", "tenant"] | None', found)


def _read_fresh(place: Place, data: Side) -> FreshRule | None:
    members = read_members(place, "fresh", ("at", "max_age_s"))
    if members is None:
        return None
    at = members["at"].at() if "at" in members else None
    if at is not None and at.is_wild:
        members["at"].fault("an answer has one time.", "Name one member.")
    elif at is not None:
        found = data.demand_required(members["at"], at, "and an answer without time is never fresh")
        data.demand_types(members["at"], at, found, TEXT_TYPES, "which is no RFC 3339 time")
        if found is not None and found.types <= TEXT_TYPES and not _may_be_time(found.schemas):
            members["at"].fault(
                f"`{show_name(at.text)}` is never an RFC 3339 time, and every answer would be"
                " refused.",
                "Name a member with `format: date-time`.",
            )
    age = members["max_age_s"].number(0, _MAX_SECONDS) if "max_age_s" in members else None
    ahead: float | None = 5.0
    if "max_ahead_s" in members:
        ahead = 0.0 if members["max_ahead_s"].value == 0 else members["max_ahead_s"].number(0, 3600)
    if at is None or age is None or ahead is None:
        return None
    return FreshRule(at=at, max_age_s=age, max_ahead_s=ahead)


def _may_be_time(schemas: Sequence[JsonObject]) -> bool:
    """Whether each schema admits a time, as far as values, format and length tell."""
    for schema in schemas:
        listed = listed_values(schema)
        times = [
            value for value in listed if isinstance(value, str) and parse_rfc3339(value) is not None
        ]
        if listed and not times:
            return False
        longest = integer_at(schema, "maxLength")
        if longest is not None and longest < _SHORTEST_TIME:
            return False
        if schema.get("format") in _TIMELESS:
            return False
    return True


def _read_selection(place: Place, members: Mapping[str, Place], data: Side) -> _Selection:
    selection = _Selection(
        agent=_read_pointers(members.get("agent"), data),
        untrusted=_read_untrusted(members.get("untrusted_text"), data),
        operator=_read_pointers(members.get("operator"), data),
        display=_read_pointers(members.get("display"), data),
    )
    given = [members[key].value for key in ("agent", "untrusted_text") if key in members]
    if all(value in ([], {}) for value in given):
        place.fault(
            "nothing is selected for the agent.",
            "List under `agent` the fields that it needs.",
            at_key=True,
        )
    for item, pointer in selection.display:
        if data.schema is not None and not is_bounded(data.schema.document, pointer):
            item.fault(
                f"`{show_name(pointer.text)}` is text without a bound, and people see all of it.",
                "Give it a `maxLength`, an `enum` or a `const`.",
            )
    agent = [*selection.agent, *selection.untrusted.values()]
    _keep_apart(agent, "agent", selection.operator, "operator")
    _keep_apart(selection.display, "display", selection.operator, "operator")
    _keep_apart(selection.agent, "agent", list(selection.untrusted.values()), "untrusted_text")
    return selection


def _read_pointers(place: Place | None, data: Side) -> list[tuple[Place, Pointer]]:
    found: list[tuple[Place, Pointer]] = []
    for item in (place.items() if place is not None else None) or ():
        pointer = data.read(item) if data.schema is not None else item.at()
        if pointer is None:
            continue
        twin = next((other for _, other in found if _overlap(pointer, other)), None)
        if twin is not None:
            item.fault(
                f"`{show_name(pointer.text)}` and `{show_name(twin.text)}` overlap.",
                "Name each place once: the whole, or some of its members.",
            )
        found.append((item, pointer))
    return found


def _read_untrusted(place: Place | None, data: Side) -> dict[str, tuple[Place, Pointer]]:
    texts = {}
    for name, inner in ((place.entries() if place is not None else None) or {}).items():
        if not inner.is_named(_TEXT_NAME):
            inner.fault(
                f"`{show_member(name)}` is no name for a text.",
                "Begin with a letter; letters, digits and _ follow.",
                at_key=True,
            )
        pointer = data.read(inner) if data.schema is not None else inner.at()
        if pointer is not None:
            texts[name] = (inner, pointer)
    return texts


def _keep_apart(
    left: Sequence[tuple[Place, Pointer]],
    left_name: str,
    right: Sequence[tuple[Place, Pointer]],
    right_name: str,
) -> None:
    for place, pointer in right:
        for _, other in left:
            if _overlap(pointer, other):
                place.fault(
                    f"`{show_name(pointer.text)}` in `{right_name}` overlaps "
                    f"`{show_name(other.text)}` in `{left_name}`.",
                    "Keep each field in one of the two.",
                )


def _overlap(left: Pointer, right: Pointer) -> bool:
    """Whether one place is, or lies below, the other; ``*`` is every item."""
    return all(
        a == b or EVERY in (a, b) for a, b in zip(left.segments, right.segments, strict=False)
    )


def _publish(
    place: Place, schema: CompiledSchema | None, selection: _Selection
) -> JsonObject | None:
    if schema is None:
        return None
    untrusted = {name: pointer for name, (_, pointer) in selection.untrusted.items()}
    projected = project(schema.document, _pointers(selection.agent), untrusted)
    if not isinstance(projected, tuple):
        return projected
    chosen = [*selection.agent, *selection.untrusted.values()]
    for fault in projected:
        named = (spot for spot, at in chosen if f"`{show_name(at.text)}`" in fault.message)
        next(named, place).fault(
            fault.message[:1].upper() + fault.message[1:], fault.mend, code=fault.code
        )
    return None
