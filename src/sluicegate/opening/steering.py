"""What an operator steers at night: a tool switched off, an older version served again.

Kept in ``state/served.json`` inside the folder, read at each opening; every act is recorded
before it takes effect.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import jiter

from sluicegate.errors import ConfigurationError
from sluicegate.gates.events import AuditEvent, EventKind, Outcome
from sluicegate.gates.ports import AuditStore
from sluicegate.opening.clock import SystemClock, new_request_id

STATE_NAME: Final = "state/served.json"


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
        raw = path.read_bytes()
    except FileNotFoundError:
        return Steering()
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error
    try:
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


def disable(root: Path, store: AuditStore, tool: str, *, who: str, reason: str) -> None:
    """Take ``tool`` out of service from the next opening or reload on; recorded first."""
    steering = read_steering(root)
    _record(store, "disable", tool, who=who, reason=reason, detail={})
    _write(root, Steering(disabled={**steering.disabled, tool: reason}, versions=steering.versions))


def enable(root: Path, store: AuditStore, tool: str, *, who: str, reason: str) -> None:
    """Put ``tool`` back into service, at the version being worked on; recorded first."""
    steering = read_steering(root)
    _record(store, "enable", tool, who=who, reason=reason, detail={})
    _write(
        root,
        Steering(
            disabled={name: why for name, why in steering.disabled.items() if name != tool},
            versions={name: v for name, v in steering.versions.items() if name != tool},
        ),
    )


def rollback(
    root: Path, store: AuditStore, tool: str, version: str, *, who: str, reason: str
) -> None:
    """Serve ``released/VERSION.yaml`` of ``tool`` from the next opening on; recorded first."""
    steering = read_steering(root)
    _record(store, "rollback", tool, who=who, reason=reason, detail={"version": version})
    _write(
        root,
        Steering(disabled=steering.disabled, versions={**steering.versions, tool: version}),
    )


def _record(
    store: AuditStore, act: str, tool: str, *, who: str, reason: str, detail: Mapping[str, object]
) -> None:
    event = AuditEvent(
        kind=EventKind.OPERATOR,
        time=SystemClock().now(),
        request_id=new_request_id(),
        attempt=0,
        outcome=Outcome.DONE,
        tool=tool,
        caller_subject=who,
        detail={"act": act, "reason": reason, **detail},
    )
    asyncio.run(_append(store, event))


async def _append(store: AuditStore, event: AuditEvent) -> None:
    await store.record([event])


def _write(root: Path, steering: Steering) -> None:
    path = root / STATE_NAME
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = json.dumps(
        {"disabled": dict(steering.disabled), "versions": dict(steering.versions)}, indent=2
    )
    fresh = path.with_suffix(".new")
    fresh.write_text(text + "\n", encoding="utf-8")
    fresh.replace(path)
