"""One POST on one connection, bounded while it is read (SPEC ADP-2 for the decision point).

The transport is used without httpx2's client: no proxy variables, no .netrc, no cookies, no
redirects. There is no switch that turns TLS checks off.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import importlib
import ssl
import threading
from collections.abc import AsyncIterable, Mapping
from pathlib import Path
from typing import Final, Protocol, cast

import httpx2

from sluicegate.access.authzen_answers import MAX_ANSWER_BYTES, Answered, NoAnswer
from sluicegate.errors import ConfigurationError
from sluicegate.gates.plain_files import demand_plain

_CONNECTED: Final = "connection.connect_tcp.complete"
_SINGLE: Final = ("content-type", "content-encoding", "content-length", "transfer-encoding")


class _Closable(Protocol):
    async def aclose(self) -> None: ...


async def post(
    url: str, headers: Mapping[str, str], content: bytes, tls: ssl.SSLContext
) -> Answered:
    """Send ``content`` and return the answer. The caller sets the deadline.

    Raises: NoAnswer for more than ``MAX_ANSWER_BYTES`` and for headers that two readers could
    take differently; httpx2.TransportError.
    """
    connections: list[_Closable] = []

    async def note(event: str, facts: Mapping[str, object]) -> None:
        if event == _CONNECTED:
            connections.append(cast("_Closable", facts["return_value"]))

    request = httpx2.Request(
        "POST", url, headers=dict(headers), content=content, extensions={"trace": note}
    )
    transport = httpx2.AsyncHTTPTransport(
        verify=tls,
        trust_env=False,
        limits=httpx2.Limits(max_connections=1, max_keepalive_connections=0),
    )
    try:
        async with transport:
            response = await transport.handle_async_request(request)
            try:
                return await _receive(response)
            finally:
                await response.aclose()
    finally:
        # The pool forgets a connection whose TLS handshake is cancelled, and leaves it open.
        for connection in connections:
            await connection.aclose()


async def _receive(response: httpx2.Response) -> Answered:
    names = [name.lower() for name, _ in response.headers.raw]
    if any(names.count(name.encode()) > 1 for name in _SINGLE) or (
        b"content-length" in names and b"transfer-encoding" in names
    ):
        raise NoAnswer("the headers of the answer are ambiguous")
    content = bytearray()
    if isinstance(response.stream, AsyncIterable):
        async for chunk in response.stream:
            content += chunk
            if len(content) > MAX_ANSWER_BYTES:
                raise NoAnswer(f"the answer has more than {MAX_ANSWER_BYTES} bytes")
    return Answered(
        status=response.status_code,
        content_type=response.headers.get("content-type"),
        content_encoding=response.headers.get("content-encoding"),
        raw=bytes(content),
    )


def load_transport() -> None:
    """Load what the transport loads at its first request: it takes longer than a decision may.

    Nothing is sent: nobody listens on port 0.
    """

    async def try_nothing() -> None:
        with contextlib.suppress(httpx2.TransportError):
            await post("http://127.0.0.1:0/", {}, b"", trust("http", None))

    with contextlib.suppress(ImportError):
        importlib.import_module("h11")
    # A thread of its own: the caller's may run a loop.
    thread = threading.Thread(target=lambda: asyncio.run(try_nothing()), name="sluicegate authzen")
    thread.start()
    thread.join()


def trust(scheme: str, ca_file: str | None) -> ssl.SSLContext:
    """Return a context that trusts ``ca_file`` alone, or else the system's authorities.

    Raises: ConfigurationError where the file cannot be used.
    """
    if ca_file is None and scheme == "https":
        return _system_trust()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # checks certificate and host name
    if ca_file is not None:
        try:
            demand_plain(Path(ca_file))
            context.load_verify_locations(cafile=ca_file)
        except OSError as error:  # of TLS as well
            raise ConfigurationError(
                f"ca_file {ca_file} cannot be used: {error.strerror or error}"
            ) from error
    return context


@functools.cache
def _system_trust() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)
