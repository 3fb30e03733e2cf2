"""What loads in sluicegate.yaml and cannot be meant: it stops the gate, or denies every call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from sluicegate.contracts.file_names import SETTINGS_NAME
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.served import ContractSet
from sluicegate.opening.access_rows import find_idle_rows
from sluicegate.opening.documents import Folder
from sluicegate.opening.installed import find_lacking
from sluicegate.opening.notice_routes import find_idle_routes
from sluicegate.opening.outside_files import OutsideFault, find_outside_faults
from sluicegate.opening.record_files import find_record_faults
from sluicegate.opening.settings_problems import settings_problem

Part = Literal["access", "audit", "limits", "notify"]

_MEND_ROUTE: Final = "Name the owner of a contract here, or take the line out."


@dataclass(frozen=True, slots=True)
class Unfit:
    """A fault with its place in the settings; ``part`` is the key of them that it stands in."""

    part: Part
    problem: Problem


def find_unfit(read: Folder, contracts: ContractSet) -> Iterator[Unfit]:
    """Yield access rows that allow nothing, routes that tell nobody, and what no gate opens with.

    A folder that loads has these faults only in settings that can be read.
    """
    raw = read.documents.get(SETTINGS_NAME)
    if raw is None:
        return
    settings = contracts.settings
    if settings.access.is_table:
        for row in find_idle_rows(settings.access.rules, contracts):
            yield Unfit("access", settings_problem(raw, row.pointer, row.says, row.mend))
    for route in find_idle_routes(read, contracts):
        problem = settings_problem(raw, route.pointer, route.says, _MEND_ROUTE, at_key=True)
        yield Unfit("notify", problem)
    of_audit = (
        *find_record_faults(settings.audit, read.root),
        *find_outside_faults(settings.audit, read.root),
    )
    faults: list[tuple[Part, OutsideFault]] = [("audit", fault) for fault in of_audit]
    for part, fault in (*faults, *find_lacking(settings)):
        says = f"No gate opens: {fault.says}."
        yield Unfit(part, settings_problem(raw, fault.pointer, says, ""))
