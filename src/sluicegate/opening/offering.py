"""``serve`` at work: the frozen versions that are served beside, or in the place of, the current.

Each is loaded by itself, by the way that a rollback takes: digest, loader, waivers, trial. One
that cannot be served keeps the whole folder from being served (CON-3, LIF-3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from sluicegate.contracts.contract import Contract
from sluicegate.contracts.file_names import CONTRACT_NAMES, SETTINGS_NAME
from sluicegate.contracts.places import suggest
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.served import ContractSet, Offer
from sluicegate.contracts.settings import ServeRow
from sluicegate.contracts.versions import CURRENT
from sluicegate.lifecycle.releasing import DIGESTS_NAME
from sluicegate.opening.documents import Folder
from sluicegate.opening.frozen_fixtures import find_edited_fixtures
from sluicegate.opening.released_folder import ReleasedFolder
from sluicegate.opening.settings_problems import settings_problem
from sluicegate.values.digests import digest_of_json
from sluicegate.values.names import show_name
from sluicegate.values.pointers import join_segments

LoadFrozen: TypeAlias = "Callable[[str, str], Contract | tuple[Problem, ...]]"
"""From tool and version to the released contract, under the name of its own document."""


def offer_versions(
    read: Folder, contracts: ContractSet, rolled_back: Iterable[str], load_frozen: LoadFrozen
) -> ContractSet | tuple[Problem, ...]:
    """Return ``contracts`` with the versions that ``serve`` names, or why one cannot be served.

    A tool in ``rolled_back`` is served at that version alone: an operator's act at night stands
    above the rows, which are read again once it is undone. Untried: the schemas of the versions.
    """
    offers: dict[str, tuple[Offer, ...]] = {}
    problems: list[Problem] = []
    steered = set(rolled_back)
    for tool, rows in contracts.settings.serve.items():
        if tool not in contracts.contracts:
            problems.append(_unknown_tool(read, tool, contracts.contracts))
        elif tool not in steered:
            offers[tool] = _offer(read, contracts.contracts[tool], rows, load_frozen, problems)
    if problems:
        return tuple(problems)
    return contracts if not offers else _with_offers(contracts, offers)


def find_home(root: Path, contract: Contract) -> Path:
    """Return the folder that the fixtures of ``contract`` lie below; a release has its own."""
    path = root / contract.source
    return path.parent if path.name in CONTRACT_NAMES else path.with_name(contract.version)


def _offer(
    read: Folder,
    current: Contract,
    rows: tuple[ServeRow, ...],
    load_frozen: LoadFrozen,
    problems: list[Problem],
) -> tuple[Offer, ...]:
    """Return the versions of one tool; what keeps one from being served is noted."""
    released = ReleasedFolder(root=read.root, home=(read.root / current.source).parent)
    recorded = released.digests()
    offers: list[Offer] = []
    before = len(problems)
    for index, row in enumerate(rows):
        at = join_segments(("serve", current.tool, str(index), "version"))
        if row.version == CURRENT:
            offers.append(Offer(row=row, contract=current))
        elif row.version not in released.versions():
            problems.append(_unknown_version(read, at, current.tool, row.version, released))
        elif recorded is None:
            problems.append(_no_digest(read, at, row.version))
        else:
            found = _load(released, recorded, row.version, current.tool, load_frozen)
            if isinstance(found, Contract):
                offers.append(Offer(row=row, contract=found))
            else:
                problems.extend(_explain(found, row.version))
    if len(problems) == before:
        problems.extend(_same_version(read, offers))
    return tuple(offers)


def _load(
    released: ReleasedFolder,
    recorded: Mapping[str, str] | Problem,
    version: str,
    tool: str,
    load_frozen: LoadFrozen,
) -> Contract | tuple[Problem, ...]:
    """Load one released version; its fixtures must be what was released, as the file must."""
    if isinstance(recorded, Problem):
        return (recorded,)
    return tuple(find_edited_fixtures(released, version, recorded)) or load_frozen(tool, version)


def _with_offers(contracts: ContractSet, offers: Mapping[str, tuple[Offer, ...]]) -> ContractSet:
    digests = {
        tool: [str(offer.contract.fingerprints.digest) for offer in each]
        for tool, each in offers.items()
    }
    return replace(
        contracts,
        rollouts=MappingProxyType(dict(offers)),
        digest=digest_of_json([str(contracts.digest), digests]),
    )


# --- what is wrong -----------------------------------------------------------------------------


def _unknown_tool(read: Folder, tool: str, known: Mapping[str, Contract]) -> Problem:
    return _at(
        read,
        join_segments(("serve", tool)),
        f"`serve` names `{show_name(tool)}`, which is no tool of this folder.",
        suggest(tool, known),
        at_key=True,
    )


def _unknown_version(
    read: Folder, at: str, tool: str, version: str, released: ReleasedFolder
) -> Problem:
    known = ", ".join(show_name(each) for each in released.versions())
    return _at(
        read,
        at,
        f"`{version}` is no released version of {show_name(tool)}.",
        f"Released are {known}; or write `{CURRENT}`."
        if known
        else f"Nothing was released: run `sluicegate release {show_name(tool)}`.",
    )


def _no_digest(read: Folder, at: str, version: str) -> Problem:
    return _at(
        read,
        at,
        f"`{version}` has no digest: {DIGESTS_NAME} is not there, so nothing shows that it is what"
        " was released.",
        "Run `sluicegate release`, which records the digests.",
    )


def _same_version(read: Folder, offers: Iterable[Offer]) -> Iterator[Problem]:
    """Two contracts under one version could not be told apart in the record."""
    seen: set[str] = set()
    for index, offer in enumerate(offers):
        version, tool = offer.contract.version, offer.contract.tool
        if version in seen:
            yield _at(
                read,
                join_segments(("serve", tool, str(index), "version")),
                f"two rows of {show_name(tool)} are version {version}: the version being worked on"
                " bears it as well.",
                "Raise `version` in its contract, or keep one of the rows.",
            )
        seen.add(version)


def _explain(problems: Iterable[Problem], version: str) -> Iterator[Problem]:
    for problem in problems:
        yield replace(
            problem,
            message=f"`serve` in {SETTINGS_NAME} names {version}, and this cannot be served: "
            f"{problem.message}",
        )


def _at(read: Folder, pointer: str, message: str, mend: str, *, at_key: bool = False) -> Problem:
    return settings_problem(read.documents[SETTINGS_NAME], pointer, message, mend, at_key=at_key)
