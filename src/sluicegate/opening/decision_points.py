"""What sluicegate.yaml names to decide who may call → the decision point, or why it cannot decide.

Found at load, never at the first call: a policy that cannot be read, a tool that the policies do
not know, a library that is not installed. Source: SPEC ACC-2, CON-3.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Final

from sluicegate.access.authzen import TOOL_TYPE as AUTHZEN_TOOL
from sluicegate.access.authzen import AuthzenAuthorizer
from sluicegate.access.cedar import TOOL_TYPE as CEDAR_TOOL
from sluicegate.access.cedar import CedarAuthorizer
from sluicegate.access.cedar_folder import JSON_SCHEMA, TEXT_SCHEMA, load_cedar
from sluicegate.access.python import FunctionAuthorizer
from sluicegate.access.table import TableAuthorizer
from sluicegate.adapters.credentials import Credentials, check_credential_name
from sluicegate.contracts.file_names import SETTINGS_NAME
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.served import ContractSet
from sluicegate.contracts.settings import AccessSettings, AuthzenSettings
from sluicegate.errors import ConfigurationError
from sluicegate.gates.ports import Authorizer
from sluicegate.opening.policy_documents import read_policies
from sluicegate.opening.python_names import resolve_callable
from sluicegate.opening.settings_problems import settings_problem
from sluicegate.values.codes import Code
from sluicegate.values.names import show_name, show_sentence

_CONTEXT: Final = "{tool: String, contract_digest: String, tenant?: String}"


def open_decision_point(contracts: ContractSet, root: Path) -> Authorizer | tuple[Problem, ...]:
    """Return the decision point for every version of ``contracts``, or why it cannot be opened.

    ``root`` is the folder that relative paths start from.
    """
    access = contracts.settings.access
    if access.cedar is not None:
        return _open_cedar(access.cedar, contracts, root)
    if access.authzen is not None:
        return _open_authzen(access.authzen, contracts, root)
    return _open_table(access)


def _open_table(access: AccessSettings) -> Authorizer:
    if access.python is not None:
        return FunctionAuthorizer(resolve_callable(access.python), name=str(access.python))
    return TableAuthorizer(access.rules)


def _open_cedar(
    folder: str, contracts: ContractSet, root: Path
) -> CedarAuthorizer | tuple[Problem, ...]:
    if not os.path.isdir(root / folder):  # noqa: PTH112  (raises for no path)
        return (
            _problem(
                root,
                "/access/cedar",
                "There is no such folder.",
                "Name the folder that holds the policies.",
            ),
        )
    documents = read_policies(root, folder)
    if isinstance(documents, tuple):
        return documents
    try:
        found = load_cedar(folder, documents)
    except ImportError:
        return (
            _problem(
                root,
                "/access/cedar",
                "The library that decides by policies, cedarpy, is not installed.",
                "install sluicegate[access].",
            ),
        )
    if isinstance(found, tuple):
        return found
    unfit = (*_find_unfit(found, folder, documents, contracts), *_reserved(contracts, CEDAR_TOOL))
    return unfit or found


def _find_unfit(
    found: CedarAuthorizer, folder: str, documents: Iterable[str], contracts: ContractSet
) -> Iterable[Problem]:
    """Yield a problem for each tool that the schema of the policies does not take."""
    folder = folder.rstrip("/")
    named = (f"{folder}/{JSON_SCHEMA}", f"{folder}/{TEXT_SCHEMA}")
    schema = next(name for name in named if name in documents)
    told = set[tuple[str, str | None]]()
    for contract in contracts.every_version():
        kinds: set[str | None] = {rule.type for rule in contract.arguments.resources}
        for kind in sorted(kinds or {None}, key=str):
            said = found.find_unfit(contract.tool, kind)
            if said is None or (contract.tool, kind) in told:
                continue
            told.add((contract.tool, kind))
            resource = CEDAR_TOOL if kind is None else show_name(kind)
            yield Problem(
                code=Code.CONTRACT_INVALID,
                document=schema,
                message=f"It takes no call of the tool {contract.tool} with a resource of type "
                f"{resource}: {show_sentence(said)}.",
                mend=f"Declare the action {contract.tool} for the principal Caller, the resource "
                f"{resource} and the context {_CONTEXT}.",
            )


def _open_authzen(
    settings: AuthzenSettings, contracts: ContractSet, root: Path
) -> AuthzenAuthorizer | tuple[Problem, ...]:
    reserved = tuple(_reserved(contracts, AUTHZEN_TOOL))
    if reserved:
        return reserved
    try:
        if settings.credential is not None:
            check_credential_name(settings.credential)
        return AuthzenAuthorizer(
            settings.url,
            read_credential=None
            if settings.credential is None
            else partial(Credentials(root).read, settings.credential),
            ca_file=None if settings.ca_file is None else str(root.resolve() / settings.ca_file),
        )
    except ConfigurationError as error:
        return (_problem(root, "/access/authzen", f"It cannot be asked: {error}.", "Mend it."),)


def _reserved(contracts: ContractSet, kind: str) -> Iterable[Problem]:
    """Yield a problem for each contract whose arguments could name a tool as their resource."""
    for contract in contracts.every_version():
        if any(rule.type == kind for rule in contract.arguments.resources):
            yield Problem(
                code=Code.CONTRACT_INVALID,
                document=contract.source,
                message=f"The resource type {kind} stands for the tool itself, and an argument "
                "would choose which.",
                mend="Give the resource another type.",
            )


def _problem(root: Path, pointer: str, message: str, mend: str) -> Problem:
    try:
        raw = (root / SETTINGS_NAME).read_bytes()
    except OSError:
        raw = None
    return settings_problem(raw, pointer, message, mend)
