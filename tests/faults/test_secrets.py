"""Two hundred planted secrets, and none of them stands where anybody could read it."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pyarrow import parquet
from tests.faults import telling_tools
from tests.faults.upstreams import Upstream, answer, serve
from tests.unit.notices.test_webhook import hooked

from sluicegate.cli.main import run
from sluicegate.cli.output import HUMAN, JSON_V1
from sluicegate.errors import SluicegateError
from sluicegate.gates.answers import Answer
from sluicegate.gates.ports import AuditStore
from sluicegate.opening.clock import SystemClock
from sluicegate.opening.folder import open_folder_store, open_gate
from sluicegate.telemetry import observing
from sluicegate.values.callers import Caller
from sluicegate.values.json import JsonValue

EACH = 20
KINDS = (
    "http credential",
    "command credential",
    "masked argument",
    "masked result",
    "upstream header",
    "stderr",
    "exception",
    "userinfo",
    "wrong name",
    "open argument",
)
KEPT = frozenset({"stderr", "exception", "userinfo", "open argument"})
"""What custody keeps, encrypted: nothing of it was masked, and the gate never read it as secret."""

SETTINGS = """
audit: {store: "sqlite:state/audit.db", keys: "file:keys/"}
retention: {rejected: {days: 30}, accepted: {days: 30, share: 1}, arguments: {days: 30}}
python: [tests.faults.]
notify: {safe: "log:"}
access:
  - {caller: svc-safe, action: call, tool: "*"}
"""
TOLD_EVERYWHERE = {
    'keys: "file:keys/"}': 'keys: "file:keys/", also: "file:../away/events.jsonl", '
    'heads: {to: "file:../away/heads.jsonl", every_events: 50}}',
    '"log:"': '"apprise:env:SAFE_OWNERS"',
}
"""What the settings say where the second sink, heads and Apprise are looked at as well."""
HEAD = """
sluicegate: 1
tool: @TOOL@
version: 1.0.0
owner: safe
description: A tool that handles secrets.
effect: read
"""
PLAIN = """
result:
  schema:
    type: object
    properties: {ok: {const: true}}
    required: [ok]
    additionalProperties: false
  agent: [/ok]
"""
NUMBERED = """
arguments:
  schema:
    type: object
    properties: {number: {type: integer, minimum: 0, maximum: 999}}
    required: [number]
    additionalProperties: false
"""
CONTRACTS = {
    "by_http": NUMBERED
    + """
fetch:
  http:
    method: GET
    url: "http://127.0.0.1:@PORT@/credential/{/number}"
    timeout_s: 20
    credential: SAFE_HTTP_TOKEN
"""
    + PLAIN,
    "by_command": NUMBERED
    + """
fetch:
  command:
    argv: [sh, -c, '@SCRIPT@', sh, "{/number}"]
    timeout_s: 20
    credential: SAFE_COMMAND_TOKEN
    credential_variable: TOKEN
"""
    + PLAIN,
    "log_in": """
arguments:
  schema:
    type: object
    properties:
      number: {type: integer, minimum: 0, maximum: 999}
      password: {type: string, maxLength: 80}
    required: [number, password]
    additionalProperties: false
fetch:
  http:
    method: POST
    url: "http://127.0.0.1:@PORT@/login/{/number}"
    timeout_s: 20
    body: arguments
mask: {arguments: [/password]}
"""
    + PLAIN,
    "read_token": NUMBERED
    + """
fetch:
  http:
    method: GET
    url: "http://127.0.0.1:@PORT@/token/{/number}"
    timeout_s: 20
mask: {result: [/token]}
result:
  schema:
    type: object
    properties: {ok: {const: true}, token: {type: string, maxLength: 80}}
    required: [ok, token]
    additionalProperties: false
  agent: [/ok]
  operator: [/token]
""",
    "headers": NUMBERED
    + """
fetch:
  http:
    method: GET
    url: "http://127.0.0.1:@PORT@/headers/{/number}"
    timeout_s: 20
"""
    + PLAIN,
    "complain": """
arguments:
  schema:
    type: object
    properties: {number: {type: integer, minimum: 0, maximum: 999}}
    required: [number]
    additionalProperties: false
fetch:
  command:
    argv: [sh, -c, 'cat "@ROOT@/complaints/$1" >&2; exit $(($1 % 2 * 3))', sh, "{/number}"]
    timeout_s: 20
"""
    + PLAIN,
    "raising": NUMBERED
    + """
fetch:
  python: {function: "tests.faults.telling_tools:raise_secret", timeout_s: 20}
"""
    + PLAIN,
    "raising_later": NUMBERED
    + """
fetch:
  python: {function: "tests.faults.telling_tools:raise_secret_later", timeout_s: 20}
"""
    + PLAIN,
    "visit": """
arguments:
  schema:
    type: object
    properties:
      page: {type: string, pattern: "^https?://[!-~]{1,200}$", maxLength: 220}
      color: {enum: [red, green]}
    required: [page]
    additionalProperties: false
fetch:
  http:
    method: GET
    url: "http://127.0.0.1:@PORT@/visit/0"
    timeout_s: 20
    query: {page: "{/page}"}
"""
    + PLAIN,
}
SCRIPT = (
    'echo "token $TOKEN, bearer:$TOKEN" >&2; '
    'echo "{\\"ok\\": $((1 - $1 % 2)), \\"t\\": \\"$TOKEN\\"}"; '
    "exit $(($1 % 3))"
)
CALLER = Caller(subject="svc-safe", tenant="acme", session="s-1")


@dataclass
class Planted:
    """The secrets by kind, and everything that anybody could read."""

    by_kind: dict[str, list[str]]
    upstream: Upstream = field(default_factory=Upstream)
    request_ids: list[str] = field(default_factory=list)
    read: dict[str, list[bytes]] = field(default_factory=dict)

    def show(self, where: str, text: str | bytes) -> None:
        content = text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
        self.read.setdefault(where, []).append(content)

    def show_files(self, where: str, root: Path) -> None:
        for path in sorted(root.rglob("*")):
            if path.is_file():
                self.show(f"{where}/{path.name}", path.read_bytes())

    def leaks(self) -> set[tuple[str, str]]:
        """Return kind of secret and place of each that stands anywhere, whole or in half."""
        joined = {where: b"\n".join(texts) for where, texts in self.read.items()}
        return {
            (kind, where)
            for where, text in joined.items()
            for kind, planted in self.by_kind.items()
            for secret in planted
            if stands_in(secret, text)
        }

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Quote everything that is secret, in right answers and in wrong ones."""
        path = self.upstream.heads[-1].split(" ")[1]
        _, what, number = path.partition("?")[0].split("/")
        n = int(number)
        told = {
            "credential": self.upstream.header("authorization") or "",
            "login": self.upstream.bodies[-1].decode(),
            "token": self.by_kind["masked result"][n],
            "headers": self.by_kind["upstream header"][n],
            "visit": path,
        }[what]
        body: dict[str, object] = {"ok": True}
        headers: list[str] = []
        status = ("200 OK", "200 OK", "403 Forbidden", "500 Broken")[n % 4]
        if what == "headers":
            name = ("Set-Cookie", "X-Token", "WWW-Authenticate", "Location", "Server")[n % 5]
            headers.append(f"{name}: {told}")
        elif what == "token":
            body["token"] = told if n % 3 else [told]
        elif what == "credential":
            headers.append(f"X-Echo: {told}")
            body |= {"echo": told} if n % 2 else {}
        elif n % 2:
            body["echo"] = told
        text = json.dumps(body).encode()
        if what != "credential" and n % 7 == 6:
            text = text[:-1]  # cut off: what cannot be parsed cannot be masked
        writer.write(answer(text, *headers, status=status))
        await writer.drain()


def stands_in(secret: str, text: bytes) -> bool:
    """Whether the first or last half of the secret stands in ``text``.

    Hexadecimal digits are spelt alike in JSON, in a URL and in the text of a Python value.
    """
    half = len(secret) // 2
    return secret[:half].encode() in text or secret[half:].encode() in text


def plant() -> dict[str, list[str]]:
    return {kind: [secrets.token_hex(20) for _ in range(EACH)] for kind in KINDS}


def write_folder(root: Path, port: int, complaints: Sequence[str]) -> Path:
    folder = root / "contracts"
    (root / "complaints").mkdir(parents=True)
    (root / "away").mkdir()
    for number, text in enumerate(complaints):
        (root / "complaints" / str(number)).write_text(f"cannot log in with {text}\n")
    for tool, text in CONTRACTS.items():
        (folder / tool).mkdir(parents=True)
        document = (HEAD + text).replace("@TOOL@", tool).replace("@PORT@", str(port))
        document = document.replace("@SCRIPT@", SCRIPT).replace("@ROOT@", str(root))
        (folder / tool / "contract.yaml").write_text(document)
    (folder / "sluicegate.yaml").write_text(SETTINGS)
    return folder


def calls_of(by_kind: dict[str, list[str]], n: int) -> Iterable[tuple[str, str]]:
    """Yield tool and arguments of the calls that carry or meet the ``n``-th secret of each kind."""
    numbered = json.dumps({"number": n})
    for tool in ("by_http", "by_command", "read_token", "headers", "complain"):
        yield tool, numbered
    yield ("raising", "raising_later")[n % 2], numbered
    yield "log_in", json.dumps({"number": n, "password": by_kind["masked argument"][n]})
    page = f"https://admin:{by_kind['userinfo'][n]}@example.org/"
    yield "visit", json.dumps({"page": page if n % 3 else f"ftp{page}"})
    wrong = by_kind["wrong name"][n]
    yield (
        "log_in",
        (
            json.dumps({"number": n, "pasword": wrong}),
            json.dumps({"number": n, "password": {"value": wrong}}),
            f'{{"number": {n}, "password": "{wrong}"',
            json.dumps({"number": wrong, "password": "x"}),
            f'{{"password": "{wrong}", "password": "{wrong}", "number": {n}}}',
        )[n % 5],
    )
    free = by_kind["open argument"][n]
    yield (
        "visit",
        (
            json.dumps({"page": "https://a.example/", "color": free}),
            json.dumps({"page": f"https://a.example/?key={free}"}),
            json.dumps({"page": "https://a.example/", "note": free}),
            f'{{"page": "{free}',
        )[n % 4],
    )


async def call_everything(root: Path, planted: Planted, patch: pytest.MonkeyPatch) -> Path:
    async with serve(planted.answer) as planted.upstream:
        folder = write_folder(root, planted.upstream.port, planted.by_kind["stderr"])
        settings = SETTINGS
        for told, more in TOLD_EVERYWHERE.items():
            settings = settings.replace(told, more)
        (folder / "sluicegate.yaml").write_text(settings)
        async with open_gate(folder) as gate:
            for n in range(EACH):
                # A rotated credential counts from the next call on.
                patch.setenv("SAFE_HTTP_TOKEN", planted.by_kind["http credential"][n])
                patch.setenv("SAFE_COMMAND_TOKEN", planted.by_kind["command credential"][n])
                telling_tools.SECRETS[:] = [planted.by_kind["exception"][n]]
                for tool, arguments in calls_of(planted.by_kind, n):
                    given: Answer[JsonValue] = await gate.call(tool, arguments, caller=CALLER)
                    planted.request_ids.append(given.request_id)
                    planted.show("answer", given.to_json())
                    planted.show("answer in Python", repr(given))
            planted.show_files("open state", folder / "state")
        planted.show_files("closed state", folder / "state")
        planted.show_files("away", root / "away")
    return folder


@contextmanager
def traced(planted: Planted, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep spans and metrics of every gate that is opened meanwhile, and show them."""
    exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    meter = MeterProvider([reader]).get_meter("test")
    tracer = provider.get_tracer("test")
    patch.setattr(observing, "open_observer", lambda: observing.TracingObserver(tracer, meter))
    yield
    for span in exporter.get_finished_spans():
        planted.show("spans", span.to_json())
    data = reader.get_metrics_data()
    planted.show("metrics", "" if data is None else data.to_json())


@contextmanager
def notified(planted: Planted, target: str, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the owner be told at a target whose URL holds a secret, and show what was posted."""
    with hooked() as hook:
        patch.setenv("SAFE_OWNERS", f"json://{urlsplit(hook.url).netloc}/hook/{target}")
        yield
        for posted in hook.posted:
            planted.show("apprise", json.dumps(posted))


def show_commands(
    folder: Path, planted: Planted, capsys: pytest.CaptureFixture[str]
) -> list[tuple[str, int]]:
    """Run every command that an operator reads the record with; return the exit codes."""
    capsys.readouterr()
    out = folder.parent / "out"
    out.mkdir()
    commands = [
        ["audit", "list", "--limit", "9999"],
        ["audit", "list", "--group"],
        ["audit", "verify"],
        ["audit", "export", str(out / "events.parquet")],
        *(["audit", "show", request_id] for request_id in planted.request_ids),
        *(["why", request_id] for request_id in planted.request_ids),
    ]
    codes: list[tuple[str, int]] = []
    for command in commands:
        for form in (HUMAN, JSON_V1):
            if "export" in command:
                (out / "events.parquet").unlink(missing_ok=True)  # of the other form
            code = run([*command, "--folder", str(folder), "--format", form])
            codes.append((f"{command} {form}", code))
            captured = capsys.readouterr()
            planted.show(f"{command[0]} {form}", captured.out + captured.err)
    for command in (["tail", "-n", "9999"], ["export", str(out / "events.jsonl")]):
        codes.append((command[0], run(["audit", *command, "--folder", str(folder)])))
        captured = capsys.readouterr()
        planted.show(f"audit {command[0]}", captured.out + captured.err)
    for row in parquet.read_table(out / "events.parquet").to_pylist():  # it is compressed
        planted.show("export as parquet", repr(row))
    planted.show_files("export", out)
    return codes


def show_log(records: Iterable[logging.LogRecord], planted: Planted) -> None:
    formatter = logging.Formatter()
    for record in records:
        planted.show(f"log of {record.name}", formatter.format(record))


async def reveal_everything(store: AuditStore) -> list[bytes]:
    """Return the plain bytes of every blob in custody."""
    refs: set[str] = set()
    for event in store.events():
        kept = json.loads(event.detail).get("custody", {})
        refs |= {ref for ref in (event.raw_ref, event.arguments_ref, *kept.values()) if ref}
    now = SystemClock().now()
    try:
        return [
            await store.reveal(ref, who="tester", reason="to see what is kept", now=now)
            for ref in sorted(refs)
        ]
    finally:
        await store.close()


@pytest.mark.requirement("AUD-5", "ADP-5")
def test_no_planted_secret_stands_where_anybody_could_read_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    planted = Planted(plant())
    target = secrets.token_hex(20)
    with (
        caplog.at_level(logging.DEBUG),
        notified(planted, target, monkeypatch),
        traced(planted, monkeypatch),
    ):
        folder = asyncio.run(call_everything(tmp_path, planted, monkeypatch))
        codes = show_commands(folder, planted, capsys)
    show_log(caplog.records, planted)

    # Each secret was where it should be, or the rest would prove nothing.
    sent = "".join(planted.upstream.heads).encode() + b"".join(planted.upstream.bodies)
    for kind in ("http credential", "masked argument"):
        assert [each for each in planted.by_kind[kind] if each.encode() not in sent] == []
    assert sum(map(len, planted.by_kind.values())) == 200
    assert [command for command, code in codes if code != 0] == []
    assert len(planted.request_ids) == len(set(planted.request_ids)) == EACH * len(KINDS)
    assert {
        *("answer", "open state/audit.db-wal", "closed state/audit.db", "why json-v1"),
        *("away/heads.jsonl", "away/events.jsonl", "export/events.jsonl", "export as parquet"),
        *("spans", "metrics", "apprise", "audit tail"),
    } <= set(planted.read)

    assert set(planted.leaks()) == set()
    planted.by_kind["notice target"] = [target]
    assert set(planted.leaks()) == set()
    del planted.by_kind["notice target"]

    revealed = asyncio.run(reveal_everything(open_folder_store(folder)))
    kept = {
        kind
        for kind, hidden in planted.by_kind.items()
        if any(stands_in(secret, text) for secret in hidden for text in revealed)
    }
    assert kept == KEPT


@pytest.mark.requirement("AUD-5", "ADP-5")
async def test_the_log_of_the_http_library_holds_no_secret_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    planted = Planted(plant())
    monkeypatch.setenv("SAFE_HTTP_TOKEN", planted.by_kind["http credential"][0])
    with caplog.at_level(logging.DEBUG):
        async with serve(planted.answer) as planted.upstream:
            folder = write_folder(tmp_path, planted.upstream.port, ())
            async with open_gate(folder) as gate:
                for tool in ("by_http", "headers"):
                    await gate.call(tool, '{"number": 0}', caller=CALLER)
    show_log(caplog.records, planted)
    assert planted.leaks() == set()


@pytest.mark.requirement("AUD-5", "ADP-5")
@pytest.mark.parametrize(
    "line",
    ["credential: '@SECRET@'", "credential: 'token:@SECRET@'", "credential: '@SECRET@ @SECRET@'"],
    ids=["bare", "with a scheme", "with a blank"],
)
def test_a_secret_in_the_place_of_its_name_is_not_repeated(tmp_path: Path, line: str) -> None:
    secret = f"9{secrets.token_hex(20)}"  # no name of a variable
    folder = write_folder(tmp_path, 1, ())
    contract = folder / "by_http" / "contract.yaml"
    text = contract.read_text()
    contract.write_text(
        text.replace("credential: SAFE_HTTP_TOKEN", line.replace("@SECRET@", secret))
    )
    assert contract.read_text() != text
    with pytest.raises(SluicegateError) as caught:
        open_gate(folder)
    assert not stands_in(secret, str(caught.value).encode())
