"""What ``check`` notes of a folder that loads, one sentence each: doubts, and how it is served."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from sluicegate.access.table import could_allow
from sluicegate.contracts.contract import Contract
from sluicegate.contracts.file_names import SETTINGS_NAME
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.served import ContractSet
from sluicegate.contracts.settings import AccessRule
from sluicegate.contracts.versions import CURRENT
from sluicegate.opening.documents import find_settings_near
from sluicegate.opening.examples import find_lacking
from sluicegate.opening.fixtures import TriedFixture
from sluicegate.opening.loaded import Loaded
from sluicegate.opening.offering import find_home
from sluicegate.opening.steering import Steering
from sluicegate.values.names import show_name


def list_services(loaded: Loaded, contracts: ContractSet) -> Iterator[str]:
    """Yield what is served otherwise than its folder stands: switched off, rolled back, shared."""
    rolled_back = _rolled_back(loaded)
    yield from _tell_steering(loaded.steering, rolled_back, contracts.contracts)
    yield from _tell_rollouts(contracts, rolled_back)


def list_doubts(
    loaded: Loaded,
    contracts: ContractSet,
    results: Sequence[TriedFixture],
    *,
    releases: Iterable[Problem],
) -> Iterator[str]:
    """Yield what loads and is hardly meant; ``releases`` is wrong with its released documents."""
    served = contracts.contracts
    rolled_back = _rolled_back(loaded)
    frozen = {
        find_home(loaded.read.root, contract).relative_to(loaded.read.root).as_posix(): contract
        for contract in contracts.frozen()
    }
    working = [each for each in results if not any(_is_below(each, home) for home in frozen)]
    for tool in sorted(served.keys() - rolled_back):
        yield from _doubt_proof(served[tool], [each for each in working if each.tool == tool])
    for home, contract in sorted(frozen.items()):
        if not any(_is_below(each, home) for each in results):
            yield (
                f"{contract.tool} {contract.version} is served and no fixtures were frozen with it:"
                " nothing shows that it fits its tool's answers"
            )
    yield from _doubt_releases(loaded.read.root, releases)
    if SETTINGS_NAME not in loaded.read.documents:
        yield _say_no_settings(loaded.read.root)
    elif contracts.settings.access.is_table:
        yield from _doubt_access(contracts.settings.access.rules, served)


def say_no_settings(root: Path) -> str | None:
    """Return what is told of a folder without settings; None where it has them."""
    return None if (root / SETTINGS_NAME).exists() else _say_no_settings(root)


def _say_no_settings(root: Path) -> str:
    near = find_settings_near(root)
    return f"there is no {SETTINGS_NAME}, so no access rule: every call will be DENIED" + (
        f"; did you mean the folder {near}?" if near is not None else ""
    )


def _doubt_proof(contract: Contract, results: Sequence[TriedFixture]) -> Iterator[str]:
    """What no accepted fixture speaks for is proven by nothing; ``test`` fails for it."""
    lacking = find_lacking(contract, results)
    if not results:
        yield (
            f"{contract.tool} has no fixtures: nothing shows that its contract fits its tool's "
            "answers"
        )
    elif lacking:
        yield (
            f"{contract.tool} has no accepted fixture of its {' and its '.join(lacking)}: nothing "
            "of that was tried"
        )


def _is_below(result: TriedFixture, home: str) -> bool:
    return result.path.startswith(f"{home}/")


def _doubt_releases(root: Path, problems: Iterable[Problem]) -> Iterator[str]:
    """One note a document: a frozen one is not mended, but restored or passed over."""
    by_document: dict[str, list[Problem]] = {}
    for problem in problems:
        by_document.setdefault(problem.document, []).append(problem)
    for document, (first, *others) in by_document.items():
        place = str(Path(root, document))
        if first.line is not None:
            place += f":{first.line}:{first.column}"
        more = f" (and {len(others)} more)" if others else ""
        yield f"{place}: no rollback to it is possible: {first.message}{more}"


def _rolled_back(loaded: Loaded) -> set[str]:
    return {release.tool for release in loaded.rolled_back.values()}


def _tell_steering(
    steering: Steering, rolled_back: Iterable[str], served: Mapping[str, Contract]
) -> Iterator[str]:
    for tool, reason in sorted(steering.disabled.items()):
        if tool in served:
            yield (
                f"{tool} is switched off by an operator: {show_name(reason)}; "
                f"`sluicegate disable {tool} --undo --reason …` puts it back"
            )
    for tool in sorted(rolled_back):
        yield (
            f"{tool} is served at {served[tool].version}, which an operator rolled back to; the "
            "version being worked on was not checked"
        )


def _tell_rollouts(contracts: ContractSet, rolled_back: Iterable[str]) -> Iterator[str]:
    for tool in sorted(contracts.settings.serve.keys() & set(rolled_back)):
        yield f"`serve` has no say for {tool} as long as it is rolled back"
    for tool, offers in sorted(contracts.rollouts.items()):
        yield f"{tool} is served side by side: {'; '.join(map(str, offers))}"
        if all(offer.row.version != CURRENT for offer in offers):
            working = contracts.contracts[tool].version
            yield f"{tool}: version {working}, which is being worked on, is served to nobody"


# --- access ------------------------------------------------------------------------------------


def _doubt_access(rules: Sequence[AccessRule], served: Mapping[str, Contract]) -> Iterator[str]:
    """Rows that admit no resource, and tools that no row allows anybody to call."""
    for row, rule in enumerate(rules, start=1):
        if rule.resource_in is not None and not rule.resource_in:
            yield f"access row {row} allows nothing: its `in` is empty"
    for tool, contract in sorted(served.items()):
        if not could_allow(rules, contract):
            yield f"no access rule allows anybody to call {tool}: every call will be DENIED"
