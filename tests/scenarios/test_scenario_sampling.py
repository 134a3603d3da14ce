"""Temperature 0 that never came, and asking that changes the answer."""

from __future__ import annotations

import pytest
from conclusion import cause, condition, found, named, probed
from stage import Stage

from temp0.core.analysis import Verdict

PROMPTS = ["Ask the first.", "Ask the second.", "Ask the third."]


def test_zero_and_true_are_sent_as_they_are(stage: Stage) -> None:
    played = stage.play("company.Steady", delay_s=0.0)
    probed(played.url, prompts="Say hi.", n=2, company=1, logprobs="both")
    bodies = played.requests()
    assert all(body["temperature"] == 0 and not isinstance(body["temperature"], bool) for body in bodies)
    assert [body.get("logprobs") for body in bodies].count(True) == 2
    assert all(body["logprobs"] is True and body["top_logprobs"] > 1 for body in bodies if "logprobs" in body)
    assert all(body.get("seed", 0) == 0 for body in bodies)


def test_chosen_tokens_far_below_the_top_one_are_sampling(stage: Stage) -> None:
    played = stage.play("sampling.Sampled")
    analysis = probed(played.url, prompts=PROMPTS, n=20, company=1, logprobs="both")
    assert (analysis.verdict, analysis.exit_code) == (Verdict.DIVERGED, 1)
    assert cause(analysis, "sampling").certainty == "found"
    assert cause(analysis, "sampling").prompts == ("p1", "p2", "p3")
    assert found(analysis) == {"sampling"}


def test_a_hundred_texts_of_a_hundred_are_sampling_and_not_of_company(stage: Stage) -> None:
    played = stage.play("sampling.Sampled")
    analysis = probed(
        played.url, prompts="Ask the first.", n=96, alone=20, company=(1, 8), max_tokens=64, logprobs="on"
    )
    assert analysis.prompts[0].distinct.text > 110
    assert found(analysis) == {"sampling"}


def test_without_logprobs_nearly_as_many_texts_as_answers_are_suspected_sampling(stage: Stage) -> None:
    played = stage.play("sampling.Sampled")
    analysis = probed(played.url, prompts=PROMPTS, n=20, company=1)
    assert named(analysis)["sampling"] == "suspected"
    assert not {"backend-mix", "cache-state", "order", "company", "run-to-run"} & set(named(analysis))


def test_a_refused_temperature_is_told_as_the_server_put_it(stage: Stage) -> None:
    played = stage.play("sampling.RefusesTemperature")
    analysis = probed(played.url, prompts="Ask the first.", n=4, company=1)
    (alone,) = analysis.prompts[0].conditions
    assert (analysis.verdict, analysis.exit_code, alone.completions) == (Verdict.UNDECIDED, 3, 0)
    assert cause(analysis, "not-measured").certainty == "found"
    told = cause(analysis, "not-measured")
    assert "'temperature' does not support 0" in told.evidence + told.remedy
    assert set(named(analysis)) == {"not-measured", "sampling"}


# Nearly sampling, and not


def test_one_prompt_of_many_whose_texts_all_differ_is_not_sampling(stage: Stage) -> None:
    played = stage.play("sampling.OneWildPrompt")
    analysis = probed(played.url, prompts=[*PROMPTS, "Ask the wild one."], n=16, company=1)
    assert [prompt.distinct.text for prompt in analysis.prompts] == [1, 1, 1, 16]
    assert "sampling" not in named(analysis)


def test_an_exact_tie_is_not_sampling(stage: Stage) -> None:
    played = stage.play("sampling.AtTheFork")
    analysis = probed(played.url, prompts="Ask the first.", n=16, company=1, logprobs="on")
    tree = analysis.prompts[0].tree
    assert tree is not None
    (fork,) = tree.forks()
    assert (fork.token, fork.char, fork.margin.kind, fork.margin.value) == (2, 6, "exact-tie", 0)
    assert "sampling" not in named(analysis)


def test_a_token_a_little_below_the_top_one_is_at_most_suspected_sampling(stage: Stage) -> None:
    played = stage.play("sampling.AtTheFork", own=-0.9, other=-0.6)
    analysis = probed(played.url, prompts="Ask the first.", n=16, company=1, logprobs="on")
    assert named(analysis)["sampling"] == "suspected"


def test_branches_that_each_prefer_their_own_token_by_little_are_not_sampling(stage: Stage) -> None:
    played = stage.play("sampling.AtTheFork", own=-0.65, other=-0.74)
    analysis = probed(played.url, prompts="Ask the first.", n=16, company=1, logprobs="on")
    tree = analysis.prompts[0].tree
    assert tree is not None
    margin = tree.forks()[0].margin
    assert margin.kind == "near"
    assert margin.value == pytest.approx(0.09)
    assert margin.shift == pytest.approx(0.09)  # each token is 0.09 likelier where it was chosen
    assert [told.chosen.strip() for told in margin.distributions] == [
        branch.text for branch in tree.forks()[0].branches
    ]
    assert "sampling" not in named(analysis)


# The observer


def test_logprobs_that_change_long_answers_are_the_observer_and_plain_ones_decide(stage: Stage) -> None:
    played = stage.play("sampling.Observed")
    analysis = probed(played.url, prompts=["A short one.", "A long one."], n=12, company=1, logprobs="both")
    assert (analysis.verdict, analysis.exit_code) == (Verdict.AGREED, 0)
    assert cause(analysis, "observer").certainty == "found"
    assert cause(analysis, "observer").prompts == ("p2",)
    assert found(analysis) == {"observer"}
    long = analysis.prompts[1]
    assert (condition(long, "alone").distinct.text, condition(long, "alone, logprobs").distinct.text) == (1, 3)


def test_asking_for_logprobs_where_plain_answers_vary_too_is_not_the_observer(stage: Stage) -> None:
    played = stage.play("sampling.Observed", chance_plain=0.5)
    analysis = probed(played.url, prompts=["A long one."], n=12, company=1, logprobs="both")
    assert analysis.verdict is Verdict.DIVERGED
    assert "observer" not in named(analysis)


def test_answers_that_are_the_same_with_logprobs_have_no_observer(stage: Stage) -> None:
    played = stage.play("sampling.Observed")
    analysis = probed(played.url, prompts=["A short one."], n=12, company=1, logprobs="both")
    assert (analysis.verdict, named(analysis)) == (Verdict.AGREED, {})


def test_texts_that_vary_by_chance_streamed_or_whole_are_not_the_observer(stage: Stage) -> None:
    played = stage.play("hour.Chance", rate=0.4)
    analysis = probed(played.url, prompts="Ask the first.", n=12, company=1, stream="both")
    assert analysis.verdict is Verdict.DIVERGED
    assert "observer" not in named(analysis)
