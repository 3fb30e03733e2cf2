"""One escaping a reader: the terminal, GitHub's workflow log, a JSON consumer (SPEC AUD-5).

Names and bytes made by the other side end up in all three. Each reader has its own way of being
told to do something, so each has its own function, and nothing is escaped for "output" at large.
"""

from __future__ import annotations

import json
import unicodedata
from typing import Final

from rich.cells import get_character_cell_size

REPLACED: Final = "\N{REPLACEMENT CHARACTER}"
"""The one visible cell that stands for a character a reader must not act on."""

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_MAX_COMBINING: Final = 2
_CONTROL_PICTURES: Final = 0x2400
_DELETE: Final = 0x7F

# GitHub's runner takes the older command form `##[name]` anywhere in a line, not only at its start.
_OLD_COMMAND: Final = "##["
_OLD_COMMAND_SHOWN: Final = "##⟦"


def show_cells(text: str) -> tuple[str, tuple[int, ...]]:
    """Return ``text`` fit for a terminal, and how many cells each character of ``text`` takes.

    Every control, format, bidirectional, surrogate, private-use, unassigned and separator
    character becomes one visible cell (controls their picture, TAB a blank), so that nothing moves
    the cursor, reorders the line or hides. Combining marks take no cell; beyond two in a row they
    are replaced, because a pile of them reaches into the lines above.
    """
    shown: list[str] = []
    cells: list[int] = []
    combining = 0
    for character in text:
        drawn, width = _draw(character)
        combining = combining + 1 if width == 0 else 0
        if combining > _MAX_COMBINING:
            drawn, width = REPLACED, 1
        shown.append(drawn)
        cells.append(width)
    return defuse_old_command("".join(shown)), tuple(cells)


def defuse_old_command(line: str) -> str:
    """Return ``line`` with ``##[`` drawn otherwise: one character for one, one cell for one."""
    return line.replace(_OLD_COMMAND, _OLD_COMMAND_SHOWN)


def _draw(character: str) -> tuple[str, int]:
    if character.isascii():
        point = ord(character)
        if character == "\t":
            return " ", 1
        if point < 0x20:
            return chr(_CONTROL_PICTURES + point), 1
        return ("\N{SYMBOL FOR DELETE}", 1) if point == _DELETE else (character, 1)
    if unicodedata.category(character) in _HIDDEN:
        return REPLACED, 1
    width = get_character_cell_size(character)
    if width == 0 and unicodedata.category(character)[0] != "M":
        return REPLACED, 1
    return character, width


def escape_terminal(text: str) -> str:
    """Return ``text`` as one line that no terminal acts on; see ``show_cells``.

    A text that begins with ``::`` gets a blank inside it: people's output is read by GitHub's
    runner as well, and a file may be named like a command.
    """
    shown = show_cells(text)[0]
    return shown.replace("::", ": :", 1) if shown.lstrip().startswith("::") else shown


def escape_github_message(text: str) -> str:
    """Return ``text`` as the message of a workflow command: ``%``, CR and LF encoded.

    What a terminal must not see is replaced as well, because the log is read in one.
    Source: GitHub ``actions/toolkit`` packages/core, command.ts, ``escapeData``.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    shown = "\n".join(show_cells(line)[0] for line in lines)
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_github_property(text: str) -> str:
    """Return ``text`` as a property of a workflow command: ``:`` and ``,`` encoded as well.

    Source: GitHub ``actions/toolkit`` packages/core, command.ts, ``escapeProperty``.
    """
    return escape_github_message(text).replace(":", "%3A").replace(",", "%2C")


def escape_json(value: object) -> str:
    """Return ``value`` as one line of JSON in plain ASCII that is inert wherever it is pasted.

    ``<``, ``>`` and ``&`` are written as escapes, so the text cannot close a script element, and
    ``##[`` cannot start a workflow command. Every JSON reader gives the very same value back.
    Raises: ValueError for NaN and infinities; TypeError for what is not JSON.
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    for character, escaped in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        text = text.replace(character, escaped)
    # None of these characters can stand outside a string of a JSON text.
    return text.replace(_OLD_COMMAND, "##\\u005b").replace("\x7f", "\\u007f")
