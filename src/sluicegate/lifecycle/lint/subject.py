"""What lint is asked about: one schema of one side, and what its contract says around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from sluicegate.values.json import JsonValue
from sluicegate.values.pointers import Pointer

SideName: TypeAlias = Literal["arguments", "result"]

DEFAULT_MAX_BYTES: Final = 262_144
"""The limit of a folder that names none (SPEC section 2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a contract, or a tool list, says around a schema.

    ``has_dialect``: an absent ``$schema`` means draft 2020-12 here.
    ``selected`` None: which members reach the agent is not known, so all count. ``bound`` are data
    pointers of ``bind``; ``echoed`` the argument pointers that it compares, ``identifying`` those
    that name what was asked for. ``description`` None: there is none; ``has_accepted``: accepted
    fixtures lie beside it; ``max_depth`` None: no limit on nesting is known. ``names_resource``:
    access is asked about what the tool acts on; ``open_proofs`` are the tools whose proofs have no
    `where`.
    """

    of_contract: bool = False
    has_dialect: bool = False
    description: str | None = None
    selected: frozenset[Pointer] | None = None
    untrusted: frozenset[Pointer] = frozenset()
    on_absent: frozenset[Pointer] = frozenset()
    echoed: frozenset[Pointer] = frozenset()
    identifying: Mapping[Pointer, str] = field(default_factory=dict)
    fresh: Pointer | None = None
    max_bytes: int = DEFAULT_MAX_BYTES
    max_depth: int | None = None
    has_accepted: bool = False
    is_destructive: bool = False
    names_resource: bool = False
    open_proofs: tuple[str, ...] = ()


BARE: Final = Surroundings()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One schema to lint. ``schema`` is what was parsed, whatever its shape.

    ``repeated`` are pointers of members that the file bears twice (the last one stands in
    ``schema``); ``resources`` and ``home`` are as for ``register``.
    """

    schema: JsonValue
    side: SideName
    around: Surroundings = BARE
    repeated: tuple[str, ...] = ()
    resources: Mapping[str, JsonValue] = field(default_factory=dict)
    home: str = ""
