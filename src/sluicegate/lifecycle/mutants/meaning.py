"""Answers that are well formed and wrong: to another request, of another subject, out of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sluicegate.contracts.contract import BindRule, CommandFetch, Contract, HttpFetch, SshFetch
from sluicegate.contracts.schemas.keywords import Schema
from sluicegate.lifecycle.mutants.carrying import Carried
from sluicegate.lifecycle.mutants.examples import Maker
from sluicegate.lifecycle.mutants.mutant import Expectation, Mutant, name_place, replace_at, spell
from sluicegate.lifecycle.mutants.places import Spot, walk_spots
from sluicegate.lifecycle.mutants.unbound import mutate_unbound
from sluicegate.lifecycle.mutants.views import Viewer
from sluicegate.values.codes import Stage
from sluicegate.values.instants import NANOS, Instant, moment_of, nanos_of, parse_rfc3339
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.pointers import NOTHING, Pointer, join_segments
from sluicegate.values.requests import Request

_OTHER_REQUEST: Final = "req.another0"
_OTHER_TOOL: Final = "another_tool"
_HTML: Final = b"<!DOCTYPE html><html><body>Sign in</body></html>"
_HIDDEN: Final[Mapping[str, str]] = {
    "hidden-zero-width": "\u200b",
    "hidden-bidi": "\u202e",
    "hidden-nul": "\x00",
    "hidden-tag": "\U000e0041",
}
_TEXTS: Final = 24
"""Texts of one answer that smuggling is tried in."""

Needs = Mapping[str, JsonValue]


def mutate_meaning(contract: Contract, carried: Carried, request: Request) -> Iterator[Mutant]:
    """Yield the meaning mutants of an accepted answer to ``request``; the same ones each time.

    Stage fetch where status, exit code or media type differ; vouch where the answer is not ours,
    about another subject, out of time or smuggles text, also where the contract has no rule for it;
    ``accepted`` at both edges of freshness; ``unseen`` where only unselected members differ.
    Source: facts lifecycle B3; SPEC RES-1, RES-5, RES-7.
    """
    raw = spell(carried.document)
    viewer = Viewer(contract.result.schema.document)
    spots = list(walk_spots(carried.data, viewer, [viewer.document]))
    maker = Maker(viewer)
    yield from _delivered(contract, raw)
    yield from _misdirected(contract, carried, request, raw)
    for rule in contract.result.bind:
        yield from _about_another(contract, carried, rule, request, spots, maker, raw)
    yield from _out_of_time(contract, carried, raw)
    yield from mutate_unbound(contract, carried, spots, maker, raw)
    yield from _smuggling(contract, carried, spots)
    yield from _unselected(contract, carried, spots, maker)


def _delivered(contract: Contract, raw: bytes) -> Iterator[Mutant]:
    fetch, upstream = contract.fetch, contract.upstream
    if isinstance(fetch, HttpFetch):
        for status in (204, 302, 401, 404, 429, 500, 503):
            if status not in upstream.success_status:
                yield _meaning(f"status-{status}", raw, Stage.FETCH, needs={"status": status})
        for media in ("text/html", "application/problem+json", "text/event-stream"):
            if media not in upstream.content_type:
                yield _meaning(
                    name_place("media-type", [media]),
                    raw,
                    Stage.FETCH,
                    needs={"content_type": media},
                )
        if "text/html" not in upstream.content_type:
            yield _meaning(
                "login-page", _HTML, Stage.FETCH, needs={"content_type": "text/html; charset=utf-8"}
            )
    elif isinstance(fetch, CommandFetch | SshFetch):
        for exit_code in (1, 127, 137):
            if exit_code not in upstream.success_exit:
                yield _meaning(
                    f"exit-{exit_code}", raw, Stage.FETCH, needs={"exit_code": exit_code}
                )


def _misdirected(
    contract: Contract, carried: Carried, request: Request, raw: bytes
) -> Iterator[Mutant]:
    document = carried.document
    if contract.upstream.carrier != "envelope" or not isinstance(document, Mapping):
        return
    for name, other in (("tool", _OTHER_TOOL), ("request_id", _OTHER_REQUEST)):
        changed = {**document, name: other}
        yield _meaning(f"wrong-{name}", spell(changed), Stage.VOUCH, pointer=f"/{name}")
    yield _meaning(
        "replayed-answer", raw, Stage.VOUCH, needs={"request_id": f"{request.request_id}x"[-64:]}
    )


def _about_another(
    contract: Contract,
    carried: Carried,
    rule: BindRule,
    request: Request,
    spots: list[Spot],
    maker: Maker,
    raw: bytes,
) -> Iterator[Mutant]:
    by_place = {join_segments(spot.segments): spot for spot in spots}
    for index, (at, value) in enumerate(rule.data.every(carried.data)):
        spot = by_place.get(at)
        if spot is None or index > 2:
            continue
        for turn, other in enumerate(_others(maker, spot.schemas, value, 2)):
            changed = carried.put(spot.segments, other)
            if changed is not None:
                name = name_place(f"another-subject-{turn + 1}", spot.segments)
                yield _meaning(name, changed, Stage.VOUCH, pointer=at, rule="E10")
    if rule.caller is not None:
        caller: dict[str, JsonValue] = {"subject": request.caller.subject}
        if request.caller.tenant is not None:
            caller["tenant"] = request.caller.tenant
        caller[rule.caller] = f"{caller.get(rule.caller, '')}-another"
        name = f"another-{rule.caller}"
        yield _meaning(
            name, raw, Stage.VOUCH, pointer=rule.data.text, needs={"caller": caller}, rule="E10"
        )
    elif rule.argument is not None:
        for arguments in _other_arguments(contract, rule.argument, request):
            yield _meaning(
                name_place("asked-for-another", rule.argument.segments),
                raw,
                Stage.VOUCH,
                pointer=rule.data.text,
                needs={"arguments": arguments},
                rule="E10",
            )


def _other_arguments(
    contract: Contract, argument: Pointer, request: Request
) -> Iterator[JsonObject]:
    """One other valid set of arguments that differs at ``argument`` alone."""
    schema = contract.arguments.schema
    viewer = Viewer(schema.document)
    arguments: Any = request.arguments
    for spot in walk_spots(arguments, viewer, [viewer.document]):
        if tuple(map(str, spot.segments)) != argument.segments:
            continue
        for other in _others(Maker(viewer), spot.schemas, spot.value, 4):
            changed: Any = replace_at(arguments, spot.segments, other)
            if schema.is_valid(changed):
                yield changed
                return


def _others(
    maker: Maker, schemas: tuple[Schema, ...], value: object, count: int
) -> list[JsonValue]:
    made = maker.distinct(schemas, count + 1)
    return [each for each in made if each != value][:count]


def _out_of_time(contract: Contract, carried: Carried, raw: bytes) -> Iterator[Mutant]:
    fresh = contract.result.fresh
    if fresh is None:
        return
    times = [
        parsed
        for _, found in fresh.at.every(carried.data)
        if isinstance(found, str) and (parsed := parse_rfc3339(found)) is not None
    ]
    if not times:
        return
    age, ahead = nanos_of(fresh.max_age_s), nanos_of(fresh.max_ahead_s)
    stale, early = min(times) + age, max(times) - ahead
    for operator, instant in (("stale", stale + NANOS), ("from-future", early - NANOS)):
        yield _at(operator, raw, fresh.at, instant, "refused")
    exact = len(set(times)) == 1 and stale % 1000 == 0 and early % 1000 == 0
    # A check of the contract's own may well judge time too: what it says is no fault of the edge.
    if exact and not contract.result.checks:
        for operator, instant in (("oldest-edge", stale), ("newest-edge", early)):
            yield _at(operator, raw, fresh.at, instant, "accepted")


def _at(operator: str, raw: bytes, at: Pointer, instant: int, expectation: Expectation) -> Mutant:
    now = moment_of(Instant(instant))
    return _meaning(
        operator,
        raw,
        Stage.VOUCH,
        pointer=at.text,
        needs={"now": now.isoformat()},
        rule="E09",
        expectation=expectation,
    )


def _smuggling(contract: Contract, carried: Carried, spots: list[Spot]) -> Iterator[Mutant]:
    """Hidden characters in each text that the schema holds to no form."""
    is_valid = contract.result.schema.is_valid
    texts = [spot for spot in spots if isinstance(spot.value, str) and not spot.view.is_listed]
    for spot in [each for each in texts if not each.view.has("pattern", "format")][:_TEXTS]:
        for operator, hidden in _HIDDEN.items():
            value = f"{spot.value}{hidden}"
            if not is_valid(replace_at(carried.data, spot.segments, value)):
                continue
            raw = carried.put(spot.segments, value)
            if raw is not None:
                at = join_segments(spot.segments)
                yield _meaning(
                    name_place(operator, spot.segments), raw, Stage.VOUCH, pointer=at, rule="E05"
                )


def _unselected(
    contract: Contract, carried: Carried, spots: list[Spot], maker: Maker
) -> Iterator[Mutant]:
    """Every top member that the agent must not see, filled with something else."""
    result, data = contract.result, carried.data
    if result.checks or not isinstance(data, Mapping):
        return
    seen = [*result.agent, *result.untrusted_text.values(), *(rule.data for rule in result.bind)]
    if result.fresh is not None:
        seen.append(result.fresh.at)
    tops = {pointer.segments[0] if pointer.segments else "" for pointer in seen}
    root = spots[0]
    for name in dict.fromkeys([*data, *root.view.declared]):
        if name in tops or "" in tops:
            continue
        for other in _others(maker, tuple(root.view.member(name)), data.get(name, NOTHING), 1):
            changed = replace_at(data, (name,), other)
            raw = carried.put((name,), other)
            if raw is not None and result.schema.is_valid(changed):
                yield _meaning(
                    name_place("unselected", [name]),
                    raw,
                    Stage.SELECT,
                    pointer=f"/{name}",
                    expectation="unseen",
                )


def _meaning(
    name: str,
    raw: bytes,
    stage: Stage,
    *,
    pointer: str = "",
    needs: Needs | None = None,
    rule: str = "",
    expectation: Expectation = "refused",
) -> Mutant:
    return Mutant(
        name=name,
        level="meaning",
        pointer=pointer,
        raw=raw,
        stage=stage,
        needs=needs or {},
        rule=rule,
        expectation=expectation,
    )
