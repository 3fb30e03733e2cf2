"""What loads in sluicegate.yaml and cannot be meant: it stops the gate, or denies every call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sluicegate.contracts.file_names import SETTINGS_NAME
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.served import ContractSet
from sluicegate.opening.access_rows import find_idle_rows
from sluicegate.opening.demands import find_unmet
from sluicegate.opening.documents import Folder
from sluicegate.opening.notice_routes import find_idle_routes
from sluicegate.opening.outside_files import find_outside_faults
from sluicegate.opening.record_files import find_record_faults
from sluicegate.opening.settings_problems import settings_problem

_MEND_ROUTE: Final = "Name the owner of a contract here, or take the line out."


def find_unfit(read: Folder, contracts: ContractSet) -> Iterator[Problem]:
    """Yield access rows that allow nothing, routes that tell nobody, and what no gate opens with.

    A folder that loads has these faults only in settings that can be read.
    """
    raw = read.documents.get(SETTINGS_NAME)
    if raw is None:
        return
    settings = contracts.settings
    if settings.access.is_table:
        for row in find_idle_rows(settings.access.rules, contracts):
            yield settings_problem(raw, row.pointer, row.says, row.mend)
    for route in find_idle_routes(read, contracts):
        yield settings_problem(raw, route.pointer, route.says, _MEND_ROUTE, at_key=True)
    for fault in (
        *find_record_faults(settings.audit, read.root),
        *find_outside_faults(settings.audit, read.root),
        *find_unmet(settings),
    ):
        yield settings_problem(raw, fault.pointer, f"No gate opens: {fault.says}.", "")
