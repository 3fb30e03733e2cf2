"""What real HTTP upstreams do wrong, and what the adapter hands over then."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import zlib
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.faults.upstreams import Script, answer, hanging_after, repeating, sending, serve
from tests.unit.adapters.dispatches import dispatch

from sluicegate.adapters.credentials import Credentials
from sluicegate.adapters.http import HttpAdapter
from sluicegate.contracts.contract import HttpFetch
from sluicegate.errors import ConfigurationError
from sluicegate.values.pointers import Pointer
from sluicegate.values.receipts import Fault, Receipt

SECRET = "s3cret-of-ci"
BODY = b'{"state":"failed"}'


def adapter(origin: str, path: str = "/runs/{/id}", **options: object) -> HttpAdapter:
    settings: dict[str, object] = {
        "method": "GET",
        "url": origin + path,
        "timeout_s": 10,
        **options,
    }
    return HttpAdapter(
        HttpFetch(**settings),  # type: ignore[arg-type]
        Credentials(environ={"CI_TOKEN": SECRET}),
        now=lambda: datetime(2026, 11, 30, 3, 0, 0, tzinfo=UTC),
    )


async def fetch_from(
    script: Script, *, timeout_s: float = 10.0, max_bytes: int = 65_536, **options: object
) -> Receipt:
    async with serve(script) as upstream:
        return await adapter(upstream.origin, **options).fetch(
            dispatch({"id": "r1"}, timeout_s=timeout_s, max_bytes=max_bytes)
        )


def show(receipt: Receipt) -> tuple[Fault | None, bool, int | None]:
    return receipt.fault, receipt.dispatched, receipt.status


@pytest.mark.requirement("RES-1")
async def test_a_whole_answer_comes_with_its_provenance() -> None:
    async with serve(sending(answer(BODY, "Retry-After: 7"))) as upstream:
        asked = adapter(upstream.origin)
        receipt = await asked.fetch(dispatch({"id": "r1"}))
        assert show(receipt) == (None, True, 200)
        assert (
            receipt.raw,
            receipt.content_type,
            receipt.retry_after_s,
        ) == (BODY, "application/json", 7.0)
        assert ("http", f"GET {upstream.origin}/runs/{{/id}}") == (
            receipt.adapter,
            receipt.endpoint,
        )
        assert (receipt.adapter_version, receipt.endpoint) == (asked.version, asked.endpoint)


@pytest.mark.requirement("ADP-1")
async def test_the_request_is_what_the_contract_says_and_nothing_else() -> None:
    async with serve(sending(answer(BODY))) as upstream:
        await adapter(
            upstream.origin,
            "/runs/{/id}?page=1",
            query={"branch": "{/branch}"},
            headers={"X-Api-Version": "3", "Accept": "application/vnd.ci+json"},
        ).fetch(dispatch({"id": "../a b/ü", "branch": "x&y=z", "host": "evil"}))
    expected = {
        "GET /runs/..%2Fa%20b%2F%C3%BC?page=1&branch=x%26y%3Dz HTTP/1.1",
        f"Host: 127.0.0.1:{upstream.port}",
        "accept: application/vnd.ci+json",
        "accept-encoding: gzip, deflate",
        "connection: close",
        "x-api-version: 3",
        f"x-request-id: {dispatch({}).request_id}",
    }
    lines = {line for line in upstream.heads[0].split("\r\n") if line}
    assert expected == {line for line in lines if not line.startswith("user-agent")}


@pytest.mark.requirement("ADP-1")
async def test_the_arguments_are_the_body_where_the_contract_says_so() -> None:
    async with serve(sending(answer(BODY))) as upstream:
        question = dispatch({"id": "r1", "note": "ü"})
        await adapter(upstream.origin, method="POST", body="arguments").fetch(question)
        assert question.arguments_text == upstream.bodies[0]
        assert upstream.header("content-type") == "application/json"


@pytest.mark.requirement("ADP-1")
async def test_a_declared_body_holds_the_named_members_only() -> None:
    async with serve(sending(answer(BODY))) as upstream:
        body = {"run": Pointer(("id",)), "note": Pointer(("note",)), "off": Pointer(("off",))}
        await adapter(upstream.origin, method="PUT", body=body).fetch(
            dispatch({"id": "r1", "note": None, "extra": 1})
        )
        assert upstream.bodies[0] == b'{"run": "r1", "note": null}'


@pytest.mark.requirement("ADP-1")
async def test_an_argument_that_is_no_segment_sends_nothing() -> None:
    async with serve(sending(answer(BODY))) as upstream:
        receipt = await adapter(upstream.origin).fetch(dispatch({"id": ".."}))
        assert show(receipt) == (Fault.BAD_ARGUMENT, False, None)
        assert upstream.connections == 0


@pytest.mark.requirement("ADP-5")
async def test_the_credential_stands_in_its_header_and_nowhere_else() -> None:
    echo = answer(BODY, f"X-Echo: Bearer {SECRET}", f"Set-Cookie: t={SECRET}")
    async with serve(sending(echo)) as upstream:
        asked = adapter(upstream.origin, credential="CI_TOKEN")
        receipt = await asked.fetch(dispatch({"id": "r1"}))
        assert f"Bearer {SECRET}" == upstream.header("authorization")
        assert SECRET not in f"{receipt} {asked.endpoint} {asked!r}"


ECHOED = {
    "as it stands": SECRET,
    "one letter escaped": SECRET.replace("t", "\\u0074"),
    "every letter escaped": "".join(f"\\u{ord(letter):04x}" for letter in SECRET),
    "in capitals": SECRET.replace("-", "\\u002D"),
    "inside a JSON text": r"{\"t\": \"" + SECRET.replace("-", r"\\u002d") + r"\"}",
}


@pytest.mark.requirement("ADP-5")
@pytest.mark.parametrize("spelt", ECHOED.values(), ids=ECHOED)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
async def test_an_answer_that_echoes_our_credential_in_any_spelling_is_not_handed_on(
    spelt: str, packed: bool
) -> None:
    body = f'{{"state": "{spelt}"}}'.encode()
    echo = answer(gzip.compress(body), "Content-Encoding: gzip") if packed else answer(body)
    async with serve(sending(echo)) as upstream:
        asked = adapter(upstream.origin, credential="CI_TOKEN")
        receipt = await asked.fetch(dispatch({"id": "r1"}))
    assert (receipt.raw, receipt.fault) == (b"", Fault.LEAK)


@pytest.mark.requirement("ADP-5")
async def test_a_credential_with_a_solidus_is_found_as_php_echoes_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(globals(), "SECRET", "gh/p+k3y")
    async with serve(sending(answer(rb'{"state": "gh\/p+k3y"}'))) as upstream:
        asked = adapter(upstream.origin, credential="CI_TOKEN")
        receipt = await asked.fetch(dispatch({"id": "r1"}))
        assert upstream.header("authorization") == "Bearer gh/p+k3y"
    assert (receipt.raw, receipt.fault) == (b"", Fault.LEAK)


@pytest.mark.requirement("ADP-5")
async def test_a_credential_in_its_own_header_bears_its_own_prefix() -> None:
    async with serve(sending(answer(BODY))) as upstream:
        await adapter(
            upstream.origin,
            credential="CI_TOKEN",
            credential_header="X-Token",
            credential_prefix="",
        ).fetch(dispatch({"id": "r1"}))
        assert (upstream.header("x-token"), upstream.header("authorization")) == (SECRET, None)


@pytest.mark.requirement("ADP-5")
async def test_a_credential_that_cannot_be_read_sends_nothing() -> None:
    async with serve(sending(answer(BODY))) as upstream:
        receipt = await adapter(upstream.origin, credential="ABSENT").fetch(dispatch({"id": "r1"}))
        assert show(receipt) == (Fault.CREDENTIAL, False, None)
        assert upstream.connections == 0


@pytest.mark.requirement("ADP-2")
@pytest.mark.parametrize(("key", "sent"), [("call_1", "call_1"), ("a\r\nb ü", "a%0D%0Ab%20%C3%BC")])
async def test_the_idempotency_key_stands_in_the_declared_header(key: str, sent: str) -> None:
    async with serve(sending(answer(BODY))) as upstream:
        question = dispatch({"id": "r1"}, idempotency_key=key)
        await adapter(upstream.origin).fetch(question)
        assert None is upstream.header("idempotency-key")
        await adapter(upstream.origin, idempotency_header="Idempotency-Key").fetch(question)
        assert sent == upstream.header("idempotency-key")


CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
FAULTS: dict[str, tuple[Script, Fault, int | None]] = {
    "shorter than announced": (sending(answer(BODY, length=99)), Fault.SHORT, 200),
    "cut inside a chunk": (sending(CHUNKED + b'8\r\n{"a"'), Fault.SHORT, 200),
    "no last chunk": (sending(CHUNKED + b"2\r\n{}\r\n"), Fault.SHORT, 200),
    "a chunk that is none": (sending(CHUNKED + b"zz\r\n{}\r\n"), Fault.SHORT, 200),
    "closed without a byte": (sending(), Fault.UNREACHABLE, None),
    "closed inside the head": (sending(b"HTTP/1.1 200 OK\r\nContent-"), Fault.UNREACHABLE, None),
    "not HTTP": (sending(b"SSH-2.0-OpenSSH_9.6\r\n\r\n"), Fault.UNREACHABLE, None),
    "lengths that differ": (
        sending(answer(BODY, "Content-Length: 99")),
        Fault.UNREACHABLE,
        None,
    ),
    "length and chunks": (
        sending(answer(b"2\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding: chunked")),
        Fault.UNREACHABLE,
        200,
    ),
    "two media types": (
        sending(answer(BODY, "Content-Type: text/html")),
        Fault.UNREACHABLE,
        200,
    ),
    "too many headers": (
        sending(answer(BODY, *(f"X-{n}: 1" for n in range(200)))),
        Fault.TOO_MANY_HEADERS,
        None,
    ),
    "one header too long": (
        sending(answer(BODY, "X: " + "a" * 40_000)),
        Fault.TOO_MANY_HEADERS,
        None,
    ),
    "headers without end": (
        repeating(b"HTTP/1.1 200 OK\r\n", b"X-A: 1\r\n" * 4096),
        Fault.TOO_MANY_HEADERS,
        None,
    ),
    "brotli": (sending(answer(b"\x0b\x02", "Content-Encoding: br")), Fault.BAD_ENCODING, 200),
    "twice packed": (
        sending(answer(gzip.compress(BODY), "Content-Encoding: gzip, gzip")),
        Fault.BAD_ENCODING,
        200,
    ),
    "broken gzip": (
        sending(answer(gzip.compress(BODY)[:-9], "Content-Encoding: gzip")),
        Fault.BAD_ENCODING,
        200,
    ),
    "plain text called gzip": (
        sending(answer(BODY, "Content-Encoding: gzip")),
        Fault.BAD_ENCODING,
        200,
    ),
    "too large": (sending(answer(b"[" + b"0," * 40_000 + b"0]")), Fault.TOO_LARGE, 200),
    "too large, without end": (repeating(CHUNKED, b"4\r\nabcd\r\n" * 9999), Fault.TOO_LARGE, 200),
    "too large once unpacked": (
        sending(answer(gzip.compress(b" " * 900_000), "Content-Encoding: gzip")),
        Fault.TOO_LARGE,
        200,
    ),
}


@pytest.mark.requirement("RES-1", "ADP-2")
@pytest.mark.parametrize(("script", "fault", "status"), FAULTS.values(), ids=FAULTS)
async def test_an_answer_that_is_not_whole_bears_its_fault(
    script: Script, fault: Fault, status: int | None
) -> None:
    receipt = await fetch_from(script)
    assert (fault, True, status) == show(receipt)
    assert receipt.diagnostics
    assert len(receipt.raw) <= 65_536


HANGS: dict[str, tuple[Script, int | None]] = {
    "no answer": (hanging_after(), None),
    "no end of the head": (hanging_after(b"HTTP/1.1 200 OK\r\n"), None),
    "no body": (hanging_after(answer(b"", length=9)), 200),
    "no end of the body": (hanging_after(answer(b"{", length=9)), 200),
    "a body drop by drop": (repeating(CHUNKED, b"1\r\n \r\n"), 200),
    "only interim answers": (repeating(b"", b"HTTP/1.1 102 Processing\r\n\r\n"), None),
}


@pytest.mark.requirement("ADP-2")
@pytest.mark.parametrize(("script", "status"), HANGS.values(), ids=HANGS)
async def test_the_deadline_is_total_and_the_connection_is_closed(
    script: Script, status: int | None
) -> None:
    async with serve(script) as upstream:
        receipt = await adapter(upstream.origin).fetch(dispatch({"id": "r1"}, timeout_s=0.3))
        assert (Fault.TIMEOUT, True, status) == show(receipt)
        await asyncio.wait_for(upstream.gone.wait(), 5)


@pytest.mark.requirement("ADP-2")
async def test_a_deadline_before_the_first_byte_was_sent_says_so() -> None:
    async with serve(hanging_after()) as upstream:  # speaks no TLS, and keeps silent
        secure = upstream.origin.replace("http:", "https:")
        receipt = await adapter(secure).fetch(dispatch({"id": "r1"}, timeout_s=0.3))
    assert show(receipt) == (Fault.TIMEOUT, False, None)


@pytest.mark.requirement("RES-1")
@pytest.mark.parametrize(
    ("coding", "packed"),
    [
        ("gzip", gzip.compress(BODY)),
        ("x-gzip", gzip.compress(BODY)),
        ("deflate", zlib.compress(BODY)),
    ],
    ids=["gzip", "x-gzip", "deflate"],
)
async def test_a_packed_answer_is_unpacked(coding: str, packed: bytes) -> None:
    receipt = await fetch_from(sending(answer(packed, f"Content-Encoding: {coding}")))
    assert (None, BODY, coding) == (receipt.fault, receipt.raw, receipt.content_encoding)


@pytest.mark.requirement("RES-1")
async def test_an_answer_of_exactly_the_limit_is_whole() -> None:
    script = sending(answer(BODY))
    assert None is (await fetch_from(script, max_bytes=len(BODY))).fault
    assert Fault.TOO_LARGE is (await fetch_from(script, max_bytes=len(BODY) - 1)).fault


@pytest.mark.requirement("RES-1")
@pytest.mark.parametrize(
    "status", ["204 No Content", "304 Not Modified", "404 Not Found", "503 Down", "302 Found"]
)
async def test_a_status_is_handed_over_and_not_judged(status: str) -> None:
    script = sending(answer(b"", f"Location: http://127.0.0.1:9/{SECRET}", status=status))
    receipt = await fetch_from(script)
    assert (None, True, int(status[:3])) == show(receipt)


@pytest.mark.requirement("RES-1")
async def test_a_body_without_length_ends_with_the_connection() -> None:
    receipt = await fetch_from(sending(b"HTTP/1.1 200 OK\r\n\r\n" + BODY))
    assert (receipt.fault, receipt.raw, receipt.content_type) == (None, BODY, None)


@pytest.mark.requirement("ADP-2")
@pytest.mark.parametrize("host", ["127.0.0.1:1", "no-such-host.invalid"])
async def test_an_upstream_that_is_not_there_certainly_got_nothing(host: str) -> None:
    receipt = await adapter(f"http://{host}").fetch(dispatch({"id": "r1"}))
    assert show(receipt) == (Fault.UNREACHABLE, False, None)


@pytest.mark.requirement("ADP-2")
async def test_a_cancelled_call_closes_its_connection() -> None:
    async with serve(hanging_after()) as upstream:
        call = asyncio.ensure_future(adapter(upstream.origin).fetch(dispatch({"id": "r1"})))
        while not upstream.heads:
            await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(upstream.gone.wait(), 5)


async def answer_twice(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send one answer too many, and keep the connection for the next request."""
    writer.write(answer(b'"first"', "Connection: keep-alive") + answer(b'"planted"'))
    await writer.drain()
    await reader.read()


@pytest.mark.requirement("ADP-2")
async def test_a_second_answer_on_one_connection_never_reaches_the_next_call() -> None:
    async with serve(answer_twice) as upstream:
        asked = adapter(upstream.origin)
        raws = [(await asked.fetch(dispatch({"id": "r1"}))).raw for _ in range(3)]
        assert (raws, upstream.connections) == ([b'"first"'] * 3, 3)


@pytest.mark.requirement("ADP-2")
async def test_the_late_answer_of_a_cancelled_call_never_reaches_the_next_one() -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = upstream.heads[-1].split()[1].encode()
        if path.startswith(b"/runs/slow"):
            await asyncio.sleep(0.1)
        writer.write(answer(b'"' + path + b'"', "Connection: keep-alive"))
        await writer.drain()
        await reader.read()

    async with serve(script) as upstream:
        asked = adapter(upstream.origin)
        for number in range(5):
            slow = await asked.fetch(dispatch({"id": f"slow{number}"}, timeout_s=0.05))
            quick = await asked.fetch(dispatch({"id": f"quick{number}"}))
            assert (Fault.TIMEOUT, b'"/runs/quick%d"' % number) == (slow.fault, quick.raw)


@pytest.mark.requirement("ADP-2")
async def test_of_many_calls_at_once_each_gets_its_own_answer() -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # No other connection ran between the head's arrival and this line.
        number = int(upstream.heads[-1].split()[1].rpartition("/")[2])
        await asyncio.sleep((number * 7 % 5) / 100)
        writer.write(answer(b"%d" % number))
        await writer.drain()

    async with serve(script) as upstream:
        asked = adapter(upstream.origin)
        calls = [
            asyncio.ensure_future(asked.fetch(dispatch({"id": number}))) for number in range(100)
        ]
        for call in calls[::7]:
            call.cancel()
        receipts = await asyncio.gather(*calls, return_exceptions=True)
    delivered = {
        number: receipt.raw
        for number, receipt in enumerate(receipts)
        if isinstance(receipt, Receipt)
    }
    assert {number: b"%d" % number for number in range(100) if number % 7} == delivered


@pytest.mark.requirement("ADP-2")
async def test_proxy_variables_and_netrc_are_ignored(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login a password b\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with serve(sending(answer(BODY))) as upstream:
        receipt = await adapter(upstream.origin).fetch(dispatch({"id": "r1"}))
        assert (receipt.raw, upstream.header("authorization")) == (BODY, None)


@pytest.mark.requirement("ADP-2")
async def test_no_cookie_is_sent_back() -> None:
    async with serve(sending(answer(BODY, "Set-Cookie: session=1"))) as upstream:
        asked = adapter(upstream.origin)
        await asked.fetch(dispatch({"id": "r1"}))
        await asked.fetch(dispatch({"id": "r1"}))
        assert None is upstream.header("cookie")


def redirecting(location: str, status: str = "302 Found") -> Script:
    """Answer every request with a redirect; PORT in ``location`` is the server's own."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = writer.get_extra_info("sockname")[1]
        goal = location.replace("PORT", str(peer))
        writer.write(answer(b"", f"Location: {goal}", status=status))
        await writer.drain()

    return script


def moving(location: str, status: str = "302 Found") -> Script:
    """Redirect the first request and answer those behind it."""
    moved = redirecting(location, status)
    arrived = sending(answer(BODY))
    seen: list[int] = []

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(1)
        await (moved if len(seen) == 1 else arrived)(reader, writer)

    return script


@pytest.mark.requirement("ADP-2")
@pytest.mark.parametrize("goal", ["/new", "new", "http://127.0.0.1:PORT/new", "?page=2"])
async def test_a_declared_redirect_on_the_same_origin_is_followed(goal: str) -> None:
    async with serve(moving(goal)) as upstream:
        receipt = await adapter(upstream.origin, redirects=1, credential="CI_TOKEN").fetch(
            dispatch({"id": "r1"})
        )
        assert (receipt.status, receipt.raw, upstream.connections) == (200, BODY, 2)
        assert f"Bearer {SECRET}" == upstream.header("authorization")


ELSEWHERE = {
    "another host": "http://localhost:PORT/new",
    "another port": "http://127.0.0.1:1/new",
    "another scheme": "https://127.0.0.1:PORT/new",
    "no scheme": "//evil.example/new",
    "a user name": "http://a@127.0.0.1:PORT/new",
    "another protocol": "file:///etc/passwd",
    "blanks": "/a b",
    "backslash": "/\\evil.example",
    "broken": "http://[::1/new",
}


@pytest.mark.requirement("ADP-2", "ADP-5")
@pytest.mark.parametrize("goal", ELSEWHERE.values(), ids=ELSEWHERE)
async def test_a_redirect_elsewhere_is_not_followed(goal: str) -> None:
    async with serve(moving(goal)) as upstream:
        receipt = await adapter(upstream.origin, redirects=3).fetch(dispatch({"id": "r1"}))
        assert (receipt.status, upstream.connections) == (302, 1)


@pytest.mark.requirement("ADP-2")
async def test_redirects_are_off_unless_declared_and_bounded_then() -> None:
    async with serve(redirecting("/again")) as upstream:
        assert (await adapter(upstream.origin).fetch(dispatch({"id": "r1"}))).status == 302
        assert upstream.connections == 1
        receipt = await adapter(upstream.origin, redirects=2).fetch(dispatch({"id": "r1"}))
        assert (receipt.status, upstream.connections) == (302, 4)


@pytest.mark.requirement("ADP-2")
@pytest.mark.parametrize(
    ("status", "connections"), [("301 Moved", 1), ("302 Found", 1), ("303 See", 1), ("307 Go", 2)]
)
async def test_a_redirect_never_turns_a_write_into_another_request(
    status: str, connections: int
) -> None:
    async with serve(moving("/new", status)) as upstream:
        await adapter(upstream.origin, method="POST", body="arguments", redirects=1).fetch(
            dispatch({"id": "r1"})
        )
        assert connections == upstream.connections
        assert [b'{"id": "r1"}'] * connections == upstream.bodies


def make_certificate(folder: Path, name: str) -> tuple[Path, ssl.SSLContext]:
    """Make a self-signed certificate for 127.0.0.1 and a server context that bears it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    chain = folder / f"{name}.pem"
    chain.write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    return chain, context


@pytest.mark.requirement("ADP-2", "AUD-6")
async def test_tls_is_checked_against_the_named_authority_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ours, context = make_certificate(tmp_path, "ours")
    other, _ = make_certificate(tmp_path, "other")
    monkeypatch.setenv("SSL_CERT_FILE", str(ours))  # the environment cannot widen the trust
    async with serve(sending(answer(BODY)), ssl=context) as upstream:
        origin = upstream.origin.replace("http:", "https:")
        question = dispatch({"id": "r1"})
        trusting = await adapter(origin, ca_file=str(ours), credential="CI_TOKEN").fetch(question)
        assert show(trusting) == (None, True, 200)
        for ca_file in (str(other), None):
            refused = await adapter(origin, ca_file=ca_file).fetch(question)
            assert show(refused) == (Fault.CERTIFICATE, False, None)
        wrong_name = origin.replace("127.0.0.1", "localhost")
        refused = await adapter(wrong_name, ca_file=str(ours)).fetch(question)
        assert show(refused) == (Fault.CERTIFICATE, False, None)
        assert len(upstream.heads) == 1
    (first, *_) = caplog.messages
    assert (
        f"call {question.request_id}: the certificate of {origin} does not verify: another server"
        " may stand in its place"
    ) == first
    assert len(caplog.messages) == 3


BAD_SETTINGS: dict[str, dict[str, object]] = {
    "method that is none": {"method": "GET /"},
    "header name that is none": {"headers": {"X Y": "1"}},
    "header with a line break": {"headers": {"X": "1\r\nY: 2"}},
    "header beyond ASCII": {"headers": {"X": "ü"}},
    "header of the gate": {"headers": {"Host": "evil"}},
    "coding of the gate": {"headers": {"Accept-Encoding": "br"}},
    "credential as a constant too": {
        "credential": "CI_TOKEN",
        "headers": {"authorization": "Bearer x"},
    },
    "the same header twice": {"headers": {"X": "1", "x": "2"}},
    "credential that may be the secret": {"credential": "ghp-123"},
    "prefix with a line break": {"credential": "CI_TOKEN", "credential_prefix": "A\r\n"},
    "idempotency header of the gate": {"idempotency_header": "Content-Length"},
    "no such CA file": {"ca_file": "/nowhere/ca.pem"},
}


@pytest.mark.requirement("ADP-1")
@pytest.mark.parametrize("settings", BAD_SETTINGS.values(), ids=BAD_SETTINGS)
def test_settings_of_no_use_are_a_configuration_error(settings: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError):
        adapter("https://ci.example", **settings)
