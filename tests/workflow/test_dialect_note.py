"""Before anything is asked it is said which dialect is spoken, and what says so."""

import asyncio
import io
import json
from pathlib import Path

import pytest

from temp0.errors import UsageError
from temp0.store import Store
from temp0.workflow import planning
from temp0.workflow.planning import Wish
from temp0.workflow.probing import Where, probe

PLAN = planning.plan(planning.text_prompts(["x"], Wish(n=1)), planning.conditions(company=(1,)))
MODELS = {"data": [{"id": "m", "owned_by": "vllm"}]}
ANSWER = {"choices": [{"index": 0, "message": {"content": "a"}, "finish_reason": "stop"}]}


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = head.partition(b"content-length: ")[2].split(b"\r\n")[0]
    await reader.readexactly(int(length or 0))
    body = json.dumps(MODELS if head.startswith(b"get /v1/models") else ANSWER)
    kind = "application/json\r\nConnection: close"
    writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
    await writer.drain()
    writer.close()


def notes(path: str, api: str | None = None) -> tuple[str, ...]:
    async def go() -> tuple[str, ...]:
        said: list[str] = []
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{path}"
            await probe(PLAN, Where(url=url, model="m", api=api), on_start=lambda start: said.extend(start.notes))
        return tuple(said)

    return asyncio.run(go())


@pytest.mark.parametrize(
    ("path", "api", "note"),
    [
        ("/v1", None, "dialect vllm: its models are owned by 'vllm'"),
        ("/v1/chat/completions", None, "dialect openai-chat: its path ends in /chat/completions"),
        ("/v1", "openai-chat", "dialect openai-chat: as asked for"),
    ],
)
def test_the_first_note_says_which_dialect_is_spoken_and_why(path: str, api: str | None, note: str) -> None:
    assert notes(path, api)[0] == note


def test_a_prompt_that_the_dialect_cannot_say_is_refused_before_anything_is_stored(tmp_path: Path) -> None:
    turns = '{"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]}'
    prompts = planning.file_prompts(io.StringIO(turns), "a file", Wish(n=1))
    plan = planning.plan(prompts, planning.conditions(company=(1,)))
    with Store.open(tmp_path / "runs.db") as store:
        where = Where(url="http://127.0.0.1:9/v1", model="m", api="openai-completions")
        with pytest.raises(UsageError, match="sends one text"):
            asyncio.run(probe(plan, where, store=store))
        assert store.runs() == ()


def test_nothing_is_said_of_an_endpoint_that_is_not_asked_over_http() -> None:
    said: list[str] = []
    asyncio.run(probe(PLAN, Where(url="fake:"), on_start=lambda start: said.extend(start.notes)))
    assert said == []
