"""Notices to a real webhook on the loopback: grouped, bounded, never in the gate's way."""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from tests.unit.notices.drift import notice

from sluicegate.errors import ConfigurationError
from sluicegate.notices import delivering, notices, webhook
from sluicegate.notices.log import LOGGER_NAME
from sluicegate.notices.notices import open_notifier
from sluicegate.notices.webhook import WebhookNotifier

pytestmark = pytest.mark.requirement("AUD-6")


class Hook:
    """What a webhook received; ``gate`` lets it answer."""

    def __init__(self, status: int) -> None:
        self.status = status
        self.posted: list[dict[str, Any]] = []
        self.arrived = threading.Semaphore(0)
        self.gate = threading.Event()
        self.gate.set()
        self.url = ""

    def wait(self) -> dict[str, Any]:
        assert self.arrived.acquire(timeout=5)
        return self.posted[-1]


@contextmanager
def hooked(status: int = 204) -> Iterator[Hook]:
    hook = Hook(status)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            hook.posted.append(json.loads(content))
            hook.arrived.release()
            hook.gate.wait(5)
            self.send_response(hook.status)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    hook.url = f"http://127.0.0.1:{server.server_address[1]}/hook/s3cret"
    try:
        yield hook
    finally:
        hook.gate.set()
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_first_notice_is_posted_at_once_and_the_rest_as_one_count() -> None:
    with hooked() as hook:
        notifier = WebhookNotifier(hook.url)
        notifier.notify(notice(0))
        first = hook.wait()
        notifier.notify(notice(1))
        notifier.notify(notice(9))
        notifier.close()
        assert len(hook.posted) == 2
    expected = {
        "format": "sluicegate-notice-v1",
        "text": "job_status 1.0.0: MISSING at conform, 1 time",
        "owner": "ci-platform",
        "tool": "job_status",
        "contract_version": "1.0.0",
        "stage": "conform",
        "code": "MISSING",
        "first": "2026-11-30T03:00:00+00:00",
        "last": "2026-11-30T03:00:00+00:00",
        "count": 1,
        "request_id": "req.00000000",
        "findings": [{"code": "MISSING", "pointer": "/run_id"}],
    }
    assert expected == first
    assert {
        **expected,
        "count": 3,
        "last": "2026-11-30T03:00:09+00:00",
        "text": "job_status 1.0.0: MISSING at conform, 3 times",
    } == hook.posted[1]


def test_a_sentence_of_the_gate_is_posted_and_counted_apart_from_another() -> None:
    with hooked() as hook:
        notifier = WebhookNotifier(hook.url)
        for says in ("no pinned key", "no good certificate"):
            notifier.notify(notice(0, says=says))
            hook.wait()
        notifier.close()
    told = "job_status 1.0.0: MISSING at conform, 1 time"
    assert [each["text"] for each in hook.posted] == [
        f"{told}: no pinned key",
        f"{told}: no good certificate",
    ]


def test_a_window_that_ends_is_posted_without_a_further_notice() -> None:
    with hooked() as hook:
        notifier = WebhookNotifier(hook.url, window_s=0.6)
        hook.gate.clear()
        notifier.notify(notice(0))
        hook.wait()
        notifier.notify(notice(1))  # taken when the first post has ended
        hook.gate.set()
        assert hook.wait()["count"] == 2
        notifier.close()


def test_notify_returns_at_once_and_a_full_queue_is_counted_and_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(delivering, "MAX_WAITING", 2)
    with hooked() as hook, caplog.at_level(logging.WARNING, logger=LOGGER_NAME):
        notifier = WebhookNotifier(hook.url)
        hook.gate.clear()
        notifier.notify(notice(code="A"))
        hook.wait()  # the thread is busy with it now
        for code in "BCDE":
            notifier.notify(notice(code=code))
        assert notifier.dropped == 2
        hook.gate.set()
        notifier.close()
        assert [posted["code"] for posted in hook.posted] == ["A", "B", "C"]
    lost = [record.getMessage() for record in caplog.records]
    assert len(lost) == 2
    assert all("the queue is full" in line and "s3cret" not in line for line in lost)


@pytest.mark.parametrize("status", [302, 307, 404, 500])
def test_a_post_that_is_not_taken_is_written_to_the_log_without_the_url(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    with hooked(status) as hook, caplog.at_level(logging.WARNING, logger=LOGGER_NAME):
        notifier = WebhookNotifier(hook.url)
        notifier.notify(notice())
        notifier.close()
        assert len(hook.posted) == 1  # not sent again, not sent elsewhere
    (line,) = [record.getMessage() for record in caplog.records]
    assert f"not posted to 127.0.0.1 (status {status}): count=1 drift owner=" in line
    assert "s3cret" not in line


def test_a_webhook_that_is_not_there_does_not_end_the_thread(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, logger=LOGGER_NAME):
        notifier = WebhookNotifier("http://127.0.0.1:1/s3cret")
        notifier.notify(notice(code="A"))
        notifier.notify(notice(code="B"))
        notifier.close()
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 2
    assert all("ConnectError" in line and "s3cret" not in line for line in lines)


def test_a_webhook_that_hangs_is_given_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(webhook, "POST_TIMEOUT_S", 0.1)
    with hooked() as hook, caplog.at_level(logging.WARNING, logger=LOGGER_NAME):
        hook.gate.clear()
        notifier = WebhookNotifier(hook.url)
        notifier.notify(notice())
        notifier.close()
    assert "TimeoutError" in caplog.records[0].getMessage()


def codes_of(caplog: pytest.LogCaptureFixture) -> list[tuple[str, int]]:
    """Return the code and the count of each notice that the log tells for want of time."""
    found = [
        re.search(r'\(no time was left\): count=(\d+) .* code="(\w+)"', line)
        for line in caplog.messages
    ]
    assert None not in found, caplog.messages
    return [(each[2], int(each[1])) for each in found if each is not None]


def test_what_is_not_told_when_time_is_up_is_written_to_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with hooked() as hook, caplog.at_level(logging.WARNING, logger=LOGGER_NAME):
        hook.gate.clear()
        notifier = WebhookNotifier(hook.url)
        notifier.notify(notice(code="A"))
        hook.wait()  # under way, and no answer comes
        for code in ("B", "C", "B", "A"):
            notifier.notify(notice(code=code))
        notifier.close(timeout_s=0.0)
        assert codes_of(caplog) == [("A", 1), ("B", 1), ("C", 1), ("A", 2), ("B", 2)]
        hook.gate.set()
        assert notifier._thread is not None
        notifier._thread.join(5)
        assert not notifier._thread.is_alive()
    assert len(hook.posted) == 1
    assert len(caplog.messages) == 5


def test_a_full_queue_is_told_to_its_end_when_the_notifier_closes(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(delivering, "MAX_WAITING", 2)
    with hooked() as hook, caplog.at_level(logging.WARNING, logger=LOGGER_NAME):
        hook.gate.clear()
        notifier = WebhookNotifier(hook.url)
        for code in "AB":
            notifier.notify(notice(code=code))
            if code == "A":
                hook.wait()
        notifier.notify(notice(code="A"))
        notifier.begin_close()
        hook.gate.set()
        notifier.close()
    assert [(each["code"], each["count"]) for each in hook.posted] == [("A", 1), ("B", 1), ("A", 2)]
    assert caplog.messages == []


def test_what_waits_for_a_thread_that_could_not_be_started_is_written_to_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    notifier = WebhookNotifier("http://127.0.0.1:1/s3cret")
    notifier.notify(notice(code="A"))
    caplog.clear()
    notifier.close()
    assert codes_of(caplog) == [("A", 1)]


def test_all_routes_share_one_bound_in_time(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bounds: list[float] = []
    finish = delivering.DeliveringNotifier.finish_close

    def finish_close(route: delivering.DeliveringNotifier, ends: float) -> None:
        bounds.append(ends)
        finish(route, ends)

    monkeypatch.setattr(delivering.DeliveringNotifier, "finish_close", finish_close)
    monkeypatch.setattr(notices, "CLOSE_TIMEOUT_S", 0.1)
    with hooked() as hook, caplog.at_level(logging.WARNING, logger=LOGGER_NAME):
        hook.gate.clear()
        owners = [f"owner-{number}" for number in range(5)]
        notifier = open_notifier(dict.fromkeys(owners, hook.url))
        for owner in owners:
            notifier.notify(notice(owner=owner))
            hook.wait()
        notifier.close()
        assert len(codes_of(caplog)) == 5
    assert bounds == bounds[:1] * 5


def test_after_the_end_a_notice_goes_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    notifier = WebhookNotifier("http://127.0.0.1:1/s3cret")
    notifier.close()
    with caplog.at_level(logging.WARNING, logger=LOGGER_NAME):
        notifier.notify(notice())
    assert len(caplog.records) == 1


def test_proxy_variables_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with hooked() as hook:
        notifier = WebhookNotifier(hook.url)
        notifier.notify(notice())
        notifier.close()
        assert len(hook.posted) == 1


def test_each_owner_hears_through_its_own_route(caplog: pytest.LogCaptureFixture) -> None:
    with hooked() as hook, caplog.at_level(logging.WARNING, logger=LOGGER_NAME):
        notifier = open_notifier({"ci-platform": hook.url, "billing": "log:"})
        for owner in ("ci-platform", "billing", "nobody"):
            notifier.notify(notice(owner=owner))
        notifier.close()
        assert [posted["owner"] for posted in hook.posted] == ["ci-platform"]
    lines = [record.getMessage() for record in caplog.records]
    assert ['owner="billing"' in lines[0], 'owner="nobody"' in lines[1]] == [True, True]


@pytest.mark.parametrize("route", ["", "log", "mailto:a@b.c", "ftp://x/y", "https://", "/hook"])
def test_a_route_of_another_form_is_a_configuration_error(route: str) -> None:
    with pytest.raises(ConfigurationError, match="log:"):
        open_notifier({"ci-platform": route})
