"""What stands beside a fixture, ``NAME.expect.yaml``: read strictly, so that nothing passes unseen.

A key that is unknown, or whose value has the wrong type, would leave a fixture proving less than
it says (SPEC 2).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from sluicegate.contracts.yaml_reading import Document, read_document
from sluicegate.opening.fixture_signatures import HOWS
from sluicegate.values.codes import Code, Stage
from sluicegate.values.instants import EPOCH, moment_of, parse_rfc3339
from sluicegate.values.json import JsonValue
from sluicegate.values.names import say_near, show_name

_TEXT: Final = "a text"
_INTEGER: Final = "an integer"
SIDECAR_KEYS: Final[Mapping[str, str]] = {
    "stage": _TEXT,
    "code": _TEXT,
    "pointer": _TEXT,
    "now": "an RFC 3339 time with an offset",
    "request_id": _TEXT,
    "arguments": "an object",
    "caller": "a subject, or {subject: TEXT, tenant: TEXT}",
    "status": _INTEGER,
    "content_type": _TEXT,
    "headers": "a mapping of names to texts",
    "exit_code": _INTEGER,
    "verdict": "accepted or rejected",
    "signature": f"one of {', '.join(HOWS)}",
}
"""Every key, and what its value must be (docs/reference/contract.md)."""

_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "stage": tuple(map(str, Stage)),
    "code": tuple(map(str, Code)),
}


def read_sidecar(fixture: Path) -> Mapping[str, JsonValue]:
    """Return what the sidecar of ``fixture`` says; nothing where there is none.

    Raises: OSError where it cannot be read; ValueError for what is no mapping of the known keys
    to values of their types, naming the key and what is expected, and for a stage or a code that
    does not exist.
    """
    raw = read_beside(fixture)
    return {} if raw is None else understand(_beside(fixture).name, raw)


def read_now(told: Mapping[str, JsonValue]) -> datetime:
    """Return the ``now`` that a sidecar or a line of an archive tells; else the epoch.

    Raises: ValueError for what is no RFC 3339 time with an offset.
    """
    text = told.get("now")
    if text is None:
        return EPOCH
    instant = parse_rfc3339(text) if isinstance(text, str) else None
    if instant is None:
        raise ValueError(f"`now` must be {SIDECAR_KEYS['now']}")
    return moment_of(instant)


def read_beside(fixture: Path) -> bytes | None:
    """Return the bytes of the sidecar of ``fixture``; None where there is none. Raises: OSError."""
    sidecar = _beside(fixture)
    return sidecar.read_bytes() if sidecar.is_file() else None


def _beside(fixture: Path) -> Path:
    return fixture.parent / f"{fixture.stem}.expect.yaml"


def understand(name: str, raw: bytes) -> Mapping[str, JsonValue]:
    """Return what a sidecar of that ``name`` says. Raises: ValueError as ``read_sidecar``."""
    document = read_document(name, raw)
    if not isinstance(document, Document):
        raise ValueError(str(document[0]))
    keys = ", ".join(sorted(SIDECAR_KEYS))
    if not isinstance(document.value, Mapping):
        raise ValueError(f"{name} must be a mapping of {keys}")
    for key, value in document.value.items():
        if key not in SIDECAR_KEYS:
            raise ValueError(
                f"{name}: {show_name(key)} is none of {keys}{say_near(key, SIDECAR_KEYS)}"
            )
        if not _fits(key, value):
            raise ValueError(f"{name}: `{key}` must be {SIDECAR_KEYS[key]}")
        if key in _NAMES and isinstance(value, str) and value not in _NAMES[key]:
            raise ValueError(
                f"{name}: {show_name(value)} is no {key}{say_near(value, _NAMES[key])}"
            )
    return document.value


def _fits(key: str, value: JsonValue) -> bool:
    if key == "verdict":
        return value in ("accepted", "rejected")
    if key == "signature":
        return value in HOWS
    if key == "caller":
        return isinstance(value, str) or _is_caller(value)
    if key == "headers":
        return isinstance(value, Mapping) and all(isinstance(text, str) for text in value.values())
    if key == "arguments":
        return isinstance(value, Mapping)
    if SIDECAR_KEYS[key] is _INTEGER:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, str)


def _is_caller(value: JsonValue) -> bool:
    return (
        isinstance(value, Mapping)
        and value.keys() <= {"subject", "tenant"}
        and all(isinstance(text, str) for text in value.values())
    )
