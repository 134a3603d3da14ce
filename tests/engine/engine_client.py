"""An engine over the tiny model, and clients that collect what it says about their requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from float64_model import stock, tiny_checkpoint

from temp0.engine import Emission, Engine, Request
from temp0.engine.arithmetic import Arithmetic, arithmetic
from temp0.errors import Temp0Error

CHECKPOINT = tiny_checkpoint()


@dataclass
class Client:
    """Collects what the engine says about one request."""

    emissions: list[Emission] = field(default_factory=list)
    failures: list[Temp0Error] = field(default_factory=list)
    ticket: int = 0

    @property
    def tokens(self) -> list[int]:
        return [emission.token for emission in self.emissions]

    @property
    def cached(self) -> int:
        """Tokens of its prompt that the prefix cache had."""
        return self.emissions[0].cached_tokens

    @property
    def has_ended(self) -> bool:
        return bool(self.failures or (self.emissions and self.emissions[-1].finish))


def tiny_engine(*, arithmetic: Any = None, eos_ids: frozenset[int] = frozenset(), **limits: Any) -> Engine:
    checkpoint = replace(CHECKPOINT, vocabulary=replace(CHECKPOINT.vocabulary, eos_ids=eos_ids))
    return Engine(checkpoint, arithmetic or stock(), fingerprint="temp0-test", **limits)


def invariant() -> Arithmetic:
    return arithmetic("invariant", threads=1)


def invariant_engine(**limits: Any) -> Engine:
    """Small, so that pages are wanted; chunks are not whole pages."""
    return tiny_engine(arithmetic=invariant(), **{"kv_tokens": 512, "chunk_tokens": 40, **limits})


def text(length: int, *, seed: int = 0) -> tuple[int, ...]:
    """Random tokens; texts of one seed begin alike."""
    return tuple(np.random.default_rng(seed).integers(0, CHECKPOINT.settings.vocab, length).tolist())


def watched(tokens: Sequence[int], *, max_tokens: int = 8, **options: Any) -> Request:
    """A request that asks for the logits of every token."""
    return Request(tokens=tuple(tokens), max_tokens=max_tokens, logits=True, **options)


def submitted(engine: Engine, asked: Request) -> Client:
    client = Client()
    client.ticket = engine.submit(asked, client.emissions.append, on_failure=client.failures.append)
    return client


def run_out(engine: Engine) -> None:
    while engine.step():
        pass


def answered(engine: Engine, asked: Request) -> Client:
    client = submitted(engine, asked)
    run_out(engine)
    return client


def alone(asked: Request) -> Client:
    """The request with an engine of its own: no company, no prefix cache, its prompt in one piece."""
    return answered(tiny_engine(arithmetic=invariant(), prefix_cache=False), asked)


def assert_same_bits(client: Client, expected: Client) -> None:
    """Every emission has the token, and all of its logits the bits, of the one expected."""
    assert not client.failures
    assert client.tokens == expected.tokens
    for emission, other in zip(client.emissions, expected.emissions, strict=True):
        assert emission.finish == other.finish
        assert emission.logits is not None
        assert other.logits is not None
        assert emission.logits.tobytes() == other.logits.tobytes()


def all_free(engine: Engine, *, capacity: int = 16384) -> bool:
    return (engine.running, engine.waiting, engine.free_tokens) == (0, 0, capacity)
