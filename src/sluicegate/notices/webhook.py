"""Drift notices as JSON posted to an owner's webhook, grouped, from a thread of its own (AUD-6)."""

from __future__ import annotations

import asyncio
import json
import logging
import queue
import ssl
import threading
import time
from collections.abc import Callable
from datetime import UTC
from typing import Final
from urllib.parse import urlsplit

import httpx2

from sluicegate.errors import ConfigurationError
from sluicegate.gates.ports import Notice
from sluicegate.notices.grouping import Gathered, Groups
from sluicegate.notices.log import LOGGER_NAME, MAX_PLACES, describe_notice
from sluicegate.values.names import show_name

WINDOW_S: Final = 60.0
MAX_WAITING: Final = 256
POST_TIMEOUT_S: Final = 5.0
"""Total time of one post, from the name look-up to the status line."""

_LOG: Final = logging.getLogger(LOGGER_NAME)


class _Stop:
    """The last thing in the queue."""


class WebhookNotifier:
    """Posts notices to one URL; ``notify`` only puts them into a bounded queue.

    A post that fails, and a notice that finds the queue full, are written to the log instead; the
    URL itself may hold a secret and is never written. Redirects are not followed, proxy
    variables are ignored.
    """

    def __init__(
        self,
        url: str,
        *,
        window_s: float = WINDOW_S,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Raises: ConfigurationError where ``url`` is no http or https URL with a host."""
        self._url: Final = _check_url(url)
        self._host: Final = urlsplit(url).hostname or ""
        self._tls: Final = httpx2.create_ssl_context(trust_env=False)
        self._groups = Groups(window_s)
        self._monotonic = monotonic
        self._waiting: queue.Queue[Notice | _Stop] = queue.Queue(MAX_WAITING)
        self._lock = threading.Lock()
        self._dropped = 0
        self._is_closed = False
        self._thread: threading.Thread | None = None

    def notify(self, notice: Notice) -> None:
        """Take the notice and return at once; where there is no room it is counted and logged."""
        with self._lock:
            if self._is_closed:
                _LOG.warning("%s", describe_notice(notice))
                return
            try:
                self._waiting.put_nowait(notice)
            except queue.Full:
                self._dropped += 1
                _LOG.warning("not posted, the queue is full: %s", describe_notice(notice))
                return
            self._start()

    def close(self, timeout_s: float = 2 * POST_TIMEOUT_S) -> None:
        """Post what waits and every open count, then end the thread; wait at most ``timeout_s``."""
        with self._lock:
            self._is_closed = True
            thread = self._thread
        if thread is None:
            return
        ends = time.monotonic() + timeout_s
        try:
            self._waiting.put(_Stop(), timeout=timeout_s)
        except queue.Full:
            _LOG.warning("notices to %s were not all posted", self._host)
            return
        thread.join(max(ends - time.monotonic(), 0))

    @property
    def dropped(self) -> int:
        """How many notices found the queue full."""
        return self._dropped

    def _start(self) -> None:
        if self._thread is not None:
            return
        thread = threading.Thread(target=self._work, name="sluicegate notices", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system gives no more threads: the next notice tries again
            _LOG.error("notices to %s wait: no thread could be started", self._host)
            return
        self._thread = thread

    def _work(self) -> None:
        while True:
            try:
                taken = self._waiting.get(timeout=self._pause_s())
            except queue.Empty:
                self._post_all(self._groups.close_due(self._monotonic()))
                continue
            if isinstance(taken, _Stop):
                self._post_all(self._groups.close_all())
                return
            at = self._monotonic()
            due = self._groups.close_due(at)
            opened = self._groups.take(taken, at)
            self._post_all([*due, opened] if opened is not None else due)

    def _pause_s(self) -> float | None:
        ends = self._groups.next_end()
        return None if ends is None else max(ends - self._monotonic(), 0.0)

    def _post_all(self, gathered: list[Gathered]) -> None:
        for one in gathered:
            try:
                status = asyncio.run(_post(self._url, shape_notice(one), self._tls))
            except Exception as error:  # noqa: BLE001  (a notice must not end the thread)
                problem = type(error).__name__  # its text may quote the URL
            else:
                if 200 <= status < 300:
                    continue
                problem = f"status {status}"
            _LOG.warning(
                "not posted to %s (%s): count=%d %s",
                self._host,
                problem,
                one.count,
                describe_notice(one.notice),
            )


def shape_notice(gathered: Gathered) -> bytes:
    """Return the posted JSON: what drifted, where, how often; no values, no secrets."""
    notice = gathered.notice
    findings = [
        {"code": str(finding.code), "pointer": show_name(finding.pointer)}
        for finding in notice.findings[:MAX_PLACES]
    ]
    line = f"{notice.tool} {notice.contract_version}: {notice.code} at {notice.stage}"
    return json.dumps(
        {
            "format": "sluicegate-notice-v1",
            "text": f"{line}, {gathered.count} time{'' if gathered.count == 1 else 's'}",
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


def _check_url(url: str) -> str:
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError):
        parsed = None
    if parsed is None or parsed.scheme not in ("http", "https") or not parsed.host:
        raise ConfigurationError(
            "a notice goes to 'log:' or to a webhook (https://HOST/PATH); "
            "write one of them in `notify` of sluicegate.yaml"
        )
    return url
