"""POST /v1/messages, in the Anthropic dialect.

https://docs.anthropic.com/en/api/messages. The temperature is 0 where none is sent, and `seed`, `ignore_eos` and
`cache_prompt` are read as in the OpenAI dialect, since newer clients of this dialect have no field for them;
`system_fingerprint` is told as there. As the dialect counts, `input_tokens` leaves out those that the prefix cache had.
A last message of the assistant's is gone on from; as in the dialect it must not end in white space.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from functools import partial

from aiohttp import web

from temp0.core.plan import Message
from temp0.engine.request import Request
from temp0.engine.server.conversation import content_text, conversation
from temp0.engine.server.error_shape import fault_event
from temp0.engine.server.event_stream import Event, compact_json, json_event, streamed
from temp0.engine.server.fields import Fields, read_fields
from temp0.engine.server.generation import Generation, generation
from temp0.engine.server.inquiry import Inquiry, prompt_tokens, refuse_other_models, sampling, token_limit
from temp0.engine.server.refusal import RefusedError
from temp0.engine.server.served import ServedTemplate
from temp0.engine.server.service import SERVICE, Service
from temp0.engine.server.text_stream import Ending
from temp0.engine.server.unhonoured import ANTHROPIC, ANTHROPIC_OUTPUT, refuse_unhonoured

_ROLES = {"user": "user", "assistant": "assistant"}
_STOP_REASON = {"stop": "end_turn", "length": "max_tokens", "stop_sequence": "stop_sequence"}


async def messages(request: web.Request) -> web.StreamResponse:
    """Answer one messages request, streamed or whole."""
    service = request.app[SERVICE]
    inquiry = await _inquiry(service, await read_fields(request))
    async with generation(service, inquiry) as answer:
        exchange = _Exchange(service=service, inquiry=inquiry, answer=answer, id=service.new_id())
        if inquiry.stream:
            return await streamed(request, _events(exchange), on_fault=partial(fault_event, request))
        return web.json_response(await _body(exchange), dumps=compact_json)


async def _inquiry(service: Service, fields: Fields) -> Inquiry:
    engine = service.engine
    refuse_other_models(fields, engine)
    limit = fields.integer("max_tokens", low=1)
    if limit is None:
        raise fields.missing("max_tokens", "a whole number of at least 1")
    choice = sampling(fields, hottest=1)
    refuse_unhonoured(fields, ANTHROPIC, temperature=choice.temperature)
    output = fields.object("output_config")
    if output:
        refuse_unhonoured(output, ANTHROPIC_OUTPUT)
    tokens = await prompt_tokens(engine, text_read(engine.chat, fields))
    request = Request(
        tokens=tokens,
        max_tokens=token_limit(service, tokens, limit, field="messages"),
        temperature=choice.temperature,
        seed=choice.seed,
        ignore_eos=fields.flag("ignore_eos"),
        use_prefix_cache=fields.flag("cache_prompt", default=True),
    )
    return Inquiry(request=request, stops=fields.texts("stop_sequences"), stream=fields.flag("stream"))


def text_read(template: ServedTemplate, fields: Fields) -> str:
    """What the model reads, which goes on from a last message of the assistant's."""
    turns, last = _turns(fields), f"messages[{len(fields.objects('messages')) - 1}].content"
    if turns[-1].role != "assistant":
        return template.render(turns)
    if turns[-1].content[-1:].isspace():
        raise RefusedError(f"{last} is the beginning of the answer and ends in white space; leave that out", field=last)
    return template.begun(turns)


def _turns(fields: Fields) -> tuple[Message, ...]:
    turns = conversation(fields, _ROLES)
    if "system" in fields:
        return (Message(role="system", content=content_text(fields, "system")), *turns)
    return turns


@dataclass(frozen=True, slots=True, kw_only=True)
class _Exchange:
    service: Service
    inquiry: Inquiry
    answer: Generation
    id: str

    def message(self, content: list[object], ending: Ending | None) -> dict[str, object]:
        return {
            "id": f"msg_{self.id}",
            "type": "message",
            "role": "assistant",
            "model": self.service.engine.name,
            "system_fingerprint": self.service.engine.fingerprint,
            "content": content,
            **_stopped(ending),
            "usage": self.usage(),
        }

    def usage(self) -> dict[str, object]:
        return {
            "input_tokens": len(self.inquiry.request.tokens) - self.answer.cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": self.answer.cached,
            "output_tokens": self.answer.emitted,
        }


async def _body(exchange: _Exchange) -> dict[str, object]:
    piece = await exchange.answer.whole()
    return exchange.message([{"type": "text", "text": piece.text}], piece.ending)


async def _events(exchange: _Exchange) -> AsyncGenerator[Event]:
    opened = False
    async for piece in exchange.answer.pieces():
        if not opened:
            yield _event("message_start", message=exchange.message([], None))
            yield _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
            opened = True
        if piece.text:
            yield _event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece.text})
    yield _event("content_block_stop", index=0)
    yield _event("message_delta", delta=_stopped(exchange.answer.ending), usage=exchange.usage())
    yield _event("message_stop")


def _event(kind: str, **data: object) -> Event:
    return json_event({"type": kind, **data}, name=kind)


def _stopped(ending: Ending | None) -> dict[str, object]:
    if ending is None:
        return {"stop_reason": None, "stop_sequence": None}
    return {"stop_reason": _STOP_REASON[ending.reason], "stop_sequence": ending.stop}
