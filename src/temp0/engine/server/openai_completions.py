"""POST /v1/completions, in the OpenAI dialect: goes on from a text as it is, without a chat template.

https://platform.openai.com/docs/api-reference/completions. A prompt that is a text is tokenized as one, with the token
for the beginning (BOS) in front where the model asks for it and the text does not begin with it; token ids are taken
as they are, and nothing is added. One prompt a request. `echo` gives the prompt back in front of the answer, with
`logprobs` also those of its tokens, the first of which has none; with it `max_tokens` may be 0, and only the prompt is
scored. `text_offset` counts characters from the beginning of the prompt, whether it is echoed or not. Beyond the
dialect: `return_token_ids` and `return_tokens_as_token_ids`, as in vLLM, and `ignore_eos` and `cache_prompt`, as in
chat completions. The temperature is 0 where none is sent.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from functools import partial

from aiohttp import web

from temp0.engine.request import Emission, Request
from temp0.engine.server.error_shape import fault_event
from temp0.engine.server.event_stream import Event, compact_json, json_event, streamed
from temp0.engine.server.fields import Fields, read_fields
from temp0.engine.server.generation import generation
from temp0.engine.server.inquiry import (
    MOST_ALTERNATIVES,
    Inquiry,
    refuse_other_models,
    sampling,
    token_limit,
    tokenized,
)
from temp0.engine.server.legacy_logprobs import Placed, Places, legacy_logprobs, placed_prompt
from temp0.engine.server.openai_exchange import Exchange, finish_reason, shown
from temp0.engine.server.refusal import RefusedError
from temp0.engine.server.served import ServedEngine
from temp0.engine.server.service import SERVICE, Service
from temp0.engine.server.unhonoured import OPENAI, refuse_unhonoured
from temp0.errors import RequestError

_DEFAULT_MAX_TOKENS = 16  # as OpenAI documents it


async def completions(request: web.Request) -> web.StreamResponse:
    """Answer one completions request, streamed or whole."""
    service = request.app[SERVICE]
    fields = await read_fields(request)
    prompt = await _prompt(service.engine, fields)
    inquiry = _inquiry(service, fields, prompt)
    wanted, echo, by_id = shown(fields), fields.flag("echo"), fields.flag("return_tokens_as_token_ids")
    async with generation(service, inquiry) as answer:
        exchange = Exchange(
            service=service,
            inquiry=inquiry,
            answer=answer,
            shown=wanted,
            id=f"cmpl-{service.new_id()}",
            created=service.now(),
        )
        text = _Text(exchange, prompt, echo=echo, by_id=by_id)
        if inquiry.stream:
            return await streamed(request, _chunks(text), on_fault=partial(fault_event, request))
        return web.json_response(await _body(text), dumps=compact_json)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prompt:
    """Its text, which for token ids is what they write, its tokens, and the character at which each begins."""

    text: str
    tokens: tuple[int, ...]
    starts: tuple[int, ...]


async def _prompt(engine: ServedEngine, fields: Fields) -> _Prompt:
    value = fields.raw("prompt")
    if value is None:
        raise fields.missing("prompt", "a string or a list of token ids")
    if isinstance(value, list) and value and isinstance(value[0], str | list):
        if len(value) > 1:
            message = f"prompt holds {len(value)} prompts; this server answers one a request"
            raise RefusedError(message, field="prompt")
        (value,) = value
        fields = Fields({"prompt": value})
    if isinstance(value, list):
        return _of_ids(engine, fields.token_ids("prompt"))
    text = fields.required_text("prompt")
    placed = await tokenized(engine.tokenizer.placed, text)
    return _Prompt(text=text, tokens=tuple(token for token, _ in placed), starts=tuple(start for _, start in placed))


def _of_ids(engine: ServedEngine, tokens: tuple[int, ...]) -> _Prompt:
    bytes_of = engine.tokenizer.bytes_of
    places = Places(bytes_of)
    try:
        starts = tuple(places.next(token) for token in tokens)
    except RequestError as error:
        raise RefusedError(f"prompt: {error}", field="prompt") from error
    text = b"".join(map(bytes_of, tokens)).decode("utf-8", "replace")
    return _Prompt(text=text, tokens=tokens, starts=starts)


def _inquiry(service: Service, fields: Fields, prompt: _Prompt) -> Inquiry:
    refuse_other_models(fields, service.engine)
    choice = sampling(fields, hottest=2)
    refuse_unhonoured(fields, OPENAI, temperature=choice.temperature)
    if not prompt.tokens:
        raise RefusedError("prompt is empty, expected at least one token", field="prompt")
    echo = fields.flag("echo")
    alternatives = fields.integer("logprobs", low=0, high=MOST_ALTERNATIVES)
    limit = fields.integer("max_tokens", low=0 if echo else 1)
    request = Request(
        tokens=prompt.tokens,
        max_tokens=token_limit(service, prompt.tokens, limit, field="prompt", default=_DEFAULT_MAX_TOKENS),
        temperature=choice.temperature,
        seed=choice.seed,
        logprobs=alternatives is not None,
        top_logprobs=alternatives or 0,
        prompt_logprobs=echo and (alternatives is not None or limit == 0),
        ignore_eos=fields.flag("ignore_eos"),
        use_prefix_cache=fields.flag("cache_prompt", default=True),
    )
    return Inquiry(request=request, stops=fields.texts("stop"), stream=fields.flag("stream"))


class _Text:
    """The choices of one exchange: the prompt's, where it is echoed, and the answer's, in order."""

    def __init__(self, exchange: Exchange, prompt: _Prompt, *, echo: bool, by_id: bool) -> None:
        self.exchange = exchange
        self.echo = echo
        self._prompt = prompt
        self._by_id = by_id
        self._tokenizer = exchange.service.engine.tokenizer
        self._places = Places(self._tokenizer.bytes_of, start=len(prompt.text))

    @property
    def prompt(self) -> str:
        """What is echoed."""
        return self._prompt.text if self.echo else ""

    def placed_prompt(self) -> list[Placed]:
        """The tokens of what is echoed; their scores have to be there."""
        if not (self.echo and self.exchange.inquiry.request.logprobs):
            return []
        return placed_prompt(self._prompt.tokens, self._prompt.starts, self.exchange.answer.prompt)

    def choice(
        self, text: str, emissions: Sequence[Emission], *, before: Sequence[Placed] = (), finish: str | None = None
    ) -> dict[str, object]:
        """One choice; each emission has to come once, in order. `before` are tokens of the prompt."""
        return {
            "index": 0,
            "text": text,
            "logprobs": self._logprobs([*before, *self._places.placed(emissions)]),
            "finish_reason": finish,
            **self.exchange.token_ids(emissions),
        }

    def _logprobs(self, placed: Sequence[Placed]) -> dict[str, object] | None:
        asked = self.exchange.inquiry.request
        if not asked.logprobs:
            return None
        return legacy_logprobs(self._tokenizer, placed, alternatives=asked.top_logprobs > 0, by_id=self._by_id)


async def _body(text: _Text) -> dict[str, object]:
    exchange = text.exchange
    piece = await exchange.answer.whole()
    choice = text.choice(
        text.prompt + piece.text, piece.emissions, before=text.placed_prompt(), finish=finish_reason(piece.ending)
    )
    choices = [choice | exchange.prompt_ids()]
    return {**exchange.envelope("text_completion"), "choices": choices, "usage": exchange.usage()}


async def _chunks(text: _Text) -> AsyncGenerator[Event]:
    exchange = text.exchange
    envelope = exchange.envelope("text_completion")
    if exchange.shown.usage:
        envelope["usage"] = None

    def chunk(choice: dict[str, object]) -> Event:
        return json_event({**envelope, "choices": [choice]})

    tells_of_each = exchange.inquiry.request.logprobs or exchange.shown.ids
    opened = False
    async for piece in exchange.answer.pieces():
        if not opened and (text.echo or exchange.shown.ids):
            yield chunk(text.choice(text.prompt, (), before=text.placed_prompt()) | exchange.prompt_ids())
        opened = True
        if piece.text or (piece.emissions and tells_of_each):
            yield chunk(text.choice(piece.text, piece.emissions))
    ended = {"index": 0, "text": "", "logprobs": None, "finish_reason": finish_reason(exchange.answer.ending)}
    yield chunk(ended)
    if exchange.shown.usage:
        yield json_event({**envelope, "choices": [], "usage": exchange.usage()})
    yield Event(data="[DONE]")
