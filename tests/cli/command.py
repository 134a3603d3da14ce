"""Runs temp0 as a user does, in a process of its own, against servers that a test scripts."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from forked import forked
from listening import JsonHandler, listening

from temp0.cli.main import main

Reply = tuple[int, Mapping[str, str], bytes]
_NUMBERS = count()


def temp0(
    *arguments: str, stdin: str = "", folder: Path | None = None, environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """One finished call of the command."""
    return forked(main, *arguments, stdin=stdin, folder=folder, environ={**os.environ, **(environ or {})})


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "temp0", *arguments]


def document(call: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The one JSON document that a call printed; it also tells the exit code that the call ended with."""
    parsed: dict[str, Any] = json.loads(call.stdout, parse_constant=lambda name: 1 / 0)
    assert parsed["exit_code"] == call.returncode, call.stderr
    return parsed


def chat(text: str | None, *, finish: str = "stop", **more: Any) -> Reply:
    """An OpenAI-style answer with an id of its own: one that comes again would be a replay."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    told = {"id": f"chat-{next(_NUMBERS)}", "object": "chat.completion", "created": 1, "model": "m"}
    return reply({**told, "choices": [choice], **more})


def reply(body: object, status: int = 200, **headers: str) -> Reply:
    return status, {"Content-Type": "application/json", **headers}, json.dumps(body).encode()


@dataclass
class Seen:
    """What a scripted server saw of one request: its place, path, headers, body, and how many it was working on."""

    place: int
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    in_flight: int


@dataclass
class Server:
    """A scripted server: `answer` gives the reply to each POST; GET /v1/models lists `models`, owned by `owner`."""

    answer: Callable[[Seen], Reply]
    delay_s: float = 0.0
    models: tuple[str, ...] = ("m",)
    owner: str = "somebody"
    closes_silently: bool = False
    url: str = ""
    seen: list[Seen] = field(default_factory=list)
    in_flight: int = 0
    peak: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


@contextmanager
def serving(answer: Callable[[Seen], Reply], **options: Any) -> Iterator[Server]:
    """A scripted server on a free port for the time of the context."""
    server = Server(answer=answer, **options)

    class Handler(JsonHandler):
        def listed(self) -> None:
            found = self.path.endswith("/models")
            listed = [{"id": model, "owned_by": server.owner} for model in server.models]
            body = {"data": listed} if found else {"error": {"message": "no"}}
            self._send(reply(body, 200 if found else 404))

        def answered(self, body: dict[str, Any]) -> None:
            with server.lock:
                server.in_flight += 1
                server.peak = max(server.peak, server.in_flight)
                seen = Seen(len(server.seen), self.path, dict(self.headers), body, server.in_flight)
                server.seen.append(seen)
            time.sleep(server.delay_s)
            told = server.answer(seen)
            with server.lock:  # before it is sent, or the client's next request would be counted beside it
                server.in_flight -= 1
            self._send(told)

        def _send(self, answered: Reply) -> None:
            status, headers, body = answered
            self.send_whole(body, status, headers)
            if server.closes_silently or int(headers.get("Content-Length", len(body))) != len(body):
                self.close_connection = True

    with listening(Handler) as server.url:
        yield server


def in_store(folder: Path) -> tuple[str, str]:
    return "--store", str(folder / "runs.db")
