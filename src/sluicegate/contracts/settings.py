"""The settings of a contract folder (sluicegate.yaml), read and judged. Immutable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from sluicegate.contracts.contract import PythonName, QuotaRule
from sluicegate.values.actions import CALL

SinksRule: TypeAlias = Literal["all", "any"]

WHOLE_SHARE: Final = 1_000_000
"""Shares are counted in millionths, so that they add up exactly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderLimits:
    """``in_flight`` calls at once; the byte limits are ceilings and defaults for contracts.

    ``quotas`` count over all tools. ``quota_store``: ``audit:`` counts in the commit of each
    intent; ``memory:`` in this process; ``redis:env:NAME`` or a URL without a password in Redis.
    ``key_store``: ``audit:`` keeps idempotency keys in the record alone; in Redis they are shared
    with gates that have other records.
    """

    max_call_bytes: int = 65_536
    max_bytes: int = 262_144
    max_depth: int = 32
    in_flight: int = 64
    quotas: tuple[QuotaRule, ...] = ()
    quota_store: str = "audit:"
    key_store: str = "audit:"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRule:
    """One allowing row of the table; everything that no row allows is denied (ACC-2).

    ``resource_type`` None: the row speaks for calls without resources only. ``resource_in``
    None: every resource of that type. ``*`` stands alone for every caller or every tool.
    """

    caller: str
    tool: str
    action: str = CALL
    tenant: str | None = None
    resource_type: str | None = None
    resource_in: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthzenSettings:
    """A decision service: its origin or evaluation endpoint, and the name of its bearer token.

    ``ca_file`` is relative to the folder that holds sluicegate.yaml.
    """

    url: str
    credential: str | None = None
    ca_file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessSettings:
    """The table, or what decides in its place; at most one of the others stands.

    ``cedar`` is a folder of policies, relative to the folder that holds sluicegate.yaml.
    """

    rules: tuple[AccessRule, ...] = ()
    python: PythonName | None = None
    cedar: str | None = None
    authzen: AuthzenSettings | None = None

    @property
    def is_table(self) -> bool:
        """Whether the rows decide, be there any or none."""
        return self.python is None and self.cedar is None and self.authzen is None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadsSettings:
    """Where signed heads are appended: ``to`` is ``file:PATH``.

    One is written once ``every_events`` are not covered, and ``every_s`` after the first of them.
    ``required``: without them nothing may run.
    """

    to: str
    every_events: int = 1_000
    every_s: float = 60.0
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """``store``: ``sqlite:PATH``, ``memory:``; ``keys``: ``file:DIR``, ``env:N``, ``keyring:S``.

    Paths are relative to the folder that holds sluicegate.yaml. ``also``: a second sink,
    ``file:PATH``; ``sinks``: how many of the two must have an event.
    """

    store: str = "sqlite:state/audit.db"
    keys: str = "file:keys/"
    heads: HeadsSettings | None = None
    also: str | None = None
    sinks: SinksRule = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionSettings:
    """How long raw bytes are kept, in days; None: digest only.

    ``accepted_share`` of the accepted answers is kept. ``daily_bytes`` is the custody quota per
    tool and day; past it only digests are kept (AUD-4).
    """

    rejected_days: float | None = 30
    accepted_days: float | None = None
    accepted_share: float = 1.0
    arguments_days: float | None = 30
    daily_bytes: int = 67_108_864


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeRow:
    """One version of a tool and whom it is served to.

    ``version``: a released one, or ``current``. ``callers`` are subjects that always get it;
    ``share`` is its part of all others in millionths (``WHOLE_SHARE`` is everybody), None only
    while the row is being read.
    """

    version: str
    share: int | None = None
    callers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """sluicegate.yaml. ``notify`` maps an owner to ``log:``, a webhook or ``apprise:``.

    ``serve`` maps a tool to its versions; a tool that it does not name is served at the current.
    """

    limits: FolderLimits = field(default_factory=FolderLimits)
    audit: AuditSettings = field(default_factory=AuditSettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    access: AccessSettings = field(default_factory=AccessSettings)
    callers_from: Literal["argument", "token", "os_user"] = "argument"
    python: tuple[str, ...] = ()
    notify: Mapping[str, str] = field(default_factory=dict)
    serve: Mapping[str, tuple[ServeRow, ...]] = field(default_factory=dict)
