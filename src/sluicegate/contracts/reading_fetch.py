"""``fetch`` → one adapter's constants, and the cache around it (SPEC 2, ADP-1 to ADP-5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from sluicegate.contracts.contract import (
    CacheRule,
    CommandFetch,
    Fetch,
    HostFetch,
    HttpFetch,
    PythonFetch,
)
from sluicegate.contracts.headers import GATE_HEADERS, SECRET_HEADERS
from sluicegate.contracts.naming import PythonNames
from sluicegate.contracts.near_names import read_choice, read_members
from sluicegate.contracts.placeholders import has_placeholder, read_placeholders, read_url
from sluicegate.contracts.places import Place
from sluicegate.contracts.reach import Side
from sluicegate.contracts.reading_adapter import (
    read_constant,
    read_credential,
    read_declared_timeout,
    read_timeout,
)
from sluicegate.contracts.reading_paths import read_path
from sluicegate.contracts.reading_ssh import read_ssh
from sluicegate.values.pointers import Pointer

_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
_HEADER: Final = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}"
_HEADER_TEXT: Final = r"[\x20-\x7e]{1,2000}"
_CREDENTIAL_HEADER: Final = "Authorization"
_NO_ONE: Final = "not the contract's to set"
_VARIABLE: Final = r"[A-Za-z_][A-Za-z0-9_]*"
_FORMS: Final = ("http", "command", "ssh", "python", "host")
_MAX_REDIRECTS: Final = 10


@dataclass(frozen=True, slots=True)
class Fetching:
    """How the answer is obtained."""

    fetch: Fetch
    cache: CacheRule | None


def read_fetch(place: Place | None, arguments: Side, names: PythonNames) -> Fetching:
    """Return the adapter that ``fetch`` names; exactly one, with a cache around it or not."""
    nothing = Fetching(HostFetch(), None)
    members = read_members(place, "fetch") if place is not None else None
    if place is None or members is None:
        return nothing
    cache = _read_cache(members["cache"]) if "cache" in members else None
    forms = [form for form in _FORMS if form in members]
    named = len(forms) + ("mcp" in _mapping(place))
    if named != 1:
        place.fault(
            f"`fetch` names {named} adapters, and must name exactly one.",
            f"Keep one of {', '.join(_FORMS)}.",
            at_key=True,
        )
    if not forms:
        return nothing
    read = {"http": _read_http, "command": _read_command, "ssh": read_ssh, "host": _read_host}
    form, inner = forms[0], members[forms[0]]
    fetch = _read_python(inner, names) if form == "python" else read[form](inner, arguments)
    return Fetching(fetch or HostFetch(), cache)


def _mapping(place: Place) -> Mapping[str, object]:
    return place.value if isinstance(place.value, Mapping) else {}


def _read_cache(place: Place) -> CacheRule | None:
    members = read_members(place, "cache", ("ttl_s",))
    if members is None or "ttl_s" not in members:
        return None
    ttl = members["ttl_s"].number(0, 86_400)
    entries = members["max_entries"].integer(1, 1_000_000) if "max_entries" in members else None
    if ttl is None:
        return None
    return CacheRule(ttl_s=ttl, max_entries=1024 if entries is None else entries)


# --- http --------------------------------------------------------------------------------------


def _read_http(place: Place, arguments: Side) -> HttpFetch | None:
    members = read_members(place, "http", ("method", "url", "timeout_s"))
    if members is None:
        return None
    method = _read_method(members["method"]) if "method" in members else None
    url = read_url(members["url"], arguments) if "url" in members else None
    body = _read_body(members["body"], arguments) if "body" in members else None
    if body is not None and method == "GET":
        members["body"].fault(
            "a GET request has no body.", "Use `query`, or another method.", at_key=True
        )
    for key in ("credential_header", "credential_prefix"):
        if key in members and "credential" not in members:
            members[key].fault(
                f"`{key}` stands without a `credential`.", "Name the credential.", at_key=True
            )
    if "ca_file" in members and url is not None and not url.startswith("https:"):
        members["ca_file"].fault(
            "`ca_file` stands beside a URL without TLS, and checks nothing.",
            "Write an https:// URL, or remove it.",
            at_key=True,
        )
    credential_header, idempotency_header, headers = _read_all_headers(members)
    redirects = members["redirects"].integer(0, _MAX_REDIRECTS) if "redirects" in members else None
    return HttpFetch(
        method=method or "GET",
        url=url or "",
        timeout_s=read_timeout(members),
        query=_read_query(members.get("query"), arguments),
        headers=headers,
        body=body,
        credential=read_credential(members),
        credential_header=credential_header,
        credential_prefix=_read_prefix(members.get("credential_prefix")),
        redirects=redirects or 0,
        idempotency_header=idempotency_header,
        ca_file=read_path(members, "ca_file"),
    )


def _read_method(place: Place) -> str | None:
    if place.value == "HEAD":
        place.fault("HEAD is answered without a body, and so without data.", "Write GET.")
        return None
    return read_choice(place, _METHODS)


def _read_prefix(place: Place | None) -> str:
    if place is None:
        return "Bearer "
    if place.value == "":
        return ""
    return place.text(r"[\x20-\x7e]{1,100}", "a text that stands before the secret") or ""


def _read_query(place: Place | None, arguments: Side) -> dict[str, str]:
    entries = place.entries() if place is not None else None
    query = {}
    for name, inner in (entries or {}).items():
        text = inner.text(wanted="a constant or {/pointer}")
        if text is not None:
            read_placeholders(inner, arguments, required=False)
            query[name] = text
    return query


# --- headers -----------------------------------------------------------------------------------


def _read_all_headers(
    members: Mapping[str, Place],
) -> tuple[str, str | None, dict[str, str]]:
    """Return the header of the credential, that of the idempotency key, and the constant ones.

    Each name has one writer: ``taken`` maps a name in lower case to who writes it.
    """
    taken: dict[str, str] = {}
    credential = _read_header_name(members, "credential_header", taken, GATE_HEADERS)
    if "credential" in members:
        taken.setdefault((credential or _CREDENTIAL_HEADER).lower(), "the header of `credential`")
    idempotency = _read_header_name(
        members, "idempotency_header", taken, GATE_HEADERS | SECRET_HEADERS
    )
    headers = _read_headers(members.get("headers"), taken)
    return credential or _CREDENTIAL_HEADER, idempotency, headers


def _read_header_name(
    members: Mapping[str, Place], key: str, taken: dict[str, str], refused: frozenset[str]
) -> str | None:
    name = read_constant(members, key, _HEADER, "the name of a header")
    if name is not None:
        writer = _NO_ONE if name.lower() in refused else taken.get(name.lower())
        if writer is not None:
            members[key].fault(f"the header `{name}` is {writer}.", "Name another header.")
        taken.setdefault(name.lower(), f"the header of `{key}`")
    return name


def _read_headers(place: Place | None, taken: dict[str, str]) -> dict[str, str]:
    entries = place.entries() if place is not None else None
    headers: dict[str, str] = {}
    for name, inner in (entries or {}).items():
        if not inner.is_named(_HEADER):
            inner.fault("this is not the name of a header.", "Write one.", at_key=True)
        elif name.lower() in GATE_HEADERS | SECRET_HEADERS:
            inner.fault(
                f"the header `{name}` is {_NO_ONE}.",
                "Remove it; a secret is named under `credential`.",
                at_key=True,
            )
        elif name.lower() in taken:
            inner.fault(
                f"the header `{name}` is {taken[name.lower()]} already.",
                "Keep one of them; case makes no difference.",
                at_key=True,
            )
        else:
            taken[name.lower()] = f"set as `{name}`"
        text = inner.text(_HEADER_TEXT, "a constant text of printable ASCII")
        if text is not None and has_placeholder(text):
            inner.fault("a header is constant.", "Put the argument into `query` or `body`.")
        headers[name] = text or ""
    return headers


# --- the body ----------------------------------------------------------------------------------


def _read_body(
    place: Place, arguments: Side
) -> Literal["arguments"] | Mapping[str, Pointer] | None:
    if place.value == "arguments":
        return "arguments"
    if isinstance(place.value, str):
        place.fault("`body` is neither `arguments` nor a mapping.", "Write `body: arguments`.")
        return None
    body = {}
    for name, inner in (place.entries() or {}).items():
        pointer = arguments.read(inner)
        if pointer is not None:
            if pointer.is_wild:
                inner.fault("a member of the body is one value.", "Name the array itself.")
            body[name] = pointer
    return body


# --- the others --------------------------------------------------------------------------------


def _read_command(place: Place, arguments: Side) -> CommandFetch | None:
    members = read_members(place, "command", ("argv", "timeout_s"))
    if members is None:
        return None
    argv = _read_argv(members["argv"], arguments) if "argv" in members else ()
    stdin: Literal["arguments"] | None = None
    if "stdin" in members and members["stdin"].one_of(("arguments",)) is not None:
        stdin = "arguments"
    variable = read_constant(members, "credential_variable", _VARIABLE, "the name of a variable")
    if ("credential" in members) != ("credential_variable" in members):
        place.fault(
            "`credential` and `credential_variable` stand together.",
            "Name the secret, and the variable that the program finds it in.",
            at_key=True,
        )
    environment: tuple[str, ...] = ()
    if "environment" in members:
        environment = members["environment"].texts(_VARIABLE, "the name of a variable")
    return CommandFetch(
        argv=argv,
        timeout_s=read_timeout(members),
        stdin=stdin,
        environment=environment,
        directory=read_path(members, "directory"),
        credential=read_credential(members),
        credential_variable=variable,
    )


def _read_argv(place: Place, arguments: Side) -> tuple[str, ...]:
    argv = []
    items = place.items()
    for index, item in enumerate(items or ()):
        if not isinstance(item.value, str) or "\0" in item.value:
            item.fault("an element of `argv` must be a text.", "Put it into quotation marks.")
            continue
        if index == 0 and has_placeholder(item.value):
            item.fault("no argument may choose the program.", "Write the program as a constant.")
        elif index == 0 and "/" in item.value and not item.value.startswith("/"):
            item.fault(
                "the program is named by a relative path.",
                "Write its bare name, or its absolute path.",
            )
        read_placeholders(item, arguments, required=True)
        argv.append(item.value)
    if items is not None and (not items or items[0].value == ""):
        place.fault("`argv` names no program.", "Write [program, argument, …].")
    return tuple(argv)


def _read_python(place: Place, names: PythonNames) -> PythonFetch | None:
    members = read_members(place, "python", ("function", "timeout_s"))
    if members is None:
        return None
    function = names.read_function(members["function"]) if "function" in members else None
    timeout_s = read_timeout(members)
    return None if function is None else PythonFetch(function=function, timeout_s=timeout_s)


def _read_host(place: Place, arguments: Side) -> HostFetch | None:
    members = read_members(place, "host")
    return None if members is None else HostFetch(timeout_s=read_declared_timeout(members))
