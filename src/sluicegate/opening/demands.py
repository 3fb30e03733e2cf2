"""What a gate demands of any machine before it opens, by the settings alone.

What lies on another machine or in the environment is for ``doctor`` on the machine that serves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from sluicegate.contracts.settings import Settings
from sluicegate.errors import ConfigurationError
from sluicegate.notices.notices import demand_route
from sluicegate.opening.key_stores import demand_key_store
from sluicegate.opening.quotas import demand_quota
from sluicegate.opening.settings_problems import SettingFault
from sluicegate.stores.keys import demand_keys
from sluicegate.stores.stores import demand_store
from sluicegate.values.pointers import Pointer


def find_unmet(settings: Settings) -> Iterator[SettingFault]:
    """Yield what keeps a gate from opening wherever this installation stands.

    Rejects: a library of an extra that is not installed, and an address that no client takes.
    """
    for pointer, demand in _demands(settings):
        try:
            demand()
        except ConfigurationError as error:
            yield SettingFault(pointer, str(error))


def _demands(settings: Settings) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield each demand with the pointer of the setting that makes it."""
    yield "/audit/store", partial(demand_store, settings.audit)
    yield "/audit/keys", partial(demand_keys, settings.audit.keys)
    yield "/limits/quota_store", partial(demand_quota, settings.limits.quota_store)
    yield "/limits/key_store", partial(demand_key_store, settings.limits.key_store)
    for owner, route in settings.notify.items():
        yield Pointer(("notify", owner)).text, partial(demand_route, route)
