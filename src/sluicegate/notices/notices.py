"""Which notifier an owner hears through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sluicegate.gates.ports import Notice
from sluicegate.notices.log import LogNotifier
from sluicegate.notices.webhook import WebhookNotifier


class RoutedNotifier:
    """Hands each notice to the notifier of its owner; an owner without a route gets the log."""

    def __init__(self, webhooks: Mapping[str, WebhookNotifier]) -> None:
        self._webhooks: Final = dict(webhooks)
        self._log: Final = LogNotifier()

    def notify(self, notice: Notice) -> None:
        """Take the notice and return at once."""
        webhook = self._webhooks.get(notice.owner)
        if webhook is None:
            self._log.notify(notice)
        else:
            webhook.notify(notice)

    def close(self) -> None:
        """Post what waits; bounded in time."""
        for webhook in self._webhooks.values():
            webhook.close()


def open_notifier(routes: Mapping[str, str]) -> RoutedNotifier:
    """Return the notifier for ``notify`` of sluicegate.yaml: owner to ``log:`` or a webhook URL.

    Raises: ConfigurationError for a route of another form.
    """
    return RoutedNotifier(
        {owner: WebhookNotifier(route) for owner, route in routes.items() if route != "log:"}
    )
