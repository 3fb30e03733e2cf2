"""The one way to build a validator: formats asserted, linear patterns, nothing fetched."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, TypedDict

from jsonschema_rs import Draft202012Validator, RegexOptions, Registry

from sluicegate.contracts.schemas.keywords import Schema


class EngineOptions(TypedDict):
    """What the engine leaves off by default and we never do (facts: engines 2.3, 6)."""

    validate_formats: bool
    ignore_unknown_formats: bool
    offline: bool
    pattern_options: RegexOptions


PATTERN_SIZE: Final = 500_000
"""Bytes of one compiled pattern. Linear time has a factor: a nest of counted classes that compiles
to megabytes takes seconds over a hundred thousand characters."""

ENGINE_OPTIONS: Final[EngineOptions] = {
    "validate_formats": True,
    "ignore_unknown_formats": False,
    "offline": True,
    "pattern_options": RegexOptions(size_limit=PATTERN_SIZE),
}


def compile_validator(
    document: Schema, *, registry: Registry | None = None
) -> Draft202012Validator:
    """Compile a schema of draft 2020-12. Raises: ValueError with the engine's own message."""
    given: Any = document
    return Draft202012Validator(given, registry=registry, **ENGINE_OPTIONS)


@lru_cache(maxsize=4096)
def matcher(pattern: str) -> Draft202012Validator | None:
    """Return a validator of ``pattern`` alone; None where the linear-time engine refuses it."""
    try:
        return compile_validator({"type": "string", "pattern": pattern})
    except ValueError:
        return None


def matches(pattern: str, name: str) -> bool:
    """Whether ``pattern`` is found in ``name``, as the engine judges; a bad one matches nothing."""
    found = matcher(pattern)
    return found is not None and found.is_valid(name)
