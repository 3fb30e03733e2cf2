"""A released document read once more, to compare with: under the terms that it was released by.

What the folder admits today is no matter of what was released: a lower ceiling, or a module prefix
that went, must not keep the next version from being held to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sluicegate.contracts.contract import Contract, PythonName
from sluicegate.contracts.marks import Document
from sluicegate.contracts.naming import PythonNames
from sluicegate.contracts.places import Place
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.reading_contract import Surroundings, read_contract
from sluicegate.contracts.settings import FolderLimits, Settings
from sluicegate.contracts.sourcing import Shelf
from sluicegate.contracts.yaml_reading import read_document
from sluicegate.values.json import JsonValue


def load_released(name: str, content: bytes, settings: Settings) -> Contract | tuple[Problem, ...]:
    """Return the contract that ``content``, a released document, holds; or its problems.

    Its own limits are the ceilings, those of ``settings`` where it has none, and each Python name
    is taken as it stands: none is imported. It is to be compared, never to be served.
    """
    read = read_document(name, content)
    if not isinstance(read, Document):
        return read
    problems: list[Problem] = []
    contract = read_contract(
        Place(read, read.value, "", problems),
        Surroundings(
            settings=replace(settings, limits=_ceilings(read.value, settings.limits)),
            shelf=Shelf({}),
            names=PythonNames(tuple({*_modules(read.value)} - {""}), _stand_in),
        ),
    )
    return tuple(problems) if contract is None or problems else contract


def _ceilings(document: JsonValue, today: FolderLimits) -> FolderLimits:
    written = document.get("limits") if isinstance(document, Mapping) else None
    limits = written if isinstance(written, Mapping) else {}

    def own(name: str, otherwise: int) -> int:
        number = limits.get(name)
        return number if isinstance(number, int) and not isinstance(number, bool) else otherwise

    return replace(
        today,
        max_call_bytes=own("max_call_bytes", today.max_call_bytes),
        max_bytes=own("max_bytes", today.max_bytes),
        max_depth=own("max_depth", today.max_depth),
    )


def _modules(value: JsonValue) -> Iterator[str]:
    """Yield whatever may be the module of a Python name in ``value``."""
    if isinstance(value, str):
        yield value.partition(":")[0]
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from _modules(member)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _modules(item)


def _stand_in(name: PythonName) -> object:
    """What a name is taken for where only the name is compared."""

    def never_called(*_: object, **__: object) -> object:
        raise NotImplementedError(name)

    return never_called
