"""How fast a long stream of small events is read, and in how much memory: openai-chat, from bytes to the answer.

Each reading runs in a process of its own, so that its peak is its own: `python bench/stream_rate.py MB ["over HTTP"]`.
Once in memory, in pieces as a socket gives them, and once over HTTP from a server that sends each event as a chunk of
its own. A rate is megabytes (10^6 bytes) for each second of the reader's processor time, on one core.
"""

import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from temp0.core.run import Completion
from temp0.probe.connection import Connection, Reply
from temp0.probe.dialect import DIALECTS
from temp0.probe.intake import Intake

PIECE_BYTES = 2**16
CHAT = DIALECTS["openai-chat"]


def events() -> tuple[bytes, ...]:
    """A thousand events of about 265 bytes, as a hosted API sends them."""
    told = {"id": "chatcmpl-Bx0aWb1C2d3E4f5G6h7", "object": "chat.completion.chunk", "created": 1_760_000_000}
    model = {"model": "gpt-4o-mini-2024-07-18", "system_fingerprint": "fp_0ba0d124f1"}
    choices = ({"index": 0, "delta": {"content": f" word{place}"}, "logprobs": None, "finish_reason": None}
               for place in range(1000))  # fmt: skip
    return tuple(b"data: %s\n\n" % json.dumps({**told, **model, "choices": [each]}).encode() for each in choices)


LAST = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


def in_memory(size_mb: float) -> float:
    """Megabytes for each second of processor time."""
    body = b"".join(events())
    intake = Intake(CHAT)
    intake.begin(200, "text/event-stream")
    started = time.process_time()
    for _ in range(round(size_mb * 1e6 / len(body))):
        for at in range(0, len(body), PIECE_BYTES):
            assert intake.take(body[at : at + PIECE_BYTES], 0.0)
    intake.take(LAST, 0.0)
    spent_s = time.process_time() - started
    assert isinstance(intake.streamed(()), Completion)
    return intake.size_bytes / 1e6 / spent_s


async def over_http(size_mb: float) -> float:
    command = [sys.executable, str(Path(__file__).with_name("chunk_server.py")), str(size_mb)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        connection, intake = Connection(url), Intake(CHAT)
        started = time.process_time()
        reply = await connection.exchange("POST", url, body=b"{}", intake=intake)
        spent_s = time.process_time() - started
        await connection.close()
        server.stdin.close()
    assert isinstance(reply, Reply)
    assert isinstance(intake.streamed(()), Completion)
    return intake.size_bytes / 1e6 / spent_s


def figures(rounds: int = 3) -> Iterator[tuple[str, str]]:
    """Rows of (figure, value): MB/s and peak memory at 10 MB and 100 MB."""
    for way in ("in memory", "over HTTP"):
        for size_mb in (10, 100):
            seen = [_apart(size_mb, way) for _ in range(rounds)]
            rates, peaks = sorted(rate for rate, _ in seen), [peak for _, peak in seen]
            yield (
                f"stream of {size_mb} MB, {way}, MB/s",
                f"{median(rates):.0f} ({rates[0]:.0f} to {rates[-1]:.0f}), peak {median(peaks):.0f} MB",
            )


def _apart(size_mb: int, way: str) -> tuple[float, float]:
    told = subprocess.run(
        [sys.executable, __file__, str(size_mb), way], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.split()
    return float(told[0]), float(told[1])


if __name__ == "__main__":
    size = float(sys.argv[1])
    rate = asyncio.run(over_http(size)) if sys.argv[2:] == ["over HTTP"] else in_memory(size)
    print(rate, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6)
