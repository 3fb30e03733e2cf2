"""contract.yaml → ``Contract``: every part read, judged and compiled (SPEC 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from sluicegate.contracts.coherence import Parts, judge_together
from sluicegate.contracts.contract import (
    Contract,
    Effect,
    RetryRule,
    UpstreamPart,
)
from sluicegate.contracts.extraction import compile_extraction
from sluicegate.contracts.fingerprints import UNPRINTED, fingerprint
from sluicegate.contracts.freezing import freeze_document
from sluicegate.contracts.mapping_fit import demand_groups_fit, demand_map_fits
from sluicegate.contracts.naming import PythonNames
from sluicegate.contracts.near_names import (
    find_member,
    member_of,
    read_choice,
    read_members,
)
from sluicegate.contracts.places import Place
from sluicegate.contracts.quoting import is_quotable, quote_text, show_member
from sluicegate.contracts.reach import Side
from sluicegate.contracts.reading_adapter import MAX_TIMEOUT_S
from sluicegate.contracts.reading_authority import read_evidence, read_idempotency, read_quotas
from sluicegate.contracts.reading_fetch import read_fetch
from sluicegate.contracts.reading_removed import read_removed
from sluicegate.contracts.reading_sides import read_arguments, read_result
from sluicegate.contracts.reading_upstream import read_upstream
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.settings import FolderLimits, Settings
from sluicegate.contracts.sourcing import Shelf, register_schema
from sluicegate.contracts.versions import VERSION
from sluicegate.values.codes import AgentCode, Code
from sluicegate.values.json import JsonValue
from sluicegate.values.limits import ENGINE_MAX_DEPTH, Limits
from sluicegate.values.names import find_near, show_sentence
from sluicegate.values.pointers import Pointer
from sluicegate.values.requests import is_tool_name
from sluicegate.values.sides import SideName

_REQUIRED: Final = (
    *("sluicegate", "tool", "version", "owner", "description", "effect"),
    *("arguments", "fetch"),
)
_CODE: Final = r"[A-Z][A-Z0-9_]{2,63}"
_MAX_TOOL_NAME: Final = 128
_NO_TOOL: Final = "unknown"
"""What an envelope calls a tool that does not exist (ENV-1)."""

_MAX_DESCRIPTION: Final = 20_000
_MAX_ATTEMPTS: Final = 10
_OWN_CODES: Final = frozenset(str(code) for code in AgentCode) - {
    str(AgentCode.UPSTREAM_UNAVAILABLE)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a contract is read with: the settings, the schema files, the Python names."""

    settings: Settings
    shelf: Shelf
    names: PythonNames


def read_contract(place: Place, surroundings: Surroundings) -> Contract | None:
    """Return the contract at ``place``, or None where anything in it is at fault.

    Every fault is noted; nothing is served while one stands.
    """
    before = len(place.problems)
    members = read_members(place, "contract", _REQUIRED)
    if members is None:
        return None
    contract = _assemble(place, members, surroundings)
    return contract if len(place.problems) == before else None


def _assemble(
    place: Place, members: Mapping[str, Place], surroundings: Surroundings
) -> Contract | None:
    names, limits = surroundings.names, surroundings.settings.limits
    _refuse_draft(members.get("draft"))
    head = _read_head(members)
    errors = _read_errors(members.get("errors"))
    arguments_schema = _register(members.get("arguments"), "arguments", surroundings)
    arguments_side = Side("arguments", arguments_schema)
    arguments = (
        read_arguments(members["arguments"], arguments_schema, names)
        if "arguments" in members
        else None
    )
    fetching = read_fetch(members.get("fetch"), arguments_side, names)
    upstream = read_upstream(members.get("upstream"), errors, fetching.fetch)
    given = _result_place(place, members, upstream)
    result_schema = _register(given, "result", surroundings)
    data = Side("data", result_schema)
    result = read_result(given, result_schema, arguments_side, names) if given is not None else None
    if upstream.map is not None:
        demand_map_fits(member_of(members["upstream"], "upstream", "map"), upstream.map, data)
    if upstream.text is not None and upstream.text.kind == "extract":
        demand_groups_fit(
            member_of(member_of(members["upstream"], "upstream", "text"), "text", "extract"),
            compile_extraction(upstream.text.pattern).names,
            upstream.map,
            data,
        )
    call_limits, answer_limits = _read_limits(members.get("limits"), limits)
    retry = _read_retry(members.get("retry"), errors, head.effect)
    masked_arguments, masked_data = _read_mask(members.get("mask"), arguments_side, data)
    evidence, waiver = read_evidence(members, head.effect, arguments_side)
    idempotency = read_idempotency(members.get("idempotency"), head.effect)
    quotas = read_quotas(_quotas_place(members), ("caller", "tenant"))
    removed = read_removed(members.get("removed"), head.version, arguments_schema, result_schema)
    judge_together(
        members,
        Parts(
            effect=head.effect,
            fetching=fetching,
            upstream=upstream,
            result=result,
            retry=retry,
            idempotency=idempotency,
            masked_data=masked_data,
        ),
    )
    if arguments is None or result is None or head.effect is None:
        return None
    contract = Contract(
        tool=head.tool,
        version=head.version,
        owner=head.owner,
        description=head.description,
        title=head.title,
        effect=head.effect,
        arguments=arguments,
        fetch=fetching.fetch,
        cache=fetching.cache,
        call_limits=call_limits,
        limits=answer_limits,
        upstream=upstream,
        result=result,
        errors=errors or {},
        retry=retry,
        masked_arguments=masked_arguments,
        masked_data=masked_data,
        evidence_waiver=waiver,
        fingerprints=UNPRINTED,
        source=place.document.name,
        document={},
        removed=removed,
        evidence=evidence,
        idempotency=idempotency,
        quotas=quotas,
    )
    return _finish(contract, place, given)


def _finish(contract: Contract, place: Place, given: Place | None) -> Contract:
    members: dict[str, JsonValue] = dict(place.value) if isinstance(place.value, Mapping) else {}
    if given is not None:
        members["result"] = given.value
    return replace(
        contract,
        fingerprints=fingerprint(contract),
        document=freeze_document(members, contract),
    )


# --- the head ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Head:
    tool: str
    version: str
    owner: str
    description: str
    title: str | None
    effect: Effect | None
    """None where it is missing or at fault: nothing is judged by it, and nothing is served."""


def _read_head(members: Mapping[str, Place]) -> _Head:
    if "sluicegate" in members:
        members["sluicegate"].integer(1, 1)

    def text(key: str, pattern: str = "", wanted: str = "text") -> str:
        return (members[key].text(pattern, wanted) if key in members else None) or ""

    effect = read_choice(members["effect"], list(Effect)) if "effect" in members else None
    return _Head(
        tool=_read_tool(members["tool"]) if "tool" in members else "",
        version=text("version", VERSION, "a semantic version such as 1.0.0"),
        owner=text("owner", r"[^\x00-\x1f\x7f]{1,200}", "one line of up to 200 characters"),
        description=_read_description(members.get("description")),
        title=text("title") if "title" in members else None,
        effect=Effect(effect) if effect else None,
    )


def _refuse_draft(place: Place | None) -> None:
    """What was imported is served once a person has decided what no importer can (LIF-6)."""
    if place is None:
        return
    for item in place.items() or ():
        question = item.text()
        if question is not None:
            item.fault(
                f"still to decide: {show_sentence(question)}",
                "Decide it in this contract, then remove this line.",
            )
    place.fault(
        "this contract is a draft, and a draft is never served.",
        "Remove `draft` once nothing is left to decide.",
        at_key=True,
    )


def _read_description(place: Place | None) -> str:
    return (place.text(max_chars=_MAX_DESCRIPTION) if place is not None else None) or ""


def _read_tool(place: Place) -> str:
    name = place.value
    if isinstance(name, str) and len(name) > _MAX_TOOL_NAME:
        place.fault(
            f"the name of the tool has {len(name)} characters.",
            f"Write at most {_MAX_TOOL_NAME}.",
            code=Code.TOOL_NAME_LENGTH,
        )
        return name
    if isinstance(name, str) and not is_tool_name(name):
        place.fault(
            f"{quote_text(name)} is not a name for a tool.",
            "Use letters, digits and the characters _ . - alone.",
            discreet=not is_quotable(name),
            code=Code.TOOL_NAME_LENGTH if not name else Code.TOOL_NAME_PATTERN,
        )
        return name
    if name == _NO_TOOL:
        place.fault(
            f"`{_NO_TOOL}` stands for a tool that does not exist.",
            "Take another name.",
            code=Code.TOOL_NAME_PATTERN,
        )
        return name
    return place.text() or ""


def _read_errors(place: Place | None) -> dict[str, bool] | None:
    """Return the codes; None where they are not known, for one of them is at fault."""
    errors: dict[str, bool] = {}
    entries = place.entries() if place is not None else {}
    for code, inner in (entries or {}).items():
        members = read_members(inner, "error", ("retryable",)) or {}
        retryable = members["retryable"].boolean() if "retryable" in members else None
        if not inner.is_named(_CODE):
            inner.fault(
                f"`{show_member(code)}` is not a code.",
                "Write 3 to 64 capitals, digits and _, beginning with a capital.",
                at_key=True,
            )
        elif code in _OWN_CODES:
            inner.fault(f"`{code}` is the gate's own code.", "Choose another name.", at_key=True)
        else:
            errors[code] = bool(retryable)
    return errors if entries is not None and errors.keys() == entries.keys() else None


def _register(
    place: Place | None, side: SideName, surroundings: Surroundings
) -> CompiledSchema | None:
    if place is None or not isinstance(place.value, Mapping) or "schema" not in place.value:
        return None
    return register_schema(place.follow("schema"), side, surroundings.shelf, surroundings.names)


def _result_place(
    place: Place, members: Mapping[str, Place], upstream: UpstreamPart
) -> Place | None:
    """The result as written; for plain text without one, the shape that RES-10 fixes."""
    if "result" in members:
        return members["result"]
    if upstream.text is None and _names_text(members.get("upstream")):
        return None  # a fault is noted there: it may mean plain text, which needs no result
    if upstream.text is None or upstream.text.kind != "plain":
        place.fault("`result` is missing in contract.", "Add `result:`.", at_key=True)
        return None
    text: JsonValue = {"type": "string", "maxLength": upstream.text.max_chars}
    return place.child(
        "result",
        {
            "schema": {
                "type": "object",
                "properties": {"text": text},
                "required": ["text"],
                "additionalProperties": False,
            },
            "untrusted_text": {"text": "/text"},
        },
    )


def _names_text(upstream: Place | None) -> bool:
    if upstream is None:
        return False
    is_mapping = isinstance(upstream.value, Mapping)
    return not is_mapping or find_member(upstream, "upstream", "text") is not None


def _quotas_place(members: Mapping[str, Place]) -> Place | None:
    limits = members.get("limits")
    given = limits.value if limits is not None else None
    if limits is None or not isinstance(given, Mapping) or "quotas" not in given:
        return None
    return limits.follow("quotas")


# --- the rest ----------------------------------------------------------------------------------


def _read_limits(place: Place | None, ceiling: FolderLimits) -> tuple[Limits, Limits]:
    members = (read_members(place, "limits") if place is not None else None) or {}
    found = {}
    for key, most in (
        ("max_call_bytes", ceiling.max_call_bytes),
        ("max_bytes", ceiling.max_bytes),
        ("max_depth", min(ceiling.max_depth, ENGINE_MAX_DEPTH)),
    ):
        number = members[key].integer(1, 1 << 40) if key in members else None
        if number is not None and number > most:
            members[key].fault(
                f"`{key}` is above the folder's ceiling of {most}.",
                f"Write at most {most}, or raise `limits` in sluicegate.yaml.",
            )
        found[key] = most if number is None else number
    call = Limits(max_bytes=found["max_call_bytes"], max_depth=found["max_depth"])
    return call, Limits(max_bytes=found["max_bytes"], max_depth=found["max_depth"])


def _read_retry(
    place: Place | None, errors: Mapping[str, bool] | None, effect: Effect | None
) -> RetryRule:
    members = (
        read_members(place, "retry", ("attempts", "budget_s", "on")) if place is not None else None
    )
    if members is None:
        return RetryRule()
    attempts = members["attempts"].integer(1, _MAX_ATTEMPTS) if "attempts" in members else None
    budget = members["budget_s"].number(0, MAX_TIMEOUT_S) if "budget_s" in members else None
    own = {str(AgentCode.UPSTREAM_UNAVAILABLE), str(AgentCode.INVALID_RESPONSE)}
    codes = set()
    for item in (members["on"].items() if "on" in members else None) or ():
        code = item.text()
        if code is None:
            continue
        if errors is not None and code not in (known := {*errors, *own}):
            near = find_near(code, known)
            item.fault(
                f"{quote_text(code)} is none of this contract's codes.",
                f"Did you mean `{near}`?"
                if near
                else f"Write one of {', '.join(sorted(known))}; or remove it.",
                discreet=not is_quotable(code),
            )
        elif code == AgentCode.INVALID_RESPONSE:
            _judge_refused_retry(item, effect, attempts or 1)
        codes.add(code)
    if codes and attempts == 1:
        members["on"].fault(
            "`on` names codes, and one attempt is never followed by another.",
            "Write `attempts: 2` or more, or `on: []`.",
            at_key=True,
        )
    return RetryRule(
        attempts=attempts or 1, budget_s=30.0 if budget is None else budget, on=frozenset(codes)
    )


def _judge_refused_retry(place: Place, effect: Effect | None, attempts: int) -> None:
    """RET-2: a schema mismatch stops; a read may ask once more."""
    if effect not in (Effect.READ, None):
        place.fault(
            "INVALID_RESPONSE is retried for `effect: read` alone.",
            "Remove it: what was done is not known.",
        )
    elif attempts > 2:
        place.fault(
            "INVALID_RESPONSE is retried at most once.", "Write `attempts: 2`, or remove it."
        )


def _read_mask(
    place: Place | None, arguments: Side, data: Side
) -> tuple[tuple[Pointer, ...], tuple[Pointer, ...]]:
    members = (read_members(place, "mask") if place is not None else None) or {}

    def pointers(key: str, side: Side) -> tuple[Pointer, ...]:
        items = members[key].items() if key in members else None
        read = [side.read(item) for item in items or ()]
        return tuple(pointer for pointer in read if pointer is not None)

    return pointers("arguments", arguments), pointers("result", data)
