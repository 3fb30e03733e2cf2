"""The names of a folder's documents: its settings, and a contract."""

from __future__ import annotations

from typing import Final

SETTINGS_NAME: Final = "sluicegate.yaml"
NEAR_SETTINGS_NAMES: Final = ("sluicegate.yml", "sluicegate.json")
"""Names that a reader would take for settings, and that nothing reads."""

CONTRACT_NAMES: Final = ("contract.yaml", "contract.json")


def is_contract(name: str) -> bool:
    """Whether a document of this name is a contract."""
    return name.rpartition("/")[2] in CONTRACT_NAMES
