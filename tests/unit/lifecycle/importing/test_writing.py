"""Whatever a source names its parts, contract.yaml reads back as it was written."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.rendering.hostile import HOSTILE

from sluicegate.contracts.yaml_reading import Document, read_document
from sluicegate.lifecycle.importing.blueprint import Decision
from sluicegate.lifecycle.importing.writing import write_contract

pytestmark = pytest.mark.requirement("LIF-6")

TEXTS = {
    **{name: text for name, text in HOSTILE.items() if name != "lone-surrogate"},
    **{
        text: text for text in ("true", "null", "~", "012", "1.0", "- a", "a: b", "#", "é", "", "'")
    },
    "quotes": '"a" \\ b',
    "lines": "a\nb\r\n\tc",
    "next line and mark": "\x85\ufeff",
}


def read_back(raw: bytes) -> Any:
    document = read_document("contract.yaml", raw)
    assert isinstance(document, Document), document
    return document.value


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_value_reads_back_as_it_was(text: str) -> None:
    members = {"title": text, "fetch": {text: {"query": [text, {text: 1}], "on": True}}}
    raw = write_contract(members, [], accepted=False)
    assert read_back(raw) == members


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_a_question_stands_in_a_comment_and_in_the_draft_alone(text: str) -> None:
    decision = Decision(at="owner", question=text)
    draft = read_back(write_contract({"owner": "a"}, [decision], accepted=False))
    accepted = read_back(write_contract({"owner": "a"}, [decision], accepted=True))
    assert (draft, accepted) == ({"owner": "a", "draft": [text]}, {"owner": "a"})
