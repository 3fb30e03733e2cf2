"""Rows of the access table that can never allow a call, held against the contracts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sluicegate.access.table import EVERYBODY
from sluicegate.contracts.contract import Contract
from sluicegate.contracts.served import ContractSet
from sluicegate.contracts.settings import AccessRule
from sluicegate.values.names import say_near, show_name

_MEND: Final = "Name what a contract here has, or take the row out."


@dataclass(frozen=True, slots=True)
class IdleRow:
    """A row that names what is not there; ``pointer`` leads into sluicegate.yaml."""

    pointer: str
    says: str
    mend: str = _MEND


def find_idle_rows(rules: Sequence[AccessRule], contracts: ContractSet) -> Iterator[IdleRow]:
    """Yield the rows whose tool has no contract, or whose resource type no contract of it binds.

    Every version that is served counts. Source: SPEC ACC-2.
    """
    served = contracts.every_version()
    tools = {contract.tool for contract in served}
    for index, rule in enumerate(rules):
        if rule.tool != EVERYBODY and rule.tool not in tools:
            yield IdleRow(
                f"/access/{index}/tool",
                f"access row {index + 1} allows nothing: it names the tool {show_name(rule.tool)},"
                f" which has no contract{say_near(rule.tool, tools)}",
            )
            continue
        meant = [each for each in served if rule.tool in (EVERYBODY, each.tool)]
        yield from _judge_type(index, rule, meant)


def _judge_type(index: int, rule: AccessRule, meant: Sequence[Contract]) -> Iterator[IdleRow]:
    types = {resource.type for each in meant for resource in each.arguments.resources}
    if rule.resource_type is None:
        if meant and all(contract.arguments.resources for contract in meant):
            yield IdleRow(
                f"/access/{index}",
                f"access row {index + 1} allows nothing: it has no `resource`, and is asked about "
                + ", ".join(map(show_name, sorted(types))),
            )
    elif meant and rule.resource_type not in types:
        who = (
            "no contract asks" if rule.tool == EVERYBODY else f"{show_name(rule.tool)} does not ask"
        )
        yield IdleRow(
            f"/access/{index}/resource/type",
            f"access row {index + 1} allows nothing: {who} about resources of the type "
            f"{show_name(rule.resource_type)}{say_near(rule.resource_type, types)}",
        )
