"""The marker again, where only a real upstream can put it: status line, headers, transfer, stderr,
an exception's text. Recorded receipts (``test_markers``) cannot show what an adapter hands over.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random

import pytest
from tests.properties.tickets import ARGUMENTS, contracts_for, good_ticket

from sluicegate.adapters.command import CommandAdapter
from sluicegate.adapters.credentials import Credentials
from sluicegate.adapters.http import HttpAdapter
from sluicegate.adapters.python import PythonAdapter
from sluicegate.contracts.contract import CommandFetch, HttpFetch, PythonFetch, PythonName
from sluicegate.gates.answers import Answer
from sluicegate.gates.ports import Adapter
from sluicegate.testing import FixedClock, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.json import JsonValue

MARKER = Random("real upstreams").randbytes(16).hex()
RAW_MARKER = bytes.fromhex(MARKER)
GOOD = json.dumps(good_ticket(Random(1))).encode()
JSON = b"Content-Type: application/json\r\n"


def response(status: bytes, headers: bytes, body: bytes, length: int | None = None) -> bytes:
    announced = len(body) if length is None else length
    return b"HTTP/1.1 %b\r\n%bContent-Length: %d\r\nConnection: close\r\n\r\n%b" % (
        status,
        headers,
        announced,
        body,
    )


MARK = MARKER.encode()
CHUNKED = b"HTTP/1.1 200 OK\r\n" + JSON + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
HTTP_RESPONSES = {
    "reason of a success": response(b"200 " + MARK, JSON, GOOD),
    "reason of a failure": response(b"500 " + MARK, JSON, b"{}"),
    "header of a success": response(b"200 OK", JSON + b"X-Trace: %b\r\n" % MARK, GOOD),
    "name of a header": response(b"200 OK", JSON + b"%b: 1\r\n" % MARK, GOOD),
    "content type": response(b"200 OK", b"Content-Type: text/%b\r\n" % MARK, GOOD),
    "content encoding": response(b"200 OK", JSON + b"Content-Encoding: %b\r\n" % MARK, GOOD),
    "location": response(b"302 Found", b"Location: http://%b.example/\r\n" % MARK, b""),
    "retry-after": response(b"503 Busy", JSON + b"Retry-After: %b\r\n" % MARK, MARK),
    "body of a failure": response(b"404 Not Found", JSON, b'{"detail": "%b"}' % MARK),
    "short body": response(b"200 OK", JSON, GOOD[:-1] + MARK, length=5000),
    "long body": response(b"200 OK", JSON, GOOD + MARK, length=len(GOOD)),
    "chunk extension": CHUNKED + b"%x;%b\r\n%b\r\n0\r\n\r\n" % (len(GOOD), MARK, GOOD),
    "trailer": CHUNKED + b"%x\r\n%b\r\n0\r\nX-After: %b\r\n\r\n" % (len(GOOD), GOOD, MARK),
    "no status line": MARK + b"\r\n\r\n" + GOOD,
    "raw bytes": RAW_MARKER,
}


@asynccontextmanager
async def serving(answer: bytes) -> AsyncIterator[int]:
    """Serve these very bytes to whoever connects, then hang up."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def ask(adapter: Adapter) -> Answer[JsonValue]:
    async with gate_of(contracts_for("bare"), {"ticket": adapter}, clock=FixedClock()) as gate:
        return await gate.call("ticket", ARGUMENTS, caller=Caller(subject="svc"))


def assert_unmarked(answer: Answer[JsonValue]) -> None:
    text = answer.to_json()
    assert (MARKER in text, RAW_MARKER in text.encode()) == (False, False), text


@pytest.mark.requirement("ENV-2", "RES-1", "ADP-2")
@pytest.mark.parametrize("place", HTTP_RESPONSES)
async def test_nothing_around_a_body_reaches_the_agent(place: str) -> None:
    async with serving(HTTP_RESPONSES[place]) as port:
        fetch = HttpFetch(method="GET", url=f"http://127.0.0.1:{port}/ticket", timeout_s=5)
        assert_unmarked(await ask(HttpAdapter(fetch, Credentials(environ={}))))


COMMANDS = {
    "stderr of a success": f"sys.stderr.write({MARKER!r}); sys.stdout.write({GOOD.decode()!r})",
    "stderr of a failure": f"sys.stderr.write({MARKER!r}); sys.exit(3)",
    "stdout of a failure": f"print({MARKER!r}); sys.exit(3)",
    "banner": f"print({MARKER!r}); print({GOOD.decode()!r})",
    "exit message": f"sys.exit({MARKER!r})",
    "traceback": f"raise RuntimeError({MARKER!r})",
}


@pytest.mark.requirement("ENV-2", "RES-1", "ADP-3")
@pytest.mark.parametrize("place", COMMANDS)
async def test_nothing_a_command_says_beside_its_answer_reaches_the_agent(place: str) -> None:
    argv = (sys.executable, "-c", "import sys; " + COMMANDS[place])
    fetch = CommandFetch(argv=argv, timeout_s=20)
    assert_unmarked(await ask(CommandAdapter(fetch, Credentials(environ={}))))


def raising(error: BaseException) -> Callable[..., object]:
    def tool(ticket_id: str) -> object:
        raise error

    return tool


class Marked:
    def __repr__(self) -> str:
        return MARKER


FUNCTIONS: dict[str, Callable[..., object]] = {
    "exception": raising(ValueError(MARKER)),
    "exit": raising(SystemExit(MARKER)),
    "name of the exception": raising(type("E" + MARKER, (Exception,), {})()),
    "object that is no JSON": lambda ticket_id: {"title": Marked()},
    "lone surrogate": lambda ticket_id: {"title": MARKER + "\ud800"},
    "bytes": lambda ticket_id: RAW_MARKER,
}


@pytest.mark.requirement("ENV-2", "RES-9")
@pytest.mark.parametrize("place", FUNCTIONS)
async def test_nothing_a_python_tool_raises_reaches_the_agent(place: str) -> None:
    fetch = PythonFetch(function=PythonName("tests", place), timeout_s=5)
    assert_unmarked(await ask(PythonAdapter(fetch, FUNCTIONS[place])))


@pytest.mark.requirement("ADP-2", "ADP-3")
async def test_the_good_answer_does_reach_the_agent_through_each_adapter() -> None:
    async with serving(HTTP_RESPONSES["header of a success"]) as port:
        fetch = HttpFetch(method="GET", url=f"http://127.0.0.1:{port}/ticket", timeout_s=5)
        over_http = await ask(HttpAdapter(fetch, Credentials(environ={})))
    command = CommandFetch(
        argv=(sys.executable, "-c", "import sys; " + COMMANDS["stderr of a success"]), timeout_s=20
    )
    by_command = await ask(CommandAdapter(command, Credentials(environ={})))
    assert (over_http.outcome, by_command.outcome) == ("success", "success")
