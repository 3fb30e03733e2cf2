"""From a contract to the line that runs it: ladders, checks and adapter, wired by its words."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, cast

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
    Rfc9421Signature,
    SshFetch,
)
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.settings import FolderLimits
from sluicegate.errors import ConfigurationError, ContractFolderError
from sluicegate.gates.call_gate import CallLadder
from sluicegate.gates.ports import Adapter, SigningKeys
from sluicegate.gates.readings import KeyReading
from sluicegate.gates.result_gate import ResultLadder
from sluicegate.gates.serving import Line
from sluicegate.opening.python_names import resolve_callable
from sluicegate.opening.python_signatures import demand_takes_arguments
from sluicegate.opening.signature_keys import find_keys
from sluicegate.opening.speaking_ssh import build_ssh
from sluicegate.opening.trial import try_contracts
from sluicegate.opening.waivers import list_waivers, refuse_expired
from sluicegate.values.codes import Code

_FETCHES: Final[Mapping[type, str]] = {
    HttpFetch: "/fetch/http",
    CommandFetch: "/fetch/command",
    SshFetch: "/fetch/ssh",
    PythonFetch: "/fetch/python",
}
"""What adapts → where its contract says so."""


def build_line(
    contract: Contract,
    root: Path,
    credentials: Credentials,
    *,
    find: Callable[[PythonName], Callable[..., object]] = resolve_callable,
) -> Line:
    """Return the line of one contract; ``root`` is the folder that relative paths start from.

    ``find`` yields the function of a name; by default its module is imported.
    Raises: ConfigurationError where a function, program or key file that it names is not there.
    """
    return _assemble(contract, root, credentials, find, find_keys(contract, root, credentials))


def _assemble(
    contract: Contract,
    root: Path,
    credentials: Credentials,
    find: Callable[[PythonName], Callable[..., object]],
    keys: SigningKeys | None,
) -> Line:
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
        keys=None if keys is None else KeyReading(keys),
    )


def try_line(contract: Contract, root: Path, credentials: Credentials) -> Line | Problem:
    """Return the line of one contract, or why it cannot be built.

    A program, CA file, host key, key file, library or function that is not there is a problem of
    the contract that names it.
    """
    pointer = "/upstream/signature"
    try:
        keys = find_keys(contract, root, credentials)
        pointer = _FETCHES.get(type(contract.fetch), "/fetch")
        return _assemble(contract, root, credentials, resolve_callable, keys)
    except ConfigurationError as error:
        return Problem(
            code=Code.CONTRACT_INVALID,
            document=contract.source,
            message=f"It cannot be served: {error}.",
            mend="Mend the contract, or put in place what it names.",
            pointer=pointer,
        )


def build_lines(
    contracts: Iterable[Contract], root: Path, credentials: Credentials
) -> list[Line] | tuple[Problem, ...]:
    """Return the line of each of ``contracts``, or a problem for each that cannot be built."""
    tried = [try_line(contract, root, credentials) for contract in contracts]
    problems = tuple(each for each in tried if isinstance(each, Problem))
    return problems or [each for each in tried if isinstance(each, Line)]


def build_authored(
    root: Path, credentials: Credentials, limits: FolderLimits, now: Callable[[], datetime]
) -> Callable[[Callable[..., object], Mapping[str, Any]], Line]:
    """Return what ``gate.tool`` writes lines with: the same loader, trial and wiring (CON-7).

    ``limits`` are the folder's, as it was opened. The functions' own modules need not stand in
    the allow-list: that list says what a document may import, and code that runs in this process
    may name itself. What is returned raises ContractFolderError with every problem.
    """

    def author(function: Callable[..., object], parts: Mapping[str, Any]) -> Line:
        authored = write_contract(function, **parts)
        contract = load_authored(authored, limits=asdict(limits))
        if isinstance(contract, tuple):
            raise ContractFolderError(contract)
        refused = refuse_expired(list_waivers([contract], now())) or try_contracts([contract])
        if refused:
            raise ContractFolderError(refused)
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
        # A signed digest is over the content as it was sent: no encoding, or nobody could check it.
        signed = isinstance(contract.upstream.signature, Rfc9421Signature)
        adapter = HttpAdapter(fetch, credentials, plain=signed)
    elif isinstance(fetch, CommandFetch):
        if fetch.directory is not None:
            fetch = replace(fetch, directory=str(root.resolve() / fetch.directory))
        adapter = CommandAdapter(fetch, credentials)
    elif isinstance(fetch, SshFetch):
        adapter = build_ssh(fetch, root, credentials)
    elif isinstance(fetch, PythonFetch):
        function = find(fetch.function)
        adapter = PythonAdapter(fetch, function)
        demand_takes_arguments(str(fetch.function), function, contract)
    else:
        adapter = HostAdapter()
    if contract.cache is None:
        return adapter
    return CacheAdapter(adapter, contract.cache, monotonic=time.monotonic)
