"""The set of contracts that a gate serves: immutable, swapped whole (CON-3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sluicegate.contracts.contract import Contract
from sluicegate.contracts.settings import Settings
from sluicegate.values.digests import Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractSet:
    """``contracts`` by tool name; ``digest`` over all of them and the settings."""

    contracts: Mapping[str, Contract]
    settings: Settings
    digest: Digest
