"""Drift notices through Apprise: mail, chat, pagers; whatever its URL names (AUD-6)."""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC
from importlib import import_module
from importlib.util import find_spec
from typing import Final, Protocol, cast

from sluicegate.errors import ConfigurationError
from sluicegate.notices.delivering import WINDOW_S, DeliveringNotifier
from sluicegate.notices.grouping import Gathered
from sluicegate.notices.log import MAX_PLACES, describe_place
from sluicegate.values.names import show_name, show_sentence

SCHEME: Final = "apprise:env:"
_LOQUACIOUS: Final = ("apprise", "requests", "urllib3.connectionpool", "urllib3.util.retry")
"""Loggers of the libraries that write the URL or its path, which is where the secrets stand."""


_delivers: Final = ContextVar("delivers", default=False)


class _Apprise(Protocol):
    def add(self, servers: str) -> bool: ...

    def notify(self, body: str, *, title: str, body_format: str) -> object: ...


class AppriseNotifier(DeliveringNotifier):
    """Tells the targets of one variable; several URLs stand in it separated by blanks.

    Apprise follows the proxy variables, unlike everything else here. What its libraries log while
    they deliver is left out: it quotes URLs.
    """

    def __init__(
        self,
        route: str,
        *,
        window_s: float = WINDOW_S,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """``route``: ``apprise:env:NAME``. Raises: ConfigurationError, which quotes no URL."""
        name = route.removeprefix(SCHEME)
        self._targets: Final = _open_targets(name)
        self._silence: Final = _Silence()
        super().__init__(f"the targets of {name}", window_s=window_s, monotonic=monotonic)

    def _deliver(self, gathered: Gathered) -> str | None:
        body, title = describe_gathered(gathered), f"drift: {show_name(gathered.notice.tool)}"
        with self._silence:
            told = [each.notify(body, title=title, body_format="text") for each in self._targets]
        refused = sum(1 for each in told if not each)  # a result object, or a bool before 2.3
        return None if refused == 0 else f"{refused} of {len(told)} targets did not take it"


def describe_gathered(gathered: Gathered) -> str:
    """Return the body: what drifted, how often, from when to when; no values, no secrets."""
    notice = gathered.notice
    what = f"{show_name(notice.code)} at {show_name(notice.stage)}"
    lines = [
        f"{show_name(notice.tool)} {show_name(notice.contract_version)}: {what}",
        *((show_sentence(notice.says),) if notice.says else ()),
        f"count: {gathered.count}",
        f"first: {gathered.first.astimezone(UTC).isoformat()}",
        f"last: {gathered.last.astimezone(UTC).isoformat()}",
        f"request: {show_name(notice.request_id)}",
        *map(describe_place, notice.findings[:MAX_PLACES]),
    ]
    return "\n".join(lines)


def demand_apprise() -> None:
    """Raises: ConfigurationError where the library is not installed."""
    if find_spec("apprise") is None:
        raise ConfigurationError(
            "`notify` names Apprise, which needs the extra: install sluicegate[notify]"
        )


def _open_targets(name: str) -> list[_Apprise]:
    """One Apprise a URL, so that each says whether it took the notice."""
    demand_apprise()
    module = import_module("apprise")
    urls = os.environ.get(name, "").split()
    if not urls:
        raise ConfigurationError(
            f"the environment variable {name} (`notify`) is not set: give it the URL of an Apprise"
            " target"
        )
    with _Silence(), warnings.catch_warnings():
        # Its plugins are imported here, and some use modules that Python is about to drop.
        warnings.simplefilter("ignore", DeprecationWarning)
        asset = module.AppriseAsset(async_mode=False)  # no threads beside those that bound it
        targets = [cast("_Apprise", module.Apprise(asset=asset)) for _ in urls]
        taken = [target.add(url) for target, url in zip(targets, urls, strict=True)]
    if taken.count(True) != len(urls):
        raise ConfigurationError(
            f"the environment variable {name} (`notify`) holds something that is no URL of an"
            " Apprise target; several stand separated by blanks"
        )
    return targets


class _Silence(logging.Filter):
    """While it is entered, what the libraries log on this course goes nowhere.

    By context, not by thread: Apprise sends in threads of its own, and hands the context on.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        return not _delivers.get()

    def __enter__(self) -> None:
        self._token = _delivers.set(True)
        for name in _LOQUACIOUS:
            logging.getLogger(name).addFilter(self)

    def __exit__(self, *_: object) -> None:
        for name in _LOQUACIOUS:
            logging.getLogger(name).removeFilter(self)
        _delivers.reset(self._token)
