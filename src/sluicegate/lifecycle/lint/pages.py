"""The page of a rule and the reference of all, made from the table; a test holds them equal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from sluicegate.lifecycle.lint.findings import Example, Rule, Severity
from sluicegate.lifecycle.lint.subject import BARE
from sluicegate.lifecycle.lint.table import RULES

_LONGEST: Final = 1_200
_WORDS: Final[Mapping[Severity | None, str]] = {
    "error": "error",
    "warning": "warning",
    "info": "info",
    None: "off",
}

_HEAD: Final = """\
# Rules of lint

`sluicegate lint` judges contract folders, bare schemas (`--side`) and MCP tool lists by these
rules; `sluicegate explain RULE` prints the page of one. Registration refuses what the last column
names, whatever lint says: a contract with that mistake does not load.

Profiles: `strict-arguments` and `strict-result` take the column of their side; with `imported`,
findings of C and B are information, for the gate closes and bounds what others published.
A finding is silenced at its own node with `x-lint: [{rule: X03, reason: …, until: 2030-12-31}]`, or
known to a baseline file (`--write-baseline FILE`, then `--baseline FILE`). A baseline knows a
finding by rule, contract and pointer: the tool, or for a bare schema or a tool list the file as
seen from the current folder. A tool list is a JSON array, `{tools: […]}`, or a whole response; a
tool without `inputSchema` is D00. A schema that is named and cannot be had (no such file, broken
JSON, Python that is forbidden or does not load) is a problem of the document: exit 4.

| rule | name | arguments | result | flags | registration |
|---|---|---|---|---|---|
"""


def page_of(rule: Rule) -> str:
    """Return the page of a rule as Markdown."""
    code = f"- registration: {rule.code}\n" if rule.code is not None else ""
    return (
        f"# {rule.id} {rule.name}\n\n{rule.what}\n\n"
        f"- arguments: {_WORDS[rule.arguments]}\n- result: {_WORDS[rule.result]}\n{code}"
        f"\n## Why\n\n{rule.why}\n"
        f"\n## Good\n\n{_show(rule.good)}"
        f"\n## Bad\n\n{_show(rule.bad)}"
        f"\n## Mend\n\n{rule.mend}\n"
    )


def _show(example: Example) -> str:
    text = json.dumps(example.schema, ensure_ascii=False)
    if len(text) > _LONGEST:
        text = text[:_LONGEST] + " …"
    around = "".join(f"{line}\n" for line in _around(example))
    return f"```json\n{text}\n```\n" + (f"\n{around}" if around else "")


def _around(example: Example) -> list[str]:
    around, lines = example.around, []
    if example.repeated:
        lines.append(f"The file bears `{example.repeated[0]}` twice.")
    if around == BARE:
        return lines
    for words, pointers in (
        ("The contract selects", around.selected),
        ("`arguments.on_absent` adds", around.on_absent),
        ("The call names", frozenset(around.identifying) or None),
        ("`result.bind` compares", around.echoed if around.identifying else None),
    ):
        if pointers is not None and (pointers or words.startswith("`result")):
            named = ", ".join(f"`{pointer.text}`" for pointer in sorted(pointers, key=str))
            lines.append(f"{words} {named or 'nothing'}.")
    if around.is_destructive:
        named = "names what it acts on" if around.names_resource else "is absent"
        lines.append(f"The contract is destructive, and its `arguments.resource` {named}.")
    lines += [f"A proof over `{tool}` has no `where`." for tool in around.open_proofs]
    return lines


def reference() -> str:
    """Return the page that lists every rule."""
    rows = "".join(
        f"| {rule.id} | {rule.name} | {_WORDS[rule.arguments]} | {_WORDS[rule.result]} "
        f"| {_cell(rule.what)} | {rule.code or ''} |\n"
        for rule in RULES.values()
    )
    return _HEAD + rows


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
