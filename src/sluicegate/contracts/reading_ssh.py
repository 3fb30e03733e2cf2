"""``fetch: {ssh: …}`` → the constants of one command on one host (SPEC 2, ADP-1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from sluicegate.contracts.contract import SshFetch
from sluicegate.contracts.near_names import read_members
from sluicegate.contracts.placeholders import has_placeholder
from sluicegate.contracts.places import Place
from sluicegate.contracts.reach import Side
from sluicegate.contracts.reading_adapter import read_constant, read_credential, read_timeout
from sluicegate.contracts.reading_paths import read_path

_HOST: Final = (
    r"[A-Za-z0-9](?:[A-Za-z0-9.\-]{0,251}[A-Za-z0-9])?|[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:.]{1,40}"
)
_USER: Final = r"[A-Za-z0-9_][A-Za-z0-9_.@\\+\-]{0,127}"
_COMMAND: Final = r"[^\x00-\x1f\x7f]+"
_MAX_PORT: Final = 65_535


def read_ssh(place: Place, arguments: Side) -> SshFetch | None:
    """Return what ``ssh`` names. No argument may stand in it: input goes to stdin."""
    given = read_members(place, "ssh", ("host", "user", "command", "known_hosts", "timeout_s"))
    if given is None:
        return None
    members = _constants(given)
    port = members["port"].integer(1, _MAX_PORT) if "port" in members else None
    return SshFetch(
        host=read_constant(members, "host", _HOST, "the name or address of a host") or "",
        port=port or 22,
        user=read_constant(members, "user", _USER, "the name of an account") or "",
        command=read_constant(members, "command", _COMMAND, "a command of one line") or "",
        known_hosts=_read_known_hosts(members),
        timeout_s=read_timeout(members),
        stdin=_read_stdin(members),
        credential=read_credential(members),
        agent=_read_agent(place, given),
    )


def _constants(members: Mapping[str, Place]) -> Mapping[str, Place]:
    """The members that hold no placeholder; each other one is a fault."""
    held = [key for key, inner in members.items() if has_placeholder(str(inner.value))]
    for key in held:
        members[key].fault(
            f"no argument may stand in `{key}`; ssh runs a fixed command on a fixed host.",
            "Write a constant, and hand the arguments over with `stdin: arguments`.",
        )
    return {key: inner for key, inner in members.items() if key not in held}


def _read_stdin(members: Mapping[str, Place]) -> Literal["arguments"] | None:
    if "stdin" in members and members["stdin"].one_of(("arguments",)) is not None:
        return "arguments"
    return None


def _read_known_hosts(members: Mapping[str, Place]) -> str:
    text = read_path(members, "known_hosts", "the path of a file in the folder")
    if text is None:
        return ""
    if text.startswith(("/", "~")) or "\\" in text or ".." in text.split("/"):
        members["known_hosts"].fault(
            "`known_hosts` names a file outside the folder.",
            "Copy the file into the folder, and write its path from there.",
        )
    return text


def _read_agent(place: Place, members: Mapping[str, Place]) -> bool:
    agent = members["agent"].boolean() if "agent" in members else None
    if agent is False:
        members["agent"].fault("`agent: false` says nothing.", "Remove it.", at_key=True)
    if ("credential" in members) == ("agent" in members):
        place.fault(
            "ssh takes a `credential` or `agent: true`, one of them.",
            "Name the key; or write `agent: true`, and the gate's own ssh agent signs.",
            at_key=True,
        )
    return agent is True
