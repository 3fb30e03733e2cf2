"""One HTTP upstream as the contract names it (SPEC ADP-1, ADP-2, ADP-5, RES-1)."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

import httpx2

from sluicegate.adapters.credentials import Credentials, CredentialUnreadable
from sluicegate.adapters.endpoints import tell_url
from sluicegate.adapters.http_attempt import HttpAttempt
from sluicegate.adapters.http_settings import HEADER_TEXT, constant_headers, tls_context
from sluicegate.adapters.provenance import PACKAGE_VERSION, Provenance
from sluicegate.adapters.templates import Unfit, UrlTemplate
from sluicegate.contracts.contract import HttpFetch
from sluicegate.gates.ports import Dispatch
from sluicegate.values.names import show_name
from sluicegate.values.pointers import NOTHING
from sluicegate.values.receipts import Fault, Receipt

_LOG: Final = logging.getLogger("sluicegate")
REQUEST_ID_HEADER: Final = "x-request-id"
"""An upstream that answers with an envelope echoes this id (SPEC ENV-3)."""

_KEY_TEXT: Final = "!#$&'()*+,/:;=?@[]"


class HttpAdapter:
    """Asks one HTTP upstream. Host, method, headers and credential are the contract's constants."""

    name: Final = "http"
    version: Final = f"{PACKAGE_VERSION} httpx2/{httpx2.__version__}"

    def __init__(
        self,
        fetch: HttpFetch,
        credentials: Credentials,
        *,
        plain: bool = False,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Make the adapter; ``plain`` asks for content without an encoding.

        Raises: ConfigurationError for a URL, header, credential name or CA file of no use.
        """
        self._fetch = fetch
        self._credentials = credentials
        self._now = now
        self._url: Final = UrlTemplate(fetch.url, fetch.query)
        self._headers: Final = constant_headers(fetch)
        if plain:
            self._headers["accept-encoding"] = "identity"
        self._tls: Final = tls_context(self._url.origin, fetch.ca_file)
        self.endpoint: Final = tell_url(fetch.method, fetch.url)
        self._provenance: Final = Provenance(self.name, self.version, self.endpoint)

    async def fetch(self, dispatch: Dispatch) -> Receipt:
        """Obtain one answer within ``dispatch.timeout_s``, from connect to the last byte."""
        target = self._url.expand(dispatch.arguments)
        if isinstance(target, Unfit):
            return self._fail(Fault.BAD_ARGUMENT, dispatched=False, diagnostics=str(target))
        attempt = HttpAttempt(self._provenance, self._tls, dispatch.max_bytes, self._now)
        body = _body(self._fetch, dispatch)
        try:
            async with asyncio.timeout(dispatch.timeout_s):
                headers = {
                    **self._headers,
                    REQUEST_ID_HEADER: dispatch.request_id,
                    **await self._secret_headers(dispatch),
                }
                receipt = await self._exchange(attempt, target, headers, body)
        except TimeoutError:
            receipt = attempt.fail(Fault.TIMEOUT, "the deadline passed")
        except CredentialUnreadable as error:
            return self._fail(Fault.CREDENTIAL, dispatched=False, diagnostics=str(error))
        if receipt.fault is Fault.CERTIFICATE:
            _LOG.error(
                "call %s: the certificate of %s does not verify: another server may stand in its"
                " place",
                dispatch.request_id,
                show_name(self._url.origin),
            )
        return self._credentials.without_secrets(receipt)

    async def keep(self, dispatch: Dispatch, receipt: Receipt) -> None:
        """Nothing is kept."""

    async def close(self) -> None:
        """Nothing is open between two calls; a call in flight ends by its own deadline."""

    async def _exchange(
        self, attempt: HttpAttempt, target: str, headers: Mapping[str, str], body: bytes | None
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
            if HEADER_TEXT.fullmatch(secret) is None:
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
