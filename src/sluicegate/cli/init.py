"""``sluicegate init NAME``: a new contract that passes ``check`` at once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import click
from click.core import ParameterSource

from sluicegate.cli.exits import Exit
from sluicegate.cli.output import folder_option, note, put, stop
from sluicegate.contracts.file_names import SETTINGS_NAME

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_TAKEN: Final = frozenset({"fixtures", "released", "state", "keys", "unknown"})
_LEVELS: Final = 3


@click.command()
@click.argument("name")
@folder_option
@click.pass_context
def init(ctx: click.Context, name: str, folder: str) -> int:
    """Write FOLDER/NAME: a contract, fixtures for both sides, and settings where there are none.

    Inside a contract folder, FOLDER is that one unless it is named. Nothing that exists is
    overwritten. The first time the lines for CI are printed; where settings exist, the access row.
    """
    from sluicegate.cli.init_files import access_row, ci_lines, contract_files, settings_files

    demand_name(name, "NAME")
    if ctx.get_parameter_source("folder") is ParameterSource.DEFAULT and _is_inside(folder):
        folder = "."
    root = Path(folder)
    _demand_apart(root)
    home = root / name
    if home.exists():
        stop(Exit.USAGE, f"{home} exists; nothing was written. Take another name or remove it.")
    is_first = not (root / SETTINGS_NAME).exists()
    try:
        for path, text in settings_files(name).items():
            if not (root / path).exists():
                _write(root / path, text)
            elif path == SETTINGS_NAME:
                note(
                    f"{root / path} exists and stays as it is: add an access rule for {name} to "
                    "its `access`, as"
                )
                note(access_row(name))
        for path, text in contract_files(name).items():
            _write(home / path, text)
    except OSError as error:
        stop(Exit.UNREADABLE, f"{error.filename} cannot be written: {error.strerror}")
    note(f"wrote {home}; next: describe your own tool in it, and `sluicegate check {folder}`")
    if is_first:
        put(ci_lines(root.resolve().name if folder == "." else folder))
    return Exit.ACCEPTED


def demand_name(name: str, hint: str) -> None:
    """Refuse what cannot name a tool and its folder; ``hint`` is where it was given.

    Raises: click.BadParameter.
    """
    if _NAME.fullmatch(name) is None or name in _TAKEN:
        raise click.BadParameter(
            "a tool's name has 1 to 128 letters, digits, '_', '.', '-', begins with a letter or"
            f" digit, and is none of {', '.join(sorted(_TAKEN))}",
            param_hint=hint,
        )


def _is_inside(folder: str) -> bool:
    """Whether settings stand here, and none where the folder would be made."""
    return Path(SETTINGS_NAME).is_file() and not Path(folder, SETTINGS_NAME).is_file()


def _demand_apart(root: Path) -> None:
    """End the command where a contract folder would be made inside another one."""
    if (root / SETTINGS_NAME).is_file():
        return
    around = next(
        (each for each in root.absolute().parents[:_LEVELS] if (each / SETTINGS_NAME).is_file()),
        None,
    )
    if around is not None:
        stop(
            Exit.USAGE,
            f"{root} lies inside the contract folder {around}; nothing was written. "
            f"Say --folder {around} to add a contract to it.",
        )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
