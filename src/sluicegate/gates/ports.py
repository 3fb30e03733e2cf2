"""The ports: what the gate needs of the rooms above it, as Protocols. ``opening`` fills them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, Unpack

from sluicegate.checks.authentication_keys import TrustedKeys
from sluicegate.gates.events import AuditEvent, StoredEvent
from sluicegate.gates.record_queries import AcceptedQuery, AnswerQuery, CallQuery, EventFilters
from sluicegate.gates.terms import NO_TERMS, Accepted, AcceptedPage, Allowance, Reservation, Terms
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Code
from sluicegate.values.findings import Finding
from sluicegate.values.receipts import Receipt


class Clock(Protocol):
    """Wall time for freshness and events; monotonic time for budgets and deadlines."""

    def now(self) -> datetime:
        """Return the aware UTC wall time."""

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""

    async def sleep(self, seconds: float) -> None:
        """Wait between two attempts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """One attempt's order to an adapter.

    ``arguments`` is the validated object, ``arguments_text`` its bytes; ``timeout_s`` is the
    total time until the last byte; ``max_bytes`` the limit enforced while reading.
    """

    tool: str
    request_id: str
    arguments: Mapping[str, object]
    arguments_text: bytes
    caller: Caller
    attempt: int
    timeout_s: float
    max_bytes: int
    contract_digest: str
    idempotency_key: str | None = None


class Adapter(Protocol):
    """Obtains bytes plus provenance from one upstream; decides nothing (SPEC section 6).

    ``fetch`` returns a Receipt for every fault it foresees and raises only asyncio.CancelledError;
    anything else that escapes is closed by the gate as INTERNAL.
    """

    @property
    def name(self) -> str:
        """``http``, ``command``, ``python``, ``cache``."""

    @property
    def version(self) -> str:
        """The version that stands in every event."""

    @property
    def endpoint(self) -> str:
        """The URL template or command, never expanded; no constant of it that may be a secret."""

    async def fetch(self, dispatch: Dispatch) -> Receipt:
        """Obtain one answer."""

    async def keep(self, dispatch: Dispatch, receipt: Receipt) -> None:
        """Hear that this answer was accepted; only the cache does something with it."""

    async def close(self) -> None:
        """Release connections and processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One resource of an access question (AuthZEN)."""

    type: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessQuery:
    """One question in the shape of OpenID AuthZEN: subject, action, resource, context."""

    subject: Caller
    action: str
    tool: str
    resource: Resource | None
    context: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """``allow`` must be exactly True, ``errors`` empty, every obligation understood (ACC-1)."""

    allow: bool
    decision_id: str
    reason: str = ""
    policy_version: str = ""
    errors: tuple[str, ...] = ()
    obligations: tuple[str, ...] = ()


class Authorizer(Protocol):
    """The decision point. One query a resource; the gate asks for each."""

    async def decide(self, query: AccessQuery) -> Decision:
        """Decide. Whatever is raised or late counts as PDP_UNAVAILABLE."""


class AuditStore(Protocol):
    """Append-only record and custody. ``record`` returns only after a durable commit."""

    async def record(
        self, events: Sequence[AuditEvent], *, terms: Terms = NO_TERMS
    ) -> Sequence[str]:
        """Append the events in one commit and return their ids.

        ``terms`` concern the one intent among them: they are judged and kept inside the same
        commit, in this order: the reservation, an open call (same tool, caller and arguments under
        another request id), the evidence, the quotas. Where one does not hold nothing is written. A
        later attempt of one request holds its own reservation. ``if_intended`` concerns what closes
        an intent: where no intent of that request stands, or the attempt has an outcome, nothing
        is written and no id returned. Nor is it where the request went on behind ``if_last``.

        Raises: TermRefused, AlreadyDone; HeldBack where certainly nothing was written, since what
        attends the record let nothing begin; AuditUnavailable when it cannot be certain that they
        are on disk.
        """

    async def demand_key(self, reservation: Reservation, call: CallQuery, *, now: datetime) -> None:
        """Judge a reservation as the commit of an intent would, and keep nothing.

        For what must not be asked again on behalf of a call that was made. Raises: TermRefused,
        AlreadyDone, AuditUnavailable.
        """

    async def accepted(self, query: AcceptedQuery, *, now: datetime) -> AcceptedPage:
        """Return a page of the answers that fit ``query``, newest first.

        Those whose selected data is still kept, and that came from no cache. Raises:
        AuditUnavailable.
        """

    async def answer_of(self, query: AnswerQuery, *, now: datetime) -> Accepted | None:
        """Return the accepted answer that fits ``query`` while its selected data is kept.

        Raises: AuditUnavailable.
        """

    def events(self, **wanted: Unpack[EventFilters]) -> Iterator[StoredEvent]:
        """Iterate over stored events that fit every given one of ``EventFilters``."""

    def open_intents(self) -> Sequence[StoredEvent]:
        """Return intents whose outcome is not recorded, or is unknown and not yet resolved."""

    async def find_open_call(self, call: CallQuery) -> str | None:
        """Return the request id under which this very call is open: running, or sent and unknown.

        The earlier attempts of the request that asks do not count.
        Decided on the HMAC of the arguments, caller and tenant; resolved by an OPERATOR event.
        Raises: AuditUnavailable.
        """

    def verify(self) -> ChainReport:
        """Recompute the chain over every column from the first event on."""

    async def reveal(self, ref: str, *, who: str, reason: str, now: datetime) -> bytes:
        """Record the act, then return the plain bytes.

        Raises: KeyError if the blob is unknown, expired or purged; AuditUnavailable.
        """

    async def purge(
        self,
        *,
        now: datetime,
        who: str,
        refs: Sequence[str] | None = None,
        expired_by: datetime | None = None,
    ) -> int:
        """Destroy key and text of expired blobs (or ``refs``); record the act; return how many.

        ``expired_by`` chooses what has expired where that is not ``now``; the act bears ``now``.
        Raises: MisuseError without a name; AuditUnavailable.
        """

    async def rewrap(self, *, now: datetime, who: str) -> int:
        """Wrap every data key under the active custody key; record the act; return how many."""

    async def close(self) -> None:
        """Flush and release the store."""


class AuditUnavailable(Exception):  # noqa: N818  (named as its code, SPEC 15)
    """The record could not be written durably; the gate answers AUDIT_UNAVAILABLE."""


class HeldBack(AuditUnavailable):
    """What attends the record let the events not begin: certainly none of them was recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainReport:
    """``broken_at`` is the first bad seq, None if the chain holds; ``problem`` says why.

    ``keyed``: every column was recomputed with the keys of the record. Without them links are
    compared alone, and a column that was changed is not seen.
    """

    events: int
    head: str
    broken_at: int | None = None
    problem: str | None = None
    keyed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorReport:
    """How the record stands to the heads that were signed outside of it.

    ``signed_seq`` is the event that the last head names, ``signed_at`` its time. ``code`` is
    CHAIN_SHORTER_THAN_ANCHOR or CHAIN_BROKEN, and ``broken_at`` the first event that is missing or
    that nothing signed vouches for; both are None where the heads themselves are not whole, and
    ``problem`` alone says so. ``problem`` None: the record fits.
    """

    heads: int
    signed_seq: int | None = None
    signed_at: str | None = None
    code: Code | None = None
    broken_at: int | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Drift told to the owner of a contract. Findings hold no values.

    ``says`` is a sentence of the gate's own where code and places do not tell what happened.
    """

    owner: str
    tool: str
    contract_version: str
    code: str
    stage: str
    request_id: str
    time: datetime
    findings: tuple[Finding, ...] = ()
    says: str = ""


class Notifier(Protocol):
    """Tells owners. It must return at once and never raise."""

    def notify(self, notice: Notice) -> None:
        """Take the notice; delivery is its own affair."""

    def close(self) -> None:
        """Deliver what waits, bounded in time."""


class KeyUnreadable(Exception):  # noqa: N818  (a state, not a defect)
    """A key of a signed contract cannot be read; ``name`` is what the contract calls it."""

    name: str = ""


class SigningKeys(Protocol):
    """Where the keys of a signed contract come from (RES-6)."""

    @property
    def scope(self) -> str:
        """What shares one memory of replays: whoever signs with these keys."""

    def read(self) -> TrustedKeys:
        """Return the keys as they are now; may block for a file.

        A gate calls it in one thread at a time. What it raises is INTERNAL; of a KeyUnreadable
        log and record tell the name.
        """


class Replays(Protocol):
    """Remembers which signed answers were received (RES-6). What it raises is INTERNAL (RES-9)."""

    async def is_new(self, *, scope: str, replay_id: str, until: datetime, now: datetime) -> bool:
        """Record the id and say whether it was not there; one act, also between processes.

        Past ``until`` an answer is too old in any case, and its id may be forgotten.
        """

    async def close(self) -> None:
        """Release the memory."""


class Quota(Protocol):
    """Counts upstream attempts elsewhere than in the record: in memory or in Redis (ACC-3)."""

    async def spend(self, allowances: Sequence[Allowance]) -> bool:
        """Count one attempt under each; False when one of them is spent.

        Raising means QUOTA_UNAVAILABLE.
        """

    async def close(self) -> None:
        """Release connections."""
