"""E05 to E10: what reaches the agent that should not, and what no question is compared with."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sluicegate.contracts.schemas.reach import find_subschemas
from sluicegate.lifecycle.lint.findings import WORD, Example, Hit, Rule, closed, shown
from sluicegate.lifecycle.lint.sheet import Place, Sheet
from sluicegate.lifecycle.lint.subject import Surroundings
from sluicegate.values.json import JsonObject
from sluicegate.values.names import show_name
from sluicegate.values.pointers import Pointer

_PROSE: Final = frozenset(
    {
        *("message", "detail", "details", "description", "stderr", "stdout", "html", "reason"),
        *("error_message", "traceback", "stack", "log", "logs", "comment", "body", "note"),
    }
)
_SECRET: Final = re.compile(
    r"(?:.*_)?(?:password|passwd|passphrase|secret|api_?key|access_?key|private_?key|credentials?"
    r"|authorization|bearer|cookie|session_?token|access_?token|refresh_?token|auth_?token|token)",
    re.ASCII | re.IGNORECASE,
)
_NO_SECRET: Final = re.compile(
    r".*(?:page|continuation|cursor|next|sync).?token", re.ASCII | re.IGNORECASE
)
_TIMES: Final = frozenset({"observed_at", "as_of", "fetched_at", "retrieved_at", "sampled_at"})
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
    """E05."""
    for place in sheet.places:
        if not place.admits("string") or place.is_listed or not _reaches_agent(sheet, place):
            continue
        if Pointer(place.path) in sheet.subject.around.untrusted:
            continue
        if _is_prose(place.name):
            yield Hit(
                place.pointer,
                f"`{show_name(place.name or '')}` is prose that somebody else wrote.",
            )
        elif not place.always("string", _is_shaped):
            yield Hit(place.pointer, "a text of any content.")


def is_free_text(place: Place, name: str | None) -> bool:
    """Whether texts of strangers may stand at ``place``, which its parent calls ``name`` (E05)."""
    if not place.admits("string") or place.is_listed:
        return False
    return _is_prose(name) or not place.always("string", _is_shaped)


def _is_prose(name: str | None) -> bool:
    return name is not None and name.lower() in _PROSE


def is_secret_name(name: str) -> bool:
    """Whether ``name`` reads like that of a secret (E06)."""
    return _SECRET.fullmatch(name) is not None and _NO_SECRET.fullmatch(name) is None


def _is_shaped(schema: JsonObject) -> bool:
    return isinstance(schema.get("pattern"), str) or isinstance(schema.get("format"), str)


def find_secrets(sheet: Sheet) -> Iterator[Hit]:
    """E06."""
    for place in sheet.places:
        name = place.name
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
            and not place.always("string", lambda schema: isinstance(schema.get("pattern"), str))
            and _reaches_agent(sheet, place)
        ):
            yield Hit(place.pointer, "the URL may lead to any host.")


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
        if place.name not in _TIMES or not (place.types & {"string", "number"}):
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
        what="A text of a result without enum, const, pattern or format, or named message, "
        "detail, reason and the like, that is not declared in `untrusted_text`.",
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
        what="A member named token, password, api_key and the like.",
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
        what="A URL in a result without a pattern that fixes its host.",
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
