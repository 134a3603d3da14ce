"""POST /v1/chat/completions, in the OpenAI dialect.

https://platform.openai.com/docs/api-reference/chat. Beyond it: `ignore_eos`, `cache_prompt`, `return_token_ids` and
the token `id` in logprobs, as llama.cpp and vLLM have them. An end token has its place in the logprobs too, with no
bytes, so that the margin at which an answer ended can be seen; joined, the bytes of all tokens are the text's. The
temperature is 0 where none is sent. With `continue_final_message` and without `add_generation_prompt`, as vLLM and
SGLang have them, a last message of the assistant's is gone on from; otherwise another turn begins after it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from functools import partial

from aiohttp import web

from temp0.engine.request import Emission, Request
from temp0.engine.server.conversation import conversation
from temp0.engine.server.error_shape import fault_event
from temp0.engine.server.event_stream import Event, compact_json, json_event, streamed
from temp0.engine.server.fields import Fields, read_fields
from temp0.engine.server.generation import generation
from temp0.engine.server.inquiry import (
    MOST_ALTERNATIVES,
    Inquiry,
    prompt_tokens,
    refuse_other_models,
    sampling,
    token_limit,
)
from temp0.engine.server.openai_exchange import Exchange, finish_reason, shown
from temp0.engine.server.refusal import RefusedError
from temp0.engine.server.served import ServedTemplate
from temp0.engine.server.service import SERVICE, Service
from temp0.engine.server.token_entry import token_entries
from temp0.engine.server.unhonoured import CHAT, refuse_unhonoured

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_GOES_ON, _OPENS = "continue_final_message", "add_generation_prompt"
_NOTHING: Mapping[str, object] = {}


async def chat_completions(request: web.Request) -> web.StreamResponse:
    """Answer one chat request, streamed or whole."""
    service = request.app[SERVICE]
    fields = await read_fields(request)
    inquiry = await _inquiry(service, fields)
    wanted = shown(fields)
    async with generation(service, inquiry) as answer:
        exchange = Exchange(
            service=service,
            inquiry=inquiry,
            answer=answer,
            shown=wanted,
            id=f"chatcmpl-{service.new_id()}",
            created=service.now(),
        )
        if inquiry.stream:
            return await streamed(request, _chunks(exchange), on_fault=partial(fault_event, request))
        return web.json_response(await _body(exchange), dumps=compact_json)


async def _inquiry(service: Service, fields: Fields) -> Inquiry:
    engine = service.engine
    refuse_other_models(fields, engine)
    choice = sampling(fields, hottest=2)
    refuse_unhonoured(fields, CHAT, temperature=choice.temperature)
    tokens = await prompt_tokens(engine, text_read(engine.chat, fields))
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


def text_read(template: ServedTemplate, fields: Fields) -> str:
    """What the model reads: the prompt, which goes on from the last message where the body says so."""
    turns = conversation(fields, _ROLES)
    goes_on = fields.flag(_GOES_ON)
    opens = fields.flag(_OPENS, default=not goes_on)
    if not goes_on:
        return template.render(turns, opens_answer=opens)
    if opens:
        raise RefusedError(f"{_GOES_ON} and {_OPENS} are both true; send one of them", field=_GOES_ON)
    if turns[-1].role != "assistant":
        message = f"{_GOES_ON} is true, but the last message is the {turns[-1].role}'s, expected the assistant's"
        raise RefusedError(message, field=_GOES_ON)
    return template.begun(turns)


def _max_tokens(fields: Fields) -> int | None:
    """`max_completion_tokens` is the newer name and wins where both are sent."""
    newer = fields.integer("max_completion_tokens", low=1)
    older = fields.integer("max_tokens", low=1)
    return older if newer is None else newer


def _alternatives(fields: Fields) -> int:
    count = fields.integer("top_logprobs", low=0, high=MOST_ALTERNATIVES)
    if count is not None and not fields.flag("logprobs"):
        raise RefusedError("top_logprobs is sent, but logprobs is not true", field="top_logprobs")
    return count or 0


def _logprobs(exchange: Exchange, emissions: Sequence[Emission]) -> dict[str, object] | None:
    if not exchange.inquiry.request.logprobs:
        return None
    return {"content": token_entries(exchange.service.engine.tokenizer, emissions), "refusal": None}


async def _body(exchange: Exchange) -> dict[str, object]:
    piece = await exchange.answer.whole()
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": piece.text, "refusal": None},
        "logprobs": _logprobs(exchange, piece.emissions),
        "finish_reason": finish_reason(piece.ending),
        **exchange.token_ids(piece.emissions),
    }
    envelope = exchange.envelope("chat.completion") | exchange.prompt_ids()
    return {**envelope, "choices": [choice], "usage": exchange.usage()}


async def _chunks(exchange: Exchange) -> AsyncGenerator[Event]:
    envelope = exchange.envelope("chat.completion.chunk")
    if exchange.shown.usage:
        envelope["usage"] = None

    def chunk(delta: object, emissions: Sequence[Emission] = (), *, beside: Mapping[str, object] = _NOTHING) -> Event:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
        if emissions:
            choice |= {"logprobs": _logprobs(exchange, emissions), **exchange.token_ids(emissions)}
        return json_event({**envelope, **beside, "choices": [choice]})

    tells_of_each = exchange.inquiry.request.logprobs or exchange.shown.ids
    opened = False
    async for piece in exchange.answer.pieces():
        if not opened:
            yield chunk({"role": "assistant", "content": ""}, beside=exchange.prompt_ids())
            opened = True
        if piece.text or (piece.emissions and tells_of_each):
            yield chunk({"content": piece.text}, piece.emissions)
    ended = {"index": 0, "delta": {}, "logprobs": None, "finish_reason": finish_reason(exchange.answer.ending)}
    yield json_event({**envelope, "choices": [ended]})
    if exchange.shown.usage:
        yield json_event({**envelope, "choices": [], "usage": exchange.usage()})
    yield Event(data="[DONE]")
