"""NaN and infinity in one request's activations end that request only, with a reason, and leave nothing behind."""

from __future__ import annotations

import pytest
from company_situations import asking
from random_engine import engines
from random_model import ODD, checkpoint_of, with_poison
from watched import Lone, differences, happened, run_out, steps, submitted

from temp0.engine import Request

POISONS = {"NaN": 0, "infinity": 1}
MAKE = engines(with_poison(checkpoint_of(ODD)))
LONE = Lone(MAKE)


def poisoned(kind: str, length: int = 20) -> Request:
    """Begins well and turns bad in its middle."""
    tokens = asking(length, seed=60).tokens
    middle = length // 2
    return Request(tokens=(*tokens[:middle], POISONS[kind], *tokens[middle + 1 :]), max_tokens=6, logits=True)


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize("kind", POISONS)
def test_others_keep_their_bits_beside_numbers_that_are_none(kind: str, place: int) -> None:
    engine = MAKE(chunk_tokens=50)
    requests = [asking(12, seed=seed) for seed in range(5)]
    requests.insert(place, poisoned(kind))
    watched = [submitted(engine, request) for request in requests]
    bad = watched.pop(place)
    run_out(engine, watched)
    assert differences(watched, LONE) == []
    assert bad.emissions == []
    assert "not numbers" in str(bad.failures[0])


@pytest.mark.parametrize("prefix_cache", [False, True])
@pytest.mark.parametrize("kind", POISONS)
def test_pages_that_held_them_leave_no_trace(kind: str, prefix_cache: bool) -> None:
    engine = MAKE(kv_tokens=48, chunk_tokens=48, prefix_cache=prefix_cache)
    bad = submitted(engine, poisoned(kind, length=42))
    steps(engine, 1)
    happened(len(bad.failures) == 1, "it turned bad")
    watched = [submitted(engine, asking(40, seed=seed)) for seed in range(2)]
    steps(engine, 2)
    happened(engine.running == 1, "all pages are in use, so those of the bad one are")
    run_out(engine, watched)
    assert differences(watched, LONE) == []


@pytest.mark.parametrize("kind", POISONS)
def test_they_leave_with_whoever_leaves(kind: str) -> None:
    engine = MAKE(chunk_tokens=4)
    bad, *watched = [submitted(engine, request) for request in (poisoned(kind), asking(30), asking(9, seed=1))]
    steps(engine, 4)
    happened(engine.running == 3 and not bad.failures, "it was still being read")
    engine.cancel(bad.ticket)
    watched.append(submitted(engine, asking(20, seed=2)))
    run_out(engine, watched)
    assert differences(watched, LONE) == []
