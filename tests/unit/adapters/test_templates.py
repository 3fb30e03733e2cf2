"""What an argument may do in a URL and in a command: be one value in its place."""

from __future__ import annotations

import pytest

from sluicegate.adapters.templates import CommandTemplate, Unfit, UrlTemplate, parse_template
from sluicegate.errors import ConfigurationError
from sluicegate.values.pointers import Pointer

pytestmark = pytest.mark.requirement("ADP-1")

SEGMENTS = {
    "plain": ("bluebird", "bluebird"),
    "unreserved characters stay": ("a-b._~Z9", "a-b._~Z9"),
    "slash": ("a/b", "a%2Fb"),
    "backslash": ("a\\b", "a%5Cb"),
    "climbing": ("../../admin", "..%2F..%2Fadmin"),
    "query": ("a?b=c&d", "a%3Fb%3Dc%26d"),
    "fragment": ("a#b", "a%23b"),
    "already encoded": ("%2e%2e", "%252e%252e"),
    "blank": ("a b", "a%20b"),
    "line break": ("a\r\nHost: evil", "a%0D%0AHost%3A%20evil"),
    "NUL": ("a\0", "a%00"),
    "at sign and colon": ("user:x@evil", "user%3Ax%40evil"),
    "beyond ASCII": ("ü€😀", "%C3%BC%E2%82%AC%F0%9F%98%80"),
    "integer": (42, "42"),
    "negative integer": (-7, "-7"),
    "integer beyond 2**53": (2**60, "1152921504606846976"),
    "three dots are a name": ("...", "..."),
    "placeholder as value": ("{/other}", "%7B%2Fother%7D"),
}

UNFIT = {
    "empty": "",
    "dot": ".",
    "two dots": "..",
    "float": 1.5,
    "integral float": 1.0,
    "true": True,
    "null": None,
    "array": ["a"],
    "object": {"a": "b"},
    "lone surrogate": "a\ud800",
    "more digits than Python writes": 10**5000,
}


@pytest.mark.parametrize(("value", "segment"), SEGMENTS.values(), ids=SEGMENTS)
def test_an_argument_is_one_percent_encoded_segment(value: object, segment: str) -> None:
    template = UrlTemplate("https://ci.example/projects/{/id}/runs")
    expected = f"/projects/{segment}/runs"
    assert expected == template.expand({"id": value, "other": "x"})


@pytest.mark.parametrize(("value", "segment"), SEGMENTS.values(), ids=SEGMENTS)
def test_an_argument_in_the_query_is_encoded_alike(value: object, segment: str) -> None:
    template = UrlTemplate("https://ci.example/runs", {"of": "{/id}"})
    assert f"/runs?of={segment}" == template.expand({"id": value, "other": "x"})


@pytest.mark.parametrize("value", UNFIT.values(), ids=UNFIT)
def test_an_argument_that_is_no_segment_is_refused_without_being_echoed(value: object) -> None:
    template = UrlTemplate("https://ci.example/projects/{/id}")
    refused = template.expand({"id": value})
    assert isinstance(refused, Unfit)
    assert refused.pointer == "/id"
    assert not refused.is_absent


def test_an_argument_that_is_absent_is_refused_in_the_path() -> None:
    refused = UrlTemplate("https://ci.example/{/id}").expand({})
    assert isinstance(refused, Unfit)
    assert refused.is_absent


def test_a_query_parameter_without_its_argument_is_left_out() -> None:
    template = UrlTemplate("https://ci.example/runs?page=1", {"branch": "{/branch}", "all": "a b"})
    assert template.expand({}) == "/runs?page=1&all=a%20b"
    assert template.expand({"branch": "main"}) == "/runs?page=1&branch=main&all=a%20b"


def test_a_query_parameter_with_a_bad_argument_is_refused() -> None:
    template = UrlTemplate("https://ci.example/runs", {"branch": "{/branch}"})
    assert isinstance(template.expand({"branch": ".."}), Unfit)


def test_constant_query_text_cannot_add_parameters() -> None:
    template = UrlTemplate("https://ci.example/runs", {"a&x": "1&admin=true"})
    assert template.expand({}) == "/runs?a%26x=1%26admin%3Dtrue"


def test_a_pointer_reaches_into_the_arguments() -> None:
    template = UrlTemplate("https://ci.example/{/run/ids/0}/{/a~1b}")
    assert template.expand({"run": {"ids": ["r1"]}, "a/b": "x"}) == "/r1/x"


def test_a_url_without_a_path_asks_for_the_root() -> None:
    template = UrlTemplate("HTTPS://CI.example:8443", {"q": "{/q}"})
    assert template.origin == "https://ci.example:8443"
    assert template.expand({"q": "x"}) == "/?q=x"


BAD_URLS = {
    "placeholder as host": "https://{/host}/runs",
    "placeholder in the host": "https://{/project}.ci.example/runs",
    "placeholder behind the host": "https://ci.example{/port}/runs",
    "placeholder as port": "https://ci.example:{/port}/runs",
    "placeholder as scheme": "{/scheme}://ci.example/runs",
    "placeholder alone": "{/url}",
    "user name and password": "https://user:secret@ci.example/runs",
    "another scheme": "file:///etc/passwd",
    "no scheme": "ci.example/runs",
    "no host": "https:///runs",
    "port out of range": "https://ci.example:99999/runs",
    "port zero": "https://ci.example:0/runs",
    "fragment": "https://ci.example/runs#top",
    "blank": "https://ci.example/my runs",
    "line break": "https://ci.example/runs\r\nX-Evil: 1",
    "backslash": "https://ci.example\\@evil/runs",
    "beyond ASCII in the path": "https://ci.example/läufe",
    "brace without pointer": "https://ci.example/{id}",
    "climbing": "https://ci.example/a/../{/id}",
    "wild pointer": "https://ci.example/{/ids/*}",
    "broken pointer": "https://ci.example/{/a~2}",
    "bad escape": "https://ci.example/%zz",
}


@pytest.mark.parametrize("url", BAD_URLS.values(), ids=BAD_URLS)
def test_a_url_that_an_argument_could_bend_is_a_configuration_error(url: str) -> None:
    with pytest.raises(ConfigurationError):
        UrlTemplate(url)


def test_an_argument_is_one_element_of_the_command() -> None:
    command = CommandTemplate(["kubectl", "get", "pod", "{/name}", "-n", "{/space}", "--o={/form}"])
    arguments = {"name": "a b; rm -rf /", "space": "$(id)", "form": "json\n"}
    expected = ["get", "pod", "a b; rm -rf /", "-n", "$(id)", "--o=json\n"]
    assert expected == command.expand(arguments)


@pytest.mark.parametrize(
    "value", ["-x", "--help", "-", -1], ids=["short", "long", "dash", "negative"]
)
def test_a_leading_dash_is_refused_unless_behind_two_dashes(value: object) -> None:
    assert isinstance(CommandTemplate(["ls", "{/a}"]).expand({"a": value}), Unfit)
    assert isinstance(CommandTemplate(["ls", "--a={/a}"]).expand({"a": value}), Unfit)
    assert isinstance(CommandTemplate(["ls", "{/a}", "--"]).expand({"a": value}), Unfit)
    assert ["--", str(value)] == CommandTemplate(["ls", "--", "{/a}"]).expand({"a": value})


def test_two_dashes_that_an_argument_spells_are_no_end_of_options() -> None:
    command = CommandTemplate(["ls", "{/a}", "{/b}"])
    assert isinstance(command.expand({"a": "--", "b": "-x"}), Unfit)


@pytest.mark.parametrize("value", UNFIT.values(), ids=UNFIT)
def test_an_argument_that_is_no_plain_text_is_refused_in_a_command(value: object) -> None:
    assert isinstance(CommandTemplate(["ls", "--", "{/a}"]).expand({"a": value}), Unfit)


def test_a_nul_is_refused_in_a_command() -> None:
    assert isinstance(CommandTemplate(["ls", "--", "{/a}"]).expand({"a": "a\0b"}), Unfit)


def test_braces_that_hold_no_pointer_stay_text_in_a_command() -> None:
    command = CommandTemplate(["docker", "ps", "--format", "{{.Names}}", "jq {a: .b}"])
    assert command.expand({}) == ["ps", "--format", "{{.Names}}", "jq {a: .b}"]


BAD_COMMANDS: dict[str, list[str]] = {
    "nothing": [],
    "no program": [""],
    "program by argument": ["{/program}"],
    "program in part by argument": ["/opt/{/program}"],
    "NUL": ["ls", "a\0"],
    "wild pointer": ["ls", "{/a/*}"],
}


@pytest.mark.parametrize("argv", BAD_COMMANDS.values(), ids=BAD_COMMANDS)
def test_a_command_that_an_argument_could_bend_is_a_configuration_error(argv: list[str]) -> None:
    with pytest.raises(ConfigurationError):
        CommandTemplate(argv)


def test_a_template_keeps_text_and_pointers_in_order() -> None:
    parts = parse_template("a{/b}{/c/0}d").parts
    assert ("a", Pointer(("b",)), Pointer(("c", "0")), "d") == parts
