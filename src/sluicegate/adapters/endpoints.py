"""What an event tells of an upstream: where it is and what is asked, and no secret (SPEC AUD-2).

A constant of a contract may be a key that somebody wrote into a query or a command line. So of
these only names and placeholders are told, and ``…`` stands for each other constant text. Scheme,
host, port and path of a URL, and the program of a command, name the upstream and are told.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from sluicegate.adapters.templates import parse_template

_PATH: Final = re.compile(r"(?:\{/[^{}]*\}|[^?{}])*+")
_MEMBER: Final = re.compile(r"(?:\{/[^{}]*\}|[^&{}])++")
_OPTION: Final = re.compile(r"(--|-[A-Za-z]|--[A-Za-z][A-Za-z-]*)(?:(=)(.*))?", re.DOTALL)
_PROGRAM: Final = re.compile(r"\s*([\w./+-]+)(?=[\s;|&<>]|\Z)(?:\s*\Z)?")
_LEFT_OUT: Final = "…"


def tell_url(method: str, url: str) -> str:
    """Return method and URL template; of its query the names, and values that are placeholders."""
    path = _PATH.match(url)
    told = url if path is None else path[0]
    members = [_tell_member(member) for member in _MEMBER.findall(url[len(told) + 1 :])]
    return f"{method} {told}{'?' if members else ''}{'&'.join(members)}"


def tell_command(argv: Sequence[str]) -> str:
    """Return the program, and of its arguments the names of options and the placeholders."""
    return " ".join([*map(tell_line, argv[:1]), *map(_tell_argument, argv[1:])])


def tell_line(line: str) -> str:
    """Return the program that a command line of a shell begins with."""
    program = _PROGRAM.match(line)
    if program is None:
        return _LEFT_OUT
    return program[1] if program.end() == len(line) else f"{program[1]} {_LEFT_OUT}"


def _tell_member(member: str) -> str:
    name, is_named, value = member.partition("=")
    return f"{name}={_tell_text(value)}" if is_named else _tell_text(name)


def _tell_argument(argument: str) -> str:
    option = _OPTION.fullmatch(argument)
    if option is None:
        return _tell_text(argument)
    return option[1] if option[2] is None else f"{option[1]}={_tell_text(option[3])}"


def _tell_text(text: str) -> str:
    """Return the placeholders of ``text``, each constant part left out."""
    parts = parse_template(text).parts
    return "".join(_LEFT_OUT if isinstance(part, str) else f"{{{part.text}}}" for part in parts)
