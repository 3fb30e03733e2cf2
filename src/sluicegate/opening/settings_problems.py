"""What is wrong in sluicegate.yaml, told at its line where the file can be read."""

from __future__ import annotations

from dataclasses import dataclass

from sluicegate.contracts.file_names import SETTINGS_NAME
from sluicegate.contracts.marks import Document
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.yaml_reading import read_document
from sluicegate.values.codes import Code


@dataclass(frozen=True, slots=True)
class SettingFault:
    """Why no gate opens; ``pointer`` leads to the key in sluicegate.yaml."""

    pointer: str
    says: str


def settings_problem(
    raw: bytes | None, pointer: str, message: str, mend: str, *, at_key: bool = False
) -> Problem:
    """Return a problem at ``pointer`` of the settings ``raw``; ``at_key``: it is about the key."""
    document = () if raw is None else read_document(SETTINGS_NAME, raw)
    if isinstance(document, Document):
        return document.problem(pointer, message, mend, at_key=at_key)
    return Problem(
        code=Code.CONTRACT_INVALID,
        document=SETTINGS_NAME,
        message=message,
        mend=mend,
        pointer=pointer,
    )
