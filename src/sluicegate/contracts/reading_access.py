"""Who decides who may call: the table, a function, policies, or a service (SPEC 2, ACC-2)."""

from __future__ import annotations

import re
from typing import Final

from sluicegate.contracts.contract import PythonName
from sluicegate.contracts.keys import KEYS
from sluicegate.contracts.near_names import read_members
from sluicegate.contracts.places import Place
from sluicegate.contracts.reading_paths import holds_path, read_path
from sluicegate.contracts.settings import AccessRule, AccessSettings, AuthzenSettings
from sluicegate.values.actions import CALL

_NAME: Final = r"[A-Za-z0-9_-][A-Za-z0-9._-]*"
_PATH: Final = rf"(?:{_NAME}/)*{_NAME}/?"
_URL: Final = re.compile(
    r"(?:https://(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])"
    r"|http://(?:localhost|127\.0\.0\.1|\[::1\]))"
    r"(?::(?P<port>[0-9]{1,5}))?"
    r"(?:/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*)?",
    re.ASCII,
)
_CREDENTIAL: Final = r"(?:env:)?[A-Za-z_][A-Za-z0-9_]*|file:[^\0]+|keyring:[^/]+/.+"
_WANTED_URL: Final = "the https:// URL of a decision service, without user, query and fragment"
_MEND_URL: Final = (
    "Write https://HOST or its evaluation endpoint; http:// is for this machine only."
)


def read_access(place: Place | None) -> AccessSettings:
    """Return what decides; what is at fault is noted, and then nobody may call."""
    if place is None:
        return AccessSettings()
    if isinstance(place.value, dict):
        return _read_point(place)
    rules = [_read_rule(item) for item in place.items() or ()]
    return AccessSettings(rules=tuple(rule for rule in rules if rule is not None))


def _read_point(place: Place) -> AccessSettings:
    given = place.value.keys() if isinstance(place.value, dict) else ()
    if KEYS["access rule"] & set(given):
        place.fault(
            "`access` must be a list of rules; here stands one rule by itself.",
            "Begin each rule with `- `, as - {caller: NAME, tool: NAME}.",
            at_key=True,
        )
        return AccessSettings()
    members = read_members(place, "access") or {}
    if not given:
        place.fault("`access` names nothing that decides.", "Write a list of rules.")
    if len(members) > 1:
        names = ", ".join(f"`{name}`" for name in sorted(members))
        place.fault(
            f"`access` names several that decide: {names}.", "Keep one of them.", at_key=True
        )
        return AccessSettings()
    if "python" in members:
        text = members["python"].text(r"[\w.]+:[\w.]+", "a Python name such as acme.access:decide")
        module, _, attribute = (text or "").partition(":")
        return AccessSettings(python=PythonName(module, attribute) if text else None)
    if "cedar" in members:
        wanted = "a folder of policies below this one, such as policies/"
        cedar = members["cedar"].text(_PATH, wanted)
        is_path = cedar is not None and holds_path(members["cedar"], cedar)
        return AccessSettings(cedar=cedar if is_path else None)
    if "authzen" in members:
        return AccessSettings(authzen=_read_authzen(members["authzen"]))
    return AccessSettings()


def _read_authzen(place: Place) -> AuthzenSettings | None:
    if not isinstance(place.value, dict):
        url = _read_url(place)
        return None if url is None else AuthzenSettings(url=url)
    members = read_members(place, "authzen", ("url",)) or {}
    url = _read_url(members["url"]) if "url" in members else None
    if url is None:
        return None
    if "ca_file" in members and not url.startswith("https:"):
        members["ca_file"].fault(
            "`ca_file` stands beside a URL without TLS, and checks nothing.",
            "Write https:// or remove `ca_file`.",
            at_key=True,
        )
    return AuthzenSettings(
        url=url,
        credential=_read_credential(members["credential"]) if "credential" in members else None,
        ca_file=read_path(members, "ca_file"),
    )


def _read_credential(place: Place) -> str | None:
    return place.discreet_text(
        _CREDENTIAL,
        "the name of a credential",
        "Write an environment variable such as PDP_TOKEN, file:PATH or keyring:SERVICE/NAME; "
        "the secret itself never stands here.",
    )


def _read_url(place: Place) -> str | None:
    """What is at fault is never repeated: it might hold a secret."""
    url = place.discreet_text(_URL.pattern, _WANTED_URL, _MEND_URL)
    matched = None if url is None else _URL.fullmatch(url)
    if matched is not None and int(matched["port"] or 443) > 65_535:
        place.fault("The port is no port.", _MEND_URL)
        return None
    return url


def _read_rule(place: Place) -> AccessRule | None:
    members = read_members(place, "access rule", ("caller", "tool"))
    if members is None:
        return None
    texts = {
        key: members[key].text() for key in ("caller", "tenant", "action", "tool") if key in members
    }
    if texts.get("action", CALL) != CALL:
        members["action"].fault("`action` is not one that is asked about.", f"Write `{CALL}`.")
    caller, tool = texts.get("caller"), texts.get("tool")
    kind, admitted = None, None
    if "resource" in members:
        resource = read_members(members["resource"], "access resource", ("type",)) or {}
        kind = resource["type"].text() if "type" in resource else None
        if "in" in resource:
            admitted = frozenset(resource["in"].texts())
        if kind is None:
            return None  # without its type the row would speak for calls without resources
    if caller is None or tool is None or ("tenant" in members and texts["tenant"] is None):
        return None
    return AccessRule(
        caller=caller,
        tool=tool,
        tenant=texts.get("tenant"),
        resource_type=kind,
        resource_in=admitted,
    )
