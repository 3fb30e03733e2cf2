"""A person reads place, line and caret of what was found, and the same finding once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.rendering.hostile import HOSTILE
from tests.unit.rendering.reported import FAILING, OPEN, RAW, WIDE, report

from sluicegate.rendering.human import render_human, render_item

pytestmark = pytest.mark.requirement("LIF-5")

OTHER = replace(OPEN, file="c.json", line=1, column=1, pointer="", tool="c")
ERRORS_FIRST = ["error C01 open-object", "warning C09 wide"]


def read(name: str) -> bytes | None:
    return RAW if name == OPEN.file else None


def test_a_person_reads_place_line_caret_reason_and_way_on() -> None:
    assert render_human(report(WIDE, replace(OPEN, way_on="explain C01")), read=read) == (
        "contracts/a b.json:2:12: error C01 open-object\n"
        "  The object takes any member.\n"
        '  2 |  "ü": "é", "b": {}\n'
        "    |            ^\n"
        "  at /b\n"
        "  why: What nobody declared reaches the agent.\n"
        "  hint: Write additionalProperties: false.\n"
        "  explain C01\n"
        "\n"
        "contracts/a b.json: warning C09 wide\n"
        "  The object takes any member.\n"
        "  at /b\n"
        "  3 places in all\n"
        "  hint: Write additionalProperties: false.\n"
        "\n"
        "FAILS: 2 schemas\n"
    )


def test_what_it_rests_on_is_shown_each_at_its_line() -> None:
    assert render_item(FAILING, read=read) == (
        "contracts/a b.json:2:12: error FIXTURE as-expected\n"
        "  was rejected\n"
        "  ENUM at /b: expected one of: 1, 2\n"
        '  2 |  "ü": "é", "b": {}\n'
        "    |            ^^^\n"
        "  hint: did you mean 1\n"
        "  TYPE at (the whole document)\n"
    )


@pytest.mark.requirement("ADP-5", "AUD-5")
@pytest.mark.parametrize(
    ("file", "line", "discreet", "shown"),
    [
        ("contracts/sluicegate.yaml", "audit: {store: MARKER}", False, False),
        ("contracts/sluicegate.yaml", '  "MARKER"', False, False),
        ("contracts/sluicegate.yaml", "{audit: {keys: MARKER}, access: []}", False, False),
        ("contracts/a/contract.yaml", "effect: MARKER", False, True),
        ("contracts/a/contract.yaml", "effect: MARKER", True, False),
        ("contracts/a/contract.yaml", "fetch: {http: {credential: MARKER}}", False, False),
        ("contracts/a/contract.yaml", "url: https://u:MARKER@h/", False, False),
        ("contracts/a/contract.yaml", "url: https://h/MARKER", False, True),
        ("contracts/a/contract.yaml", "client_Secret: MARKER", False, False),
        ("contracts/a/contract.yaml", 'url: "https://h/x?key=MARKER"', False, False),
        ("contracts/a/contract.yaml", 'url: "https://h/x#MARKER"', False, False),
        ("contracts/a/contract.yaml", "headers: {X: MARKER}", False, False),
        ("contracts/a/contract.yaml", "Cookie: MARKER", False, False),
        ("contracts/a/contract.yaml", "x-auth: MARKER", False, False),
        ("contracts/a/contract.yaml", "PGPASS: MARKER", False, False),
        ("contracts/a/contract.yaml", "db_pass: MARKER", False, False),
        ("contracts/a/contract.yaml", "command: {env: {X: MARKER}}", False, False),
        ("contracts/a/contract.yaml", "enum: [MARKER, passed, bypass]", False, True),
        ("contracts/a/contract.yaml", "description: The author MARKER", False, True),
    ],
)
def test_a_line_that_may_hold_a_secret_is_told_by_its_place_alone(
    file: str, line: str, discreet: bool, shown: bool
) -> None:
    item = replace(OPEN, file=file, line=1, column=1, length=1, discreet=discreet)
    told = render_item(item, read=lambda _: line.encode())
    assert told.startswith(f"{file}:1:1: error")
    assert ("MARKER" in told) is shown


@pytest.mark.requirement("ADP-5", "AUD-5")
@pytest.mark.parametrize(
    ("pointer", "line", "shown"),
    [
        ("/fetch/http/method", "    method: MARKER", True),
        ("/fetch/http/method", '  "method": "MARKER",', True),
        ("/fetch/http/methode", "  methode: MARKER", False),
        ("/fetch/http/method", "fetch: {http: {method: MARKER}}", False),
        ("/fetch/http/method", "method: GOT, url: MARKER", False),
        ("/fetch/http/url", '  url: "https://h/MARKER"', False),
        ("/fetch/http/url", "    MARKER", False),
        ("/fetch/http/X-Key", "  X-Key: MARKER", False),
        ("/fetch/ssh/host", "  host: u:MARKER@h", False),
        ("/fetch/ssh/port", "  port: MARKER", True),
        ("/fetch/python/function", "  function: acme.jobs:MARKER", True),
        ("/fetch/http/method", "  method: slack://MARKER", False),
        ("/fetch", "fetch: # MARKER", True),
        ("/fetch", "fetch: {http: MARKER}", False),
        ("/fetched", "fetched: {MARKER: 1}", True),
        ("/fetch/ssh/host", "  host: MARKER", False),
        ("/fetch/ssh/command", "  command: mysql -uroot -pMARKER", False),
        ("/fetch/command/argv/1", "    - -pMARKER", False),
        ("/fetch/command", "  command: mysql -uroot -pMARKER", False),
        ("/fetch/ssh", "  ssh: # MARKER", True),
        ("/fetch/ssh/hots", "  hots: MARKER", False),
        ("/fetch/ssh/known_hosts", "  known_hosts: MARKER", True),
        ("/upstream/signature/jws/issuer", "  issuer: MARKER", False),
        ("/upstream/signature/jws/max_age_s", "  max_age_s: MARKER", True),
        ("/upstream/signature/jws/max_age_s", "jws: {max_age_s: x, issuer: MARKER}", False),
        ("/effect", '{"effect": 1, "fetch": {"ssh": {"host": "MARKER"}}}', False),
        ("", "  host: MARKER", False),
        ("", "  title: MARKER", True),
    ],
)
def test_of_what_a_contract_fetches_only_lines_of_one_plain_member_are_shown(
    pointer: str, line: str, shown: bool
) -> None:
    file = "contracts/a/contract.yaml"
    item = replace(OPEN, file=file, pointer=pointer, line=1, column=1, length=1)
    told = render_item(item, read=lambda _: line.encode())
    assert told.startswith(f"{file}:1:1: error")
    assert ("MARKER" in told) is shown


@pytest.mark.requirement("ADP-5", "AUD-5")
@pytest.mark.parametrize(
    ("pointer", "line", "shown"),
    [
        ("/access/0/action", "  - {caller: a, action: MARKER}", True),
        ("/access/0/action", "  - {caller: a, action: x, url: MARKER}", False),
        ("/limits/max_bytes", "  max_bytes: MARKER", True),
        ("/limits/max_bytes", "limits: {max_bytes: 5, in_flight: MARKER}", False),
        ("/limits/key_store", "  key_store: MARKER", False),
        ("/limits/key_stroe", "  key_stroe: MARKER", False),
        ("/audit/sinks", "  sinks: MARKER", True),
        ("/audit/sinks", "  MARKER, sinks: al", False),
        ("/audit/store", "  store: MARKER", False),
        ("/audit/heads/every_s", "    every_s: MARKER", True),
        ("/audit/heads/to", "    to: MARKER", False),
        ("/audit", "audit: # MARKER", True),
        ("/audit", "audit: MARKER", False),
        ("/retention/rejected/days", "  rejected: {days: MARKER}", True),
        ("/retention/rejected/days", "retention: {rejected: {days: MARKER}}", True),
        ("/retention/rejected/days", "retention: {rejected: {days: MARKER},", False),
        ("/callers/from", "callers: {from: MARKER}", True),
        ("/callers/from", '  "MARKER"}, callers: {from: x}}', False),
        ("/callers/from", "callers: {from: x}, notfy: {a: MARKER}", False),
        ("/callers/from", "callers: {from: x}}, b: {a: MARKER", False),
        ("/callers/from", "notfy: {a: MARKER}, callers: {from: x}", False),
        ("/callers/from", "callers: {from: https://MARKER}", False),
        ("/python/0", '  - "MARKER"', True),
        ("/python/0", '  "MARKER"', False),
        ("/serve/t/0/share", "  t: [{version: 1.0.0, share: MARKER}]", True),
        ("/notify/a", "  a: MARKER", False),
        ("/acess", "acess: MARKER", False),
        ("", "MARKER", False),
    ],
)
def test_of_the_settings_what_a_plain_key_begins_is_shown(
    pointer: str, line: str, shown: bool
) -> None:
    file = "contracts/sluicegate.yaml"
    item = replace(OPEN, file=file, pointer=pointer, line=1, column=1, length=1)
    told = render_item(item, read=lambda _: line.encode())
    assert told.startswith(f"{file}:1:1: error")
    assert ("MARKER" in told) is shown


@pytest.mark.parametrize(
    ("worst_last", "heads"), [(False, ERRORS_FIRST), (True, ERRORS_FIRST[::-1])]
)
def test_the_worst_stands_first_or_next_to_the_summary(worst_last: bool, heads: list[str]) -> None:
    told = render_human(replace(report(WIDE, OPEN), worst_last=worst_last)).splitlines()
    assert [head for line in told for head in heads if line.endswith(head)] == heads


def test_what_is_alike_is_told_once_with_how_often_and_the_first_places() -> None:
    many = [OPEN, *(replace(OTHER, pointer=f"/{number}") for number in range(99))]
    assert render_human(report(*many), read=read) == (
        "error C01 open-object × 100: The object takes any member.\n"
        "  contracts/a b.json:2:12 /b\n"
        '  2 |  "ü": "é", "b": {}\n'
        "    |            ^\n"
        "  c.json:1:1 /0 (c)\n"
        "  c.json:1:1 /1 (c)\n"
        "  c.json:1:1 /2 (c)\n"
        "  c.json:1:1 /3 (c)\n"
        "  … and 95 more; --format json-v1 tells all\n"
        "  hint: Write additionalProperties: false.\n"
        "\n"
        "FAILS: 2 schemas\n"
    )


def test_what_differs_among_those_alike_is_told_at_each_place() -> None:
    other = replace(OTHER, message="It takes b.", way_on="go on", hint="")
    assert render_human(report(OPEN, other)).splitlines()[:4] == [
        "error C01 open-object × 2",
        "  contracts/a b.json:2:12 /b  The object takes any member.",
        "  c.json:1:1 (c)  It takes b.",
        "    go on",
    ]


def test_a_family_keeps_apart_what_one_rule_found_of_several_kinds() -> None:
    told = render_human(report(OPEN, replace(OTHER, family="another")))
    assert "×" not in told
    assert told.count("error C01 open-object") == 2


def test_a_clean_report_is_its_remarks_and_one_line() -> None:
    assert render_human(replace(report(), remarks=("one 1.000",))) == "one 1.000\nOK: 2 schemas\n"


def test_no_caret_stands_where_no_line_is_shown() -> None:
    for lost in (replace(OPEN, line=9), replace(OPEN, line=None), OTHER):
        assert "^" not in render_human(report(lost), read=read)
    assert "^" not in render_human(report(OPEN))


@pytest.mark.requirement("AUD-5")
@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_name_acts_on_no_terminal(name: str) -> None:
    hostile = replace(
        OPEN, name=name, message=name, file=name, pointer="/" + name, hint=name, tool=name
    )
    causes = replace(hostile, causes=(hostile,), way_on=name)
    for items in ((hostile,), (causes,), (hostile, replace(hostile, message="other"))):
        lines = render_human(replace(report(*items), summary=name, remarks=(name,))).splitlines()
        assert all(line.isprintable() for line in lines)
        assert not any(line.lstrip().startswith("::") for line in lines)
