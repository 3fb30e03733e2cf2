"""What ``doctor`` looks at in a contract folder: contracts, steering, credentials, record."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path

from sluicegate.adapters.credentials import Credentials, CredentialUnreadable
from sluicegate.contracts.contract import SshFetch, WebhookSignature
from sluicegate.contracts.served import ContractSet
from sluicegate.contracts.settings import AuditSettings
from sluicegate.errors import ConfigurationError
from sluicegate.gates.plain_files import PATH_FAULTS, say_path_fault
from sluicegate.opening.checking import check_folder
from sluicegate.opening.documents import read_folder, say_misplaced
from sluicegate.opening.examining.beginnings import examine_beginnings, examine_replays
from sluicegate.opening.examining.decision_point import examine_decision_point
from sluicegate.opening.examining.notices import examine_notices
from sluicegate.opening.key_stores import inspect_key_store
from sluicegate.opening.outside import inspect_outside
from sluicegate.opening.quotas import inspect_quota_store
from sluicegate.opening.record_files import demand_key_files
from sluicegate.opening.signature_keys import read_signing_secret
from sluicegate.opening.speaking_ssh import read_ssh_key
from sluicegate.stores.inspection import inspect_store
from sluicegate.stores.stores import demand_store
from sluicegate.values.looks import Look


def examine_folder(folder: str, now: datetime) -> list[Look]:
    """Return what was found; changes nothing, and raises nothing for what it finds."""
    root = Path(folder)
    if not root.is_dir():
        return [Look(name="folder", well=False, says=f"{folder} is no folder")]
    misplaced = say_misplaced(root)
    if misplaced is not None:
        return [Look(name="folder", well=False, says=misplaced)]
    try:
        report = check_folder(root, now=now, mutants=False)
    except ConfigurationError as error:
        return [Look(name="folder", well=False, says=str(error))]
    except Exception as error:  # noqa: BLE001  (a folder that breaks the loader is not well)
        says = f"loading it failed with {type(error).__name__}: see explain INTERNAL"
        return [Look(name="folder", well=False, says=says)]
    looks = [
        Look(name="disabled", well=True, says=f"{tool} is switched off: {reason}")
        for tool, reason in sorted(report.steering.disabled.items())
    ]
    looks += [
        Look(name="rolled back", well=True, says=f"{tool} is served at {version}")
        for tool, version in sorted(report.steering.versions.items())
    ]
    looks += [
        Look(
            name="waiver",
            well=not waived.expired,
            says=f"{waived.tool} runs without evidence until {waived.until}"
            f"{', which has passed' if waived.expired else ''}: {waived.reason}",
        )
        for waived in report.waivers
    ]
    if report.contracts is None:
        first = report.problems[0]
        more = len(report.problems) - 1
        says = f"{first}" + (f" (and {more} more: sluicegate check {folder})" if more else "")
        return [*looks, Look(name="contracts", well=False, says=says)]
    failing = [result for result in report.fixtures if not result.ok]
    off = report.steering.disabled.keys()
    looks.append(_contracts(report.contracts, [result.path for result in failing], off))
    looks += [
        Look(name="side by side", well=True, says=f"{tool}: {'; '.join(map(str, offers))}")
        for tool, offers in sorted(report.contracts.rollouts.items())
    ]
    looks += _credentials(report.contracts, root)
    looks.append(examine_decision_point(report.contracts, root))
    looks += _record(report.contracts.settings.audit, root, now)
    looks += inspect_outside(report.contracts.settings.audit, root, now=now)
    looks += _replays(report.contracts, root)
    looks += _key_store(report.contracts, root)
    quota_store = report.contracts.settings.limits.quota_store
    if quota_store != "audit:":
        looks.append(inspect_quota_store(quota_store))
    looks += examine_notices(read_folder(root), report.contracts)
    return looks


def _record(audit: AuditSettings, root: Path, now: datetime) -> Iterator[Look]:
    """Look into the record and its keys where these can be opened at all."""
    try:
        demand_key_files(audit, root)
    except ConfigurationError:
        return  # told with all else that is wrong with files outside of the record
    try:
        demand_store(audit)
    except ConfigurationError as error:
        yield Look(name="store", well=False, says=str(error))
        return
    try:
        yield from inspect_store(audit, root, now=now)
        yield from examine_beginnings(audit, root)
    except PATH_FAULTS as error:
        says = f"record and keys cannot be looked at: {say_path_fault(error)}"
        yield Look(name="record", well=False, says=says)


def _replays(served: ContractSet, root: Path) -> Iterator[Look]:
    try:
        yield from examine_replays(served, root)
    except PATH_FAULTS as error:
        says = f"what came cannot be remembered: {say_path_fault(error)}"
        yield Look(name="signed answers", well=False, says=says)


def _key_store(served: ContractSet, root: Path) -> list[Look]:
    """Told only where a contract has keys, or the settings say where they are kept."""
    every = served.every_version()
    is_default = served.settings.limits.key_store == "audit:"
    if is_default and all(each.idempotency is None for each in every):
        return []
    return [inspect_key_store(served.settings, root)]


def _contracts(served: ContractSet, failing: list[str], off: Collection[str]) -> Look:
    if failing:
        says = f"{failing[0]} fails, so its contract is not served; see sluicegate check"
        return Look(name="contracts", well=False, says=says)
    names = ", ".join(
        f"{tool}@{each.version}"
        for tool, each in sorted(served.contracts.items())
        if tool not in off
    )
    none = "none is served" if served.contracts else "there is none"
    return Look(name="contracts", well=True, says=names or none)


def _credentials(served: ContractSet, root: Path) -> list[Look]:
    credentials = Credentials(root)
    fetches = [each.fetch for each in served.every_version()]
    named = {
        (name, isinstance(fetch, SshFetch))
        for fetch in fetches
        if (name := getattr(fetch, "credential", None)) is not None
    }
    looks = []
    if any(isinstance(fetch, SshFetch) and fetch.agent for fetch in fetches):
        looks.append(_agent())
    for name, is_key in sorted(named):
        try:
            if is_key:
                read_ssh_key(name, credentials)
            else:
                credentials.read(name)
        except CredentialUnreadable as error:
            looks.append(Look(name="credential", well=False, says=str(error)))
        else:
            looks.append(Look(name="credential", well=True, says=f"{name} can be read"))
    return [*looks, *_signing_secrets(served, credentials)]


def _signing_secrets(served: ContractSet, credentials: Credentials) -> Iterator[Look]:
    """What shared secrets answers are verified with; key files were read with the contracts."""
    rules = [each.upstream.signature for each in served.every_version()]
    named = {name for rule in rules if isinstance(rule, WebhookSignature) for name in rule.secrets}
    for name in sorted(named):
        try:
            read_signing_secret(name, credentials)
        except CredentialUnreadable as error:
            yield Look(name="signing secret", well=False, says=str(error))
        else:
            yield Look(name="signing secret", well=True, says=f"{name} can be read")


def _agent() -> Look:
    well = bool(os.environ.get("SSH_AUTH_SOCK"))
    says = "SSH_AUTH_SOCK names the agent" if well else "SSH_AUTH_SOCK is not set: start an agent"
    return Look(name="ssh agent", well=well, says=says)
