"""Importing what a contract names: only under the allow-listed prefixes, only when permitted."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from difflib import get_close_matches
from typing import TypeAlias

from sluicegate.contracts.contract import PythonName
from sluicegate.contracts.naming import NamelessError
from sluicegate.errors import ConfigurationError
from sluicegate.values.names import show_name

Resolver: TypeAlias = "Callable[[PythonName], object]"
"""From a name that a contract may import to what it names."""


def choose_resolver(*, python: bool) -> Resolver | None:
    """Return what imports names; None, which forbids every one, where ``python`` is False."""
    return resolve if python else None


class UnknownNameError(NamelessError, ConfigurationError):
    """A Python name that leads to nothing; a loader notes it where the name stands."""


def resolve(name: PythonName) -> object:
    """Import ``name``. The loader has held it to the allow-list of sluicegate.yaml before.

    Raises: UnknownNameError, which says whether the module is missing, one that it imports, or the
    attribute, with a name that is near; or that the module raised something of its own.
    """
    try:
        found: object = importlib.import_module(name.module)
    except ModuleNotFoundError as error:
        raise _without_module(name, error.name or "") from error
    except (Exception, SystemExit) as error:
        raise UnknownNameError(
            f"`{name}` cannot be imported: `{name.module}` raises {type(error).__name__} as it is"
            " imported.",
            f"See that `python -c 'import {name.module}'` works.",
        ) from error
    holder = name.module
    for part in name.attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as error:
            raise _without_attribute(name, holder, part, found) from error
        holder = f"{holder}.{part}"
    return found


def _without_module(name: PythonName, missing: str) -> UnknownNameError:
    said, shown = f"`{name}` cannot be imported:", show_name(missing)
    if name.module == missing or name.module.startswith(f"{missing}."):
        return UnknownNameError(
            f"{said} there is no module `{shown}`.",
            "Install it, or put the folder that it lies in on PYTHONPATH.",
        )
    return UnknownNameError(
        f"{said} `{name.module}` imports `{shown}`, which is not installed.",
        "Install it where sluicegate runs.",
    )


def _without_attribute(name: PythonName, holder: str, part: str, found: object) -> UnknownNameError:
    known = [each for each in dir(found) if not each.startswith("__")]
    near = get_close_matches(part, known, n=1)
    return UnknownNameError(
        f"`{name}` cannot be imported: `{holder}` defines no `{part}`.",
        f"Did you mean `{show_name(near[0])}`?" if near else "Define it there, or name another.",
    )


def resolve_callable(name: PythonName) -> Callable[..., object]:
    """Import ``name`` and see that it can be called. Raises: ConfigurationError."""
    found = resolve(name)
    if not callable(found):
        raise ConfigurationError(f"{name} is not a function")
    return found
