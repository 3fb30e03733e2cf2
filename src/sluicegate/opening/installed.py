"""Whether the libraries are installed that the settings ask for, by the settings alone.

What lies on another machine or in the environment is for ``doctor`` on the machine that serves.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Final, Literal

from sluicegate.contracts.settings import Settings
from sluicegate.errors import ConfigurationError
from sluicegate.notices.notices import demand_route
from sluicegate.opening.outside_files import OutsideFault
from sluicegate.stores.stores import demand_postgres, is_postgres
from sluicegate.values.pointers import Pointer

Part = Literal["audit", "limits", "notify"]

_QUOTA: Final = ("limits", "quota_store")
_KEYS: Final = ("limits", "key_store")


def find_lacking(settings: Settings) -> Iterator[tuple[Part, OutsideFault]]:
    """Yield what keeps a gate from opening wherever this installation stands.

    Rejects: a library of an extra that is not installed, and an address of `notify` that is none.
    """
    if is_postgres(settings.audit):
        try:
            demand_postgres()
        except ConfigurationError as error:
            yield "audit", OutsideFault("/audit/store", str(error))
    if settings.audit.keys.startswith("keyring:"):
        yield from _lacking("audit", ("audit", "keys"), "keyring", ("keyring",))
    store = settings.limits.quota_store
    if store == "memory:":
        yield from _lacking("limits", _QUOTA, "access", ("limits",))
    elif store != "audit:":
        yield from _lacking("limits", _QUOTA, "access,redis", ("limits", "redis"))
    if settings.limits.key_store != "audit:":
        yield from _lacking("limits", _KEYS, "redis", ("redis",))
    for owner, route in settings.notify.items():
        try:
            demand_route(route)
        except ConfigurationError as error:
            yield "notify", OutsideFault(Pointer(("notify", owner)).text, str(error))


def _lacking(
    part: Part, place: tuple[str, ...], extras: str, libraries: tuple[str, ...]
) -> Iterator[tuple[Part, OutsideFault]]:
    for library in libraries:
        if find_spec(library) is None:
            says = f"{'.'.join(place)} needs {library}, which is not installed: install"
            yield part, OutsideFault(Pointer(place).text, f"{says} sluicegate[{extras}]")
            return
