from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from engine_client import (
    CHECKPOINT,
    all_free,
    answered,
    invariant,
    invariant_engine,
    run_out,
    submitted,
    text,
    tiny_engine,
    watched,
)
from float64_model import reference_logits

from temp0.engine import Engine, Request
from temp0.engine.sampling import score
from temp0.errors import EngineError, RequestError

PROMPT = text(70)


def scoring(tokens=PROMPT, *, max_tokens=4, **options):
    return Request(
        tokens=tokens, max_tokens=max_tokens, logprobs=True, prompt_logprobs=True, **{"top_logprobs": 3, **options}
    )


def bits(client):
    """All that was told of the prompt; floats compare as bits here, since none is a zero or a NaN."""
    assert not client.failures
    return client.emissions[0].prompt


def alone(asked):
    return answered(invariant_engine(chunk_tokens=128), asked)


def test_every_token_but_the_first_has_the_logprob_of_a_float64_model():
    scores = bits(answered(tiny_engine(), scoring()))
    logits = reference_logits(CHECKPOINT, PROMPT)
    expected = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    assert [told.token for told in scores] == list(PROMPT[1:])
    for place, told in enumerate(scores):
        assert told.logprob == pytest.approx(expected[place, told.token], abs=1e-3)
        assert [logprob for _, logprob in told.top] == pytest.approx(
            sorted(expected[place], reverse=True)[:3], abs=1e-3
        )


def test_a_generated_text_scored_as_a_prompt_has_the_bits_it_was_generated_with():
    generated = alone(scoring(max_tokens=20))
    scores = bits(alone(scoring((*PROMPT, *generated.tokens), max_tokens=0)))
    assert scores[: len(PROMPT) - 1] == bits(generated)
    assert [(told.token, told.logprob, told.top) for told in scores[len(PROMPT) - 1 :]] == [
        (emission.token, emission.logprob, emission.top) for emission in generated.emissions
    ]


@pytest.mark.parametrize("chunk_tokens", [1, 7, 16, 33, 69, 70])
def test_chunk_cuts_change_no_bit(chunk_tokens):
    assert bits(answered(invariant_engine(chunk_tokens=chunk_tokens), scoring())) == bits(alone(scoring()))


def test_company_changes_no_bit():
    engine = invariant_engine(kv_tokens=2048)
    beside = [submitted(engine, watched(text(length, seed=length), max_tokens=30)) for length in (5, 40, 90)]
    for _ in range(4):
        engine.step()
    scored = [submitted(engine, scoring()), submitted(engine, scoring(text(50, seed=3)))]
    run_out(engine)
    assert all(client.has_ended and not client.failures for client in beside)
    assert bits(scored[0]) == bits(alone(scoring()))
    assert bits(scored[1]) == bits(alone(scoring(text(50, seed=3))))
    assert scored[0].tokens == alone(scoring()).tokens


def test_company_that_is_scored_does_not_change_the_bits_of_those_who_are_not():
    engine = invariant_engine(kv_tokens=2048)
    asked = watched(text(40, seed=5), max_tokens=12)
    plain, _ = submitted(engine, asked), submitted(engine, scoring())
    run_out(engine)
    expected = alone(asked)
    assert [emission.logits.tobytes() for emission in plain.emissions] == [
        emission.logits.tobytes() for emission in expected.emissions
    ]


@pytest.mark.parametrize("chunk_tokens", [24, 2])  # the second gives way while it answers; while it still reads
def test_a_request_that_had_to_give_way_is_scored_once_with_the_same_bits(chunk_tokens):
    engine = invariant_engine(kv_tokens=192, chunk_tokens=chunk_tokens)
    clients = [submitted(engine, scoring(text(80, seed=seed), max_tokens=60)) for seed in (1, 2)]
    run_out(engine)
    assert engine.preemptions
    for seed, client in zip((1, 2), clients, strict=True):
        assert bits(client) == bits(alone(scoring(text(80, seed=seed), max_tokens=60)))
        assert all(not emission.prompt for emission in client.emissions[1:])


def test_a_prompt_in_the_prefix_cache_is_still_scored_in_full():
    engine = invariant_engine()
    answered(engine, watched(PROMPT))
    again = answered(engine, scoring())
    assert again.cached == 0
    assert bits(again) == bits(alone(scoring()))


def test_nothing_is_scored_where_it_is_not_asked_for():
    assert bits(alone(replace(scoring(), prompt_logprobs=False))) == ()


def test_without_an_answer_the_prompt_may_fill_the_context_and_no_token_counts():
    engine = invariant_engine(kv_tokens=512)
    tokens = text(min(engine.context_tokens, 512), seed=9)
    client = answered(engine, scoring(tokens, max_tokens=0))
    assert len(bits(client)) == len(tokens) - 1
    assert [emission.finish for emission in client.emissions] == ["length"]
    assert engine.emitted_tokens == 0
    assert engine.prompt_tokens == len(tokens)
    assert all_free(engine, capacity=512)


def test_an_end_token_after_a_prompt_that_is_only_scored_is_not_its_end():
    every = frozenset(range(CHECKPOINT.settings.vocab))
    client = answered(tiny_engine(eos_ids=every), scoring(max_tokens=0))
    assert [emission.finish for emission in client.emissions] == ["length"]


def test_a_prompt_of_one_token_has_no_scores():
    assert bits(alone(scoring(PROMPT[:1]))) == ()


def test_no_answer_and_no_scores_is_nothing_to_ask_for():
    with pytest.raises(RequestError, match="max_tokens is 0"):
        invariant_engine().submit(Request(tokens=PROMPT, max_tokens=0), lambda _: None)


def test_a_prompt_whose_logits_are_no_numbers_fails():
    embed = CHECKPOINT.tensors["embed"].copy()
    embed[PROMPT[40]] = np.nan
    broken = replace(CHECKPOINT, tensors={**CHECKPOINT.tensors, "embed": embed})
    with Engine(broken, invariant(), fingerprint="temp0-test", chunk_tokens=30) as engine:
        client = answered(engine, scoring())
        assert isinstance(client.failures[0], EngineError)
        assert not client.emissions
        assert all_free(engine)


@pytest.mark.parametrize("worst", [np.nan, np.inf])
def test_no_token_has_a_score_where_the_logits_are_no_numbers(worst):
    logits = np.array([0.5, worst, -1.0], dtype=np.float32)
    assert score(logits, 0, 2) is None
    assert score(np.array([0.5, 2.0, -1.0], dtype=np.float32), 0, 2) is not None
