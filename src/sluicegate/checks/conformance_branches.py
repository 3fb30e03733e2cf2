"""Which branch of ``oneOf`` or ``anyOf`` was meant, so that its findings can be told (SPEC ARG-3).

By type first (a branch for another type was not meant), then by the discriminator, then the branch
that the value fits deepest. Where nothing tells them apart, what they all ask for is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias, cast

from jsonschema_rs import ValidationError, ValidationErrorKind

from sluicegate.checks.conformance_keywords import Judged, judge_options, judge_type
from sluicegate.checks.conformance_places import as_object, in_place, resolve
from sluicegate.checks.conformance_spelling import spelled_type
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject, canonical_text

Errors: TypeAlias = Sequence[ValidationError]

_UNIONS: Final = (ValidationErrorKind.AnyOf, ValidationErrorKind.OneOfNotValid)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The branch that was meant: its violations are the findings."""

    errors: Errors


@dataclass(frozen=True, slots=True)
class Told:
    """One thing is wrong, with the value or with its member ``member``."""

    judged: Judged
    member: str | None = None


@dataclass(frozen=True, slots=True)
class Tied:
    """Nothing tells these branches apart."""

    branches: tuple[Errors, ...]


def is_union(error: ValidationError) -> bool:
    """Whether the value fits none of several branches."""
    return isinstance(error.kind, _UNIONS)


def branches_of(error: ValidationError) -> Sequence[Errors]:
    """Return the violations of each branch of a union."""
    return cast("ValidationErrorKind.AnyOf", error.kind).context


def choose_branch(
    error: ValidationError, value: object, document: JsonObject, schemas: Sequence[object]
) -> Chosen | Told | Tied:
    """Choose among the branches of a violated union; ``schemas`` are the branches themselves."""
    path = error.instance_path
    branches = branches_of(error)
    foreign: list[str] = []
    candidates: list[int] = []
    for index, errors in enumerate(branches):
        types = _foreign_types(errors, path)
        if types is None:
            candidates.append(index)
        else:
            foreign += [name for name in types if name not in foreign]
    if not candidates:
        return Told(judge_type(foreign, value, path))
    options = _options(branches, candidates, path)
    if options is not None:
        if isinstance(value, str) and spelled_type(value, foreign) is not None:
            return Told(judge_type(foreign, value, path))
        return Told(judge_options(Code.ENUM, options, value))
    if len(candidates) == 1:
        return Chosen(branches[candidates[0]])
    if isinstance(value, dict) and len(schemas) == len(branches):
        told = _by_discriminator(document, schemas, tuple(candidates), value)
        if isinstance(told, int):
            return Chosen(branches[told])
        if told is not None:
            return told if isinstance(told, Told) else Tied(_pick(branches, candidates))
    return _deepest(branches, candidates)


def choose_statically(document: JsonObject, schemas: Sequence[object], value: object) -> int | None:
    """Return the branch that the discriminator alone names, or None; nothing is validated."""
    if not isinstance(value, dict):
        return None
    told = _by_discriminator(document, schemas, tuple(range(len(schemas))), value)
    return told if isinstance(told, int) else None


def fixed_members(document: JsonObject, schema: object) -> Mapping[str, Sequence[object]]:
    """Return the members that ``schema`` holds to constants, with these."""
    fixed: dict[str, Sequence[object]] = {}
    for found in in_place(document, schema):
        for name, member in as_object(found.get("properties")).items():
            judged = resolve(document, member)
            options = judged.get("enum")
            if "const" in judged:
                fixed.setdefault(name, [judged["const"]])
            elif isinstance(options, list | tuple):
                fixed.setdefault(name, options)
    return fixed


class _Absent:
    """The discriminator is not there: depth would choose at random."""


_ABSENT: Final = _Absent()


@dataclass(frozen=True, slots=True)
class _Discriminator:
    """A member whose constants never stand in two branches; ``complete``: every branch has some."""

    name: str
    owners: Mapping[str, int]
    options: Sequence[object]
    complete: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Union:
    """A union by identity: schemas never change once they are compiled."""

    document: JsonObject
    schemas: Sequence[object]
    candidates: tuple[int, ...]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Union)
            and self.document is other.document
            and self.schemas is other.schemas
            and self.candidates == other.candidates
        )

    def __hash__(self) -> int:
        return hash((id(self.schemas), self.candidates))


def _by_discriminator(
    document: JsonObject,
    schemas: Sequence[object],
    candidates: tuple[int, ...],
    value: Mapping[str, object],
) -> int | Told | _Absent | None:
    absent: _Absent | None = None
    for discriminator in _discriminators(_Union(document, schemas, candidates)):
        name = discriminator.name
        if name not in value:
            absent = _ABSENT if discriminator.complete else absent
            continue
        owner = discriminator.owners.get(_key(value[name]))
        if owner is not None:
            return owner
        if discriminator.complete:
            judged = judge_options(Code.ENUM, discriminator.options, value[name])
            return Told(judged, member=name)
    return absent


@lru_cache(maxsize=256)
def _discriminators(union: _Union) -> tuple[_Discriminator, ...]:
    """The discriminators of a union, those of all branches first."""
    fixed = {
        index: fixed_members(union.document, union.schemas[index]) for index in union.candidates
    }
    found = []
    for name in dict.fromkeys(name for members in fixed.values() for name in members):
        owners: dict[str, int] = {}
        shared = False
        for index, members in fixed.items():
            for key in {_key(option) for option in members.get(name, ())}:
                shared = shared or key in owners
                owners[key] = index
        if not shared and len(fixed) > 1:
            options = [option for members in fixed.values() for option in members.get(name, ())]
            complete = all(name in members for members in fixed.values())
            found.append(_Discriminator(name, owners, options, complete))
    return tuple(sorted(found, key=lambda discriminator: not discriminator.complete))


def _key(value: object) -> str:
    """JSON equality as a text; containers are no discriminators and equal nothing."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return canonical_text(value) if not isinstance(value, dict | list) else ""


def _foreign_types(errors: Errors, path: list[str | int]) -> list[str] | None:
    """The types that a branch wants instead, or None if the value's own type is one of them."""
    for error in errors:
        if error.instance_path != path:
            continue
        if isinstance(error.kind, ValidationErrorKind.Type):
            return list(error.kind.types)
        if is_union(error):
            inner = [_foreign_types(branch, path) for branch in branches_of(error)]
            if inner and all(types is not None for types in inner):
                return [name for types in inner for name in types or ()]
    return None


def _options(
    branches: Sequence[Errors], candidates: Sequence[int], path: list[str | int]
) -> list[object] | None:
    """The constants that stand to choice where every branch asks for constants, else None."""
    options: list[object] = []
    for index in candidates:
        for error in branches[index]:
            if error.instance_path != path:
                return None
            if isinstance(error.kind, ValidationErrorKind.Constant):
                options.append(error.kind.expected_value)
            elif isinstance(error.kind, ValidationErrorKind.Enum):
                options.extend(error.kind.options)
            else:
                return None
    return options


def _deepest(branches: Sequence[Errors], candidates: Sequence[int]) -> Chosen | Tied:
    ranks = {index: _rank(branches[index]) for index in candidates}
    best = max(ranks.values())
    chosen = [index for index in candidates if ranks[index] == best]
    return Chosen(branches[chosen[0]]) if len(chosen) == 1 else Tied(_pick(branches, chosen))


def _rank(errors: Errors) -> tuple[int, int]:
    return max((_depth(error) for error in errors), default=0), -len(errors)


def _depth(error: ValidationError) -> int:
    inner = (
        (_depth(nested) for branch in branches_of(error) for nested in branch)
        if is_union(error)
        else ()
    )
    return max(inner, default=len(error.instance_path))


def _pick(branches: Sequence[Errors], indexes: Sequence[int]) -> tuple[Errors, ...]:
    return tuple(branches[index] for index in indexes)
