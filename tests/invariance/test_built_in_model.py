"""A smaller matrix on a real model: the built-in one, in bf16, as it is served."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from over_http import PROMPTS
from watched import TOP_LOGPROBS, Lone, Watched, differences, happened, run_out, steps, submitted

from temp0.core.plan import Message
from temp0.engine import Engine, Request
from temp0.engine.arithmetic import arithmetic
from temp0.engine.builtin import builtin_weights
from temp0.engine.checkpoint import Checkpoint
from temp0.engine.page import PAGE_TOKENS
from temp0.engine.weights import read_checkpoint

pytestmark = pytest.mark.model

SIZES = (1, 2, 3, 5, 8, 17, 33)


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return read_checkpoint(builtin_weights())


@pytest.fixture(scope="module")
def roomy(checkpoint: Checkpoint) -> Engine:
    """Reads every prompt in one pass."""
    return engine(checkpoint, "invariant", max_running=33, chunk_tokens=512)


@pytest.fixture(scope="module")
def narrow(checkpoint: Checkpoint) -> Engine:
    """Reads prompts in pieces, and has room for two of our requests at most."""
    return engine(checkpoint, "invariant", kv_tokens=8 * PAGE_TOKENS, chunk_tokens=13)


@pytest.fixture(scope="module")
def lone(roomy: Engine) -> Lone:
    return alone_in(roomy)


def engine(checkpoint: Checkpoint, mode: str, **limits: int) -> Engine:
    return Engine(checkpoint, arithmetic(mode, threads=1), fingerprint="temp0-test", **{"kv_tokens": 4096, **limits})


def alone_in(engine: Engine) -> Lone:
    """Loading a real model takes a second, so one engine answers everything, forgetting in between."""

    def make(**_: object) -> Engine:
        engine.reset_prefix_cache()
        return engine

    return Lone(make)


def asked(engine: Engine, prompt: str, *, max_tokens: int = 5) -> Request:
    text = engine.chat.render([Message(role="user", content=PROMPTS[prompt])])
    return Request(tokens=tuple(engine.tokenizer.encode(text)), max_tokens=max_tokens, ignore_eos=True)


def company(engine: Engine, size: int) -> list[Watched]:
    engine.reset_prefix_cache()
    requests = [replace(asked(engine, "CDE"[turn % 3]), use_prefix_cache=False) for turn in range(size)]
    watched = [submitted(engine, request) for request in requests]
    engine.step()
    happened(engine.running == size, f"{size} in flight")
    return run_out(engine, watched)


@pytest.mark.parametrize("size", SIZES)
def test_company_changes_no_bit(roomy: Engine, lone: Lone, size: int) -> None:
    assert differences(company(roomy, size), lone) == []


def test_cuts_of_the_prompt_change_no_bit(narrow: Engine, lone: Lone) -> None:
    for prompt in PROMPTS:
        narrow.reset_prefix_cache()
        watched = submitted(narrow, asked(narrow, prompt))
        steps(narrow, 2)
        happened(not watched.emissions, "the prompt is read in pieces")
        assert differences(run_out(narrow, [watched]), lone) == []


def test_a_warm_cache_changes_no_bit(roomy: Engine, lone: Lone) -> None:
    roomy.reset_prefix_cache()
    for is_warm in (False, True):
        watched = [
            submitted(roomy, replace(asked(roomy, prompt), logprobs=True, top_logprobs=TOP_LOGPROBS))
            for prompt in PROMPTS
        ]
        run_out(roomy, watched)
        happened(watched[-1].cached_tokens > 16 if is_warm else watched[0].cached_tokens == 0, f"warm is {is_warm}")
        assert differences(watched, lone) == []


def test_preemption_changes_no_bit(narrow: Engine, lone: Lone) -> None:
    narrow.reset_prefix_cache()
    before = narrow.preemptions
    seeded = replace(asked(narrow, "C", max_tokens=28), temperature=0.8, seed=7)
    watched = [submitted(narrow, request) for request in (asked(narrow, "D", max_tokens=30), seeded)]
    run_out(narrow, watched)
    happened(narrow.preemptions > before, "a preemption")
    assert differences(watched, lone) == []


def test_stock_arithmetic_differs_where_this_machines_library_varies(checkpoint: Checkpoint) -> None:
    sizes = [size for size in SIZES if _head_varies(checkpoint, size)]
    if not sizes:
        pytest.skip(f"this machine's BLAS gives a row of the head the same bits in company of {SIZES}")
    stock = engine(checkpoint, "stock", max_running=33, chunk_tokens=512)
    lone = alone_in(stock)
    assert any(differences(company(stock, size), lone) for size in sizes)


def _head_varies(checkpoint: Checkpoint, size: int) -> bool:
    """Whether the last product of a pass gives any of `size` rows other bits than alone."""
    product = arithmetic("stock", threads=1).linear(checkpoint.tensors["head"])
    rows = np.random.default_rng(1).standard_normal((size, checkpoint.settings.dim), np.float32)
    out = np.empty((size, checkpoint.settings.vocab), np.float32)
    alone = np.empty_like(out)
    product(rows, out)
    for row in range(size):
        product(rows[row : row + 1], alone[row : row + 1])
    return bool((out.view(np.uint32) != alone.view(np.uint32)).any())
