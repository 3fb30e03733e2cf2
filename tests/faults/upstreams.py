"""Real upstreams on the loopback: raw sockets that send exactly what a test says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Upstream:
    """A running server; ``heads`` are the request heads, ``bodies`` what came behind them."""

    port: int = 0
    heads: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    connections: int = 0
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def header(self, name: str, request: int = -1) -> str | None:
        """Return one header of a request as it was received."""
        for line in self.heads[request].split("\r\n")[1:]:
            key, _, value = line.partition(":")
            if key.lower() == name:
                return value.strip()
        return None


@asynccontextmanager
async def serve(script: Script, **options: object) -> AsyncIterator[Upstream]:
    """Run ``script`` for each connection, after the request's head was read."""
    upstream = Upstream()
    running: set[asyncio.Task[None]] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        running.add(task)
        upstream.connections += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            upstream.heads.append(head)
            length = int(upstream.header("content-length") or 0)
            upstream.bodies.append(await reader.readexactly(length))
            await script(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            upstream.gone.set()
        finally:
            running.discard(task)
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, **options)  # type: ignore[arg-type]
    upstream.port = server.sockets[0].getsockname()[1]
    try:
        yield upstream
    finally:
        server.close()
        for task in tuple(running):
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await server.wait_closed()


def sending(*chunks: bytes) -> Script:
    """Send the chunks and close."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for chunk in chunks:
            writer.write(chunk)
            await writer.drain()

    return script


def hanging_after(*chunks: bytes) -> Script:
    """Send the chunks, then nothing, until the other side hangs up."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for chunk in chunks:
            writer.write(chunk)
            await writer.drain()
        await reader.read()
        raise ConnectionResetError

    return script


def repeating(first: bytes, chunk: bytes) -> Script:
    """Send ``first``, then ``chunk`` without end."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        while True:
            writer.write(chunk)
            await writer.drain()
            await asyncio.sleep(0.001)

    return script


def answer(
    body: bytes = b"{}",
    *headers: str,
    status: str = "200 OK",
    length: int | None = None,
    media_type: str | None = "application/json",
) -> bytes:
    """Return one HTTP answer; ``length`` lies about the body where it is given."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}"]
    if media_type is not None:
        lines.append(f"Content-Type: {media_type}")
    return "\r\n".join([*lines, *headers, "", ""]).encode("latin-1") + body
