"""What the forms of ``fetch`` have in common: a deadline, a constant text, a credential's name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sluicegate.contracts.places import Place

MAX_TIMEOUT_S: Final = 3600.0
"""No contract grants a call more, by `fetch` or by `retry`, and no host that says nothing."""
_USUAL_TIMEOUT_S: Final = 30.0  # of a contract that does not load: `timeout_s` is demanded
_VARIABLE: Final = r"[A-Za-z_][A-Za-z0-9_]*"
_CREDENTIAL: Final = rf"(?:env:)?{_VARIABLE}|file:[^\0]+|keyring:[^/]+/.+"


def read_timeout(members: Mapping[str, Place]) -> float:
    """Return ``timeout_s`` in seconds."""
    found = read_declared_timeout(members)
    return _USUAL_TIMEOUT_S if found is None else found


def read_declared_timeout(members: Mapping[str, Place]) -> float | None:
    """Return ``timeout_s`` in seconds; None where it is not given."""
    return members["timeout_s"].number(0, MAX_TIMEOUT_S) if "timeout_s" in members else None


def read_constant(members: Mapping[str, Place], key: str, pattern: str, wanted: str) -> str | None:
    """Return the text at ``key``, which must match ``pattern`` as a whole."""
    return members[key].text(pattern, wanted) if key in members else None


def read_credential(members: Mapping[str, Place]) -> str | None:
    """Return the name of a credential; a text that may be the secret itself is not repeated."""
    if "credential" not in members:
        return None
    return members["credential"].discreet_text(
        _CREDENTIAL,
        "the name of a credential",
        "Write an environment variable such as CI_TOKEN, file:PATH or keyring:SERVICE/NAME; "
        "the secret itself never stands in a contract.",
    )
