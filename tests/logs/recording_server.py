"""An OpenAI-style server that keeps what it answered: the truth that an imported log is held against."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from os.path import commonprefix
from typing import Any

from listening import JsonHandler, listening

Body = Mapping[str, object]


class RefusedError(Exception):
    """The server has no answer: HTTP 400, which no tool asks again."""


class Record:
    """Which texts were answered to which words, how often, and how often nothing was."""

    def __init__(self) -> None:
        self.texts: dict[str, Counter[str]] = defaultdict(Counter)
        self.refused: Counter[str] = Counter()

    def distinct(self, words: str) -> dict[str, int]:
        """Each text that was answered, and how often."""
        return dict(self.texts[words])

    def fork(self, words: str) -> int | None:
        """The character at which the answers part."""
        texts = list(self.texts[words])
        return len(commonprefix(texts)) if len(texts) > 1 else None


def scripted(script: Mapping[str, list[str | None]]) -> Callable[[str, Body], Body]:
    """Answers in turn, by the words that are asked; `None` is a refusal."""
    turns: dict[str, Iterator[int]] = defaultdict(count)
    numbers = count()

    def answer(path: str, body: Body) -> Body:
        lines = script[asked(body)]
        text = lines[next(turns[asked(body)]) % len(lines)]
        if text is None:
            raise RefusedError
        told = {"message": {"role": "assistant", "content": text}} if "chat" in path else {"text": text}
        choice = {"index": 0, "finish_reason": "stop", "logprobs": None, **told}
        usage = {"prompt_tokens": 3, "completion_tokens": len(text.split()), "total_tokens": 3 + len(text.split())}
        kind = "chat.completion" if "chat" in path else "text_completion"
        name = f"answer-{next(numbers)}"
        return {"id": name, "object": kind, "created": 1, "model": "scripted", "choices": [choice], "usage": usage}

    return answer


def forwarded(url: str) -> Callable[[str, Body], Body]:
    """Answers of another server, whose base URL is given, by the one model that it has."""
    with urllib.request.urlopen(f"{url}/models", timeout=120) as listed:
        model = json.load(listed)["data"][0]["id"]

    def answer(path: str, body: Body) -> Body:
        request = urllib.request.Request(
            url.removesuffix("/v1") + path,
            json.dumps({**body, "model": model}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=120) as told:
            return dict(json.load(told))

    return answer


def asked(body: Body) -> str:
    """The words that a request asks in."""
    messages = body.get("messages")
    prompt = messages[-1]["content"] if isinstance(messages, list) else body["prompt"]
    first = prompt[0] if isinstance(prompt, list) else prompt
    return str(first["text"] if isinstance(first, dict) else first)


@contextmanager
def recording(answer: Callable[[str, Body], Body]) -> Iterator[tuple[str, Record]]:
    """The base URL of a server that answers so, and what it answered."""
    record, lock = Record(), threading.Lock()

    class Handler(JsonHandler):
        def listed(self) -> None:
            self.send_json({"object": "list", "data": [{"id": "scripted", "object": "model"}]})

        def answered(self, body: dict[str, Any]) -> None:
            try:
                told = answer(self.path, body)
            except RefusedError:
                with lock:
                    record.refused[asked(body)] += 1
                self.send_json({"error": {"message": "no answer to that", "type": "invalid_request_error"}}, 400)
                return
            choice = told["choices"][0]  # type: ignore[index]
            text = choice["message"]["content"] if "message" in choice else choice["text"]
            with lock:
                record.texts[asked(body)][text] += 1
            self.send_json(told)

    with listening(Handler) as url:
        yield url, record
