"""An OpenAI-style server that streams as a test tells it to: how fast, how much, what it refuses, when it dies."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from listening import JsonHandler, listening


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


class _Handler(JsonHandler):
    protocol_version = "HTTP/1.0"  # a stream ends as its connection does
    behaviour: Streaming

    def listed(self) -> None:
        self.send_json({"data": [{"id": "m"}]})

    def answered(self, body: dict[str, Any]) -> None:
        behaviour = self.behaviour
        behaviour.bodies.append(body)
        refused = [name for name in behaviour.refuses if name in body]
        if behaviour.is_dead:
            self.close_connection = True
        elif refused or behaviour.status != 200:
            self.send_json({"error": {"message": f"no {' '.join(refused)} here"}}, 400 if refused else behaviour.status)
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


@contextmanager
def streaming(**behaviour: Any) -> Iterator[Streaming]:
    """A server on a free port for the time of the context."""
    told = Streaming(**behaviour)
    with listening(type("Handler", (_Handler,), {"behaviour": told})) as told.url:
        yield told
