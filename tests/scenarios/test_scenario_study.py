"""Reports that are arithmetic on what came back, and need no server.

Case 38 (scores read as quality) is not here: temp0 compares texts, and comparing scores is another issue's work.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from conclusion import condition, excluded, found, named
from told_run import Shift, answered, run_in_company, tokens, told_run

import temp0
from temp0.core.analysis import Verdict
from temp0.core.plan import Condition
from temp0.core.run import Completion

IN_COMPANY = Condition(company=8)


def studied() -> list[Completion]:
    """1,000 answers that share 102 tokens: 992 go east and 8 north, in 80 distinct texts."""
    shared: list[tuple[str, None, dict[str, float]]] = [(f"t{place} ", None, {}) for place in range(102)]
    # The first text comes 922 times, 70 others of the east once each; one of the north twice, six others once each.
    ways = [("east", 0, 921), *[("east", way, 1) for way in range(1, 72)]]
    ways += [("north", 0, 1), *[("north", way, 1) for way in range(1, 8)]]
    answers = []
    for side, way, count in ways:
        told = tokens(*shared, (side, None, {}), (f" and on {way}.", None, {}))
        answers += [answered(told)] * count
    return answers


def test_a_thousand_answers_fork_at_the_103rd_token_992_to_8() -> None:
    answers = studied()
    assert len(answers) == 1_000
    prompt = temp0.analyze(told_run(answers)).prompts[0]
    assert (prompt.distinct.text, prompt.distinct.tokens) == (80, 80)
    assert prompt.tree is not None
    assert prompt.tree.fork is not None
    fork = prompt.tree.fork
    assert fork.token == 102
    assert [branch.count for branch in fork.branches] == [992, 8]
    assert [branch.text[:5] for branch in fork.branches] == ["east ", "north"]
    assert prompt.first_difference.tokens == 102
    assert sum(text.count for text in prompt.texts) == prompt.tree.count == 1_000
    same = sum(branch.count * (branch.count - 1) for branch in fork.branches) / (1_000 * 999)
    assert same == pytest.approx(0.98411, abs=1e-5)


@pytest.mark.parametrize(
    ("own", "other", "kind", "value"),
    [
        (-1.0606343, -1.0606343, "exact-tie", 0.0),
        (-0.6325, -0.7575, "near", 0.125),
        (-0.5759, -0.8259, "near", 0.25),
        (-0.3133, -1.3133, "unclear", 1.0),
        (-0.0486, -3.0486, "confident", 3.0),
    ],
    ids=["tie", "one step below 32", "one step above 32", "eight steps", "sure"],
)
def test_the_margin_at_a_fork_is_classed_by_its_size(own: float, other: float, kind: str, value: float) -> None:
    east = answered(tokens(("Go ", -0.1, {"Stay ": -2.4}), ("east", own, {"west": other})))
    west = answered(tokens(("Go ", -0.1, {"Stay ": -2.4}), ("west", own, {"east": other})))
    analysis = temp0.analyze(told_run([east, west] * 4, condition=Condition(logprobs=True)))
    tree = analysis.prompts[0].tree
    assert tree is not None
    assert tree.fork is not None
    assert (tree.fork.token, tree.fork.margin.kind) == (1, kind)
    assert tree.fork.margin.value == pytest.approx(value)
    assert "sampling" not in named(analysis)


def test_a_cold_tie_and_a_warm_lead_are_told_side_by_side() -> None:
    cold = answered(tokens(("Go ", -0.1, {"Stay ": -2.4}), ("east", -0.6931, {"west": -0.6931})))
    warm = answered(tokens(("Go ", -0.1, {"Stay ": -2.4}), ("west", -0.6325, {"east": -0.7575})))
    tree = temp0.analyze(told_run([cold, warm] * 4, condition=Condition(logprobs=True))).prompts[0].tree
    assert tree is not None
    assert tree.fork is not None
    margin = tree.fork.margin
    assert (margin.kind, margin.value) == ("exact-tie", 0)
    assert {told.chosen: told.margin for told in margin.distributions} == {"east": 0, "west": pytest.approx(0.125)}
    assert margin.shift == pytest.approx(0.0644)  # the values moved: another rule for ties would not mend it


def test_a_fork_after_wide_characters_counts_characters_bytes_and_tokens() -> None:
    one = answered(tokens(("é", None, {}), ("界", None, {}), ("🙂", None, {}), ("x", None, {})))
    other = answered(tokens(("é", None, {}), ("界", None, {}), ("🙂", None, {}), ("y", None, {})))
    tree = temp0.analyze(told_run([one, other])).prompts[0].tree
    assert tree is not None
    assert tree.fork is not None
    assert (tree.fork.char, tree.fork.byte, tree.fork.token) == (3, 9, 3)


# Company that fell short


def twins(count: int, *, at_s: float, took_s: float, in_flight: int) -> list[Shift]:
    return [Shift(start_s=at_s, end_s=at_s + took_s, in_flight=min(place, in_flight)) for place in range(1, count + 1)]


def test_real_company_falls_short_of_nothing() -> None:
    run = run_in_company(IN_COMPANY, [twins(8, at_s=10, took_s=1.2, in_flight=8)] * 2)
    company = condition(temp0.analyze(run).prompts[0], "company 8").company
    assert (company.shortfall, company.peak) == (None, 8)
    assert company.in_flight == pytest.approx(8)
    assert company.reached is not None
    assert company.reached == pytest.approx(8 / 1.2)


def test_a_server_that_answers_one_at_a_time_is_serial() -> None:
    block = [Shift(start_s=10, end_s=11 + place, in_flight=place + 1) for place in range(8)]
    company = condition(temp0.analyze(run_in_company(IN_COMPANY, [block])).prompts[0], "company 8").company
    assert (company.shortfall, company.peak) == ("serial", 8)
    assert company.reached == pytest.approx(1)


def test_too_few_of_ours_in_flight_is_a_pool_that_is_too_small() -> None:
    waves = [*twins(4, at_s=10, took_s=1.1, in_flight=4), *twins(4, at_s=11.2, took_s=1.1, in_flight=4)]
    company = condition(temp0.analyze(run_in_company(IN_COMPANY, [waves])).prompts[0], "company 8").company
    assert (company.shortfall, company.peak) == ("pool", 4)


def test_company_that_came_after_the_judged_attempts_came_too_late() -> None:
    judged = [Shift(start_s=10, end_s=11, in_flight=1)]
    fillers = [Shift(start_s=10.98, end_s=13, in_flight=place, role="filler") for place in range(2, 9)]
    company = condition(
        temp0.analyze(run_in_company(IN_COMPANY, [[*judged, *fillers]])).prompts[0], "company 8"
    ).company
    assert (company.shortfall, company.peak) == ("late", 8)


# Replays


def test_one_id_on_attempts_that_overlapped_is_no_replay() -> None:
    answer = Completion(text="One.", finish="stop", id="batch-1", created=1)
    run = run_in_company(IN_COMPANY, [twins(8, at_s=10, took_s=1.2, in_flight=8)], alone=2, answer=answer)
    own = tuple(
        replace(attempt, outcome=replace(answer, id=f"own-{attempt.order}"))
        if attempt.condition == "alone"
        else attempt
        for attempt in run.attempts
    )
    analysis = temp0.analyze(replace(run, attempts=own))
    company = condition(analysis.prompts[0], "company 8")
    assert (company.completions, excluded(company)) == (8, 0)
    assert "response-cache" not in named(analysis)


def test_a_replay_is_excluded_whatever_block_it_came_in() -> None:
    kept = Completion(text="One.", finish="stop", id="r-1", created=1)
    analysis = temp0.analyze(told_run([kept] * 20))
    (alone,) = analysis.prompts[0].conditions
    assert (alone.completions, excluded(alone), analysis.verdict) == (1, 19, Verdict.UNDECIDED)
    assert analysis.exit_code == 4
    assert "response-cache" in named(analysis)


def test_a_store_of_shuffled_records_proves_the_same() -> None:
    run = told_run([Completion(text=text, finish="stop") for text in "abaabbabaabbabba"])
    backwards = replace(run, attempts=run.attempts[::-1], samples=run.samples[::-1])
    assert temp0.analyze(run) == temp0.analyze(backwards)
    assert found(temp0.analyze(run)) == {"unseen-company"}
