"""What a release is judged by: digests of frozen files, members to record, order of deployment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cmp_to_key
from typing import Final

import jiter

from sluicegate.checks.narrowing_members import list_members
from sluicegate.contracts.contract import UpstreamPart
from sluicegate.contracts.versions import VERSION, parse_version
from sluicegate.lifecycle.diff.containment import Proof
from sluicegate.lifecycle.diff.kinds import Bump
from sluicegate.lifecycle.diff.versions import judge_version
from sluicegate.values.digests import digest_of_bytes
from sluicegate.values.json import JsonObject

DIGESTS_NAME: Final = "DIGESTS"
"""Beside the frozen files, in the form of ``sha256sum``, so that anybody can check it."""

_LINE: Final = re.compile(r"([0-9a-f]{64})  ([0-9A-Za-z][^\\]*)")
"""Digest and name; ``sha256sum`` writes a name with a backslash otherwise, so none has one."""
_VERSION: Final = re.compile(VERSION)
_MEMBER_OF_CARRIER: Final = {"bare": None, "envelope": "data", "mcp": "structuredContent"}


def read_digests(raw: bytes) -> dict[str, str]:
    """Return the hexadecimal digests by file name. Raises: ValueError naming the faulty line."""
    digests: dict[str, str] = {}
    for number, line in enumerate(raw.decode("utf-8", "replace").splitlines(), start=1):
        matched = _LINE.fullmatch(line)
        if matched is None or matched[2] in digests or not matched[2].isprintable():
            raise ValueError(f"line {number} is not the digest of one file")
        digests[matched[2]] = matched[1]
    return digests


def spell_digests(digests: Mapping[str, str]) -> bytes:
    """Return the text of DIGESTS, by file name."""
    return "".join(f"{digests[name]}  {name}\n" for name in sorted(digests)).encode()


def hex_digest(content: bytes) -> str:
    """Return the SHA-256 of a frozen file as DIGESTS has it."""
    return digest_of_bytes(content).removeprefix("sha256:")


def judge_frozen(name: str, content: bytes, digests: Mapping[str, str]) -> str | None:
    """Return what is wrong with the frozen file ``name``; None where it is as it was released."""
    recorded = digests.get(name)
    if recorded is None:
        return f"{DIGESTS_NAME} holds no digest of it: `sluicegate release` did not write it."
    if recorded != hex_digest(content):
        return f"It was changed after its release: {DIGESTS_NAME} holds another digest of it."
    return None


def is_version(text: str) -> bool:
    """Whether ``text`` is a semantic version, as contracts bear them."""
    return _VERSION.fullmatch(text) is not None


def choose_supported(released: Iterable[str], served: Iterable[str]) -> tuple[str, ...]:
    """Return the releases that a new version is held to, the one that it follows first.

    That is the newest final one: a release candidate promises nothing, so a break must not hide
    behind it. Then the newest of all, and whatever is served. Raises: ValueError if there is none.
    """
    versions = set(released)
    final = {version for version in versions if not parse_version(version)[1]}
    newest = find_newest(versions)
    others = sorted(versions & set(served))
    return tuple(dict.fromkeys([find_newest(final) if final else newest, newest, *others]))


def find_newest(versions: Iterable[str]) -> str:
    """Return the semantic version that follows all others. Raises: ValueError if there is none."""

    def compare(one: str, other: str) -> int:
        return -1 if judge_version("", other, one, Bump.NONE) is not None else 1

    return max(sorted(versions), key=cmp_to_key(compare))


def record_members(
    document: JsonObject, upstream: UpstreamPart, answers: Iterable[bytes]
) -> JsonObject:
    """Return ``document`` with ``upstream.known``: the members of the accepted ``answers``.

    Only where a wide answer is narrowed, where a member more would pass unseen, and where nobody
    wrote ``known`` by hand. What cannot be parsed here names no member. Source: SPEC RES-3.
    """
    if upstream.map is None or upstream.known is not None or upstream.text is not None:
        return document
    member = _MEMBER_OF_CARRIER[upstream.carrier]
    known: set[str] = set()
    for raw in answers:
        try:
            value = jiter.from_json(raw, allow_inf_nan=False)
        except ValueError:
            continue
        if member is not None:
            value = value.get(member) if isinstance(value, dict) else None
        known |= list_members(value)
    part = document.get("upstream")
    if not known or not isinstance(part, Mapping):
        return document
    return {**document, "upstream": {**part, "known": sorted(known)}}


def order_deployment(arguments: Proof, agent: Proof, data: Proof) -> Iterator[str]:
    """Yield what goes first, one sentence each; nothing where no set of values changed.

    ``agent`` compares the fields that the agent sees, ``data`` the whole data of the result. What
    is unknown counts as changed. Source: SPEC LIF-3.
    """
    if arguments.new_covers_old != "yes":
        yield (
            "arguments narrow: first the text that the model sees, so that nobody asks in the old"
            " way; then the tool."
        )
    if arguments.old_covers_new != "yes":
        yield (
            "arguments widen: first the tool, so that it takes what is new; then the text that the"
            " model sees."
        )
    if agent.old_covers_new != "yes":
        yield "the result widens: first the agent, so that it reads what is new; then the tool."
    if agent.new_covers_old != "yes" or data.new_covers_old != "yes":
        yield (
            "the result narrows: first the upstream or its mapping, so that nothing sends the old"
            " values; then the tool. Replay stored answers before (`sluicegate replay`)."
        )
