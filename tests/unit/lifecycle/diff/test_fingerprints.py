"""A waiver covers one change: another one of its kind at its place has another fingerprint."""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

import pytest
from tests.unit.lifecycle.diff.comparing import compare, registered
from tests.unit.lifecycle.diff.random_schemas import edit, make_schema, make_value
from tests.unit.lifecycle.diff.test_policies import BASE, TEXT, compared, contract

import sluicegate.lifecycle.diff.policies as module
from sluicegate.contracts.contract import (
    BindRule,
    Contract,
    Effect,
    EvidenceRule,
    EvidenceWaiver,
    IdempotencyRule,
    RemovedNames,
    WebhookSignature,
)
from sluicegate.contracts.schemas.registration import register
from sluicegate.lifecycle.diff.changes import Change
from sluicegate.lifecycle.diff.comparison import ToolDiff, judge
from sluicegate.lifecycle.diff.containment import prove
from sluicegate.lifecycle.diff.definitions import Definition, compare_definitions
from sluicegate.lifecycle.diff.kinds import KINDS
from sluicegate.lifecycle.diff.selecting import find_selection_differences
from sluicegate.values.pointers import Pointer

pytestmark = pytest.mark.requirement("LIF-3")

S: Final = {"type": "string", "maxLength": 9}
I: Final = {"type": "integer"}  # noqa: E741
LONG: Final = [f"value-{number}" for number in range(20)]


def obj(properties: Any, required: list[str] | None = None, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required or [], **more}


def shut(properties: Any, required: list[str] | None = None) -> dict[str, Any]:
    return obj(properties, required, additionalProperties=False)


SCHEMAS: list[tuple[str, Any, Any, Any]] = [
    ("schema-text-changed", S, {**S, "title": "a"}, {**S, "title": "b"}),
    ("comment-changed", S, {**S, "$comment": "a"}, {**S, "$comment": "b"}),
    ("default-changed", S, {**S, "default": "a"}, {**S, "default": "b"}),
    ("rewritten", obj({"a": S}), {"allOf": [obj({"a": S})]}, {"anyOf": [obj({"a": S})]}),
    ("optional-property-added", shut({}), shut({"a": S}), shut({"a": I})),
    ("required-property-added", shut({}), shut({"a": S}, ["a"]), shut({"a": I}, ["a"])),
    ("property-added-to-open", obj({}), obj({"a": S}), obj({"a": I})),
    ("additional-changed", *(obj({}, additionalProperties=one) for one in (S, I, {"const": 1}))),
    (
        "object-opened",
        shut({"a": S}),
        obj({"a": S}),
        obj({"a": S}, additionalProperties=I),
    ),
    ("object-closed", obj({}, additionalProperties=S), shut({}), None),
    ("type-widened", I, {"type": ["integer", "null"]}, {"type": ["integer", "string"]}),
    (
        "type-narrowed",
        {"type": ["integer", "string", "null"]},
        {"type": "integer"},
        {"type": "string"},
    ),
    ("type-changed", I, {"type": "string"}, {"type": "boolean"}),
    ("enum-widened", {"enum": [*LONG[:1]]}, {"enum": LONG[:18]}, {"enum": [*LONG[:17], "x"]}),
    ("enum-narrowed", {"enum": LONG}, {"enum": LONG[:3]}, {"enum": LONG[3:6]}),
    ("enum-changed", {"const": 1}, {"const": 2}, {"const": 3}),
    ("enum-added", S, {"type": "string", "enum": LONG}, {"type": "string", "enum": LONG[:-1]}),
    ("bound-loosened", {**S, "maxLength": 2}, {**S, "maxLength": 3}, {**S, "maxLength": 4}),
    ("bound-tightened", S, {**S, "maxLength": 3}, {**S, "maxLength": 4}),
    ("constraint-added", I, {**I, "multipleOf": 2}, {**I, "multipleOf": 3}),
    ("constraint-changed", *({**I, "multipleOf": one} for one in (2, 3, 5))),
    ("pattern-added", S, {**S, "pattern": "^a$"}, {**S, "pattern": "^b$"}),
    ("pattern-changed", *({**S, "pattern": one} for one in ("^a$", "^b$", "^c$"))),
    ("format-added", S, {**S, "format": "date"}, {**S, "format": "uuid"}),
    ("format-changed", *({**S, "maxLength": 99, "format": one} for one in ("date", "uuid", "uri"))),
    ("branch-added", {"anyOf": [S]}, {"anyOf": [S, I]}, {"anyOf": [S, {"type": "null"}]}),
    (
        "branches-changed",
        {"anyOf": [{"const": 1}, {"const": 2}]},
        {"anyOf": [{"const": 1}, {"const": 4}, {"const": 5}, {"const": 2.5}][1:]},
        {"anyOf": [{"const": 1}, {"const": 6}, {"const": 7}, {"const": 3.5}][1:]},
    ),
    ("condition-added", I, {**I, "not": {"const": 5}}, {**I, "not": {"const": 6}}),
    ("condition-changed", *({**I, "not": {"const": one}} for one in (5, 6, 99))),
    (
        "items-changed",
        {"type": "array", "prefixItems": [S]},
        {"type": "array", "prefixItems": [S, I]},
        {"type": "array", "prefixItems": [S, S]},
    ),
]
"""The kind, a schema, and two that each differ from it by a change of this kind at one place."""

BACKWARDS: Final = {
    "optional-property-added": "optional-property-removed",
    "required-property-added": "required-property-removed",
    "property-added-to-open": "property-removed-from-open",
    "enum-added": "enum-removed",
    "constraint-added": "constraint-removed",
    "pattern-added": "pattern-removed",
    "format-added": "format-removed",
    "branch-added": "branch-removed",
    "condition-added": "condition-removed",
}
"""From either of the two to the schema is a change of this kind."""


def resources(*names: str) -> list[dict[str, str]]:
    return [{"type": "run", "id": f"/{name}"} for name in names]


FETCH: Final = ("fetch", {"python": {"function": "acme.jobs:state", "timeout_s": 5}})
ONE: Final = "acme.checks:one"
MOVED: Final = ("id", "state", "long")
QUOTA: Final = {"per": ["caller"], "count": 5, "window_s": 60}


Edit = tuple[str, Any]
POLICIES: list[tuple[str, list[Edit], list[Edit], list[Edit]]] = [
    ("tool-text-changed", [], [("description", "A.")], [("description", "B.")]),
    ("owner-changed", [], [("owner", "a")], [("owner", "b")]),
    (
        "resource-changed",
        [],
        [("arguments.resource", resources("other"))],
        [("arguments.resource", resources("id", "other"))],
    ),
    (
        "check-added",
        [],
        *([("arguments.checks", ["acme.checks:one", f"acme.x:{n}"])] for n in "ab"),
    ),
    (
        "check-removed",
        [("arguments.checks", [ONE, "acme.x:a", "acme.x:b"])],
        [("arguments.checks", [ONE, "acme.x:a"])],
        [("arguments.checks", [ONE, "acme.x:b"])],
    ),
    (
        "binding-changed",
        [],
        [("result.bind", {"/id": {"caller": "subject"}})],
        [("result.bind", {"/id": {"caller": "tenant"}})],
    ),
    *(
        (kind, [], *([("result.fresh.max_age_s", age)] for age in ages))
        for kind, ages in (("freshness-widened", (90, 91)), ("freshness-narrowed", (30, 31)))
    ),
    *(
        (kind, [], *([("limits.max_bytes", most)] for most in bounds))
        for kind, bounds in (("limit-raised", (5000, 5001)), ("limit-lowered", (2000, 2001)))
    ),
    (
        "endpoint-changed",
        [],
        *([("fetch.http.url", f"https://ci.example/{n}/{{/id}}")] for n in "ab"),
    ),
    ("mapping-changed", [], *([("upstream.map.state", f"/{name}")] for name in "ab")),
    ("cache-changed", [], *([("fetch.cache", {"ttl_s": ttl})] for ttl in (5, 6))),
    ("error-added", [], *([("errors.GONE", {"retryable": again})] for again in (False, True))),
    ("retry-extended", [], *([("retry.attempts", most)] for most in (3, 4))),
    ("retry-reduced", [], *([("retry.budget_s", most)] for most in (5, 6))),
    (
        "retry-extended-for-writes",
        [("effect", "write")],
        *([("effect", "write"), ("retry.attempts", most)] for most in (3, 4)),
    ),
    (
        "selected-field-moved",
        *(
            [("result.agent", ["/at"]), ("result.untrusted_text", {"t": f"/{one}"})]
            for one in MOVED
        ),
    ),
    ("host-fields-changed", [], *([("result.operator", [f"/{one}"])] for one in ("at", "long"))),
    ("mask-changed", [], *([("mask", {"arguments": [f"/{one}"]})] for one in ("id", "other"))),
    ("quota-changed", [], *([("limits.quotas", [{**QUOTA, "count": n}])] for n in (1, 2))),
    (
        "unselected-data-changed",
        [],
        *(
            [
                (
                    "result.schema.properties",
                    {**BASE["result"]["schema"]["properties"], "log": {**TEXT, "maxLength": limit}},
                )
            ]
            for limit in (5, 6)
        ),
    ),
]


ID: Final = Pointer(("id",))
PROOF: Final = EvidenceRule(
    tool="other",
    bind=(BindRule(data=ID, argument=ID),),
    where=(),
    max_age_s=60,
    once=False,
    refetch=False,
)


ONCE: Final = replace(PROOF, once=True)
KEYS: Final = [IdempotencyRule(key="derived", keep_s=each) for each in (60, 61)]


def put(**parts: Any) -> Contract:
    return replace(contract(), **parts)


def absent(value: Any) -> Contract:
    return put(arguments=replace(contract().arguments, on_absent={ID: value}))


def signed(secrets: Iterable[str], age: float = 60) -> Contract:
    signature = WebhookSignature(secrets=tuple(secrets), max_age_s=age)
    return put(upstream=replace(contract().upstream, signature=signature))


def gone(version: str) -> Contract:
    return put(removed=RemovedNames(result={Pointer(("gone",)): version}))


RECORDS: list[tuple[str, Contract, Contract, Contract]] = [
    ("absence-changed", contract(), absent(1), absent(True)),
    (
        "evidence-changed",
        contract(),
        *(put(evidence=(replace(PROOF, max_age_s=n),)) for n in (1, 2)),
    ),
    ("effect-changed", contract(), put(effect=Effect.WRITE), put(effect=Effect.DESTRUCTIVE)),
    ("idempotency-changed", contract(), *(put(idempotency=KEYS[each]) for each in (0, 1))),
    (
        "evidence-waiver-changed",
        contract(),
        *(put(evidence_waiver=EvidenceWaiver(reason=n, until="2027-01-31")) for n in "ab"),
    ),
    ("signature-widened", signed("A"), signed("AB"), signed("AC")),
    ("signature-narrowed", signed("ABC"), signed("AB"), signed("AC")),
    ("tombstone-added", contract(), gone("1.0.0"), gone("2.0.0")),
    (
        "error-removed",
        put(errors={}),
        put(errors={"GONE": True}),
        put(errors={"GONE": False}),
    ),
]
"""As the others, of records that no short document makes; ``error-removed`` is taken backwards."""


def definition(**more: Any) -> Definition:
    held = more.pop("result", None)
    written = {"name": "t", "inputSchema": {"type": "object"}, **more}
    return Definition(name="t", written=written, arguments={"type": "object"}, result=held)


DEFINITIONS: list[tuple[str, Definition, Definition, Definition]] = [
    ("annotations-changed", definition(), *(definition(_meta={"a": n}) for n in (1, 2))),
    (
        "hints-changed",
        definition(),
        definition(annotations={"readOnlyHint": "yes"}),
        definition(annotations={"readOnlyHint": "no"}),
    ),
    ("output-schema-added", definition(), *(definition(result=one) for one in (S, I))),
]

ONE_CHANGE: Final = {
    "deprecated-changed": "it is deprecated, or not",
    "property-required": "a member is required, or not",
    "property-optional": "a member is required, or not",
    "object-closed": "what was admitted is what was released",
    "schema-changed": "tested beside, as no keyword tells of it",
    "integers-narrowed": "there are two settings",
    "integers-widened": "there are two settings",
    "error-retryable-changed": "one may try again, or not",
    "selected-field-added": "tested beside, with what stands there",
    "selected-field-removed": "tested beside, with what stands there",
    "optional-selected-field-removed": "tested beside, with what stands there",
    "tool-added": "a tool is its name",
    "tool-removed": "a tool is its name",
    "output-schema-removed": "output-schema-added, backwards",
    "policy-changed": "tested beside, as every member has a kind",
    "removed-name-reused": "a name is its place; the facts say where it stood",
    "tombstone-removed": "tombstone-added, backwards",
    "tombstone-missing": "a name is its place",
    "names-not-compared": "nothing of the names is known",
    "property-renamed": "the place is that of the new name, the facts those of the old one",
}
"""Kinds of which one place knows one change, or that are tested elsewhere here, and why."""


def test_every_kind_is_tried_or_has_a_reason_not_to() -> None:
    tried = {row[0] for row in (*SCHEMAS, *POLICIES, *RECORDS, *DEFINITIONS)}
    assert tried | {*BACKWARDS.values()} | ONE_CHANGE.keys() == set(KINDS)
    assert not tried & ONE_CHANGE.keys() - {"object-closed"}


def of_kind(found: ToolDiff, kind: str) -> Change:
    (change,) = (one for one in found.changes if one.kind == kind)
    return change


def assert_apart(one: Change, other: Change, again: Change) -> None:
    assert (one.role, one.tool) == (other.role, other.tool)
    assert one.fingerprint != other.fingerprint
    assert one.fingerprint == again.fingerprint


@pytest.mark.parametrize(
    ("kind", "schema", "one", "other"),
    [pytest.param(*row, id=row[0]) for row in SCHEMAS if row[3] is not None],
)
def test_two_edits_of_a_schema_have_two_fingerprints(
    kind: str, schema: Any, one: Any, other: Any
) -> None:
    def found(new: Any) -> Change:
        return of_kind(compare(schema, new, "arguments"), kind)

    assert_apart(found(one), found(other), found(one))
    if kind in BACKWARDS:
        first, second = (
            of_kind(compare(new, schema, "arguments"), BACKWARDS[kind]) for new in (one, other)
        )
        assert first.fingerprint != second.fingerprint


@pytest.mark.parametrize(
    ("kind", "base", "one", "other"), [pytest.param(*row, id=row[0]) for row in POLICIES]
)
def test_two_edits_of_a_contract_have_two_fingerprints(
    kind: str, base: list[Edit], one: list[Edit], other: list[Edit]
) -> None:
    more = {**BASE["result"]["schema"]["properties"], "long": {**TEXT, "maxLength": 9}}
    shape: list[Edit] = (
        []
        if kind == "unselected-data-changed"
        else [("result.schema.properties", {**more, "id": more["long"], "state": more["long"]})]
    )

    def found(edits: list[Edit]) -> Change:
        return of_kind(compared(contract(*shape, *base), contract(*shape, *edits)), kind)

    assert_apart(found(one), found(other), found(one))


ARRAYS: Final = [{"type": ["null", "array"], "items": one} for one in ({"enum": [1]}, S)]
OBJECTS: Final = [shut({"a": {"enum": [1]}}), shut({"a": S}), {"type": "object"}]
UNCOMPARED: Final[list[tuple[str, Any, list[Any]]]] = [
    (
        "enum-removed",
        {"enum": ["a"]},
        [{"type": "string", "pattern": "^[ab]$"}, {"type": "string", "maxLength": 100_000}],
    ),
    ("type-changed", I, [{"type": "string", "maxLength": limit} for limit in (1, 100_000)]),
    ("type-changed", I, OBJECTS),
    ("type-changed", I, [{"anyOf": [one, {"type": "null"}]} for one in OBJECTS]),
    ("type-widened", {"type": "null"}, ARRAYS),
    ("type-widened", {"type": "null"}, [{"anyOf": [one, {"type": "null"}]} for one in OBJECTS]),
    ("type-widened", I, [{**S, "type": ["integer", "string"], "maxLength": one} for one in (1, 5)]),
    ("enum-removed", {"type": ["string", "null"], "enum": ["a", None]}, [S, {"type": "string"}]),
    ("type-narrowed", {**OBJECTS[2], "type": ["object", "string"]}, [S, {"type": "string"}]),
]
"""The kind, a schema, and others of which it knows nothing to compare by."""


@pytest.mark.parametrize(("kind", "old", "edited"), UNCOMPARED)
@pytest.mark.parametrize("nested", [False, True])
def test_what_is_not_compared_below_is_told_apart_by_its_text(
    kind: str, old: Any, edited: list[Any], *, nested: bool
) -> None:
    def put(schema: Any, about: str = "") -> Any:
        if not nested:
            return schema
        told = {"title": about} if about else {}
        return {**told, "allOf": [{**shut({"a": {**schema, **told}}), **told}]}

    def found(new: Any, about: str = "") -> Change:
        return of_kind(compare(put(old), put(new, about), "result"), kind)

    for one, other in itertools.combinations(edited, 2):
        assert_apart(found(one), found(other), found(one, "Text."))
    back = {
        one.fingerprint
        for new in edited
        for one in compare(put(new), put(old), "arguments").changes
        if one.kind.startswith(("type-", "enum-"))
    }
    assert len(back) >= len(edited)


def test_each_place_that_holds_a_true_is_told_of() -> None:
    old = obj({"a": True, "b": True})
    new = obj({"a": False, "b": False})
    found = compare(old, new, "arguments")
    assert [one.pointer for one in found.changes if one.kind == "type-changed"] == [
        "/properties/a",
        "/properties/b",
    ]


@pytest.mark.parametrize("bound", ["_MAX_DEPTH", "_MAX_PLACES"])
def test_what_was_named_answers_for_what_was_not_walked(
    bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"sluicegate.lifecycle.diff.walking.{bound}", 0)

    def found(limit: int, about: str = "a") -> Change:
        old = shut({"a": shut({"b": S})})
        new = shut({"a": shut({"b": {**S, "maxLength": limit, "title": about}}), "c": S})
        return of_kind(compare(old, new, "result"), "optional-property-added")

    assert_apart(found(20), found(30), found(20, "b"))


def test_changes_with_the_same_fingerprints_admit_the_same_values() -> None:
    rng = random.Random(20261130)
    tried = 0
    for _ in range(40):
        written = make_schema(rng)
        if isinstance(register(written, side="result", strict=False), tuple):
            continue
        known: dict[frozenset[str], list[bool]] = {}
        values = [make_value(rng) for _ in range(100)]
        for _ in range(12):
            edited = edit(rng, written) if rng.random() < 0.7 else make_schema(rng)
            if isinstance(register(edited, side="result", strict=False), tuple):
                continue
            changes = compare(written, edited, "result").changes
            takes = list(map(registered(edited).is_valid, values))
            prints = frozenset(one.fingerprint for one in changes)
            assert known.setdefault(prints, takes) == takes, (written, edited)
            tried += 1
    assert tried > 200


LOW: Final = {"enum": ["low", "high"]}
TEXT_OF_IT: Final = {"type": "string", "pattern": "^[a-z]{1,4000}$", "maxLength": 4000}


def selecting(
    sev: Any, *, agent: bool = False, text: str = "", required: bool = False, within: str = ""
) -> Contract:
    """A contract whose result has ``/sev``, given to the agent as a field or as a text."""
    place = within or "/sev"
    needed = ["id", *(["sev"] if required and not within else [])]
    properties: dict[str, Any] = {"id": TEXT, "sev": sev, "also": TEXT_OF_IT, "state": TEXT}
    if within:
        inner = shut({"sev": sev, "other": TEXT}, ["sev"] if required else [])
        properties["o"] = {**inner, "type": ["object", "null"] if required else "object"}
    return contract(
        ("result.schema", shut(properties, needed)),
        ("result.bind", None),
        ("result.fresh", None),
        ("upstream.map", None),
        ("result.agent", ["/id", *([place] if agent else [])]),
        *([("result.untrusted_text", {"t": text})] if text else []),
    )


def test_the_fingerprint_of_a_field_that_came_or_went_covers_what_stands_there() -> None:
    without = selecting(LOW)

    def added(sev: Any, **more: Any) -> str:
        found = compared(without, selecting(sev, **{"agent": True, **more}))
        return of_kind(found, "selected-field-added").fingerprint

    low, text = added(LOW), added(TEXT_OF_IT)
    assert low == added({**LOW, "description": "How bad it is."})
    made = {low, text, added({**TEXT_OF_IT, "maxLength": 9}), added(LOW, required=True)}
    made |= {added(TEXT_OF_IT, agent=False, text="/sev"), added(S, agent=False, text="/sev")}
    made |= {added(LOW, within="/o/sev"), added(LOW, within="/o/sev", required=True)}
    assert len(made) == 8
    for required, kind in (
        (True, "selected-field-removed"),
        (False, "optional-selected-field-removed"),
    ):
        gone = [
            compared(selecting(one, agent=True, required=required), selecting(one))
            for one in (LOW, TEXT_OF_IT, LOW)
        ]
        assert_apart(*(of_kind(one, kind) for one in gone))


def test_the_fingerprint_of_a_text_that_moved_covers_both_schemas() -> None:
    def moved(old: Any, new: Any) -> Change:
        pair = selecting(old, text="/sev"), selecting(new, text="/also")
        return of_kind(compared(*pair), "selected-field-moved")

    def back(new: Any) -> Change:
        pair = selecting(S, text="/also"), selecting(new, text="/sev")
        return of_kind(compared(*pair), "selected-field-moved")

    assert_apart(moved(S, S), moved(TEXT_OF_IT, S), moved(S, S))
    assert_apart(back(S), back(TEXT_OF_IT), back({**S, "title": "A text."}))


def test_the_fingerprint_of_a_field_follows_what_its_references_lead_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def added(limit: int) -> str:
        new = selecting(LOW, agent=True)
        schema: Any = copy.deepcopy(new.result.agent_schema)
        schema["properties"]["sev"] = {"allOf": [{"$ref": "#/$defs/sev"}, {"minLength": 1}]}
        schema["$defs"] = {"sev": {**TEXT_OF_IT, "maxLength": limit}}
        part = replace(new.result, agent_schema=schema)
        (found,) = find_selection_differences(selecting(LOW).result, part)
        return found.sealed

    assert added(5) != added(6)
    monkeypatch.setattr("sluicegate.lifecycle.diff.spelling._MAX_WRITTEN", 0)
    assert added(5) != added(6)


@pytest.mark.parametrize(
    ("kind", "base", "one", "other"), [pytest.param(*row, id=row[0]) for row in RECORDS]
)
def test_two_edits_of_a_record_have_two_fingerprints(
    kind: str, base: Contract, one: Contract, other: Contract
) -> None:
    def found(new: Contract) -> Change:
        pair = (new, base) if kind == "error-removed" else (base, new)
        return of_kind(compared(*pair), kind)

    assert_apart(found(one), found(other), found(one))


@pytest.mark.parametrize(
    ("kind", "base", "one", "other"), [pytest.param(*row, id=row[0]) for row in DEFINITIONS]
)
def test_two_edits_of_a_definition_have_two_fingerprints(
    kind: str, base: Definition, one: Definition, other: Definition
) -> None:
    def found(new: Definition) -> Change:
        comparison = compare_definitions(base, new)
        return of_kind(judge(comparison, [prove(p.old, p.new) for p in comparison.unproven]), kind)

    assert_apart(found(one), found(other), found(one))


def test_what_no_keyword_tells_of_is_told_apart_by_both_schemas() -> None:
    def found(limit: int) -> Change:
        old = {"type": "object", "patternProperties": {"^a": {"const": 1}}, "maxProperties": 2}
        new = {**old, "$defs": {"a": {}}, "unevaluatedProperties": {"maxLength": limit}}
        return of_kind(compare(old, new, "arguments"), "additional-changed")

    assert found(1).fingerprint != found(2).fingerprint


def test_a_member_without_a_kind_is_told_apart_by_what_it_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "find_authority_differences", lambda old, new: iter(()))

    def found(age: float) -> Change:
        new = put(evidence=(replace(PROOF, max_age_s=age),))
        return of_kind(compared(contract(), new), "policy-changed")

    assert_apart(found(1), found(2), found(1))


def test_a_definition_behind_a_reference_counts_however_much_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sluicegate.lifecycle.diff.spelling._MAX_WRITTEN", 0)

    def found(limit: int) -> Change:
        text = {"$defs": {"t": {"type": "string", "maxLength": limit}}}
        old = {**text, **obj({"a": {"not": {"$ref": "#/$defs/t"}}})}
        new = {**text, **obj({"a": {"not": {"allOf": [{"$ref": "#/$defs/t"}, {"minLength": 1}]}}})}
        return of_kind(compare(old, new, "arguments"), "condition-changed")

    assert found(5).fingerprint != found(6).fingerprint
