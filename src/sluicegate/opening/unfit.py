"""What loads in sluicegate.yaml and cannot be meant: it stops the gate, or denies every call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sluicegate.contracts.file_names import SETTINGS_NAME
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.served import ContractSet
from sluicegate.opening.access_rows import find_idle_rows
from sluicegate.opening.documents import Folder
from sluicegate.opening.outside_files import find_outside_faults
from sluicegate.opening.record_files import find_record_faults
from sluicegate.opening.settings_problems import settings_problem

Part = Literal["access", "audit"]


@dataclass(frozen=True, slots=True)
class Unfit:
    """A fault with its place in the settings; ``part`` is the key of them that it stands in."""

    part: Part
    problem: Problem


def find_unfit(read: Folder, contracts: ContractSet) -> Iterator[Unfit]:
    """Yield the access rows that allow nothing, and what no gate opens with.

    A folder that loads has these faults only in settings that can be read.
    """
    raw = read.documents.get(SETTINGS_NAME)
    if raw is None:
        return
    settings = contracts.settings
    if settings.access.is_table:
        for row in find_idle_rows(settings.access.rules, contracts):
            yield Unfit("access", settings_problem(raw, row.pointer, row.says, row.mend))
    for fault in (
        *find_record_faults(settings.audit, read.root),
        *find_outside_faults(settings.audit, read.root),
    ):
        says = f"No gate opens: {fault.says}."
        yield Unfit("audit", settings_problem(raw, fault.pointer, says, ""))
