"""The place of an adapter for tools whose host fetches for itself (SPEC ARG-9)."""

from __future__ import annotations

from sluicegate.adapters.provenance import PACKAGE_VERSION, Provenance
from sluicegate.gates.ports import Dispatch
from sluicegate.values.receipts import Fault, Receipt


class HostAdapter:
    """Fetches nothing: such a tool is called with ``check_call`` and ``check_result``."""

    name = "host"
    version = PACKAGE_VERSION
    endpoint = "host"

    async def fetch(self, dispatch: Dispatch) -> Receipt:
        """Return UNREACHABLE, certainly not dispatched."""
        return Provenance(self.name, self.version, self.endpoint).fail(
            Fault.UNREACHABLE,
            dispatched=False,
            diagnostics="the host fetches for this tool: use check_call and check_result",
        )

    async def keep(self, dispatch: Dispatch, receipt: Receipt) -> None:
        """Nothing is kept."""

    async def close(self) -> None:
        """Nothing is open."""
