"""Which members an answer bears, and which of them are new (SPEC RES-3, UPSTREAM_NEW_MEMBER)."""

from __future__ import annotations

from collections.abc import Iterator

from sluicegate.values.codes import Code
from sluicegate.values.findings import MAX_FINDINGS, Finding
from sluicegate.values.names import show_name
from sluicegate.values.pointers import EVERY, escape_segment


def list_members(document: object) -> frozenset[str]:
    """Return the pointer text of every member at every level, ``*`` for items: what is recorded."""
    return frozenset(f"{at}/{escape_segment(name)}" for at, name, _ in _walk(document, None))


def find_unknown_members(document: object, known: frozenset[str]) -> tuple[Finding, ...]:
    """Return one finding for each member outside ``known``, at most 20, in order of depth.

    Below a member that is new nothing further is told. Every item of an array counts.
    """
    findings: dict[str, Finding] = {}
    for at, name, is_known in _walk(document, known):
        if is_known:
            continue
        pointer = f"{at}/{escape_segment(show_name(name))}"
        if pointer not in findings:
            findings[pointer] = Finding(
                code=Code.UPSTREAM_NEW_MEMBER,
                pointer=pointer,
                hint="not among the members recorded at release",
            )
            if len(findings) == MAX_FINDINGS:
                break
    return tuple(findings.values())


def _walk(document: object, known: frozenset[str] | None) -> Iterator[tuple[str, str, bool]]:
    """Yield (pointer of the object, member name, whether it is known), breadth first."""
    level: list[tuple[object, str]] = [(document, "")]
    while level:
        below: list[tuple[object, str]] = []
        for value, at in level:
            if type(value) is dict:
                for name, member in value.items():
                    pointer = f"{at}/{escape_segment(name)}"
                    is_known = known is None or pointer in known
                    yield at, name, is_known
                    if is_known and type(member) in (dict, list):
                        below.append((member, pointer))
            elif type(value) is list:
                items = f"{at}/{EVERY}"
                below.extend((item, items) for item in value if type(item) in (dict, list))
        level = below
