"""The public names: listed, at home where they say, and no others."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

import sluicegate


def test_every_public_name_has_one_home_and_is_found_there() -> None:
    assert sorted(sluicegate.__all__) == sluicegate.__all__
    assert set(sluicegate._HOMES) == set(sluicegate.__all__)
    for name in sluicegate.__all__:
        home = importlib.import_module(sluicegate._HOMES[name])
        assert getattr(sluicegate, name) is getattr(home, name)


def test_type_checkers_see_the_same_names_from_the_same_homes() -> None:
    tree = ast.parse(Path(sluicegate.__file__).read_text("utf-8"))
    seen = {
        alias.name: node.module
        for branch in tree.body
        if isinstance(branch, ast.If)
        for node in branch.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == sluicegate._HOMES


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = sluicegate.Nothing  # type: ignore[attr-defined]
