"""``upstream`` → what is received and how it is taken apart (SPEC 2, RES-1, RES-3, RES-10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, cast, get_args

from sluicegate.contracts.contract import Fetch, HttpFetch, MapRule, TextRule, UpstreamPart
from sluicegate.contracts.extraction import compile_extraction
from sluicegate.contracts.near_names import read_members
from sluicegate.contracts.places import Place
from sluicegate.contracts.quoting import is_quotable, quote_text, show_member
from sluicegate.contracts.reading_signature import read_signature
from sluicegate.values.codes import AgentCode
from sluicegate.values.json import JsonValue
from sluicegate.values.names import find_near, show_name
from sluicegate.values.pointers import Pointer

Convert = Literal["integer", "number", "string", "boolean", "epoch_s", "epoch_ms"]

_STATUS: Final = r"[1-5](?:[0-9][0-9]|xx)"
_EXIT: Final = r"0|[1-9][0-9]{0,2}"
_MEDIA_TYPE: Final = r"[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+"
_REVISION: Final = r"20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
_MAX_RULES: Final = 1000
_MAX_PLAIN: Final = 100_000
_DEFAULT: Final = UpstreamPart()


def read_upstream(
    place: Place | None, errors: Mapping[str, bool] | None, fetch: Fetch
) -> UpstreamPart:
    """Return the upstream's part. ``errors`` are the codes that a status can be mapped to; None
    where they are not known."""
    members = read_members(place, "upstream") if place is not None else None
    if place is None or members is None:
        return _DEFAULT
    carrier, revision = _read_carrier(place, members)
    text = _read_text(members["text"]) if "text" in members else None
    if text is not None and carrier == "envelope":
        members["text"].fault("an envelope holds no declared text.", "Remove `text`.", at_key=True)
    if "on_new" in members and members["on_new"].value == "refuse" and "known" not in members:
        members["on_new"].fault(
            "without `known` no member is new, and nothing would be refused.",
            "Name `known`: the pointers of all members that the provider sends today.",
            at_key=True,
        )
    success = _read_numbers(members.get("success"), 100, 599, _DEFAULT.success_status)
    status = _read_codes(members.get("status"), errors, _STATUS, "a status such as 404 or 5xx")
    exits = _read_codes(members.get("exit"), errors, _EXIT, "an exit code from 0 to 255")
    success_exit = _read_numbers(members.get("success_exit"), 0, 255, _DEFAULT.success_exit)
    for key, taken in (("status", success), ("exit", success_exit)):
        for name in sorted({str(number) for number in taken} & (status.keys() | exits.keys())):
            if name in (status if key == "status" else exits):
                members[key].follow(name).fault(
                    f"`{name}` is a success and an error.", "Keep one of them.", at_key=True
                )
    return UpstreamPart(
        carrier=carrier,
        text=text,
        status=status,
        exit_code={int(name): code for name, code in exits.items()},
        success_status=success,
        success_exit=success_exit,
        content_type=_read_media_types(members.get("content_type"), text, fetch),
        map=_read_map(members["map"]) if "map" in members else None,
        known=_read_known(members["known"]) if "known" in members else None,
        on_new=cast(
            'Literal["notify", "refuse"]',
            (members["on_new"].one_of(("notify", "refuse")) if "on_new" in members else None)
            or "notify",
        ),
        tool_failed=_read_code(members["tool_failed"], errors)
        if "tool_failed" in members
        else None,
        mcp_version=revision,
        signature=read_signature(members["signature"], fetch) if "signature" in members else None,
    )


# --- the carrier and its text ------------------------------------------------------------------


def _read_carrier(
    place: Place, members: Mapping[str, Place]
) -> tuple[Literal["bare", "envelope", "mcp"], str]:
    envelope = members["envelope"].boolean() if "envelope" in members else None
    is_mcp, revision = False, _DEFAULT.mcp_version
    if "mcp" in members:
        inner = members["mcp"]
        if isinstance(inner.value, bool):
            is_mcp = inner.value
        else:
            is_mcp = True
            version = (read_members(inner, "mcp", ("version",)) or {}).get("version")
            revision = (
                version.text(_REVISION, "a revision such as 2025-11-25") if version else None
            ) or revision
    if envelope and is_mcp:
        place.fault("`envelope` and `mcp` exclude each other.", "Keep one of them.", at_key=True)
    if "tool_failed" in members and not is_mcp:
        members["tool_failed"].fault(
            "`tool_failed` speaks of an MCP result.",
            "Write `mcp: true`, or remove it.",
            at_key=True,
        )
    return ("envelope" if envelope else "mcp" if is_mcp else "bare"), revision


def _read_text(place: Place) -> TextRule | None:
    if isinstance(place.value, str):
        kind = place.one_of(("json", "plain"))
        return TextRule(kind=cast('Literal["json", "plain"]', kind)) if kind else None
    members = read_members(place, "text")
    if members is None:
        return None
    if len(members) != 1:
        place.fault("`text` names one way.", "Write json, plain, {extract: REGEX} or {plain: …}.")
        return None
    if "extract" in members:
        return _read_extract(members["extract"])
    inner = read_members(members["plain"], "plain", ("max_chars",)) or {}
    most = inner["max_chars"].integer(1, _MAX_PLAIN) if "max_chars" in inner else None
    return TextRule(kind="plain") if most is None else TextRule(kind="plain", max_chars=most)


def _read_extract(place: Place) -> TextRule | None:
    pattern = place.text(wanted="a regular expression with named groups")
    if pattern is None:
        return None
    try:
        compile_extraction(pattern)
    except ValueError as error:
        place.fault(
            f"this expression cannot be used: {show_name(str(error))}.",
            "Write it in RE2 syntax, with (?P<member>…) for each member.",
        )
        return None
    return TextRule(kind="extract", pattern=pattern)


# --- codes -------------------------------------------------------------------------------------


def _read_codes(
    place: Place | None, errors: Mapping[str, bool] | None, pattern: str, wanted: str
) -> dict[str, str]:
    codes = {}
    for key, inner in ((place.entries() if place is not None else None) or {}).items():
        if not inner.is_named(pattern) or (key.isdigit() and int(key) > 599):
            inner.fault(f"`{show_member(key)}` is not {wanted}.", f"Write {wanted}.", at_key=True)
            continue
        code = _read_code(inner, errors)
        if code is not None:
            codes[key] = code
    return codes


def _read_code(place: Place, errors: Mapping[str, bool] | None) -> str | None:
    text = place.text()
    if text is None or errors is None:
        return text
    known = {*errors, str(AgentCode.UPSTREAM_UNAVAILABLE)}
    if text in known:
        return text
    near = find_near(text, known)
    place.fault(
        f"{quote_text(text)} is not declared under `errors`.",
        f"Did you mean `{near}`? Or declare it there." if near else "Declare it there.",
        discreet=not is_quotable(text),
    )
    return None


def _read_numbers(
    place: Place | None, low: int, high: int, default: frozenset[int]
) -> frozenset[int]:
    if place is None:
        return default
    items = place.items()
    numbers = [item.integer(low, high) for item in items or ()]
    if items == []:
        place.fault(f"`{place.name}` admits nothing.", "List at least one number, or remove it.")
    return frozenset(number for number in numbers if number is not None)


def _read_media_types(place: Place | None, text: TextRule | None, fetch: object) -> tuple[str, ...]:
    if place is None:
        if text is not None and text.kind != "json" and isinstance(fetch, HttpFetch):
            return ("text/plain",)
        return _DEFAULT.content_type
    if isinstance(place.value, str):
        one = place.text(_MEDIA_TYPE, "a media type such as application/json")
        return _DEFAULT.content_type if one is None else (one.lower(),)
    types = place.texts(_MEDIA_TYPE, "a media type such as application/json")
    if place.value == []:
        place.fault("`content_type` admits nothing.", "Name a media type.")
    return tuple(text.lower() for text in types)


# --- the map -----------------------------------------------------------------------------------


def _read_map(place: Place) -> dict[str, MapRule]:
    entries = place.entries()
    if entries is not None and not entries:
        place.fault("`map` builds an empty object.", "Name its members, or remove it.")
    if entries is not None and len(entries) > _MAX_RULES:
        place.fault(f"`map` has more than {_MAX_RULES} members.", "Narrow further.")
    rules = {}
    for name, inner in (entries or {}).items():
        rule = _read_rule(inner)
        if rule is not None:
            rules[name] = rule
    return rules


def _read_rule(place: Place) -> MapRule | None:
    if isinstance(place.value, str):
        at = _read_at(place)
        return None if at is None else MapRule(at=at)
    members = read_members(place, "map rule", ("at",))
    if members is None:
        return None
    at = _read_at(members["at"]) if "at" in members else None
    nested = _read_map(members["members"]) if "members" in members else None
    every = _flag(members, "every")
    if every and nested is None:
        place.fault("`every` stands without `members`.", "Name the members of one item.")
    for key in ("values", "convert"):
        if nested is not None and key in members:
            members[key].fault(f"`{key}` stands beside `members`.", "Keep one.", at_key=True)
    if "other" in members and "values" not in members:
        members["other"].fault("`other` stands without `values`.", "Add the table.", at_key=True)
    convert = members["convert"].one_of(get_args(Convert)) if "convert" in members else None
    return MapRule(
        at=at or Pointer(()),
        values=_read_table(members["values"]) if "values" in members else None,
        other=members["other"].value if "other" in members else None,
        has_other="other" in members,
        convert=cast("Convert | None", convert),
        optional=_flag(members, "optional"),
        every=every,
        members=nested,
    )


def _read_at(place: Place) -> Pointer | None:
    pointer = place.at()
    if pointer is not None and pointer.is_wild:
        place.fault("a rule of the map takes one value.", "Use `every: true` with `members`.")
    return pointer


def _flag(members: Mapping[str, Place], key: str) -> bool:
    return bool(members[key].boolean()) if key in members else False


def _read_table(place: Place) -> dict[str, JsonValue]:
    entries = place.entries()
    if entries is not None and not entries:
        place.fault("`values` is an empty table.", "List what the provider sends.")
    return {name: inner.value for name, inner in (entries or {}).items()}


def _read_known(place: Place) -> frozenset[str]:
    found = set()
    for item in place.items() or ():
        pointer = item.at()
        if pointer is not None:
            found.add(pointer.text)
    return frozenset(found)
