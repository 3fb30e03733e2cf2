"""From a document, a tool list or a contract to the schemas that lint judges, and their places."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias, cast

from sluicegate.contracts.marks import Document, Mark
from sluicegate.contracts.near_names import say_meant
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.settings import FolderLimits
from sluicegate.contracts.tool_lists import ToolList
from sluicegate.lifecycle.lint.naming import is_identifier_name
from sluicegate.lifecycle.lint.subject import SideName, Subject, Surroundings
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.names import show_name
from sluicegate.values.pointers import Pointer

SIDES: Final[tuple[SideName, ...]] = ("arguments", "result")
_OF_TOOL: Final[Mapping[SideName, str]] = {"arguments": "inputSchema", "result": "outputSchema"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Homed:
    """A subject, the file it stands in, and the pointer at which it begins there.

    ``owner`` is the tool it belongs to, if that is known. ``find`` gives line and column of a
    pointer of the file; ``beside`` are the documents that it may refer to, by name. ``known_as``
    is what a baseline calls the contract, the tool or the file, in which the subject begins at
    ``known_base``; neither depends on how the path was written.
    """

    subject: Subject
    file: str
    base: str
    find: Callable[[str], Mark | None]
    known_as: str
    known_base: str
    owner: str = ""
    beside: Mapping[str, tuple[str, Callable[[str], Mark | None]]] = field(default_factory=dict)


def subjects_of_tools(
    listed: ToolList,
    file: str,
    find: Callable[[str], Mark | None],
    side: SideName | None,
) -> Iterator[Homed]:
    """Yield the schemas of a tool list, of one side or both.

    A tool without arguments schema has none that is valid: that is found, not passed over.
    """
    for place, tool in listed.places():
        for here in SIDES if side is None else (side,):
            member = _OF_TOOL[here]
            inner = _as_mapping(tool)
            if member in inner or here == "arguments":
                name = _text(inner.get("name")) or ""
                yield Homed(
                    subject=Subject(
                        schema=inner.get(member),
                        side=here,
                        around=Surroundings(
                            has_dialect=True, description=_text(inner.get("description"))
                        ),
                    ),
                    file=file,
                    base=f"{place}/{member}",
                    find=find,
                    owner=name,
                    known_as=f"{name_from_here(file)}#{name}",
                    known_base=f"/{member}",
                )


def name_from_here(file: str) -> str:
    """Return ``file`` as a baseline names it: from the current folder, however it was written."""
    return Path(os.path.relpath(file)).as_posix()


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One contract as it is written. ``home`` is its folder; ``schemas`` are the documents beside
    it by name, ``limits`` those of the folder, ``shown`` how a document is named to people.

    ``unread`` are the documents beside it that could not be read, each with the reasons; none
    where they were told already.
    """

    document: Document
    home: Path
    schemas: Mapping[str, Document]
    limits: FolderLimits
    shown: Callable[[str], str]
    unread: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)


Derive: TypeAlias = Callable[[SideName], "JsonObject | tuple[Problem, ...]"]


def subjects_of_contract(written: Written, derive: Derive) -> Iterator[Homed | Problem]:
    """Yield both schemas of a contract, with what it says around them.

    Reads leniently: what has the wrong shape says nothing. A schema that is named and cannot be
    had is a problem, never silence. ``derive`` gives the schema that Python yields for a side.
    """
    contract = written.document.value
    owner = _text(_as_mapping(contract).get("tool")) or ""
    for side in SIDES:
        part = _mapping(contract, side)
        if "schema" not in part:
            if side == "arguments":
                yield written.document.problem(
                    f"/{side}", "it has no schema of its arguments.", "Write `arguments.schema`."
                )
            continue
        found = _find_schema(written, side, part["schema"], derive)
        if not isinstance(found, _Found):
            yield from found
            continue
        yield Homed(
            subject=Subject(
                schema=found.schema,
                side=side,
                around=_surroundings(written, side),
                resources={name: one.value for name, one in written.schemas.items()},
                home=found.document.name,
            ),
            file=written.shown(found.document.name),
            base=found.base,
            find=found.document.marks.of_value,
            owner=owner,
            known_as=owner or written.document.name,
            known_base=f"/{side}/schema",
            beside={
                name: (written.shown(name), one.marks.of_value)
                for name, one in written.schemas.items()
            },
        )


@dataclass(frozen=True, slots=True)
class _Found:
    """A schema, the document that it stands in, and its pointer there."""

    document: Document
    base: str
    schema: JsonValue


def _find_schema(
    written: Written, side: SideName, value: JsonValue, derive: Derive
) -> _Found | tuple[Problem, ...]:
    base = f"/{side}/schema"
    if isinstance(value, Mapping) and set(value) == {"python"}:
        derived = derive(side)
        return derived if isinstance(derived, tuple) else _Found(written.document, base, derived)
    if isinstance(value, Mapping) and set(value) == {"file"}:
        path = Path(written.document.name).parent / str(value["file"])
        name = "/".join(_normal(path.parts))
        document = written.schemas.get(name)
        if document is not None:
            return _Found(document, "", document.value)
        if name in written.unread:
            return written.unread[name]
        return (
            written.document.problem(
                f"{base}/file",
                f"there is no schema file `{show_name(name)}` in this folder.",
                say_meant(name, written.schemas)
                if written.schemas
                else "Write the file, or the schema here.",
                code=Code.SCHEMA_UNRESOLVED_REF,
            ),
        )
    return _Found(written.document, base, value)


def _normal(parts: tuple[str, ...]) -> list[str]:
    kept: list[str] = []
    for part in parts:
        if part == ".." and kept:
            kept.pop()
        else:
            kept.append(part)
    return kept


def _surroundings(written: Written, side: SideName) -> Surroundings:
    contract = written.document.value
    result, arguments = _mapping(contract, "result"), _mapping(contract, "arguments")
    limits = _mapping(contract, "limits")
    untrusted = _mapping(result, "untrusted_text").values()
    of_result = side == "result"
    most = limits.get("max_bytes") if of_result else written.limits.max_call_bytes
    selected = result.get("agent")
    echoed = _pointers(_mapping(result, "bind").values())
    return Surroundings(
        of_contract=True,
        has_dialect=True,
        description=_text(_as_mapping(contract).get("description")),
        selected=_pointers(selected) | _pointers(untrusted)
        if of_result and isinstance(selected, list)
        else None,
        untrusted=_pointers(untrusted) if of_result else frozenset(),
        on_absent=_pointers(_mapping(arguments, "on_absent")),
        echoed=echoed,
        identifying=_identifying(arguments) if of_result else {},
        fresh=next(iter(_pointers([_mapping(result, "fresh").get("at")])), None),
        max_bytes=most if isinstance(most, int) else written.limits.max_bytes,
        max_depth=written.limits.max_depth,
        has_accepted=_has_accepted(written.home / "fixtures" / side),
        is_destructive=_as_mapping(contract).get("effect") == "destructive",
        names_resource=bool(arguments.get("resource")),
        open_proofs=tuple(_open_proofs(_as_mapping(contract).get("evidence"))),
    )


def _open_proofs(evidence: JsonValue) -> Iterator[str]:
    """Yield the tools of proofs that ask for no value."""
    for item in evidence if isinstance(evidence, list) else ():
        tool = item.get("tool") if isinstance(item, Mapping) and not item.get("where") else None
        if isinstance(tool, str):
            yield tool


def _identifying(arguments: JsonObject) -> dict[Pointer, str]:
    """The resources that access is asked about, and required members named like identifiers."""
    found: dict[Pointer, str] = {}
    resources = arguments.get("resource")
    for item in resources if isinstance(resources, list) else ():
        for pointer in _pointers([_as_mapping(item).get("id")]):
            found[pointer] = pointer.text
    schema = _mapping(arguments, "schema")
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if isinstance(name, str) and is_identifier_name(name):
            found[Pointer((name,))] = f"/{name}"
    return found


def _has_accepted(fixtures: Path) -> bool:
    return any(
        path.suffix in (".json", ".bin")
        for kind in ("accepted", "former")
        for path in (fixtures / kind).rglob("*")
    )


def _mapping(value: object, name: str) -> JsonObject:
    return _as_mapping(value.get(name) if isinstance(value, Mapping) else None)


def _as_mapping(value: object) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, Mapping) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _pointers(values: object) -> frozenset[Pointer]:
    found = set()
    for text in values if isinstance(values, Iterable) and not isinstance(values, str) else ():
        if isinstance(text, str):
            try:
                found.add(Pointer.parse(text))
            except ValueError:
                continue
    return frozenset(found)
