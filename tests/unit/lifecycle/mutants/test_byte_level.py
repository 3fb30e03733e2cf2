"""Mutants of bytes: each refused by the rung that is stated, in the parser that serves."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from sluicegate.gates.judging import judge
from sluicegate.gates.verdicts import Question
from sluicegate.lifecycle.mutants.byte_level import mutate_bytes, mutate_text
from sluicegate.values.codes import Stage
from sluicegate.values.limits import Limits

LIMITS = Limits(max_bytes=4096, max_depth=8)
DOCUMENTS = {
    "object": b'{"a": "text", "n": 12, "b": true, "c": {"d": [1, {"e": null}]}}',
    "array": b'[{"a": 1}, "two", false]',
    "empty object": b"{}",
    "empty array": b"[]",
    "wide": '{"ключ": "значение", "": "", "q\\"uote": "\\u00e9"}'.encode(),
}


@pytest.mark.requirement("LIF-2", "ARG-2")
@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_is_refused_by_the_rung_that_is_stated(name: str) -> None:
    question = Question(schema=True, limits=LIMITS)
    assert judge(DOCUMENTS[name], question).accepted
    wrong = {
        mutant.name: verdict.stage
        for mutant in mutate_bytes(DOCUMENTS[name], LIMITS)
        if (verdict := judge(mutant.raw, question)).stage != mutant.stage
    }
    assert wrong == {}


def test_every_member_is_repeated_at_every_level() -> None:
    names = {mutant.name for mutant in mutate_bytes(DOCUMENTS["object"], LIMITS)}
    assert {"repeated-member.a", "repeated-by-escape.c.d.0"} & names == {"repeated-member.a"}
    assert {"repeated-member.c.d", "repeated-by-escape.n"} <= names


def test_a_small_text_is_cut_at_every_byte_and_a_large_one_at_256() -> None:
    small = json.dumps({"a": 1}, separators=(",", ":")).encode()
    cut = [each.raw for each in mutate_bytes(small, LIMITS) if each.name.startswith("cut-at-")]
    assert cut == [small[:end] for end in range(1, len(small))]
    large = json.dumps({"a": "x" * 3000}).encode()
    assert sum(each.name.startswith("cut-at-") for each in mutate_bytes(large, LIMITS)) == 256


def test_a_scalar_yields_none_for_it_stays_one_when_it_is_cut() -> None:
    assert list(mutate_bytes(b"1234", LIMITS)) == []


def test_a_declared_text_is_held_to_its_encoding_and_size() -> None:
    assert Counter(each.stage for each in mutate_text(b"plain", LIMITS)) == {
        Stage.BOUND: 1,
        Stage.PARSE: 4,
    }
