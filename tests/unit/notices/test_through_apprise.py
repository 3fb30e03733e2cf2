"""Notices through Apprise to a real target on the loopback; its URL shows nowhere."""

from __future__ import annotations

import logging
import sys
from urllib.parse import urlsplit

import pytest
from tests.unit.notices.drift import notice
from tests.unit.notices.test_webhook import Hook, hooked

from sluicegate.errors import ConfigurationError
from sluicegate.notices.log import LOGGER_NAME
from sluicegate.notices.notices import open_notifier
from sluicegate.notices.through_apprise import AppriseNotifier

pytestmark = pytest.mark.requirement("AUD-6")

ROUTE = "apprise:env:OWNERS"
SECRET = "s3cret"  # of the path of each hook


def point(monkeypatch: pytest.MonkeyPatch, *hooks: Hook, also: str = "") -> None:
    urls = [f"json://{urlsplit(hook.url).netloc}/hook/{SECRET}" for hook in hooks]
    monkeypatch.setenv("OWNERS", " ".join([*urls, also]))


def test_an_owner_is_told_the_first_at_once_and_the_rest_with_count_first_and_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with hooked() as hook:
        point(monkeypatch, hook)
        notifier = open_notifier({"ci-platform": ROUTE})
        notifier.notify(notice(0))
        first = hook.wait()
        notifier.notify(notice(1))
        notifier.notify(notice(9))
        notifier.close()
    assert first["title"] == "drift: job_status"
    assert first["message"].split("\n") == [
        "job_status 1.0.0: MISSING at conform",
        "count: 1",
        "first: 2026-11-30T03:00:00+00:00",
        "last: 2026-11-30T03:00:00+00:00",
        "request: req.00000000",
        "MISSING /run_id",
    ]
    assert [line for line in hook.posted[1]["message"].split("\n") if ": " in line][1:4] == [
        "count: 3",
        "first: 2026-11-30T03:00:00+00:00",
        "last: 2026-11-30T03:00:09+00:00",
    ]


def test_each_of_several_targets_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with hooked() as one, hooked() as two:
        point(monkeypatch, one, two)
        notifier = AppriseNotifier(ROUTE)
        notifier.notify(notice())
        notifier.close()
        assert (len(one.posted), len(two.posted)) == (1, 1)


def test_a_target_that_refuses_is_told_in_the_log_without_its_url(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with hooked(500) as bad, hooked() as good, caplog.at_level(logging.DEBUG):
        point(monkeypatch, good, bad)
        notifier = AppriseNotifier(ROUTE)
        notifier.notify(notice())
        notifier.close()
        assert len(good.posted) == 1
    (record,) = [each for each in caplog.records if each.name == LOGGER_NAME]
    assert "not posted to the targets of OWNERS (1 of 2 targets did not take it)" in record.message
    assert 'request_id="req.00000000"' in record.message
    assert SECRET not in caplog.text


def test_what_others_log_meanwhile_is_not_left_out(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with hooked() as hook, caplog.at_level(logging.DEBUG):
        hook.gate.clear()
        point(monkeypatch, hook)
        notifier = AppriseNotifier(ROUTE)
        notifier.notify(notice())
        hook.wait()  # the target holds its answer back: it is being delivered now
        logging.getLogger("apprise").warning("of the host")
        hook.gate.set()
        notifier.close()
    assert [record.message for record in caplog.records if record.name == "apprise"] == [
        "of the host"
    ]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "is not set"),
        ("", "is not set"),
        ("no-url-s3cret", "no URL of an Apprise target"),
        ("json://127.0.0.1/a nosuch://s3cret", "no URL of an Apprise target"),
    ],
    ids=["unset", "empty", "no URL", "one of two"],
)
def test_a_variable_that_names_no_target_is_told_when_the_folder_opens(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    value: str | None,
    says: str,
) -> None:
    monkeypatch.delenv("OWNERS", raising=False)
    if value is not None:
        monkeypatch.setenv("OWNERS", value)
    with caplog.at_level(logging.DEBUG), pytest.raises(ConfigurationError, match=says) as caught:
        open_notifier({"ci-platform": ROUTE})
    assert SECRET not in str(caught.value) + caplog.text


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWNERS", "json://127.0.0.1/a")
    monkeypatch.setitem(sys.modules, "apprise", None)
    with pytest.raises(ConfigurationError, match=r"install sluicegate\[notify\]"):
        open_notifier({"ci-platform": ROUTE})
