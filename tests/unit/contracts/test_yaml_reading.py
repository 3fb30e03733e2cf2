"""Strict YAML and JSON documents, with a line and a column for every place."""

from __future__ import annotations

import json
import time

import pytest

from sluicegate.contracts.problems import Problem
from sluicegate.contracts.yaml_reading import Document, read_document


def read(text: str | bytes, name: str = "contract.yaml") -> Document:
    raw = text.encode() if isinstance(text, str) else text
    document = read_document(name, raw)
    assert isinstance(document, Document), document
    return document


def refuse(text: str | bytes, name: str = "contract.yaml") -> Problem:
    raw = text.encode() if isinstance(text, str) else text
    problems = read_document(name, raw)
    assert isinstance(problems, tuple), problems.value
    (problem,) = problems
    assert problem.document == name
    assert problem.mend
    return problem


TEXTS = ["on", "no", "yes", "off", "y", "012", "1_000", "12:30:45", "2026-11-30", "1.2.3", "="]


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize("text", TEXTS)
def test_what_older_readers_take_for_another_type_stays_text(text: str) -> None:
    assert read(f"a: {text}\n").value == {"a": text}


@pytest.mark.requirement("CON-1")
def test_plain_scalars_are_json_numbers_words_or_text() -> None:
    document = read("a: [1, -0.5, 1e3, true, false, null, 1.0.0, x y]\n")
    assert document.value == {"a": [1, -0.5, 1000.0, True, False, None, "1.0.0", "x y"]}


REFUSED = {
    "duplicate key": ("a: 1\nb: 2\n'a': 3\n", 3, 1, "DUPLICATE_MEMBER"),
    "duplicate in flow": ("{a: 1, b: 2, a: 3}\n", 1, 14, "DUPLICATE_MEMBER"),
    "explicit tag": ("a: !!str 1\n", 1, 4, "CONTRACT_INVALID"),
    "python tag": ("a: !!python/object:os.system x\n", 1, 4, "CONTRACT_INVALID"),
    "anchor": ("a: &x 1\n", 1, 4, "CONTRACT_INVALID"),
    "alias": ("a: *x\n", 1, 4, "CONTRACT_INVALID"),
    "merge key": ("a:\n  <<: {b: 1}\n", 2, 3, "CONTRACT_INVALID"),
    "boolean key": ("true: 1\n", 1, 1, "CONTRACT_INVALID"),
    "null key": ("~: 1\n", 1, 1, "CONTRACT_INVALID"),
    "fraction key": ("1.5: 1\n", 1, 1, "CONTRACT_INVALID"),
    "sequence key": ("? [a]\n: 1\n", 1, 3, "CONTRACT_INVALID"),
    "second document": ("a: 1\n---\nb: 2\n", 2, 1, "CONTRACT_INVALID"),
    "version directive": ("%YAML 1.1\n---\na: 1\n", None, None, "CONTRACT_INVALID"),
    "unknown directive": ("# x\n%FOO 1\n---\na: 1\n", None, None, "CONTRACT_INVALID"),
    "byte order mark": (b"\xef\xbb\xbfa: 1\n", 1, 1, "CONTRACT_INVALID"),
    "UTF-16": ("a: 1".encode("utf-16"), 1, 1, "CONTRACT_INVALID"),
    "bad UTF-8": (b"a: 1\nb: \xff\n", 2, 4, "CONTRACT_INVALID"),
    "overflow": ("a: 1e400\n", 1, 4, "CONTRACT_INVALID"),
    "endless integer": ("a: " + "9" * 5000, 1, 4, "CONTRACT_INVALID"),
    "escaped surrogate": ('a: "\\ud83d"\n', 1, 4, "CONTRACT_INVALID"),
    "escaped surrogate in a key": ('"\\ud83d": 1\n', 1, 1, "CONTRACT_INVALID"),
    "no value": ("b: 1\na:\nc: 1\n", 2, 1, "CONTRACT_INVALID"),
    "no item": ("a:\n  -\n  - 1\n", 2, 4, "CONTRACT_INVALID"),
    "capital True": ("a: True\n", 1, 4, "CONTRACT_INVALID"),
    "tilde": ("a: ~\n", 1, 4, "CONTRACT_INVALID"),
    "hexadecimal": ("a: 0x1F\n", 1, 4, "CONTRACT_INVALID"),
    "infinity": ("a: .inf\n", 1, 4, "CONTRACT_INVALID"),
    "plus sign": ("a: +5\n", 1, 4, "CONTRACT_INVALID"),
    "empty": ("", 1, 1, "CONTRACT_INVALID"),
    "blank": (" \n\n", 1, 1, "CONTRACT_INVALID"),
    "comments alone": ("# nothing\n", 1, 1, "CONTRACT_INVALID"),
    "control character": ("a: 1\nb: \x07\n", 2, 4, "CONTRACT_INVALID"),
    "bad indentation": ("a: 1\n b: 2\n", 2, 3, "CONTRACT_INVALID"),
    "open flow": ("a: {b: 1\n", 1, 4, "CONTRACT_INVALID"),
    "too deep in blocks": (
        "".join("  " * n + "a:\n" for n in range(200)) + "  " * 200 + "b: 1\n",
        129,
        257,
        "CONTRACT_INVALID",
    ),
    "too large": ("a: " + "x" * 300_000, None, None, "CONTRACT_INVALID"),
}


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize("case", REFUSED)
def test_what_two_readers_may_take_differently_is_refused_at_its_place(case: str) -> None:
    text, line, column, code = REFUSED[case]
    problem = refuse(text)
    assert (problem.line, problem.column, str(problem.code)) == (line, column, code)


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize("name", ["contract.yaml", "contract.json"])
@pytest.mark.parametrize("opener", ["[", '{"a":', "[ ", "- "])
def test_deep_nesting_is_refused_before_it_costs_anything(name: str, opener: str) -> None:
    started = time.process_time()
    refuse(opener * 50_000, name)
    assert time.process_time() - started < 2


INDENT = "Indent this line with as many blanks as those beside it"
MENDS = {
    "a tab": ("a:\n\tb: 1\n", 2, 1, "Indent with blanks; a tab is none."),
    "deeper than its neighbours": ("a: 1\n b: 2\n", 2, 3, INDENT),
    "between two levels": ("a:\n    b: 1\n  c: 2\n", 3, 3, INDENT),
    "an item between two levels": ("a:\n  - 1\n - 2\n", 3, 2, INDENT),
    "begins with a brace": (
        "u: {/id}/x\n",
        1,
        5,
        "a text that begins with `{` stands in quotation",
    ),
    "begins with a bracket": ("p: [a-z]+$\n", 1, 9, "a plain one cannot begin with `[`."),
    "a bracket in braces": ("a: {p: ^[a-z]+$}\n", 1, 9, "Put the text into quotation marks if it"),
    "a colon inside": ("d: State: of one\n", 1, 9, "a plain one cannot hold `: `."),
    "a quotation mark open": (
        'a: 1\nb: "x\nc: 1\n',
        2,
        4,
        "Close the quotation mark that opens here.",
    ),
    "an apostrophe open": ("b: 'x\nc: 1\n", 1, 4, "Close the quotation mark that opens here."),
    "text behind a quotation": ("a: 'it's'\n", 1, 8, "inside, write it as `''`."),
    "an escape": ('a: "\\d"\n', 1, 6, "take single quotation marks."),
    "begins with @": ("a: @x\n", 1, 4, "a plain one cannot begin with `@`."),
    "a star alone": ("a: *\n", 1, 5, 'Put it into quotation marks: "*".'),
    "no blank behind the colon": ("a: 1\nb:2\nc: 1\n", 2, 1, "with a blank behind the colon."),
    "no value": ("owner:\nb: 1\n", 1, 1, "Write its value behind the colon, or remove the line."),
    "no end": ("a: [1\n", 1, 4, "Close the bracket that opens here."),
}


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize("case", MENDS)
def test_what_yaml_does_not_admit_is_told_with_its_own_mend(case: str) -> None:
    text, line, column, mend = MENDS[case]
    problem = refuse(text)
    assert (problem.line, problem.column) == (line, column)
    assert mend in problem.mend


def test_the_mend_of_a_long_line_costs_nothing() -> None:
    started = time.process_time()
    refuse("a: 1\n" + "- " * 100 + "-" * 100_000 + " x: y: z\n")
    assert time.process_time() - started < 5


REFUSED_JSON = {
    "duplicate": ('{"a": 1,\n "\\u0061": 2}', 2, "DUPLICATE_MEMBER"),
    "trailing data": ("{}\n{}", 2, "CONTRACT_INVALID"),
    "truncated": ('{"a"', 1, "CONTRACT_INVALID"),
    "NaN": ('{"a":\nNaN}', 2, "CONTRACT_INVALID"),
    "overflow": ('{"a":\n1e400}', 2, "CONTRACT_INVALID"),
    "surrogate": ('{"a":\n"\\ud83d"}', 2, "CONTRACT_INVALID"),
    "too deep": ("[" * 150 + "]" * 150, 1, "CONTRACT_INVALID"),
    "yaml": ("a: 1", 1, "CONTRACT_INVALID"),
    "empty": ("", 1, "CONTRACT_INVALID"),
}


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize("case", REFUSED_JSON)
def test_json_documents_are_read_strictly(case: str) -> None:
    text, line, code = REFUSED_JSON[case]
    problem = refuse(text, "contract.json")
    assert (problem.line, str(problem.code)) == (line, code)


NESTED = {"a": [{"b~/c": 1}, "x:y, [z]"], "d": {"": [[], {}]}, "é": 1.5, "on": "no"}


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize("name", ["contract.yaml", "contract.json"])
def test_marks_lead_to_names_and_values(name: str) -> None:
    text = json.dumps(NESTED, indent=2, ensure_ascii=False)
    document = read(text, name)
    assert document.value == NESTED
    lines = text.split("\n")

    def rest(mark: tuple[int, int] | None) -> str:
        assert mark is not None
        return lines[mark[0] - 1][mark[1] - 1 :]

    assert rest(document.marks.of_key("/a/0/b~0~1c")) == '"b~/c": 1'
    assert rest(document.marks.of_value("/a/0/b~0~1c")) == "1"
    assert rest(document.marks.of_value("/a/1")) == '"x:y, [z]"'
    assert rest(document.marks.of_value("/d//1")) == "{}"
    assert rest(document.marks.of_value("/é/nowhere/at/all")) == "1.5,"
    assert document.marks.of_value("") == (1, 1)


def test_yaml_and_json_marks_agree_on_the_same_text() -> None:
    text = json.dumps(NESTED, indent=1, ensure_ascii=False)
    as_json, as_yaml = read(text, "a.json"), read("# x\n" + text, "a.yaml")
    for pointer in ("/a", "/a/0", "/a/0/b~0~1c", "/d//0", "/on"):
        line, column = as_json.marks.of_value(pointer) or (0, 0)
        assert as_yaml.marks.of_value(pointer) == (line + 1, column)


@pytest.mark.requirement("CON-1")
def test_a_status_as_member_name_is_text_and_collides_with_its_quoted_twin() -> None:
    assert read("{404: A, 5xx: B}").value == {"404": "A", "5xx": "B"}
    assert str(refuse('{404: A, "404": B}').code) == "DUPLICATE_MEMBER"


SETTINGS, CONTRACT = "sluicegate.yaml", "job_status/contract.yaml"
SECRETS = "upstream:\n  signature:\n    standard_webhooks:\n      secrets:\n        - "
DISCREET = {
    "an address twice": (
        SETTINGS,
        'notify: {"https://u:hunter2@h/": "log:", "https://u:hunter2@h/": "log:"}',
        "bears a member twice",
    ),
    "an address without a value": (
        SETTINGS,
        'notify: {"https://u:hunter2@h/": }',
        "has no value for a member.",
    ),
    "a key in hexadecimal": (SETTINGS, "audit: {keys: 0x5ec4e7}", "has a hexadecimal number"),
    "a section in hexadecimal": (CONTRACT, "fetch: 0x5ec4e7", "has a hexadecimal number"),
    "a sign": (CONTRACT, f"{SECRETS}+5hunter2", "has a number with a plus sign"),
    "a point": (CONTRACT, f"{SECRETS}.5hunter2", "has a number that begins or ends with its"),
    "a token in braces": (CONTRACT, "upstream: {signature: {hunter2}}", "no value for a member."),
    "a command line in braces": (
        CONTRACT,
        "fetch: {command: {curl -H hunter2 x}}",
        "no value for a member.",
    ),
    "a misspelt key": (CONTRACT, "fetch: {htp: 1, htp: 2}", "bears the member `htp` twice"),
    "a key": (CONTRACT, "fetch: {http: {url: hunter2, url: hunter2}}", "the member `url` twice"),
    "an unknown tag": (CONTRACT, f"{SECRETS}!hunter2!x y", "found undefined tag handle."),
    "an alias": (CONTRACT, f"{SECRETS}*hunter2", "has an alias (`*name`)."),
    "no plain text": (CONTRACT, f"{SECRETS}@hunter2", "that cannot start any token."),
    "an open quotation mark": (CONTRACT, f'{SECRETS}"hunter2', "unexpected end of stream."),
    "a control character": (CONTRACT, f"{SECRETS}hunter2\x07", "that YAML does not admit."),
    "an address twice in JSON": (
        "job_status/contract.json",
        '{"https://u:hunter2@h": 1, "https://u:hunter2@h": 2}',
        "bears a member twice",
    ),
}


@pytest.mark.requirement("ADP-5", "AUD-5")
@pytest.mark.parametrize("case", DISCREET)
def test_what_may_be_a_secret_is_told_by_its_kind_and_its_line_is_not_shown(case: str) -> None:
    name, text, said = DISCREET[case]
    problem = refuse(text, name)
    assert said in problem.message
    assert "hunter2" not in str(problem)
    assert "5ec4e7" not in str(problem)
    assert problem.line
    assert problem.discreet


SHOWN = {
    "a member twice": ("owner: a\nowner: b", "bears the member `owner` twice"),
    "a member without a value": ("owner:", "has no value for the member `owner`."),
    "a word": ("owner: True", "has the plain value `True` here"),
    "a name that is a word": ("true: 1", "has the word `true` for a member name"),
    "an address for a name": ('"https://u:x@h": 1\n"https://u:x@h": 2', "member `https://…`"),
}


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize("case", SHOWN)
def test_what_is_surely_no_secret_is_told_by_its_name(case: str) -> None:
    text, said = SHOWN[case]
    problem = refuse(text)
    assert said in problem.message
    assert not problem.discreet
