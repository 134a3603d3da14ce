"""Two runs side by side: which prompts meet, what counts as alike, and how fast each was."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from building import ALONE, IN_COMPANY, REFUSED, WITH_LOGPROBS, Observed, built_run, with_fillers

from temp0.core.likeness import matrix
from temp0.core.pairing import Pairing, pairing, side
from temp0.core.plan import Message
from temp0.core.pooling import pooled
from temp0.core.run import Attempt, Completion, Run, Usage


def paired(a: dict[str, Observed], b: dict[str, Observed]) -> Pairing:
    return pairing(built_run(a), built_run(b))


def tokens_per_s(run: Run, condition: str) -> float | None:
    return side([run]).rates[condition]


def counted(count: int | None) -> Completion:
    return Completion(text="yes", finish="stop", usage=Usage(completion=count))


def test_equal_answers_are_alike() -> None:
    found = paired({"P": {ALONE: ["yes"] * 3}}, {"P": {ALONE: ["yes"] * 5}})
    assert (found.exit_code, found.prompts[0].part_at) == (0, None)


def test_commonest_answers_part_at_their_first_different_character() -> None:
    found = paired({"P": {ALONE: ["say yes", "say yes", "never"]}}, {"P": {ALONE: ["say no", "say no", "maybe"]}})
    assert (found.exit_code, found.prompts[0].part_at) == (1, 4)


def test_a_text_that_ends_where_the_other_goes_on_parts_there() -> None:
    assert paired({"P": {ALONE: ["yes"] * 2}}, {"P": {ALONE: ["yes."] * 2}}).prompts[0].part_at == 3


def test_one_side_that_varies_is_unlike_even_where_the_commonest_texts_are_equal() -> None:
    assert paired({"P": {ALONE: ["yes", "yes", "no"]}}, {"P": {ALONE: ["yes"] * 3}}).exit_code == 1


def test_prompts_meet_by_what_was_asked_and_not_by_their_place() -> None:
    a = {"P": {ALONE: ["p"] * 2}, "Q": {ALONE: ["q"] * 2}}
    b = {"Q": {ALONE: ["q"] * 2}, "R": {ALONE: ["r"] * 2}}
    found = paired(a, b)
    assert [(one.a.id, one.b.id) for one in found.prompts] == [("Q", "Q")]
    assert (found.only_a, found.only_b, found.exit_code) == (("P",), ("R",), 4)


def test_two_prompts_that_ask_the_same_meet_one_by_one() -> None:
    run = built_run({"P": {ALONE: ["p"] * 2}, "Q": {ALONE: ["q"] * 2}})
    twins = tuple(replace(prompt, messages=run.plan.prompts[0].messages) for prompt in run.plan.prompts)
    run = replace(run, plan=replace(run.plan, prompts=twins))
    found = pairing(run, run)
    assert [(one.a.id, one.b.id) for one in found.prompts] == [("P", "P"), ("Q", "Q")]
    assert found.exit_code == 0


def test_nothing_in_common_is_nothing_measured() -> None:
    assert paired({"P": {ALONE: ["p"] * 2}}, {"Q": {ALONE: ["p"] * 2}}).exit_code == 3
    assert paired({"P": {ALONE: ["p"] * 2}}, {"P": {ALONE: [REFUSED] * 2}}).exit_code == 3


def test_a_prompt_that_one_side_did_not_answer_leaves_it_open() -> None:
    a: dict[str, Observed] = {"P": {ALONE: ["p"] * 2}, "Q": {ALONE: ["q"] * 2}}
    assert paired(a, {"P": {ALONE: ["p"] * 2}, "Q": {ALONE: [REFUSED] * 2}}).exit_code == 4


def test_only_conditions_of_both_runs_have_a_rate() -> None:
    found = paired({"P": {ALONE: ["p"] * 2, IN_COMPANY: ["p"] * 8}}, {"P": {ALONE: ["p"] * 2}})
    assert [rate.condition for rate in found.rates] == ["alone"]


def test_tokens_of_a_pool_count_together_over_the_time_it_took() -> None:
    run = built_run({"P": {ALONE: [counted(30)] * 2, IN_COMPANY: [counted(30)] * 16}})
    assert tokens_per_s(run, "alone") == pytest.approx(30)
    assert tokens_per_s(run, "company 8") == pytest.approx(240)


def test_fillers_count_and_pauses_do_not() -> None:
    run = with_fillers(built_run({"P": {IN_COMPANY: [counted(30)] * 8}}), beside=IN_COMPANY, texts=["yes"])
    run = replace(run, attempts=(*run.attempts[:-1], late(run.attempts[-1])))
    assert tokens_per_s(run, "company 8") == pytest.approx((8 * 30 + 10) / 2)


def late(attempt: Attempt) -> Attempt:
    return replace(attempt, started_s=100.0, ended_s=101.0, outcome=counted(10))


@pytest.mark.parametrize("outcomes", [[counted(None)], [counted(3), counted(None)], [REFUSED]])
def test_a_rate_without_every_count_is_unknown(outcomes: list[Completion]) -> None:
    run: Run = built_run({"P": {ALONE: outcomes}})
    assert tokens_per_s(run, "alone") is None
    found = pairing(run, built_run({"P": {ALONE: [counted(3)]}}))
    assert found.rates[0].ratio is None


def test_sides_that_vary_in_the_same_way_have_not_changed() -> None:
    mixed: dict[str, Observed] = {"P": {ALONE: ["yes", "no"] * 6}}
    found = paired(mixed, mixed)
    assert not found.is_beyond_chance
    assert not found.prompts[0].change.is_beyond_chance
    assert found.exit_code == 0


def test_one_text_each_but_not_the_same_is_a_change_beyond_chance() -> None:
    found = paired({"P": {ALONE: ["yes"] * 5}}, {"P": {ALONE: ["no"] * 5}})
    change = found.prompts[0].change
    assert (change.within_a, change.within_b, change.across) == (1.0, 1.0, 0.0)
    assert change.p == pytest.approx(2 / 252)
    assert change.is_beyond_chance
    assert found.p == change.p


def test_a_pool_of_company_is_one_block_however_many_answers_it_holds() -> None:
    change = paired({"P": {IN_COMPANY: ["yes"] * 8}}, {"P": {IN_COMPANY: ["no"] * 8}}).prompts[0].change
    assert (change.blocks_a, change.blocks_b, change.within_a) == (1, 1, None)
    assert change.p == 1.0
    assert not change.is_beyond_chance


def test_identity_is_over_pairs_of_different_blocks() -> None:
    a: dict[str, Observed] = {"P": {IN_COMPANY: ["x"] * 8 + ["x"] * 4 + ["y"] * 4}}
    change = paired(a, {"P": {IN_COMPANY: ["y"] * 16}}).prompts[0].change
    assert (change.within_a, change.within_b, change.across) == (0.5, 1.0, 0.25)


def test_prompts_are_adjusted_for_each_other_and_steady_ones_cost_nothing() -> None:
    moved_a: dict[str, Observed] = {name: {ALONE: ["yes"] * 5} for name in "PQ"}
    moved_b: dict[str, Observed] = {name: {ALONE: ["no"] * 5} for name in "PQ"}
    steady: dict[str, Observed] = {name: {ALONE: ["same"] * 5} for name in "RSTU"}
    found = paired({**moved_a, **steady}, {**moved_b, **steady})
    assert [one.change.p_adjusted for one in found.prompts] == [
        pytest.approx(2 * 2 / 252), pytest.approx(2 * 2 / 252), 1.0, 1.0, 1.0, 1.0
    ]  # fmt: skip
    assert found.is_beyond_chance


def test_conditions_of_one_side_alone_are_not_taken_for_a_change_of_the_other() -> None:
    change = paired({"P": {ALONE: ["yes"] * 5}}, {"P": {IN_COMPANY: ["no"] * 16}}).prompts[0].change
    assert (change.p, change.across, change.is_beyond_chance) == (None, None, False)


def test_answers_with_logprobs_are_left_out_where_others_were_asked_for() -> None:
    a: dict[str, Observed] = {"P": {ALONE: ["yes"] * 5, WITH_LOGPROBS: ["yes"] * 5}}
    b: dict[str, Observed] = {"P": {ALONE: ["yes"] * 5, WITH_LOGPROBS: ["no"] * 5}}
    assert paired(a, b).prompts[0].change.p == 1.0


def test_the_fork_of_the_commonest_answers_is_told_in_characters_and_bytes() -> None:
    fork = paired({"P": {ALONE: ["é yes"] * 2}}, {"P": {ALONE: ["é no"] * 2}}).prompts[0].fork
    assert fork is not None
    assert (fork.char, fork.byte, fork.a, fork.b) == (2, 3, "yes", "no")


def test_blocks_of_a_group_are_pooled_and_stay_blocks() -> None:
    one = built_run({"P": {ALONE: ["yes"] * 3, IN_COMPANY: ["yes"] * 8}})
    other = replace(built_run({"P": {ALONE: ["no"] * 2}, "Q": {ALONE: ["q"] * 2}}), id="run-2")
    found = pairing(side([one, other]), one)
    assert found.a.run == "run-1,run-2"
    assert found.a.requests == len(one.attempts) + len(other.attempts)
    p, q = found.a.prompts
    assert (p.id, q.id, found.only_a) == ("P", "Q", ("Q",))
    assert {text.text: text.count for text in p.texts} == {"yes": 11, "no": 2}
    change = found.prompts[0].change
    assert (change.blocks_a, change.blocks_b) == (5 + 1, 3 + 1)


def test_equal_ids_in_two_runs_of_a_group_are_no_replay() -> None:
    told = Completion(text="yes", finish="stop", id="1", created=1)
    runs = [replace(built_run({"P": {ALONE: [told]}}), id=name) for name in ("run-1", "run-2")]
    assert side(runs).judged.prompts[0].conditions[0].excluded == ()
    assert side(runs).judged.prompts[0].conditions[0].completions == 2


def test_two_questions_under_one_id_stay_two_prompts_of_a_group() -> None:
    one = built_run({"P": {ALONE: ["p"] * 2}})
    asked = replace(one.plan.prompts[0], messages=(Message(role="user", content="Another"),))
    other = replace(one, id="run-2", plan=replace(one.plan, prompts=(asked,)))
    assert [prompt.id for prompt in side([one, other]).judged.prompts] == ["P", "P of run-2"]


def test_pooling_moves_a_run_behind_the_others() -> None:
    one, other = (replace(built_run({"P": {IN_COMPANY: ["p"] * 16}}), id=name) for name in ("run-1", "run-2"))
    both = pooled([one, other])
    assert len({attempt.order for attempt in both.attempts}) == 32
    assert len({attempt.block for attempt in both.attempts}) == 4
    assert {sample.block for sample in both.samples} == {attempt.block for attempt in both.attempts}
    assert tokens_per_s(both, "company 8") is None
    assert min(attempt.started_s for attempt in both.attempts[16:]) >= max(one.ended_s for one in both.attempts[:16])


def test_several_sides_are_compared_pair_by_pair() -> None:
    steady, other = {"P": {ALONE: ["yes"] * 5}}, {"P": {ALONE: ["no"] * 5}}
    found = matrix([side([built_run(one)]) for one in (steady, steady, other)])
    assert [(pair.a, pair.b, pair.same, pair.identity, pair.exit_code) for pair in found.pairs] == [
        (0, 1, 1, 1.0, 0), (0, 2, 0, 0.0, 1), (1, 2, 0, 0.0, 1)
    ]  # fmt: skip
    assert (found.within, found.exit_code) == ((1.0, 1.0, 1.0), 1)
    assert [pair.p_adjusted for pair in found.pairs] == [1.0, pytest.approx(6 / 252), pytest.approx(6 / 252)]


def test_sides_without_anything_in_common_are_not_measured() -> None:
    found = matrix([side([built_run({name: {ALONE: ["yes"] * 2}})]) for name in "PQR"])
    assert found.exit_code == 3
    assert {pair.identity for pair in found.pairs} == {None}


def told_by_import(run: Run, max_tokens: int = 1) -> Run:
    prompts = tuple(replace(one, max_tokens=max_tokens) for one in run.plan.prompts)
    return replace(run, untold=("company", "order", "parameters"), plan=replace(run.plan, prompts=prompts))


def test_an_imported_run_meets_one_of_our_own_by_words_alone() -> None:
    own = built_run({"P": {ALONE: ["yes"] * 4}})
    imported = told_by_import(built_run({"P": {ALONE: ["no"] * 4}}))
    for a, b in ((own, imported), (imported, own)):
        found = pairing(a, b)
        assert (len(found.prompts), found.only_a, found.only_b, found.exit_code) == (1, (), (), 1)
    assert pairing(own, replace(imported, untold=())).prompts == ()


def test_alike_answers_of_a_side_that_is_undecided_are_open_and_not_unlike() -> None:
    found = paired({"P": {ALONE: ["yes"] * 4}}, {"P": {ALONE: ["yes"]}})
    assert [str(found.prompts[0].a.verdict), str(found.prompts[0].b.verdict)] == ["agreed", "undecided"]
    assert found.exit_code == 4


def test_a_run_without_attempts_has_nothing_in_common_with_any() -> None:
    run = built_run({"P": {ALONE: ["yes"] * 4}})
    empty = replace(run, attempts=())
    for a, b in ((run, empty), (empty, run), (empty, empty)):
        assert pairing(a, b).exit_code == 3
    assert matrix([side([empty]), side([run]), side([empty])]).exit_code == 3


def test_four_endpoints_are_six_pairs_and_holm_is_over_all_of_them() -> None:
    texts = ("yes", "yes", "no", "yes")
    sides = [side([built_run({name: {ALONE: [text] * 5} for name in "PQ"})]) for text in texts]
    found = matrix(sides)
    assert [(pair.a, pair.b, pair.same) for pair in found.pairs if pair.same == 0] == [(0, 2, 0), (1, 2, 0), (2, 3, 0)]
    unlike = [pair for pair in found.pairs if pair.same == 0]
    assert all(pair.p is not None and pair.p_adjusted == pytest.approx(min(1, 6 * pair.p)) for pair in unlike)
    assert found.exit_code == 1


def test_sides_that_answer_alike_are_taken_for_changed_no_more_often_than_stated() -> None:
    """Of 60 pairs without any change 3 are expected at 5 %; more than 8 has a chance of under 1 %."""
    changed = 0
    for seed in range(60):
        random = Random(seed)
        chances = [random.betavariate(2, 1) for _ in range(4)]
        a, b = (
            {
                f"P{place}": {
                    ALONE: ["a" if random.random() < chance else "b" for _ in range(5)],
                    IN_COMPANY: [text for _ in range(2) for text in [random.choice("ac")] * 8],
                }
                for place, chance in enumerate(chances)
            }
            for _ in range(2)
        )
        found = paired(a, b)
        changed += found.is_beyond_chance or any(one.change.is_beyond_chance for one in found.prompts)
    assert changed <= 8
