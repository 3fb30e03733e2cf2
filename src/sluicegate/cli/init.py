"""``sluicegate init NAME``: a new contract that passes ``check`` at once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import click

from sluicegate.cli.exits import Exit
from sluicegate.cli.output import folder_option, note, put, stop

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_TAKEN: Final = frozenset({"fixtures", "released", "state", "keys"})


@click.command()
@click.argument("name")
@folder_option
def init(name: str, folder: str) -> int:
    """Write FOLDER/NAME: a contract, fixtures for both sides, and settings where there are none.

    Nothing that exists is overwritten. The lines for CI are printed.
    """
    from sluicegate.cli.init_files import CI_LINES, contract_files, settings_files

    if _NAME.fullmatch(name) is None or name in _TAKEN:
        raise click.BadParameter(
            "a tool's name has 1 to 128 letters, digits, '_', '.', '-', begins with a letter or"
            f" digit, and is none of {', '.join(sorted(_TAKEN))}",
            param_hint="NAME",
        )
    root = Path(folder)
    home = root / name
    if home.exists():
        stop(Exit.USAGE, f"{home} exists; nothing was written. Take another name or remove it.")
    try:
        for path, text in settings_files(name).items():
            if not (root / path).exists():
                _write(root / path, text)
            elif path == "sluicegate.yaml":
                note(
                    f"{root / path} exists and stays as it is: add an access rule for {name} to it"
                )
        for path, text in contract_files(name).items():
            _write(home / path, text)
    except OSError as error:
        stop(Exit.UNREADABLE, f"{error.filename} cannot be written: {error.strerror}")
    note(f"wrote {home}; next: describe your own tool in it, and `sluicegate check {folder}`")
    put(CI_LINES.replace("FOLDER", folder))
    return Exit.ACCEPTED


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
