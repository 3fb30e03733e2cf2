"""Answers that only a rule of the contract could refuse, where it has none: about another subject
without `bind`, from another year without `fresh` (facts: lifecycle B1 E09, E10; B3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from sluicegate.contracts.contract import Contract
from sluicegate.contracts.schemas.keywords import Schema, names_at
from sluicegate.lifecycle.lint.naming import OBSERVATION_TIMES, is_identifier_name
from sluicegate.lifecycle.lint.suppressions import silences
from sluicegate.lifecycle.mutants.carrying import Carried
from sluicegate.lifecycle.mutants.examples import Maker
from sluicegate.lifecycle.mutants.mutant import Mutant, name_place
from sluicegate.lifecycle.mutants.places import Spot
from sluicegate.values.codes import Stage
from sluicegate.values.instants import Instant, moment_of, parse_rfc3339
from sluicegate.values.pointers import Pointer, join_segments

_LATER: Final = timedelta(days=3650)
_LAST_YEAR: Final = 9000
_CANDIDATES: Final = 2


def mutate_unbound(
    contract: Contract, carried: Carried, spots: Sequence[Spot], maker: Maker, raw: bytes
) -> Iterator[Mutant]:
    """Yield mutants that nothing in the contract refuses, each with the rule that asks for it.

    An identifier that was asked for and comes back unbound (E10), a time of observation without
    `fresh` (E09). Where `x-lint` silences the rule at the root or at the member, the author has
    said why.
    """
    root = contract.result.schema.document
    plain = [spot for spot in spots if all(isinstance(each, str) for each in spot.segments)]
    if not silences(root, "E10", "identity"):
        yield from _about_another(contract, carried, plain, maker)
    if contract.result.fresh is None and not silences(root, "E09", "time"):
        yield from _out_of_time(plain, raw)


def _about_another(
    contract: Contract, carried: Carried, spots: Sequence[Spot], maker: Maker
) -> Iterator[Mutant]:
    for name in sorted(_identifying(contract)):
        for spot in spots:
            if spot.name != name or _is_silent(spot.schemas, "E10", "identity"):
                continue
            made = maker.distinct(spot.schemas, _CANDIDATES)
            changed = next((each for each in made if each != spot.value), None)
            put = None if changed is None else carried.put(spot.segments, changed)
            if put is not None:
                yield Mutant(
                    name=name_place("another-subject-1", spot.segments),
                    level="meaning",
                    pointer=join_segments(spot.segments),
                    raw=put,
                    stage=Stage.VOUCH,
                    rule="E10",
                )
                break


def _identifying(contract: Contract) -> frozenset[str]:
    """Names of the arguments that say what was asked for, and that no `bind` compares."""
    arguments = contract.arguments
    named = {each.id for each in arguments.resources}
    for name in names_at(arguments.schema.document, "required"):
        if is_identifier_name(name):
            named.add(Pointer((name,)))
    bound = {rule.argument for rule in contract.result.bind}
    return frozenset(each.segments[-1] for each in named - bound if each.segments)


def _out_of_time(spots: Sequence[Spot], raw: bytes) -> Iterator[Mutant]:
    for spot in spots:
        told = parse_rfc3339(spot.value) if isinstance(spot.value, str) else None
        if spot.name not in OBSERVATION_TIMES or told is None:
            continue
        moment = _moment(told)
        if moment is not None and not _is_silent(spot.schemas, "E09", "time"):
            yield Mutant(
                name="stale",
                level="meaning",
                pointer=join_segments(spot.segments),
                raw=raw,
                stage=Stage.VOUCH,
                rule="E09",
                needs={"now": (moment + _LATER).isoformat()},
            )
            return


def _moment(told: Instant) -> datetime | None:
    """None for times so late, or so early, that no clock will ever show them."""
    try:
        moment = moment_of(told)
    except ValueError:
        return None
    return moment if moment.year < _LAST_YEAR else None


def _is_silent(schemas: Sequence[Schema], *names: str) -> bool:
    return any(isinstance(each, Mapping) and silences(each, *names) for each in schemas)
