"""The caller: the account on whose behalf a call runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """``subject`` names the account, ``tenant`` its owner, ``session`` the conversation."""

    subject: str
    tenant: str | None = None
    session: str | None = None
