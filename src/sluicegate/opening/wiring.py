"""From a contract to the line that runs it: ladders, checks and adapter, wired by its words."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from sluicegate.access.python import FunctionAuthorizer
from sluicegate.access.table import TableAuthorizer
from sluicegate.adapters.cache import CacheAdapter
from sluicegate.adapters.command import CommandAdapter
from sluicegate.adapters.credentials import Credentials
from sluicegate.adapters.host import HostAdapter
from sluicegate.adapters.http import HttpAdapter
from sluicegate.adapters.python import PythonAdapter
from sluicegate.checks.meaning import ResultCheck
from sluicegate.checks.soundness import ArgumentCheck
from sluicegate.contracts.authoring import load_authored, write_contract
from sluicegate.contracts.contract import (
    CommandFetch,
    Contract,
    HttpFetch,
    PythonFetch,
    PythonName,
)
from sluicegate.contracts.settings import AccessSettings
from sluicegate.errors import ContractFolderError
from sluicegate.gates.call_gate import CallLadder
from sluicegate.gates.ports import Adapter, Authorizer
from sluicegate.gates.result_gate import ResultLadder
from sluicegate.gates.serving import Line
from sluicegate.opening.python_names import resolve_callable


def build_line(
    contract: Contract,
    root: Path,
    credentials: Credentials,
    *,
    find: Callable[[PythonName], Callable[..., object]] = resolve_callable,
) -> Line:
    """Return the line of one contract; ``root`` is the folder that relative paths start from.

    ``find`` yields the function of a name; by default its module is imported.
    Raises: ConfigurationError where a function or program that it names is not there.
    """
    return Line(
        contract=contract,
        call=CallLadder(
            contract,
            cast("Sequence[ArgumentCheck]", [find(name) for name in contract.arguments.checks]),
        ),
        result=ResultLadder(
            contract, cast("Sequence[ResultCheck]", [find(name) for name in contract.result.checks])
        ),
        adapter=_build_adapter(contract, root, credentials, find),
    )


def build_authorizer(access: AccessSettings) -> Authorizer:
    """Return the decision point that sluicegate.yaml names: a function, or else the table."""
    if access.python is not None:
        return FunctionAuthorizer(resolve_callable(access.python), name=str(access.python))
    return TableAuthorizer(access.rules)


def build_authored(
    root: Path, credentials: Credentials
) -> Callable[[Callable[..., object], Mapping[str, Any]], Line]:
    """Return what ``gate.tool`` writes lines with: the same loader, the same wiring (CON-7)."""

    def author(function: Callable[..., object], parts: Mapping[str, Any]) -> Line:
        authored = write_contract(function, **parts)
        contract = load_authored(authored)
        if isinstance(contract, tuple):
            raise ContractFolderError(contract)
        named = cast("Mapping[PythonName, Callable[..., object]]", authored.objects)
        return build_line(contract, root, credentials, find=named.__getitem__)

    return author


def _build_adapter(
    contract: Contract,
    root: Path,
    credentials: Credentials,
    find: Callable[[PythonName], Callable[..., object]],
) -> Adapter:
    fetch = contract.fetch
    adapter: Adapter
    if isinstance(fetch, HttpFetch):
        if fetch.ca_file is not None:
            fetch = replace(fetch, ca_file=str(root.resolve() / fetch.ca_file))
        adapter = HttpAdapter(fetch, credentials)
    elif isinstance(fetch, CommandFetch):
        if fetch.directory is not None:
            fetch = replace(fetch, directory=str(root.resolve() / fetch.directory))
        adapter = CommandAdapter(fetch, credentials)
    elif isinstance(fetch, PythonFetch):
        adapter = PythonAdapter(fetch, find(fetch.function))
    else:
        adapter = HostAdapter()
    if contract.cache is None:
        return adapter
    return CacheAdapter(adapter, contract.cache, monotonic=time.monotonic)
