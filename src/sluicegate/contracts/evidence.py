"""Evidence held against the contracts that yield it: the tools, pointers and values exist (EVI-1).

A folder's contracts are judged together, once each of them is good alone.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from jsonschema_rs import Draft202012Validator, ReferencingError, RegexOptions

from sluicegate.contracts.contract import BindRule, Contract, Effect, EvidenceRule
from sluicegate.contracts.near_names import say_meant
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.reach import say_near_place
from sluicegate.contracts.schemas.compiling import PATTERN_SIZE
from sluicegate.contracts.schemas.composition import listed_values
from sluicegate.contracts.schemas.keywords import schema_map
from sluicegate.contracts.schemas.reach import find_subschemas
from sluicegate.contracts.served import ContractSet
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.names import show_name
from sluicegate.values.pointers import Pointer

_MOST_NAMED: Final = 20


def judge_evidence(contracts: ContractSet) -> tuple[Problem, ...]:
    """Return what keeps a proof of any contract from ever being found in the folder.

    A proof is held to each version of its tool that is served: any of them may be asked.
    """
    found = contracts.contracts
    return tuple(
        Problem(
            code=Code.CONTRACT_INVALID,
            document=contract.source,
            message=fault.message,
            mend=fault.mend,
            pointer=f"/evidence/{index}{fault.at}",
            at_value=fault.at_value,
        )
        for contract in (*found.values(), *_offered(contracts))
        for index, rule in enumerate(contract.evidence)
        for fault in _judge_all(rule, contract, _served(rule.tool, contracts), found)
    )


def _served(tool: str, contracts: ContractSet) -> list[Contract]:
    """Each contract that may judge answers of ``tool``: the current one, and what is offered."""
    offers = contracts.rollouts.get(tool, ())
    current = contracts.contracts.get(tool)
    versions = [offer.contract for offer in offers]
    return versions if current is None else [current, *(v for v in versions if v is not current)]


def _judge_all(
    rule: EvidenceRule, acting: Contract, witnesses: Sequence[Contract], tools: Collection[str]
) -> Iterator[_Fault]:
    """Yield each fault once, that of another version than the first with the version named.

    ``tools`` are the names of all that the folder holds.
    """
    if not witnesses:
        others = [tool for tool in tools if tool != acting.tool]
        yield _Fault(
            "/tool",
            f"no contract of this folder is named {show_name(rule.tool)}.",
            say_meant(rule.tool, others, "Name one that is."),
            at_value=True,
        )
    told: set[tuple[str, str]] = set()
    for witness in witnesses:
        for fault in _judge(rule, acting, witness):
            if (fault.at, fault.message) in told:
                continue
            told.add((fault.at, fault.message))
            yield (
                fault
                if witness is witnesses[0]
                else replace(fault, message=f"{fault.message[:-1]} (version {witness.version}).")
            )


def mark_witnesses(contracts: ContractSet) -> ContractSet:
    """Return the set with each tool that is used as evidence held to that (``as_witness``)."""
    every = (*contracts.contracts.values(), *_offered(contracts))
    used = {rule.tool for contract in every for rule in contract.evidence}
    if not used:
        return contracts
    return replace(
        contracts,
        contracts=MappingProxyType(
            {
                tool: as_witness(contract) if tool in used else contract
                for tool, contract in contracts.contracts.items()
            }
        ),
        rollouts={
            tool: tuple(
                replace(offer, contract=as_witness(offer.contract)) if tool in used else offer
                for offer in offers
            )
            for tool, offers in contracts.rollouts.items()
        },
    )


def as_witness(contract: Contract) -> Contract:
    """Return the contract of a tool that is used as evidence: a new member refuses (RES-3).

    Unless the contract itself says what becomes of one.
    """
    written = contract.document.get("upstream")
    if isinstance(written, Mapping) and "on_new" in written:
        return contract
    return replace(contract, upstream=replace(contract.upstream, on_new="refuse"))


def known_arguments(rule: EvidenceRule, witness: Contract) -> dict[Pointer, Pointer]:
    """Return argument of the witness → argument of the acting tool, as far as the two binds tell.

    The witness holds its answer to its own arguments; the proof is held to the action's.
    """
    acting = {each.data: each.argument for each in rule.bind if each.argument is not None}
    return {
        each.argument: acting[each.data]
        for each in witness.result.bind
        if each.argument is not None and each.data in acting
    }


def _offered(contracts: ContractSet) -> Iterator[Contract]:
    """The versions that are served and are not among those being worked on."""
    for tool, offers in contracts.rollouts.items():
        for offer in offers:
            if offer.contract is not contracts.contracts.get(tool):
                yield offer.contract


@dataclass(frozen=True, slots=True)
class _Fault:
    at: str
    message: str
    mend: str
    at_value: bool = False


def _judge(rule: EvidenceRule, acting: Contract, witness: Contract) -> Iterator[_Fault]:
    name = show_name(rule.tool)
    if witness.effect is not Effect.READ:
        yield _Fault(
            "/tool",
            f"{name} is no read: asking would act.",
            "Name a tool that reads.",
            at_value=True,
        )
    if witness.cache is not None:
        yield _Fault(
            "/tool",
            f"{name} keeps answers in a cache, and a cached answer proves nothing.",
            "Remove `cache` there, or name another tool.",
            at_value=True,
        )
    if witness.upstream.text is not None and witness.upstream.text.kind == "plain":
        yield _Fault(
            "/tool",
            f"{name} yields plain text, which proves nothing.",
            "Name another.",
            at_value=True,
        )
        return
    fresh = witness.result.fresh
    if fresh is None or fresh.at.is_wild or not _is_kept(witness, fresh.at):
        yield _Fault(
            "/tool",
            f"{name} does not give the agent one time that says how old its answer is.",
            "Write `result.fresh` there, and select the member it names in `result.agent`.",
            at_value=True,
        )
    unbound = [fault for bound in rule.bind for fault in _judge_bound(bound, acting, witness)]
    yield from unbound
    for pointer, value in rule.where:
        yield from _judge_value(pointer, value, witness)
    if rule.refetch and not unbound:
        yield from _judge_refetch(rule, witness)


def _judge_bound(bound: BindRule, acting: Contract, witness: Contract) -> Iterator[_Fault]:
    faults = list(_judge_place(bound.data, "bind", witness))
    yield from faults
    if faults or bound.argument is None:
        return
    data = find_subschemas(witness.result.schema.document, bound.data).types
    argument = find_subschemas(acting.arguments.schema.document, bound.argument).types
    if not data & argument:
        yield _Fault(
            Pointer(("bind", bound.data.text)).text,
            f"`{show_name(bound.data.text)}` is {_any_of(data)} and"
            f" `{show_name(bound.argument.text)}` is {_any_of(argument)}: they are never equal.",
            "Bind what has the same type.",
        )


def _any_of(types: frozenset[str]) -> str:
    return " or ".join(sorted(types)) or "nothing"


def _judge_place(pointer: Pointer, key: str, witness: Contract) -> Iterator[_Fault]:
    at = Pointer((key, pointer.text)).text
    if pointer.is_wild:
        yield _Fault(at, "a proof is about one place.", "Write a pointer without `*`.")
    elif not find_subschemas(witness.result.schema.document, pointer).exists:
        yield _Fault(
            at,
            f"`{show_name(pointer.text)}` leads to nothing in the data of"
            f" {show_name(witness.tool)}.",
            say_near_place(witness.result.schema.document, pointer),
        )
    elif not _is_kept(witness, pointer):
        yield _Fault(
            at,
            f"`{show_name(pointer.text)}` is not among what {show_name(witness.tool)} selects,"
            " and nothing else is kept.",
            "Select it in `result.agent` there, and mask no part of it.",
        )


def _judge_value(pointer: Pointer, value: JsonValue, witness: Contract) -> Iterator[_Fault]:
    faults = list(_judge_place(pointer, "where", witness))
    if faults:
        yield from faults
        return
    document = witness.result.schema.document
    found = find_subschemas(document, pointer)
    try:
        fits = Draft202012Validator(
            {"allOf": list(found.schemas), "$defs": document.get("$defs", {})},
            validate_formats=True,
            offline=True,
            pattern_options=RegexOptions(size_limit=PATTERN_SIZE),
        ).is_valid(value)
    except (ValueError, ReferencingError):
        return  # a reference past `$defs`: then no answer is equal to the value, and none proves
    if not fits:
        yield _Fault(
            Pointer(("where", pointer.text)).text,
            f"{show_name(witness.tool)} never has this value at `{show_name(pointer.text)}`.",
            _say_admitted(found.schemas),
            at_value=True,
        )


def _say_admitted(schemas: Sequence[JsonObject]) -> str:
    """Name the values that the schema lists; it is the folder's own, and holds no secret."""
    listed = next(filter(None, map(listed_values, schemas)), [])
    texts = [value if isinstance(value, str) else json.dumps(value) for value in listed]
    if not texts or len(texts) > _MOST_NAMED:
        return "Write one that its `result.schema` admits there."
    return f"Write {'one of ' if texts[1:] else ''}{', '.join(map(show_name, texts))}."


def _judge_refetch(rule: EvidenceRule, witness: Contract) -> Iterator[_Fault]:
    # What stands deeper is not put together: members of the root alone are known.
    known = {
        pointer.segments[0]
        for pointer in known_arguments(rule, witness)
        if len(pointer.segments) == 1
    }
    document = witness.arguments.schema.document
    declared = {
        name
        for schema in find_subschemas(document, Pointer(())).schemas
        for name in schema_map(schema, "properties")
    }
    lacking = [
        name
        for name in sorted(declared)
        if name not in known and find_subschemas(document, Pointer((name,))).required
    ]
    if lacking:
        yield _Fault(
            "/refetch",
            f"the gate cannot ask {show_name(witness.tool)} itself: nothing says its"
            f" {', '.join(map(show_name, lacking))}.",
            "Bind its data to them there (`result.bind`), and this proof to the same data.",
        )


def _is_kept(witness: Contract, pointer: Pointer) -> bool:
    """Whether the value is among the selected data, and nothing of it is masked."""
    return any(_covers(selected, pointer) for selected in witness.result.agent) and not any(
        _covers(masked, pointer) or _covers(pointer, masked) for masked in witness.masked_data
    )


def _covers(outer: Pointer, inner: Pointer) -> bool:
    return inner.segments[: len(outer.segments)] == outer.segments
