"""Plays scenarios over real HTTP, in a process of its own: `python scenario_server.py company.EightSlots --port 0`.

Prints the URL of each scenario on a line of its own. Without a name it opens the scenarios named on standard input,
one a line, each on a port of its own and with a memory of its own: `company.EightSlots {"delay_s": 0.1}`. It ends
with its standard input. `/_seen` lists what a scenario was asked.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from aiohttp import web
from chat_shape import chat, chat_events, messages
from scenario import Asked, Fault, Scenario, Told

GAUGES = {
    "vllm": 'vllm:num_requests_running{engine="0",model_name="m"}',
    "sglang": 'sglang:num_running_reqs{model_name="m"}',
    "llamacpp": "llamacpp:requests_processing",
}


class Visit:
    """One request in flight: how much company it has had while it was worked on."""

    def __init__(self) -> None:
        self.together = 0


class Theatre:
    """One scenario on one port: keeps count of what is in flight and remembers what was asked."""

    def __init__(self, play: Scenario) -> None:
        self.play = play
        self.opened = time.monotonic()
        self.places = asyncio.Semaphore(play.at_once)
        self.in_flight = 0
        self.peak = 0
        self.working: list[Visit] = []
        self.asked: Counter[str] = Counter()
        self.previous: str | None = None
        self.prefixes: set[tuple[str, str]] = set()
        self.resets = 0
        self.seen: list[dict[str, Any]] = []

    def app(self) -> web.Application:
        """The routes that a server of this kind has, and no others."""
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/chat/completions", self.complete)
        app.router.add_post("/v1/messages", self.complete)
        app.router.add_get("/v1/models", self.models)
        app.router.add_get("/_seen", self.report)
        if self.play.metrics:
            app.router.add_get("/metrics", self.metrics)
        if self.play.means == "vllm":
            app.router.add_get("/version", _json({"version": "0.11.0"}))
            app.router.add_post("/reset_prefix_cache", self.reset)
        if self.play.means == "sglang":
            app.router.add_get("/get_server_info", _json({"version": "0.5.3"}))
            app.router.add_get("/server_info", _json({"version": "0.5.3"}))
            app.router.add_route("*", "/flush_cache", self.reset)
        if self.play.means == "llamacpp":
            app.router.add_get("/props", _json({"total_slots": 8, "build_info": "b6000-0123456"}))
            app.on_response_prepare.append(_as_llama)
        return app

    async def models(self, _request: web.Request) -> web.Response:
        """List the one model, owned by whom servers of this kind say."""
        owner = self.play.means or "nobody"
        return web.json_response({"object": "list", "data": [{"id": "m", "object": "model", "owned_by": owner}]})

    async def metrics(self, _request: web.Request) -> web.Response:
        """Show the gauge of requests being worked on, strangers included."""
        running = len(self.working) + self.play.strangers
        return web.Response(text=f"# TYPE running gauge\n{GAUGES[self.play.metrics or '']} {running}.0\n")

    async def report(self, _request: web.Request) -> web.Response:
        """Tell a test what was asked."""
        return web.json_response({"peak": self.peak, "resets": self.resets, "requests": self.seen})

    async def reset(self, _request: web.Request) -> web.Response:
        """Forget every prefix, and say so as such servers do."""
        self.resets += 1
        self.prefixes.clear()
        return web.Response(text="Cache flushed." if self.play.means == "sglang" else '{"success": true}')

    async def complete(self, request: web.Request) -> web.StreamResponse:
        """Take one request in, work on it when its turn comes, and answer."""
        body = await request.json()
        order, before, previous = len(self.seen), self.asked[_prompt(body)], self.previous
        self.seen.append({"body": body, "headers": dict(request.headers)})
        self.asked[_prompt(body)] += 1
        self.previous = _prompt(body)
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        known: dict[str, Any] = {"order": order, "before": before, "previous": previous, "in_flight": self.in_flight}
        try:
            asked = await self._work(body, request.headers, known)
            told = self.play.answer(asked)
        finally:
            self.in_flight -= 1  # before the answer leaves, or the next request would be counted beside it
        return await self._send(request, asked, Told(text=told) if isinstance(told, str) else told)

    async def _work(self, body: dict[str, Any], headers: Mapping[str, str], known: dict[str, Any]) -> Asked:
        """Hold a place for as long as the play wants, and see who else is there."""
        visit = Visit()
        async with self.places:
            asked = self._asked(body, headers, known, visit)
            self.working.append(visit)
            for one in self.working:
                one.together = max(one.together, len(self.working))
            try:
                await asyncio.sleep(self.play.stay_s(asked))
            finally:
                self.working.remove(visit)
        key = _prefix(body)
        if self.play.keeps_prefixes and key is not None:
            self.prefixes.add(key)
        return self._asked(body, headers, known, visit, cached=asked.cached)

    def _asked(
        self, body: dict[str, Any], headers: Mapping[str, str], known: dict[str, Any], visit: Visit,
        cached: bool | None = None,
    ) -> Asked:  # fmt: skip
        return Asked(
            body=body,
            headers=dict(headers),
            prompt=_prompt(body),
            together=visit.together,
            cached=_prefix(body) in self.prefixes if cached is None else cached,
            since_s=time.monotonic() - self.opened,
            **known,
        )

    async def _send(self, request: web.Request, asked: Asked, told: Told | Fault) -> web.StreamResponse:
        if isinstance(told, Fault):
            return await self._fail(request, told)
        headers = {"Content-Type": "application/json", **told.headers}
        if request.path.endswith("/messages"):
            return web.Response(body=messages(told, asked), headers=headers)
        if not asked.body.get("stream"):
            return web.Response(body=chat(told, asked), headers=headers)
        response = web.StreamResponse(headers={**headers, "Content-Type": "text/event-stream"})
        await response.prepare(request)
        data = chat_events(told, asked)
        for piece in told.cut(data) if told.cut else [data]:
            await response.write(piece)
            await asyncio.sleep(0)  # a packet of its own, as far as we can tell
        if told.breaks and request.transport is not None:
            request.transport.close()
        return response

    async def _fail(self, request: web.Request, fault: Fault) -> web.StreamResponse:
        if fault.hangs:
            await asyncio.sleep(3600)
        if fault.status == 0 and request.transport is not None:
            request.transport.close()
        return web.json_response({"error": {"message": fault.message, "type": "scenario"}}, status=fault.status or 500)


def _prompt(body: Mapping[str, Any]) -> str:
    return str(body["messages"][-1]["content"])


def _prefix(body: Mapping[str, Any]) -> tuple[str, str] | None:
    """Under what a prompt is found again: vLLM's salt is part of it, and llama.cpp can be told to find nothing."""
    return None if body.get("cache_prompt") is False else (_prompt(body), str(body.get("cache_salt")))


def _json(body: Mapping[str, Any]) -> Any:
    async def handler(_request: web.Request) -> web.Response:
        return web.json_response(body)

    return handler


async def _as_llama(_request: web.Request, response: web.StreamResponse) -> None:
    response.headers["Server"] = "llama.cpp"


async def opened(name: str, options: Mapping[str, Any], port: int) -> str:
    """Open a scenario on a port and give its URL."""
    module, _, play = name.rpartition(".")
    theatre = Theatre(getattr(importlib.import_module(f"plays.{module}"), play)(**options))
    runner = web.AppRunner(theatre.app(), access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port, backlog=1024)
    await site.start()
    return f"http://127.0.0.1:{runner.addresses[0][1]}/v1"


async def served(name: str | None, port: int) -> None:
    """Serve one scenario for ever, or those that standard input names until it ends."""
    if name is not None:
        print(await opened(name, {}, port), flush=True)
        await asyncio.Event().wait()
    loop, lines = asyncio.get_running_loop(), asyncio.Queue[str]()

    def read() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(lines.put_nowait, "")

    threading.Thread(target=read, daemon=True).start()
    while line := await lines.get():
        wanted, _, options = line.strip().partition(" ")
        print(await opened(wanted, json.loads(options or "{}"), 0), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="?", help="module.Class of a play; without it, names come on standard input")
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    asyncio.run(served(arguments.name, arguments.port))
