"""A document in a file is judged without a command line: what is asked, bound and refused."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.folders import write_folder

from sluicegate.opening.judging_binds import Unbound, UnfitArguments
from sluicegate.opening.judging_files import (
    Asked,
    Terms,
    Unasked,
    ask_by_contract,
    ask_by_schema,
    judge_asked,
    max_bytes_of,
)
from sluicegate.values.codes import Code, Stage
from sluicegate.values.pointers import Pointer

pytestmark = pytest.mark.requirement("CLI")

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SCHEMA = b'{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}'
GOOD = b'{"run_id": "run_1", "state": "failed", "note": "n"}'
RUN_ID = Pointer.parse("/run_id")


def terms(**changes: Any) -> Terms:
    given: dict[str, Any] = {
        "side": "result",
        "strict": False,
        "max_bytes": None,
        "max_depth": None,
        "integers": None,
        "now": NOW,
        "request_id": None,
        "bind": {},
        "fresh": None,
    }
    return Terms(**{**given, **changes})


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(write_folder(tmp_path / "contracts") / "job_status" / "contract.yaml")


@pytest.mark.parametrize(("raw", "code"), [(b'{"a": 1}', None), (b"{}", Code.MISSING)])
def test_a_document_is_held_to_a_schema(raw: bytes, code: Code | None) -> None:
    asked = ask_by_schema("s.json", SCHEMA, terms(max_bytes=100))
    assert isinstance(asked, Asked)
    assert max_bytes_of(asked, terms()) == 100
    assert judge_asked(asked, raw, terms()).code is code


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        (b"{", Code.SCHEMA_META_INVALID),
        (b'{"type": "object", "type": "array"}', Code.DUPLICATE_MEMBER),
    ],
)
def test_what_stands_against_a_schema_is_a_verdict_of_registration(
    schema: bytes, code: Code
) -> None:
    asked = ask_by_schema("s.json", schema, terms())
    assert isinstance(asked, Unasked)
    assert max_bytes_of(asked, terms()) == 262_144
    verdict = judge_asked(asked, b"{}", terms())
    assert (verdict.stage, verdict.code, asked.source.name) == (Stage.REGISTER, code, "s.json")


def test_a_contract_binds_its_result_to_arguments_or_to_what_is_given(path: str) -> None:
    assert ask_by_contract(path, terms()) == Unbound(places=("/run_id",))
    unfit = ask_by_contract(path, terms(arguments=b'{"run_id": "run_1"}'))
    assert unfit == UnfitArguments(code=Code.MISSING, pointer="/state")
    by_arguments = terms(arguments=b'{"run_id": "run_1", "state": "failed"}')
    given = terms(bind={RUN_ID: "run_1"})
    for each in (by_arguments, given):
        asked = ask_by_contract(path, each)
        assert isinstance(asked, Asked)
        assert judge_asked(asked, GOOD, each).accepted


def test_a_wrong_subject_is_told_without_the_value_in_the_words_of_who_asks(path: str) -> None:
    for changes, expected in (
        ({"bind": {RUN_ID: "run_2"}, "said": "the value of the form"}, "the value of the form"),
        ({"arguments": b'{"run_id": "run_2", "state": "failed"}'}, "the argument /run_id"),
    ):
        asking = terms(**changes)
        asked = ask_by_contract(path, asking)
        assert isinstance(asked, Asked)
        (finding,) = judge_asked(asked, GOOD, asking).findings
        assert (finding.code, finding.expected) == (Code.WRONG_SUBJECT, f"exactly {expected}")


def test_a_contract_bound_to_the_caller_needs_the_value_itself(path: str) -> None:
    file = Path(path)
    text = file.read_text().replace(
        "bind: {/run_id: /run_id}", "bind: {/run_id: {caller: subject}}"
    )
    file.write_text(text)
    found = ask_by_contract(path, terms(arguments=b'{"run_id": "run_1", "state": "failed"}'))
    assert found == Unbound(places=("/run_id",), to_caller=True)


def test_a_file_that_is_no_contract_of_its_folder_is_told_so(path: str) -> None:
    other = Path(path).with_name("other.yaml")
    other.write_text(Path(path).read_text())
    asked = ask_by_contract(str(other), terms())
    assert isinstance(asked, Unasked)
    assert "does not take this file for a contract" in (asked.findings[0].hint or "")
