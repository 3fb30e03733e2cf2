"""Opening a contract folder: read, load, try, wire, run the fixtures, hand back a gate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sluicegate.adapters.credentials import Credentials
from sluicegate.contracts.contract import PythonName
from sluicegate.contracts.loading import load
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.served import ContractSet
from sluicegate.contracts.settings import AuditSettings
from sluicegate.contracts.yaml_reading import Document, read_document
from sluicegate.errors import ConfigurationError, ContractFolderError
from sluicegate.gates.gate import Gate, Opened
from sluicegate.gates.means import Means
from sluicegate.gates.ports import AuditStore, Clock
from sluicegate.gates.serving import Line, Serving
from sluicegate.notices.notices import open_notifier
from sluicegate.opening.clock import SystemClock, draw, new_request_id
from sluicegate.opening.documents import Folder, read_folder
from sluicegate.opening.fixtures import FixtureResult, run_fixtures
from sluicegate.opening.python_names import resolve
from sluicegate.opening.steering import Steering, read_steering
from sluicegate.opening.trial import try_schemas
from sluicegate.opening.wiring import build_authored, build_authorizer, build_line
from sluicegate.stores.stores import open_store
from sluicegate.values.codes import Code


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderReport:
    """What ``check`` found: ``contracts`` is None where the folder does not load."""

    contracts: ContractSet | None
    problems: tuple[Problem, ...]
    fixtures: tuple[FixtureResult, ...]


def open_gate(
    folder: str | Path = "contracts",
    *,
    python: bool = True,
    fixtures: bool = True,
    clock: Clock | None = None,
) -> Gate:
    """Open a contract folder and return the gate that serves it.

    ``python=False`` forbids every Python name in it; ``fixtures=False`` leaves its fixtures out;
    ``clock`` stands in for the machine's in tests. A contract whose fixtures fail is not served
    and says so when it is called.
    Raises: ContractFolderError with every problem where the folder does not load;
    ConfigurationError where a store, key, credential or steering file is wrong. SPEC CON-3.
    """
    root = Path(folder)
    serving = _open_serving(root, python=python, fixtures=fixtures)
    if isinstance(serving, tuple):
        raise ContractFolderError(serving)
    settings = serving.contracts.settings
    means = Means(
        clock=clock or SystemClock(),
        store=open_store(settings.audit, settings.retention, root),
        authorizer=build_authorizer(settings.access),
        notifier=open_notifier(settings.notify),
        retention=settings.retention,
        new_request_id=new_request_id,
        draw=draw,
    )
    return Gate(
        means,
        serving,
        reopen=partial(_reopen, root, settings.audit, python=python, fixtures=fixtures),
        author=build_authored(root, Credentials(root)) if python else None,
    )


def _reopen(
    root: Path, audit: AuditSettings, means: Means, *, python: bool, fixtures: bool
) -> Opened | tuple[Problem, ...]:
    """Open the folder anew: its contracts, and who may call, who is told and what is kept."""
    serving = _open_serving(root, python=python, fixtures=fixtures)
    if isinstance(serving, tuple):
        return serving
    settings = serving.contracts.settings
    if settings.audit != audit:
        return (
            Problem(
                code=Code.CONTRACT_INVALID,
                document="sluicegate.yaml",
                message="A running gate keeps its record: `audit` cannot change while it runs.",
                mend="Put `audit` back, or start the gate anew.",
            ),
        )
    return Opened(
        serving=serving,
        means=replace(
            means,
            authorizer=build_authorizer(settings.access),
            notifier=open_notifier(settings.notify),
            retention=settings.retention,
        ),
    )


def check_folder(folder: Path, *, python: bool = True) -> FolderReport:
    """Load the folder and climb every fixture, without opening a store or serving anything."""
    contracts, problems, read = _load(folder, python=python)
    if contracts is None:
        return FolderReport(contracts=None, problems=problems, fixtures=())
    results: list[FixtureResult] = []
    homes, credentials = read.tool_folders(), Credentials(folder)
    for contract in contracts.contracts.values():
        line = build_line(contract, folder, credentials)
        results.extend(run_fixtures(homes[contract.source], line))
    return FolderReport(contracts=contracts, problems=(), fixtures=tuple(results))


def open_folder_store(folder: Path, *, python: bool = False) -> AuditStore:
    """Open the record of a folder for an operator, whether or not its contracts load.

    Raises: ConfigurationError where the settings or the store are wrong.
    """
    read = read_folder(folder)
    wanted = {name: raw for name, raw in read.documents.items() if name == "sluicegate.yaml"}
    loaded = load(wanted, resolve=resolve if python else None)
    if isinstance(loaded, tuple):
        raise ConfigurationError("\n".join(str(problem) for problem in loaded))
    return open_store(loaded.settings.audit, loaded.settings.retention, folder)


def _open_serving(root: Path, *, python: bool, fixtures: bool) -> Serving | tuple[Problem, ...]:
    contracts, problems, read = _load(root, python=python)
    if contracts is None:
        return problems
    steering = read_steering(root)
    withdrawn = {
        tool: f"switched off by an operator: {reason}" for tool, reason in steering.disabled.items()
    }
    lines: dict[str, Line] = {}
    homes, credentials = read.tool_folders(), Credentials(root)
    for tool, contract in contracts.contracts.items():
        if tool in withdrawn:
            continue
        line = build_line(contract, root, credentials)
        failing = (
            [result for result in run_fixtures(homes[contract.source], line) if not result.ok]
            if fixtures
            else []
        )
        if failing:
            withdrawn[tool] = f"fixture {failing[0].path} {failing[0].note}"
        else:
            lines[tool] = line
    return Serving(contracts=contracts, lines=lines, withdrawn=withdrawn)


def _load(root: Path, *, python: bool) -> tuple[ContractSet | None, tuple[Problem, ...], Folder]:
    read = read_folder(root)
    if read.problems:
        return None, read.problems, read
    steering = read_steering(root)
    documents, missing = _steered(read, steering)
    if missing:
        return None, missing, read
    loaded = load(documents, resolve=_resolver(python))
    if isinstance(loaded, tuple):
        return None, loaded, read
    refused = _try(loaded)
    return (None, refused, read) if refused else (loaded, (), read)


def _resolver(python: bool) -> Callable[[PythonName], object] | None:
    return resolve if python else None


def _steered(read: Folder, steering: Steering) -> tuple[Mapping[str, bytes], tuple[Problem, ...]]:
    """Put the released version that an operator rolled back to in place of the current one."""
    documents = dict(read.documents)
    missing = []
    for name, home in read.tool_folders().items():
        document = read_document(name, documents[name])
        if not isinstance(document, Document) or not isinstance(document.value, Mapping):
            continue  # the loader says what is wrong with it
        version = steering.versions.get(str(document.value.get("tool")))
        if version is None:
            continue
        released = home / "released" / f"{version}.yaml"
        try:
            documents[name] = released.read_bytes()
        except OSError:
            missing.append(
                Problem(
                    code=Code.CONTRACT_INVALID,
                    document=name,
                    message=f"An operator rolled back to {version}, which is not in released/.",
                    mend="Restore that file, or run `sluicegate rollback` to another version.",
                )
            )
    return documents, tuple(missing)


def _try(contracts: ContractSet) -> tuple[Problem, ...]:
    """Compile and validate every schema in a child process with limits (CON-2)."""
    tried = [
        (contract, side, schema.document)
        for contract in contracts.contracts.values()
        for side, schema in (
            ("arguments", contract.arguments.schema),
            ("result", contract.result.schema),
        )
    ]
    faults = try_schemas([document for _, _, document in tried])
    return tuple(
        Problem(
            code=fault.code,
            document=contract.source,
            message=f"The {side} schema: {fault.message}",
            mend=fault.mend,
            pointer=fault.pointer,
        )
        for (contract, side, _), fault in zip(tried, faults, strict=True)
        if fault is not None
    )
