"""``evidence``, ``idempotency`` and ``limits.quotas``: what must hold before a call may run.

Source: SPEC ACC-3, ACC-4, EVI-1, EVI-3.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, cast

from sluicegate.contracts.contract import (
    BindRule,
    Effect,
    EvidenceRule,
    EvidenceWaiver,
    IdempotencyRule,
    IdempotencySource,
    QuotaRule,
    QuotaScope,
)
from sluicegate.contracts.near_names import find_member, read_choice, read_members
from sluicegate.contracts.places import Place
from sluicegate.contracts.reach import Side

_DATE: Final = r"20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_MAX_AGE_S: Final = 86_400.0
_MAX_KEEP_S: Final = 30 * 86_400.0
_MAX_COUNT: Final = 100_000
_MAX_WINDOW_S: Final = 31 * 86_400
_MAX_RULES: Final = 8


def read_evidence(
    members: Mapping[str, Place], effect: Effect | None, arguments: Side
) -> tuple[tuple[EvidenceRule, ...], EvidenceWaiver | None]:
    """Return the proofs that the tool asks for, or why a destructive tool asks for none.

    ``effect`` None: it is not known, and nothing is judged by it. That the named tools,
    pointers and values exist is judged over the folder (``evidence``).
    """
    place = members.get("evidence")
    if place is None:
        if effect is Effect.DESTRUCTIVE:
            members["effect"].fault(
                "a destructive tool needs evidence that is taken again right before it acts.",
                "Write `evidence: [{tool: …, refetch: true, …}]`,"
                " or `evidence: {none: REASON, until: YYYY-MM-DD}` to run it without.",
            )
        return (), None
    if not isinstance(place.value, list):
        return (), _read_waiver(place, effect)
    items = place.items() or []
    if not 1 <= len(items) <= _MAX_RULES:
        place.fault(
            f"`evidence` lists {len(items)} proofs.", f"Write 1 to {_MAX_RULES}.", at_key=True
        )
    rules: tuple[EvidenceRule, ...] = ()
    for item in items:
        rule = _read_rule(item, arguments)
        if rule in rules:
            item.fault("this proof stands here twice.", "Keep one of them.")
        if rule is not None:
            rules = (*rules, rule)
    if effect is Effect.READ:
        place.fault(
            "a read asks for no evidence.", "Remove `evidence`, or correct `effect`.", at_key=True
        )
    if effect is Effect.DESTRUCTIVE and items and not any(map(_may_ask_again, items)):
        place.fault(
            "a destructive tool needs a proof that is taken again right before it acts.",
            "Write `refetch: true` in one of them.",
            at_key=True,
        )
    return rules, None


def _may_ask_again(place: Place) -> bool:
    """Whether a proof says `refetch`, or is at fault and may mean to."""
    if not isinstance(place.value, Mapping):
        return True
    again = find_member(place, "proof", "refetch")
    return again is not None and again.value is not False


def _read_rule(place: Place, arguments: Side) -> EvidenceRule | None:
    members = read_members(place, "proof", ("tool", "bind", "max_age_s"))
    if members is None:
        return None
    tool = members["tool"].text() if "tool" in members else None
    age = members["max_age_s"].number(0, _MAX_AGE_S) if "max_age_s" in members else None
    bind = _read_bind(members["bind"], arguments) if "bind" in members else ()
    where = []
    for text, inner in ((members["where"].entries() if "where" in members else None) or {}).items():
        pointer = inner.pointer_of(text, at_key=True)
        if pointer is not None:
            where.append((pointer, inner.value))
    once = members["once"].boolean() if "once" in members else False
    refetch = members["refetch"].boolean() if "refetch" in members else False
    if tool is None or age is None or not bind:
        return None
    return EvidenceRule(
        tool=tool,
        bind=bind,
        where=tuple(where),
        max_age_s=age,
        once=bool(once),
        refetch=bool(refetch),
    )


def _read_bind(place: Place, arguments: Side) -> tuple[BindRule, ...]:
    """Data pointer of the proof → argument pointer of this tool."""
    bound = []
    entries = place.entries() or {}
    for text, inner in entries.items():
        data = inner.pointer_of(text, at_key=True)
        argument = inner.at()
        if argument is not None:
            arguments.demand_required(inner, argument, "and a proof about nothing proves nothing")
        if data is not None and argument is not None:
            bound.append(BindRule(data=data, argument=argument))
    if place.value == {}:
        place.fault(
            "a proof must be about the subject of the call.",
            "Bind a pointer of its data to an argument, as {/project_id: /project_id}.",
        )
    return tuple(bound)


def _read_waiver(place: Place, effect: Effect | None) -> EvidenceWaiver | None:
    inner = read_members(place, "evidence", ("none", "until")) or {}
    reason = inner["none"].text() if "none" in inner else None
    until = inner["until"].text(_DATE, "a day such as 2027-06-30") if "until" in inner else None
    if effect not in (Effect.DESTRUCTIVE, None):
        place.fault(
            "only a destructive tool has evidence to waive.", "Remove `evidence`.", at_key=True
        )
    if reason is None or until is None:
        return None
    return EvidenceWaiver(reason=reason, until=until)


def read_idempotency(place: Place | None, effect: Effect | None) -> IdempotencyRule | None:
    """Return whose key makes two calls one, and for how long it is kept."""
    members = read_members(place, "idempotency", ("key", "keep_s")) if place is not None else None
    if place is None or members is None:
        return None
    key = read_choice(members["key"], ("host", "derived")) if "key" in members else None
    keep = members["keep_s"].number(0, _MAX_KEEP_S) if "keep_s" in members else None
    if effect is Effect.READ:
        place.fault("a read may simply be repeated.", "Remove `idempotency`.", at_key=True)
    if key is None or keep is None:
        return None
    return IdempotencyRule(key=cast("IdempotencySource", key), keep_s=keep)


def read_quotas(place: Place | None, scopes: Collection[str]) -> tuple[QuotaRule, ...]:
    """Return the quotas of a contract or a folder; ``scopes`` are what may be counted apart."""
    rules: list[QuotaRule] = []
    for item in (place.items() if place is not None else None) or ():
        members = read_members(item, "quota", ("count", "window_s"))
        if members is None:
            continue
        per: set[str] = set()
        for scope in (members["per"].items() if "per" in members else None) or ():
            named = scope.one_of(sorted(scopes))
            if named is not None:
                per.add(named)
        count = members["count"].integer(1, _MAX_COUNT) if "count" in members else None
        window = members["window_s"].integer(1, _MAX_WINDOW_S) if "window_s" in members else None
        if count is None or window is None:
            continue
        rule = QuotaRule(
            per=cast("frozenset[QuotaScope]", frozenset(per)), count=count, window_s=window
        )
        if rule in rules:
            item.fault("this quota stands here twice.", "Keep one of them.")
        rules.append(rule)
    return tuple(rules)
