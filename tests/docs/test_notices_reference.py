"""The page of notices shows what is posted and what is written to the log."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from tests.unit.stores.made import NOW

from sluicegate.gates.ports import Notice
from sluicegate.notices.delivering import CLOSE_TIMEOUT_S, MAX_WAITING, WINDOW_S
from sluicegate.notices.grouping import MAX_GROUPS, Gathered
from sluicegate.notices.log import MAX_PLACES, describe_notice
from sluicegate.notices.through_apprise import describe_gathered
from sluicegate.notices.webhook import POST_TIMEOUT_S, shape_notice
from sluicegate.values.codes import Code
from sluicegate.values.findings import Finding

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "notices.md").read_text(
    "utf-8"
)
NOTICE = Notice(
    owner="ci-platform",
    tool="job_status",
    contract_version="1.0.0",
    stage="conform",
    code="ENUM",
    request_id="req.J7q94MkPqTz3xYw8Lr2N",
    time=NOW,
    findings=(Finding(code=Code.ENUM, pointer="/state"),),
)
GATHERED = Gathered(notice=NOTICE, first=NOW, last=NOW + timedelta(seconds=41), count=17)


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)\n```", PAGE, re.DOTALL)
    return str(found)


def test_the_json_of_the_page_is_what_is_posted() -> None:
    assert json.loads(block("json")) == json.loads(shape_notice(GATHERED))


def test_what_the_gate_says_of_its_own_stands_behind_the_text() -> None:
    said = replace(GATHERED, notice=replace(NOTICE, says="The host shows another key."))
    posted = json.loads(shape_notice(said))
    assert posted["text"].endswith(", 17 times: The host shows another key.")
    assert posted.keys() == json.loads(block("json")).keys()


def test_the_line_of_the_page_is_what_is_logged() -> None:
    assert block("text") == describe_notice(NOTICE)


def test_the_message_of_the_page_is_what_apprise_is_given() -> None:
    assert block("message") == describe_gathered(GATHERED)


def test_the_numbers_of_the_page_are_those_of_the_code() -> None:
    assert (WINDOW_S, POST_TIMEOUT_S, CLOSE_TIMEOUT_S, MAX_PLACES) == (60, 5, 10, 5)
    assert MAX_WAITING == MAX_GROUPS == 256
    for told in ("60 seconds", "5 seconds", "10 seconds", "first five", "256"):
        assert told in PAGE
