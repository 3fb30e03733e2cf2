"""Documents (names and bytes) → an immutable contract set, or every problem in them (SPEC 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sluicegate.contracts.contract import Contract, PythonName
from sluicegate.contracts.file_names import SETTINGS_NAME, is_contract
from sluicegate.contracts.fingerprints import describe
from sluicegate.contracts.marks import Document
from sluicegate.contracts.naming import PythonNames
from sluicegate.contracts.places import Place
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.reading_contract import Surroundings, read_contract
from sluicegate.contracts.reading_settings import read_settings, resolve_access
from sluicegate.contracts.served import ContractSet
from sluicegate.contracts.settings import Settings
from sluicegate.contracts.sourcing import Shelf
from sluicegate.contracts.yaml_reading import read_document
from sluicegate.values.digests import digest_of_json


def load(
    documents: Mapping[str, bytes], *, resolve: Callable[[PythonName], object] | None
) -> ContractSet | tuple[Problem, ...]:
    """Read, judge and compile a whole folder; what cannot be compiled is never served.

    ``documents`` maps folder-relative POSIX paths to bytes: ``sluicegate.yaml`` (absent: every
    setting at its default), ``TOOL/contract.yaml`` or ``.json``, and the schema files that they
    refer to. ``resolve`` imports a Python name that the settings admit and may raise; None
    forbids Python. Returns all problems, if there is any: in order of document and line, in each
    document unknown keys first.
    Source: SPEC CON-1, CON-2, CON-3.
    """
    problems: list[Problem] = []
    names = sorted(name for name in documents if is_contract(name))
    settings_place = _open(SETTINGS_NAME, documents, problems)
    settings = Settings() if settings_place is None else read_settings(settings_place)
    python = PythonNames(settings.python, resolve)
    if settings_place is not None and names:
        resolve_access(settings_place, settings, python)
    surroundings = Surroundings(settings=settings, shelf=Shelf(documents), names=python)
    contracts: dict[str, Contract] = {}
    owners: dict[str, str] = {}
    for name in names:
        place = _open(name, documents, problems)
        if place is None:
            continue
        _claim_tool(place, owners)
        contract = read_contract(place, surroundings)
        if contract is not None:
            contracts[contract.tool] = contract
    if problems:
        return tuple(sorted(problems, key=_by_place))
    return ContractSet(
        contracts=MappingProxyType(contracts),
        settings=settings,
        digest=digest_of_json(
            [
                describe(settings),
                {tool: contract.fingerprints.digest for tool, contract in contracts.items()},
            ]
        ),
    )


def _open(name: str, documents: Mapping[str, bytes], problems: list[Problem]) -> Place | None:
    if name not in documents:
        return None
    read = read_document(name, documents[name])
    if isinstance(read, Document):
        return Place(read, read.value, "", problems)
    problems.extend(read)
    return None


def _claim_tool(place: Place, owners: dict[str, str]) -> None:
    """Note where two folders hold one tool."""
    tool = place.value.get("tool") if isinstance(place.value, Mapping) else None
    if not isinstance(tool, str):
        return
    owner = owners.setdefault(tool, place.document.name)
    if owner != place.document.name:
        place.follow("tool").fault(
            f"{owner} holds a contract for this tool already.",
            "Keep one contract a tool; an older version belongs into released/.",
        )


def _by_place(problem: Problem) -> tuple[str, bool, int, int]:
    return problem.document, not problem.comes_first, problem.line or 0, problem.column or 0
