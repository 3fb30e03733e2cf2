"""Request headers that no contract sets: one list, for the loader and for the adapter (ADP-1)."""

from __future__ import annotations

from typing import Final

GATE_HEADERS: Final = frozenset(
    {
        *("host", "content-length", "transfer-encoding", "accept-encoding", "expect"),
        *("connection", "keep-alive", "te", "trailer", "upgrade", "x-request-id"),
    }
)
"""What the adapter writes itself, in lower case; nothing else may write it, a credential included.

``x-request-id`` carries the id that an envelope must repeat (ENV-3).
"""

SECRET_HEADERS: Final = frozenset({"authorization", "proxy-authorization", "cookie"})
"""What would carry a secret in clear text, in lower case: open to ``credential_header`` alone."""
