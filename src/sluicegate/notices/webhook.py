"""Drift notices as JSON posted to an owner's webhook, grouped, from a thread of its own (AUD-6)."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import Callable
from datetime import UTC
from typing import Final
from urllib.parse import urlsplit

import httpx2

from sluicegate.errors import ConfigurationError
from sluicegate.notices.delivering import WINDOW_S, DeliveringNotifier
from sluicegate.notices.grouping import Gathered
from sluicegate.notices.log import MAX_PLACES
from sluicegate.values.names import show_name, show_sentence

POST_TIMEOUT_S: Final = 5.0
"""Total time of one post, from the name look-up to the status line."""


class WebhookNotifier(DeliveringNotifier):
    """Posts notices to one URL. Redirects are not followed, proxy variables are ignored."""

    def __init__(
        self,
        url: str,
        *,
        window_s: float = WINDOW_S,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Raises: ConfigurationError where ``url`` is no http or https URL with a host."""
        self._url: Final = check_url(url)
        self._tls: Final = httpx2.create_ssl_context(trust_env=False)
        host = urlsplit(url).hostname or ""
        super().__init__(host, window_s=window_s, monotonic=monotonic)

    def _deliver(self, gathered: Gathered) -> str | None:
        status = asyncio.run(_post(self._url, shape_notice(gathered), self._tls))
        return None if 200 <= status < 300 else f"status {status}"


def shape_notice(gathered: Gathered) -> bytes:
    """Return the posted JSON: what drifted, where, how often; no values, no secrets."""
    notice = gathered.notice
    findings = [
        {"code": str(finding.code), "pointer": show_name(finding.pointer)}
        for finding in notice.findings[:MAX_PLACES]
    ]
    line = f"{notice.tool} {notice.contract_version}: {notice.code} at {notice.stage}"
    text = f"{line}, {gathered.count} time{'' if gathered.count == 1 else 's'}"
    says = show_sentence(notice.says)
    return json.dumps(
        {
            "format": "sluicegate-notice-v1",
            "text": f"{text}: {says}" if says else text,
            "owner": notice.owner,
            "tool": notice.tool,
            "contract_version": notice.contract_version,
            "stage": notice.stage,
            "code": notice.code,
            "first": gathered.first.astimezone(UTC).isoformat(),
            "last": gathered.last.astimezone(UTC).isoformat(),
            "count": gathered.count,
            "request_id": notice.request_id,
            "findings": findings,
        }
    ).encode("ascii")


async def _post(url: str, content: bytes, tls: ssl.SSLContext) -> int:
    request = httpx2.Request(
        "POST",
        url,
        headers={"content-type": "application/json", "connection": "close"},
        content=content,
    )
    async with (
        asyncio.timeout(POST_TIMEOUT_S),
        httpx2.AsyncHTTPTransport(verify=tls, trust_env=False) as sender,
    ):
        response = await sender.handle_async_request(request)
        await response.aclose()  # the body is of no interest, and may have no end
        return response.status_code


def check_url(url: str) -> str:
    """Return ``url``. Raises: ConfigurationError where it is no http or https URL with a host."""
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError):
        parsed = None
    if parsed is None or parsed.scheme not in ("http", "https") or not parsed.host:
        raise ConfigurationError(
            "a notice goes to 'log:', to a webhook (https://HOST/PATH) or to apprise:env:NAME; "
            "write one of them in `notify` of sluicegate.yaml"
        )
    return url
