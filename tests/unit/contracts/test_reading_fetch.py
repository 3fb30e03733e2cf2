"""How a contract reaches its upstream: every form is read, each rule is told at its place."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.contracts.folders import (
    COMMAND,
    HTTP,
    SSH,
    assert_refused,
    contract,
    problems,
)

from sluicegate.contracts.contract import (
    CacheRule,
    CommandFetch,
    HostFetch,
    HttpFetch,
    PythonFetch,
    PythonName,
    SshFetch,
)
from sluicegate.values.pointers import Pointer


def p(text: str) -> Pointer:
    return Pointer.parse(text)


# changes, the pointer of the one problem, a word of its message
REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    # fetch
    "no adapter": ({"fetch": {}}, "/fetch", "names 0 adapters"),
    "two adapters": ({"fetch": {"host": {}, "http": HTTP}}, "/fetch", "names 2 adapters"),
    "argument in the authority": (
        {"fetch": {"http": {**HTTP, "url": "https://{/project_id}.example/"}}},
        "/fetch/http/url",
        "no argument may choose the host",
    ),
    "argument as scheme": (
        {"fetch": {"http": {**HTTP, "url": "{/project_id}://x.example/"}}},
        "/fetch/http/url",
        "no argument may choose the host",
    ),
    "user name in the URL": (
        {"fetch": {"http": {**HTTP, "url": "https://me:pw@x.example/"}}},
        "/fetch/http/url",
        "origin",
    ),
    "optional argument in the URL": (
        {"fetch": {"http": {**HTTP, "url": "https://x.example/{/limit}"}}},
        "/fetch/http/url",
        "optional",
    ),
    "array in the URL": (
        {"fetch": {"http": {**HTTP, "url": "https://x.example/{/labels}"}}},
        "/fetch/http/url",
        "array",
    ),
    "unknown argument in the URL": (
        {"fetch": {"http": {**HTTP, "url": "https://x.example/{/project}"}}},
        "/fetch/http/url",
        "leads to nothing",
    ),
    "dots in the URL": (
        {"fetch": {"http": {**HTTP, "url": "https://x.example/a/../b"}}},
        "/fetch/http/url",
        "`..`",
    ),
    "fragment": (
        {"fetch": {"http": {**HTTP, "url": "https://x.example/#a"}}},
        "/fetch/http/url",
        "characters",
    ),
    "unknown argument in the query": (
        {"fetch": {"http": {**HTTP, "query": {"a": "{/b}"}}}},
        "/fetch/http/query/a",
        "leads to nothing",
    ),
    "argument in a header": (
        {"fetch": {"http": {**HTTP, "headers": {"X-A": "{/project_id}"}}}},
        "/fetch/http/headers/X-A",
        "constant",
    ),
    "secret in a header": (
        {"fetch": {"http": {**HTTP, "headers": {"authorization": "Bearer x"}}}},
        "/fetch/http/headers/authorization",
        "not the contract's",
    ),
    "header with a line break": (
        {"fetch": {"http": {**HTTP, "headers": {"X-A": "a\r\nb"}}}},
        "/fetch/http/headers/X-A",
        "printable",
    ),
    "secret in a header for proxies": (
        {"fetch": {"http": {**HTTP, "headers": {"Proxy-Authorization": "Basic x"}}}},
        "/fetch/http/headers/Proxy-Authorization",
        "not the contract's",
    ),
    "header that the connection needs": (
        {"fetch": {"http": {**HTTP, "headers": {"Keep-Alive": "timeout=5"}}}},
        "/fetch/http/headers/Keep-Alive",
        "not the contract's",
    ),
    "header that the gate sets": (
        {"fetch": {"http": {**HTTP, "headers": {"X-Request-Id": "1"}}}},
        "/fetch/http/headers/X-Request-Id",
        "not the contract's",
    ),
    "header twice in different case": (
        {"fetch": {"http": {**HTTP, "headers": {"X-A": "1", "x-a": "2"}}}},
        "/fetch/http/headers/x-a",
        "set as `X-A` already",
    ),
    "header of the credential": (
        {
            "fetch": {
                "http": {
                    **HTTP,
                    "credential": "A",
                    "credential_header": "X-Token",
                    "headers": {"x-token": "1"},
                }
            }
        },
        "/fetch/http/headers/x-token",
        "the header of `credential_header` already",
    ),
    "header of the credential, unnamed": (
        {"fetch": {"http": {**HTTP, "credential": "A", "idempotency_header": "authorization"}}},
        "/fetch/http/idempotency_header",
        "not the contract's",
    ),
    "header of the idempotency key": (
        {"fetch": {"http": {**HTTP, "idempotency_header": "X-Key", "headers": {"x-key": "1"}}}},
        "/fetch/http/headers/x-key",
        "the header of `idempotency_header`",
    ),
    "idempotency key in the credential's header": (
        {
            "fetch": {
                "http": {
                    **HTTP,
                    "credential": "A",
                    "credential_header": "X-Key",
                    "idempotency_header": "x-key",
                }
            }
        },
        "/fetch/http/idempotency_header",
        "the header of `credential",
    ),
    "idempotency key as authorization": (
        {"fetch": {"http": {**HTTP, "idempotency_header": "Authorization"}}},
        "/fetch/http/idempotency_header",
        "not the contract's",
    ),
    "credential in the header of the host": (
        {"fetch": {"http": {**HTTP, "credential": "A", "credential_header": "Host"}}},
        "/fetch/http/credential_header",
        "not the contract's",
    ),
    "HEAD": (
        {"fetch": {"http": {**HTTP, "method": "HEAD"}}},
        "/fetch/http/method",
        "without a body",
    ),
    "authorities without TLS": (
        {"fetch": {"http": {**HTTP, "url": "http://127.0.0.1:8080/", "ca_file": "ca.pem"}}},
        "/fetch/http/ca_file",
        "without TLS",
    ),
    "secret as credential": (
        {"fetch": {"http": {**HTTP, "credential": "ghp-12!secret"}}},
        "/fetch/http/credential",
        "name of a credential",
    ),
    "prefix without credential": (
        {"fetch": {"http": {**HTTP, "credential_prefix": "x"}}},
        "/fetch/http/credential_prefix",
        "without",
    ),
    "body of a GET": (
        {"fetch": {"http": {**HTTP, "body": "arguments"}}},
        "/fetch/http/body",
        "no body",
    ),
    "no time limit": (
        {"fetch": {"http": {"method": "GET", "url": "https://x.example"}}},
        "/fetch/http",
        "`timeout_s` is missing",
    ),
    "time limit of nothing": (
        {"fetch": {"http": {**HTTP, "timeout_s": 0}}},
        "/fetch/http/timeout_s",
        "above 0",
    ),
    "argument as program": (
        {"fetch": {"command": {**COMMAND, "argv": ["{/project_id}"]}}},
        "/fetch/command/argv/0",
        "choose the program",
    ),
    "no program": (
        {"fetch": {"command": {**COMMAND, "argv": []}}},
        "/fetch/command/argv",
        "no program",
    ),
    "command line": (
        {"fetch": {"command": {**COMMAND, "argv": "ls -l"}}},
        "/fetch/command/argv",
        "a list",
    ),
    "optional argument in a command": (
        {"fetch": {"command": {**COMMAND, "argv": ["ls", "{/limit}"]}}},
        "/fetch/command/argv/1",
        "optional",
    ),
    "credential without its variable": (
        {"fetch": {"command": {**COMMAND, "credential": "A"}}},
        "/fetch/command",
        "stand together",
    ),
    "ssh without a pinned host key": (
        {"fetch": {"ssh": {k: v for k, v in SSH.items() if k != "known_hosts"}}},
        "/fetch/ssh",
        "`known_hosts` is missing",
    ),
    **{
        f"argument in the {key} of ssh": (
            {"fetch": {"ssh": {**SSH, key: text}}},
            f"/fetch/ssh/{key}",
            "no argument may stand",
        )
        for key, text in {
            "host": "{/project_id}.example",
            "user": "{/project_id}",
            "command": "ci-status {/project_id}",
            "known_hosts": "keys/{/project_id}",
            "credential": "file:{/project_id}",
        }.items()
    },
    **{
        f"known_hosts {path}": (
            {"fetch": {"ssh": {**SSH, "known_hosts": path}}},
            "/fetch/ssh/known_hosts",
            "outside the folder",
        )
        for path in ("/etc/ssh/ssh_known_hosts", "../known_hosts", "keys/..", "~/.ssh/known_hosts")
    },
    **{
        f"{said} in {pointer}": ({"fetch": fetch}, pointer, word)
        for said, path, word in (
            ("a NUL", "a\0b", "a control character"),
            ("a break", "a\nb", "a control character"),
            ("a long name", f"a/{'b' * 256}", "more than 255 bytes"),
            ("a long path", "a/" * 1_999 + "bcd", "1 to 4000 characters"),
        )
        for pointer, fetch in {
            "/fetch/http/ca_file": {"http": {**HTTP, "ca_file": path}},
            "/fetch/command/directory": {"command": {**COMMAND, "directory": path}},
            "/fetch/ssh/known_hosts": {"ssh": {**SSH, "known_hosts": path}},
        }.items()
    },
    "ssh with a key and an agent": (
        {"fetch": {"ssh": {**SSH, "agent": True}}},
        "/fetch/ssh",
        "one of them",
    ),
    "ssh without a key": (
        {"fetch": {"ssh": {k: v for k, v in SSH.items() if k != "credential"}}},
        "/fetch/ssh",
        "one of them",
    ),
    "ssh command of two lines": (
        {"fetch": {"ssh": {**SSH, "command": "a\nb"}}},
        "/fetch/ssh/command",
        "one line",
    ),
    "ssh user that is an option": (
        {"fetch": {"ssh": {**SSH, "user": "-oProxyCommand=x"}}},
        "/fetch/ssh/user",
        "an account",
    ),
    "ssh host with a user": (
        {"fetch": {"ssh": {**SSH, "host": "me@ci.example"}}},
        "/fetch/ssh/host",
        "a host",
    ),
    "ssh port": ({"fetch": {"ssh": {**SSH, "port": 0}}}, "/fetch/ssh/port", "1 to 65535"),
    "ssh environment": (
        {"fetch": {"ssh": {**SSH, "environment": ["LANG"]}}},
        "/fetch/ssh/environment",
        "not a key of ssh",
    ),
    "cached write": (
        {"effect": "write", "fetch": {"http": HTTP, "cache": {"ttl_s": 5}}},
        "/fetch/cache",
        "only a read",
    ),
    "cached envelope": (
        {"upstream": {"envelope": True}, "fetch": {"http": HTTP, "cache": {"ttl_s": 5}}},
        "/fetch/cache",
        "envelope",
    ),
    "cache of what the host fetches": (
        {"fetch": {"host": {}, "cache": {"ttl_s": 5}}},
        "/fetch/cache",
        "the host fetches for itself",
    ),
    "cache beyond the age of the answer": (
        {
            "result.fresh": {"at": "/observed_at", "max_age_s": 60},
            "fetch": {"http": HTTP, "cache": {"ttl_s": 60.5}},
        },
        "/fetch/cache/ttl_s",
        "outlive",
    ),
}


@pytest.mark.requirement("CON-1", "ADP-1")
@pytest.mark.parametrize("case", REFUSED)
def test_each_broken_rule_of_a_fetch_is_told_at_its_place_and_alone(case: str) -> None:
    assert_refused(*REFUSED[case])


def test_every_form_of_fetch_is_read() -> None:
    http = {
        "method": "POST",
        "url": "https://x.example:8443/a",
        "query": {"n": "{/limit}", "k": "constant"},
        "headers": {"X-A": "b"},
        "body": {"project": "/project_id"},
        "timeout_s": 2.5,
        "credential": "file:secrets/token",
        "credential_header": "X-Token",
        "credential_prefix": "",
        "redirects": 2,
        "idempotency_header": "Idempotency-Key",
        "ca_file": "ca.pem",
    }
    assert contract({"fetch": {"http": http, "cache": {"ttl_s": 30}}}).fetch == HttpFetch(
        method="POST",
        url="https://x.example:8443/a",
        query={"n": "{/limit}", "k": "constant"},
        headers={"X-A": "b"},
        body={"project": p("/project_id")},
        timeout_s=2.5,
        credential="file:secrets/token",
        credential_header="X-Token",
        credential_prefix="",
        redirects=2,
        idempotency_header="Idempotency-Key",
        ca_file="ca.pem",
    )
    command = {
        "argv": ["ls", "--", "{/project_id}"],
        "stdin": "arguments",
        "timeout_s": 3,
        "environment": ["LANG"],
        "directory": "/srv",
        "credential": "keyring:ci/token",
        "credential_variable": "TOKEN",
    }
    assert contract({"fetch": {"command": command}}).fetch == CommandFetch(
        argv=("ls", "--", "{/project_id}"),
        stdin="arguments",
        timeout_s=3,
        environment=("LANG",),
        directory="/srv",
        credential="keyring:ci/token",
        credential_variable="TOKEN",
    )
    ssh = {**SSH, "port": 2222, "stdin": "arguments"}
    assert contract({"fetch": {"ssh": ssh}}).fetch == SshFetch(
        host="ci.example",
        port=2222,
        user="reader",
        command="ci-status --json | awk '{print}'",
        stdin="arguments",
        known_hosts="keys/known_hosts",
        timeout_s=5,
        credential="file:keys/id_ed25519",
    )
    by_agent = {k: v for k, v in SSH.items() if k != "credential"} | {"agent": True}
    assert contract({"fetch": {"ssh": by_agent}}).fetch == SshFetch(
        host="ci.example",
        user="reader",
        command="ci-status --json | awk '{print}'",
        known_hosts="keys/known_hosts",
        timeout_s=5,
        agent=True,
    )
    python = {"function": "acme.tools:run", "timeout_s": 9}
    assert contract(
        {"fetch": {"python": python}}, settings={"python": ["acme"]}
    ).fetch == PythonFetch(function=PythonName("acme.tools", "run"), timeout_s=9)
    assert contract({"fetch": {"host": {"timeout_s": 4}}}).fetch == HostFetch(timeout_s=4)
    cached = contract({"fetch": {"http": http, "cache": {"ttl_s": 30}}})
    assert cached.cache == CacheRule(ttl_s=30)


LEAKS: dict[str, Any] = {
    "url in place of fetch": "https://u:s3cr3t@h/x",
    "header text": {"http": {**HTTP, "headers": {"X-Auth": "s3cr3t\n"}}},
    "header as a number": {"http": {**HTTP, "headers": {"X-Auth": 3737}}},
    "header in one text": {"http": {**HTTP, "headers": {"X-Auth: s3cr3t": "x"}}},
    "header name": {"http": {**HTTP, "credential": "A", "credential_header": "Bearer s3cr3t"}},
    "prefix": {"http": {**HTTP, "credential": "A", "credential_prefix": "Bearer s3cr3t\n"}},
    "query": {"http": {**HTTP, "query": {"key": "s3cr3t" * 1000}}},
    "url": {"http": {**HTTP, "url": "https://u:s3cr3t@h/x"}},
    "fragment": {"http": {**HTTP, "url": "https://h/x#s3cr3t"}},
    "body": {"http": {**HTTP, "method": "POST", "body": {"token": "s3cr3t"}}},
    "environment": {"command": {**COMMAND, "environment": ["PGPASS=s3cr3t"]}},
    "environment twice": {"command": {**COMMAND, "environment": ["s3cr3t", "s3cr3t"]}},
    "argument": {"command": {**COMMAND, "argv": ["ci", "--pw=s3cr3t{/nothing}"]}},
    "host": {"ssh": {**SSH, "host": "u:s3cr3t@h"}},
    "account": {"ssh": {**SSH, "user": "u:s3cr3t"}},
    "command": {"ssh": {**SSH, "command": "login s3cr3t\n"}},
    "command in place of its mapping": {"command": "mysql -ps3cr3t"},
    "url in place of its mapping": {"http": "https://u:s3cr3t@h/x"},
}


@pytest.mark.requirement("ADP-5", "AUD-5")
@pytest.mark.parametrize("case", LEAKS)
def test_what_stands_where_secrets_are_written_is_never_repeated(case: str) -> None:
    found = problems({"fetch": LEAKS[case]})
    assert found
    assert not [each for each in found if "s3cr3t" in str(each) or "3737" in str(each)]
    assert all(each.discreet for each in found)
