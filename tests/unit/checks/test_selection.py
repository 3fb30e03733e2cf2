"""The selected object: exactly the declared fields, for every answer that the schema admits."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from sluicegate.checks.selection import Selected, Selector, compile_selector, select
from sluicegate.contracts.contract import ResultPart
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.projection import project
from sluicegate.contracts.schemas.registration import register
from sluicegate.values.pointers import Pointer

MARKER = "zqj-marker"
TEXT = {"type": "string", "maxLength": 40}


def closed(required: Sequence[str] = (), **properties: object) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def array(items: object) -> dict[str, object]:
    return {"type": "array", "items": items, "maxItems": 9}


def compiled(schema: object) -> CompiledSchema:
    registered = register(schema, side="result", strict=False)
    assert isinstance(registered, CompiledSchema), registered
    return registered


@dataclass(frozen=True, slots=True)
class Choice:
    """What a contract selects, compiled, with the schema it publishes."""

    part: ResultPart
    selector: Selector
    published: Draft202012Validator

    def pick(self, data: object) -> Selected:
        """Select from ``data``, which is valid; the selection fits the published schema."""
        assert self.part.schema.is_valid(data), data
        vouched: Any = data
        selected = select(vouched, self.selector)
        assert self.published.is_valid(selected[0]), (selected[0], self.part.agent_schema)
        return selected


def choose(
    schema: object,
    agent: Sequence[str],
    texts: Mapping[str, str] | None = None,
    *,
    operator: Sequence[str] = (),
    display: Sequence[str] = (),
) -> Choice | None:
    """Compile a choice of fields; None where the schema cannot be published for it."""
    document = compiled(schema)
    pointers = tuple(map(Pointer.parse, agent))
    untrusted = {name: Pointer.parse(text) for name, text in (texts or {}).items()}
    published = project(document.document, pointers, untrusted)
    if not isinstance(published, dict):
        return None
    part = ResultPart(
        schema=document,
        agent_schema=published,
        agent=pointers,
        untrusted_text=untrusted,
        operator=tuple(map(Pointer.parse, operator)),
        display=tuple(map(Pointer.parse, display)),
    )
    return Choice(part, compile_selector(part), Draft202012Validator(published, offline=True))


def pick(choice: Choice | None, data: object) -> Selected:
    assert choice is not None
    return choice.pick(data)


OWNER = closed(["login"], login=TEXT, email=TEXT)
JOB = closed(
    ["id", "rows"],
    id={"type": "integer"},
    state=TEXT,
    owner=OWNER,
    note=TEXT,
    maybe=OWNER | {"type": ["object", "null"]},
    rows=array(closed(["n"], n={"type": "integer"}, title=TEXT, tags=array(TEXT))),
)
FULL: dict[str, Any] = {
    "id": 7,
    "state": "failed",
    "owner": {"login": "ada", "email": MARKER},
    "note": "one\ntwo",
    "maybe": None,
    "rows": [{"n": 1, "title": "a", "tags": ["x"]}, {"n": 2}],
}

SELECTIONS: dict[str, tuple[list[str], object]] = {
    "nothing": ([], {}),
    "a required member": (["/id"], {"id": 7}),
    "members in the order of the contract": (["/state", "/id"], {"state": "failed", "id": 7}),
    "inside an object": (["/owner/login"], {"owner": {"login": "ada"}}),
    "a whole array": (["/rows"], {"rows": FULL["rows"]}),
    "of every item": (["/rows/*/n"], {"rows": [{"n": 1}, {"n": 2}]}),
    "of an item that has it": (["/rows/*/title"], {"rows": [{"title": "a"}, {}]}),
    "every item of every item": (["/rows/*/tags/*"], {"rows": [{"tags": ["x"]}, {}]}),
    "through null": (["/maybe/login"], {"maybe": None}),
    "several through one array": (
        ["/rows/*/n", "/id", "/rows/*/tags"],
        {"rows": [{"n": 1, "tags": ["x"]}, {"n": 2}], "id": 7},
    ),
}


@pytest.mark.requirement("RES-7")
@pytest.mark.parametrize(("agent", "data"), SELECTIONS.values(), ids=SELECTIONS)
def test_selects_exactly_the_named_fields(agent: list[str], data: object) -> None:
    selected = pick(choose(JOB, agent), FULL)
    assert selected[0] == data
    assert json.dumps(selected[0]) == json.dumps(data)  # the order of members too
    assert MARKER not in repr(selected)


@pytest.mark.requirement("RES-7")
def test_what_is_absent_in_a_valid_answer_is_absent_in_the_selection() -> None:
    bare = {"id": 7, "rows": []}
    part = choose(JOB, ["/id", "/state", "/owner/login", "/maybe/login", "/rows/*/title"])
    assert pick(part, bare)[0] == {"id": 7, "rows": []}
    assert pick(part, {**bare, "maybe": {"login": "b"}})[0] == {**bare, "maybe": {"login": "b"}}


@pytest.mark.requirement("RES-7")
def test_free_text_stands_apart_in_the_shape_of_its_arrays() -> None:
    texts = {"note": "/note", "titles": "/rows/*/title", "tags": "/rows/*/tags/*"}
    part = choose(JOB, ["/id"], texts)
    assert pick(part, FULL)[0] == {
        "id": 7,
        "untrusted_text": {"note": "one\ntwo", "titles": ["a", None], "tags": [["x"], None]},
    }
    assert pick(part, {"id": 7, "rows": []})[0] == {
        "id": 7,
        "untrusted_text": {"titles": [], "tags": []},
    }


@pytest.mark.requirement("RES-7", "RES-10")
def test_a_plain_text_reaches_the_agent_as_untrusted_text_alone() -> None:
    part = choose(closed(["text"], text=TEXT), [], {"text": "/text"})
    assert pick(part, {"text": "a\nb"})[0] == {"untrusted_text": {"text": "a\nb"}}


@pytest.mark.requirement("RES-7")
def test_operator_and_display_are_selected_beside_the_data() -> None:
    part = choose(JOB, ["/id"], operator=["/owner/email"], display=["/rows/*/title", "/note"])
    selected = pick(part, FULL)
    data, display, operator, notes = selected
    assert (data, notes) == ({"id": 7}, ())
    assert operator == {"owner": {"email": MARKER}}
    assert display == {"rows": [{"title": "a"}, {}], "note": "one\ntwo"}
    assert MARKER not in repr((data, display))
    none = pick(choose(JOB, ["/id"]), FULL)
    assert none == ({"id": 7}, None, None, ())


def test_whole_subtrees_are_moved_and_nothing_is_changed() -> None:
    before = copy.deepcopy(FULL)
    whole = pick(choose(JOB, ["/owner", "/rows"]), FULL)[0]
    assert isinstance(whole, dict)
    assert whole["rows"] is FULL["rows"]
    assert whole["owner"] is FULL["owner"]
    assert before == FULL


def test_a_closed_object_of_which_every_member_is_selected_is_moved() -> None:
    every = [f"/rows/*/{name}" for name in ("n", "title", "tags")] + ["/owner/login"]
    data = pick(choose(JOB, every), FULL)[0]
    assert isinstance(data, dict)
    assert data["rows"] is FULL["rows"]
    assert data["owner"] == {"login": "ada"}


@pytest.mark.parametrize(
    ("schema", "agent", "data", "selected"),
    [
        (array(closed(["a"], a=TEXT, b=TEXT)), ["/*/a"], [{"a": "1", "b": MARKER}], [{"a": "1"}]),
        (array(array(closed(a=TEXT, b=TEXT))), ["/*/*/a"], [[], [{"a": "1"}]], [[], [{"a": "1"}]]),
        ({"type": "integer"}, [""], 7, 7),
        (closed(**{"a/b": TEXT, "~": TEXT}), ["/a~1b"], {"a/b": "1", "~": MARKER}, {"a/b": "1"}),
        (
            closed(**{"__class__": TEXT, "document": TEXT, "'": TEXT, "": TEXT}),
            ["/__class__", "/document", "/'", "/"],
            {"__class__": "1", "document": "2", "'": "3", "": "4"},
            {"__class__": "1", "document": "2", "'": "3", "": "4"},
        ),
        (
            {
                "oneOf": [
                    closed(["k", "a"], k={"const": "A"}, a=TEXT),
                    closed(["k"], k={"const": "B"}),
                ]
            },
            ["/a"],
            {"k": "B"},
            {},
        ),
        (
            {"anyOf": [closed(["a"], a=closed(["x"], x=TEXT)), closed(["a"], a=TEXT)]},
            ["/a/x"],
            {"a": MARKER},
            {"a": None},
        ),
        (
            closed(["l"], l={"const": [{"a": "1", "b": MARKER}, "2"]}),
            ["/l/*/a"],
            {"l": [{"a": "1", "b": MARKER}, "2"]},
            {"l": [{"a": "1"}, None]},
        ),
        (
            closed(["l"], l={"enum": [["q", 7], []]}),
            ["/l/*"],
            {"l": ["q", 7]},
            {"l": ["q", 7]},
        ),
        (
            closed(["l"], l={"items": {"enum": ["x", "y"]}, "const": ["x", "y"]}),
            ["/l/*"],
            {"l": ["x", "y"]},
            {"l": ["x", "y"]},
        ),
    ],
    ids=[
        "array root",
        "nested arrays",
        "scalar root",
        "odd names",
        "names of Python",
        "one",
        "any",
        "an array that is listed",
        "arrays that are listed",
        "an array that is listed beside its items",
    ],
)
def test_selects_from_every_kind_of_schema(
    schema: object, agent: list[str], data: object, selected: object
) -> None:
    chosen = pick(choose(schema, agent), data)
    assert chosen[0] == selected
    assert MARKER not in repr(chosen[0])


@pytest.mark.parametrize(
    ("schema", "agent", "texts", "reason"),
    [
        (array(TEXT), ["/*"], {"t": "/*"}, "always an object"),
        (closed(untrusted_text=TEXT, t=TEXT), ["/untrusted_text"], {"t": "/t"}, "already bear"),
    ],
)
def test_free_text_needs_an_object_to_stand_in(
    schema: object, agent: list[str], texts: dict[str, str], reason: str
) -> None:
    part = ResultPart(
        schema=compiled(schema),
        agent_schema={},
        agent=tuple(map(Pointer.parse, agent)),
        untrusted_text={name: Pointer.parse(text) for name, text in texts.items()},
    )
    with pytest.raises(ValueError, match=reason):
        compile_selector(part)


@pytest.mark.requirement("RES-7")
@pytest.mark.parametrize(
    ("schema", "agent", "data", "selected"),
    [
        ({"oneOf": [array(TEXT), closed(a=TEXT)]}, ["/*"], {"a": MARKER}, None),
        ({"oneOf": [array(TEXT), closed(a=TEXT)]}, ["/a"], [MARKER], None),
        (
            {"type": "object", "properties": {"a": TEXT}},
            ["/a"],
            {"a": "1", "b": MARKER},
            {"a": "1"},
        ),
        ({}, ["/a/b", "/c"], {"a": MARKER, "c": 1, "d": MARKER}, {"a": None, "c": 1}),
        (True, ["/a"], [MARKER], None),
    ],
    ids=["object for array", "array for object", "open object", "any", "anything"],
)
def test_what_no_contract_could_publish_leaks_nothing_either(
    schema: Any, agent: list[str], data: object, selected: object
) -> None:
    document = compiled({"allOf": [schema]} if schema is True else schema)
    part = ResultPart(schema=document, agent_schema={}, agent=tuple(map(Pointer.parse, agent)))
    vouched: Any = data
    assert select(vouched, compile_selector(part))[0] == selected


# --- for all schemas, selections and answers ---------------------------------------------------

SCHEMAS: list[Any] = [
    JOB,
    array(JOB),
    {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "of": {"$ref": "#/$defs/of"}},
        "required": ["of"],
        "unevaluatedProperties": False,
        "anyOf": [
            {"type": "object", "properties": {"a": OWNER}, "required": ["a"]},
            {"type": "object", "properties": {"b": array(OWNER)}},
        ],
        "$defs": {"of": closed(["p"], p={"anyOf": [OWNER, {"type": "null"}, array(OWNER)]})},
    },
    {
        "oneOf": [
            closed(["k", "x"], k={"const": "A"}, x=array({"anyOf": [OWNER, TEXT]})),
            closed(["k"], k={"const": "B"}, x=OWNER, y=TEXT),
        ]
    },
]


def documents(schema: Any, root: Any) -> st.SearchStrategy[Any]:
    """Generate answers that are often valid; those that are not are left out by the test."""
    if "$ref" in schema:
        return documents(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    for union in ("oneOf", "anyOf"):
        if union in schema:
            branches = [{**schema, **branch} for branch in schema[union]]
            for branch in branches:
                branch.pop(union)
                if "properties" in branch and "properties" in schema:
                    branch["properties"] = {**schema["properties"], **branch["properties"]}
                    branch["required"] = [*schema.get("required", ()), *branch.get("required", ())]
            return st.one_of([documents(branch, root) for branch in branches])
    if "const" in schema:
        return st.just(schema["const"])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return st.one_of([_of_kind(kind, schema, root) for kind in kinds])


def _of_kind(kind: str, schema: Any, root: Any) -> st.SearchStrategy[Any]:
    if kind == "object":
        members = {name: documents(inner, root) for name, inner in schema["properties"].items()}
        required = set(schema.get("required", ()))
        return st.fixed_dictionaries(
            {name: inner for name, inner in members.items() if name in required},
            optional={name: inner for name, inner in members.items() if name not in required},
        )
    if kind == "array":
        return st.lists(documents(schema["items"], root), max_size=3)
    return {"integer": st.integers(0, 9), "null": st.none()}.get(
        kind, st.integers(0, 10**6).map(lambda number: f"{MARKER}{number}")
    )


def places(schema: Any, root: Any, at: str = "") -> set[str]:
    """Return the pointer of every place that the schema declares."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    found = {at}
    for name, inner in schema.get("properties", {}).items():
        found |= places(inner, root, f"{at}/{name}")
    if "items" in schema:
        found |= places(schema["items"], root, f"{at}/*")
    for branch in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
        found |= places(branch, root, at)
    return found


def expected(data: Any, agent: Sequence[str]) -> Any:
    """Say slowly, place by place, what a selection holds."""
    if "" in agent:
        return data
    inner: dict[str, list[str]] = {}
    for pointer in agent:
        head, _, rest = pointer[1:].partition("/")
        inner.setdefault(head, []).append(f"/{rest}" if rest else "")
    if "*" in inner:
        if not isinstance(data, list):
            return None
        return [expected(item, inner["*"]) for item in data]
    if not isinstance(data, dict):
        return None
    return {name: expected(data[name], below) for name, below in inner.items() if name in data}


def is_selectable(agent: Sequence[str]) -> bool:
    """Whether no pointer covers another, and no array's place is an object's as well."""
    pointers = [Pointer.parse(text) for text in agent]
    if any(a.covers(b) for a in pointers for b in pointers if a is not b):
        return False
    stems = {(p.segments[:n], p.segments[n]) for p in pointers for n in range(len(p.segments))}
    return not any(
        stem == other and segment == "*" != another
        for stem, segment in stems
        for other, another in stems
    )


CHOICES: dict[str, Choice | None] = {}


@st.composite
def choices(draw: st.DrawFn) -> tuple[Choice, list[str], Any]:
    number = draw(st.integers(0, len(SCHEMAS) - 1))
    schema = SCHEMAS[number]
    every = st.sampled_from(sorted(places(schema, schema)))
    agent = draw(st.lists(every, unique=True, max_size=6).filter(is_selectable))
    key = f"{number} {agent}"
    if key not in CHOICES:
        CHOICES[key] = choose(schema, agent)
    choice = CHOICES[key]
    assume(choice is not None)
    assert choice is not None
    data = draw(documents(schema, schema))
    assume(choice.part.schema.is_valid(data))
    return choice, agent, data


@pytest.mark.requirement("RES-7", "ENV-2")
@settings(max_examples=150)
@given(choices())
def test_a_selection_is_what_the_pointers_say_and_holds_no_text_beside(
    drawn: tuple[Choice, list[str], Any],
) -> None:
    choice, agent, data = drawn
    before = json.dumps(data)
    selected = choice.pick(data)[0]
    assert selected == expected(data, agent)
    assert json.dumps(data) == before
    named = [found for pointer in choice.part.agent for _, found in pointer.every(data)]
    assert set(leaves(selected)) <= {text for found in named for text in leaves(found)}


def leaves(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    members = (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    )
    return [text for member in members for text in leaves(member)]
