"""What a client wants of the engine, with the dialect taken off.

Every dialect ends here: the prompt as tokens, the limits and the sampling checked against this engine, before
anything is queued.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from temp0.engine.request import Request
from temp0.engine.server.fields import Fields
from temp0.engine.server.refusal import NOT_FOUND, RefusedError
from temp0.engine.server.served import ServedEngine
from temp0.engine.server.service import Service

# A longer text is tokenized off the event loop: it would hold up everyone else's tokens for milliseconds.
_INLINE_CHARACTERS = 20_000
_SEED_LIMIT = 2**63
MOST_ALTERNATIVES = 20

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """A request for the engine, the strings that end its text, and whether the answer is streamed."""

    request: Request
    stops: tuple[str, ...]
    stream: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How tokens are chosen: greedy at temperature 0, which is also the default of this server."""

    temperature: float
    seed: int | None


def sampling(fields: Fields, *, hottest: float) -> Sampling:
    """Temperature from 0 to `hottest`, and a seed of 64 bits, which may be negative."""
    return Sampling(
        temperature=fields.number("temperature", low=0, high=hottest) or 0.0,
        seed=fields.integer("seed", low=-_SEED_LIMIT, high=_SEED_LIMIT - 1),
    )


def refuse_other_models(fields: Fields, engine: ServedEngine) -> None:
    """Refuse a body that names no model or another than the one served."""
    model = fields.required_text("model")
    if model != engine.name:
        message = f"there is no model {model[:60]!r} here; this server has {engine.name!r}"
        raise RefusedError(message, status=NOT_FOUND, field="model", code="model_not_found")


async def prompt_tokens(engine: ServedEngine, text: str) -> tuple[int, ...]:
    """The token ids of a prompt."""
    return tuple(await tokenized(engine.tokenizer.encode, text))


async def tokenized(tokenize: Callable[[str], list[_T]], text: str) -> list[_T]:
    """What a tokenizer makes of a text, without holding up others while it does."""
    if len(text) <= _INLINE_CHARACTERS:
        return tokenize(text)
    return await asyncio.to_thread(tokenize, text)


def token_limit(
    service: Service, tokens: tuple[int, ...], wanted: int | None, *, field: str, default: int | None = None
) -> int:
    """The most tokens of the answer: `wanted`, or as far as the context has room `default`, else the server's own.

    `field` names the field the prompt came in; a prompt or a limit that does not fit is refused. Only where nothing is
    `wanted`, 0, may the prompt fill the context.
    """
    engine = service.engine
    room = engine.context_tokens - len(tokens)
    if room < (0 if wanted == 0 else 1):
        message = f"the prompt has {len(tokens)} tokens, and the context holds {engine.context_tokens}"
        raise RefusedError(message, field=field, code="context_length_exceeded")
    if wanted is not None and wanted > room:
        message = (
            f"the prompt has {len(tokens)} tokens and up to {wanted} more are asked for, "
            f"but the context holds {engine.context_tokens}; ask for at most {room}"
        )
        raise RefusedError(message, field=field, code="context_length_exceeded")
    return min(default or service.default_max_tokens, room) if wanted is None else wanted
