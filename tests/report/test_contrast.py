"""Of many comparisons the telling ones are shown, and none of the others is lost from the count."""

from __future__ import annotations

from dataclasses import replace

import analysis_samples as samples
import reason_samples as reasons

from temp0.core.analysis import Positions, PromptAnalysis, Verdict
from temp0.core.plan import Condition
from temp0.report.contrast import contrasts, counts, uncounted_for


def asked(texts: dict[int, str]) -> PromptAnalysis:
    answers = {Condition(company=k): [text] * 16 for k, text in texts.items()}
    return samples.analyzed({"A": answers}).prompts[0]


def pairs(prompt: PromptAnalysis) -> list[tuple[str, str]]:
    return [(pair.a, pair.b) for pair in contrasts(prompt).shown]


def test_few_comparisons_are_all_shown() -> None:
    prompt = asked({1: "one", 2: "one", 8: "one"})

    assert contrasts(prompt).shown == prompt.comparisons
    assert contrasts(prompt).others == ""


def test_of_many_those_that_agreed_are_counted_in_one_line() -> None:
    prompt = asked({1: "one", 2: "one", 4: "one", 8: "two"})

    assert {b for _, b in pairs(prompt)} == {"company 8"}
    assert contrasts(prompt).others == "3 other pairs agreed"


def test_where_all_of_many_agreed_none_is_shown() -> None:
    prompt = asked({1: "one", 2: "one", 4: "one", 8: "one"})

    assert contrasts(prompt).shown == ()
    assert contrasts(prompt).others == "6 pairs agreed"


def test_shown_and_counted_make_up_all_pairs() -> None:
    for prompt in reasons.crossed().prompts:
        told = contrasts(prompt)
        counted = sum(int(word) for word in told.others.replace(",", "").split() if word.isdecimal())

        assert len(told.shown) + counted == len(prompt.comparisons)
        assert len(told.shown) <= 6


def test_of_many_that_diverged_the_least_likely_by_chance_come_first() -> None:
    shown = [pair.p for pair in contrasts(reasons.crossed().prompts[2]).shown if pair.verdict is Verdict.DIVERGED]
    least = min(pair.p for pair in reasons.crossed().prompts[2].comparisons if pair.p is not None)

    assert least in shown
    assert all(p is not None and p <= 0.1 for p in shown)


def test_of_many_that_diverged_those_that_chance_often_gives_are_only_counted() -> None:
    prompt = reasons.crossed().prompts[1]

    assert any(pair.p == 1 and pair.verdict is Verdict.DIVERGED for pair in prompt.comparisons)
    assert all(pair.p is not None and pair.p <= 0.1 for pair in contrasts(prompt).shown)


def test_no_more_pairs_are_shown_than_a_person_reads() -> None:
    crossed = [
        Condition(company=k, stream=stream, cache=cache)
        for k in (1, 2, 4)
        for stream in (False, True)
        for cache in ("cold", "warm")
    ]
    prompt = samples.analyzed({"A": {one: [one.name] * 16 for one in crossed}}).prompts[0]

    assert len(contrasts(prompt).shown) == 6


def test_a_pair_that_parts_beneath_one_text_is_shown_among_many_that_agreed() -> None:
    prompt = asked({1: "one", 2: "one", 4: "one", 8: "one"})
    deeper = replace(prompt.comparisons[0], first_difference=Positions(logprobs=0))
    prompt = replace(prompt, comparisons=(deeper, *prompt.comparisons[1:]))

    assert contrasts(prompt).shown == (deeper,)
    assert contrasts(prompt).others == "5 other pairs agreed"


def test_pairs_that_cannot_make_a_prompt_diverge_do_not_count() -> None:
    prompt = reasons.uncounted().prompts[0]

    assert [counts(prompt, pair) for pair in prompt.comparisons if pair.verdict is Verdict.DIVERGED]
    assert not any(counts(prompt, pair) for pair in prompt.comparisons if pair.verdict is Verdict.DIVERGED)
    assert all(counts(one, pair) for one in samples.five_prompts().prompts for pair in one.comparisons)


def test_a_pair_that_does_not_count_has_its_reason() -> None:
    prompt = reasons.uncounted().prompts[0]
    found = {(pair.a, pair.b): uncounted_for(prompt, pair) for pair in prompt.comparisons}

    assert found["alone", "alone, stream"] == "stream"
    assert found["alone", "alone, logprobs"] == "logprobs"
