"""Every id of the specification, and whether it is built.

``test_requirements.py`` holds this map to the tests, both ways: what is built has a test that
names its id; what is pending has none; no test names an id that does not stand here. ``rest``
says what of a built requirement waits, and for which part.

The ids CLI and CODES stand for the specification's sections 14 and 15, which have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """Proven by at least one test. ``rest``: what is still missing → the part it waits for."""

    rest: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pending:
    """Not built. ``part`` is what it waits for."""

    part: str


PARTS: Final[Mapping[str, str]] = {
    "console": "the operator console and the playground",
    "frameworks": "adapters for agent frameworks",
    "proxy": "the MCP proxy and the MCP adapter",
    "vendors": "exports for model vendors",
}
"""The parts that something may wait for."""

BUILT: Final = Built()

COMMANDS: Final = (
    *("demo", "init", "check", "lint", "test", "diff", "release", "promote", "judge", "call"),
    *("why", "replay", "import", "approve", "disable", "rollback", "export", "explain", "doctor"),
    *("audit", "proxy", "console", "playground"),
)
"""The commands that section 14 names; those that wait are the rest of CLI, by name."""

FETCHES: Final = ("http", "command", "ssh", "mcp", "python")
"""What section 2 says that `fetch` may name; what waits is part of the rest of ADP-1."""

REQUIREMENTS: Final[Mapping[str, Built | Pending]] = {
    # 2 The contract folder
    "CON-1": BUILT,
    "CON-2": BUILT,
    "CON-3": BUILT,
    "CON-4": BUILT,
    "CON-5": BUILT,
    "CON-6": BUILT,
    "CON-7": BUILT,
    "CON-8": Built(rest={"exports per vendor": "vendors"}),
    # 3 The call ladder
    "ARG-1": BUILT,
    "ARG-2": BUILT,
    "ARG-3": BUILT,
    "ARG-4": BUILT,
    "ARG-5": BUILT,
    "ARG-6": BUILT,
    "ARG-7": BUILT,
    "ARG-8": BUILT,
    "ARG-9": BUILT,
    # 4 What the agent sees
    "ENV-1": BUILT,
    "ENV-2": BUILT,
    "ENV-3": BUILT,
    # 5 The result ladder
    "RES-1": BUILT,
    "RES-2": BUILT,
    "RES-3": BUILT,
    "RES-4": BUILT,
    "RES-5": BUILT,
    "RES-6": BUILT,
    "RES-7": BUILT,
    "RES-8": BUILT,
    "RES-9": BUILT,
    "RES-10": BUILT,
    # 6 Adapters and retry
    "ADP-1": Built(rest={"mcp": "proxy"}),
    "ADP-2": BUILT,
    "ADP-3": BUILT,
    "ADP-4": BUILT,
    "ADP-5": BUILT,
    "RET-1": BUILT,
    "RET-2": BUILT,
    "RET-3": BUILT,
    # 7 Access
    "ACC-1": BUILT,
    "ACC-2": BUILT,
    "ACC-3": BUILT,
    "ACC-4": BUILT,
    # 8 Evidence
    "EVI-1": BUILT,
    "EVI-2": BUILT,
    "EVI-3": BUILT,
    # 9 Audit
    "AUD-1": BUILT,
    "AUD-2": BUILT,
    "AUD-3": BUILT,
    "AUD-4": BUILT,
    "AUD-5": Built(rest={"HTML output": "console"}),
    "AUD-6": BUILT,
    # 10 Contract lifecycle
    "LIF-1": BUILT,
    "LIF-2": BUILT,
    "LIF-3": BUILT,
    "LIF-4": BUILT,
    "LIF-5": BUILT,
    "LIF-6": BUILT,
    # 11 Vendors and frameworks
    "VEN-1": Pending("vendors"),
    "VEN-2": Pending("vendors"),
    "VEN-3": Pending("frameworks"),
    # 12 MCP proxy
    "MCP-1": Pending("proxy"),
    "MCP-2": Pending("proxy"),
    "MCP-3": Pending("proxy"),
    "MCP-4": Pending("proxy"),
    # 13 Console and playground
    "CSL-1": Pending("console"),
    "CSL-2": Pending("console"),
    # 14 Command line, 15 Codes
    "CLI": Built(
        rest={
            "approve": "proxy",
            "console": "console",
            "export": "vendors",
            "playground": "console",
            "proxy": "proxy",
        }
    ),
    "CODES": BUILT,
}
