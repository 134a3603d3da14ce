"""Asks a server the same few prompts again and again in random company, and counts the different answers.

As a script: `python tests/invariance/over_http.py --n 200 http://127.0.0.1:8020/v1`. It uses nothing but HTTP, so it
judges any OpenAI-style server. The seed decides what is sent in which order and after which pauses.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp

PROMPTS = {
    "C": "Give me one 12-word proverb about caching.",
    "D": "Write a haiku about a stale cache line.",
    "E": "Explain in one paragraph of about 60 words why temperature=0 is not always deterministic.",
}
FILLERS = (
    "Hi!",
    "List three prime numbers between 100 and 200.",
    "What is 17*23+5*11? Show the steps and give the answer.",
    "Summarise: " + "the cache line was stale, and nobody had told the processor. " * 20,
)
MEAN_PAUSE_S = 0.03


@dataclass(frozen=True, slots=True)
class Answer:
    """A completion's text, and of each token the id or text, its logprob and the top ones, as the JSON has them."""

    text: str
    logprobs: tuple[Any, ...]


@dataclass(slots=True)
class Tally:
    """The answers to each prompt, and how many requests were in flight when each request was sent."""

    answers: dict[str, list[Answer]] = field(default_factory=dict)
    in_flight: Counter[int] = field(default_factory=Counter)
    left: int = 0

    def distinct_texts(self, prompt: str) -> int:
        return len({answer.text for answer in self.answers[prompt]})

    def distinct_logprobs(self, prompt: str) -> int:
        return len({answer.logprobs for answer in self.answers[prompt]})


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """What is sent beside the prompts, and how many may be in flight; the number is drawn anew for every request."""

    n: int
    max_tokens: int
    most_in_flight: int = 16
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Chat:
    """A model on a server."""

    client: aiohttp.ClientSession
    url: str
    model: str

    async def asked(self, prompt: str, *, max_tokens: int) -> Answer:
        """One whole completion at temperature 0, with logprobs."""
        async with self._post(prompt, max_tokens=max_tokens, logprobs=True, top_logprobs=5) as reply:
            choice = (await reply.json())["choices"][0]
        entries = choice["logprobs"]["content"]
        return Answer(choice["message"]["content"], tuple(_exact(entry) for entry in entries))

    async def left(self, prompt: str) -> None:
        """Begin to read a long stream, and hang up after its first lines."""
        async with self._post(prompt, max_tokens=400, stream=True) as reply:
            for _ in range(4):
                await reply.content.readline()
            reply.close()

    def _post(self, prompt: str, **fields: Any) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        messages = [{"role": "user", "content": prompt}]
        body = {"model": self.model, "messages": messages, "temperature": 0, **fields}
        return self.client.post(f"{self.url}/chat/completions", json=body, raise_for_status=True)


@asynccontextmanager
async def chat(url: str) -> AsyncIterator[Chat]:
    """The first model that a server lists."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=600)) as client:
        async with client.get(f"{url}/models", raise_for_status=True) as reply:
            model = (await reply.json())["data"][0]["id"]
        yield Chat(client, url, model)


async def tally(url: str, company: Company) -> Tally:
    """Ask each prompt `n` times among as many fillers, some of which leave in the middle of a stream."""
    draw = random.Random(company.seed)
    seen = Tally({prompt: [] for prompt in PROMPTS})
    errands = [*PROMPTS, "filler", "filler", "leaver"] * company.n
    draw.shuffle(errands)
    flying: set[asyncio.Task[None]] = set()
    async with chat(url) as server, asyncio.TaskGroup() as group:
        for errand in errands:
            while len(flying) >= draw.randint(1, company.most_in_flight):
                _, flying = await asyncio.wait(flying, return_when=asyncio.FIRST_COMPLETED)
            filler = draw.choice(FILLERS)
            flying.add(group.create_task(_run(server, errand, filler, company.max_tokens, seen)))
            seen.in_flight[len(flying)] += 1
            await asyncio.sleep(draw.expovariate(1 / MEAN_PAUSE_S))
    return seen


async def _run(server: Chat, errand: str, filler: str, max_tokens: int, seen: Tally) -> None:
    if errand == "filler":
        await server.asked(filler, max_tokens=max_tokens)
    elif errand == "leaver":
        await server.left(filler)
        seen.left += 1
    else:
        seen.answers[errand].append(await server.asked(PROMPTS[errand], max_tokens=max_tokens))


def _exact(entry: dict[str, Any]) -> tuple[Any, ...]:
    """An entry's numbers; JSON gives the shortest text of a number, so equal texts are equal bits."""
    return entry["token"], entry["logprob"], tuple((top["token"], top["logprob"]) for top in entry["top_logprobs"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what was seen; 0 if every prompt has one text and one set of logprobs, else 1."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("url", help="a server's address, with /v1")
    options.add_argument("--n", type=int, default=200, help="completions of each prompt")
    options.add_argument("--max-tokens", type=int, default=160)
    options.add_argument("--most-in-flight", type=int, default=16)
    options.add_argument("--seed", type=int, default=0)
    chosen = vars(options.parse_args(arguments))
    url = chosen.pop("url").rstrip("/")
    seen = asyncio.run(tally(url, Company(**chosen)))
    print(f"requests in flight: 1 to {max(seen.in_flight)}; {seen.left} clients left in the middle")
    for prompt, answers in seen.answers.items():
        texts, logprobs = seen.distinct_texts(prompt), seen.distinct_logprobs(prompt)
        print(f"{prompt}: {len(answers)} completions, distinct texts {texts}, distinct sets of logprobs {logprobs}")
    return int(any(max(seen.distinct_texts(prompt), seen.distinct_logprobs(prompt)) > 1 for prompt in PROMPTS))


if __name__ == "__main__":
    sys.exit(main())
