"""What an operator steers at night: a tool switched off, an older version served again.

Kept in ``state/served.json`` inside the folder, read at each opening; every act is recorded
before it takes effect.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Final

import jiter

from sluicegate.errors import ConfigurationError
from sluicegate.gates import operator_acts
from sluicegate.gates.events import AuditEvent
from sluicegate.gates.plain_files import read_plain
from sluicegate.gates.ports import AuditStore
from sluicegate.opening.clock import new_request_id
from sluicegate.stores.file_lock import FileLock
from sluicegate.stores.whole_files import replace_file

STATE_NAME: Final = "state/served.json"
_MAX_BYTES: Final = 1_048_576


@dataclass(frozen=True, slots=True, kw_only=True)
class Steering:
    """``disabled`` maps a tool to the reason; ``versions`` maps a tool to a released version."""

    disabled: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


def read_steering(root: Path) -> Steering:
    """Return what an operator steered; nothing where the file is absent.

    Raises: ConfigurationError for a file that is not what ``disable`` and ``rollback`` write.
    """
    path = root / STATE_NAME
    try:
        raw = read_plain(path, _MAX_BYTES)
    except FileNotFoundError:
        return Steering()
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error
    try:
        if len(raw) > _MAX_BYTES:
            raise ValueError
        content = jiter.from_json(raw, catch_duplicate_keys=True, allow_inf_nan=False)
        if set(content) != {"disabled", "versions"}:
            raise ValueError
        return Steering(disabled=_texts(content["disabled"]), versions=_texts(content["versions"]))
    except (ValueError, TypeError, AttributeError) as error:
        raise ConfigurationError(
            f"{path} is damaged; restore it, or remove it to serve every contract as it stands"
        ) from error


def _texts(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise TypeError
    for name, text in value.items():
        if not isinstance(text, str):
            raise TypeError(name)
    return dict(value)


def disable(
    root: Path, store: AuditStore, tool: str, *, who: str, reason: str, now: datetime
) -> None:
    """Take ``tool`` out of service from the next opening or reload on; recorded first."""
    _steer(
        root,
        store,
        operator_acts.disable(tool, act_id=new_request_id(), who=who, reason=reason, now=now),
        lambda old: replace(old, disabled={**old.disabled, tool: reason}),
    )


def enable(
    root: Path, store: AuditStore, tool: str, *, who: str, reason: str, now: datetime
) -> None:
    """Put ``tool`` back into service, at the version being worked on; recorded first."""
    _steer(
        root,
        store,
        operator_acts.enable(tool, act_id=new_request_id(), who=who, reason=reason, now=now),
        lambda old: Steering(
            disabled={name: why for name, why in old.disabled.items() if name != tool},
            versions={name: v for name, v in old.versions.items() if name != tool},
        ),
    )


def rollback(
    root: Path,
    store: AuditStore,
    tool: str,
    version: str,
    *,
    who: str,
    reason: str,
    now: datetime,
) -> None:
    """Serve ``released/VERSION.yaml`` of ``tool`` from the next opening on; recorded first."""
    _steer(
        root,
        store,
        operator_acts.rollback(
            tool, version, act_id=new_request_id(), who=who, reason=reason, now=now
        ),
        lambda old: replace(old, versions={**old.versions, tool: version}),
    )


def _steer(
    root: Path, store: AuditStore, act: AuditEvent, change: Callable[[Steering], Steering]
) -> None:
    """Read, record and write as one, alone: what another operator steers meanwhile is not lost.

    Raises: ConfigurationError where the file is damaged or cannot be written; AuditUnavailable.
    """
    path = root / STATE_NAME
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock.once(path.with_name(f"{path.name}.lock")):
            new = change(read_steering(root))
            asyncio.run(store.record([act]))
            content = {"disabled": dict(new.disabled), "versions": dict(new.versions)}
            replace_file(path, json.dumps(content, indent=2).encode() + b"\n")
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}") from error
