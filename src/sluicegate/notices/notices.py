"""Which notifier an owner hears through."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

from sluicegate.gates.ports import Notice
from sluicegate.notices.delivering import CLOSE_TIMEOUT_S, DeliveringNotifier
from sluicegate.notices.log import LogNotifier
from sluicegate.notices.through_apprise import SCHEME, AppriseNotifier, demand_apprise
from sluicegate.notices.webhook import WebhookNotifier, check_url

LOG: Final = "log:"


class RoutedNotifier:
    """Hands each notice to the notifier of its owner; an owner without a route gets the log."""

    def __init__(self, routes: Mapping[str, DeliveringNotifier]) -> None:
        self._routes: Final = dict(routes)
        self._log: Final = LogNotifier()

    def notify(self, notice: Notice) -> None:
        """Take the notice and return at once."""
        route = self._routes.get(notice.owner)
        if route is None:
            self._log.notify(notice)
        else:
            route.notify(notice)

    def close(self) -> None:
        """Tell what waits on every route at once; one bound in time for all, the rest is logged."""
        ends = time.monotonic() + CLOSE_TIMEOUT_S
        for route in self._routes.values():
            route.begin_close()
        for route in self._routes.values():
            route.finish_close(ends)


def open_notifier(routes: Mapping[str, str]) -> RoutedNotifier:
    """Return the notifier for ``notify`` of sluicegate.yaml.

    It maps an owner to ``log:``, a webhook URL or ``apprise:env:NAME``. Raises: ConfigurationError
    for a route of another form, a variable that is not set, a library that is not installed.
    """
    return RoutedNotifier(
        {owner: _open_route(route) for owner, route in routes.items() if route != LOG}
    )


def demand_route(route: str) -> None:
    """See that one route could be opened, whatever the environment holds.

    Raises: ConfigurationError for a library that is not installed, and for what is no address.
    """
    if route.startswith(SCHEME):
        demand_apprise()
    elif route != LOG:
        check_url(route)


def try_route(route: str) -> str:
    """Open one route as a gate does, tell nothing, and return what may be shown of it.

    Raises: as ``open_notifier``.
    """
    if route == LOG:
        return "the log"
    opened = _open_route(route)
    opened.close()
    return opened.shown


def _open_route(route: str) -> DeliveringNotifier:
    return AppriseNotifier(route) if route.startswith(SCHEME) else WebhookNotifier(route)
