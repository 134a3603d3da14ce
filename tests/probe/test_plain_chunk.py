"""A chunk that is read as one that holds only text is what it is when it is read in full."""

import json
from itertools import product
from typing import Any

import pytest

from temp0.core.run import Completion, Failure
from temp0.probe.dialect import DIALECTS
from temp0.probe.dialect.plain_chunk import plain_chat, plain_legacy
from temp0.probe.event_stream import Event

NOTHING = {"choices": []}  # after which the next chunk is read in full
HEAD = {"id": "c-1", "object": "chunk", "created": 17, "model": "m"}
PLAIN = {
    "openai-chat": {**HEAD, "choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": None}]},
    "openai-completions": {**HEAD, "choices": [{"index": 0, "text": "a", "logprobs": None}]},
}
READER = {"openai-chat": plain_chat, "openai-completions": plain_legacy}
FIELDS = [
    *("id", "object", "type", "created", "model", "system_fingerprint", "error", "usage", "choices", "timings"),
    *("index", "delta", "message", "text", "finish_reason", "logprobs"),
    *("content", "role", "reasoning", "reasoning_content", "refusal", "tool_calls", "function_call"),
]
VALUES: list[Any] = [
    *(None, "", "a", "error", "stop", "\ud83c", 0, 0.0, 1, 7, True, False, [], ["a"], {}),
    {"content": "b"},
    {"reasoning": "b"},
    {"content": [{"token": "aaaa", "logprob": -0.5}]},
    {"tokens": ["aaaa"], "token_logprobs": [-0.5]},
    {"message": "no"},
    {"prompt_tokens": 7},
    {"name": "f", "arguments": "{}"},
    [{"index": 0, "function": {"name": "f", "arguments": "{}"}}],
    [{"index": 0, "delta": {"content": "b"}, "text": "b"}] * 2,
]


def read(name: str, chunks: list[Any], *, in_full: bool) -> Completion | Failure:
    spaced = [each for chunk in chunks for each in ((chunk, NOTHING) if in_full else (chunk,))]
    events = [Event(data=json.dumps(chunk).encode()) for chunk in spaced]
    return DIALECTS[name].streamed([*events, Event(data=b"[DONE]")])


def with_field(name: str, place: str, field: str, value: object) -> dict[str, Any]:
    """A plain chunk with one field more, or with another value of one that it has."""
    chunk: dict[str, Any] = json.loads(json.dumps(PLAIN[name]))
    where = {"chunk": chunk, "choice": chunk["choices"][0], "delta": chunk["choices"][0].get("delta", chunk)}[place]
    where[field] = value
    return chunk


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("place", ["chunk", "choice", "delta"])
@pytest.mark.parametrize("name", PLAIN)
def test_whatever_else_a_chunk_holds_it_is_read_as_in_full(name: str, place: str, field: str) -> None:
    plain, bare = PLAIN[name], {"choices": PLAIN[name]["choices"]}
    for value, before in product(VALUES, (plain, bare)):
        chunks = [before, before, with_field(name, place, field, value), plain]
        assert read(name, chunks, in_full=False) == read(name, chunks, in_full=True), value


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_chunk_is_its_text(name: str) -> None:
    reader = READER[name]
    assert reader(json.dumps(PLAIN[name]).encode()) == "a"
    assert reader(json.dumps({**PLAIN[name], "usage": None, "timings": [1]}).encode()) == "a"
    assert [reader(data) for data in (b"", b"{", b"[]", b"7", b"{}", b'{"choices":[]}', b"[" * 100_000)] == [None] * 7
