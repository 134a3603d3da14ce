"""Answers as each dialect writes them, whole and streamed: what one server would send of one answer in either form.

Written from the public documentation that each dialect's own module names, and not with any code of the dialects.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call: the name, and the JSON text of its arguments in the pieces it is streamed in."""

    name: str
    pieces: tuple[str, ...]

    @property
    def arguments(self) -> str:
        return joined(self.pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a server says. Pieces are cut anywhere, also between the halves of a surrogate pair."""

    pieces: tuple[str, ...]
    thoughts: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    has_logprobs: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One answer in both its forms."""

    whole: bytes
    streamed: bytes


ID, MODEL, CREATED = "answer-1", "a-model", 1764540000


def joined(pieces: Sequence[str]) -> str:
    """The text of pieces, in which the halves of a surrogate pair are one character again."""
    return "".join(pieces).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _json(value: object) -> str:
    return json.dumps(value)  # in ASCII, so that half a character can be written at all


def _events(*chunks: object, end: str = "data: [DONE]\n\n") -> bytes:
    return ("".join(f"data: {_json(chunk)}\n\n" for chunk in chunks) + end).encode()


def _named(*chunks: dict[str, Any]) -> bytes:
    return "".join(f"event: {chunk['type']}\ndata: {_json(chunk)}\n\n" for chunk in chunks).encode()


def _lines(*chunks: object) -> bytes:
    return "".join(f"{_json(chunk)}\n" for chunk in chunks).encode()


def _entries(answer: Answer) -> list[dict[str, Any]]:
    return [
        {"token": piece, "bytes": [*piece.encode("utf-8", "surrogatepass")], "logprob": -0.5, "top_logprobs": []}
        for piece in answer.pieces
    ]


def chat(answer: Answer) -> Written:
    """OpenAI's chat completions."""
    told = {"id": ID, "model": MODEL, "created": CREATED}
    finish, usage = "tool_calls" if answer.calls else "stop", {"prompt_tokens": 3, "completion_tokens": 5}
    message: dict[str, Any] = {"role": "assistant", "content": joined(answer.pieces)}
    if answer.thoughts:
        message["reasoning_content"] = joined(answer.thoughts)
    if answer.calls:
        calls = [{"name": call.name, "arguments": call.arguments} for call in answer.calls]
        message["tool_calls"] = [{"id": f"c{i}", "type": "function", "function": call} for i, call in enumerate(calls)]
    entries = _entries(answer)
    logprobs = {"content": entries} if answer.has_logprobs else None
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": logprobs}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": thought} for thought in answer.thoughts]
    deltas += [{"content": piece} for piece in answer.pieces]
    for place, call in enumerate(answer.calls):
        deltas.append({"tool_calls": [{"index": place, "id": f"c{place}", "function": {"name": call.name}}]})
        deltas += [{"tool_calls": [{"index": place, "function": {"arguments": piece}}]} for piece in call.pieces]
    chunks = [{**told, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    if answer.has_logprobs:
        first = 1 + len(answer.thoughts)
        for chunk, entry in zip(chunks[first:], entries, strict=False):
            chunk["choices"][0]["logprobs"] = {"content": [entry]}
    chunks.append({**told, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    chunks.append({**told, "choices": [], "usage": usage})
    return Written(whole=_json({**told, "choices": [choice], "usage": usage}).encode(), streamed=_events(*chunks))


def legacy(answer: Answer) -> Written:
    """OpenAI's completions."""
    told = {"id": ID, "model": MODEL, "created": CREATED, "object": "text_completion"}
    usage = {"prompt_tokens": 3, "completion_tokens": 5}

    def choice(pieces: Sequence[str], finish: str | None) -> dict[str, Any]:
        lists = {"tokens": [*pieces], "token_logprobs": [-0.5] * len(pieces), "top_logprobs": [{}] * len(pieces)}
        logprobs = lists if answer.has_logprobs else None
        return {"index": 0, "text": joined(pieces), "finish_reason": finish, "logprobs": logprobs}

    chunks = [{**told, "choices": [choice([piece], None)]} for piece in answer.pieces]
    chunks += [{**told, "choices": [choice([], "stop")]}, {**told, "choices": [], "usage": usage}]
    whole = {**told, "choices": [choice(answer.pieces, "stop")], "usage": usage}
    return Written(whole=_json(whole).encode(), streamed=_events(*chunks))


def responses(answer: Answer) -> Written:
    """OpenAI's responses."""
    text = {"type": "output_text", "text": joined(answer.pieces), "logprobs": _entries(answer)}
    message = {
        "type": "message",
        "role": "assistant",
        "content": [text if answer.has_logprobs else text | {"logprobs": []}],
    }
    thought = {
        "type": "reasoning",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": joined(answer.thoughts)}],
    }
    calls = [{"type": "function_call", "name": call.name, "arguments": call.arguments} for call in answer.calls]
    told = {"id": ID, "model": MODEL, "created_at": CREATED, "error": None}
    output = [*([thought] if answer.thoughts else []), message, *calls]
    whole = {**told, "status": "completed", "output": output, "usage": {"input_tokens": 3, "output_tokens": 5}}
    deltas = [
        *({"type": "response.reasoning_text.delta", "delta": piece} for piece in answer.thoughts),
        *({"type": "response.output_text.delta", "delta": piece} for piece in answer.pieces),
        *({"type": "response.function_call_arguments.delta", "delta": x} for call in answer.calls for x in call.pieces),
    ]
    begun = {"type": "response.created", "response": {**told, "status": "in_progress", "output": []}}
    done = [{"type": "response.output_item.done", "item": item} for item in output]
    return Written(
        whole=_json(whole).encode(),
        streamed=_named(begun, *deltas, *done, {"type": "response.completed", "response": whole}),
    )


def anthropic(answer: Answer) -> Written:
    """Anthropic's messages."""
    thought = {"type": "thinking", "thinking": joined(answer.thoughts), "signature": "changes"}
    content: list[dict[str, Any]] = [thought] if answer.thoughts else []
    content.append({"type": "text", "text": joined(answer.pieces)})
    content += [
        {"type": "tool_use", "id": "t", "name": call.name, "input": json.loads(call.arguments)} for call in answer.calls
    ]
    finish = "tool_use" if answer.calls else "end_turn"
    told = {"id": ID, "type": "message", "role": "assistant", "model": MODEL}
    counts = {"input_tokens": 3, "output_tokens": 5}
    whole = {**told, "content": content, "stop_reason": finish, "usage": counts}
    grown = [
        *([("thinking_delta", "thinking", answer.thoughts, {"thinking": ""})] if answer.thoughts else []),
        ("text_delta", "text", answer.pieces, {"text": ""}),
        *(("input_json_delta", "partial_json", call.pieces, {"input": {}}) for call in answer.calls),
    ]
    start = {**told, "content": [], "stop_reason": None, "usage": {"input_tokens": 3, "output_tokens": 1}}
    chunks: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for index, (block, (kind, field, pieces, empty)) in enumerate(zip(content, grown, strict=True)):
        chunks.append({"type": "content_block_start", "index": index, "content_block": {**block, **empty}})
        chunks += [
            {"type": "content_block_delta", "index": index, "delta": {"type": kind, field: piece}} for piece in pieces
        ]
        chunks.append({"type": "content_block_stop", "index": index})
    chunks.append({"type": "message_delta", "delta": {"stop_reason": finish}, "usage": {"output_tokens": 5}})
    return Written(whole=_json(whole).encode(), streamed=_named(*chunks, {"type": "message_stop"}))


def _ollama(answer: Answer, *, generates: bool) -> Written:
    told = {"model": MODEL, "created_at": "2025-11-30T22:40:00Z"}
    counts = {"done": True, "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 5}

    def said(text: str, thought: str, calls: Sequence[Call] = ()) -> dict[str, Any]:
        thinking = {"thinking": thought} if thought else {}
        if generates:
            return {"response": text, **thinking}
        listed = [{"function": {"name": call.name, "arguments": json.loads(call.arguments)}} for call in calls]
        return {
            "message": {"role": "assistant", "content": text, **thinking} | ({"tool_calls": listed} if listed else {})
        }

    entries = _entries(answer) if answer.has_logprobs else []
    whole = {**told, **said(joined(answer.pieces), joined(answer.thoughts), answer.calls), **counts}
    lines = [said("", thought) for thought in answer.thoughts]
    lines += [
        said(piece, "") | ({"logprobs": [entries[place]]} if entries else {})
        for place, piece in enumerate(answer.pieces)
    ]
    lines += [said("", "", [call]) for call in answer.calls]
    ends = {**told, **said("", ""), **counts}
    return Written(
        whole=_json(whole | ({"logprobs": entries} if entries else {})).encode(),
        streamed=_lines(*({**told, **line, "done": False} for line in lines), ends),
    )


def ollama(answer: Answer) -> Written:
    """Ollama's `/api/chat`."""
    return _ollama(answer, generates=False)


def ollama_generate(answer: Answer) -> Written:
    """Ollama's `/api/generate`."""
    return _ollama(answer, generates=True)


def llamacpp(answer: Answer) -> Written:
    """llama.cpp's `/completion`."""
    ends = {"stop": True, "stop_type": "eos", "model": MODEL, "tokens_evaluated": 3, "tokens_predicted": 5}
    entries = _entries(answer) if answer.has_logprobs else []
    chunks: list[dict[str, Any]] = [{"content": piece, "stop": False} for piece in answer.pieces]
    for chunk, entry in zip(chunks, entries, strict=False):
        chunk["completion_probabilities"] = [entry]
    whole = {"content": joined(answer.pieces), **ends} | ({"completion_probabilities": entries} if entries else {})
    return Written(whole=_json(whole).encode(), streamed=_events(*chunks, {"content": "", **ends}, end=""))


def _sglang(answer: Answer, *, only_new: bool) -> Written:
    logprobs = [[-0.5, place, piece] for place, piece in enumerate(answer.pieces)]

    def chunk(first: int, count: int, finish: str | None) -> dict[str, Any]:
        told = {"id": ID, "prompt_tokens": 3, "completion_tokens": count}
        lists = {"output_token_logprobs": logprobs[first:count]} if answer.has_logprobs else {}
        ended = {"finish_reason": {"type": finish} if finish else None}
        ids = [*range(first, count)]
        text = joined(answer.pieces[first:count])
        if not (only_new or finish) and "\ud800" <= text[-1:] <= "\udbff":
            text = text[:-1]  # the server holds back half a character
        return {"text": text, "output_ids": ids, "meta_info": {**told, **lists, **ended}}

    count = len(answer.pieces)
    chunks = [chunk(each if only_new else 0, each + 1, "stop" if each + 1 == count else None) for each in range(count)]
    return Written(whole=_json(chunk(0, count, "stop")).encode(), streamed=_events(*chunks))


def sglang_generate(answer: Answer) -> Written:
    """SGLang's `/generate`, where a chunk tells all so far."""
    return _sglang(answer, only_new=False)


def sglang_generate_new(answer: Answer) -> Written:
    """The same where a chunk tells only what is new."""
    return _sglang(answer, only_new=True)


WRITERS: dict[str, tuple[Callable[[Answer], Written], ...]] = {
    **dict.fromkeys(("openai-chat", "mistral", "vllm", "sglang", "azure", "openrouter"), (chat,)),
    "openai-completions": (legacy,),
    "openai-responses": (responses,),
    "anthropic": (anthropic,),
    "ollama": (ollama,),
    "ollama-generate": (ollama_generate,),
    "llamacpp": (llamacpp,),
    "sglang-generate": (sglang_generate, sglang_generate_new),
}
"""How each dialect and form is written; some have two ways of streaming."""

SAYS_THOUGHTS = frozenset({*WRITERS} - {"openai-completions", "llamacpp", "sglang-generate"})
SAYS_CALLS = frozenset(SAYS_THOUGHTS - {"ollama-generate"})
