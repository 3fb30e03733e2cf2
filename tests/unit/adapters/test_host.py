"""A tool whose host fetches for itself has an adapter that fetches nothing."""

from __future__ import annotations

import pytest
from tests.unit.adapters.dispatches import dispatch

from sluicegate.adapters.host import HostAdapter
from sluicegate.values.receipts import Fault


@pytest.mark.requirement("ARG-9")
async def test_the_host_adapter_fetches_nothing_and_says_what_to_use() -> None:
    receipt = await HostAdapter().fetch(dispatch())
    assert (receipt.fault, receipt.dispatched, receipt.raw) == (Fault.UNREACHABLE, False, b"")
    assert b"check_call" in receipt.diagnostics
