"""What libpq refuses of an address before it asks any server: told by ``check`` on any machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from sluicegate.errors import ConfigurationError
from sluicegate.stores.postgres_place import find_place

_FROM_ENVIRONMENT: Final = "postgresql:env:"
_MODES: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_SYSTEM: Final = "system"
"""In the place of a file of authorities: those of the machine, and the name is checked as well."""

_FILES: Final = ("sslrootcert", "sslcert", "sslkey")
"""Not the one of passwords: libpq looks what it is, and passes over another kind."""

_MAX_PORT: Final = 65_535


def demand_terms(store: str) -> None:
    """See that libpq takes what ``audit.store`` says; what a variable holds is not asked.

    Rejects: what is no address, a chain that is none, a port that is none, a mode of TLS that is
    none, a file of TLS that is no regular one and might be waited for. Raises: ConfigurationError,
    which repeats nothing of the address.
    """
    if store.startswith(_FROM_ENVIRONMENT):
        return
    options = find_place(store).options
    says = _say_ports(options) or _say_mode(options) or _say_files(options)
    if says is not None:
        raise ConfigurationError(f"audit.store {says}")


def _say_ports(options: Mapping[str, str]) -> str | None:
    if all(map(_is_port, options.get("port", "").split(","))):
        return None
    return f"names a port that is none: write one from 1 to {_MAX_PORT}"


def _is_port(text: str) -> bool:
    """Whether libpq takes it: digits, or nothing for the usual one."""
    digits = text.lstrip("0")
    return not text or (0 < len(digits) <= len(str(_MAX_PORT)) and int(digits) <= _MAX_PORT)


def _say_mode(options: Mapping[str, str]) -> str | None:
    mode = options.get("sslmode")
    if mode is None:
        return None
    if mode not in _MODES:
        return f"has an sslmode that is none: write one of {', '.join(_MODES)}"
    if options.get("sslrootcert") == _SYSTEM and mode != "verify-full":
        return "has sslrootcert=system, which goes with sslmode=verify-full alone"
    return None


def _say_files(options: Mapping[str, str]) -> str | None:
    for key in _FILES:
        path = options.get(key, _SYSTEM)
        # These two raise for no name; a file that is not there is told by libpq.
        is_there = path != _SYSTEM and os.path.exists(path)  # noqa: PTH110
        if is_there and not os.path.isfile(path):  # noqa: PTH113
            return f"names with {key} what is no regular file"
    return None
