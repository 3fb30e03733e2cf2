"""What every act on ``state/served.json`` says of its reach."""

from __future__ import annotations

from pathlib import Path


def say_when_it_holds(folder: str) -> str:
    """Return the line that says which gates an act in ``folder`` reaches, and when.

    The record may be shared by many gates; the switch stands in this folder alone.
    """
    from sluicegate.opening.steering import STATE_NAME

    return (
        f"It stands in {Path(folder, STATE_NAME)}: running gates go on until each of them reloads"
        " this folder; gates on another copy of it are not told."
    )
