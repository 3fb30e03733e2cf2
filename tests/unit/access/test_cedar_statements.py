"""Cedar text is taken apart as the engine takes it apart."""

from __future__ import annotations

import pytest
from cedarpy import PolicySet
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sluicegate.access.cedar_statements import (
    find_excess,
    nests_too_deep,
    plant_behind_has,
    split_statements,
)

pytestmark = pytest.mark.requirement("ACC-2")

SPLIT = {
    "nothing": ("", []),
    "a comment": ("// a; b\n", []),
    "a comment at the end": ("a; // b", [("a;", 1, 1)]),
    "two on a line": ("a; b;", [("a;", 1, 1), ("b;", 1, 4)]),
    "a semicolon in a string": ('a ";" b;\nc;', [('a ";" b;', 1, 1), ("c;", 2, 1)]),
    "an escaped quotation mark": ('a "\\";" b;', [('a "\\";" b;', 1, 1)]),
    "slashes in a string": ('a "//" ;b;', [('a "//" ;', 1, 1), ("b;", 1, 9)]),
    "a quotation mark in a comment": ('// "\na;', [("a;", 2, 1)]),
    "a string that never ends": ('a "b;', [('a "b;', 1, 1)]),
    "no semicolon at the end": ("a;\n b", [("a;", 1, 1), ("b", 2, 2)]),
    "a comment that CR ends": ("// a\rb;", [("b;", 1, 6)]),
    "a comment that CR LF ends": ("// a\r\nb;", [("b;", 2, 1)]),
    "a comment that other line ends do not end": (
        "// a\x0b\x0c\x85\u2028\u2029b;\nc;",
        [("c;", 2, 1)],
    ),
    "blanks of every kind": ("\t\x0b\x0c\x85\xa0\u1680\u2003\u2029\u3000a;", [("a;", 1, 10)]),
    "controls that are no blanks": ("\x1c;\x1f", [("\x1c;", 1, 1), ("\x1f", 1, 3)]),
    "an empty statement": ("; a;", [(";", 1, 1), ("a;", 1, 3)]),
}


@pytest.mark.parametrize(("text", "expected"), SPLIT.values(), ids=SPLIT)
def test_statements_end_at_semicolons_outside_strings_and_comments(
    text: str, expected: list[tuple[str, int, int]]
) -> None:
    found = [(each.text, each.line, each.column) for each in split_statements("a", text)]
    assert found == expected


POLICY = "permit(principal,action,resource)"
PIECES = (
    f"{POLICY};",
    f"{POLICY};",
    'forbid(principal,action,resource)when{"//;"=="\\";"};',
    '@id("a // b;\n")',
    POLICY,
    ";",
    "//",
    "// it's; ",
    '// "',
    "/",
    '"',
    "\\",
    *"\r\n\t\x0b\x0c\x1c\x85\xa0\u2003\u2028\u2029\ufeff ",
    "\r\n",
)


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
@example(f"{POLICY};// x\r{POLICY};\r")
@example(f"//\u2028{POLICY};\n{POLICY};")
@example(f'@id("\\\n//"){POLICY};')
def test_the_engine_reads_the_statements_as_it_reads_the_whole(text: str) -> None:
    counted = [_count(each.text) for each in split_statements("a", text)]
    whole = _count(text)
    assert set(counted) != {1} if whole is None else counted == [1] * whole


def _count(text: str) -> int | None:
    try:
        return len(PolicySet.from_str(text))
    except ValueError:
        return None


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"], ids=["CR", "LF", "CR LF"])
def test_what_stands_behind_a_comment_is_measured(end: str) -> None:
    assert find_excess(f"a // x{end}{'(' * 65}") == "nests deeper than 64 levels"
    assert nests_too_deep(f"// x{end}type A = {'Set<' * 65}")


HAS = {
    "a name": ("a has b;", ["has b"]),
    "a path": ("a has b . // c\n d && e;", ["has b . // c\n d"]),
    "a text": ('a has "b;" && c has"d";', ['has "b;"', 'has"d"']),
    "in a string or a comment": ('"a has b" // a has b\n;', []),
    "as a part or a name": ('ahas b has_ c hasd @has("e") {"has": 1};', []),
}


@pytest.mark.parametrize(("text", "expected"), HAS.values(), ids=HAS)
def test_each_has_is_found_and_guards_the_mistake_behind_it(text: str, expected: list[str]) -> None:
    planted = list(plant_behind_has(text))
    assert [found for found, _ in planted] == expected
    assert [with_it for _, with_it in planted] == [
        text.replace(found, f"{found} && 1 + true == 2") for found in expected
    ]


@pytest.mark.parametrize("quoted", ['\\"', '\\"['], ids=["quotation marks", "brackets"])
def test_a_string_that_never_ends_is_passed_over_once(quoted: str) -> None:
    text = '"' + quoted * 500_000
    assert find_excess(text) is None
    assert not nests_too_deep(text)
    assert [each.text for each in split_statements("a", text)] == [text]
