"""A server that streams one long answer, each event a chunk of its own; prints its port, ends when its input does.

Run as `python bench/chunk_server.py MB`.
"""

import asyncio
import sys

from stream_rate import LAST, events

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunked(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


async def serve(size_mb: float) -> None:
    chunks = b"".join(map(chunked, events()))
    turns = round(size_mb * 1e6 / sum(map(len, events())))

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD)
        for _ in range(turns):
            writer.write(chunks)
            await writer.drain()
        writer.write(chunked(LAST) + b"0\r\n\r\n")
        await writer.drain()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
