"""Opening a contract folder: read, load, try, wire, run the fixtures, hand back a gate."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from sluicegate.adapters.credentials import Credentials
from sluicegate.contracts.file_names import NEAR_SETTINGS_NAMES, SETTINGS_NAME
from sluicegate.contracts.loading import load
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.settings import Settings
from sluicegate.errors import ConfigurationError, ContractFolderError
from sluicegate.gates.gate import Gate
from sluicegate.gates.means import Means
from sluicegate.gates.plain_files import PATH_FAULTS
from sluicegate.gates.ports import AuditStore, Clock, Replays
from sluicegate.gates.serving import Serving
from sluicegate.gates.tenure import Opened
from sluicegate.notices.notices import open_notifier
from sluicegate.opening.clock import SystemClock, demand_clock, draw, new_request_id
from sluicegate.opening.decision_points import open_decision_point
from sluicegate.opening.documents import read_folder, say_misplaced
from sluicegate.opening.key_stores import share_keys
from sluicegate.opening.observing import observe
from sluicegate.opening.outside_files import demand_outside_files
from sluicegate.opening.python_names import choose_resolver
from sluicegate.opening.quotas import open_quota
from sluicegate.opening.record_files import demand_key_files
from sluicegate.opening.running_apart import run_apart
from sluicegate.opening.second_sinks import put_beside
from sluicegate.opening.serving import open_serving
from sluicegate.opening.signing import sign_as_it_grows
from sluicegate.opening.wiring import build_authored
from sluicegate.stores.replays import open_replays
from sluicegate.stores.stores import open_store
from sluicegate.values.codes import Code


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
    and says so when it is called. A version that an operator rolled back to is served without
    fixtures: those in the folder belong to the version being worked on.
    Raises: ContractFolderError with every problem where the folder does not load;
    ConfigurationError where a store, key, credential or steering file is wrong; MisuseError for a
    ``clock`` that lacks a method. SPEC CON-3.
    """
    root, clock = Path(folder), SystemClock() if clock is None else demand_clock(clock)
    with ExitStack() as opened:  # closes what was opened before something failed
        serving = open_serving(root, clock.now(), python=python, fixtures=fixtures)
        if isinstance(serving, tuple):
            raise ContractFolderError(serving)
        opened.callback(lambda: run_apart(serving.close()))
        authorizer = open_decision_point(serving.contracts, root)
        if isinstance(authorizer, tuple):
            raise ContractFolderError(authorizer)
        settings = serving.contracts.settings
        demand_outside_files(settings.audit, root)
        record = _open_record(settings, root)
        opened.callback(lambda: run_apart(record.close()))
        signed = sign_as_it_grows(
            put_beside(record, settings.audit, root), settings.audit, root, clock.now
        )
        store, observer = observe(share_keys(signed, settings, root, clock.now))
        quota = open_quota(settings.limits.quota_store)
        notifier = open_notifier(settings.notify)
        opened.callback(notifier.close)
        means = Means(
            replays=_open_replays(serving, root, None),
            clock=clock,
            store=store,
            observer=observer,
            authorizer=authorizer,
            notifier=notifier,
            retention=settings.retention,
            new_request_id=new_request_id,
            draw=draw,
            quota=quota,
            quotas=settings.limits.quotas,
        )
        opened.pop_all()
    author = build_authored(root, Credentials(root), settings.limits, clock.now)
    return Gate(
        means,
        serving,
        reopen=partial(_reopen, root, python=python, fixtures=fixtures),
        author=author if python else None,
    )


def _reopen(
    root: Path, before: Opened, *, python: bool, fixtures: bool
) -> Opened | tuple[Problem, ...]:
    """Open the folder anew: its contracts, and who may call, who is told and what is kept."""
    means, held = before.means, before.serving.contracts.settings
    with ExitStack() as opened:
        serving = open_serving(root, means.clock.now(), python=python, fixtures=fixtures)
        if isinstance(serving, tuple):
            return serving
        opened.callback(lambda: run_apart(serving.close()))
        settings = serving.contracts.settings
        for key, changed in (
            ("audit", settings.audit != held.audit),
            ("limits.quota_store", settings.limits.quota_store != held.limits.quota_store),
            ("limits.key_store", settings.limits.key_store != held.limits.key_store),
        ):
            if changed:
                return (_say_fixed(key),)
        authorizer = open_decision_point(serving.contracts, root)
        if isinstance(authorizer, tuple):
            return authorizer
        notifier = means.notifier
        if settings.notify != held.notify:  # else what is grouped goes on, with its first and count
            notifier = open_notifier(settings.notify)
            opened.callback(notifier.close)
        replays = _open_replays(serving, root, means.replays)
        opened.pop_all()
    return Opened(
        serving=serving,
        means=replace(
            means,
            authorizer=authorizer,
            notifier=notifier,
            retention=settings.retention,
            quotas=settings.limits.quotas,
            replays=replays,
        ),
    )


def _say_fixed(key: str) -> Problem:
    return Problem(
        code=Code.CONTRACT_INVALID,
        document=SETTINGS_NAME,
        message=f"A running gate keeps what it counts: `{key}` cannot change while it runs.",
        mend=f"Put `{key}` back, or start the gate anew.",
    )


def _open_replays(serving: Serving, root: Path, opened: Replays | None) -> Replays | None:
    """Open the memory of signed answers once a served contract needs it (RES-6)."""
    if opened is not None or all(line.keys is None for line in serving.every_line()):
        return opened
    return open_replays(serving.contracts.settings.audit, root)


def open_folder_store(folder: Path, *, python: bool = False) -> AuditStore:
    """Open the record of a folder for an operator, whether or not its contracts load.

    Raises: ConfigurationError where the settings or the store are wrong.
    """
    return _open_record(read_settings(folder, python=python), folder)


def read_settings(folder: Path, *, python: bool = False) -> Settings:
    """Return the settings of a folder, whether or not its contracts load.

    Raises: ConfigurationError where they are wrong, or stand there and cannot be read: without
    them another record would be meant.
    """
    read = read_folder(folder)
    if SETTINGS_NAME not in read.documents:
        _demand_none(folder, read.problems)
    wanted = {name: raw for name, raw in read.documents.items() if name == SETTINGS_NAME}
    loaded = load(wanted, resolve=choose_resolver(python=python))
    if isinstance(loaded, tuple):
        raise ConfigurationError("\n".join(str(problem) for problem in loaded))
    return loaded.settings


def _demand_none(folder: Path, problems: Sequence[Problem]) -> None:
    """See that the folder has no settings, under their name or one that is taken for it."""
    names = (SETTINGS_NAME, *NEAR_SETTINGS_NAMES)
    unread = [problem for problem in problems if problem.document in names]
    if unread:
        raise ConfigurationError("\n".join(str(problem) for problem in unread))
    for name in names:
        if os.path.lexists(folder / name):
            raise ConfigurationError(
                f"{folder / name} cannot be read: it is no plain file, or there are too many files"
                " to come to it"
            )


def _open_record(settings: Settings, folder: Path) -> AuditStore:
    """Open the record and its keys; what the system says of their paths is configuration.

    A folder inside the contract folder gets no record of its own: nobody would look for it there.
    """
    misplaced = say_misplaced(folder)
    if misplaced is not None:
        raise ConfigurationError(misplaced)
    try:
        demand_key_files(settings.audit, folder)
        return open_store(settings.audit, settings.retention, folder)
    except PATH_FAULTS as error:
        raise ConfigurationError(
            f"the record of {folder} cannot be opened: {error}; look at audit.store and audit.keys"
        ) from error
