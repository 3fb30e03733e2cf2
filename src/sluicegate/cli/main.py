"""The entry point."""

from __future__ import annotations

import click


@click.group()
def main() -> None:
    """Strict contracts on both sides of an agent's tool boundary."""
