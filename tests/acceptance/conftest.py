"""What the acceptance tests share."""

from __future__ import annotations

import pytest
from tests.acceptance.commands import Here


@pytest.fixture
def sluicegate(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Here:
    """The command line, in this process, with no say of the environment about colour."""
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "SLUICEGATE_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    return Here(capsys)
