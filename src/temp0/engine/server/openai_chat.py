"""POST /v1/chat/completions, in the OpenAI dialect.

https://platform.openai.com/docs/api-reference/chat. Beyond it: `ignore_eos`, `cache_prompt` and the token `id` in
logprobs, as llama.cpp and vLLM have them. An end token has its place in the logprobs too, with no bytes, so
that the margin at which an answer ended can be seen; joined, the bytes of all tokens are the text's. The temperature
is 0 where none is sent.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from aiohttp import web

from temp0.engine.request import Emission, Request
from temp0.engine.server.conversation import conversation
from temp0.engine.server.error_shape import fault_event
from temp0.engine.server.event_stream import Event, compact_json, json_event, streamed
from temp0.engine.server.fields import Fields, read_fields
from temp0.engine.server.generation import Generation, generation
from temp0.engine.server.inquiry import Inquiry, prompt_tokens, refuse_other_models, sampling, token_limit
from temp0.engine.server.refusal import RefusedError
from temp0.engine.server.served import ServedTokenizer
from temp0.engine.server.service import SERVICE, Service
from temp0.engine.server.text_stream import Ending
from temp0.engine.server.unhonoured import OPENAI, refuse_unhonoured

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_FINISH = {"stop": "stop", "length": "length", "stop_sequence": "stop"}
_MOST_ALTERNATIVES = 20


async def chat_completions(request: web.Request) -> web.StreamResponse:
    """Answer one chat request, streamed or whole."""
    service = request.app[SERVICE]
    fields = await read_fields(request)
    inquiry = await _inquiry(service, fields)
    with_usage = _wants_usage(fields)
    async with generation(service, inquiry) as answer:
        exchange = _Exchange(
            service=service, inquiry=inquiry, answer=answer, id=service.new_id(), created=service.now()
        )
        if inquiry.stream:
            return await streamed(request, _chunks(exchange, with_usage=with_usage), on_fault=fault_event(request))
        return web.json_response(await _body(exchange), dumps=compact_json)


async def _inquiry(service: Service, fields: Fields) -> Inquiry:
    engine = service.engine
    refuse_other_models(fields, engine)
    choice = sampling(fields, hottest=2)
    refuse_unhonoured(fields, OPENAI, temperature=choice.temperature)
    tokens = await prompt_tokens(engine, engine.chat.render(conversation(fields, _ROLES)))
    request = Request(
        tokens=tokens,
        max_tokens=token_limit(service, tokens, _max_tokens(fields), field="messages"),
        temperature=choice.temperature,
        seed=choice.seed,
        logprobs=fields.flag("logprobs"),
        top_logprobs=_alternatives(fields),
        ignore_eos=fields.flag("ignore_eos"),
        use_prefix_cache=fields.flag("cache_prompt", default=True),
    )
    return Inquiry(request=request, stops=fields.texts("stop"), stream=fields.flag("stream"))


def _max_tokens(fields: Fields) -> int | None:
    """`max_completion_tokens` is the newer name and wins where both are sent."""
    newer = fields.integer("max_completion_tokens", low=1)
    older = fields.integer("max_tokens", low=1)
    return older if newer is None else newer


def _alternatives(fields: Fields) -> int:
    count = fields.integer("top_logprobs", low=0, high=_MOST_ALTERNATIVES)
    if count is not None and not fields.flag("logprobs"):
        raise RefusedError("top_logprobs is sent, but logprobs is not true", field="top_logprobs")
    return count or 0


def _wants_usage(fields: Fields) -> bool:
    options = fields.object("stream_options")
    if options is None:
        return False
    if not fields.flag("stream"):
        raise RefusedError("stream_options is sent, but stream is not true", field="stream_options")
    return options.flag("include_usage")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Exchange:
    service: Service
    inquiry: Inquiry
    answer: Generation
    id: str
    created: int

    def envelope(self, kind: str) -> dict[str, object]:
        return {
            "id": f"chatcmpl-{self.id}",
            "object": kind,
            "created": self.created,
            "model": self.service.engine.name,
            "system_fingerprint": self.service.engine.fingerprint,
        }

    def usage(self) -> dict[str, object]:
        prompt = len(self.inquiry.request.tokens)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": self.answer.emitted,
            "total_tokens": prompt + self.answer.emitted,
            "prompt_tokens_details": {"cached_tokens": self.answer.cached},
        }

    def logprobs(self, emissions: tuple[Emission, ...]) -> dict[str, object] | None:
        if not self.inquiry.request.logprobs:
            return None
        tokenizer = self.service.engine.tokenizer
        return {"content": [_logprob_entry(tokenizer, emission) for emission in emissions], "refusal": None}


async def _body(exchange: _Exchange) -> dict[str, object]:
    piece = await exchange.answer.whole()
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": piece.text, "refusal": None},
        "logprobs": exchange.logprobs(piece.emissions),
        "finish_reason": _finish_reason(piece.ending),
    }
    return {**exchange.envelope("chat.completion"), "choices": [choice], "usage": exchange.usage()}


async def _chunks(exchange: _Exchange, *, with_usage: bool) -> AsyncGenerator[Event]:
    envelope = exchange.envelope("chat.completion.chunk")
    if with_usage:
        envelope["usage"] = None

    def chunk(delta: dict[str, object], *, logprobs: object = None, finish: str | None = None) -> Event:
        choice = {"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": finish}
        return json_event({**envelope, "choices": [choice]})

    opened = False
    async for piece in exchange.answer.pieces():
        if not opened:
            yield chunk({"role": "assistant", "content": ""})
            opened = True
        if piece.text or (piece.emissions and exchange.inquiry.request.logprobs):
            yield chunk({"content": piece.text}, logprobs=exchange.logprobs(piece.emissions))
    yield chunk({}, finish=_finish_reason(exchange.answer.ending))
    if with_usage:
        yield json_event({**envelope, "choices": [], "usage": exchange.usage()})
    yield Event(data="[DONE]")


def _finish_reason(ending: Ending | None) -> str | None:
    return _FINISH[ending.reason] if ending else None


def _logprob_entry(tokenizer: ServedTokenizer, emission: Emission) -> dict[str, object]:
    top = [_token_entry(tokenizer, token, logprob) for token, logprob in emission.top]
    return {**_token_entry(tokenizer, emission.token, emission.logprob), "top_logprobs": top}


def _token_entry(tokenizer: ServedTokenizer, token: int, logprob: float | None) -> dict[str, object]:
    data = tokenizer.bytes_of(token)
    return {"id": token, "token": data.decode("utf-8", "replace"), "bytes": list(data), "logprob": logprob}
