"""A fork is followed down to the operation where it begins, which here is known because it was planted."""

from __future__ import annotations

from dataclasses import replace

import pytest
from planted import OrderByCount, PlantedArithmetic
from random_model import EVEN, checkpoint_of, with_tied_tokens

from temp0.engine.arithmetic import InvariantArithmetic
from temp0.engine.descent import Diver
from temp0.engine.watched_model import Sight
from temp0.errors import RequestError

READ, PROMPT = "why", "a question"
MODEL = checkpoint_of(EVEN)
PRODUCTS = ("qkv", "o", "gate_up", "down")


class FaultOfOne(PlantedArithmetic):
    """One linear of all, counted in the order in which a model prepares them, adds backwards in a batch of its own."""

    def __init__(self, chosen: int) -> None:
        super().__init__()
        self._faulty = OrderByCount(most=4)
        self._chosen = chosen
        self._prepared = -1

    def linear(self, weight):
        self._prepared += 1
        return (self._faulty if self._prepared == self._chosen else super()).linear(weight)


class WrongToken(PlantedArithmetic):
    """In a batch of more than `most` rows one logit is raised by far, so that every such batch forks at once."""

    def __init__(self, *, most: int, token: int) -> None:
        super().__init__()
        self._most, self._token = most, token

    def linear(self, weight):
        inner = super().linear(weight)

        def multiply(rows, out, *, rounded=False):
            inner(rows, out, rounded=rounded)
            if out.shape[1] == EVEN.vocab and len(rows) > self._most:
                out[:, self._token] += 100

        return multiply


def descent(arithmetic, *, companies=(2, 6), max_tokens=5, checkpoint=MODEL):
    diver = Diver(checkpoint, arithmetic, most=max(companies))
    return diver.descend(READ, prompt=PROMPT, companies=companies, max_tokens=max_tokens)


@pytest.mark.parametrize("layer", range(EVEN.layers))
@pytest.mark.parametrize("product", range(len(PRODUCTS)))
def test_the_planted_product_is_where_the_bits_first_differ(layer, product):
    found = descent(FaultOfOne(layer * len(PRODUCTS) + product)).origin
    assert (found.layer, found.operation) == (layer, PRODUCTS[product])
    assert found.rows_alone <= 4 < found.rows_in_company
    assert 0 < found.differing <= found.outputs
    assert found.largest > 0


def test_a_difference_in_the_head_alone_leaves_every_layer_as_it_was():
    found = descent(FaultOfOne(EVEN.layers * len(PRODUCTS)))
    assert (found.origin.layer, found.origin.operation, found.origin.inputs) == (None, "head", EVEN.dim)
    assert [layer.share for layer in found.layers] == [0.0] * EVEN.layers
    a, b = found.candidates
    assert (a.alone, b.alone) != (a.in_company, b.in_company)


def test_the_difference_is_told_layer_by_layer_from_where_it_began():
    layers = descent(FaultOfOne(len(PRODUCTS) + 1)).layers
    assert [layer.layer for layer in layers] == list(range(EVEN.layers))
    assert layers[0].share == layers[0].relative == layers[0].largest == 0
    assert layers[1].share > 0 < layers[1].relative


def test_the_invariant_order_has_no_origin_and_no_fork():
    found = descent(InvariantArithmetic(activations="bf16", threads=1))
    assert found.origin is None
    assert not found.has_forked
    assert all(layer.share == 0 for layer in found.layers)
    assert all(one.alone == one.in_company for one in found.candidates)


def test_a_fork_names_the_first_company_that_forks_and_the_two_tokens_that_swap():
    token = 7
    found = descent(WrongToken(most=2, token=token), companies=(2, 3, 6))
    assert found.has_forked
    assert (found.company, found.token, found.char) == (3, 0, 0)
    first, second = found.candidates
    assert second.token == token != first.token
    assert first.alone > second.alone
    assert second.in_company > first.in_company


def test_where_nothing_forks_the_closest_choice_is_looked_at():
    tied = with_tied_tokens(MODEL)
    found = descent(OrderByCount(most=4), checkpoint=tied)
    assert not found.has_forked
    first, second = found.candidates
    assert first.alone == second.alone
    assert first.token < second.token


def test_the_text_before_the_fork_is_what_the_model_wrote():
    found = descent(InvariantArithmetic(activations="fp32", threads=1))
    assert len(found.text) == found.char
    assert 0 <= found.token < 5
    assert found.prompt == PROMPT


def test_a_prompt_too_long_for_the_model_is_refused():
    with pytest.raises(RequestError, match="more than the 8 of the context"):
        descent(
            InvariantArithmetic(activations="fp32", threads=1),
            max_tokens=9,
            checkpoint=replace(MODEL, settings=replace(EVEN, context=8)),
        )


def test_a_long_prompt_is_read_in_chunks_alone_and_in_company_alike():
    diver = Diver(MODEL, InvariantArithmetic(activations="fp32", threads=1), most=3)
    assert diver.descend("w" * 300, prompt=PROMPT, companies=(3,), max_tokens=3).origin is None


def test_watching_changes_no_bit_and_unwatched_rows_are_not_seen():
    seen = []
    for sight in (None, Sight(keep=frozenset(range(8)))):
        diver = Diver(MODEL, OrderByCount(most=4), most=2)
        answers = diver._answers((5, 6, 7), company=2, max_tokens=4, place=1, sight=sight)
        seen.append(answers.tokens)
    assert seen[0] == seen[1]
    assert {place.position for place in sight.digests} == set(range(6))
    assert all(kept.row < kept.rows for kept in sight.kept.values())
