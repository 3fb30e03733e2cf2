"""What changed in a contract beside its schemas: rows 42 to 60 of the table (lifecycle B2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, Final, TypeAlias

from sluicegate.contracts.contract import ArgumentsPart, Contract, Effect, FreshRule, ResultPart
from sluicegate.contracts.fingerprints import describe
from sluicegate.lifecycle.diff.authority import find_authority_differences, key_header
from sluicegate.lifecycle.diff.changes import Difference, Role, seal
from sluicegate.lifecycle.diff.kinds import KINDS
from sluicegate.lifecycle.diff.tombstones import find_tombstone_differences
from sluicegate.values.json import JsonValue, identity_text
from sluicegate.values.limits import Limits
from sluicegate.values.names import show_name
from sluicegate.values.pointers import Pointer

Told: TypeAlias = "tuple[Role, Difference]"
Record: TypeAlias = "Contract | ArgumentsPart | ResultPart"

_TOLD_ELSEWHERE: Final = frozenset(
    {
        *("tool", "version", "title", "description", "fingerprints", "source", "document"),
        *("schema", "agent_schema", "agent", "untrusted_text"),
    }
)
"""Members of the records that the version, the texts, the walk over schemas or the selection speak
for."""


def find_policy_differences(old: Contract, new: Contract) -> Iterator[Told]:
    """Yield what differs, each with the side that it is judged on; selection is told elsewhere.

    A member of a contract that differs and that nothing here has a kind for is ``policy-changed``,
    whatever else changed. The order of a list that has none, as of checks, is no difference.
    """
    yield from _find(old, new)
    for place, mixed in _change_one_by_one(old, new):
        if not any(True for _ in _find(old, mixed)):
            was, is_ = (_unordered(_member(each, place)) for each in (old, new))
            yield "tool", _told("policy-changed", place, "", "", was, is_)


def _change_one_by_one(old: Contract, new: Contract) -> Iterator[tuple[str, Contract]]:
    """Yield each member that differs with ``old`` in which it alone is as in ``new``."""
    for name in _differing_members(old, new):
        if name not in ("arguments", "result"):
            yield f"/{name}", _put(old, name, new)
            continue
        before, after = getattr(old, name), getattr(new, name)
        for inner in _differing_members(before, after):
            part = _put(before, inner, after)
            yield f"/{name}/{inner}", replace(old, **{name: part})


def _differing_members(old: Record, new: Record) -> list[str]:
    return [
        member.name
        for member in fields(old)
        if member.name not in _TOLD_ELSEWHERE
        and not _are_equal(
            _unordered(describe(getattr(old, member.name))),
            _unordered(describe(getattr(new, member.name))),
        )
    ]


def _member(contract: Contract, place: str) -> JsonValue:
    record: object = contract
    for name in place.split("/")[1:]:
        record = getattr(record, name)
    return describe(record)


def _put(old: Record, name: str, new: Record) -> Any:
    return replace(old, **{name: getattr(new, name)})


def _are_equal(old: JsonValue, new: JsonValue) -> bool:
    """Whether two JSON values are one; for Python, true and 1 are one too."""
    return identity_text(old) == identity_text(new)


def _unordered(value: JsonValue) -> JsonValue:
    if isinstance(value, Mapping):
        return {name: _unordered(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return sorted(map(identity_text, map(_unordered, value)))
    return value


def _find(old: Contract, new: Contract) -> Iterator[Told]:
    yield from _whole(old, new)
    yield from _arguments(old, new)
    yield from _limits(old, new)
    yield from _upstream(old, new)
    yield from _result(old, new)
    yield from _errors(old, new)
    yield from _retry(old, new)
    yield from find_authority_differences(old, new)
    yield from find_tombstone_differences(old, new)


def _whole(old: Contract, new: Contract) -> Iterator[Told]:
    if (old.title, old.description) != (new.title, new.description):
        texts = ([each.title, each.description] for each in (old, new))
        yield "tool", _told("tool-text-changed", "/description", "", "", *texts)
    if old.effect is not new.effect:
        yield "tool", _told("effect-changed", "/effect", old.effect, new.effect)
    if old.owner != new.owner:
        shown = (show_name(old.owner), show_name(new.owner))
        yield "tool", _told("owner-changed", "/owner", *shown, old.owner, new.owner)
    if old.evidence_waiver != new.evidence_waiver:
        told = ("evidence-waiver-changed", "/evidence", "", "")
        yield "arguments", _told(*told, old.evidence_waiver, new.evidence_waiver)
    masks: tuple[tuple[Role, tuple[Pointer, ...], tuple[Pointer, ...]], ...] = (
        ("arguments", old.masked_arguments, new.masked_arguments),
        ("result", old.masked_data, new.masked_data),
    )
    for role, before, after in masks:
        if set(before) != set(after):
            shown = (_names(before), _names(after))
            sets = (frozenset(before), frozenset(after))
            yield role, _told("mask-changed", f"/mask/{role}", *shown, *sets)


def _arguments(old: Contract, new: Contract) -> Iterator[Told]:
    before, after = old.arguments, new.arguments
    resources = (frozenset(before.resources), frozenset(after.resources))
    if resources[0] != resources[1]:
        yield "arguments", _told("resource-changed", "/arguments/resource", "", "", *resources)
    if not _are_equal(describe(before.on_absent), describe(after.on_absent)):
        told = ("absence-changed", "/arguments/on_absent", "", "")
        yield "arguments", _told(*told, before.on_absent, after.on_absent)
    yield from _checks("arguments", map(str, before.checks), map(str, after.checks))
    yield from _integers("arguments", before.integers, after.integers)


def _checks(role: Role, before: Iterable[str], after: Iterable[str]) -> Iterator[Told]:
    old, new = set(before), set(after)
    for name in sorted(old - new):
        yield role, _told("check-removed", f"/{role}/checks", show_name(name), "", name)
    for name in sorted(new - old):
        yield role, _told("check-added", f"/{role}/checks", "", show_name(name), None, name)


def _integers(role: Role, old: str, new: str) -> Iterator[Told]:
    if old != new:
        kind = "integers-narrowed" if new == "i-json" else "integers-widened"
        yield role, _told(kind, f"/{role}/integers", old, new)


def _limits(old: Contract, new: Contract) -> Iterator[Told]:
    sides: tuple[tuple[Role, Limits, Limits, str], ...] = (
        ("arguments", old.call_limits, new.call_limits, "max_call_bytes"),
        ("result", old.limits, new.limits, "max_bytes"),
    )
    for role, before, after, bytes_name in sides:
        for name, was, is_ in (
            (bytes_name, before.max_bytes, after.max_bytes),
            ("max_depth", before.max_depth, after.max_depth),
        ):
            if was != is_:
                kind = "limit-lowered" if is_ < was else "limit-raised"
                yield role, _told(kind, f"/limits/{name}", f"{name} {was}", f"{name} {is_}")


def _upstream(old: Contract, new: Contract) -> Iterator[Told]:
    if type(old.fetch) is not type(new.fetch):
        fetches = ([type(each.fetch).__name__, describe(each.fetch)] for each in (old, new))
        yield "result", _told("endpoint-changed", "/fetch", "", "", *fetches)
    else:
        for name, *ways in _differing(describe(old.fetch), describe(new.fetch)):
            if name != "idempotency_header":
                yield "result", _told("endpoint-changed", "/fetch", "", name, *ways)
    for name, *rules in _differing(describe(old.upstream), describe(new.upstream)):
        if name != "signature":
            yield "result", _told("mapping-changed", f"/upstream/{name}", "", name, *rules)
    if old.cache != new.cache:
        yield "result", _told("cache-changed", "/fetch/cache", "", "", old.cache, new.cache)


def _differing(old: JsonValue, new: JsonValue) -> Iterator[tuple[str, JsonValue, JsonValue]]:
    """Yield the members that differ, by name: what each was and is, None for absent."""
    before = old if isinstance(old, Mapping) else {}
    after = new if isinstance(new, Mapping) else {}
    for name in sorted({*before, *after}):
        if not _are_equal(before.get(name), after.get(name)):
            yield name, before.get(name), after.get(name)


def _result(old: Contract, new: Contract) -> Iterator[Told]:
    before, after = old.result, new.result
    yield from _checks("result", map(str, before.checks), map(str, after.checks))
    yield from _integers("result", before.integers, after.integers)
    bound_old = {rule.data.text: rule for rule in before.bind}
    bound_new = {rule.data.text: rule for rule in after.bind}
    for at in sorted({*bound_old, *bound_new}):
        was, is_ = bound_old.get(at), bound_new.get(at)
        if was == is_:
            continue
        kind = "check-added" if was is None else "check-removed"
        kind = kind if was is None or is_ is None else "binding-changed"
        told = f"binding of {show_name(at)}"
        yield "result", _told(kind, "/result/bind", "", told, was, is_)
    yield from _fresh(before.fresh, after.fresh)
    for_host = [[frozenset(each.operator), frozenset(each.display)] for each in (before, after)]
    if for_host[0] != for_host[1]:
        yield "result", _told("host-fields-changed", "/result", "", "", *for_host)


def _fresh(old: FreshRule | None, new: FreshRule | None) -> Iterator[Told]:
    if old == new:
        return
    if old is None or new is None or old.at != new.at:
        if old is not None:
            yield "result", _told("check-removed", "/result", f"freshness at {old.at}", "", old)
        if new is not None:
            told = f"freshness at {new.at}"
            yield "result", _told("check-added", "/result/fresh", "", told, None, new)
        return
    for name, was, is_ in (
        ("max_age_s", old.max_age_s, new.max_age_s),
        ("max_ahead_s", old.max_ahead_s, new.max_ahead_s),
    ):
        if was != is_:
            kind = "freshness-widened" if is_ > was else "freshness-narrowed"
            yield "result", _told(kind, f"/result/fresh/{name}", f"{name} {was}", f"{name} {is_}")


def _errors(old: Contract, new: Contract) -> Iterator[Told]:
    for code in sorted({*old.errors, *new.errors}):
        was, is_ = old.errors.get(code), new.errors.get(code)
        if was == is_:
            continue
        if was is None:
            yield "result", _told("error-added", f"/errors/{code}", "", code, None, is_)
        elif is_ is None:
            yield "result", _told("error-removed", "/errors", code, "", was)
        else:
            kind = "error-retryable-changed"
            yield "result", _told(kind, f"/errors/{code}", _retryable(was), _retryable(is_))


def _retryable(retryable: bool) -> str:
    return "retryable" if retryable else "not retryable"


def _retry(old: Contract, new: Contract) -> Iterator[Told]:
    before, after = old.retry, new.retry
    if before == after:
        return
    repeatable = new.effect is Effect.READ or key_header(new) is not None
    for name, more, less, was, is_ in (
        (
            "attempts",
            after.attempts > before.attempts,
            after.attempts < before.attempts,
            str(before.attempts),
            str(after.attempts),
        ),
        (
            "budget_s",
            after.budget_s > before.budget_s,
            after.budget_s < before.budget_s,
            str(before.budget_s),
            str(after.budget_s),
        ),
        (
            "on",
            bool(after.on - before.on),
            bool(before.on - after.on),
            _names(before.on),
            _names(after.on),
        ),
    ):
        extended = "retry-extended" if repeatable else "retry-extended-for-writes"
        for kind, holds in ((extended, more), ("retry-reduced", less)):
            if holds:
                yield "arguments", _told(kind, "/retry", f"{name} {was}", f"{name} {is_}")


def _names(names: Iterable[object]) -> str:
    return ", ".join(sorted(show_name(str(name)) for name in names))


def _told(
    kind: str, pointer: str, old: str, new: str, was: object = None, is_: object = None
) -> Difference:
    """``was`` and ``is_`` are what differs, where ``old`` and ``new`` do not say all of it."""
    return Difference(
        kind=KINDS[kind].name,
        pointer=pointer,
        old=str(old),
        new=str(new),
        sealed=seal(describe(was), describe(is_)),
    )
