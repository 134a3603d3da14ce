"""POST /v1/responses, in the OpenAI dialect.

https://platform.openai.com/docs/api-reference/responses. Instructions and input are one conversation, answered as chat
completions would answer it, with the same bits. No response is kept: `store` counts as false where it is not sent, true
is refused, and so is whatever refers to an earlier response. Beyond the dialect: `seed`, `stop`, `ignore_eos` and
`cache_prompt`, as in chat completions, and the token `id` in logprobs. The temperature is 0 where none is sent.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator
from typing import Literal

from aiohttp import web

from temp0.core.plan import Message
from temp0.engine.request import Request
from temp0.engine.server.conversation import conversation
from temp0.engine.server.error_shape import FAULT
from temp0.engine.server.event_stream import Event, compact_json, json_event, streamed
from temp0.engine.server.fields import Fields, read_fields
from temp0.engine.server.generation import Generation, generation
from temp0.engine.server.inquiry import (
    MOST_ALTERNATIVES,
    Inquiry,
    prompt_tokens,
    refuse_other_models,
    sampling,
    token_limit,
)
from temp0.engine.server.refusal import RefusedError
from temp0.engine.server.served import ServedTemplate
from temp0.engine.server.service import SERVICE, Service
from temp0.engine.server.text_stream import Piece, joined
from temp0.engine.server.token_entry import token_entries
from temp0.engine.server.unhonoured import RESPONSES, RESPONSES_TEXT, refuse_unhonoured

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_PARTS = ("input_text", "output_text")
_LOGPROBS = "message.output_text.logprobs"
# Of what these name there is nothing in any answer of this server.
_EMPTY_INCLUDES = frozenset(
    {
        "code_interpreter_call.outputs",
        "computer_call_output.output.image_url",
        "file_search_call.results",
        "message.input_image.image_url",
        "reasoning.encrypted_content",
        "web_search_call.action.sources",
        "web_search_call.results",
    }
)

_Status = Literal["in_progress", "completed", "incomplete", "failed"]


async def responses(request: web.Request) -> web.StreamResponse:
    """Answer one responses request, streamed or whole."""
    service = request.app[SERVICE]
    fields = await read_fields(request)
    inquiry = await _inquiry(service, fields)
    async with generation(service, inquiry) as answer:
        response = _Response(service, fields, inquiry, answer)
        if inquiry.stream:
            events = _Events(response)
            return await streamed(request, events.all(), on_fault=events.failed)
        return web.json_response(response.ended(await answer.whole()), dumps=compact_json)


async def _inquiry(service: Service, fields: Fields) -> Inquiry:
    engine = service.engine
    refuse_other_models(fields, engine)
    choice = sampling(fields, hottest=2)
    refuse_unhonoured(fields, RESPONSES, temperature=choice.temperature)
    text = fields.object("text")
    if text:
        refuse_unhonoured(text, RESPONSES_TEXT)
    logprobs = _wants_logprobs(fields)
    tokens = await prompt_tokens(engine, text_read(engine.chat, fields))
    request = Request(
        tokens=tokens,
        max_tokens=token_limit(service, tokens, fields.integer("max_output_tokens", low=1), field="input"),
        temperature=choice.temperature,
        seed=choice.seed,
        logprobs=logprobs,
        top_logprobs=_alternatives(fields, logprobs=logprobs),
        ignore_eos=fields.flag("ignore_eos"),
        use_prefix_cache=fields.flag("cache_prompt", default=True),
    )
    return Inquiry(request=request, stops=fields.texts("stop"), stream=fields.flag("stream"))


def text_read(template: ServedTemplate, fields: Fields) -> str:
    """What the model reads: instructions and input as one conversation."""
    return template.render(_turns(fields))


def _turns(fields: Fields) -> tuple[Message, ...]:
    instructions = fields.text("instructions")
    front = () if instructions is None else (Message(role="system", content=instructions),)
    if not isinstance(fields.raw("input"), list):
        return (*front, Message(role="user", content=fields.required_text("input")))
    for item in fields.objects("input"):
        kind = item.text("type") or "message"
        if kind != "message":
            message = f"{item.path('type')} is {kind[:60]!r}; this server reads messages only"
            raise RefusedError(message, field=item.path("type"))
    return (*front, *conversation(fields, _ROLES, name="input", kinds=_PARTS))


def _wants_logprobs(fields: Fields) -> bool:
    included = fields.texts("include")
    for index, name in enumerate(included):
        if name != _LOGPROBS and name not in _EMPTY_INCLUDES:
            path = f"include[{index}]"
            raise RefusedError(f"{path} is {name[:60]!r}, which this server does not know", field=path)
    return _LOGPROBS in included


def _alternatives(fields: Fields, *, logprobs: bool) -> int:
    count = fields.integer("top_logprobs", low=0, high=MOST_ALTERNATIVES) or 0
    if count and not logprobs:
        raise RefusedError(f"top_logprobs is sent, but include does not hold {_LOGPROBS!r}", field="top_logprobs")
    return count


class _Response:
    """The response object as it stands, from its creation to its end."""

    def __init__(self, service: Service, fields: Fields, inquiry: Inquiry, answer: Generation) -> None:
        self.answer = answer
        self.logprobs_wanted = inquiry.request.logprobs
        self._tokenizer = service.engine.tokenizer
        self._prompt_tokens = len(inquiry.request.tokens)
        identity = service.new_id()
        self.item_id = f"msg_{identity}"
        self._constant: dict[str, object] = {
            "id": f"resp_{identity}",
            "object": "response",
            "created_at": service.now(),
            "model": service.engine.name,
            "system_fingerprint": service.engine.fingerprint,
            "instructions": fields.raw("instructions"),
            "max_output_tokens": fields.raw("max_output_tokens"),
            "temperature": inquiry.request.temperature,
            "top_p": 1.0,
            "top_logprobs": inquiry.request.top_logprobs,
            "metadata": fields.raw("metadata") or {},
            "background": False,
            "parallel_tool_calls": False,
            "previous_response_id": None,
            "reasoning": {"effort": None, "summary": None},
            "store": False,
            "text": {"format": {"type": "text"}},
            "tool_choice": "none",
            "tools": [],
            "truncation": "disabled",
        }

    def standing(
        self, status: _Status, output: list[object], *, usage: object = None, error: object = None
    ) -> dict[str, object]:
        """The response in one state."""
        return {
            **self._constant,
            "status": status,
            "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
            "error": error,
            "output": output,
            "usage": usage,
        }

    def ended(self, piece: Piece) -> dict[str, object]:
        """The response at its end, of an answer in one piece."""
        return self.standing(self.end_status, [self.item(self.end_status, [self.part(piece)])], usage=self._usage())

    @property
    def end_status(self) -> _Status:
        """Whether the answer ended by itself or at its limit."""
        ending = self.answer.ending
        return "incomplete" if ending and ending.reason == "length" else "completed"

    def item(self, status: _Status, content: list[object]) -> dict[str, object]:
        """The one item of the output, a message."""
        return {
            "id": self.item_id,
            "type": "message",
            "status": status,
            "role": "assistant",
            "content": content,
        }

    def part(self, piece: Piece) -> dict[str, object]:
        """The one part of the message, its text."""
        return {"type": "output_text", "text": piece.text, "annotations": [], "logprobs": self.logprobs(piece)}

    def logprobs(self, piece: Piece) -> list[dict[str, object]]:
        """Those of a piece's tokens, if they are wanted."""
        return token_entries(self._tokenizer, piece.emissions) if self.logprobs_wanted else []

    def _usage(self) -> dict[str, object]:
        return {
            "input_tokens": self._prompt_tokens,
            "input_tokens_details": {"cached_tokens": self.answer.cached, "cache_write_tokens": 0},
            "output_tokens": self.answer.emitted,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": self._prompt_tokens + self.answer.emitted,
        }


class _Events:
    """The stream of one response; events are numbered as they are made."""

    def __init__(self, response: _Response) -> None:
        self._response = response
        self._numbers = itertools.count()

    async def all(self) -> AsyncGenerator[Event]:
        """Every event, in order."""
        response = self._response
        pieces: list[Piece] = []
        async for piece in response.answer.pieces():
            if not pieces:
                for event in self._opening():
                    yield event
            pieces.append(piece)
            if piece.text or (piece.emissions and response.logprobs_wanted):
                yield self._of_part("response.output_text.delta", delta=piece.text, logprobs=response.logprobs(piece))
        for event in self._closing(joined(pieces)):
            yield event

    def failed(self) -> Event:
        """The last event where the engine could not go on."""
        error = {"code": "server_error", "message": FAULT.message}
        return self._event("response.failed", response=self._response.standing("failed", [], error=error))

    def _opening(self) -> list[Event]:
        response = self._response
        nothing = Piece(text="", emissions=())
        begun = response.standing("in_progress", [])
        return [
            self._event("response.created", response=begun),
            self._event("response.in_progress", response=begun),
            self._event("response.output_item.added", output_index=0, item=response.item("in_progress", [])),
            self._of_part("response.content_part.added", part=response.part(nothing)),
        ]

    def _closing(self, whole: Piece) -> list[Event]:
        response = self._response
        status, part = response.end_status, response.part(whole)
        return [
            self._of_part("response.output_text.done", text=whole.text, logprobs=response.logprobs(whole)),
            self._of_part("response.content_part.done", part=part),
            self._event("response.output_item.done", output_index=0, item=response.item(status, [part])),
            self._event(f"response.{status}", response=response.ended(whole)),
        ]

    def _of_part(self, kind: str, **data: object) -> Event:
        return self._event(kind, item_id=self._response.item_id, output_index=0, content_index=0, **data)

    def _event(self, kind: str, **data: object) -> Event:
        return json_event({"type": kind, "sequence_number": next(self._numbers), **data}, name=kind)
