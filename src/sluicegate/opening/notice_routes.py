"""Routes of `notify` that no notice can take, held against the contracts (AUD-6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sluicegate.contracts.marks import Document
from sluicegate.contracts.served import ContractSet
from sluicegate.contracts.yaml_reading import read_document
from sluicegate.opening.documents import Folder
from sluicegate.values.names import say_near, show_name
from sluicegate.values.pointers import Pointer

OPERATORS = ""
"""What a gate tells of itself, as a reload that kept the old set, has this owner."""


@dataclass(frozen=True, slots=True)
class IdleRoute:
    """A route whose owner no contract has; ``pointer`` leads into sluicegate.yaml."""

    pointer: str
    says: str


def find_idle_routes(read: Folder, contracts: ContractSet) -> Iterator[IdleRoute]:
    """Yield the routes that no notice takes: their owner's name is misspelt, or a former one.

    Every version that is served counts, and the one that a rollback stands in for. A folder without
    contracts tells of no owner.
    """
    owners = {contract.owner for contract in contracts.every_version()}
    if not owners:
        return
    owners.update(_find_working_owners(read))
    for owner in contracts.settings.notify:
        if owner != OPERATORS and owner not in owners:
            yield IdleRoute(
                Pointer(("notify", owner)).text,
                f"`notify` tells nobody at this address: no contract here has the owner"
                f" {show_name(owner)}{say_near(owner, owners)}",
            )


def _find_working_owners(read: Folder) -> Iterator[str]:
    for name in read.tool_folders():
        document = read_document(name, read.documents[name])
        if isinstance(document, Document) and isinstance(document.value, dict):
            owner = document.value.get("owner")
            if isinstance(owner, str):
                yield owner
