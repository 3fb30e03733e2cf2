"""The set of contracts that a gate serves: immutable, swapped whole (CON-3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sluicegate.contracts.contract import Contract
from sluicegate.contracts.settings import WHOLE_SHARE, ServeRow, Settings
from sluicegate.contracts.versions import CURRENT
from sluicegate.values.digests import Digest
from sluicegate.values.names import show_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One of the versions of a tool that are served side by side, and to whom."""

    row: ServeRow
    contract: Contract

    def __str__(self) -> str:
        share = self.row.share or 0
        to = [show_name(caller) for caller in sorted(self.row.callers)]
        if share == WHOLE_SHARE:
            to.append("all others" if to else "all callers")
        elif share:
            to.append(f"{share / (WHOLE_SHARE // 100):g} % of the {'others' if to else 'callers'}")
        return f"{self.contract.version} to {', '.join(to) or 'nobody'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractSet:
    """``contracts`` has one version a tool, by its name; ``digest`` is over all and the settings.

    ``rollouts`` holds every version of the tools that are served in several. The one in
    ``contracts`` is that being worked on, and in the set of a gate, that of the greatest share: who
    asks about all of them takes ``every_version``.
    """

    contracts: Mapping[str, Contract]
    settings: Settings
    digest: Digest
    rollouts: Mapping[str, tuple[Offer, ...]] = field(default_factory=dict)

    def every_version(self) -> tuple[Contract, ...]:
        """Return each contract of the set once: those of ``contracts``, then the others."""
        offered = (offer.contract for offers in self.rollouts.values() for offer in offers)
        every = (*self.contracts.values(), *offered)
        return tuple({(each.tool, each.version, each.source): each for each in every}.values())

    def frozen(self) -> tuple[Contract, ...]:
        """Return the released contracts among the versions that are served side by side."""
        return tuple(
            offer.contract
            for offers in self.rollouts.values()
            for offer in offers
            if offer.row.version != CURRENT
        )
