"""Whether a Python function can be called with what its contract's schema admits."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Final

from sluicegate.contracts.contract import Contract
from sluicegate.errors import ConfigurationError
from sluicegate.values.names import show_sentence

_COMPOSING: Final = frozenset(
    {
        *("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if"),
        *("dependentSchemas", "dependentRequired", "patternProperties", "minProperties"),
    }
)
"""Keywords that say together with others which members come; such a root is not judged here."""


def demand_takes_arguments(name: str, function: Callable[..., object], contract: Contract) -> None:
    """See that ``function`` takes every declared argument, and needs none that may be absent.

    Raises: ConfigurationError where a call that fits the schema could not be made.
    """
    schema = contract.arguments.schema.document
    if not _COMPOSING.isdisjoint(schema):
        return
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return  # said where it is called from
    declared, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(declared, Mapping) or not isinstance(required, list):
        return
    added = {each.segments[0] for each in contract.arguments.on_absent if len(each.segments) == 1}
    always = {str(each) for each in required} | added
    _demand_bound(name, signature, always, "when only what is required is given")
    admitted = {each for each, schema in declared.items() if schema is not False}
    _demand_bound(name, signature, always | admitted, "when every argument is given")


def _demand_bound(name: str, signature: inspect.Signature, names: set[str], when: str) -> None:
    try:
        signature.bind(**dict.fromkeys(sorted(names)))
    except TypeError as error:
        raise ConfigurationError(
            f"`{name}` does not take the arguments of the schema as keywords: {when},"
            f" {show_sentence(str(error))}"
        ) from None
