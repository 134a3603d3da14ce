"""A server made of bytes: it plays the answers it is given, right or wrong, and keeps what it was sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from temp0.core.plan import Message
from temp0.core.run import Question

BODIES = Path(__file__).parents[1] / "fixtures" / "bodies"
Play = Callable[[asyncio.StreamWriter], Coroutine[Any, Any, None]]


@dataclass(frozen=True)
class Received:
    """One request as it came: its first line, its headers in lower case, its body."""

    line: str
    headers: dict[str, str]
    body: bytes


class ScriptedServer:
    """Plays `answers` in order, the last one again and again; bytes are sent and the connection is kept open."""

    def __init__(self, *answers: bytes | Play) -> None:
        self._answers = list(answers)
        self.received: list[Received] = []
        self.connections = 0

    async def __aenter__(self) -> ScriptedServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in self._writers:
            writer.close()
        await self._server.wait_closed()

    _writers: tuple[asyncio.StreamWriter, ...] = ()

    @property
    def url(self) -> str:
        port = self._server.sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers = (*self._writers, writer)
        try:
            while True:
                self.received.append(await _request(reader))
                answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
                await (answer(writer) if callable(answer) else _send(writer, answer))
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()


async def _request(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *rest = head.strip().split("\r\n")
    headers = {name.lower(): value for name, _, value in (field.partition(": ") for field in rest)}
    return Received(line, headers, await reader.readexactly(int(headers.get("content-length", 0))))


async def _send(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()


def http(
    body: bytes | str,
    status: str = "200 OK",
    *,
    headers: tuple[str, ...] = ("Content-Type: application/json",),
    length: int | None = None,
) -> bytes:
    """An HTTP answer; `length` lies about the body's length."""
    body = body.encode() if isinstance(body, str) else body
    told = len(body) if length is None else length
    head = "\r\n".join([f"HTTP/1.1 {status}", *headers, f"Content-Length: {told}"])
    return head.encode() + b"\r\n\r\n" + body


def recorded_http(name: str) -> bytes:
    """A recorded answer, its length put right."""
    head, _, body = (BODIES / name).read_bytes().replace(b"\r\n", b"\n").partition(b"\n\n")
    status, *headers = head.decode().split("\n")
    kept = tuple(field for field in headers if not field.lower().startswith("content-length"))
    return http(body, status.removeprefix("HTTP/1.1 "), headers=kept)


def then_close(data: bytes) -> Play:
    """Sends the data and hangs up."""

    async def play(writer: asyncio.StreamWriter) -> None:
        await _send(writer, data)
        writer.close()

    return play


def in_pieces(*pieces: bytes) -> Play:
    """Sends the pieces one by one, each in its own packet as far as we can tell."""

    async def play(writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            await _send(writer, piece)
            await asyncio.sleep(0)

    return play


async def never(writer: asyncio.StreamWriter) -> None:
    """Sends nothing."""
    await asyncio.Event().wait()


def question(text: str = "Say hi.", *, max_tokens: int = 4, logprobs: bool = False, stream: bool = False) -> Question:
    """A question of one message."""
    return Question(
        messages=(Message(role="user", content=text),), max_tokens=max_tokens, logprobs=logprobs, stream=stream
    )
