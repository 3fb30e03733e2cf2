"""What an operation answers with, as the result and the upstream of a contract have it.

The first success that answers with JSON is the result; where none does, the text of all of them
is. What the document declares of the chosen ones is drafted: their statuses, their media type.
Source: OpenAPI 3.0.3 and 3.1.0, sections 4.8.14, 4.8.16 and 4.8.17; RFC 9110, section 8.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sluicegate.lifecycle.importing.blueprint import Decision, Effect
from sluicegate.lifecycle.importing.statuses import (
    SUCCESS,
    ask_of_codes,
    list_successes,
    map_errors,
    number_successes,
)
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.names import show_name

_JSON: Final = "application/json"
_PLAIN: Final = "text/plain"
_ANY: Final = ("*/*", "application/*")
_TEXT: Final = re.compile(
    r"text/.+|application/(?:.+\+)?(?:xml|yaml|javascript|x-ndjson|jsonl|sql|toml|jwt|jose)"
    r"|image/svg\+xml"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """JSON among the media types of a body: what it is called, and its schema as published."""

    kind: str
    schema: JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """``result`` None: no success answers with JSON, so the answer is a text."""

    result: JsonObject | None
    upstream: JsonObject
    errors: Mapping[str, bool]
    decisions: tuple[Decision, ...]


def find_json(holder: JsonObject) -> Media | None:
    """Return the JSON of a body or answer: ``application/json`` before any ``+json``.

    A body of any media type at all counts where nothing else does, unless it is a text: generators
    write so that were not told. None where there is no JSON.
    """
    kinds = _contents(holder)
    named = [each for each in kinds if each == _JSON or each.endswith("+json")]
    chosen = _JSON if _JSON in named else next(iter(named), None)
    chosen = chosen or next(
        (each for each in _ANY if each in kinds and _is_data(kinds[each])), None
    )
    if chosen is None:
        return None
    media = kinds[chosen]
    return Media(kind=chosen, schema=media.get("schema", {}))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    """The answer that becomes the result; ``taken`` are the statuses that bring the very same."""

    result: JsonObject | None
    taken: Sequence[str]
    upstream: JsonObject
    of_upstream: Sequence[str]
    of_result: Sequence[str] = ()


def _is_data(media: JsonObject) -> bool:
    schema = media.get("schema")
    return isinstance(schema, Mapping) and bool(schema) and schema.get("type") != "string"


def read_answers(
    responses: JsonObject,
    effect: Effect,
    *,
    follow: Callable[[JsonValue], JsonObject],
    convert: Callable[[JsonValue], JsonValue],
) -> Answers:
    """Return what the declared ``responses`` make of the result and the upstream.

    ``follow`` leads along a ``$ref`` of the document, ``convert`` makes a schema draft 2020-12.
    """
    successes = list_successes(responses)
    listed = successes or [each for each in responses if each == "default"]
    answers = {status: follow(responses[status]) for status in listed}
    chosen = _choose_json(answers, convert) or _take_text(
        {each: answers[each] for each in successes}
    )
    bare = any(not _contents(answers[each]) for each in chosen.taken)
    numbers = number_successes(chosen.taken, responses, bare=bare)
    errors = map_errors(responses, effect)
    upstream = {
        **chosen.upstream,
        **({"success": list(numbers)} if numbers not in ([], [SUCCESS]) else {}),
        **({"status": dict(errors.status)} if errors.status else {}),
    }
    questions = (
        *chosen.of_upstream,
        *_ask_of_successes(successes, chosen.taken, numbers),
        *errors.decisions,
    )
    home = "upstream" if upstream else "fetch"
    return Answers(
        result=chosen.result,
        upstream=upstream,
        errors=errors.codes,
        decisions=(
            *(Decision(at="result", question=each) for each in chosen.of_result),
            *(Decision(at=home, question=each) for each in questions),
            *ask_of_codes(errors.codes),
        ),
    )


def _choose_json(
    answers: Mapping[str, JsonObject], convert: Callable[[JsonValue], JsonValue]
) -> _Chosen | None:
    """Return the first answer with JSON, by status; None where none has any."""
    media = {status: each for status, answer in answers.items() if (each := find_json(answer))}
    found = {status: convert(each.schema) for status, each in media.items()}
    schemas = {status: each for status, each in found.items() if isinstance(each, Mapping)}
    if not schemas:
        return None
    chosen, schema = next(iter(schemas.items()))
    taken = [status for status, each in schemas.items() if each == schema]
    kinds = list(dict.fromkeys(media[status].kind for status in taken))
    named = [each for each in kinds if each not in _ANY] or [_JSON]
    others = [status for status in answers if status not in taken]
    text = ""
    if chosen == "default":
        text = "no success is declared; it is that of `default`, which may tell of errors"
    elif others:
        text = (
            f"it is that of {chosen}; other answers come with {', '.join(others)}, and as it stands"
            " they are refused"
        )
    return _Chosen(
        result=schema,
        taken=[each for each in taken if each != "default"],
        upstream={} if named == [_JSON] else {"content_type": named},
        of_upstream=_ask_of_kinds(kinds, _JSON),
        of_result=[f"result.schema: {text}"] if text else [],
    )


def _take_text(answers: Mapping[str, JsonObject]) -> _Chosen:
    """Return the text that all successes answer with; one without content has an empty text."""
    kinds = list(dict.fromkeys(kind for each in answers.values() for kind in _contents(each)))
    texts = [each for each in kinds if _TEXT.fullmatch(each)]
    strange = [show_name(each) for each in kinds if each not in (*texts, *_ANY)]
    bare = [status for status, each in answers.items() if not _contents(each)]
    asks = _ask_of_kinds(kinds, _PLAIN)
    if strange:
        asks.append(
            f"upstream.content_type: {', '.join(strange)} is declared, which is no text that a"
            " contract takes; as it stands it is refused"
        )
    if bare:
        asks.append(
            f"upstream.text: {', '.join(bare)} is declared without content; the agent is told of"
            " success, with an empty text"
        )
    kind: JsonObject = {} if texts in ([], [_PLAIN]) else {"content_type": texts}
    return _Chosen(
        result=None,
        taken=list(answers),
        upstream={"text": "plain", **kind},
        of_upstream=asks,
    )


def _ask_of_kinds(kinds: Sequence[str], taken: str) -> list[str]:
    wild = [each for each in kinds if each in _ANY]
    return [f"upstream.content_type: {each} is declared, and taken for {taken}" for each in wild]


def _ask_of_successes(
    successes: Sequence[str], taken: Sequence[str], numbers: Sequence[int]
) -> Iterator[str]:
    if not successes:
        yield f"upstream.success: no success is declared, so {SUCCESS} alone is one"
    elif any(not each.isdigit() for each in taken):
        yield (
            f"upstream.success: 2XX is declared; {', '.join(map(str, numbers))} are taken, other"
            " numbers are refused"
        )


def _contents(holder: JsonObject) -> dict[str, JsonObject]:
    """Return the media types of a body in lower case and without parameters, the first of each."""
    content = holder.get("content")
    found: dict[str, JsonObject] = {}
    for name, media in content.items() if isinstance(content, Mapping) else ():
        kind = name.partition(";")[0].strip().lower()
        found.setdefault(kind, media if isinstance(media, Mapping) else {})
    return found
