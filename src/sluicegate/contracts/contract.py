"""One tool's agreement, read, judged and compiled. Immutable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.values.digests import Digest
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.limits import Limits
from sluicegate.values.pointers import Pointer

Integers: TypeAlias = Literal["any", "i-json"]


class Effect(StrEnum):
    """What a call does to the world."""

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"


@dataclass(frozen=True, slots=True)
class PythonName:
    """``module:attribute`` under an allow-listed prefix; ``opening`` resolves it."""

    module: str
    attribute: str

    def __str__(self) -> str:
        return f"{self.module}:{self.attribute}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceRule:
    """One resource that access rules are asked about; a wild ``id`` or an array names several."""

    type: str
    id: Pointer


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentsPart:
    """The call side. ``on_absent`` is what the gate adds after validation (ARG-4)."""

    schema: CompiledSchema
    checks: tuple[PythonName, ...] = ()
    resources: tuple[ResourceRule, ...] = ()
    on_absent: Mapping[Pointer, JsonValue] = field(default_factory=dict)
    integers: Integers = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpFetch:
    """``url`` is a template whose placeholders ``{/pointer}`` are one encoded segment each.

    ``query`` values and ``body`` follow the same rule; ``body`` absent: no body; ``"arguments"``:
    the validated arguments as JSON; a pointer map: an object of those members.
    ``idempotency_header`` is set where the upstream honours a key (RET-2).
    """

    method: str
    url: str
    timeout_s: float
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Literal["arguments"] | Mapping[str, Pointer] | None = None
    credential: str | None = None
    credential_header: str = "Authorization"
    credential_prefix: str = "Bearer "
    redirects: int = 0
    idempotency_header: str | None = None
    ca_file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandFetch:
    """``argv`` is a list; an element ``{/pointer}`` is one argument, alone or inside a constant.

    ``stdin``: ``"arguments"`` hands the validated arguments as one JSON document.
    ``environment`` names variables that are passed on; ``credential`` is put into the variable
    ``credential_variable``.
    """

    argv: tuple[str, ...]
    timeout_s: float
    stdin: Literal["arguments"] | None = None
    environment: tuple[str, ...] = ()
    directory: str | None = None
    credential: str | None = None
    credential_variable: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SshFetch:
    """One fixed command on one host; all of it is constant, and input goes to stdin alone.

    ``known_hosts`` is a file of the folder that pins the host's keys. ``credential`` names a
    private key without passphrase; or ``agent`` says that the gate's own ssh agent signs.
    ``stdin`` as for a command.
    """

    host: str
    user: str
    command: str
    known_hosts: str
    timeout_s: float
    port: int = 22
    stdin: Literal["arguments"] | None = None
    credential: str | None = None
    agent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonFetch:
    """A sync or async function that is called with the arguments as keywords."""

    function: PythonName
    timeout_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HostFetch:
    """The host fetches for itself between ``check_call`` and ``check_result`` (ARG-9).

    ``timeout_s`` is what lies between the two at most; None: the longest that can be declared.
    """

    timeout_s: float | None = None


Fetch: TypeAlias = HttpFetch | CommandFetch | SshFetch | PythonFetch | HostFetch


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheRule:
    """Accepted reads are kept for ``ttl_s`` seconds, at most ``max_entries`` of them (ADP-4)."""

    ttl_s: float
    max_entries: int = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class MapRule:
    """One member of the narrowed object (RES-3).

    ``at`` is where the value stands in the received document; for items below ``every`` it is
    relative to the item. ``values`` maps received strings; ``other`` stands for a value outside
    the table where ``has_other`` says that it is given (it may be null); ``convert`` is a type
    normaliser; ``optional`` says that the member may be absent; ``members`` builds a nested object
    or, with ``every``, one object an item of the array at ``at``.
    """

    at: Pointer
    values: Mapping[str, JsonValue] | None = None
    other: JsonValue = None
    has_other: bool = False
    convert: Literal["integer", "number", "string", "boolean", "epoch_s", "epoch_ms"] | None = None
    optional: bool = False
    every: bool = False
    members: Mapping[str, MapRule] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRule:
    """How a text answer becomes data (RES-10): ``json``, ``extract`` (regex), or ``plain``."""

    kind: Literal["json", "extract", "plain"]
    pattern: str | None = None
    max_chars: int = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSignature:
    """Standard Webhooks: ``secrets`` are names of credentials, any of which may have signed.

    ``max_age_s`` and ``max_ahead_s`` bound the signed time on both sides, edges included; so in
    the other forms.
    """

    secrets: tuple[str, ...]
    max_age_s: float
    max_ahead_s: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JwsSignature:
    """A JWS by ``issuer``: detached in ``header`` (lower case), or, where None, the whole body.

    ``keys`` is the JWKS file, relative to the folder; ``algorithms`` are the only ones taken.
    """

    issuer: str
    algorithms: tuple[str, ...]
    keys: str
    header: str | None
    max_age_s: float
    max_ahead_s: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rfc9421Signature:
    """An HTTP message signature; ``tag`` chooses among several, and is signed itself."""

    algorithms: tuple[str, ...]
    keys: str
    tag: str | None
    max_age_s: float
    max_ahead_s: float = 5.0


Signature: TypeAlias = WebhookSignature | JwsSignature | Rfc9421Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamPart:
    """What the upstream sends and how it is taken apart.

    ``status`` maps ``404`` or ``5xx`` to a code of ``errors``; ``exit_code`` likewise;
    ``success_status`` and ``success_exit`` are accepted. ``carrier`` says what the answer stands
    in. ``known`` are the members recorded at release; None: nothing is recorded. ``mcp_version``
    is the protocol revision of an MCP carrier. ``signature`` None: an unsigned answer is taken.
    """

    carrier: Literal["bare", "envelope", "mcp"] = "bare"
    text: TextRule | None = None
    status: Mapping[str, str] = field(default_factory=dict)
    exit_code: Mapping[int, str] = field(default_factory=dict)
    success_status: frozenset[int] = frozenset({200})
    success_exit: frozenset[int] = frozenset({0})
    content_type: tuple[str, ...] = ("application/json",)
    map: Mapping[str, MapRule] | None = None
    known: frozenset[str] | None = None
    on_new: Literal["notify", "refuse"] = "notify"
    tool_failed: str | None = None
    mcp_version: str = "2026-07-28"
    signature: Signature | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BindRule:
    """The data at ``data`` must equal exactly the argument, or the caller's member."""

    data: Pointer
    argument: Pointer | None = None
    caller: Literal["subject", "tenant"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshRule:
    """``max_age_s`` and ``max_ahead_s`` are inclusive."""

    at: Pointer
    max_age_s: float
    max_ahead_s: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPart:
    """The result side.

    ``agent`` are the only fields that reach the agent; ``untrusted_text`` names declared, bounded
    free text that reaches it below ``data.untrusted_text``; ``operator`` goes to custody and
    console; ``display`` to the host for people, each text that it names bounded. ``agent_schema``
    is the published schema of the ``data`` member.
    """

    schema: CompiledSchema
    agent_schema: JsonObject
    bind: tuple[BindRule, ...] = ()
    fresh: FreshRule | None = None
    checks: tuple[PythonName, ...] = ()
    agent: tuple[Pointer, ...] = ()
    untrusted_text: Mapping[str, Pointer] = field(default_factory=dict)
    operator: tuple[Pointer, ...] = ()
    display: tuple[Pointer, ...] = ()
    integers: Integers = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRule:
    """``attempts`` in all within ``budget_s``; ``on`` are agent-side or contract error codes."""

    attempts: int = 1
    budget_s: float = 30.0
    on: frozenset[str] = frozenset()


QuotaScope: TypeAlias = Literal["caller", "tenant", "tool"]
IdempotencySource: TypeAlias = Literal["host", "derived"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaRule:
    """At most ``count`` upstream attempts within any ``window_s`` seconds (ACC-3).

    Counted apart for each value of what stands in ``per``; a contract's quota always counts its
    own tool alone.
    """

    per: frozenset[QuotaScope]
    count: int
    window_s: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotencyRule:
    """Two calls with one key are one call, for ``keep_s`` seconds (ACC-4).

    ``key``: the host's call id, which every call then needs, or derived from the arguments.
    """

    key: IdempotencySource
    keep_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRule:
    """An accepted answer of ``tool`` that an action rests on (EVI-1).

    ``bind``: its data must equal arguments of the action; ``where``: and these values. Its own time
    is at most ``max_age_s`` old. ``once``: no second action may rest on it; ``refetch``: the gate
    asks the tool again right before acting, and nothing older counts.
    """

    tool: str
    bind: tuple[BindRule, ...]
    where: tuple[tuple[Pointer, JsonValue], ...]
    max_age_s: float
    once: bool
    refetch: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceWaiver:
    """Why a destructive tool runs without evidence, until the day ``until`` (YYYY-MM-DD)."""

    reason: str
    until: str

    def has_ended(self, today: date) -> bool:
        """Whether its last day lies behind ``today`` (UTC), or is no day at all."""
        try:
            return date.fromisoformat(self.until) < today
        except ValueError:
            return True  # 31 February: no day on which it could still hold


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedNames:
    """Members that were released once and went: pointer to the first version without it (LIF-3)."""

    arguments: Mapping[Pointer, str] = field(default_factory=dict)
    result: Mapping[Pointer, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprints:
    """CON-4: ``language`` of the effective schemas, ``text`` (prompts), ``policy`` (the rest)."""

    language: Digest
    text: Digest
    policy: Digest
    digest: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """One tool's agreement as it is served.

    ``errors`` maps each code the contract declares to whether the agent may try again.
    ``masked_arguments`` and ``masked_data`` are pointers whose values never reach log, event, page
    or custody (AUD-4). ``evidence_waiver`` says why a destructive tool asks for none (EVI-3).
    ``evidence`` is what an action rests on, ``idempotency`` whose key makes two calls one,
    ``quotas`` how many attempts there may be. ``removed`` are names that may not come back with
    another meaning (LIF-3).
    ``source`` is the name of the document it came from; ``document`` its JSON form with schemas
    inlined, which is what a release freezes.
    """

    tool: str
    version: str
    owner: str
    description: str
    title: str | None
    effect: Effect
    arguments: ArgumentsPart
    fetch: Fetch
    cache: CacheRule | None
    call_limits: Limits
    limits: Limits
    upstream: UpstreamPart
    result: ResultPart
    errors: Mapping[str, bool]
    retry: RetryRule
    masked_arguments: tuple[Pointer, ...]
    masked_data: tuple[Pointer, ...]
    evidence_waiver: EvidenceWaiver | None
    fingerprints: Fingerprints
    source: str
    document: JsonObject
    removed: RemovedNames = field(default_factory=RemovedNames)
    evidence: tuple[EvidenceRule, ...] = ()
    idempotency: IdempotencyRule | None = None
    quotas: tuple[QuotaRule, ...] = ()

    @staticmethod
    def of(function: Callable[..., object] | None = None, **parts: Any) -> Contract:
        """Return a contract written in Python; ``parts`` as for ``authoring.write_contract``.

        The same document and the same loader as contract.yaml, so the same checks.
        Raises: MisuseError where a part is lacking; ContractFolderError with every problem.
        Source: SPEC CON-7.
        """
        from sluicegate.contracts.authoring import contract_of  # the loader builds this record

        return contract_of(function, **parts)

    def freeze(self) -> str:
        """Return the file that a release of this contract is: JSON, which is YAML 1.2 as well.

        Written as ``TOOL/contract.yaml`` it is the same contract, with the same digest; so a
        contract written in Python is checked, compared and released as any other.
        Source: SPEC CON-5, CON-7.
        """
        from sluicegate.contracts.freezing import freeze  # it is written with this record

        return freeze(self)
