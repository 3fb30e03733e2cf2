"""Characters that no answer may hold, and the two shortcuts that must not hide one."""

from __future__ import annotations

import json
import sys
import unicodedata
from typing import Any

import jiter
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sluicegate.checks.meaning_text import (
    FORBIDDEN,
    FORBIDDEN_IN_FREE_TEXT,
    cannot_hold_forbidden_text,
    find_forbidden_text,
    plan_free_text,
    text_guard,
)
from sluicegate.values.codes import Code
from sluicegate.values.pointers import Pointer

EVERYWHERE = {
    "NUL": "\x00",
    "ESC": "\x1b",
    "CR": "\r",
    "DEL": "\x7f",
    "C1": "\x9b",
    "soft hyphen": "\xad",
    "Arabic letter mark": "\u061c",
    "zero width space": "\u200b",
    "zero width joiner": "\u200d",
    "right-to-left override": "\u202e",
    "isolate": "\u2066",
    "word joiner": "\u2060",
    "BOM inside": "\ufeff",
    "line separator": "\u2028",
    "paragraph separator": "\u2029",
    "tag letter": "\U000e0041",
    "language tag": "\U000e0001",
    "variation selector 17": "\U000e0100",
    "noncharacter": "\ufdd0",
    "FFFE": "\ufffe",
    "last noncharacter": "\U0010ffff",
    "lone surrogate": "\ud800",
}
OUTSIDE_FREE_TEXT = {
    "TAB": "\t",
    "LF": "\n",
    "no-break space": "\xa0",
    "thin space": "\u2009",
    "narrow no-break space": "\u202f",
    "ideographic space": "\u3000",
}
ADMITTED = {
    "blank": " ",
    "letters": "Zażółć ß 日本語 עברית العربية हिन्दी",
    "combining": "e\u0301",
    "emoji with its selector": "❤\ufe0f",
    "astral": "𝒳🎉",
    "private use": "\ue000",
    "replacement": "\ufffd",
    "quotes": "“”'\"\\/<>&",
}
FREE = (Pointer.parse("/note"), Pointer.parse("/rows/*/title"), Pointer.parse("/deep"))
RULES = plan_free_text(FREE)


def found(document: object) -> list[str]:
    findings = find_forbidden_text(document, RULES)
    assert {finding.code for finding in findings} <= {Code.FORBIDDEN_TEXT}
    return [finding.pointer for finding in findings]


@pytest.mark.requirement("RES-5")
@pytest.mark.parametrize("character", EVERYWHERE.values(), ids=EVERYWHERE)
def test_is_forbidden_in_every_value_and_every_name(character: str) -> None:
    text = f"a{character}b"
    assert found({"x": text}) == ["/x"]
    assert found({"x": {"y": [text]}}) == ["/x/y/0"]
    assert found({"note": text, "rows": [{"title": text}]}) == ["/note", "/rows/0/title"]
    assert found({"deep": [{"any": text}]}) == ["/deep/0/any"]
    assert len(found({text: 1, "deep": {text: 1}, "rows": [{text: 1}]})) == 3
    assert found(text) == [""]
    assert found([character]) == ["/0"]


@pytest.mark.requirement("RES-5")
@pytest.mark.parametrize("character", OUTSIDE_FREE_TEXT.values(), ids=OUTSIDE_FREE_TEXT)
def test_is_admitted_in_declared_free_text_alone(character: str) -> None:
    text = f"a{character}b"
    assert found({"note": text, "rows": [{"title": text}], "deep": {"a": [text]}}) == []
    assert found({"x": text, "rows": [{"titles": text}]}) == ["/x", "/rows/0/titles"]
    assert found({"title": text, "rows": {"title": text}}) == ["/title", "/rows/title"]
    assert found({"rows": {"*": {"title": text}}}) == ["/rows/*/title"]
    assert len(found({text: 1, "deep": {text: 1}, "note": {text: 1}})) == 3


@pytest.mark.parametrize("text", ADMITTED.values(), ids=ADMITTED)
def test_is_admitted_everywhere(text: str) -> None:
    assert found({text: text, "note": text, "rows": [{"title": text, "x": [text]}]}) == []


@pytest.mark.requirement("RES-5")
def test_holds_every_character_of_the_categories_that_the_specification_names() -> None:
    everything = [chr(point) for point in range(sys.maxunicode + 1)]
    named = {
        character
        for point, character in enumerate(everything)
        if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        or point & 0xFFFE == 0xFFFE
        or 0xFDD0 <= point <= 0xFDEF
    }
    blanks = {one for one in everything if unicodedata.category(one) == "Zs"} - {" "}
    strict = set(FORBIDDEN.findall("".join(everything)))
    free = set(FORBIDDEN_IN_FREE_TEXT.findall("".join(everything)))
    # Beyond these: the block of tags, and places that a newer Unicode gives to format characters.
    kept_free = {*range(0xE0000, 0xE1000), *range(0x2060, 0x2070), *range(0x13430, 0x13440)}
    beyond = {ord(character) for character in strict - named - blanks}
    assert strict >= named | blanks
    assert beyond <= kept_free
    assert strict - free == blanks | {"\t", "\n"}
    assert free <= strict


def test_a_finding_says_where_and_what_kind_but_not_what() -> None:
    document = {"rows": [{"title": "zqj\U000e0041"}], "b\u202e": 1, "c": "\u2028", "d": "\x1b[2J"}
    findings = find_forbidden_text(document, RULES)
    assert [(finding.pointer, finding.hint) for finding in findings] == [
        ("/b\\u202e", "the name holds a format character"),
        ("/c", "the value holds a separator"),
        ("/d", "the value holds a control character"),
        ("/rows/0/title", "the value holds a tag character"),
    ]
    assert "zqj" not in repr(findings)


def test_at_most_twenty_places_are_told() -> None:
    assert len(find_forbidden_text(["\x00"] * 10_000, RULES)) == 20


# --- the shortcuts -----------------------------------------------------------------------------

CHARACTERS = (
    st.sampled_from([*EVERYWHERE.values(), *OUTSIDE_FREE_TEXT.values(), *'aé"\\/ 🎉', "\ufe0f"])
    | st.characters()
)
TEXTS = st.text(CHARACTERS, max_size=4)
DOCUMENTS = st.recursive(
    TEXTS | st.none() | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["note", "rows", "title", "deep", "x", "*"]) | TEXTS, inner
        )
    ),
    max_leaves=8,
)


@pytest.mark.requirement("RES-5")
@given(DOCUMENTS, st.booleans())
def test_bytes_that_prove_anything_prove_the_truth(document: object, escaped: bool) -> None:
    raw = json.dumps(document, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
    try:
        value = jiter.from_json(raw)
    except ValueError:
        return  # a lone surrogate is no JSON for the parser
    if cannot_hold_forbidden_text(raw):
        assert find_forbidden_text(value, plan_free_text(())) == ()


@pytest.mark.parametrize(
    ("raw", "proves"),
    [
        (b'{"a": [1, "b"]}\n', True),
        (rb'{"a": "\"\\\/"}', True),
        (rb'{"a": "\u200b"}', False),
        (rb'{"a": "\n"}', False),
        (rb'{"a": "\\n"}', False),
        (b'{"a": "\x7f"}', False),
        ('{"a": "é"}'.encode(), False),
    ],
)
def test_which_bytes_spare_the_search(raw: bytes, proves: bool) -> None:
    assert cannot_hold_forbidden_text(raw) is proves


@pytest.mark.requirement("RES-5")
@given(DOCUMENTS)
@example({"rows": [{"title": "\n", "x": "\n"}]})
@example({"rows": {"title": "\n"}})
@example({"note": {"a\n": 1}})
@example({"rows": {"*": {"title": "\n"}}})
@example({"a": "\U000e0fff", "b": "\U000dffff"})
def test_the_guard_and_the_search_agree(document: Any) -> None:
    is_clean = text_guard(FREE)
    try:
        clean = is_clean(document)
    except ValueError:
        clean = False  # the engine takes no lone surrogate
    assert clean == (found(document) == [])


def test_a_wild_root_and_the_whole_document_can_be_free() -> None:
    assert text_guard((Pointer.parse("/*"),))(["a\nb"])
    assert not text_guard((Pointer.parse("/*"),))({"a": "a\nb"})
    assert text_guard((Pointer(()),))({"a": ["a\nb"]})
    assert not text_guard((Pointer(()),))({"a\n": 1})
