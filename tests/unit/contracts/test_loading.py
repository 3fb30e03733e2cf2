"""A whole folder: the example of SPEC 2 loads, and every rule has a contract that breaks it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.contracts.folders import (
    NAME,
    case_folder,
    changed,
    contract,
    load_base,
    problems,
    resolve_anything,
)

from sluicegate.contracts.contract import (
    BindRule,
    CacheRule,
    CommandFetch,
    EvidenceWaiver,
    FreshRule,
    HostFetch,
    HttpFetch,
    MapRule,
    PythonFetch,
    PythonName,
    RetryRule,
    SshFetch,
    TextRule,
)
from sluicegate.contracts.loading import load
from sluicegate.contracts.naming import NamelessError
from sluicegate.contracts.served import ContractSet
from sluicegate.contracts.settings import AccessRule, Settings
from sluicegate.values.limits import Limits
from sluicegate.values.pointers import Pointer


def p(text: str) -> Pointer:
    return Pointer.parse(text)


@pytest.mark.requirement("CON-1", "CON-2")
def test_the_example_folder_loads_with_every_part_in_its_place() -> None:
    loaded = load(case_folder(), resolve=resolve_anything)
    assert isinstance(loaded, ContractSet), loaded
    found = loaded.contracts["job_status"]
    assert found.source == "job_status/contract.yaml"
    assert isinstance(found.fetch, HttpFetch)
    assert (found.fetch.url, found.fetch.credential) == (
        "https://ci.example/projects/{/project_id}/runs/{/run_id}",
        "CI_TOKEN",
    )
    assert found.limits == Limits(max_bytes=65536, max_depth=16)
    assert found.upstream.status == {"404": "NOT_FOUND", "5xx": "UPSTREAM_UNAVAILABLE"}
    assert found.upstream.map is not None
    assert found.upstream.map["state"] == MapRule(
        at=p("/status"), values={"SUCCESS": "succeeded", "FAILURE": "failed"}
    )
    assert found.result.fresh == FreshRule(at=p("/observed_at"), max_age_s=60, max_ahead_s=5)
    assert found.result.bind[0] == BindRule(data=p("/project_id"), argument=p("/project_id"))
    assert found.result.checks == (PythonName("acme.checks", "run_belongs_to_project"),)
    assert found.result.operator == (p("/diagnostic_url"),)
    assert set(found.result.agent_schema["properties"]) == {  # type: ignore[arg-type]
        *("project_id", "run_id", "state", "observed_at")
    }
    assert found.errors == {"NOT_FOUND": False, "UPSTREAM_UNAVAILABLE": True}
    assert found.retry == RetryRule(attempts=3, budget_s=10, on=frozenset({"UPSTREAM_UNAVAILABLE"}))
    assert loaded.settings.access.rules == (
        AccessRule(
            caller="svc-deploy",
            tool="job_status",
            resource_type="project",
            resource_in=frozenset({"bluebird"}),
        ),
    )
    assert loaded.settings.python == ("acme.",)


@pytest.mark.requirement("CON-1")
def test_a_folder_without_contracts_has_settings_and_nothing_to_serve() -> None:
    loaded = load({"sluicegate.yaml": b"{access: {python: 'acme.a:b'}}"}, resolve=None)
    assert isinstance(loaded, ContractSet)
    assert (dict(loaded.contracts), loaded.settings.access.python) == (
        {},
        PythonName("acme.a", "b"),
    )
    nothing = load({}, resolve=None)
    assert isinstance(nothing, ContractSet)
    assert nothing.settings == Settings()


@pytest.mark.requirement("CON-3")
def test_a_loaded_set_cannot_be_changed() -> None:
    loaded = load_base({})
    assert isinstance(loaded, ContractSet)
    with pytest.raises(TypeError):
        loaded.contracts["other"] = loaded.contracts["job_status"]  # type: ignore[index]
    with pytest.raises(AttributeError):
        loaded.settings = Settings()  # type: ignore[misc]


@pytest.mark.requirement("CON-1", "CON-2")
def test_all_problems_of_all_documents_are_told_in_order() -> None:
    broken = changed({"efect": "read", "version": "1.0", "result.agent": ["/stat"]})
    loaded = load(
        {
            NAME: json.dumps(broken, indent=1).encode(),
            "b/contract.yaml": b"tool: [\n",
            "sluicegate.yaml": b"limits: {in_fligth: 3}\naudit: {store: 7}\n",
        },
        resolve=None,
    )
    assert isinstance(loaded, tuple)
    assert [(found.document, found.pointer) for found in loaded] == [
        ("b/contract.yaml", ""),
        (NAME, "/version"),
        (NAME, "/result/agent/0"),
        (NAME, "/efect"),
        ("sluicegate.yaml", "/limits/in_fligth"),
        ("sluicegate.yaml", "/audit/store"),
    ]
    assert all(found.line and found.column and found.mend for found in loaded)
    by_pointer = {found.pointer: found for found in loaded}
    assert by_pointer["/efect"].mend == "Did you mean `effect`?"
    assert by_pointer["/result/agent/0"].mend == "Did you mean `/state`?"
    assert (by_pointer["/audit/store"].line, by_pointer["/audit/store"].column) == (2, 16)


HTTP = {"method": "GET", "url": "https://x.example/{/project_id}", "timeout_s": 5}
SSH = {
    "host": "ci.example",
    "user": "reader",
    "command": "ci-status --json | awk '{print}'",
    "known_hosts": "keys/known_hosts",
    "timeout_s": 5,
    "credential": "file:keys/id_ed25519",
}
COMMAND = {"argv": ["ls", "{/project_id}"], "timeout_s": 5}
GROUPS = "(?P<project_id>a)(?P<state>b)(?P<observed_at>c)"
TABLE = {"project_id": "/p", "state": "/s", "observed_at": "/t"}
DESTRUCTIVE = {"effect": "destructive", "evidence": {"none": "why", "until": "2027-01-31"}}

UPSTREAM_KEYS: dict[str, Any] = {
    "status": {"404": "NOT_FOUND"},
    "success": [200, 203],
    "content_type": "application/json",
    "exit": {"3": "NOT_FOUND"},
    "success_exit": [0, 1],
}

# changes, the pointer of the one problem, a word of its message
REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    # shape
    "unknown key": ({"retries": 1}, "/retries", "not a key"),
    "another format": ({"sluicegate": 2}, "/sluicegate", "1"),
    "no owner": ({"owner": ...}, "", "`owner` is missing"),
    "no result": ({"result": ...}, "", "`result` is missing"),
    "number for text": ({"description": 5}, "/description", "must be text"),
    "blank description": ({"description": " "}, "/description", "characters"),
    "version of two parts": ({"version": "1.0"}, "/version", "semantic"),
    "version with leading zero": ({"version": "01.0.0"}, "/version", "semantic"),
    "unknown effect": ({"effect": "reed"}, "/effect", "one of"),
    "list for mapping": ({"limits": []}, "/limits", "a mapping"),
    # tool names
    "tool name of a folder": ({"tool": ".."}, "/tool", "not a name"),
    "tool name with a blank": ({"tool": "job status"}, "/tool", "not a name"),
    "tool name too long": ({"tool": "x" * 129}, "/tool", "129"),
    "tool name empty": ({"tool": ""}, "/tool", "not a name"),
    # what later parts bring
    "mcp fetch": ({"fetch": {"mcp": {}}}, "/fetch/mcp", "not served"),
    # arguments
    "resource of an optional argument": (
        {"arguments.resource": [{"type": "t", "id": "/limit"}]},
        "/arguments/resource/0/id",
        "optional",
    ),
    "resource nowhere": (
        {"arguments.resource": [{"type": "t", "id": "/projectid"}]},
        "/arguments/resource/0/id",
        "leads to nothing",
    ),
    "pointer without slash": (
        {"arguments.resource": [{"type": "t", "id": "project_id"}]},
        "/arguments/resource/0/id",
        "not a JSON Pointer",
    ),
    "adding what is required": (
        {"arguments.on_absent": {"/project_id": "x"}},
        "/arguments/on_absent/~1project_id",
        "never absent",
    ),
    "adding what does not fit": (
        {"arguments.on_absent": {"/limit": 51}},
        "/arguments/on_absent/~1limit",
        "does not fit",
    ),
    "adding to every item": (
        {"arguments.on_absent": {"/labels/*": "x"}},
        "/arguments/on_absent/~1labels~1*",
        "one place",
    ),
    "adding below what is added": (
        {
            "arguments.schema.properties.o": {
                "type": "object",
                "properties": {"k": {"type": "integer"}},
                "additionalProperties": False,
            },
            "arguments.on_absent": {"/o/k": 3, "/o": {}},
        },
        "/arguments/on_absent/~1o~1k",
        "lies in `/o`",
    ),
    "integers": ({"arguments.integers": "ijson"}, "/arguments/integers", "one of"),
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
    # limits
    "above the ceiling": ({"limits": {"max_bytes": 262_145}}, "/limits/max_bytes", "ceiling"),
    "deeper than the ceiling": ({"limits": {"max_depth": 33}}, "/limits/max_depth", "ceiling"),
    # upstream
    "status to an undeclared code": (
        {"upstream": {"status": {"404": "NOT_FOND"}}},
        "/upstream/status/404",
        "not declared",
    ),
    "no status": ({"upstream": {"status": {"4x4": "NOT_FOUND"}}}, "/upstream/status/4x4", "not a"),
    "success that is an error": (
        {"upstream": {"success": [200, 404], "status": {"404": "NOT_FOUND"}}},
        "/upstream/status/404",
        "a success and an error",
    ),
    "exit code": ({"upstream": {"exit": {"-1": "NOT_FOUND"}}}, "/upstream/exit/-1", "not an exit"),
    "no success": ({"upstream": {"success": []}}, "/upstream/success", "admits nothing"),
    "two carriers": ({"upstream": {"envelope": True, "mcp": True}}, "/upstream", "exclude"),
    "tool_failed of nothing": (
        {"upstream": {"tool_failed": "NOT_FOUND"}},
        "/upstream/tool_failed",
        "MCP",
    ),
    "media type": ({"upstream": {"content_type": "json"}}, "/upstream/content_type", "media type"),
    "expression with look-ahead": (
        {"upstream": {"text": {"extract": "(?=a)(?P<b>c)"}}},
        "/upstream/text/extract",
        "cannot be used",
    ),
    "expression without groups": (
        {"upstream": {"text": {"extract": "abc"}}},
        "/upstream/text/extract",
        "names no group",
    ),
    "a group that the data lacks": (
        {"upstream": {"text": {"extract": f"{GROUPS}(?P<stat>[a-z]+)"}}},
        "/upstream/text/extract",
        "`/stat` leads to nothing",
    ),
    "a required member without a group": (
        {"upstream": {"text": {"extract": "(?P<project_id>a)(?P<observed_at>b)"}}},
        "/upstream/text/extract",
        "no group is named `state`",
    ),
    "a group for a number": (
        {"upstream": {"text": {"extract": f"{GROUPS}(?P<count>[0-9])"}}},
        "/upstream/text/extract",
        "the group `count` is a text",
    ),
    "a rule for no group": (
        {
            "upstream": {
                "text": {"extract": "(?P<p>a)(?P<s>b)"},
                "map": {"project_id": "/p", "state": "/s", "observed_at": "/t"},
            }
        },
        "/upstream/text/extract",
        "no group is named `t`",
    ),
    "a port that does not exist": (
        {"fetch": {"http": {**HTTP, "url": "https://ci.example:99999/a"}}},
        "/fetch/http/url",
        "a port that does not exist",
    ),
    "a URL without a host": (
        {"fetch": {"http": {**HTTP, "url": "https://:80/a"}}},
        "/fetch/http/url",
        "names no host",
    ),
    "the name of no tool": ({"tool": "unknown"}, "/tool", "a tool that does not exist"),
    "a number in quotation marks": ({"sluicegate": "1"}, "/sluicegate", "must be the integer 1;"),
    "plain text as data": ({"upstream": {"text": "plain"}}, "/result", "untrusted text alone"),
    "map of an unknown member": (
        {"upstream": {"map": {**TABLE, "stat": "/x"}}},
        "/upstream/map/stat",
        "leads to nothing",
    ),
    "map without a required member": (
        {"upstream": {"map": {"project_id": "/p", "state": "/s"}}},
        "/upstream/map",
        "`/observed_at`",
    ),
    "map to a value that never fits": (
        {"upstream": {"map": {**TABLE, "state": {"at": "/s", "values": {"A": "faild"}}}}},
        "/upstream/map/state/values/A",
        "does not fit",
    ),
    "map to another that never fits": (
        {
            "upstream": {
                "map": {**TABLE, "state": {"at": "/s", "values": {"A": "failed"}, "other": 1}}
            }
        },
        "/upstream/map/state/other",
        "does not fit",
    ),
    "map with an unknown normaliser": (
        {"upstream": {"map": {**TABLE, "count": {"at": "/c", "convert": "int"}}}},
        "/upstream/map/count/convert",
        "one of",
    ),
    "map of every item without members": (
        {"upstream": {"map": {**TABLE, "steps": {"at": "/c", "every": True}}}},
        "/upstream/map/steps",
        "without `members`",
    ),
    "map of an unknown member of items": (
        {
            "upstream": {
                "map": {
                    **TABLE,
                    "steps": {"at": "/c", "every": True, "members": {"name": "/n", "x": "/y"}},
                }
            }
        },
        "/upstream/map/steps/members/x",
        "leads to nothing",
    ),
    "wild rule": (
        {"upstream": {"map": {**TABLE, "state": "/a/*/b"}}},
        "/upstream/map/state",
        "one value",
    ),
    "refusing what is new where nothing is known": (
        {"upstream": {"on_new": "refuse"}},
        "/upstream/on_new",
        "without `known`",
    ),
    **{
        f"{key} of a {form}": (
            {"fetch": {form: fetch}, "upstream": {key: value}},
            f"/upstream/{key}",
            f"`{form}` receives none",
        )
        for form, fetch, keys in (
            ("command", COMMAND, ("status", "success", "content_type")),
            ("ssh", SSH, ("status", "success", "content_type")),
            ("http", HTTP, ("exit", "success_exit")),
        )
        for key, value in UPSTREAM_KEYS.items()
        if key in keys
    },
    # result
    "binding an optional argument": (
        {"result.bind": {"/count": "/limit"}},
        "/result/bind/~1count",
        "optional",
    ),
    "binding data that is nowhere": (
        {"result.bind": {"/projectid": "/project_id"}},
        "/result/bind/~1projectid",
        "leads to nothing",
    ),
    "binding to no argument": (
        {"result.bind": {"/project_id": "/nowhere"}},
        "/result/bind/~1project_id",
        "leads to nothing",
    ),
    "binding different types": (
        {"result.bind": {"/count": "/run_id"}},
        "/result/bind/~1count",
        "no type in common",
    ),
    "binding to a caller's name": (
        {"result.bind": {"/project_id": {"caller": "name"}}},
        "/result/bind/~1project_id/caller",
        "one of",
    ),
    "fresh at an optional time": (
        {"result.fresh": {"at": "/seen_at", "max_age_s": 5}},
        "/result/fresh/at",
        "optional",
    ),
    "fresh at no text": (
        {
            "result.fresh": {"at": "/count", "max_age_s": 5},
            "result.schema.required": ["project_id", "state", "observed_at", "count"],
        },
        "/result/fresh/at",
        "no RFC 3339 time",
    ),
    "fresh for no time": (
        {"result.fresh": {"at": "/observed_at", "max_age_s": 0}},
        "/result/fresh/max_age_s",
        "above 0",
    ),
    "nothing for the agent": ({"result.agent": []}, "/result", "nothing is selected"),
    "no agent at all": ({"result.agent": ...}, "/result", "nothing is selected"),
    "agent twice": (
        {"result.agent": ["/state", "/state"]},
        "/result/agent/1",
        "overlap",
    ),
    "agent inside itself": (
        {"result.agent": ["/steps", "/steps/*/name"]},
        "/result/agent/1",
        "overlap",
    ),
    "text without a bound": (
        {
            "result.untrusted_text": {"note": "/note"},
            "result.schema.properties.note": {"type": "string"},
        },
        "/result/untrusted_text/note",
        "without a bound",
    ),
    "text that is none": (
        {"result.untrusted_text": {"count": "/count"}},
        "/result/untrusted_text/count",
        "not always a string",
    ),
    "an extension for the agent": (
        {
            "result.agent": ["/note"],
            "result.schema.properties.note": {
                "type": "object",
                "x-extension": {"name": "acme", "version": "1.0.0"},
            },
        },
        "/result/agent/0",
        "extension",
    ),
    "operator's field for the agent": (
        {"result.operator": ["/state"]},
        "/result/operator/0",
        "overlaps",
    ),
    "operator's field inside the agent's": (
        {"result.agent": ["/steps"], "result.operator": ["/steps/*/name"]},
        "/result/operator/0",
        "overlaps",
    ),
    "operator's field on display": (
        {"result.operator": ["/note"], "result.display": ["/note"]},
        "/result/operator/0",
        "overlaps",
    ),
    "operator's field as text": (
        {"result.operator": ["/note"], "result.untrusted_text": {"note": "/note"}},
        "/result/operator/0",
        "overlaps",
    ),
    "display nowhere": ({"result.display": ["/not"]}, "/result/display/0", "leads to nothing"),
    "text with a bad name": (
        {"result.untrusted_text": {"a b": "/note"}},
        "/result/untrusted_text/a b",
        "no name",
    ),
    # errors, retry, evidence, mask
    "code in small letters": (
        {"errors.not_found": {"retryable": True}},
        "/errors/not_found",
        "code",
    ),
    "the gate's own code": ({"errors.DENIED": {"retryable": True}}, "/errors/DENIED", "own code"),
    "an outcome as code": (
        {"errors.OUTCOME_UNKNOWN": {"retryable": True}},
        "/errors/OUTCOME_UNKNOWN",
        "own code",
    ),
    "retryable or not": ({"errors.OTHER": {}}, "/errors/OTHER", "`retryable` is missing"),
    "retry on an unknown code": (
        {
            "fetch": {"http": HTTP},
            "retry": {"attempts": 2, "budget_s": 5, "on": ["NOT_FOND"]},
        },
        "/retry/on/0",
        "none of",
    ),
    "retry of a refused write": (
        {
            "effect": "write",
            "fetch": {"http": HTTP},
            "retry": {"attempts": 2, "budget_s": 5, "on": ["INVALID_RESPONSE"]},
        },
        "/retry/on/0",
        "read",
    ),
    "retry of a refused read, twice": (
        {
            "fetch": {"http": HTTP},
            "retry": {"attempts": 3, "budget_s": 5, "on": ["INVALID_RESPONSE"]},
        },
        "/retry/on/0",
        "at most once",
    ),
    "retry of what the host fetches": (
        {"retry": {"attempts": 2, "budget_s": 5, "on": ["UPSTREAM_UNAVAILABLE"]}},
        "/retry/attempts",
        "the host fetches for itself",
    ),
    "codes to retry on in one attempt": (
        {"retry": {"attempts": 1, "budget_s": 5, "on": ["UPSTREAM_UNAVAILABLE"]}},
        "/retry/on",
        "one attempt",
    ),
    "no attempts": ({"retry": {"attempts": 0, "budget_s": 5, "on": []}}, "/retry/attempts", "1"),
    "destructive without evidence": ({"effect": "destructive"}, "/effect", "evidence"),
    "waiver without a day": (
        {**DESTRUCTIVE, "evidence": {"none": "why"}},
        "/evidence",
        "`until` is missing",
    ),
    "waiver until never": (
        {**DESTRUCTIVE, "evidence": {"none": "why", "until": "2027-13-01"}},
        "/evidence/until",
        "day",
    ),
    "waiver of a read": ({"evidence": DESTRUCTIVE["evidence"]}, "/evidence", "destructive"),
    "mask nowhere": ({"mask": {"arguments": ["/secret"]}}, "/mask/arguments/0", "leads to nothing"),
    "mask of the data": ({"mask": {"result": ["/run_id"]}}, "/mask/result/0", "leads to nothing"),
}


@pytest.mark.requirement("CON-1", "CON-2", "ADP-1", "RET-2", "EVI-3")
@pytest.mark.parametrize("case", REFUSED)
def test_each_broken_rule_is_told_at_its_place_and_alone(case: str) -> None:
    changes, pointer, word = REFUSED[case]
    found = problems(changes)
    assert [problem.pointer for problem in found] == [pointer], "\n".join(map(str, found))
    (problem,) = found
    assert word in problem.message
    assert problem.mend
    assert problem.line
    assert "ghp-" not in str(problem)


CODES = {
    "tool name with a blank": ({"tool": "job status"}, "TOOL_NAME_PATTERN"),
    "tool name too long": ({"tool": "x" * 129}, "TOOL_NAME_LENGTH"),
    "unknown keyword": (
        {"result.schema.properties.note.maxLenght": 3},
        "SCHEMA_UNKNOWN_KEYWORD",
    ),
    "open object": ({"result.schema.additionalProperties": ...}, "SCHEMA_OPEN_OBJECT"),
    "root that is no object": ({"arguments.schema": {"type": "string"}}, "SCHEMA_ROOT_NOT_OBJECT"),
    "remote reference": (
        {"result.schema.properties.note": {"$ref": "https://x.example/s"}},
        "SCHEMA_REMOTE_REF",
    ),
    "missing reference": (
        {"result.schema.properties.note": {"$ref": "#/$defs/none"}},
        "SCHEMA_UNRESOLVED_REF",
    ),
    "bad default": ({"result.schema.properties.count.default": "x"}, "SCHEMA_DEFAULT_INVALID"),
    "file that is not there": ({"result.schema": {"file": "data.json"}}, "SCHEMA_UNRESOLVED_REF"),
    "file outside": ({"result.schema": {"file": "../../data.json"}}, "SCHEMA_REMOTE_REF"),
    "absolute file": ({"result.schema": {"file": "/etc/passwd"}}, "SCHEMA_REMOTE_REF"),
    "file by URL": ({"result.schema": {"file": "https://x.example/a"}}, "SCHEMA_REMOTE_REF"),
}


@pytest.mark.requirement("CON-2")
@pytest.mark.parametrize("case", CODES)
def test_what_stands_against_a_schema_keeps_its_code_and_its_line(case: str) -> None:
    changes, code = CODES[case]
    found = problems(changes)
    assert {str(problem.code) for problem in found} == {code}, "\n".join(map(str, found))
    assert found[0].line


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize("name", ["job_status/schemas/note.json", "common/note.yaml"])
def test_a_local_reference_across_files_is_followed_and_bundled(name: str) -> None:
    reference = "schemas/note.json" if name.endswith("json") else "../common/note.yaml"
    found = contract(
        {"result.schema.properties.note": {"$ref": f"{reference}#/$defs/note"}},
        **{name: b'{"$defs": {"note": {"type": "string", "maxLength": 3}}}'},
    )
    good = {"project_id": "a", "state": "failed", "observed_at": "2026-11-30T12:00:00Z"}
    assert found.result.schema.is_valid({**good, "note": "abc"})
    assert not found.result.schema.is_valid({**good, "note": "abcd"})
    assert reference not in json.dumps(found.document)


@pytest.mark.requirement("CON-1", "CON-2")
def test_a_whole_schema_may_be_a_reference_to_a_file() -> None:
    given = changed({})["result"]["schema"]
    found = contract(
        {"result.schema": {"$ref": "data.json"}},
        **{"job_status/data.json": json.dumps(given).encode()},
    )
    assert found.fingerprints.language == contract().fingerprints.language


@pytest.mark.requirement("CON-2")
def test_a_schema_fault_leads_to_its_keyword_in_the_file_that_holds_it() -> None:
    folder = case_folder()
    folder["job_status/schemas/data.json"] = folder["job_status/schemas/data.json"].replace(
        b'"maxLength": 400', b'"maxLenght": 400'
    )
    loaded = load(folder, resolve=resolve_anything)
    assert isinstance(loaded, tuple)
    (problem,) = loaded
    assert (problem.document, problem.line, problem.column, str(problem.code)) == (
        "job_status/schemas/data.json",
        9,
        59,
        "SCHEMA_UNKNOWN_KEYWORD",
    )


@pytest.mark.requirement("CON-2")
def test_a_reference_into_a_file_that_cannot_be_read_tells_why() -> None:
    folder = case_folder()
    folder["job_status/schemas/common.yaml"] = b"$defs:\n  project_id: &a {type: string}\n"
    loaded = load(folder, resolve=resolve_anything)
    assert isinstance(loaded, tuple)
    assert [(found.document, found.line, str(found.code)) for found in loaded] == [
        ("job_status/schemas/common.yaml", 2, "CONTRACT_INVALID"),
        ("job_status/schemas/data.json", 5, "SCHEMA_UNRESOLVED_REF"),
    ]


def test_a_file_that_no_schema_needs_may_be_anything() -> None:
    loaded = load({**case_folder(), "job_status/notes.yaml": b"a: *b\n"}, resolve=resolve_anything)
    assert isinstance(loaded, ContractSet)


@pytest.mark.requirement("CON-2")
def test_two_folders_for_one_tool_are_refused() -> None:
    folder = case_folder()
    folder["again/contract.json"] = json.dumps(changed({})).encode()
    loaded = load(folder, resolve=resolve_anything)
    assert isinstance(loaded, tuple)
    assert [(found.document, found.pointer) for found in loaded] == [
        ("job_status/contract.yaml", "/tool")
    ]
    assert "again/contract.json" in loaded[0].message


@pytest.mark.requirement("CON-2")
@pytest.mark.parametrize("other", ["result.schema.$id", "arguments.schema.properties.run_id.$id"])
def test_two_schemas_with_one_id_are_refused(other: str) -> None:
    same = "https://acme.example/s"
    found = problems({"arguments.schema.$id": same, other: same})
    assert {str(problem.code) for problem in found} == {"SCHEMA_ID_COLLISION"}


@pytest.mark.requirement("CON-2")
def test_two_contracts_whose_schemas_share_an_id_are_refused() -> None:
    one = changed({"result.schema.$id": "https://acme.example/s"})
    two = {**changed({"result.schema.$id": "https://acme.example/s"}), "tool": "other"}
    loaded = load(
        {
            "a/contract.json": json.dumps(one).encode(),
            "b/contract.json": json.dumps(two).encode(),
        },
        resolve=None,
    )
    assert isinstance(loaded, tuple)
    assert [(found.document, str(found.code)) for found in loaded] == [
        ("b/contract.json", "SCHEMA_ID_COLLISION")
    ]


def test_one_schema_file_may_serve_several_contracts() -> None:
    folder = case_folder()
    raw = folder["job_status/contract.yaml"].replace(b"tool: job_status", b"tool: other")
    folder["other/contract.yaml"] = raw.replace(
        b"schemas/data.json", b"../job_status/schemas/data.json"
    )
    folder["job_status/schemas/data.json"] = (
        folder["job_status/schemas/data.json"]
        .replace(b'"type": "object",', b'"$id": "https://acme.example/data", "type": "object",', 1)
        .replace(b"common.yaml", b"#")
    )
    folder["job_status/schemas/data.json"] = folder["job_status/schemas/data.json"].replace(
        b'{"$ref": "##/$defs/project_id"}', b'{"type": "string", "maxLength": 60}'
    )
    loaded = load(folder, resolve=resolve_anything)
    assert isinstance(loaded, ContractSet), loaded
    assert set(loaded.contracts) == {"job_status", "other"}


# --- Python names -----------------------------------------------------------------------------


def fail(name: PythonName) -> object:
    raise ImportError("no such module: /home/secret")


def miss(name: PythonName) -> object:
    raise NamelessError(f"`{name}` leads to nothing.", "Write another.")


PYTHON = {
    "outside the prefixes": (["acme."], resolve_anything, "prefixes"),
    "a prefix is not a stem": (["evi"], resolve_anything, "prefixes"),
    "no prefix at all": ([], resolve_anything, "prefixes"),
    "forbidden": (["evil."], None, "--no-python"),
    "not importable": (["evil."], fail, "cannot be imported"),
    "not there": (["evil."], miss, "`evil.code:run` leads to nothing."),
    "no function": (["evil"], lambda name: 7, "cannot be called"),
}


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize("case", PYTHON)
def test_python_is_named_only_where_settings_admit_it(case: str) -> None:
    prefixes, resolve, word = PYTHON[case]
    found = problems(
        {"result.checks": ["evil.code:run"]}, settings={"python": prefixes}, resolve=resolve
    )
    assert [problem.pointer for problem in found] == ["/result/checks/0"]
    assert word in found[0].message
    assert "secret" not in str(found[0])


@pytest.mark.requirement("CON-1")
def test_the_function_that_decides_is_held_to_the_same_rules() -> None:
    loaded = load_base({}, settings={"access": {"python": "evil:decide"}})
    assert isinstance(loaded, tuple)
    assert [(found.document, found.pointer) for found in loaded] == [
        ("sluicegate.yaml", "/access/python")
    ]


# --- spellings --------------------------------------------------------------------------------


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


@pytest.mark.parametrize("key", UPSTREAM_KEYS)
def test_a_host_may_receive_what_any_adapter_receives(key: str) -> None:
    assert contract({"upstream": {key: UPSTREAM_KEYS[key]}}).fetch == HostFetch()


@pytest.mark.parametrize("key", UPSTREAM_KEYS)
def test_a_python_function_receives_neither_a_status_nor_an_exit_code(key: str) -> None:
    python = {"function": "acme.tools:run", "timeout_s": 9}
    found = problems(
        {"fetch": {"python": python}, "upstream": {key: UPSTREAM_KEYS[key]}},
        settings={"python": ["acme."]},
    )
    assert [problem.pointer for problem in found] == [f"/upstream/{key}"]


def test_what_is_exactly_at_the_edge_loads() -> None:
    found = contract(
        {
            "result.fresh": {"at": "/observed_at", "max_age_s": 60},
            "fetch": {"http": HTTP, "cache": {"ttl_s": 60}},
            "retry": {"attempts": 1, "budget_s": 2, "on": []},
        }
    )
    assert (found.cache, found.retry) == (CacheRule(ttl_s=60), RetryRule(budget_s=2))


EXTRACT = "(?P<project_id>[a-z]+) (?P<state>[a-z]+) (?P<observed_at>[-0-9TZ:]+)"
UPSTREAMS = {
    "json text": ({"text": "json"}, TextRule(kind="json"), "bare"),
    "extracted text": (
        {"text": {"extract": EXTRACT}},
        TextRule(kind="extract", pattern=EXTRACT),
        "bare",
    ),
    "an envelope": ({"envelope": True}, None, "envelope"),
    "an MCP result": ({"mcp": True, "tool_failed": "NOT_FOUND"}, None, "mcp"),
    "a text in an MCP result": (
        {"mcp": {"version": "2025-11-25"}, "text": "json"},
        TextRule(kind="json"),
        "mcp",
    ),
    "nothing around it": ({"envelope": False, "mcp": False}, None, "bare"),
}


@pytest.mark.parametrize("case", UPSTREAMS)
def test_every_carrier_and_text_is_read(case: str) -> None:
    given, text, carrier = UPSTREAMS[case]
    upstream = contract({"upstream": given}).upstream
    assert (upstream.text, upstream.carrier) == (text, carrier)


@pytest.mark.requirement("RES-10")
def test_plain_text_needs_no_result_and_is_untrusted() -> None:
    found = contract({"upstream": {"text": {"plain": {"max_chars": 80}}}, "result": ...})
    assert found.upstream.text == TextRule(kind="plain", max_chars=80)
    assert (found.result.agent, found.result.untrusted_text) == ((), {"text": p("/text")})
    assert found.result.schema.is_valid({"text": "x" * 80})
    assert not found.result.schema.is_valid({"text": "x" * 81})


@pytest.mark.requirement("RES-3")
def test_a_map_builds_objects_in_objects_and_one_for_every_item() -> None:
    found = contract(
        {
            "upstream": {
                "on_new": "refuse",
                "known": ["/a", "/a/*"],
                "map": {
                    **TABLE,
                    "count": {"at": "/n", "convert": "integer", "optional": True},
                    "state": {"at": "/s", "values": {"A": "failed"}, "other": "running"},
                    "steps": {"at": "/c", "every": True, "members": {"name": "/n"}},
                },
            }
        }
    ).upstream
    assert found.map == {
        "project_id": MapRule(at=p("/p")),
        "state": MapRule(at=p("/s"), values={"A": "failed"}, other="running", has_other=True),
        "observed_at": MapRule(at=p("/t")),
        "count": MapRule(at=p("/n"), convert="integer", optional=True),
        "steps": MapRule(at=p("/c"), every=True, members={"name": MapRule(at=p("/n"))}),
    }
    assert (found.on_new, found.known) == ("refuse", frozenset({"/a", "/a/*"}))


def test_the_rest_of_a_contract_is_read() -> None:
    found = contract(
        {
            **DESTRUCTIVE,
            "title": "Job status",
            "arguments.on_absent": {"/limit": 20},
            "arguments.integers": "i-json",
            "result.integers": "i-json",
            "result.bind": {"/project_id": {"caller": "tenant"}},
            "result.untrusted_text": {"note": "/note"},
            "result.display": ["/observed_at"],
            "mask": {"arguments": ["/labels/*"], "result": ["/note"]},
            "limits": {"max_call_bytes": 100, "max_bytes": 200, "max_depth": 3},
        }
    )
    assert found.title == "Job status"
    assert found.evidence_waiver == EvidenceWaiver(reason="why", until="2027-01-31")
    assert found.arguments.on_absent == {p("/limit"): 20}
    assert (found.arguments.integers, found.result.integers) == ("i-json", "i-json")
    assert found.result.bind == (BindRule(data=p("/project_id"), caller="tenant"),)
    assert found.result.untrusted_text == {"note": p("/note")}
    assert found.result.display == (p("/observed_at"),)
    assert (found.masked_arguments, found.masked_data) == ((p("/labels/*"),), (p("/note"),))
    assert found.call_limits == Limits(max_bytes=100, max_depth=3)
    assert found.limits == Limits(max_bytes=200, max_depth=3)


def test_limits_come_from_the_folder_where_a_contract_has_none() -> None:
    found = contract({}, settings={"limits": {"max_bytes": 1000, "max_depth": 5}})
    assert found.limits == Limits(max_bytes=1000, max_depth=5)
    assert found.call_limits == Limits(max_bytes=65_536, max_depth=5)
