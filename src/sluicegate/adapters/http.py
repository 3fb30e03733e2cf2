"""One HTTP request, one connection, one answer (SPEC ADP-1, ADP-2, RES-1).

Each attempt opens a connection of its own and closes it whatever happens. A kept connection saves
a handshake, and can hand the late answer of one call to the next; a gate must not take that risk.
The transport is used without httpx2's client: no cookies, no proxy variables, no .netrc, no
redirects by itself. There is no switch that turns TLS checks off.
"""

from __future__ import annotations

import asyncio
import functools
import json
import re
import ssl
from collections.abc import AsyncIterable, Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, Protocol, cast
from urllib.parse import quote, urljoin, urlsplit

import httpx2

from sluicegate.adapters.credentials import Credentials, CredentialUnreadable, check_credential_name
from sluicegate.adapters.decoding import ACCEPTED_ENCODINGS, BrokenEncoding, Decoder, Overflow
from sluicegate.adapters.http_headers import (
    find_ambiguity,
    find_header,
    read_headers,
    read_retry_after,
    show_headers,
)
from sluicegate.adapters.provenance import PACKAGE_VERSION, Provenance, bound_text
from sluicegate.adapters.templates import Unfit, UrlTemplate
from sluicegate.contracts.contract import HttpFetch
from sluicegate.errors import ConfigurationError
from sluicegate.gates.ports import Dispatch
from sluicegate.values.pointers import NOTHING
from sluicegate.values.receipts import Fault, Receipt

_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", re.ASCII)
_HEADER_TEXT: Final = re.compile(r"[\x20-\x7e\t]*", re.ASCII)
_KEY_TEXT: Final = "!#$&'()*+,/:;=?@[]"
_OURS: Final = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "te",
        "transfer-encoding",
        "upgrade",
    }
)
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_CONNECTED: Final = "connection.connect_tcp.complete"
_SENDING: Final = "http11.send_request_headers.started"
"""Events of httpx2's ``trace`` extension. Before the second no byte of the request was sent."""


class HttpAdapter:
    """Asks one HTTP upstream. Host, method, headers and credential are the contract's constants."""

    name: Final = "http"
    version: Final = f"{PACKAGE_VERSION} httpx2/{httpx2.__version__}"

    def __init__(
        self,
        fetch: HttpFetch,
        credentials: Credentials,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Raises: ConfigurationError for a URL, header, credential name or CA file of no use."""
        self._fetch = fetch
        self._credentials = credentials
        self._now = now
        self._url: Final = UrlTemplate(fetch.url, fetch.query)
        self._headers: Final = _constant_headers(fetch)
        self._tls: Final = _tls_context(self._url.origin, fetch.ca_file)
        self.endpoint: Final = f"{fetch.method} {fetch.url}"
        self._provenance: Final = Provenance(self.name, self.version, self.endpoint)

    async def fetch(self, dispatch: Dispatch) -> Receipt:
        """Obtain one answer within ``dispatch.timeout_s``, from connect to the last byte."""
        target = self._url.expand(dispatch.arguments)
        if isinstance(target, Unfit):
            return self._fail(Fault.BAD_ARGUMENT, dispatched=False, diagnostics=str(target))
        attempt = _Attempt(self._provenance, self._tls, dispatch.max_bytes, self._now)
        body = _body(self._fetch, dispatch)
        try:
            async with asyncio.timeout(dispatch.timeout_s):
                headers = {**self._headers, **await self._secret_headers(dispatch)}
                receipt = await self._exchange(attempt, target, headers, body)
        except TimeoutError:
            receipt = attempt.fail(Fault.TIMEOUT, "the deadline passed")
        except CredentialUnreadable as error:
            return self._fail(Fault.CREDENTIAL, dispatched=False, diagnostics=str(error))
        return self._without_secrets(receipt)

    async def keep(self, dispatch: Dispatch, receipt: Receipt) -> None:
        """Nothing is kept."""

    async def close(self) -> None:
        """Nothing is open between two calls; a call in flight ends by its own deadline."""

    async def _exchange(
        self, attempt: _Attempt, target: str, headers: Mapping[str, str], body: bytes | None
    ) -> Receipt:
        redirects_left = self._fetch.redirects
        while True:
            receipt, location = await attempt.send(
                self._fetch.method, self._url.origin, target, headers=headers, body=body
            )
            if redirects_left == 0 or location is None or receipt.fault is not None:
                return receipt
            if receipt.status in (301, 302, 303) and self._fetch.method not in ("GET", "HEAD"):
                return receipt  # those would turn the request into another one
            following = _follow(self._url.origin, target, location)
            if following is None:
                return receipt
            redirects_left -= 1
            target = following

    async def _secret_headers(self, dispatch: Dispatch) -> dict[str, str]:
        headers = {}
        if self._fetch.idempotency_header is not None and dispatch.idempotency_key is not None:
            # The host made the key: encoded one to one, so that any text fits into a header.
            key = quote(dispatch.idempotency_key, safe=_KEY_TEXT)
            headers[self._fetch.idempotency_header.lower()] = key
        if self._fetch.credential is not None:
            secret = await asyncio.to_thread(self._credentials.read, self._fetch.credential)
            if _HEADER_TEXT.fullmatch(secret) is None:
                raise CredentialUnreadable(
                    f"credential {self._fetch.credential} holds what no header can carry"
                )
            name = self._fetch.credential_header.lower()
            headers[name] = self._fetch.credential_prefix + secret
        return headers

    def _fail(self, fault: Fault, *, dispatched: bool, diagnostics: str) -> Receipt:
        return self._provenance.fail(
            fault, dispatched=dispatched, diagnostics=self._credentials.mask(diagnostics)
        )

    def _without_secrets(self, receipt: Receipt) -> Receipt:
        """An upstream, or an exception, may echo the credential outside the answer's own bytes."""
        mask = self._credentials.mask
        return replace(
            receipt,
            headers=tuple((name, mask(value)) for name, value in receipt.headers),
            diagnostics=mask(receipt.diagnostics.decode("utf-8", "replace")).encode(),
        )


class _Closable(Protocol):
    async def aclose(self) -> None: ...


class _Attempt:
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


def _constant_headers(fetch: HttpFetch) -> dict[str, str]:
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
    taken = set(_OURS)
    if fetch.credential is not None:
        check_credential_name(fetch.credential)
        _take(fetch.credential_header, taken)
        if _HEADER_TEXT.fullmatch(fetch.credential_prefix) is None:
            raise ConfigurationError("credential_prefix holds what no header can carry")
    if fetch.idempotency_header is not None:
        _take(fetch.idempotency_header, taken)
    for name, value in fetch.headers.items():
        _take(name, taken)
        if _HEADER_TEXT.fullmatch(value) is None:
            raise ConfigurationError(f"the value of header {name!r} is not plain text")
        headers[name.lower()] = value
    return headers


def _take(name: str, taken: set[str]) -> None:
    if _TOKEN.fullmatch(name) is None:
        raise ConfigurationError(f"{name!r} is no header name")
    if name.lower() in taken:
        raise ConfigurationError(f"header {name!r} is set twice, or belongs to the gate alone")
    taken.add(name.lower())


def _tls_context(origin: str, ca_file: str | None) -> ssl.SSLContext:
    if ca_file is None:
        return _system_trust() if origin.startswith("https:") else _trust_nobody()
    context = _trust_nobody()
    try:
        context.load_verify_locations(cafile=ca_file)
    except (OSError, ssl.SSLError) as error:
        raise ConfigurationError(f"ca_file {ca_file} cannot be used: {error}") from error
    return context


def _trust_nobody() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # checks certificate and host name


@functools.cache
def _system_trust() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)  # slow to load, alike for every contract


def _body(fetch: HttpFetch, dispatch: Dispatch) -> bytes | None:
    if fetch.body is None:
        return None
    if fetch.body == "arguments":
        return dispatch.arguments_text
    members = {}
    for name, pointer in fetch.body.items():
        value = pointer.find(dispatch.arguments)
        if value is not NOTHING:
            members[name] = value
    return json.dumps(members, ensure_ascii=False, allow_nan=False).encode("utf-8")


def _follow(origin: str, target: str, location: str) -> str | None:
    """Return the target that ``location`` names on the same origin; None for any other place."""
    if not location.isascii() or any(c <= " " or c in "\x7f\\" for c in location):
        return None
    try:
        there, here = urlsplit(urljoin(origin + target, location)), urlsplit(origin)
        is_same = (there.scheme, there.hostname, there.port) == (
            here.scheme,
            here.hostname,
            here.port,
        )
    except ValueError:
        return None
    if not is_same or "@" in there.netloc:
        return None
    return (there.path or "/") + (f"?{there.query}" if there.query else "")


def _is_header_flood(error: BaseException | None) -> bool:
    while error is not None:
        if getattr(error, "error_status_hint", None) == 431:
            return True
        error = error.__cause__ or error.__context__
    return False
