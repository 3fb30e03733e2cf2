"""What an HTTP contract fixes for every request: headers and trust (SPEC ADP-1, ADP-2).

There is no switch that turns TLS checks off, and the environment cannot widen the trust.
"""

from __future__ import annotations

import functools
import logging
import re
import ssl
from pathlib import Path
from typing import Final

import httpx2

from sluicegate.adapters.credentials import check_credential_name
from sluicegate.adapters.decoding import ACCEPTED_ENCODINGS
from sluicegate.adapters.provenance import PACKAGE_VERSION
from sluicegate.contracts.contract import HttpFetch
from sluicegate.contracts.headers import GATE_HEADERS, SECRET_HEADERS
from sluicegate.errors import ConfigurationError
from sluicegate.gates.plain_files import demand_plain

_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", re.ASCII)
HEADER_TEXT: Final = re.compile(r"[\x20-\x7e\t]*", re.ASCII)

# At DEBUG the transport logs every header that it sends and receives, credentials and cookies
# among them; no log of this process may hold those (AUD-5).
logging.getLogger("httpcore2").setLevel(logging.INFO)


def constant_headers(fetch: HttpFetch) -> dict[str, str]:
    """Return the headers of every request, names in lower case, without the credential.

    Raises: ConfigurationError for a method, name or value that is none, a header that is set
    twice, and one that belongs to the gate.
    """
    headers = {
        "accept": "application/json",
        "accept-encoding": ACCEPTED_ENCODINGS,
        "connection": "close",
        "user-agent": f"sluicegate/{PACKAGE_VERSION}",
    }
    if fetch.body is not None:
        headers["content-type"] = "application/json"
    if _TOKEN.fullmatch(fetch.method) is None:
        raise ConfigurationError(f"{fetch.method!r} is no HTTP method")
    taken = set(GATE_HEADERS)
    if fetch.credential is not None:
        check_credential_name(fetch.credential)
        _take(fetch.credential_header, taken)
        if HEADER_TEXT.fullmatch(fetch.credential_prefix) is None:
            raise ConfigurationError("credential_prefix holds what no header can carry")
    taken |= SECRET_HEADERS
    if fetch.idempotency_header is not None:
        _take(fetch.idempotency_header, taken)
    for name, value in fetch.headers.items():
        _take(name, taken)
        if HEADER_TEXT.fullmatch(value) is None:
            raise ConfigurationError(f"the value of header {name!r} is not plain text")
        headers[name.lower()] = value
    return headers


def _take(name: str, taken: set[str]) -> None:
    if _TOKEN.fullmatch(name) is None:
        raise ConfigurationError(f"{name!r} is no header name")
    if name.lower() in taken:
        raise ConfigurationError(f"header {name!r} is set twice, or belongs to the gate alone")
    taken.add(name.lower())


def tls_context(origin: str, ca_file: str | None) -> ssl.SSLContext:
    """Return a context that trusts ``ca_file`` alone, or else the system's authorities.

    Raises: ConfigurationError where the file cannot be used.
    """
    if ca_file is None:
        return _system_trust() if origin.startswith("https:") else _trust_nobody()
    context = _trust_nobody()
    try:
        demand_plain(Path(ca_file))
        context.load_verify_locations(cafile=ca_file)
    except OSError as error:  # of TLS as well
        raise ConfigurationError(
            f"ca_file {ca_file} cannot be used: {error.strerror or error}"
        ) from error
    return context


def _trust_nobody() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # checks certificate and host name


@functools.cache
def _system_trust() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)  # slow to load, alike for every contract
