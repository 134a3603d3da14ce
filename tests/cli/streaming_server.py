"""An OpenAI-style server that streams as a test tells it to: how fast, how much, what it refuses, when it dies."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Streaming:
    """How a server behaves, and what it was sent."""

    token_s: float = 0.0
    refuses: tuple[str, ...] = ()
    tells_usage: bool = True
    ends_after: int | None = None
    dies_after: int | None = None
    status: int = 200
    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_dead(self) -> bool:
        return self.dies_after is not None and len(self.bodies) > self.dies_after

    def tokens(self, body: dict[str, Any]) -> int:
        wanted: int = body["max_tokens"]
        return wanted if self.ends_after is None else min(wanted, self.ends_after)


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    behaviour: Streaming


class _Handler(BaseHTTPRequestHandler):
    server: _Listener

    def do_GET(self) -> None:
        self._send(200, {"data": [{"id": "m"}]})

    def do_POST(self) -> None:
        behaviour = self.server.behaviour
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        behaviour.bodies.append(body)
        refused = [name for name in behaviour.refuses if name in body]
        if behaviour.is_dead:
            self.close_connection = True
        elif refused or behaviour.status != 200:
            self._send(400 if refused else behaviour.status, {"error": {"message": f"no {' '.join(refused)} here"}})
        else:
            self._stream(body, behaviour)

    def _stream(self, body: dict[str, Any], behaviour: Streaming) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for _ in range(behaviour.tokens(body)):
            time.sleep(behaviour.token_s)
            self._event({"choices": [{"index": 0, "delta": {"content": " token"}, "finish_reason": None}]})
        self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]})
        if behaviour.tells_usage:
            words = len(body["messages"][0]["content"].split())
            usage = {"prompt_tokens": words + 5, "completion_tokens": behaviour.tokens(body)}
            self._event({"choices": [], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, event: dict[str, Any]) -> None:
        self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.wfile.flush()

    def _send(self, status: int, body: dict[str, Any]) -> None:
        written = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(written)))
        self.end_headers()
        self.wfile.write(written)

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


@contextmanager
def streaming(**behaviour: Any) -> Iterator[Streaming]:
    """A server on a free port for the time of the context."""
    listener = _Listener(("127.0.0.1", 0), _Handler)
    listener.behaviour = Streaming(url=f"http://127.0.0.1:{listener.server_port}/v1", **behaviour)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    try:
        yield listener.behaviour
    finally:
        listener.shutdown()
        listener.server_close()
