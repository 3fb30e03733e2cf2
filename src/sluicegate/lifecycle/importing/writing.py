"""contract.yaml as a person would write it: one key a line, and a comment above what is open."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from sluicegate.lifecycle.importing.blueprint import Decision
from sluicegate.values.json import JsonValue

EDITOR_LINE: Final = "# yaml-language-server: $schema=../.editor/contract.schema.json"
"""What tells an editor where the schema of contracts lies, as ``init`` writes it."""

_PLAIN: Final = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*")
_WORDS: Final = frozenset({"true", "false", "null"})
# What YAML takes for no printable character, or for the end of a line, is written as an escape.
_UNSAFE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


def write_contract(
    members: Mapping[str, JsonValue], decisions: Sequence[Decision], *, accepted: bool
) -> bytes:
    """Return the document, each decision as a comment above the key that it is about.

    The key ``draft`` lists again what is open, one sentence a line: all of it, or, where the
    defaults are ``accepted``, what no default can stand for.
    """
    open_ones = [each for each in decisions if each.blocks or not accepted]
    lines = [EDITOR_LINE]
    for key, value in members.items():
        for each in decisions:
            if each.at == key:
                mark = "DECIDE" if each in open_ones else "default taken"
                lines.append(f"# {mark}: {_comment(each.question)}")
        if isinstance(value, Mapping) and value:
            lines.append(f"{key}:")
            lines += [f"  {_scalar(name)}: {write_value(inner)}" for name, inner in value.items()]
        else:
            lines.append(f"{key}: {write_value(value)}")
    if open_ones:
        lines.append("# Remove each line once it is decided; while the key stands nothing loads.")
        lines.append("draft:")
        lines += [f"  - {_quote(each.question)}" for each in open_ones]
    return ("\n".join(lines) + "\n").encode()


def write_value(value: JsonValue) -> str:
    """Return ``value`` in one line of the YAML subset that contracts are read in."""
    if isinstance(value, str):
        return _scalar(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_scalar(name)}: {write_value(each)}" for name, each in value.items())
        return "{" + inner + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(write_value, value)) + "]"
    return json.dumps(value)


def _scalar(text: str) -> str:
    return text if _PLAIN.fullmatch(text) and text.lower() not in _WORDS else _quote(text)


def _quote(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def _comment(text: str) -> str:
    line = " ".join(text.split())
    return "".join(each if each.isprintable() else "?" for each in line)
