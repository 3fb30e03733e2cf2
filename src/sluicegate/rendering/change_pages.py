"""The pages of the kinds of change: one Markdown file a kind, its head held to the table."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable


def read_change_page(kind: str) -> str | None:
    """Return the page of ``kind`` as Markdown; None where there is no such kind."""
    name = f"{kind}.md"
    return next((page.read_text(encoding="utf-8") for page in _pages() if page.name == name), None)


def list_change_kinds() -> dict[str, str]:
    """Return every kind with its one-line meaning, by name."""
    found = {}
    for page in _pages():
        lines = page.read_text(encoding="utf-8").splitlines()
        found[page.name.removesuffix(".md")] = lines[2]
    return dict(sorted(found.items()))


def _pages() -> list[Traversable]:
    folder = files("sluicegate.rendering").joinpath("changes")
    return [page for page in folder.iterdir() if page.name.endswith(".md")]
