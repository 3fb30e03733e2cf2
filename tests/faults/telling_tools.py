"""Python tools that tell secrets in what they raise, for the test of what is kept of them."""

from __future__ import annotations

from typing import NoReturn

SECRETS: list[str] = []
"""What the next call raises with, last first."""


def raise_secret(number: int) -> NoReturn:
    """Raise as careless code does: the secret stands in the text, in a note and in the cause."""
    secret = SECRETS.pop()
    try:
        raise KeyError(secret)
    except KeyError as cause:
        error = RuntimeError(f"login failed for postgres://app:{secret}@db/{number}")
        error.add_note(f"the password was {secret}")
        raise error from cause


async def raise_secret_later(number: int) -> NoReturn:
    """Raise likewise in the loop of the gate."""
    raise_secret(number)
