"""How much of a bare keep-alive client's rate the probe reaches, store and witnesses included; aiohttp beside httpx.

Every round asks the same server with each client in turn, so that a noisy machine is noisy for all of them.
"""

import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import aiohttp
import httpx

from temp0.core.run import Attempt
from temp0.store import Store
from temp0.workflow import planning
from temp0.workflow.planning import Wish
from temp0.workflow.probing import Where, probe

Client = Callable[[str, int, int], Awaitable[float]]


@contextmanager
def waiting_server(wait_s: float) -> Iterator[str]:
    command = [sys.executable, str(Path(__file__).with_name("waiting_server.py")), str(wait_s)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        server.stdin.close()


async def in_flight(send: Callable[[], Awaitable[object]], requests: int, at_once: int) -> float:
    """Requests a second of so many, so many at once, from workers that take the next as soon as one is answered."""
    left = iter(range(requests))

    async def work() -> None:
        for _ in left:
            await send()

    started = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(at_once)))
    return requests / (time.perf_counter() - started)


SHARE = {"httpx": 8}  # it is so much slower that it gets a smaller part of the work

BODY = {"model": "bench", "messages": [{"role": "user", "content": "Say hi."}], "max_tokens": 160, "temperature": 0}


async def bare_aiohttp(url: str, requests: int, at_once: int) -> float:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def send() -> None:
            async with session.post(f"{url}/chat/completions", json=BODY) as response:
                await response.json()

        return await in_flight(send, requests, at_once)


async def bare_httpx(url: str, requests: int, at_once: int) -> float:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(limits=limits, timeout=60, trust_env=False) as client:

        async def send() -> None:
            (await client.post(f"{url}/chat/completions", json=BODY)).json()

        return await in_flight(send, requests, at_once)


async def temp0_probe(url: str, requests: int, at_once: int) -> float:
    """Fillers counted, everything recorded in a store on disk, from the first request sent to the last answer."""
    attempts = await temp0_attempts(url, max(1, requests // 2), at_once)
    return len(attempts) / (max(one.ended_s for one in attempts) - min(one.started_s for one in attempts))


async def temp0_attempts(url: str, judged: int, at_once: int) -> tuple[Attempt, ...]:
    """So many judged ones, and the fillers that keep the pool full while a block ends."""
    prompts = planning.text_prompts(["Say hi."], Wish(n=judged))
    plan = planning.plan(prompts, planning.conditions(company=(at_once,)))
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "runs.db") as store:
        sitting = await probe(plan, Where(url=url, model="bench"), store=store)
    return sitting.run.attempts


async def rates(wait_s: float, at_once: int, requests: int, rounds: int) -> dict[str, list[float]]:
    clients: dict[str, Client] = {"aiohttp": bare_aiohttp, "temp0": temp0_probe, "httpx": bare_httpx}
    seen: dict[str, list[float]] = {name: [] for name in clients}
    with waiting_server(wait_s) as url:
        for client in clients.values():
            await client(url, at_once, at_once)
        for _ in range(rounds):
            for name, client in clients.items():
                seen[name].append(await client(url, requests // SHARE.get(name, 1), at_once))
    return seen


def many_in_flight(requests: int, at_once: int, rounds: int = 3) -> Iterator[tuple[str, str]]:
    """The same beside a server of 1 s, asked so many questions at once, and how many there really were."""
    _allow_open_files(4 * at_once)
    bare, ours, peaks, counts = [], [], [], []
    for _ in range(rounds):
        with waiting_server(1.0) as url:
            bare.append(asyncio.run(bare_aiohttp(url, requests, at_once)))
        with waiting_server(1.0) as url:
            attempts = asyncio.run(temp0_attempts(url, requests, at_once))
        ours.append(len(attempts) / (max(one.ended_s for one in attempts) - min(one.started_s for one in attempts)))
        peaks.append(max(one.in_flight for one in attempts))
        counts.append(len(attempts))
    yield (
        f"probe over bare aiohttp, 1 s, {at_once:,} in flight",
        f"{ratio(ours, bare)} ({median(bare):.0f}/s bare; {median(counts):,.0f} requests, peak {min(peaks):,})",
    )


def _allow_open_files(count: int) -> None:
    """Raise the limit on open files, which the server's process inherits."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count:
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (count if hard == resource.RLIM_INFINITY else min(count, hard), hard)
        )


def figures(rounds: int = 5) -> Iterator[tuple[str, str]]:
    """Rows of (figure, value): ratios of rates in the same round, median and range."""
    for at_once, requests in ((4, 800), (32, 4800), (64, 4800)):
        seen = asyncio.run(rates(0.02, at_once, requests, rounds))
        bare = f"{median(seen['aiohttp']):.0f}/s bare"
        yield (
            f"probe over bare aiohttp, 20 ms, {at_once} in flight",
            f"{ratio(seen['temp0'], seen['aiohttp'])} ({bare})",
        )
        yield f"httpx over aiohttp, both bare, 20 ms, {at_once} in flight", ratio(seen["httpx"], seen["aiohttp"])
    for at_once in (100, 1000):  # the growth: ten times as many at once
        yield from many_in_flight(10 * at_once, at_once)


def ratio(these: list[float], those: list[float]) -> str:
    each = sorted(this / that for this, that in zip(these, those, strict=True))
    return f"{median(each):.3f} ({each[0]:.3f} to {each[-1]:.3f})"
