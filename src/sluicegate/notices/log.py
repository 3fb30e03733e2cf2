"""Drift notices as lines of the log (SPEC AUD-6)."""

from __future__ import annotations

import json
import logging
from typing import Final

from sluicegate.gates.ports import Notice
from sluicegate.values.findings import Finding
from sluicegate.values.names import show_name, show_sentence

LOGGER_NAME: Final = "sluicegate.notices"
MAX_PLACES: Final = 5

_LOG: Final = logging.getLogger(LOGGER_NAME)


class LogNotifier:
    """Writes each notice as one line of ``sluicegate.notices``, at level WARNING."""

    def notify(self, notice: Notice) -> None:
        """Write the line. Handlers that fail are logging's affair; nothing is raised."""
        _LOG.warning("%s", describe_notice(notice))

    def close(self) -> None:
        """Nothing waits."""


def describe_notice(notice: Notice) -> str:
    """Return the notice on one line: ``name="text"`` pairs, every text cut and escaped."""
    fields = {
        "owner": notice.owner,
        "tool": notice.tool,
        "version": notice.contract_version,
        "stage": notice.stage,
        "code": notice.code,
        "request_id": notice.request_id,
        "time": notice.time.isoformat(),
    }
    line = "drift " + " ".join(f"{name}={_quote(text)}" for name, text in fields.items())
    if notice.says:
        line += f" says={json.dumps(show_sentence(notice.says))}"
    places = [describe_place(finding) for finding in notice.findings]
    if len(places) > MAX_PLACES:
        places = [*places[:MAX_PLACES], f"and {len(places) - MAX_PLACES} more"]
    return f"{line} findings={json.dumps('; '.join(places))}"


def describe_place(finding: Finding) -> str:
    """Return the code and the place; the code alone where the whole is meant, or no place."""
    return f"{finding.code} {show_name(finding.pointer)}".rstrip()


def _quote(text: str) -> str:
    return json.dumps(show_name(text))
