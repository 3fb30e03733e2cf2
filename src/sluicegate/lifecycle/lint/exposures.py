"""E05 to E10: what reaches the agent that should not, and what no question is compared with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from sluicegate.contracts.schemas.formulas import holds, is_enumerated
from sluicegate.contracts.schemas.keywords import is_false, schema_at, schema_map
from sluicegate.contracts.schemas.reach import find_subschemas
from sluicegate.lifecycle.lint.findings import WORD, Example, Hit, Rule, closed, shown
from sluicegate.lifecycle.lint.naming import OBSERVATION_TIMES, is_prose_name, is_secret_name
from sluicegate.lifecycle.lint.shapes import fixes_host, is_shape, is_shaped
from sluicegate.lifecycle.lint.sheet import Place, Sheet
from sluicegate.lifecycle.lint.subject import Surroundings
from sluicegate.values.json import JsonObject
from sluicegate.values.names import show_name
from sluicegate.values.pointers import Pointer, join_segments

_URLS: Final = frozenset({"uri", "uri-reference", "iri", "iri-reference"})


def _reaches_agent(sheet: Sheet, place: Place) -> bool:
    selected = sheet.subject.around.selected
    if sheet.subject.side == "arguments" or selected is None:
        return True
    return any(_lie_together(pointer.segments, place.path) for pointer in selected)


def _lie_together(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def find_free_text(sheet: Sheet) -> Iterator[Hit]:
    """E05: texts, and the member names of maps."""
    for place in sheet.places:
        if not _reaches_agent(sheet, place):
            continue
        if Pointer(place.path) in sheet.subject.around.untrusted:
            continue
        yield from _find_free_names(sheet, place)
        if not place.admits("string") or place.is_listed:
            continue
        if is_prose_name(place.name):
            yield Hit(
                place.pointer,
                f"`{show_name(place.name or '')}` is prose that somebody else wrote.",
            )
        elif not place.always("string", is_shaped):
            yield Hit(place.pointer, "a text of any content.")


def _find_free_names(sheet: Sheet, place: Place) -> Iterator[Hit]:
    """Names that the sender of a map chooses reach the agent as its values do."""
    if not place.admits("object") or place.is_listed:
        return
    for schema in place.schemas():
        at = sheet.place_of(schema)
        names = schema_at(schema, "propertyNames")
        if at is not None and isinstance(names, Mapping) and _takes_any_name(sheet, names):
            yield Hit(
                join_segments((*at, "propertyNames")), "the sender writes any text as a name."
            )
        for pattern, inner in schema_map(schema, "patternProperties").items():
            if at is not None and not is_false(inner) and not is_shape(pattern):
                yield Hit(
                    join_segments((*at, "patternProperties", pattern)),
                    "the sender writes any text as a name.",
                )


def _takes_any_name(sheet: Sheet, names: JsonObject) -> bool:
    formula = sheet.composition.of(names)
    return not holds(
        formula,
        lambda schema: isinstance(schema, Mapping) and (is_enumerated(schema) or is_shaped(schema)),
    )


def is_free_text(place: Place, name: str | None) -> bool:
    """Whether texts of strangers may stand at ``place``, which its parent calls ``name`` (E05)."""
    if not place.admits("string") or place.is_listed:
        return False
    return is_prose_name(name) or not place.always("string", is_shaped)


def find_secrets(sheet: Sheet) -> Iterator[Hit]:
    """E06: a text so named, or one in a list or a map so named."""
    for place in sheet.places:
        name = place.known_as
        if (
            name is not None
            and place.admits("string")
            and not place.is_listed
            and is_secret_name(name)
            and _reaches_agent(sheet, place)
        ):
            yield Hit(place.pointer, f"`{show_name(name)}` reads like a secret.")


def find_open_urls(sheet: Sheet) -> Iterator[Hit]:
    """E07."""
    for place in sheet.places:
        if (
            any(schema.get("format") in _URLS for schema in place.schemas())
            and not place.always("string", _fixes_host)
            and _reaches_agent(sheet, place)
        ):
            yield Hit(place.pointer, "the URL may lead to any host.")


def _fixes_host(schema: JsonObject) -> bool:
    pattern = schema.get("pattern")
    return isinstance(pattern, str) and fixes_host(pattern)


def find_strange_selections(sheet: Sheet) -> Iterator[Hit]:
    """E08."""
    for pointer in sorted(sheet.subject.around.selected or (), key=lambda each: each.text):
        found = find_subschemas(sheet.document, pointer)
        if not found.exists:
            yield Hit(
                "", f"`{show_name(pointer.text)}` is selected, and the schema has no such place."
            )
        elif not found.required:
            yield Hit(
                "",
                f"`{show_name(pointer.text)}` is selected, and may be absent.",
                "Require it, so that the agent always sees the same members.",
                "warning",
            )


def find_loose_times(sheet: Sheet) -> Iterator[Hit]:
    """E09."""
    around = sheet.subject.around
    for place in sheet.places:
        if place.name not in OBSERVATION_TIMES or not (place.types & {"string", "number"}):
            continue
        if not place.always("string", lambda schema: schema.get("format") == "date-time"):
            yield Hit(place.pointer, "the time of observation is no date-time.")
        elif around.of_contract and around.fresh is None:
            yield Hit(place.pointer, "nothing says how old the observation may be.")


def find_unbound(sheet: Sheet) -> Iterator[Hit]:
    """E10."""
    around = sheet.subject.around
    for pointer, name in sorted(around.identifying.items(), key=lambda item: item[0].text):
        if pointer not in around.echoed:
            yield Hit("", f"`{show_name(name)}` is asked for, and no answer is compared with it.")


_URL: Final[JsonObject] = {"type": "string", "format": "uri", "maxLength": 99}
_TIME: Final[JsonObject] = {"type": "string", "format": "date-time", "maxLength": 35}
_A: Final = Pointer(("a",))
_RUN: Final = Pointer(("run_id",))

RULES: Final = (
    Rule(
        id="E05",
        name="free-text",
        arguments="info",
        result="error",
        what="A text of a result without enum, const, or a pattern or format that keeps sentences "
        "out; one named message, detail, reason and the like, however it is spelt; a map whose "
        "names are such texts. What is declared in `untrusted_text` is left out.",
        why="It is the way by which instructions of strangers reach a model.",
        mend="Give it a shape, leave it out of `agent`, or declare it in `untrusted_text`.",
        good=shown({"enum": ["open", "closed"]}),
        bad=shown({"type": "string", "maxLength": 2000}, "message"),
        check=find_free_text,
    ),
    Rule(
        id="E06",
        name="secret-name",
        arguments="warning",
        result="error",
        what="A member, or a list, named token, password, api_key, x-api-key, secretKey and the "
        "like.",
        why="What reaches a model can be asked out of it.",
        mend="Let the gate hold the credential; leave the member out.",
        good=shown({"type": "string", "pattern": "^[a-z]{1,9}$"}, "page_token"),
        bad=shown({"type": "string", "pattern": "^[a-z]{1,9}$"}, "api_key"),
        check=find_secrets,
    ),
    Rule(
        id="E07",
        name="url-open",
        arguments=None,
        result="warning",
        what="A URL in a result without a pattern that fixes its host; `^https://ci\\.example.*$` "
        "takes `https://ci.example.other.org` too.",
        why="A model that opens it tells any host what it knows.",
        mend="Add a `pattern` that begins with `^https://HOST/`.",
        good=shown({**_URL, "pattern": "^https://ci\\.example/[a-z]{1,20}$"}),
        bad=shown(_URL),
        check=find_open_urls,
    ),
    Rule(
        id="E08",
        name="select-mismatch",
        arguments=None,
        result="error",
        what="A selected member that the schema does not have; a warning where it may be absent.",
        why="What the agent sees is then not defined.",
        mend="Select what the schema declares, and require it.",
        good=shown(WORD, around=Surroundings(of_contract=True, selected=frozenset({_A}))),
        bad=shown(WORD, "b", around=Surroundings(of_contract=True, selected=frozenset({_A}))),
        check=find_strange_selections,
    ),
    Rule(
        id="E09",
        name="time",
        arguments=None,
        result="warning",
        what="An `observed_at` that is no date-time, or a contract that sets no age for it.",
        why="An old answer looks like a new one.",
        mend="Write `format: date-time`, and `result.fresh`.",
        good=shown(_TIME, "observed_at"),
        bad=shown(WORD, "observed_at"),
        check=find_loose_times,
    ),
    Rule(
        id="E10",
        name="identity",
        arguments=None,
        result="warning",
        what="An identifier among the arguments that `result.bind` does not compare.",
        why="The answer may be about something else than what was asked for.",
        mend="Echo it in the result, and bind it.",
        good=Example(
            schema=closed({"run_id": WORD}),
            around=Surroundings(
                of_contract=True, identifying={_RUN: "run_id"}, echoed=frozenset({_RUN})
            ),
        ),
        bad=Example(
            schema=closed({"a": WORD}),
            around=Surroundings(of_contract=True, identifying={_RUN: "run_id"}),
        ),
        check=find_unbound,
    ),
)
