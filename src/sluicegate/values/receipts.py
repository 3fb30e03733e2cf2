"""What an adapter hands over: bytes plus provenance. It has decided nothing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """Why an adapter could not obtain a whole answer."""

    UNREACHABLE = (
        "unreachable"  # name, connection, TLS, broken transfer, a process that cannot start
    )
    TIMEOUT = "timeout"  # the total deadline passed
    SHORT = "short"  # the body ended before its announced length
    TOO_LARGE = "too_large"  # the byte limit was met while reading; the rest was not read
    BAD_ENCODING = (
        "bad_encoding"  # a content encoding that was not asked for, or broken compression
    )
    TOO_MANY_HEADERS = "too_many_headers"
    RAISED = "raised"  # a Python tool raised
    NOT_JSON = "not_json"  # a Python tool returned what JSON cannot hold
    BAD_ARGUMENT = "bad_argument"  # an argument cannot stand in the URL or the command (ADP-1)
    LEAK = "leak"  # the answer holds a credential of ours; its bytes are not handed on
    CREDENTIAL = "credential"  # the named credential cannot be read
    DENIED = "denied"  # the upstream refused our credential before anything ran
    HOST_KEY = "host_key"  # the ssh host shows no key that is pinned
    CERTIFICATE = "certificate"  # the certificate of the upstream does not verify


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Bytes plus provenance of one attempt.

    ``dispatched`` says whether the upstream may have seen the request: false only when the
    fault certainly came before. ``endpoint`` is the template or command, never expanded.
    ``diagnostics`` (stderr, exception text) is for custody only, bounded by the adapter.
    ``retry_after_s`` is what the upstream asked for, unjudged.
    """

    adapter: str
    adapter_version: str
    endpoint: str
    raw: bytes = b""
    fault: Fault | None = None
    dispatched: bool = True
    status: int | None = None
    exit_code: int | None = None
    content_type: str | None = None
    content_encoding: str | None = None
    retry_after_s: float | None = None
    headers: tuple[tuple[str, str], ...] = ()
    diagnostics: bytes = b""
    from_cache: bool = False
