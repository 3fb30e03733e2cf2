"""Workflow commands: one a finding, whatever the finding is named."""

from __future__ import annotations

import pytest
from tests.unit.rendering.hostile import HOSTILE

from sluicegate.gates.verdicts import Verdict
from sluicegate.rendering.github import command, render_verdict_github
from sluicegate.rendering.places import Source
from sluicegate.values.codes import Code, Stage
from sluicegate.values.digests import digest_of_bytes
from sluicegate.values.findings import Finding

RAW = b'{\n "id": ""\n}'


def verdict(*findings: Finding) -> Verdict:
    return Verdict(
        accepted=not findings,
        stage=Stage.CONFORM if findings else None,
        code=findings[0].code if findings else None,
        findings=findings,
        digest=digest_of_bytes(RAW),
    )


def test_a_finding_is_one_error_at_its_place() -> None:
    finding = Finding(
        code=Code.LENGTH, pointer="/id", expected="1 to 9 characters", received="string", hint="50%"
    )
    assert render_verdict_github(verdict(finding), Source(name="a,b:c.json", raw=RAW)) == (
        "::error file=a%2Cb%3Ac.json,line=2,col=8,title=LENGTH::"
        "at /id, expected 1 to 9 characters, received string. 50%25\n"
    )


def test_an_acceptance_is_a_notice() -> None:
    assert render_verdict_github(verdict(), Source(name="a.json", raw=RAW)) == (
        f"::notice file=a.json::accepted {digest_of_bytes(RAW)}\n"
    )


@pytest.mark.requirement("AUD-5")
@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_name_stays_inside_its_one_command(name: str) -> None:
    finding = Finding(code=Code.UNEXPECTED, pointer="/" + name, hint=name)
    shown = render_verdict_github(verdict(finding), Source(name=name, raw=RAW))
    assert len(shown.splitlines()) == 1
    head, _, message = shown[len("::error ") :].partition("::")
    assert [part.partition("=")[0] for part in head.split(",")] == ["file", "line", "col", "title"]
    assert all(character.isprintable() for character in message.rstrip("\n"))


def test_a_command_without_properties_has_no_blank() -> None:
    assert command("notice", "a\r\nb") == "::notice::a%0Ab\n"
