"""What loads in sluicegate.yaml and cannot be meant: it stops the gate, or denies every call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from sluicegate.contracts.marks import Document
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.served import ContractSet
from sluicegate.contracts.yaml_reading import read_document
from sluicegate.opening.access_rows import find_idle_rows
from sluicegate.opening.documents import SETTINGS_NAME, Folder
from sluicegate.opening.outside_files import find_outside_faults
from sluicegate.opening.record_files import find_record_faults
from sluicegate.values.codes import Code

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
    document = read_document(SETTINGS_NAME, raw)
    for unfit in _find(read, contracts):
        marks = document.marks if isinstance(document, Document) else None
        line, column = (marks and marks.of_value(unfit.problem.pointer)) or (None, None)
        yield replace(unfit, problem=replace(unfit.problem, line=line, column=column))


def _find(read: Folder, contracts: ContractSet) -> Iterator[Unfit]:
    settings = contracts.settings
    if settings.access.is_table:
        for row in find_idle_rows(settings.access.rules, contracts):
            yield Unfit("access", _problem(row.pointer, row.says, row.mend))
    for fault in (
        *find_record_faults(settings.audit, read.root),
        *find_outside_faults(settings.audit, read.root),
    ):
        yield Unfit("audit", _problem(fault.pointer, f"No gate opens: {fault.says}.", ""))


def _problem(pointer: str, message: str, mend: str) -> Problem:
    return Problem(
        code=Code.CONTRACT_INVALID,
        document=SETTINGS_NAME,
        message=message,
        mend=mend,
        pointer=pointer,
    )
