"""When a call is open: one table for the story, the stores' question and the operator."""

from __future__ import annotations

import pytest
from tests.unit.stores.made import intent, outcome, resolution

from sluicegate.gates.events import EventKind, Outcome

UNKNOWN = Outcome.UNKNOWN
FAILURE = Outcome.FAILURE

OPEN_CALL_CASES = [
    pytest.param([], [], id="nothing"),
    pytest.param([intent()], [1], id="running, or crashed"),
    pytest.param([intent(), outcome()], [], id="done"),
    pytest.param([intent(), outcome(became=FAILURE)], [], id="failed for certain"),
    pytest.param([intent(), outcome(became=Outcome.REFUSED)], [], id="never dispatched"),
    pytest.param([intent(), outcome(became=UNKNOWN)], [1], id="unknown"),
    pytest.param([intent(), outcome(became=UNKNOWN), resolution()], [], id="resolved"),
    pytest.param(
        [intent(), outcome(became=UNKNOWN), resolution("req.00000009")],
        [1],
        id="another call was resolved",
    ),
    pytest.param([resolution(), intent()], [1], id="resolved before it ran"),
    pytest.param([intent(), resolution()], [], id="a crash was resolved"),
    pytest.param(
        [intent(), resolution(), intent(attempt=2)], [2], id="an attempt after the resolution"
    ),
    pytest.param([intent(), outcome(attempt=2)], [], id="a later attempt has the outcome"),
    pytest.param(
        [intent(), outcome(became=UNKNOWN), intent(attempt=2), outcome(attempt=2)],
        [],
        id="unknown, then a second attempt succeeded",
    ),
    pytest.param(
        [intent(), outcome(became=UNKNOWN), intent(attempt=2), outcome(attempt=2, became=FAILURE)],
        [],
        id="unknown, then a second attempt failed for certain",
    ),
    pytest.param(
        [intent(), outcome(became=UNKNOWN), intent(attempt=2), outcome(attempt=2, became=UNKNOWN)],
        [1, 2],
        id="unknown twice",
    ),
    pytest.param(
        [
            *(intent(), outcome(became=UNKNOWN)),
            *(intent(attempt=2), outcome(attempt=2, became=UNKNOWN), resolution()),
        ],
        [],
        id="unknown twice, then resolved",
    ),
    pytest.param(
        [intent(attempt=2), outcome(attempt=1)], [2], id="an earlier attempt has the outcome"
    ),
    pytest.param([intent(), outcome("req.00000002")], [1], id="another call has the outcome"),
    pytest.param(
        [intent(), outcome(became=FAILURE), intent(attempt=2)], [2], id="the second attempt runs"
    ),
    pytest.param(
        [intent(), intent(kind=EventKind.NOTICE, detail={"resolves": "req.00000001"})],
        [1],
        id="only an operator resolves",
    ),
    pytest.param(
        [intent(), intent(kind=EventKind.OPERATOR, attempt=0, detail={"act": "reveal"})],
        [1],
        id="an operator looked",
    ),
    pytest.param(
        [
            intent(),
            intent("req.other", kind=EventKind.OPERATOR, detail={"resolves": "req.00000001"}),
        ],
        [1],
        id="an act outside the call's story",
    ),
]
"""(events of the record, attempts of req.00000001 that are open)"""
