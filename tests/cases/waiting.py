"""Rows that wait for a part that is not built, by id. ``test_cases`` holds this list exact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

WAITING: Final[Mapping[str, str]] = {
    # incidents
    "reg-02-stale-tool-cache": "proxy",
    # tool-calls
    "sch-001": "vendors",
    "sch-011": "vendors",
    "sch-012": "vendors",
    "sch-022": "vendors",
    "sch-024": "vendors",
    "sch-027": "proxy",
    "sch-028": "proxy",
}
"""Row id → the part of ``tests/requirements.py`` that it waits for."""

STAGES: Final[Mapping[str, str]] = {
    # The specification puts STRUCTURED_MISSING at unwrap (RES-10, section 15); the row says fetch.
    "drift-05-structured-missing": "unwrap",
}
"""Where a row contradicts the specification, the specification holds."""
