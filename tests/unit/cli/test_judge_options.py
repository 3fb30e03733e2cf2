"""The options of ``judge``, read strictly."""

from __future__ import annotations

import click
import pytest

from sluicegate.cli.judge_options import read_binds, read_fresh
from sluicegate.contracts.contract import FreshRule
from sluicegate.values.json import JsonValue
from sluicegate.values.pointers import Pointer


@pytest.mark.parametrize(
    ("text", "pointer", "value"),
    [
        ("/a=b", "/a", "b"),
        ("/a=42", "/a", 42),
        ('/a="42"', "/a", "42"),
        ("/a=true", "/a", True),
        ("/a=1.5", "/a", 1.5),
        ("/a=null", "/a", "null"),
        ("/a=[1]", "/a", "[1]"),
        ("/a={}", "/a", "{}"),
        ("/a=NaN", "/a", "NaN"),
        ("/a=1e400", "/a", "1e400"),
        ("/a=012", "/a", "012"),
        ("/a=b=c", "/a", "b=c"),
        ("/a=", "/a", ""),
        ("=x", "", "x"),
        ("/a~1b/*=x", "/a~1b/*", "x"),
    ],
)
def test_a_bound_value_is_json_where_it_is_a_scalar_and_text_elsewhere(
    text: str, pointer: str, value: JsonValue
) -> None:
    [(found, bound)] = read_binds((text,)).items()
    assert (found.text, bound, type(bound)) == (pointer, value, type(value))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("/t:60", FreshRule(at=Pointer(("t",)), max_age_s=60.0)),
        ("/t:60:5", FreshRule(at=Pointer(("t",)), max_age_s=60.0, max_ahead_s=5.0)),
        ("/a:b:0.5", FreshRule(at=Pointer(("a:b",)), max_age_s=0.5)),
        ("/t:0:0", FreshRule(at=Pointer(("t",)), max_age_s=0.0, max_ahead_s=0.0)),
    ],
)
def test_freshness_is_a_pointer_an_age_and_perhaps_a_lead(text: str, rule: FreshRule) -> None:
    assert read_fresh(text) == rule


@pytest.mark.parametrize("text", ["/t", "/t:", "/t:-1", "/t:x", "t:60", "/t:inf", "/t~:60"])
def test_any_other_freshness_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        read_fresh(text)
