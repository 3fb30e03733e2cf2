"""The routes that notices take: each is opened, and told nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sluicegate.contracts.served import ContractSet
from sluicegate.errors import ConfigurationError
from sluicegate.notices.notices import try_route
from sluicegate.opening.documents import Folder
from sluicegate.opening.notice_routes import OPERATORS, find_idle_routes
from sluicegate.values.looks import Look
from sluicegate.values.names import show_name

_NAME: Final = "notices"


def examine_notices(read: Folder, served: ContractSet) -> Iterator[Look]:
    """Yield what was found of each route, and of an owner that no contract has.

    Whether a target takes notices is not asked: it would be told one. Source: SPEC AUD-6.
    """
    for owner, route in served.settings.notify.items():
        whose = "the gate itself" if owner == OPERATORS else show_name(owner)
        try:
            to = try_route(route)
        except ConfigurationError as error:
            yield Look(name=_NAME, well=False, says=f"{whose}: {error}")
        else:
            yield Look(name=_NAME, well=True, says=f"{whose} is told by {show_name(to)}")
    for idle in find_idle_routes(read, served):
        yield Look(name=_NAME, well=False, says=idle.says)
