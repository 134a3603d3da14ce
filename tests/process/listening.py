"""Servers of the tests' own: a quiet handler that reads and sends JSON, and a free port to listen on for a while."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class JsonHandler(BaseHTTPRequestHandler):
    """What a test's own handler derives from: it says what it lists and how it answers."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.listed()

    def do_POST(self) -> None:
        self.answered(json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)) or b"{}"))

    def listed(self) -> None:
        """Answer a GET, as one for the models is."""
        raise NotImplementedError

    def answered(self, body: dict[str, Any]) -> None:
        """Answer a POST."""
        raise NotImplementedError

    def send_json(self, body: object, status: int = 200) -> None:
        self.send_whole(json.dumps(body).encode(), status, {"Content-Type": "application/json"})

    def send_whole(self, body: bytes, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The base URL of a server on a free port, which ends with the context."""
    listener = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    listener.daemon_threads = True
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.server_port}/v1"
    finally:
        listener.shutdown()
        listener.server_close()
