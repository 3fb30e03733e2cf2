"""The pytest plugin: contract folders as tests, one a fixture and one a surviving mutant.

    [tool.pytest.ini_options]
    sluicegate_contracts = ["contracts"]

or ``pytest --sluicegate contracts``. A folder that does not load is an error of the collection, and
one that holds no contract an error of usage; a contract of which nothing, or not all, was tried is
a test that fails. Source: SPEC LIF-5.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from sluicegate.contracts.file_names import is_contract

if TYPE_CHECKING:
    from sluicegate.opening.fixtures import TriedFixture
    from sluicegate.opening.testing_contracts import FolderProbe, ProbedContract
    from sluicegate.rendering.testing import Survivor

_INI: Final = "sluicegate_contracts"
_OPTION: Final = "sluicegate_folders"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--sluicegate`` and the ini value of the same meaning."""
    group = parser.getgroup("sluicegate", "sluicegate contracts")
    group.addoption(
        "--sluicegate",
        action="append",
        default=[],
        dest=_OPTION,
        metavar="FOLDER",
        help="test the contracts of this folder: fixtures, and mutants of them",
    )
    parser.addini(_INI, "contract folders to test", type="paths", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Collect the folders of the option always, those of the ini where no paths were given.

    Raises: UsageError for a folder that holds no contract.
    """
    config.stash[_PROBES], config.stash[_LISTED] = {}, {}
    config.stash[_NAMED] = _folders(config)
    named = [str(folder.resolve()) for folder in _of_option(config)]
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        named += [str(folder) for folder in config.getini(_INI)]
    for each in named:
        if not _list_contracts(config, Path(each)):
            raise pytest.UsageError(f"{each} holds no contract: nothing would be tested")
    config.args[:] = [*config.args, *(each for each in named if each not in config.args)]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Take a contract of one of the named folders."""
    if not is_contract(file_path.name):
        return None
    folder = _folder_of(file_path, parent.config)
    if folder is None or file_path.resolve() not in _list_contracts(parent.config, folder):
        return None
    contract: ContractFile = ContractFile.from_parent(parent, path=file_path)
    return contract


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Go into every folder on the way to a contract, whatever pytest leaves out elsewhere."""
    folder = _folder_of(collection_path, config) if collection_path.is_dir() else None
    if folder is None:
        return None
    here = collection_path.resolve()
    return False if any(here in each.parents for each in _list_contracts(config, folder)) else None


_PROBES: Final = pytest.StashKey["dict[Path, FolderProbe]"]()
_LISTED: Final = pytest.StashKey["dict[Path, frozenset[Path]]"]()
_NAMED: Final = pytest.StashKey["set[Path]"]()


def _of_option(config: pytest.Config) -> list[Path]:
    return [Path(config.invocation_params.dir, each) for each in config.getoption(_OPTION)]


def _folders(config: pytest.Config) -> set[Path]:
    return {Path(each).resolve() for each in (*_of_option(config), *config.getini(_INI))}


def _folder_of(path: Path, config: pytest.Config) -> Path | None:
    """Return the named folder that ``path`` is, or lies below."""
    named = config.stash[_NAMED]
    if not named:
        return None
    resolved = path.resolve()
    return next((each for each in (resolved, *resolved.parents) if each in named), None)


def _list_contracts(config: pytest.Config, folder: Path) -> frozenset[Path]:
    """Return the contract files that the gate would load from ``folder``."""
    from sluicegate.opening.documents import read_folder

    listed = config.stash[_LISTED]
    if folder not in listed:
        names = read_folder(folder).tool_folders()
        listed[folder] = frozenset((folder / name).resolve() for name in names)
    return listed[folder]


def _probe(config: pytest.Config, folder: Path) -> FolderProbe:
    """Probe a folder once, however many contracts it holds."""
    from sluicegate.opening.testing_contracts import probe_folder

    probes = config.stash[_PROBES]
    if folder not in probes:
        probes[folder] = probe_folder(folder)
    return probes[folder]


class ContractFile(pytest.File):
    """One contract: yields an item a fixture, an item a surviving mutant."""

    def collect(self) -> Iterator[pytest.Item]:
        """Load and climb. Raises: CollectError where the folder does not load."""
        from sluicegate.rendering.human import render_item
        from sluicegate.rendering.problems import item_of_problem

        folder = _folder_of(self.path, self.config)
        if folder is None:
            return
        probe = _probe(self.config, folder)
        if probe.contracts is None:
            raise self.CollectError(
                "\n".join(render_item(item_of_problem(each)) for each in probe.problems)
            )
        for contract in probe.contracts:
            if Path(folder, contract.source) == self.path.resolve():
                yield from self._items(folder, contract)

    def _items(self, folder: Path, contract: ProbedContract) -> Iterator[pytest.Item]:
        from sluicegate.cli.tested import as_survivor

        home = Path(contract.source).parent
        if not contract.fixtures and not contract.rolled_back:
            yield Untried.from_parent(self, name="fixtures", text="it has no fixtures")
        elif (
            contract.score is None
            and not contract.rolled_back
            and not any(side.untried for side in contract.sides.values())
        ):
            yield Untried.from_parent(
                self, name="mutants", text="no accepted fixture gives a mutant"
            )
        for side in contract.sides.values():
            for each in side.untried:
                yield Untried.from_parent(self, name="mutants", text=f"not tried: {each}")
        for fixture in contract.fixtures:
            name = Path(fixture.path).relative_to(home).as_posix()
            yield FixtureItem.from_parent(self, name=name, folder=folder, fixture=fixture)
        for side in contract.sides.values():
            for hole in side.holes:
                survivor = as_survivor(str(folder), contract.tool, hole)
                name = f"mutants/{hole.name}"
                yield SurvivorItem.from_parent(self, name=name, survivor=survivor)


class ContractDoesNotHoldError(Exception):
    """A contract does not hold; its text is what a person is told."""


class ContractItem(pytest.Item):
    """Fails with a text, without a traceback."""

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the text alone."""
        if isinstance(excinfo.value, ContractDoesNotHoldError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the contract's file and what is tested."""
        return self.path, None, f"{self.path.parent.name}: {self.name}"


class Untried(ContractItem):
    """A contract of which nothing was tried, or not all."""

    def __init__(self, *, text: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._text = text

    def runtest(self) -> None:
        """Fail."""
        raise ContractDoesNotHoldError(self._text)


class FixtureItem(ContractItem):
    """One fixture, climbed already."""

    def __init__(self, *, folder: Path, fixture: TriedFixture, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._folder, self._fixture = folder, fixture

    def runtest(self) -> None:
        """Fail where it did not come out as expected."""
        if self._fixture.ok:
            return
        from sluicegate.cli.check import as_checked_fixture
        from sluicegate.cli.output import read_source
        from sluicegate.rendering.fixtures import item_of_fixture
        from sluicegate.rendering.human import render_item

        item = item_of_fixture(as_checked_fixture(str(self._folder), self._fixture))
        raise ContractDoesNotHoldError(render_item(item, read=read_source))


class SurvivorItem(ContractItem):
    """One mutant that was not refused at its rung."""

    def __init__(self, *, survivor: Survivor, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._survivor = survivor

    def runtest(self) -> None:
        """Fail."""
        from sluicegate.cli.output import read_source
        from sluicegate.rendering.human import render_item
        from sluicegate.rendering.testing import items_of_survivors

        (item,) = items_of_survivors([self._survivor])
        raise ContractDoesNotHoldError(render_item(item, read=read_source))
