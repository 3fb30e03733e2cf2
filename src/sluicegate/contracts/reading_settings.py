"""sluicegate.yaml → ``Settings`` (SPEC 2)."""

from __future__ import annotations

from posixpath import normpath
from typing import Final, Literal, cast

from sluicegate.contracts.naming import PythonNames
from sluicegate.contracts.near_names import member_of, read_choice, read_members
from sluicegate.contracts.places import Place
from sluicegate.contracts.reading_access import read_access
from sluicegate.contracts.reading_authority import read_quotas
from sluicegate.contracts.reading_paths import holds_control, holds_path
from sluicegate.contracts.reading_serve import read_serve
from sluicegate.contracts.settings import (
    AuditSettings,
    FolderLimits,
    HeadsSettings,
    RetentionSettings,
    Settings,
    SinksRule,
)
from sluicegate.values.limits import ENGINE_MAX_DEPTH
from sluicegate.values.names import find_near

_PREFIX: Final = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\.?"
_STORE: Final = (
    r"sqlite:.+|memory:"
    r"|postgresql:(?:env:[A-Za-z_]\w*|service=[\w.-]+)(?:\?chain=[a-z][a-z0-9_]{0,39})?"
    r"|postgresql://(?:[^\s:@/?]+@)?[^\s@?]*(?:\?(?:OPTION=[^\s&]+&)*OPTION=[^\s&]+)?"
).replace("OPTION", "(?:chain|sslmode|sslrootcert|sslcert|sslkey|passfile)")
"""No form of it can hold a password."""
_REDIS: Final = (
    r"redis:env:[A-Za-z_]\w*"
    r"|rediss?://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[0-9]{0,5})?"
)
_KEYS: Final = r"(?:file|env|keyring):.+"
_SCHEME: Final = "file:"
_FILE: Final = r"file:.+"
_ROUTE: Final = r"log:|https?://[^\s@]+|apprise:env:[A-Za-z_]\w*"
_MAX_DAYS: Final = 36_500
_DEFAULT: Final = Settings()


def read_settings(place: Place) -> Settings:
    """Return the settings at ``place``; what is at fault is noted and stands at its default."""
    members = read_members(place, "settings")
    if members is None:
        return _DEFAULT
    prefixes = (
        members["python"].texts(_PREFIX, "a module prefix such as acme.")
        if "python" in members
        else ()
    )
    if "sluicegate" in members:
        members["sluicegate"].integer(1, 1)
    limits, audit = _read_limits(members.get("limits")), _read_audit(members.get("audit"))
    if limits.key_store != "audit:" and audit.store == "memory:":
        member_of(members["limits"], "folder limits", "key_store").fault(
            "`key_store` shares keys with other gates, and a record in memory draws keys that no"
            " other gate has.",
            "Name another record in audit.store, or write audit:.",
        )
    return Settings(
        limits=limits,
        audit=audit,
        retention=_read_retention(members.get("retention")),
        access=read_access(members.get("access")),
        callers_from=_read_callers(members.get("callers")),
        python=prefixes,
        notify=_read_notify(members.get("notify")),
        serve=read_serve(members.get("serve")),
    )


def resolve_access(place: Place, settings: Settings, names: PythonNames) -> None:
    """See that the function that decides is admitted, imports and can be called."""
    if settings.access.python is not None:
        access = member_of(place, "settings", "access")
        names.read_function(member_of(access, "access", "python"))


def _read_limits(place: Place | None) -> FolderLimits:
    default = _DEFAULT.limits
    members = read_members(place, "folder limits") if place is not None else None
    if members is None:
        return default
    return FolderLimits(
        max_call_bytes=_count(members, "max_call_bytes", default.max_call_bytes, 1 << 30),
        max_bytes=_count(members, "max_bytes", default.max_bytes, 1 << 30),
        max_depth=_count(members, "max_depth", default.max_depth, ENGINE_MAX_DEPTH),
        in_flight=_count(members, "in_flight", default.in_flight, 100_000),
        quotas=read_quotas(members.get("quotas"), ("caller", "tenant", "tool")),
        quota_store=_read_shared(members.get("quota_store"), "audit:", "memory:")
        or default.quota_store,
        key_store=_read_shared(members.get("key_store"), "audit:") or default.key_store,
    )


def _read_shared(place: Place | None, *others: str) -> str | None:
    """Read where something is kept that several gates may share: in Redis, or in ``others``."""
    wanted = f"{', '.join(others)}, redis:env:NAME, or redis://HOST:PORT/DATABASE"
    wanted = f"{wanted} without a password or options"
    pattern = "|".join((*others, _REDIS))
    return (
        None
        if place is None or holds_control(place)
        else place.discreet_text(pattern, wanted, f"Write {wanted}.")
    )


def _count(members: dict[str, Place], key: str, default: int, high: int) -> int:
    found = members[key].integer(1, high) if key in members else None
    return default if found is None else found


def _read_audit(place: Place | None) -> AuditSettings:
    default = _DEFAULT.audit
    members = read_members(place, "audit") if place is not None else None
    if members is None:
        return default
    store = keys = None
    if "store" in members:
        wanted = (
            "sqlite:PATH, postgresql:env:NAME, postgresql:service=NAME,"
            " postgresql://USER@HOST/DATABASE or memory:"
        )
        near = _say_scheme(members["store"], ("sqlite", "postgresql", "memory"))
        store = _read_named(
            members["store"],
            (_STORE, wanted),
            f"{near}Write {wanted}; a password stands in the environment alone.",
            file="sqlite:",
        )
    if "keys" in members:
        wanted = "file:FOLDER, env:NAME or keyring:SERVICE"
        near = _say_scheme(members["keys"], ("file", "env", "keyring"))
        keys = _read_named(
            members["keys"], (_KEYS, wanted), f"{near}Write {wanted}; never a key itself."
        )
    heads = _read_heads(members.get("heads"))
    return AuditSettings(
        store=store or default.store,
        keys=keys or default.keys,
        heads=heads,
        also=_read_also(members["also"], heads) if "also" in members else None,
        sinks=_read_sinks(members),
    )


def _read_named(
    place: Place, form: tuple[str, str], mend: str, *, file: str | None = None
) -> str | None:
    """Read a text in one of several forms; behind ``file``, or else ``file:``, stands a path."""
    found = None if holds_control(place) else place.discreet_text(*form, mend)
    scheme = file or _SCHEME
    if found is None or not found.startswith(scheme):
        return found
    path = found.removeprefix(scheme)
    is_path = holds_path(place, path, names_file=file is not None, has_company=True)
    return found if is_path else None


def _read_file(place: Place) -> str | None:
    """Read ``file:PATH`` of a file that lines are appended to."""
    found = None if holds_control(place) else place.text(_FILE, "file:PATH")
    path = "" if found is None else found.removeprefix(_SCHEME)
    is_path = found and holds_path(place, path, names_file=True, has_company=True)
    return found if is_path else None


def _say_scheme(place: Place, schemes: tuple[str, ...]) -> str:
    """Ask for the scheme that was meant; of what is written here nothing is repeated."""
    scheme, is_one, _ = str(place.value).partition(":")
    near = find_near(scheme, schemes) if is_one and scheme not in schemes else None
    return f"Did you mean `{near}:`? " if near else ""


def _read_also(place: Place, heads: HeadsSettings | None) -> str | None:
    also = _read_file(place)
    if also is not None and heads is not None and normpath(also) == normpath(heads.to):
        place.fault(
            "`also` names the file that the signed heads go to: neither could be read again.",
            "Name a file of its own for each.",
        )
    return also


def _read_sinks(members: dict[str, Place]) -> SinksRule:
    if "sinks" not in members:
        return _DEFAULT.audit.sinks
    if "also" not in members:
        members["sinks"].fault(
            "`sinks` says how many of two must have an event, and there is one.",
            "Name the second one with also: file:PATH, or take `sinks` out.",
        )
    return cast("SinksRule", members["sinks"].one_of(("all", "any")) or "all")


def _read_heads(place: Place | None) -> HeadsSettings | None:
    members = read_members(place, "heads", ("to",)) if place is not None else None
    to = _read_file(members["to"]) if members and "to" in members else None
    if members is None or to is None:
        return None
    every_s = members["every_s"].number(1, 86_400) if "every_s" in members else None
    required = members["required"].boolean() if "required" in members else None
    return HeadsSettings(
        to=to,
        every_events=_count(members, "every_events", 1_000, 1_000_000),
        every_s=60.0 if every_s is None else every_s,
        required=bool(required),
    )


def _read_retention(place: Place | None) -> RetentionSettings:
    default = _DEFAULT.retention
    members = read_members(place, "retention") if place is not None else None
    if members is None:
        return default
    rejected, accepted, arguments = (
        default.rejected_days,
        default.accepted_days,
        default.arguments_days,
    )
    share = default.accepted_share
    if "rejected" in members:
        rejected, _ = _read_kept(members["rejected"], "kept")
    if "accepted" in members:
        accepted, share = _read_kept(members["accepted"], "kept share")
    if "arguments" in members:
        arguments, _ = _read_kept(members["arguments"], "kept")
    return RetentionSettings(
        rejected_days=rejected,
        accepted_days=accepted,
        accepted_share=share,
        arguments_days=arguments,
        daily_bytes=_count(members, "daily_bytes", default.daily_bytes, 1 << 50),
    )


def _read_kept(place: Place, section: str) -> tuple[float | None, float]:
    """``digest`` keeps nothing but the digest; ``{days: 30}`` keeps the bytes that long."""
    if place.value == "digest":
        return None, 1.0
    if isinstance(place.value, str):
        place.fault(
            f"`{place.name}` is neither `digest` nor a time.", "Write digest or {days: 30}."
        )
        return None, 1.0
    members = read_members(place, section, ("days",))
    if members is None:
        return None, 1.0
    days = members["days"].number(0, _MAX_DAYS) if "days" in members else None
    share = members["share"].number(0, 1) if "share" in members else None
    return days, 1.0 if share is None else share


def _read_callers(place: Place | None) -> Literal["argument", "token", "os_user"]:
    members = read_members(place, "callers", ("from",)) if place is not None else None
    if members is None or "from" not in members:
        return "argument"
    found = read_choice(members["from"], ("argument", "token", "os_user"))
    if found in ("token", "os_user"):
        members["from"].fault(
            f"`{found}` is not served by this release: it belongs to the proxy.",
            "Write `argument` and pass the caller with each call.",
        )
    return cast('Literal["argument", "token", "os_user"]', found or "argument")


def _read_notify(place: Place | None) -> dict[str, str]:
    entries = place.entries() if place is not None else None
    routes = {}
    for owner, route in (entries or {}).items():
        if holds_control(route):
            continue
        text = route.discreet_text(
            _ROUTE,
            "`log:`, the URL of a webhook, or `apprise:env:NAME`",
            "Write `log:`, an https:// URL, or apprise:env: and the name of a variable.",
        )
        if text is not None:
            routes[owner] = text
    return routes
