"""One HTTP request, one connection, one answer (SPEC ADP-2, RES-1).

Each attempt opens a connection of its own and closes it whatever happens. A kept connection saves
a handshake, and can hand the late answer of one call to the next; a gate must not take that risk.
The transport is used without httpx2's client: no cookies, no proxy variables, no .netrc, no
redirects by itself.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterable, Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final, Protocol, cast

import httpx2

from sluicegate.adapters.decoding import BrokenEncoding, Decoder, Overflow
from sluicegate.adapters.http_headers import (
    find_ambiguity,
    find_header,
    read_headers,
    read_retry_after,
    show_headers,
)
from sluicegate.adapters.provenance import Provenance, bound_text
from sluicegate.values.receipts import Fault, Receipt

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_CONNECTED: Final = "connection.connect_tcp.complete"
_SENDING: Final = "http11.send_request_headers.started"
"""Events of httpx2's ``trace`` extension. Before the second no byte of the request was sent."""


class _Closable(Protocol):
    async def aclose(self) -> None: ...


class HttpAttempt:
    """One attempt's state, so that a deadline at any point still yields an honest receipt."""

    def __init__(
        self,
        provenance: Provenance,
        tls: ssl.SSLContext,
        max_bytes: int,
        now: Callable[[], datetime],
    ) -> None:
        self._provenance = provenance
        self._tls = tls
        self._max_bytes = max_bytes
        self._now = now
        self._is_sent = False
        self._connection: _Closable | None = None
        self._answer: Receipt | None = None
        self._content = bytearray()

    async def send(
        self,
        method: str,
        origin: str,
        target: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
    ) -> tuple[Receipt, str | None]:
        """Send one request on a connection of its own; return the receipt and a redirect's goal."""
        self._answer, self._content = None, bytearray()
        request = httpx2.Request(
            method,
            origin,
            headers=list(headers.items()),
            content=body,
            # The target goes out as it was built: httpx2 would normalise it.
            extensions={"target": target.encode("ascii"), "trace": self._note},
        )
        transport = httpx2.AsyncHTTPTransport(
            verify=self._tls,
            trust_env=False,
            limits=httpx2.Limits(max_connections=1, max_keepalive_connections=0),
        )
        try:
            async with transport:
                response = await transport.handle_async_request(request)
                try:
                    return await self._receive(response)
                finally:
                    await response.aclose()
        except httpx2.TransportError as error:
            return self._break_off(error), None
        finally:
            # The pool forgets a connection whose TLS handshake is cancelled, and leaves it open.
            if self._connection is not None:
                await self._connection.aclose()

    async def _note(self, event: str, facts: Mapping[str, object]) -> None:
        if event == _SENDING:
            self._is_sent = True
        elif event == _CONNECTED:
            self._connection = cast("_Closable", facts["return_value"])

    async def _receive(self, response: httpx2.Response) -> tuple[Receipt, str | None]:
        headers = read_headers(response.headers.raw)
        if headers is None:
            return self.fail(Fault.TOO_MANY_HEADERS, "too many or too long headers"), None
        self._answer = Receipt(
            adapter=self._provenance.adapter,
            adapter_version=self._provenance.version,
            endpoint=self._provenance.endpoint,
            status=response.status_code,
            content_type=find_header(headers, "content-type"),
            content_encoding=find_header(headers, "content-encoding"),
            retry_after_s=read_retry_after(find_header(headers, "retry-after"), self._now()),
            headers=show_headers(headers),
        )
        ambiguity = find_ambiguity(headers)
        if ambiguity is not None:
            return self.fail(Fault.UNREACHABLE, ambiguity), None
        try:
            decoder = Decoder(self._answer.content_encoding, self._max_bytes)
            self._content = decoder.content
            if isinstance(response.stream, AsyncIterable):
                async for chunk in response.stream:
                    decoder.feed(chunk)
            decoder.finish()
        except BrokenEncoding as error:
            return self.fail(Fault.BAD_ENCODING, str(error)), None
        except Overflow:
            return self.fail(Fault.TOO_LARGE, "the byte limit was met"), None
        location = find_header(headers, "location")
        is_redirect = response.status_code in _REDIRECTS
        return self._received(), location if is_redirect else None

    def _break_off(self, error: httpx2.TransportError) -> Receipt:
        text = f"{type(error).__name__}: {error}"
        if self._answer is not None:
            return self.fail(Fault.SHORT, text)
        if _is_about_certificate(error):
            return self.fail(Fault.CERTIFICATE, text)
        if _is_header_flood(error):
            return self.fail(Fault.TOO_MANY_HEADERS, text)
        return self.fail(Fault.UNREACHABLE, text)

    def _received(self) -> Receipt:
        answer = self._answer
        if answer is None:
            return self._provenance.fail(Fault.UNREACHABLE, dispatched=self._is_sent)
        return replace(answer, raw=bytes(self._content))

    def fail(self, fault: Fault, diagnostics: str) -> Receipt:
        """Return what is known of a failed attempt; bytes that came are evidence, not an answer."""
        if self._answer is None:
            return self._provenance.fail(fault, dispatched=self._is_sent, diagnostics=diagnostics)
        return replace(self._received(), fault=fault, diagnostics=bound_text(diagnostics))


def _is_header_flood(error: BaseException) -> bool:
    return any(getattr(each, "error_status_hint", None) == 431 for each in _causes(error))


def _is_about_certificate(error: BaseException) -> bool:
    """Whether the chain, the dates or the name of the certificate did not hold."""
    return any(isinstance(each, ssl.SSLCertVerificationError) for each in _causes(error))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
