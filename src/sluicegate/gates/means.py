"""What every call of a gate works with: the filled ports, and the settings that govern them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sluicegate.contracts.contract import QuotaRule
from sluicegate.contracts.settings import RetentionSettings
from sluicegate.gates.owing import Owing
from sluicegate.gates.ports import AuditStore, Authorizer, Clock, Notifier, Quota, Replays
from sluicegate.gates.repetition import Repetition
from sluicegate.gates.watching import UNOBSERVED, Observer
from sluicegate.values.requests import RequestId


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """``new_request_id`` and ``draw`` (a number in [0, 1)) are the only sources of randomness.

    ``quotas`` are the folder's own; ``quota`` None: the record counts, with each intent.
    ``running`` are the calls that have not returned.
    """

    clock: Clock
    store: AuditStore
    authorizer: Authorizer
    notifier: Notifier
    retention: RetentionSettings
    new_request_id: Callable[[], RequestId]
    draw: Callable[[], float]
    quota: Quota | None = None
    quotas: tuple[QuotaRule, ...] = ()
    replays: Replays | None = None
    observer: Observer = UNOBSERVED
    repetition: Repetition = field(default_factory=Repetition)
    running: set[RequestId] = field(default_factory=set)
    owing: Owing = field(default_factory=Owing)
