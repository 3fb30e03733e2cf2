"""The one table of codes: stage, what the agent sees, who acts (SPEC 15)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Stage(StrEnum):
    """A rung, or a place beside the ladders where something can be refused."""

    REGISTER = "register"
    VENDOR = "vendor"
    BOUND = "bound"
    FETCH = "fetch"
    AUTHENTICATE = "authenticate"
    PARSE = "parse"
    UNWRAP = "unwrap"
    NARROW = "narrow"
    CONFORM = "conform"
    CHECK = "check"
    VOUCH = "vouch"
    SELECT = "select"
    AUTHORIZE = "authorize"
    ADMIT = "admit"
    RETRY = "retry"
    AUDIT = "audit"
    INTERNAL = "internal"


class Side(StrEnum):
    """Which half of the boundary a code belongs to."""

    LOAD = "load"
    CALL = "call"
    RESULT = "result"
    BOTH = "both"
    OPERATOR = "operator"


class Actor(StrEnum):
    """Who mends what a code reports."""

    MODEL = "model"
    AUTHOR = "author"
    OWNER = "owner"
    OPERATOR = "operator"
    HOST = "host"


class Code(StrEnum):
    """Every code; the names are fixed by SPEC 15."""

    SCHEMA_META_INVALID = "SCHEMA_META_INVALID"
    SCHEMA_DIALECT = "SCHEMA_DIALECT"
    SCHEMA_UNKNOWN_KEYWORD = "SCHEMA_UNKNOWN_KEYWORD"
    SCHEMA_UNKNOWN_FORMAT = "SCHEMA_UNKNOWN_FORMAT"
    SCHEMA_REMOTE_REF = "SCHEMA_REMOTE_REF"
    SCHEMA_UNRESOLVED_REF = "SCHEMA_UNRESOLVED_REF"
    SCHEMA_ID_COLLISION = "SCHEMA_ID_COLLISION"
    SCHEMA_PATTERN = "SCHEMA_PATTERN"
    SCHEMA_DEFAULT_INVALID = "SCHEMA_DEFAULT_INVALID"
    SCHEMA_OPEN_OBJECT = "SCHEMA_OPEN_OBJECT"
    SCHEMA_ROOT_NOT_OBJECT = "SCHEMA_ROOT_NOT_OBJECT"
    SCHEMA_TOO_COMPLEX = "SCHEMA_TOO_COMPLEX"
    TOOL_NAME_LENGTH = "TOOL_NAME_LENGTH"
    TOOL_NAME_PATTERN = "TOOL_NAME_PATTERN"
    X_MCP_HEADER_INVALID = "X_MCP_HEADER_INVALID"
    CONTRACT_INVALID = "CONTRACT_INVALID"
    DEFINITION_CHANGED = "DEFINITION_CHANGED"
    CACHE_STALE = "CACHE_STALE"
    UNKNOWN_TOOL = "UNKNOWN_TOOL"
    VENDOR_ARRAY_WITHOUT_ITEMS = "VENDOR_ARRAY_WITHOUT_ITEMS"
    VENDOR_UNSUPPORTED_KEYWORD = "VENDOR_UNSUPPORTED_KEYWORD"
    VENDOR_TOPLEVEL_COMBINATOR = "VENDOR_TOPLEVEL_COMBINATOR"
    VENDOR_NAME = "VENDOR_NAME"
    VENDOR_BUDGET = "VENDOR_BUDGET"
    TOO_LARGE = "TOO_LARGE"
    TOO_DEEP = "TOO_DEEP"
    UPSTREAM_UNAVAILABLE = "UPSTREAM_UNAVAILABLE"
    UPSTREAM_TIMEOUT = "UPSTREAM_TIMEOUT"
    UPSTREAM_DENIED = "UPSTREAM_DENIED"
    UPSTREAM_STATUS = "UPSTREAM_STATUS"
    EXIT_STATUS = "EXIT_STATUS"
    CONTENT_TYPE = "CONTENT_TYPE"
    BAD_ENCODING = "BAD_ENCODING"
    SIGNATURE_MISSING = "SIGNATURE_MISSING"
    BAD_SIGNATURE = "BAD_SIGNATURE"
    WRONG_ISSUER = "WRONG_ISSUER"
    SIGNATURE_WITHOUT_TIME = "SIGNATURE_WITHOUT_TIME"
    REPLAYED = "REPLAYED"
    EMPTY = "EMPTY"
    NOT_UTF8 = "NOT_UTF8"
    NOT_JSON = "NOT_JSON"
    TRUNCATED = "TRUNCATED"
    TRAILING_DATA = "TRAILING_DATA"
    DUPLICATE_MEMBER = "DUPLICATE_MEMBER"
    NON_FINITE_NUMBER = "NON_FINITE_NUMBER"
    LONE_SURROGATE = "LONE_SURROGATE"
    UNSAFE_INTEGER = "UNSAFE_INTEGER"
    ENVELOPE = "ENVELOPE"
    STRUCTURED_MISSING = "STRUCTURED_MISSING"
    NOT_MATCHED = "NOT_MATCHED"
    TOOL_FAILED = "TOOL_FAILED"
    NOT_FOUND_AT = "NOT_FOUND_AT"
    UNMAPPED_VALUE = "UNMAPPED_VALUE"
    UPSTREAM_NEW_MEMBER = "UPSTREAM_NEW_MEMBER"
    NOT_AN_OBJECT = "NOT_AN_OBJECT"
    MISSING = "MISSING"
    UNEXPECTED = "UNEXPECTED"
    MISNAMED = "MISNAMED"
    TYPE = "TYPE"
    STRINGIFIED = "STRINGIFIED"
    NULL = "NULL"
    ENUM = "ENUM"
    CONST = "CONST"
    RANGE = "RANGE"
    MULTIPLE_OF = "MULTIPLE_OF"
    LENGTH = "LENGTH"
    PATTERN = "PATTERN"
    FORMAT = "FORMAT"
    ITEMS = "ITEMS"
    UNIQUE = "UNIQUE"
    PROPERTIES = "PROPERTIES"
    DEPENDENT = "DEPENDENT"
    BRANCH = "BRANCH"
    FORBIDDEN = "FORBIDDEN"
    REPEATED_INVALID_CALL = "REPEATED_INVALID_CALL"
    WRONG_TOOL = "WRONG_TOOL"
    WRONG_REQUEST = "WRONG_REQUEST"
    WRONG_SUBJECT = "WRONG_SUBJECT"
    STALE = "STALE"
    FROM_FUTURE = "FROM_FUTURE"
    BAD_TIME = "BAD_TIME"
    FORBIDDEN_TEXT = "FORBIDDEN_TEXT"
    CHECK_FAILED = "CHECK_FAILED"
    DENIED = "DENIED"
    PDP_UNAVAILABLE = "PDP_UNAVAILABLE"
    QUOTA_EXCEEDED = "QUOTA_EXCEEDED"
    KEY_REUSED = "KEY_REUSED"
    IN_PROGRESS = "IN_PROGRESS"
    EVIDENCE_REQUIRED = "EVIDENCE_REQUIRED"
    KEY_MISSING = "KEY_MISSING"
    QUOTA_UNAVAILABLE = "QUOTA_UNAVAILABLE"
    OUTCOME_UNKNOWN = "OUTCOME_UNKNOWN"
    BUDGET_SPENT = "BUDGET_SPENT"
    AUDIT_UNAVAILABLE = "AUDIT_UNAVAILABLE"
    APPEND_ONLY = "APPEND_ONLY"
    CHAIN_BROKEN = "CHAIN_BROKEN"
    CHAIN_SHORTER_THAN_ANCHOR = "CHAIN_SHORTER_THAN_ANCHOR"
    INTERNAL = "INTERNAL"


class AgentCode(StrEnum):
    """The codes an agent can see beside those a contract declares itself."""

    INVALID_ARGUMENTS = "INVALID_ARGUMENTS"
    CHECK_FAILED = "CHECK_FAILED"
    UNKNOWN_TOOL = "UNKNOWN_TOOL"
    REPEATED_INVALID_CALL = "REPEATED_INVALID_CALL"
    DENIED = "DENIED"
    UNAVAILABLE = "UNAVAILABLE"
    QUOTA_EXCEEDED = "QUOTA_EXCEEDED"
    KEY_REUSED = "KEY_REUSED"
    IN_PROGRESS = "IN_PROGRESS"
    EVIDENCE_REQUIRED = "EVIDENCE_REQUIRED"
    INVALID_RESPONSE = "INVALID_RESPONSE"
    UPSTREAM_UNAVAILABLE = "UPSTREAM_UNAVAILABLE"
    OUTCOME_UNKNOWN = "OUTCOME_UNKNOWN"


REFUSED_CODES: Final = frozenset(
    {
        AgentCode.INVALID_ARGUMENTS,
        AgentCode.CHECK_FAILED,
        AgentCode.UNKNOWN_TOOL,
        AgentCode.REPEATED_INVALID_CALL,
        AgentCode.DENIED,
        AgentCode.UNAVAILABLE,
        AgentCode.QUOTA_EXCEEDED,
        AgentCode.KEY_REUSED,
        AgentCode.IN_PROGRESS,
        AgentCode.EVIDENCE_REQUIRED,
        # A write whose earlier outcome is open is refused with this code until an operator
        # resolves it (SPEC RET-2); nothing runs then.
        AgentCode.OUTCOME_UNKNOWN,
        # The time that the contract grants was spent before anything ran (BUDGET_SPENT).
        AgentCode.UPSTREAM_UNAVAILABLE,
    }
)
FAILURE_CODES: Final = frozenset(
    {AgentCode.INVALID_RESPONSE, AgentCode.UPSTREAM_UNAVAILABLE, AgentCode.OUTCOME_UNKNOWN}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeEntry:
    """One row: ``before`` is what the agent sees on the call side, ``after`` once dispatched."""

    code: Code
    stages: frozenset[Stage]
    side: Side
    actor: Actor
    before: AgentCode
    after: AgentCode
    retryable: bool
    mappable: bool
    summary: str


def _rows() -> dict[Code, CodeEntry]:
    rows: dict[Code, CodeEntry] = {}

    def row(
        stages: str,
        side: Side,
        actor: Actor,
        texts: dict[Code, str],
        *,
        before: AgentCode = AgentCode.INVALID_ARGUMENTS,
        after: AgentCode = AgentCode.INVALID_RESPONSE,
        retryable: bool = False,
        mappable: bool = False,
    ) -> None:
        for code, summary in texts.items():
            rows[code] = CodeEntry(
                code=code,
                stages=frozenset(Stage(name) for name in stages.split()),
                side=side,
                actor=actor,
                before=before,
                after=after,
                retryable=retryable,
                mappable=mappable,
                summary=summary,
            )

    c = Code
    unknown = AgentCode.UNKNOWN_TOOL
    row(
        "register",
        Side.LOAD,
        Actor.AUTHOR,
        {
            c.SCHEMA_META_INVALID: "The schema is not a valid draft 2020-12 schema.",
            c.SCHEMA_DIALECT: "The schema names another dialect than draft 2020-12.",
            c.SCHEMA_UNKNOWN_KEYWORD: "The schema uses a keyword that 2020-12 does not define.",
            c.SCHEMA_UNKNOWN_FORMAT: "The schema names a format that nothing asserts.",
            c.SCHEMA_REMOTE_REF: "A reference leaves the folder; nothing is fetched.",
            c.SCHEMA_UNRESOLVED_REF: "A reference leads nowhere.",
            c.SCHEMA_ID_COLLISION: "Two schemas bear the same $id.",
            c.SCHEMA_PATTERN: "A pattern is not one the linear-time engine takes.",
            c.SCHEMA_DEFAULT_INVALID: "A default or an example breaks its own schema.",
            c.SCHEMA_OPEN_OBJECT: "An object admits members that nobody reviewed.",
            c.SCHEMA_ROOT_NOT_OBJECT: "The root of the arguments is not an object.",
            c.SCHEMA_TOO_COMPLEX: "The schema can cost more to validate than a gate may spend.",
            c.TOOL_NAME_LENGTH: "The tool's name is too long.",
            c.TOOL_NAME_PATTERN: "The tool's name holds characters that are not admitted.",
            c.X_MCP_HEADER_INVALID: "An x-mcp-header annotation is not valid.",
            c.CONTRACT_INVALID: "The contract or the settings file is not valid.",
            c.DEFINITION_CHANGED: "The upstream changed a pinned tool definition.",
            c.CACHE_STALE: "A stored tool list is older than what the upstream serves.",
        },
        before=unknown,
        after=unknown,
    )
    row(
        "register",
        Side.CALL,
        Actor.MODEL,
        {c.UNKNOWN_TOOL: "No contract serves a tool of this name."},
        before=unknown,
        after=unknown,
    )
    row(
        "vendor",
        Side.LOAD,
        Actor.AUTHOR,
        {
            c.VENDOR_ARRAY_WITHOUT_ITEMS: "The vendor refuses arrays without items.",
            c.VENDOR_UNSUPPORTED_KEYWORD: "The vendor refuses a keyword.",
            c.VENDOR_TOPLEVEL_COMBINATOR: "The vendor refuses a combinator at the root.",
            c.VENDOR_NAME: "The vendor refuses the tool's name.",
            c.VENDOR_BUDGET: "The schema is beyond the vendor's size or nesting budget.",
        },
        before=unknown,
        after=unknown,
    )
    row(
        "bound",
        Side.BOTH,
        Actor.OWNER,
        {
            c.TOO_LARGE: "The document has more bytes than its limit.",
            c.TOO_DEEP: "The document nests deeper than its limit.",
        },
    )
    row(
        "fetch",
        Side.RESULT,
        Actor.OPERATOR,
        {
            c.UPSTREAM_UNAVAILABLE: "The upstream could not be reached or broke off.",
            c.UPSTREAM_TIMEOUT: "The upstream did not finish before the deadline.",
            c.UPSTREAM_DENIED: "The upstream refused our credential (401, 403, or an ssh login).",
        },
        after=AgentCode.UPSTREAM_UNAVAILABLE,
        retryable=True,
        mappable=True,
    )
    row(
        "fetch",
        Side.RESULT,
        Actor.OWNER,
        {
            c.UPSTREAM_STATUS: "The upstream answered with a status that is not a success.",
            c.EXIT_STATUS: "The command ended with an exit code that is not a success.",
            c.CONTENT_TYPE: "The answer's media type is not the one the contract expects.",
            c.BAD_ENCODING: "The answer's content encoding was not asked for, or is broken.",
        },
        mappable=True,
    )
    row(
        "authenticate",
        Side.RESULT,
        Actor.OPERATOR,
        {
            c.SIGNATURE_MISSING: "The answer bears no signature and the contract demands one.",
            c.BAD_SIGNATURE: "The signature does not fit the bytes.",
            c.WRONG_ISSUER: "The signature is good but of another issuer.",
            c.SIGNATURE_WITHOUT_TIME: "The signature does not cover a time.",
            c.REPLAYED: "This signed answer was seen before.",
        },
    )
    row(
        "parse",
        Side.BOTH,
        Actor.OWNER,
        {
            c.EMPTY: "There is no document: the text is empty or blank.",
            c.NOT_UTF8: "The bytes are not UTF-8, or begin with a byte order mark.",
            c.NOT_JSON: "The text is not JSON (RFC 8259).",
            c.TRUNCATED: "The document breaks off before it is complete.",
            c.TRAILING_DATA: "Something stands after the document.",
            c.NON_FINITE_NUMBER: "A number is NaN, infinite, or overflows.",
            c.LONE_SURROGATE: "A string holds half of a surrogate pair.",
            c.UNSAFE_INTEGER: "An integer lies beyond ±(2^53−1), which the contract refuses.",
        },
    )
    row(
        "parse register",
        Side.BOTH,
        Actor.OWNER,
        {c.DUPLICATE_MEMBER: "An object bears the same member name twice."},
    )
    row(
        "unwrap",
        Side.RESULT,
        Actor.OWNER,
        {
            c.ENVELOPE: "The carrier around the answer is not well formed.",
            c.STRUCTURED_MISSING: "The carrier holds no structured answer.",
            c.NOT_MATCHED: "The text does not match the declared expression as a whole.",
        },
    )
    row(
        "unwrap",
        Side.RESULT,
        Actor.OWNER,
        {c.TOOL_FAILED: "The upstream itself reports a failure."},
        mappable=True,
    )
    row(
        "narrow",
        Side.RESULT,
        Actor.OWNER,
        {
            c.NOT_FOUND_AT: "A declared pointer finds nothing in the answer.",
            c.UNMAPPED_VALUE: "A value stands outside the declared table.",
            c.UPSTREAM_NEW_MEMBER: "The provider sends a member it never sent before.",
        },
    )
    row(
        "conform",
        Side.BOTH,
        Actor.MODEL,
        {
            c.NOT_AN_OBJECT: "The whole document is not an object.",
            c.MISSING: "A required member is absent.",
            c.UNEXPECTED: "A member is not declared.",
            c.MISNAMED: "A member bears a name close to a declared one.",
            c.TYPE: "The value has another type than the declared one.",
            c.STRINGIFIED: "A string spells the wanted number, boolean, array or object.",
            c.NULL: "The value is null where null is not admitted.",
            c.ENUM: "The value is none of the declared ones.",
            c.CONST: "The value is not the declared constant.",
            c.RANGE: "The number lies outside its range.",
            c.MULTIPLE_OF: "The number is not a multiple of the declared one.",
            c.LENGTH: "The string is shorter or longer than declared.",
            c.PATTERN: "The string does not match the declared pattern.",
            c.FORMAT: "The string has not the declared format.",
            c.ITEMS: "The array has too few, too many or the wrong items.",
            c.UNIQUE: "The array holds equal items.",
            c.PROPERTIES: "The object has too few or too many members, or a bad member name.",
            c.DEPENDENT: "A member asks for another one that is absent.",
            c.BRANCH: "The value fits none, or more than one, of the declared branches.",
            c.FORBIDDEN: "The value matches what the schema forbids.",
        },
        retryable=True,
    )
    row(
        "conform",
        Side.CALL,
        Actor.MODEL,
        {c.REPEATED_INVALID_CALL: "The same invalid call came three times in a row."},
        before=AgentCode.REPEATED_INVALID_CALL,
        after=AgentCode.REPEATED_INVALID_CALL,
    )
    row(
        "vouch",
        Side.RESULT,
        Actor.OWNER,
        {
            c.WRONG_TOOL: "The answer names another tool.",
            c.WRONG_REQUEST: "The answer is to another request.",
            c.WRONG_SUBJECT: "The answer is about another subject than the one asked for.",
            c.STALE: "The answer is older than the contract allows.",
            c.FROM_FUTURE: "The answer's time lies ahead of our clock.",
            c.BAD_TIME: "The answer's time cannot be read without doubt.",
            c.FORBIDDEN_TEXT: "A name or value holds control, format or invisible characters.",
        },
    )
    row(
        "check vouch",
        Side.BOTH,
        Actor.MODEL,
        {c.CHECK_FAILED: "One of the contract's own rules does not hold."},
        before=AgentCode.CHECK_FAILED,
        retryable=True,
    )
    row(
        "authorize",
        Side.CALL,
        Actor.OPERATOR,
        {c.DENIED: "The caller may not do this to this resource."},
        before=AgentCode.DENIED,
        after=AgentCode.UPSTREAM_UNAVAILABLE,
    )
    row(
        "authorize",
        Side.CALL,
        Actor.OPERATOR,
        {c.PDP_UNAVAILABLE: "The decision point gave no decision in time."},
        before=AgentCode.UNAVAILABLE,
        after=AgentCode.UPSTREAM_UNAVAILABLE,
        retryable=True,
    )
    for code, agent, retry, summary in (
        (c.QUOTA_EXCEEDED, AgentCode.QUOTA_EXCEEDED, True, "The caller's quota is spent."),
        (c.KEY_REUSED, AgentCode.KEY_REUSED, False, "The key came before; it has no answer now."),
        (c.IN_PROGRESS, AgentCode.IN_PROGRESS, True, "The same call is still running."),
        (c.EVIDENCE_REQUIRED, AgentCode.EVIDENCE_REQUIRED, True, "Fresh evidence is needed first."),
        (c.KEY_MISSING, AgentCode.INVALID_ARGUMENTS, False, "An idempotency key is required."),
        (c.QUOTA_UNAVAILABLE, AgentCode.UNAVAILABLE, True, "The quota store does not answer."),
    ):
        row(
            "admit",
            Side.CALL,
            Actor.OPERATOR if agent is AgentCode.UNAVAILABLE else Actor.HOST,
            {code: summary},
            before=agent,
            after=AgentCode.UPSTREAM_UNAVAILABLE,
            retryable=retry,
        )
    row(
        "retry admit",
        Side.CALL,
        Actor.OPERATOR,
        {c.OUTCOME_UNKNOWN: "A write was sent and its outcome is not known."},
        before=AgentCode.OUTCOME_UNKNOWN,
        after=AgentCode.OUTCOME_UNKNOWN,
    )
    row(
        "retry",
        Side.RESULT,
        Actor.OPERATOR,
        {c.BUDGET_SPENT: "The time or attempts that the contract grants are spent."},
        before=AgentCode.UPSTREAM_UNAVAILABLE,
        after=AgentCode.UPSTREAM_UNAVAILABLE,
        retryable=True,
    )
    row(
        "audit",
        Side.BOTH,
        Actor.OPERATOR,
        {c.AUDIT_UNAVAILABLE: "The event could not be recorded, so there is no answer."},
        before=AgentCode.UNAVAILABLE,
        after=AgentCode.UPSTREAM_UNAVAILABLE,
        retryable=True,
    )
    row(
        "audit",
        Side.OPERATOR,
        Actor.OPERATOR,
        {
            c.APPEND_ONLY: "Something tried to change or delete an event.",
            c.CHAIN_BROKEN: "An event does not fit the chain.",
            c.CHAIN_SHORTER_THAN_ANCHOR: "The record is shorter than its signed head.",
        },
        before=AgentCode.UNAVAILABLE,
        after=AgentCode.UPSTREAM_UNAVAILABLE,
    )
    row(
        "internal",
        Side.BOTH,
        Actor.OPERATOR,
        {c.INTERNAL: "Something unexpected happened; it was closed as a refusal."},
        before=AgentCode.UNAVAILABLE,
        after=AgentCode.UPSTREAM_UNAVAILABLE,
        retryable=True,
    )
    return rows


CODES: Final[Mapping[Code, CodeEntry]] = MappingProxyType(_rows())
