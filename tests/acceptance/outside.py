"""A folder of contracts, and beside it another disk: ``away``, for heads and a second sink."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.folders import write_folder

PLACES = 'audit: {store: "sqlite:state/audit.db", keys: "file:keys/"'
"""The beginning of the settings: what stands behind it goes on, and ``settle`` closes it."""


def write_with_away(root: Path, audit: str) -> None:
    """Write both below ``root``, which is the current folder, with ``audit`` as its settings."""
    write_folder(root / "contracts")
    (root / "away").mkdir()
    settle(audit)


def settle(audit: str) -> None:
    """Put ``audit`` in the place of what the settings say of the record."""
    path = Path("contracts/sluicegate.yaml")
    lines = [line for line in path.read_text().splitlines() if not line.startswith("audit:")]
    path.write_text("\n".join([f"{audit}}}", *lines, ""]))
