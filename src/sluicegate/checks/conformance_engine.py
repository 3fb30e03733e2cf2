"""What to ask of the validator after a refusal, and how much of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Final, cast

from jsonschema_rs import ValidationError, ValidatorMap, validator_map_for

from sluicegate.checks.conformance_branches import choose_statically
from sluicegate.checks.conformance_places import Place
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.compiling import ENGINE_OPTIONS
from sluicegate.values.json import JsonObject

_FEW_VALUES: Final = 2000
_FEW_CHARACTERS: Final = 65_536
# Beside these a union at the root judges alone; ``type`` has held once a branch was named.
_NO_JUDGES: Final = frozenset(
    {"$schema", "$id", "$defs", "$comment", "$anchor", "title", "description", "type"}
)


def find_errors(
    value: object, schema: CompiledSchema
) -> tuple[Sequence[ValidationError], Place | None]:
    """Return the violations, and the place of the sub-schema that found them (None: the root).

    The engine collects every violation before it hands out the first one, and of a union those of
    every branch (facts: engines 2.2). Where the discriminator names the branch that one is asked
    alone, and a large value only up to its first violation.
    """
    large = is_large(value)
    document = schema.document
    for keyword in ("oneOf", "anyOf"):
        branches = document.get(keyword)
        if not isinstance(branches, list | tuple):
            continue
        if not large and not _NO_JUDGES.issuperset(document.keys() - {keyword}):
            continue
        chosen = choose_statically(document, branches, value)
        branch = (
            None if chosen is None else _branches(_Document(document)).get(f"#/{keyword}/{chosen}")
        )
        if chosen is not None and branch is not None:
            errors = _errors_of(branch, value, large)
            if errors:
                return errors, (keyword, chosen)
    return _errors_of(schema.validator, value, large), None


def is_large(value: object) -> bool:
    """Whether ``value`` holds so much that only its first violation is looked for."""
    waiting: list[object] = [value]
    values = characters = 0
    while waiting:
        current = waiting.pop()
        values += 1
        if isinstance(current, str):
            characters += len(current)
        elif isinstance(current, dict):
            if len(current) > _FEW_VALUES:
                return True
            characters += sum(map(len, current))
            waiting.extend(current.values())
        elif isinstance(current, list):
            waiting.extend(islice(current, _FEW_VALUES + 1))
        if values > _FEW_VALUES or characters > _FEW_CHARACTERS:
            return True
    return False


@dataclass(frozen=True, slots=True, eq=False)
class _Document:
    """A schema document by identity: it never changes once it is compiled."""

    content: JsonObject

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Document) and self.content is other.content

    def __hash__(self) -> int:
        return id(self.content)


@lru_cache(maxsize=128)
def _branches(document: _Document) -> ValidatorMap:
    return validator_map_for(cast("dict[str, Any]", document.content), **ENGINE_OPTIONS)


def _errors_of(validator: Any, value: object, large: bool) -> list[ValidationError]:
    if not large:
        return list(validator.iter_errors(value))
    try:
        validator.validate(value)
    except ValidationError as error:
        return [error]
    return []
