"""What a person sees: whole outputs, and what must hold for any name and any line."""

from __future__ import annotations

import pytest
from tests.unit.rendering.hostile import HOSTILE

from sluicegate.gates.ports import AnchorReport, ChainReport
from sluicegate.gates.verdicts import Verdict
from sluicegate.rendering.paint import Paint
from sluicegate.rendering.places import Source, excerpt
from sluicegate.rendering.spans import locate
from sluicegate.rendering.terminal import render_chain, render_verdict
from sluicegate.values.codes import Code, Stage
from sluicegate.values.digests import digest_of_bytes
from sluicegate.values.findings import Finding

RAW = b'{\n  "id": "",\n  "runId": 5\n}'


def rejected(*findings: Finding, raw: bytes = RAW, stage: Stage = Stage.CONFORM) -> Verdict:
    return Verdict(
        accepted=False,
        stage=stage,
        code=findings[0].code,
        findings=findings,
        digest=digest_of_bytes(raw),
    )


def test_a_rejection_shows_place_line_caret_rule_hint_and_runbook() -> None:
    verdict = rejected(
        Finding(
            code=Code.LENGTH,
            pointer="/id",
            schema_pointer="/properties/id/minLength",
            keyword="minLength",
            expected="at least 1 character",
            received="string",
        ),
        Finding(code=Code.MISNAMED, pointer="/runId", hint="write run_id"),
        Finding(code=Code.MISSING, pointer="/state", expected="string"),
    )
    assert render_verdict(verdict, Source(name="answer.json", raw=RAW)) == (
        "answer.json:2:9: LENGTH\n"
        '  2 |   "id": "",\n'
        "    |         ^^ expected at least 1 character, received string\n"
        "  at /id   rule /properties/id/minLength\n"
        "  sluicegate explain LENGTH\n"
        "\n"
        "answer.json:3:3: MISNAMED\n"
        '  3 |   "runId": 5\n'
        "    |   ^^^^^^^\n"
        "  at /runId\n"
        "  hint: write run_id\n"
        "  sluicegate explain MISNAMED\n"
        "\n"
        "answer.json:1:1: MISSING\n"
        "  1 | {\n"
        "    | ^ expected string\n"
        "  at /state\n"
        "  sluicegate explain MISSING\n"
        "\n"
        f"REJECTED at conform with LENGTH: 3 findings  {digest_of_bytes(RAW)}\n"
    )


def test_a_finding_with_its_own_offset_keeps_it() -> None:
    raw = b'{"a": 1,\n "a": 2}'
    finding = Finding(code=Code.DUPLICATE_MEMBER, pointer="/a", offset=10, line=2, column=2)
    shown = render_verdict(rejected(finding, raw=raw), Source(name="x", raw=raw))
    assert shown.splitlines()[:3] == ["x:2:2: DUPLICATE_MEMBER", '  2 |  "a": 2}', "    |  ^"]


def test_a_schema_that_does_not_register_is_shown_where_it_is_wrong() -> None:
    raw = b'{"type": "object",\n "required": "id"}'
    finding = Finding(code=Code.SCHEMA_META_INVALID, schema_pointer="/required", hint="an array")
    shown = render_verdict(
        rejected(finding, stage=Stage.REGISTER), Source(name="s.json", raw=raw, of_schema=True)
    )
    assert shown.splitlines()[:5] == [
        "s.json:2:14: SCHEMA_META_INVALID",
        '  2 |  "required": "id"}',
        "    |              ^^^^",
        "  rule /required",
        "  hint: an array",
    ]


def test_a_text_that_cannot_be_walked_still_has_its_line() -> None:
    finding = Finding(code=Code.CONTRACT_INVALID, line=4, column=2)
    shown = render_verdict(rejected(finding), Source(name="c.yaml", raw=None, of_schema=True))
    assert shown.splitlines()[0] == "c.yaml:4:2: CONTRACT_INVALID"


def test_an_acceptance_is_one_line() -> None:
    verdict = Verdict(
        accepted=True, stage=None, code=None, findings=(), digest=digest_of_bytes(RAW)
    )
    assert render_verdict(verdict, Source(name="a.json", raw=RAW)) == (
        f"a.json: ACCEPTED  {digest_of_bytes(RAW)}\n"
    )


@pytest.mark.requirement("AUD-5")
@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_name_in_bytes_pointer_file_and_hint_is_shown_and_not_acted_on(name: str) -> None:
    raw = b'{"' + name.encode("utf-8", "surrogatepass") + b'": "x"}'
    finding = Finding(code=Code.UNEXPECTED, pointer="/" + name, hint=name, expected=name)
    for colour in (False, True):
        shown = render_verdict(
            rejected(finding, raw=raw), Source(name=name, raw=raw), paint=Paint(colour=colour)
        )
        if colour:
            for style in ("1;31", "36", "2", "0"):
                shown = shown.replace(f"\x1b[{style}m", "")
        assert all(character.isprintable() or character == "\n" for character in shown), shown
        assert not any(line.lstrip().startswith("::") for line in shown.splitlines())
        assert "##[" not in shown


@pytest.mark.parametrize("colour", [True, False])
def test_colour_is_laid_over_the_same_text(colour: bool) -> None:
    verdict = rejected(Finding(code=Code.TYPE, pointer="/id"))
    shown = render_verdict(verdict, Source(name="a", raw=RAW), paint=Paint(colour=colour))
    assert ("\x1b[" in shown) == colour


@pytest.mark.parametrize(
    ("raw", "pointer", "width", "text", "caret"),
    [
        pytest.param(b'{"a": 1}', "/a", 80, '{"a": 1}', (6, 1), id="short"),
        pytest.param('{"日本": 1}'.encode(), "/日本", 80, '{"日本": 1}', (9, 1), id="wide cells"),
        pytest.param(b'{"\x1b": 1}', "", 80, '{"␛": 1}', (0, 8), id="a control is one cell"),
        pytest.param(
            b"[" + b"1," * 500 + b"2]", "/500", 20, "…1,1,1,1,12]", (10, 1), id="cut before"
        ),
        pytest.param(
            b'["' + b"x" * 90 + b'"]', "/0", 20, '["xxxxxxxxxxxxxxxxx…', (1, 19), id="cut inside"
        ),
    ],
)
def test_an_excerpt_fits_its_width_with_the_caret_under_the_place(
    raw: bytes, pointer: str, width: int, text: str, caret: tuple[int, int]
) -> None:
    place = locate(raw, pointer)
    if place is None:  # a raw control character is no JSON string: mark the document
        place = locate(raw, "")
    assert place is not None
    shown = excerpt(raw, place.value, width)
    if pointer == "/500":
        assert shown.text.endswith("2]")
        assert shown.text.startswith("…")
        assert len(shown.text) <= width
        assert shown.text[shown.indent : shown.indent + shown.marked] == "2"
    else:
        assert (shown.text, (shown.indent, shown.marked)) == (text, caret)


def test_an_old_command_split_by_the_mark_is_still_defused() -> None:
    raw = b'{"a##": 1, "b": "[error]"}##[x'
    place = locate(raw, "")
    assert place is not None
    assert "##[" not in excerpt(raw, place.value, 100).text


@pytest.mark.parametrize(
    ("report", "shown"),
    [
        pytest.param(ChainReport(events=3, head="ab"), "INTACT  3 events  ab\n", id="intact"),
        pytest.param(ChainReport(events=1, head="ab"), "INTACT  1 event  ab\n", id="one event"),
        pytest.param(
            ChainReport(events=3, head="ab", broken_at=2, problem="a column was changed"),
            "CHAIN_BROKEN at event 2: a column was changed\n  sluicegate explain CHAIN_BROKEN\n",
            id="broken",
        ),
    ],
)
def test_the_chain_is_told_with_its_first_bad_event(report: ChainReport, shown: str) -> None:
    assert render_chain(report, None) == shown


def test_one_head_is_told_in_the_singular() -> None:
    fits = AnchorReport(heads=1, signed_seq=3, signed_at="2026-11-30T10:00:00Z")
    assert render_chain(ChainReport(events=3, head="ab"), fits).splitlines()[1] == (
        "SIGNED  1 head  event 3 was signed at 2026-11-30T10:00:00Z"
    )


def test_a_chain_whose_columns_were_not_recomputed_is_not_called_intact() -> None:
    fits = AnchorReport(heads=1, signed_seq=3, signed_at="2026-11-30T10:00:00Z")
    told = render_chain(ChainReport(events=3, head="ab", keyed=False), fits).splitlines()
    assert [line.split()[0] for line in told] == ["LINKED", "SIGNED"]


def test_a_whole_chain_that_its_heads_show_to_be_cut_is_not_called_intact() -> None:
    cut = AnchorReport(
        heads=2,
        signed_seq=5,
        code=Code.CHAIN_SHORTER_THAN_ANCHOR,
        broken_at=4,
        problem="event 5 was signed",
    )
    assert render_chain(ChainReport(events=3, head="ab"), cut) == (
        "LINKED  3 events  ab\n"
        "CHAIN_SHORTER_THAN_ANCHOR at event 4: event 5 was signed\n"
        "  sluicegate explain CHAIN_SHORTER_THAN_ANCHOR\n"
    )
