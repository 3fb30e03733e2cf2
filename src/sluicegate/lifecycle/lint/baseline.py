"""The baseline: findings that were there already, by rule, contract and pointer (SPEC LIF-1)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

FORMAT: Final = "sluicegate-lint-baseline"
VERSION: Final = 2


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """One finding that is known: ``contract`` is a tool, or a file that belongs to none.

    ``pointer`` leads into the contract, from the side whose schema it is.
    """

    rule: str
    contract: str
    pointer: str


def write_baseline(entries: Iterable[Entry]) -> str:
    """Return the text of a baseline: sorted, one entry a line, so that it merges well."""
    lines = [
        json.dumps({"rule": one.rule, "contract": one.contract, "pointer": one.pointer})
        for one in sorted(set(entries))
    ]
    listed = ",\n".join(f"    {line}" for line in lines)
    return (
        f'{{\n  "format": "{FORMAT}",\n  "version": {VERSION},\n  "entries": [\n{listed}\n  ]\n}}\n'
    )


def read_baseline(raw: bytes) -> frozenset[Entry] | str:
    """Return the entries of a baseline, or a sentence that says why it is none."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return "is not JSON"
    if not isinstance(value, Mapping) or value.get("format") != FORMAT:
        return f"does not begin with format {FORMAT}"
    if value.get("version") != VERSION:
        return f"has another version than {VERSION}: write it anew by --write-baseline"
    listed = value.get("entries")
    entries = [_read_entry(item) for item in listed] if isinstance(listed, list) else [None]
    read = [entry for entry in entries if entry is not None]
    if len(read) != len(entries):
        return "has an entry without rule, contract and pointer"
    return frozenset(read)


def _read_entry(item: object) -> Entry | None:
    if not isinstance(item, Mapping):
        return None
    texts = [item.get(name) for name in ("rule", "contract", "pointer")]
    rule, contract, pointer = (text if isinstance(text, str) else None for text in texts)
    if rule is None or contract is None or pointer is None:
        return None
    return Entry(rule, contract, pointer)
