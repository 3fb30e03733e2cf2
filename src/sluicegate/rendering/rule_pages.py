"""The pages of the rules of lint: one Markdown file a rule, made from the table."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable


def read_rule_page(name: str) -> str | None:
    """Return the page of a rule by its id or name, whatever the case; None for no such rule."""
    wanted = name.lower()
    for page in _pages():
        rule = page.name.removesuffix(".md")
        text = page.read_text(encoding="utf-8")
        if wanted in (rule.lower(), text.partition("\n")[0].removeprefix(f"# {rule} ")):
            return text
    return None


def list_rules() -> dict[str, str]:
    """Return the name of every rule by its id."""
    return {
        page.name.removesuffix(".md"): page.read_text(encoding="utf-8").split(maxsplit=3)[2]
        for page in sorted(_pages(), key=lambda page: page.name)
    }


def _pages() -> list[Traversable]:
    folder = files("sluicegate.rendering").joinpath("rules")
    return [page for page in folder.iterdir() if page.name.endswith(".md")]
