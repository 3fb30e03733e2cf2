"""``check`` tells code scanning and test dashboards what it found."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.acceptance.commands import Here

pytestmark = pytest.mark.requirement("LIF-5")


@pytest.fixture(autouse=True)
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sluicegate: Here) -> None:
    """A new contract in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    sluicegate("init", "item_state")


def test_junit_has_one_case_a_contract_and_a_fixture(sluicegate: Here) -> None:
    done = sluicegate("check", "--format", "junit")
    root = ElementTree.fromstring(done.out)
    assert (done.code, root.get("tests"), root.get("failures")) == (0, "7", "0")


def test_a_failing_fixture_fails_its_case_and_stands_at_its_line(sluicegate: Here) -> None:
    fixture = Path("contracts/item_state/fixtures/arguments/accepted/one-item.json")
    fixture.write_text('{\n "item_id": "other"}\n')
    root = ElementTree.fromstring(sluicegate("check", "--format", "junit").out)
    failing = [
        case.get("name") for case in root.iter("testcase") if case.find("failure") is not None
    ]
    assert str(fixture) in failing
    done = sluicegate("check", "--format", "sarif")
    (run,) = json.loads(done.out)["runs"]
    regions = {
        place["artifactLocation"]["uri"]: place["region"]
        for result in run["results"]
        for place in [result["locations"][0]["physicalLocation"]]
    }
    assert (done.code, regions[str(fixture)]) == (1, {"startLine": 2, "startColumn": 13})


def test_a_folder_that_does_not_load_names_code_and_place(sluicegate: Here) -> None:
    contract = Path("contracts/item_state/contract.yaml")
    contract.write_text(contract.read_text().replace("effect: read", "effect: reed"))
    done = sluicegate("check", "--format", "sarif")
    (run,) = json.loads(done.out)["runs"]
    (result,) = run["results"]
    rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert (done.code, rule["id"], result["level"]) == (4, "CONTRACT_INVALID", "error")
    assert "# CONTRACT_INVALID" in rule["help"]["markdown"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == str(contract)
    assert place["region"]["startLine"] == 7


@pytest.mark.requirement("LIF-5", "CLI")
@pytest.mark.parametrize("form", ["sarif", "junit", "github"])
def test_a_folder_without_a_contract_is_no_clean_report(
    sluicegate: Here, tmp_path: Path, form: str
) -> None:
    (tmp_path / "empty").mkdir()
    done = sluicegate("check", str(tmp_path / "empty"), "--format", form)
    assert done.code == 3
    told = {
        "sarif": '"ruleId": "NOTHING_CHECKED"',
        "junit": 'failures="1"',
        "github": "::error",
    }
    assert told[form] in done.out


SECRET = "S3cr3tMARK0000000000000000000000000000000000="
WRONG_SETTINGS = {
    "a database": f'audit: {{store: "postgresql://gate:{SECRET}@db/audit", keys: "file:keys/"}}',
    "a key in place of its file": f'audit: {{store: "sqlite:state/a.db", keys: "{SECRET}"}}',
    "another fault of the line": f'audit: {{store: "postgresql:env:{SECRET}", kyes: 1}}',
    "a key twice": f'audit: {{store: "postgresql:env:X", "store": "{SECRET}"}}',
    "Redis": f'limits: {{key_store: "redis://:{SECRET}@h/0"}}',
    "a route": f'notify: {{ops: "https://u:{SECRET}@h/x"}}',
    "a line of its own": f'audit:\n  keys:\n    "{SECRET}"',
    "a section": f'audit: "postgresql://u:{SECRET}@db/x"',
    "a section in a section": f'audit: {{heads: "https://u:{SECRET}@h/x"}}',
    "a route for an owner, twice": f'notify: {{"ssh://:{SECRET}@h": a, "ssh://:{SECRET}@h": b}}',
    "a route for an owner alone": f'notify: {{"https://u:{SECRET}@h": }}',
}


@pytest.mark.requirement("ADP-5", "AUD-5")
@pytest.mark.parametrize("form", ["human", "json-v1", "github", "sarif", "junit"])
@pytest.mark.parametrize("wrong", WRONG_SETTINGS)
def test_what_stands_in_the_settings_is_not_repeated(
    sluicegate: Here, wrong: str, form: str
) -> None:
    Path("contracts/sluicegate.yaml").write_text(WRONG_SETTINGS[wrong] + "\n")
    done = sluicegate("check", "--format", form)
    assert done.code == 4
    assert SECRET[:10] not in done.out + done.err


@pytest.mark.requirement("ADP-5", "AUD-5")
@pytest.mark.parametrize("between", [" ", "\n      "], ids=["one line", "a line of its own"])
def test_a_secret_in_the_place_of_its_name_is_not_repeated(sluicegate: Here, between: str) -> None:
    contract = Path("contracts/item_state/contract.yaml")
    text = contract.read_text()
    fetch = f"fetch:\n  http:\n    url: https://h.example/\n    credential:{between}{SECRET}\n"
    start = text.index("fetch:")
    end = next(
        place
        for place in range(start + 6, len(text))
        if text[place - 1] == "\n" and text[place] not in " \n#"
    )
    contract.write_text(text[:start] + fetch + text[end:])
    done = sluicegate("check")
    assert done.code == 4
    assert "credential" in done.out + done.err
    assert SECRET[:10] not in done.out + done.err


WRONG_FETCHES = {
    "an address": f"fetch: https://u:{SECRET}@api/x",
    "an address in a section": f"fetch: {{http: 'https://u:{SECRET}@api/x'}}",
    "a host": f'fetch:\n  ssh: "user:{SECRET}@host"',
    "a command line": f"fetch:\n  command: \"curl -H 'X: {SECRET}' x\"",
    "a number": f'fetch:\n  host:\n    timeout_s: "mysql -p{SECRET}"',
    "a token": f"fetch:\n  http: whsec_{SECRET}",
}


@pytest.mark.requirement("ADP-5", "AUD-5")
@pytest.mark.parametrize("form", ["human", "json-v1", "github", "sarif", "junit"])
@pytest.mark.parametrize("wrong", WRONG_FETCHES)
def test_what_stands_in_the_place_of_a_section_is_not_repeated(
    sluicegate: Here, wrong: str, form: str
) -> None:
    contract = Path("contracts/item_state/contract.yaml")
    lines = contract.read_text().splitlines()
    start = lines.index("fetch:")
    end = next(at for at in range(start + 1, len(lines)) if lines[at][:1] not in (" ", "#", ""))
    contract.write_text("\n".join([*lines[:start], WRONG_FETCHES[wrong], *lines[end:], ""]))
    done = sluicegate("check", "--format", form)
    assert done.code == 4
    assert "here stands a text" in done.out + done.err
    assert SECRET[:10] not in done.out + done.err


@pytest.mark.requirement("ADP-5", "AUD-5")
@pytest.mark.parametrize(
    "command",
    [
        ("doctor", "contracts"),
        ("lint", "contracts"),
        ("test",),
        ("audit", "show"),
        ("call", "item_state", "--arguments", "{}", "--caller", "svc"),
    ],
    ids=lambda command: command[0],
)
def test_no_command_repeats_what_stands_in_the_place_of_a_section(
    sluicegate: Here, command: tuple[str, ...]
) -> None:
    Path("contracts/sluicegate.yaml").write_text(WRONG_SETTINGS["a section"] + "\n")
    done = sluicegate(*command)
    assert done.code != 0
    assert SECRET[:10] not in done.out + done.err
