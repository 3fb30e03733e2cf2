"""Where the requests of an operation go: the server that its document names.

A host that no document names is never made up: where there is none, the draft has a path alone,
which no contract takes. Source: OpenAPI 3.0.3 and 3.1.0, sections 4.8.5 and 4.8.6.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sluicegate.lifecycle.importing.blueprint import Decision
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.names import show_name, show_sentence

_ORIGIN: Final = re.compile(r"https?://[^/?#{}\s@]+(/[^?#{}\s]*)?", re.IGNORECASE)
_AUTHORITY: Final = re.compile(r"(?:[^/?#]*://)?[^/?#]*")
_IN_HOST: Final = re.compile(r"[A-Za-z0-9.:-]*")
_VARIABLE: Final = re.compile(r"\{([^{}]+)\}")
_PATH: Final = re.compile(r"(?:[^/?#]*://[^/?#]*)?(/[^?#{}\s]*)")
_MAX_NAMED: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """``url`` is what stands before the path: an origin and perhaps a path, or a path alone."""

    url: str
    decisions: tuple[Decision, ...]


def find_address(holders: Sequence[JsonObject]) -> Address:
    """Return the first server with an origin, its variables at their defaults.

    ``holders`` are the operation, its path item and the document: the first that lists servers
    counts alone. Where no server has an origin, a decision that no default can stand for.
    """
    listed = next((found for each in holders if (found := each.get("servers"))), None)
    servers = [each for each in _items(listed) if isinstance(each, Mapping)]
    resolved = [(each, _resolve(each)) for each in servers]
    chosen = next((pair for pair in resolved if _ORIGIN.fullmatch(pair[1])), None)
    if chosen is None:
        return _without_origin([_url(each) for each in servers], [text for _, text in resolved])
    server, text = chosen
    decisions = list(_ask_of_variables(server))
    others = [_url(each) for each in servers if each is not server]
    if others:
        of = show_sentence(_url(server))
        decisions.append(_ask(f"it is that of {of}; the document also names {_list(others)}"))
    return Address(url=text.rstrip("/"), decisions=tuple(decisions))


def _without_origin(servers: list[str], resolved: list[str]) -> Address:
    if not servers:
        why = "the document names no server"
    elif all("://" not in each for each in servers):
        why = f"{_list(servers)} is relative to where the document lies"
    else:
        why = f"no constant origin comes of {_list(servers)}"
    path = next((found[1] for each in resolved if (found := _PATH.fullmatch(each))), "")
    question = f"{why}; write the scheme and host before the path"
    return Address(url=path.rstrip("/"), decisions=(_ask(question, blocks=True),))


def _resolve(server: JsonObject) -> str:
    """Return the URL with each variable at its default; one without a default stays a variable."""
    variables = _variables(server)

    authority = _AUTHORITY.match(_url(server))
    within = 0 if authority is None else authority.end()

    def default(found: re.Match[str]) -> str:
        value = variables.get(found[1], {}).get("default")
        if not isinstance(value, str | int) or isinstance(value, bool):
            return found[0]
        # A default with a slash would end the host where its author went on with it.
        is_whole = found.start() >= within or _IN_HOST.fullmatch(str(value)) is not None
        return str(value) if is_whole else found[0]

    return _VARIABLE.sub(default, _url(server))


def _ask_of_variables(server: JsonObject) -> Iterator[Decision]:
    variables = _variables(server)
    for name in _VARIABLE.findall(_url(server)):
        default, listed = variables[name].get("default"), variables[name].get("enum")
        others = [str(each) for each in _items(listed) if each != default]
        text = f"{show_name(name)} of the server is {show_name(str(default))} by default"
        yield _ask(f"{text}; or {_list(others)}" if others else text)


def _variables(server: JsonObject) -> dict[str, JsonObject]:
    found = server.get("variables")
    known = found.items() if isinstance(found, Mapping) else ()
    return {name: each for name, each in known if isinstance(each, Mapping)}


def _url(server: JsonObject) -> str:
    url = server.get("url")
    return url if isinstance(url, str) else ""


def _items(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _list(texts: Sequence[str]) -> str:
    shown = ", ".join(show_sentence(each) or "an empty URL" for each in texts[:_MAX_NAMED])
    rest = len(texts) - _MAX_NAMED
    return f"{shown} and {rest} more" if rest > 0 else shown


def _ask(text: str, *, blocks: bool = False) -> Decision:
    return Decision(at="fetch", question=f"fetch.http.url: {text}", blocks=blocks)
