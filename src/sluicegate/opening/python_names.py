"""Importing what a contract names: only under the allow-listed prefixes, only when permitted."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TypeAlias

from sluicegate.contracts.contract import PythonName
from sluicegate.errors import ConfigurationError

Resolver: TypeAlias = "Callable[[PythonName], object]"
"""From a name that a contract may import to what it names."""


def choose_resolver(*, python: bool) -> Resolver | None:
    """Return what imports names; None, which forbids every one, where ``python`` is False."""
    return resolve if python else None


def resolve(name: PythonName) -> object:
    """Import ``name``. The loader has held it to the allow-list of sluicegate.yaml before.

    Raises: ConfigurationError where the module or the attribute does not exist.
    """
    try:
        found: object = importlib.import_module(name.module)
        for part in name.attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(
            f"{name} cannot be imported ({type(error).__name__}); is its folder on PYTHONPATH?"
        ) from error
    return found


def resolve_callable(name: PythonName) -> Callable[..., object]:
    """Import ``name`` and see that it can be called. Raises: ConfigurationError."""
    found = resolve(name)
    if not callable(found):
        raise ConfigurationError(f"{name} is not a function")
    return found
