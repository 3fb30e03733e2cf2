"""Whatever differs in a contract is told: each member of its record, down to the last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, Final

import pytest
from tests.unit.lifecycle.diff.comparing import registered
from tests.unit.lifecycle.diff.test_every_member import (
    COMMAND,
    FRESH,
    HOST,
    HTTP,
    JWS,
    KEY,
    PROOF,
    PYTHON,
    QUOTA,
    RFC,
    SSH,
    WEBHOOK,
)
from tests.unit.lifecycle.diff.test_policies import compared, contract

from sluicegate.contracts.contract import (
    ArgumentsPart,
    BindRule,
    CacheRule,
    Contract,
    EvidenceWaiver,
    Fingerprints,
    MapRule,
    RemovedNames,
    ResourceRule,
    ResultPart,
    TextRule,
)
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.values.pointers import Pointer

pytestmark = pytest.mark.requirement("LIF-3")

UNTOLD: Final[dict[tuple[type, str], str]] = {
    (Contract, "tool"): "two tools are not compared: one came and one went",
    (Contract, "version"): "it is held to the changes, and is none itself",
    (Contract, "fingerprints"): "they are made of all the others",
    (Contract, "source"): "a file may lie anywhere in the folder",
    (Contract, "document"): "the text that all the others were read from",
    (ResultPart, "agent_schema"): "it is made of the schema and of what is selected",
    (CompiledSchema, "validator"): "it is compiled from the document",
    (CompiledSchema, "is_valid"): "it is compiled from the document",
}
"""Members that may differ without a word, and why."""

ID, NOTE, GONE = (Pointer((name,)) for name in ("id", "note", "gone"))
INNER: Final = MapRule(
    at=ID, values={"a": 1}, other=1, has_other=True, convert="string", optional=True, every=True
)
FULL: Final = replace(
    contract(),
    title="Title",
    fetch=replace(
        HTTP,
        query={"a": "b"},
        headers={"a": "b"},
        body={"a": ID},
        credential="TOKEN",
        idempotency_header="Key",
        ca_file="ca.pem",
    ),
    cache=CacheRule(ttl_s=5),
    arguments=replace(
        contract().arguments, resources=(ResourceRule(type="run", id=ID),), on_absent={ID: 1}
    ),
    upstream=replace(
        contract().upstream,
        text=TextRule(kind="extract", pattern="a"),
        exit_code={1: "LOCKED"},
        map={"id": replace(INNER, members={"a": INNER})},
        known=frozenset({"id"}),
        tool_failed="LOCKED",
        signature=WEBHOOK,
    ),
    result=replace(
        contract().result,
        bind=(BindRule(data=ID, argument=ID, caller="tenant"),),
        fresh=FRESH,
        untrusted_text={"text": NOTE},
        operator=(NOTE,),
        display=(NOTE,),
    ),
    masked_arguments=(ID,),
    masked_data=(ID,),
    evidence_waiver=EvidenceWaiver(reason="r", until="2027-01-31"),
    removed=RemovedNames(arguments={GONE: "1.0.0"}, result={GONE: "1.0.0"}),
    evidence=(PROOF,),
    idempotency=KEY,
    quotas=(QUOTA,),
)
COMPLETE: Final = {
    "http": FULL,
    "command": replace(
        FULL,
        fetch=replace(
            COMMAND,
            stdin="arguments",
            environment=("LANG",),
            directory="here",
            credential="TOKEN",
            credential_variable="TOKEN",
        ),
        upstream=replace(FULL.upstream, signature=replace(JWS, header="signature")),
    ),
    "ssh": replace(
        FULL,
        fetch=replace(SSH, stdin="arguments", credential="KEY"),
        upstream=replace(FULL.upstream, signature=replace(RFC, tag="ci")),
    ),
    "python": replace(FULL, fetch=PYTHON),
    "host": replace(FULL, fetch=HOST),
}
"""Contracts in which every member of every record holds something."""


def alter(value: Any) -> Iterator[Any]:
    """Yield other values for one that holds no record: each differs in one thing."""
    match value:
        case bool():
            yield not value
        case Enum():
            yield next(each for each in type(value) if each is not value)
        case str():
            yield f"{value}2"
        case int() | float():
            yield value + 1
        case Pointer():
            yield Pointer((*value.segments, "other"))
        case frozenset():
            yield value | {"other" if not value or isinstance(next(iter(value)), str) else 999}
            yield from (value - {one} for one in value)
        case tuple():
            yield from ((*value[:at], *value[at + 1 :]) for at in range(len(value)))
            for at, item in enumerate(value):
                yield from ((*value[:at], other, *value[at + 1 :]) for other in alter(item))
        case Mapping():
            for name, item in value.items():
                yield {key: held for key, held in value.items() if key != name}
                yield from ({**value, name: other} for other in alter(item))
        case CompiledSchema():
            yield registered({**value.document, "maxProperties": 1})
        case None:
            return
        case _:
            assert is_dataclass(value), value
            yield from alter_record(value)


def alter_record(record: Any) -> Iterator[Any]:
    for member in fields(record):
        if (type(record), member.name) not in UNTOLD and not isinstance(record, CompiledSchema):
            held = getattr(record, member.name)
            for other in alter(held):
                yield replace(record, **{member.name: other})
            if held is not None and "None" in str(member.type):
                yield replace(record, **{member.name: None})


def records(value: Any) -> Iterator[Any]:
    """Yield every record in ``value``, itself included."""
    if is_dataclass(value) and not isinstance(value, type):
        yield value
        for member in fields(value):
            yield from records(getattr(value, member.name))
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from records(item)
    elif isinstance(value, tuple | list | frozenset):
        for item in value:
            yield from records(item)


@pytest.mark.parametrize("name", COMPLETE)
def test_every_member_that_differs_is_a_named_change(name: str) -> None:
    base = COMPLETE[name]
    silent = []
    tried = 0
    for other in alter_record(base):
        tried += 1
        if not compared(base, other).changes:
            silent.append(other)
    told = [_where(base, other) for other in silent]
    assert told == []
    assert tried > 100


def _where(one: Any, other: Any) -> Any:
    """The members in which two records differ, for a message that helps."""
    if not is_dataclass(one) or type(one) is not type(other):
        return one, other
    return {
        member.name: _where(getattr(one, member.name), getattr(other, member.name))
        for member in fields(one)
        if getattr(one, member.name) != getattr(other, member.name)
    }


def test_every_member_of_every_record_was_tried() -> None:
    held: dict[type, set[str]] = {}
    for whole in COMPLETE.values():
        for record in records(whole):
            names = held.setdefault(type(record), set())
            names |= {one.name for one in fields(record) if getattr(record, one.name) is not None}
    untried = {
        (kind.__name__, member.name)
        for kind, names in held.items()
        for member in fields(kind)
        if member.name not in names
    }
    assert untried == set()
    assert {Contract, ArgumentsPart, ResultPart, Fingerprints, MapRule} <= held.keys()


def test_true_and_one_are_two_values() -> None:
    def absent(value: Any) -> Contract:
        part = replace(contract().arguments, on_absent={ID: value})
        return replace(contract(), arguments=part)

    def mapped(value: Any) -> Contract:
        rule = MapRule(at=ID, values={"a": value})
        return replace(contract(), upstream=replace(contract().upstream, map={"id": rule}))

    for make in (absent, mapped):
        assert compared(make(1), make(True)).changes
        assert compared(make(1), make(1.0)).changes == ()


def test_a_text_that_comes_from_another_place_under_its_old_name_breaks() -> None:
    text = {"type": "string", "pattern": "^[a-z]{1,9}$", "maxLength": 9}
    properties = dict.fromkeys(("at", "a", "b"), text)
    schema = {"type": "object", "properties": properties, "required": ["at", "a", "b"]}
    result = {"schema": {**schema, "additionalProperties": False}, "agent": ["/at"]}

    def selecting(place: str) -> Contract:
        texts = {**result, "untrusted_text": {"note": place}}
        return contract(("result", texts), ("upstream.map", None))

    (change,) = compared(selecting("/a"), selecting("/b")).changes
    assert (change.kind, str(change.bump)) == ("selected-field-moved", "major")
    assert (change.old, change.new) == ("/a", "/b")
