"""The engine as its clients see it: whatever arrives, is cancelled or fails, every other answer stays right."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_client import (
    CHECKPOINT,
    all_free,
    alone,
    answered,
    assert_same_bits,
    run_out,
    submitted,
    tiny_engine,
    watched,
)
from float64_model import SETTINGS, reference_greedy, reference_logits
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_gguf import write_gguf

from temp0.core.plan import Message
from temp0.engine import Emission, Engine, Request
from temp0.engine.arithmetic import Linear, StockArithmetic, arithmetic
from temp0.engine.builtin import builtin_weights
from temp0.engine.checkpoint import Array
from temp0.engine.gguf_file import read_gguf
from temp0.errors import EngineError, QueueFullError, RequestError, UsageError

PROMPTS = [tuple(range(start, start + length)) for start, length in ((3, 5), (70, 17), (120, 1), (200, 40))]
ANSWERS = [reference_greedy(CHECKPOINT, prompt, 8) for prompt in PROMPTS]


class InterruptedArithmetic:
    """Stock arithmetic that calls `interrupt` at the start of every pass."""

    name = "stock"
    rounded = False

    def __init__(self) -> None:
        self._stock = StockArithmetic(activations="fp32", threads=1)
        self.interrupt: Callable[[], None] = _go_on

    def linear(self, weight: Array) -> Linear:
        return self._stock.linear(weight)

    def limited(self) -> AbstractContextManager[object]:
        self.interrupt()
        return self._stock.limited()


def _go_on() -> None:
    pass


def _break() -> None:
    raise FloatingPointError("the multiplier burnt")


def request(prompt: tuple[int, ...] = PROMPTS[0], **options: Any) -> Request:
    return Request(tokens=prompt, **{"max_tokens": 8, **options})


def test_greedy_answers_are_those_of_plain_float64_arithmetic() -> None:
    engine = tiny_engine()
    clients = [submitted(engine, request(prompt)) for prompt in PROMPTS]
    run_out(engine)
    assert [client.tokens for client in clients] == ANSWERS
    assert [client.emissions[-1].finish for client in clients] == ["length"] * 4
    assert not any(emission.finish for client in clients for emission in client.emissions[:-1])
    assert engine.emitted_tokens == 32
    assert all_free(engine)


@pytest.mark.parametrize("chunk_tokens", [1, 3, 16, 40])
def test_greedy_answers_do_not_depend_on_the_chunk(chunk_tokens: int) -> None:
    engine = tiny_engine(chunk_tokens=chunk_tokens)
    clients = [submitted(engine, request(prompt)) for prompt in PROMPTS]
    run_out(engine)
    assert [client.tokens for client in clients] == ANSWERS


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), min_size=1, max_size=8),
    st.integers(1, 4),
    st.integers(2, 30),
)
def test_answers_do_not_depend_on_who_came_when_or_was_cancelled(
    arrivals: list[tuple[int, int, bool]], max_running: int, chunk_tokens: int
) -> None:
    """Each arrival: which prompt, how many steps pass before the next one, and whether it is then cancelled."""
    engine = tiny_engine(max_running=max_running, chunk_tokens=chunk_tokens)
    kept = []
    for prompt, steps, is_cancelled in arrivals:
        client = submitted(engine, request(PROMPTS[prompt]))
        for _ in range(steps):
            engine.step()
        if is_cancelled:
            engine.cancel(client.ticket)
        else:
            kept.append((client, ANSWERS[prompt]))
    run_out(engine)
    assert all(client.tokens == answer for client, answer in kept)
    assert all_free(engine)


def test_a_cancelled_request_frees_its_room_and_says_nothing_more() -> None:
    engine = tiny_engine()
    client = submitted(engine, request())
    engine.step()
    engine.cancel(client.ticket)
    engine.cancel(client.ticket)
    assert all_free(engine)
    run_out(engine)
    assert client.tokens == ANSWERS[0][:1]
    assert not client.failures


def test_a_request_cancelled_during_a_pass_hears_nothing_of_it() -> None:
    arithmetic = InterruptedArithmetic()
    engine = tiny_engine(arithmetic=arithmetic)
    gone, staying = submitted(engine, request()), submitted(engine, request(PROMPTS[1]))
    arithmetic.interrupt = lambda: engine.cancel(gone.ticket)
    run_out(engine)
    assert not gone.emissions
    assert staying.tokens == ANSWERS[1]
    assert engine.emitted_tokens == 8
    assert all_free(engine)


def test_an_end_token_stops_the_answer_unless_it_is_ignored() -> None:
    end = ANSWERS[1][4]
    first = ANSWERS[1].index(end)
    engine = tiny_engine(eos_ids=frozenset({end}))
    stopping, ignoring = (submitted(engine, request(PROMPTS[1], ignore_eos=ignore)) for ignore in (False, True))
    run_out(engine)
    assert stopping.tokens == ANSWERS[1][: first + 1]
    assert stopping.emissions[-1].finish == "stop"
    assert ignoring.tokens == ANSWERS[1]
    assert ignoring.emissions[-1].finish == "length"


def test_logprobs_are_those_of_the_float64_model_and_change_no_token() -> None:
    engine = tiny_engine()
    client = submitted(engine, request(PROMPTS[1], logprobs=True, top_logprobs=3))
    run_out(engine)
    assert client.tokens == ANSWERS[1]
    logits = reference_logits(CHECKPOINT, [*PROMPTS[1], *ANSWERS[1][:-1]])[len(PROMPTS[1]) - 1 :]
    exact = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    for emission, row in zip(client.emissions, exact, strict=True):
        best = np.argsort(-row)[:3]
        assert [token for token, _ in emission.top] == best.tolist()
        np.testing.assert_allclose([logprob for _, logprob in emission.top], row[best], atol=1e-4)
        assert emission.logprob == emission.top[0][1]


def test_equal_seeds_give_equal_texts_whatever_the_company() -> None:
    engine = tiny_engine()
    drawn = request(PROMPTS[3], temperature=1.5, seed=42)
    alone = submitted(engine, drawn)
    run_out(engine)
    others = [submitted(engine, request(PROMPTS[1], temperature=1.5)) for _ in range(3)]
    engine.step()
    again, another = submitted(engine, drawn), submitted(engine, replace(drawn, seed=43))
    run_out(engine)
    assert again.tokens == alone.tokens
    assert another.tokens != alone.tokens
    assert len({tuple(client.tokens) for client in others}) == 3


def test_a_greedy_request_beside_sampled_ones_stays_greedy() -> None:
    engine = tiny_engine()
    clients = [submitted(engine, request(temperature=heat)) for heat in (2.0, 0.0, 2.0)]
    run_out(engine)
    assert clients[1].tokens == ANSWERS[0]


def test_two_hundred_requests_all_end_and_every_page_comes_back() -> None:
    engine = tiny_engine(queue=200, max_running=16, chunk_tokens=64)
    clients = [submitted(engine, request(PROMPTS[index % 4], max_tokens=1 + index % 8)) for index in range(200)]
    assert (engine.running, engine.waiting) == (0, 200)
    run_out(engine)
    assert all(client.tokens == ANSWERS[i % 4][: 1 + i % 8] for i, client in enumerate(clients))
    assert all_free(engine)


def test_a_full_queue_refuses_and_all_others_are_answered() -> None:
    engine = tiny_engine(queue=3, max_running=2)
    clients = [submitted(engine, request()) for _ in range(2 + 3)]
    with pytest.raises(QueueFullError):
        submitted(engine, request())
    while engine.running == 2:
        engine.step()
    clients.append(submitted(engine, request()))
    run_out(engine)
    assert [client.tokens for client in clients] == [ANSWERS[0]] * 6


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (request(()), "the prompt has no tokens"),
        (request((1, 300)), "token id outside 0 to 299"),
        (request((-1,)), "token id outside 0 to 299"),
        (request(max_tokens=0), "max_tokens is 0"),
        (request(max_tokens=156), r"add up to 161, more than the 160 of the context: shorten"),
        (request(temperature=-0.1), "temperature is -0.1"),
        (request(temperature=float("nan")), "temperature is nan"),
        (request(temperature=float("inf")), "temperature is inf"),
        (request(top_logprobs=1), "expected 0 to 0 where logprobs are off"),
        (request(logprobs=True, top_logprobs=301), "expected 0 to 300"),
    ],
)
def test_a_request_that_cannot_be_right_is_refused_at_once(asked: Request, said: str) -> None:
    engine = tiny_engine()
    with pytest.raises(RequestError, match=said):
        submitted(engine, asked)
    assert all_free(engine)


def test_a_request_that_fits_exactly_is_served_and_one_more_is_refused() -> None:
    engine = tiny_engine(kv_tokens=48, chunk_tokens=20)
    client = submitted(engine, request(PROMPTS[3]))
    run_out(engine)
    assert client.tokens == ANSWERS[3]
    with pytest.raises(RequestError, match="49, more than the 48 of the KV cache"):
        submitted(engine, request(PROMPTS[3], max_tokens=9))


@pytest.mark.parametrize("limit", ["kv_tokens", "max_running", "chunk_tokens", "queue"])
def test_limits_of_nothing_are_refused_by_name(limit: str) -> None:
    with pytest.raises(UsageError, match=f"{limit} is 0"):
        tiny_engine(**{limit: 0})


def test_a_failed_step_fails_its_requests_and_the_engine_goes_on() -> None:
    arithmetic = InterruptedArithmetic()
    engine = tiny_engine(arithmetic=arithmetic, max_running=1)
    struck, spared = submitted(engine, request()), submitted(engine, request())
    engine.step()
    arithmetic.interrupt = _break
    with pytest.raises(FloatingPointError):
        engine.step()
    arithmetic.interrupt = _go_on
    run_out(engine)
    assert struck.tokens == ANSWERS[0][:1]
    assert "the multiplier burnt" in str(struck.failures[0])
    assert spared.tokens == ANSWERS[0]
    assert all_free(engine)


def test_a_failed_step_in_the_thread_hangs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    arithmetic = InterruptedArithmetic()
    with tiny_engine(arithmetic=arithmetic) as engine:
        engine.start()
        arithmetic.interrupt = _break
        with pytest.raises(EngineError, match="the multiplier burnt"):
            engine.generate("abc")
        arithmetic.interrupt = _go_on
        assert len(engine.generate("abc", max_tokens=5)) > 0
    assert "a step failed" in caplog.text


def test_a_callback_that_raises_ends_only_its_own_request(caplog: pytest.LogCaptureFixture) -> None:
    calls = []

    def refuse(emission: Emission) -> None:
        calls.append(emission)
        raise ZeroDivisionError

    engine = tiny_engine()
    engine.submit(request(), refuse)
    client = submitted(engine, request(PROMPTS[1]))
    run_out(engine)
    assert client.tokens == ANSWERS[1]
    assert len(calls) == 1
    assert "the callback of request 1 raised" in caplog.text
    assert all_free(engine)


def test_a_callback_may_submit_and_cancel() -> None:
    engine = tiny_engine()
    victim, followers = submitted(engine, request(PROMPTS[1])), []

    def react(emission: Emission) -> None:
        if emission.finish is None and not followers:
            engine.cancel(victim.ticket)
            followers.append(submitted(engine, request(PROMPTS[2])))

    engine.submit(request(), react)
    run_out(engine)
    assert followers[0].tokens == ANSWERS[2]
    assert victim.tokens == ANSWERS[1][:1]
    assert all_free(engine)


def test_closing_fails_whatever_is_in_hand_and_refuses_the_rest() -> None:
    engine = tiny_engine(max_running=1)
    running, waiting = submitted(engine, request()), submitted(engine, request())
    engine.step()
    engine.close()
    engine.close()
    assert ["closed" in str(client.failures[0]) for client in (running, waiting)] == [True, True]
    assert all_free(engine)
    for act in (engine.start, lambda: submitted(engine, request())):
        with pytest.raises(EngineError, match="the engine is closed"):
            act()


def test_threads_may_submit_and_cancel_while_the_engine_steps() -> None:
    with tiny_engine(queue=100, max_running=4) as engine:
        engine.start()
        texts: dict[int, str] = {}
        workers = [
            threading.Thread(target=_ask_and_cancel, args=(engine, index, texts.__setitem__)) for index in range(8)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert len(texts) == 8
        assert set(texts.values()) == {engine.generate("hello", max_tokens=6)}
        assert all_free(engine)


def _ask_and_cancel(engine: Engine, index: int, keep: Callable[[int, str], None]) -> None:
    doomed = submitted(engine, request(PROMPTS[3], max_tokens=100))
    keep(index, engine.generate("hello", max_tokens=6))
    engine.cancel(doomed.ticket)


def test_generate_answers_the_same_with_and_without_a_thread() -> None:
    engine = tiny_engine()
    stepped = engine.generate([Message(role="user", content="hello")], max_tokens=6)
    with engine:
        engine.start()
        assert engine.generate("hello", max_tokens=6) == stepped
    assert stepped


@pytest.mark.model
def test_the_built_in_model_knows_the_capital_of_france() -> None:
    with Engine.load(builtin_weights(), threads=1, kv_tokens=256) as engine:
        assert "Paris" in engine.generate("What is the capital of France?", max_tokens=12)
        assert engine.name.startswith("SmolLM2-135M-Instruct")
        assert engine.context_tokens == 8192


def test_the_fingerprint_names_the_weights_and_how_they_are_computed(tmp_path: Path) -> None:
    weights = write_gguf(tmp_path / "a.gguf")
    others = write_gguf(tmp_path / "b.gguf", metadata={"llama.rope.freq_base": 20000.0})
    prints = [
        Engine.load(path, kv_tokens=128, chunk_tokens=128, threads=1, activations=activations).fingerprint
        for path, activations in ((weights, "bf16"), (weights, "bf16"), (weights, "fp32"), (others, "bf16"))
    ]
    assert re.fullmatch("temp0-[0-9a-f]{12}", prints[0])
    assert prints[0] == prints[1]
    assert len(set(prints)) == 3


def test_how_weights_are_kept_changes_no_bit_in_invariant_arithmetic() -> None:
    asked = watched(PROMPTS[3])
    expected = alone(asked)
    for dtype in ("bf16", "fp32"):
        engine = tiny_engine(arithmetic=arithmetic("invariant", threads=1, weight_dtype=dtype))
        assert_same_bits(answered(engine, asked), expected)


@pytest.mark.parametrize(
    ("name", "dtype", "said"),
    [
        ("stock", "bf16", "weight_dtype is 'bf16', expected 'fp32' with stock arithmetic"),
        ("stock", "fp16", "weight_dtype is 'fp16', expected one of: bf16, fp32"),
        ("invariant", "fp16", "weight_dtype is 'fp16', expected one of: bf16, fp32"),
    ],
)
def test_weights_that_cannot_be_kept_so_are_refused(name: str, dtype: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        arithmetic(name, threads=1, weight_dtype=dtype)
    assert arithmetic(name, threads=1, weight_dtype="fp32").name == name


def test_a_chunk_larger_than_the_cache_is_refused_at_once() -> None:
    with pytest.raises(UsageError, match="chunk_tokens is 65, more than the 64 tokens the KV cache holds"):
        tiny_engine(kv_tokens=64, chunk_tokens=65)
    engine = tiny_engine(kv_tokens=64, chunk_tokens=64)
    assert answered(engine, request()).tokens == ANSWERS[0]


HARD_PROMPTS = [
    "List three prime numbers between 100 and 200.",
    "Give me one 12-word proverb about caching.",
    "Write a haiku about a stale cache line.",
]


@pytest.mark.torch
@pytest.mark.model
def test_greedy_tokens_are_those_of_transformers_in_fp32() -> None:
    """Up to the first token that transformers itself chose by less than 1e-3: there either may be right."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    model = _transformers_model()
    engine = Engine.load(builtin_weights(), activations="fp32", threads=1, kv_tokens=2048)
    for text in HARD_PROMPTS:
        prompt = engine.tokenizer.encode(engine.chat.render([Message(role="user", content=text)]))
        client = submitted(engine, Request(tokens=tuple(prompt), max_tokens=32, ignore_eos=True))
        run_out(engine)
        with torch.no_grad():
            logits = model(torch.tensor([[*prompt, *client.tokens[:-1]]])).logits[0, len(prompt) - 1 :]
        best, chosen = logits.topk(2)
        margins = (best[:, 0] - best[:, 1]).tolist()
        clear = next((step for step, margin in enumerate(margins) if margin < 1e-3), len(margins))
        assert clear >= 8, f"{text!r} is too nearly tied to compare"
        assert client.tokens[:clear] == chosen[:clear, 0].tolist()


def _transformers_model() -> Any:
    """LlamaForCausalLM in fp32 with the weights that the engine reads."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    checkpoint = read_gguf(builtin_weights())
    size = checkpoint.settings
    model = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            hidden_size=size.dim,
            intermediate_size=size.ffn,
            num_hidden_layers=size.layers,
            num_attention_heads=size.heads,
            num_key_value_heads=size.kv_heads,
            head_dim=size.head_dim,
            vocab_size=size.vocab,
            max_position_embeddings=size.context,
            rope_theta=size.rope_theta,
            rms_norm_eps=size.norm_eps,
            tie_word_embeddings=size.tied,
        )
    )
    weights = {_transformers_name(name): torch.from_numpy(array) for name, array in checkpoint.tensors.items()}
    missing = model.load_state_dict(weights, strict=False)
    assert not missing.unexpected_keys
    assert set(missing.missing_keys) <= {"lm_head.weight"}
    return model.float().eval()


def _transformers_name(name: str) -> str:
    ends = {"embed": "embed_tokens", "norm": "norm", "head": "lm_head"}
    if name in ends:
        return f"{'' if name == 'head' else 'model.'}{ends[name]}.weight"
    parts = {"attention_norm": "input_layernorm", "feed_norm": "post_attention_layernorm"}
    parts |= {part: f"self_attn.{part}_proj" for part in "qkvo"}
    parts |= {part: f"mlp.{part}_proj" for part in ("gate", "up", "down")}
    prefix, part = name.rsplit(".", 1)
    return f"model.{prefix}.{parts[part]}.weight"


def test_the_tiny_model_is_not_a_trivial_one() -> None:
    assert len({tuple(answer) for answer in ANSWERS}) == 4
    assert all(len(set(answer)) > 3 for answer in ANSWERS)
    assert SETTINGS.heads != SETTINGS.kv_heads
