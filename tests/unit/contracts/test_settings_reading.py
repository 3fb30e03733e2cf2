"""sluicegate.yaml: every key is read, and what this release does not serve is refused."""

from __future__ import annotations

import pytest

from sluicegate.contracts.contract import PythonName
from sluicegate.contracts.loading import load
from sluicegate.contracts.served import ContractSet
from sluicegate.contracts.settings import (
    AccessRule,
    AccessSettings,
    AuditSettings,
    AuthzenSettings,
    FolderLimits,
    HeadsSettings,
    RetentionSettings,
    ServeRow,
    Settings,
)

FULL = """
sluicegate: 1
limits:
  {max_call_bytes: 1, max_bytes: 2, max_depth: 3, in_flight: 4, quota_store: "memory:",
   key_store: "redis:env:KEYS"}
audit:
  store: "sqlite:a.db"
  keys: "keyring:acme"
  heads: {to: "file:/mnt/heads", every_events: 7, every_s: 1.5, required: true}
  also: "file:/mnt/events"
  sinks: any
retention:
  rejected: digest
  accepted: {days: 7, share: 0.01}
  arguments: {days: 1.5}
  daily_bytes: 9
access:
  - {caller: "*", tool: t, tenant: a, resource: {type: project}}
  - {caller: b, action: call, tool: "*"}
callers: {from: argument}
python: [acme., other]
notify: {a: "log:", b: "https://hooks.example/x", c: "apprise:env:OWNERS"}
serve:
  t: [{version: 1.0.0, share: 0.9}, {version: current, share: 0.1, callers: [svc-canary]}]
  u: [{version: 2.0.0-rc.1, callers: [a, b]}, {version: current}]
"""


def settings(text: str) -> Settings:
    loaded = load({"sluicegate.yaml": text.encode()}, resolve=None)
    assert isinstance(loaded, ContractSet), loaded
    return loaded.settings


def test_every_setting_is_read() -> None:
    assert settings(FULL) == Settings(
        limits=FolderLimits(
            max_call_bytes=1,
            max_bytes=2,
            max_depth=3,
            in_flight=4,
            quota_store="memory:",
            key_store="redis:env:KEYS",
        ),
        audit=AuditSettings(
            store="sqlite:a.db",
            keys="keyring:acme",
            heads=HeadsSettings(to="file:/mnt/heads", every_events=7, every_s=1.5, required=True),
            also="file:/mnt/events",
            sinks="any",
        ),
        retention=RetentionSettings(
            rejected_days=None,
            accepted_days=7,
            accepted_share=0.01,
            arguments_days=1.5,
            daily_bytes=9,
        ),
        access=AccessSettings(
            rules=(
                AccessRule(caller="*", tool="t", tenant="a", resource_type="project"),
                AccessRule(caller="b", tool="*"),
            )
        ),
        callers_from="argument",
        python=("acme.", "other"),
        notify={"a": "log:", "b": "https://hooks.example/x", "c": "apprise:env:OWNERS"},
        serve={
            "t": (
                ServeRow(version="1.0.0", share=900_000),
                ServeRow(version="current", share=100_000, callers=frozenset({"svc-canary"})),
            ),
            "u": (
                ServeRow(version="2.0.0-rc.1", share=0, callers=frozenset({"a", "b"})),
                ServeRow(version="current", share=1_000_000),
            ),
        },
    )


def test_a_function_may_decide() -> None:
    assert settings("access: {python: acme.access:decide}").access == AccessSettings(
        python=PythonName("acme.access", "decide")
    )


DECIDING: dict[str, tuple[str, AccessSettings]] = {
    "cedar": ("{cedar: policies/}", AccessSettings(cedar="policies/")),
    "cedar deeper": ("{cedar: access/cedar.d}", AccessSettings(cedar="access/cedar.d")),
    "authzen": (
        '{authzen: "https://pdp.example"}',
        AccessSettings(authzen=AuthzenSettings(url="https://pdp.example")),
    ),
    "authzen on this machine": (
        '{authzen: "http://127.0.0.1:8181/access/v1/evaluation"}',
        AccessSettings(authzen=AuthzenSettings(url="http://127.0.0.1:8181/access/v1/evaluation")),
    ),
    "authzen in full": (
        '{authzen: {url: "https://[::1]:8443/pdp", credential: "file:pdp", ca_file: ca.pem}}',
        AccessSettings(
            authzen=AuthzenSettings(
                url="https://[::1]:8443/pdp", credential="file:pdp", ca_file="ca.pem"
            )
        ),
    ),
}


@pytest.mark.requirement("ACC-2")
@pytest.mark.parametrize(("text", "access"), DECIDING.values(), ids=DECIDING)
def test_policies_or_a_service_may_decide(text: str, access: AccessSettings) -> None:
    assert settings(f"access: {text}").access == access


SHARED: dict[str, tuple[str, bool, bool]] = {
    # what is written → whether quotas may be counted there, and keys kept there
    "the record": ("audit:", True, True),
    "this process": ("memory:", True, False),
    "an address": ("redis://127.0.0.1:6379/0", True, True),
    "an address with TLS": ("rediss://redis.example/1", True, True),
    "a variable": ("redis:env:REDIS", True, True),
    "no variable": ("redis:env:1", False, False),
    "a password": ("redis://:secret@h/0", False, False),
    "a password among options": ("redis://h/0?password=secret", False, False),
    "TLS that is not checked": ("rediss://h/0?ssl_cert_reqs=none", False, False),
    "a database that is none": ("redis://h/1O", False, False),
    "a port that is none": ("redis://h:secret/0", False, False),
    "an IPv6 address": ("rediss://[::1]:6380/2", True, True),
    "a file": ("file:x", False, False),
    "nothing": ("", False, False),
}


@pytest.mark.requirement("ACC-3", "ACC-4", "CON-1")
@pytest.mark.parametrize("key", ["quota_store", "key_store"])
@pytest.mark.parametrize("case", SHARED)
def test_what_gates_share_stands_in_the_record_or_in_redis(case: str, key: str) -> None:
    text, *taken = SHARED[case]
    loaded = load({"sluicegate.yaml": f"limits: {{{key}: '{text}'}}".encode()}, resolve=None)
    assert isinstance(loaded, ContractSet) is taken[key == "key_store"]
    if not isinstance(loaded, ContractSet):
        (problem,) = loaded
        assert problem.pointer == f"/limits/{key}"
        assert "secret" not in str(problem)


REFUSED = {
    "keys that no other gate has": (
        'limits: {key_store: "redis:env:KEYS"}\naudit: {store: "memory:"}',
        "/limits/key_store",
        "no other gate has",
    ),
    "a rule for one sink": ("audit: {sinks: any}", "/audit/sinks", "also: file:PATH"),
    "a sink at a URL": ('audit: {also: "https://h"}', "/audit/also", "file:PATH"),
    "one file for heads and events": (
        'audit: {heads: {to: "file:../away/log"}, also: "file:../away/log"}',
        "/audit/also",
        "that the signed heads go to",
    ),
    "one file spelt in two ways": (
        'audit: {also: "file:../away//x/../log", heads: {to: "file:../away/./log"}}',
        "/audit/also",
        "a file of its own",
    ),
    "another rule": ('audit: {also: "file:x", sinks: some}', "/audit/sinks", "any"),
    "heads without a place": ("audit: {heads: {every_s: 5}}", "/audit/heads", "to"),
    "heads at a URL": ('audit: {heads: {to: "https://h"}}', "/audit/heads/to", "file:PATH"),
    "heads at every moment": (
        'audit: {heads: {to: "file:h", every_s: 1}}',
        "/audit/heads/every_s",
        "a number of seconds, more than 1 and up to 86,400",
    ),
    "unknown key": ("limit: {}", "/limit", "Did you mean `limits`?"),
    "unknown inner key": ("limits: {max_byte: 1}", "/limits/max_byte", "max_bytes"),
    "no mapping": ("[]", "", "a mapping"),
    "no limit": ("limits: {max_depth: 201}", "/limits/max_depth", "200"),
    "boolean for a number": ("limits: {in_flight: true}", "/limits/in_flight", "integer"),
    "no version is served": ("serve: {t: []}", "/serve/t", "names no version"),
    "a row without version": ("serve: {t: [{share: 1}]}", "/serve/t/0", "`version` is missing"),
    "a version of two parts": ("serve: {t: [{version: '1.0'}]}", "/serve/t/0/version", "1.0.0"),
    "a number for a version": ("serve: {t: [{version: 1.0}]}", "/serve/t/0/version", "as 1.0.0"),
    "a version twice": (
        "serve: {t: [{version: 1.0.0, share: 0.5}, {version: 1.0.0, share: 0.5}]}",
        "/serve/t/1/version",
        "stands here twice",
    ),
    "shares below 1": (
        "serve: {t: [{version: 1.0.0, share: 0.9}, {version: current, share: 0.05}]}",
        "/serve/t",
        "add up to 0.95, not to 1",
    ),
    "shares beyond 1": (
        "serve: {t: [{version: 1.0.0, share: 1}, {version: current, share: 0.000001}]}",
        "/serve/t",
        "add up to 1.000001, not to 1",
    ),
    "a share finer than counted": (
        "serve: {t: [{version: 1.0.0, share: 0.0000001}]}",
        "/serve/t/0/share",
        "six decimals",
    ),
    "a share below nothing": (
        "serve: {t: [{version: 1.0.0, share: -0.1}]}",
        "/serve/t/0/share",
        "from 0 to 1",
    ),
    "a share that is a text": (
        "serve: {t: [{version: 1.0.0, share: '1'}]}",
        "/serve/t/0/share",
        "without quotation marks",
    ),
    "a share that is true": (
        "serve: {t: [{version: 1.0.0, share: true}]}",
        "/serve/t/0/share",
        "from 0 to 1",
    ),
    "a row for the rest beside shares": (
        "serve: {t: [{version: 1.0.0, share: 1}, {version: current}]}",
        "/serve/t/1",
        "has no share",
    ),
    "two rows for the rest": (
        "serve: {t: [{version: 1.0.0}, {version: current}]}",
        "/serve/t/1",
        "for all others",
    ),
    "nobody serves the others": (
        "serve: {t: [{version: 1.0.0, callers: [a]}]}",
        "/serve/t",
        "callers of its rows alone",
    ),
    "no caller": (
        "serve: {t: [{version: 1.0.0, callers: []}]}",
        "/serve/t/0/callers",
        "names nobody",
    ),
    "every caller": (
        "serve: {t: [{version: 1.0.0, callers: ['*']}]}",
        "/serve/t/0/callers",
        "no caller",
    ),
    "a caller in two rows": (
        "serve: {t: [{version: 1.0.0, callers: [a]}, {version: current, share: 1, callers: [a]}]}",
        "/serve/t/1/callers",
        "a row before this one",
    ),
    "unknown key of a row": (
        "serve: {t: [{version: 1.0.0, tenants: [a]}]}",
        "/serve/t/0/tenants",
        "not a key of serve row",
    ),
    "cedar outside": ("access: {cedar: ../policies}", "/access/cedar", "below this one"),
    "cedar at an absolute path": ("access: {cedar: /policies}", "/access/cedar", "below this one"),
    "cedar inside out": ("access: {cedar: a/../../b}", "/access/cedar", "below this one"),
    "cedar as text": ("access: {cedar: [policies]}", "/access/cedar", "a folder of policies"),
    "authzen in clear": ('access: {authzen: "http://pdp"}', "/access/authzen", "https://"),
    "authzen with a query": ('access: {authzen: "https://p/?a"}', "/access/authzen", "query"),
    "authzen of no host": ('access: {authzen: "https://"}', "/access/authzen", "https://"),
    "authzen at no port": ('access: {authzen: "https://p:99999"}', "/access/authzen", "port"),
    "authzen that only begins here": (
        'access: {authzen: "http://localhost.evil.example"}',
        "/access/authzen",
        "https://",
    ),
    "authzen without url": (
        "access: {authzen: {credential: A}}",
        "/access/authzen",
        "`url` is missing",
    ),
    "authzen with the token itself": (
        'access: {authzen: {url: "https://p", credential: "ey.j"}}',
        "/access/authzen/credential",
        "never stands here",
    ),
    "authorities for no TLS": (
        'access: {authzen: {url: "http://127.0.0.1:1", ca_file: a.pem}}',
        "/access/authzen/ca_file",
        "checks nothing",
    ),
    "two that decide": (
        "access: {cedar: policies, python: a.b:c}",
        "/access",
        "names several that decide: `cedar`, `python`",
    ),
    "token": ("callers: {from: token}", "/callers/from", "not served"),
    "os_user": ("callers: {from: os_user}", "/callers/from", "not served"),
    "postgres": ('audit: {store: "postgres:x"}', "/audit/store", "sqlite:PATH"),
    "keys in clear": ("audit: {keys: secret}", "/audit/keys", "file:"),
    "kept for ever": ("retention: {rejected: ever}", "/retention/rejected", "digest"),
    "kept for no time": ("retention: {rejected: {days: 0}}", "/retention/rejected/days", "above 0"),
    "share of refusals": (
        "retention: {rejected: {days: 1, share: 1}}",
        "/retention/rejected/share",
        "not a key",
    ),
    "rule without caller": ("access: [{tool: t}]", "/access/0", "`caller` is missing"),
    "rule for another action": (
        "access: [{caller: a, tool: t, action: read}]",
        "/access/0/action",
        "call",
    ),
    "resource without type": (
        "access: [{caller: a, tool: t, resource: {in: [x]}}]",
        "/access/0/resource",
        "`type` is missing",
    ),
    "a rule that is no item of a list": (
        "access:\n  caller: a\n  tool: t\n",
        "/access",
        "Begin each rule with `- `",
    ),
    "nothing of this release decides": ("access: {table: x}", "/access/table", "cedar"),
    "nothing decides": ("access: {}", "/access", "rules"),
    "no prefix": ('python: [""]', "/python/0", "1 to"),
    "prefix with a star": ('python: ["acme.*"]', "/python/0", "prefix"),
    "notice to nowhere": ("notify: {a: mail}", "/notify/a", "log:"),
    "notice with a password": ('notify: {a: "https://u:p@x"}', "/notify/a", "log:"),
    "another format": ("sluicegate: 2", "/sluicegate", "1"),
}


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize("case", REFUSED)
def test_each_fault_is_told_at_its_place_and_alone(case: str) -> None:
    text, pointer, word = REFUSED[case]
    loaded = load({"sluicegate.yaml": text.encode()}, resolve=None)
    assert isinstance(loaded, tuple)
    (problem,) = loaded
    assert (problem.pointer, problem.line) == (pointer, 1)
    assert word in f"{problem.message} {problem.mend}"


SECRETS = [
    'audit: {keys: "s3cr3t"}',
    'audit: {store: "postgresql://u:s3cr3t@db/audit"}',
    'audit: {store: "postgresql://u@db/audit?password=s3cr3t"}',
    'notify: {a: "https://u:s3cr3t@hooks.example"}',
]
SECRETS += [
    'access: {authzen: "https://u:s3cr3t@pdp"}',
    'access: {authzen: {url: "https://pdp", credential: "s3cr3t-"}}',
    'audit: {also: "https://u:s3cr3t@h"}',
    'audit: {heads: {to: "https://u:s3cr3t@h"}}',
    'audit: "sqlite:s3cr3t"',
    'audit: {heads: "https://u:s3cr3t@h"}',
    'notify: {"https://hooks.example/s3cr3t": ci-platform}',
    'notify: {"hooks.example/s3cr3t": 5}',
    'notify: {"token=s3cr3t": ci-platform}',
    '"https://hooks.example/s3cr3t": ci-platform',
    'audit: {"https://hooks.example/s3cr3t": ci-platform}',
]


@pytest.mark.requirement("ADP-5")
@pytest.mark.parametrize("text", SECRETS)
def test_what_might_be_a_secret_is_never_repeated(text: str) -> None:
    loaded = load({"sluicegate.yaml": text.encode()}, resolve=None)
    assert isinstance(loaded, tuple)
    assert "s3cr3t" not in str(loaded)
    assert all(problem.discreet and problem.line == 1 for problem in loaded)


@pytest.mark.requirement("ADP-5", "AUD-5")
def test_a_name_that_is_an_address_is_told_by_what_holds_it() -> None:
    text = 'notify:\n  ok: "log:"\n  "https://hooks.example/s3cr3t": ci-platform\n'
    loaded = load({"sluicegate.yaml": text.encode()}, resolve=None)
    assert isinstance(loaded, tuple)
    (problem,) = loaded
    assert (problem.pointer, problem.line) == ("/notify", 3)
    assert problem.message.startswith("a member of `notify` must be `log:`")


@pytest.mark.requirement("CON-1", "ADP-5")
@pytest.mark.parametrize(
    ("text", "near"),
    [
        ('audit: {store: "sqllite:state/s3cr3t.db"}', "Did you mean `sqlite:`? Write sqlite:PATH"),
        ('audit: {store: "Postgres:s3cr3t"}', "Did you mean `postgresql:`? Write sqlite:PATH"),
        ('audit: {store: "postgresql:s3cr3t"}', "Write sqlite:PATH, postgresql:env:NAME,"),
        ('audit: {store: "s3cr3t"}', "Write sqlite:PATH"),
        ('audit: {keys: "fil:s3cr3t"}', "Did you mean `file:`? Write file:FOLDER"),
    ],
)
def test_the_scheme_that_was_meant_is_named_and_nothing_else_of_the_text(
    text: str, near: str
) -> None:
    loaded = load({"sluicegate.yaml": text.encode()}, resolve=None)
    assert isinstance(loaded, tuple)
    (problem,) = loaded
    assert problem.mend.startswith(near)
    assert "s3cr3t" not in str(problem)
    assert "store" not in text or "postgresql:service=NAME" in problem.mend


LONG = "a" * 241
PATHS = {
    # what cannot be a path → the pointer, the message, how it is mended
    "a NUL in the record": (
        'audit: {store: "sqlite:a\\0b"}',
        ("/audit/store", "this holds a control character.", "Write it without one."),
    ),
    "a NUL in the user of PostgreSQL": (
        'audit: {store: "postgresql://te\\0st@127.0.0.1/test"}',
        ("/audit/store", "this holds a control character.", "Write it without one."),
    ),
    "a NUL in an option of PostgreSQL": (
        'audit: {store: "postgresql://h/d?sslmode=a\\x01"}',
        ("/audit/store", "this holds a control character.", "Write it without one."),
    ),
    "a control character of Latin-1": (
        'audit: {store: "sqlite:a\\x9fb"}',
        ("/audit/store", "this holds a control character.", "Write it without one."),
    ),
    "a NUL in the keys": (
        'audit: {keys: "file:k\\0x"}',
        ("/audit/keys", "this holds a control character.", "Write it without one."),
    ),
    "a break in the name of a variable": (
        'audit: {keys: "env:K\\n"}',
        ("/audit/keys", "this holds a control character.", "Write it without one."),
    ),
    "a NUL in the second sink": (
        'audit: {also: "file:/tmp/a\\0b"}',
        ("/audit/also", "this holds a control character.", "Write it without one."),
    ),
    "a NUL in the heads": (
        'audit: {heads: {to: "file:/tmp/a\\0b/x"}}',
        ("/audit/heads/to", "this holds a control character.", "Write it without one."),
    ),
    "a NUL in a route": (
        'notify: {a: "https://hooks.example/\\0"}',
        ("/notify/a", "this holds a control character.", "Write it without one."),
    ),
    "a NUL in the authorities": (
        'access: {authzen: {url: "https://p", ca_file: "a\\0b"}}',
        ("/access/authzen/ca_file", "this holds a control character.", "Write it without one."),
    ),
    "authorities with a long name": (
        f'access: {{authzen: {{url: "https://p", ca_file: "{"a" * 256}"}}}}',
        (
            "/access/authzen/ca_file",
            "this names a file or folder with more than 255 bytes.",
            "Give it a shorter name.",
        ),
    ),
    "policies with a long name": (
        f'access: {{cedar: "{"a" * 256}"}}',
        (
            "/access/cedar",
            "this names a file or folder with more than 255 bytes.",
            "Give it a shorter name.",
        ),
    ),
    **{
        f"a long name at {pointer}": (
            text,
            (
                pointer,
                "this names a file or folder with more than 240 bytes.",
                "Give it a shorter name.",
            ),
        )
        for pointer, text in {
            "/audit/store": f'audit: {{store: "sqlite:state/{LONG}"}}',
            "/audit/keys": f'audit: {{keys: "file:{LONG}/."}}',
            "/audit/also": f'audit: {{also: "file:x/{LONG}"}}',
            "/audit/heads/to": f'audit: {{heads: {{to: "file:../{LONG}"}}}}',
        }.items()
    },
    "a path too long for any system": (
        f'audit: {{store: "sqlite:{"a/" * 2_000}b"}}',
        ("/audit/store", "this is a path of more than 4000 bytes.", "Write a shorter one."),
    ),
    **{
        f"no file but {path}": (
            f'audit: {{store: "sqlite:{path}"}}',
            ("/audit/store", "this names no file.", "Write the path of a file."),
        )
        for path in ("/", ".", "..", "state/..", "//", "../..")
    },
    "no file for the second sink": (
        'audit: {also: "file:/"}',
        ("/audit/also", "this names no file.", "Write the path of a file."),
    ),
    "no file for the heads": (
        'audit: {heads: {to: "file:."}}',
        ("/audit/heads/to", "this names no file.", "Write the path of a file."),
    ),
}


@pytest.mark.requirement("CON-1", "AUD-3")
@pytest.mark.parametrize(("text", "told"), PATHS.values(), ids=PATHS)
def test_what_can_be_no_path_is_told_before_anybody_opens_it(
    text: str, told: tuple[str, str, str]
) -> None:
    loaded = load({"sluicegate.yaml": text.encode()}, resolve=None)
    assert isinstance(loaded, tuple)
    (problem,) = loaded
    assert (problem.pointer, problem.message, problem.mend) == told


@pytest.mark.parametrize(
    "audit",
    [
        AuditSettings(store="sqlite:" + "a" * 240),
        AuditSettings(store="sqlite:/srv/a b/ü.db", keys="file:/"),
        AuditSettings(also="file:" + "ü" * 120),
        AuditSettings(store="sqlite:" + "d" * 255 + "/audit.db", keys="file:" + "d" * 255 + "/k"),
        AuditSettings(keys="keyring:" + "a" * 300),
    ],
    ids=["as long as may be", "a blank and a letter", "counted in bytes", "a folder", "no path"],
)
def test_a_path_that_can_be_one_is_taken(audit: AuditSettings) -> None:
    text = f'audit: {{store: "{audit.store}", keys: "{audit.keys}"'
    text += f', also: "{audit.also}"}}' if audit.also else "}"
    assert settings(text).audit == audit
