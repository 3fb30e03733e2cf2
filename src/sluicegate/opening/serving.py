"""From a loaded folder to what a gate serves: the lines of every version, and their fixtures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from sluicegate.adapters.credentials import Credentials
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.served import ContractSet, Offer
from sluicegate.gates.rollouts import main_row
from sluicegate.gates.serving import Line, Rollout, Serving
from sluicegate.opening.loaded import Loaded
from sluicegate.opening.loading import load_folder
from sluicegate.opening.wiring import build_lines


def open_serving(
    root: Path, now: datetime, *, python: bool, fixtures: bool
) -> Serving | tuple[Problem, ...]:
    """Return what the folder serves as an operator steered it, or why it serves nothing.

    A tool with a version whose fixtures fail is withdrawn, in all its versions. Source: CON-3.
    """
    loaded = load_folder(root, now, python=python)
    contracts = loaded.contracts
    if contracts is None:
        return loaded.problems
    withdrawn = {
        tool: f"switched off by an operator: {reason}; "
        f"`sluicegate disable {tool} --undo --reason …` puts it back"
        for tool, reason in loaded.steering.disabled.items()
    }
    lines: dict[str, Line] = {}
    rollouts: dict[str, Rollout] = {}
    problems: list[Problem] = []
    for tool, contract in contracts.contracts.items():
        if tool in withdrawn:
            continue
        offers = contracts.rollouts.get(tool)
        served = (contract,) if offers is None else tuple(offer.contract for offer in offers)
        found = build_lines(served, root, Credentials(root))
        if isinstance(found, tuple):
            problems += found
            continue
        if problems:
            continue
        why = _find_failing(loaded, found) if fixtures else None
        if why is not None:
            withdrawn[tool] = why
        elif offers is None:
            (lines[tool],) = found
        else:
            rollouts[tool] = Rollout(rows=tuple(offer.row for offer in offers), lines=tuple(found))
            lines[tool] = rollouts[tool].main
    if problems:
        return loaded.tell(problems)
    return Serving(
        contracts=_as_served(contracts), lines=lines, withdrawn=withdrawn, rollouts=rollouts
    )


def build_all(contracts: ContractSet, root: Path) -> list[Line] | tuple[Problem, ...]:
    """Return the line of each version being worked on and of each release that is served."""
    return build_lines(contracts.every_version(), root, Credentials(root))


def _find_failing(loaded: Loaded, lines: Iterable[Line]) -> str | None:
    failing = (each for line in lines for each in loaded.run_fixtures(line) if not each.ok)
    first = next(failing, None)
    return None if first is None else f"fixture {first.path} {first.note}; run `sluicegate check`"


def _as_served(contracts: ContractSet) -> ContractSet:
    """In a gate's set a tool in several versions stands at the one of the greatest share."""
    main = {tool: _main(offers).contract for tool, offers in contracts.rollouts.items()}
    if not main:
        return contracts
    return replace(contracts, contracts=MappingProxyType({**contracts.contracts, **main}))


def _main(offers: tuple[Offer, ...]) -> Offer:
    return offers[main_row([offer.row for offer in offers])]
