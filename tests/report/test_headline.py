"""The first sentences a person reads say what was seen and how far it reaches."""

from __future__ import annotations

from dataclasses import replace

import analysis_samples as samples
import pytest

from temp0.core.analysis import Analysis, Distinct
from temp0.report.figure import UNBROKEN
from temp0.report.headline import deeper_level, headline, listed


def told(analysis: Analysis) -> str:
    found = headline(analysis)
    return " ".join([found.sentence, *found.reach]).replace(UNBROKEN, " ")


@pytest.mark.parametrize(
    ("make", "sentences"),
    [
        (
            samples.five_prompts,
            [
                "3 of 5 prompts each got more than one answer.",
                "The widest is E: 6 different texts in 60 completions, parting first at character 229.",
                "Asked one at a time, each of them gave one text; in company it did not stay so.",
                "A and B gave one answer each, as far as this run goes.",
            ],
        ),
        (
            samples.ended,
            [
                "The prompt got 2 different texts in 10 completions.",
                "They part first at character 18.",
                "Asked one at a time, steps already got more than one answer.",
            ],
        ),
        (samples.lined_up, ["Asked one at a time, it gave one text; in company another."]),
        (samples.agreed, ["Both prompts gave one answer each (alone).", "another answer in up to 9.5 % of blocks"]),
        (
            samples.undecided,
            [
                "No two answers differed, but that proves no agreement.",
                "Under “company 8” the server was not shown to have run requests together (A).",
            ],
        ),
        (
            samples.nothing,
            ["Nothing was measured: no completion counted.", "10 times http-401", "The first said: the server said"],
        ),
        (samples.many, ["10 of 1,000 prompts each got more than one answer.", "990 prompts gave one answer each"]),
    ],
)
def test_a_headline_says_so(make: samples.Maker, sentences: list[str]) -> None:
    for sentence in sentences:
        assert sentence in told(make())


def test_an_agreed_run_never_claims_more_than_its_bound() -> None:
    text = told(samples.analyzed({"A": {samples.ALONE: ["one"] * 3}}))

    assert "The prompt gave one answer (alone)." in text
    assert "up to 63.2 % of blocks could have gone unseen" in text


def test_the_weakest_bound_is_told_with_its_own_condition_and_blocks() -> None:
    uneven = samples.analyzed({"A": {samples.ALONE: ["one"] * 30, samples.COMPANY: ["one"] * 16}})

    assert "under “company 8”, with 2 blocks, another answer in up to 77.6 % of blocks" in told(uneven)
    assert "no bound" not in told(uneven)


def test_one_block_is_said_to_have_no_bound() -> None:
    answers = {samples.ALONE: ["one"] * 6, samples.COMPANY: ["one"] * 8}
    both = samples.analyzed({"A": answers})
    one = samples.analyzed({"A": answers, "B": {samples.ALONE: ["two"] * 6, samples.COMPANY: ["two"] * 9}})

    assert "under “alone”, with 6 blocks, another answer in up to 39.3 % of blocks" in told(both)
    assert "“company 8” ran as one block: no bound." in told(both)
    assert "“company 8” ran as one block (A): no bound." in told(one)


@pytest.mark.parametrize(
    ("parted", "of", "subject"),
    [(1, 2, "1 of 2 prompts got"), (2, 2, "Both prompts got"), (5, 5, "All 5 prompts got"), (2, 5, "2 of 5 prompts")],
)
def test_prompts_are_counted_as_a_person_would(parted: int, of: int, subject: str) -> None:
    answers = {f"p{place}": {samples.ALONE: ["one", "two" if place < parted else "one"]} for place in range(of)}

    assert headline(samples.analyzed(answers)).sentence.startswith(subject)


def test_few_completions_and_empty_ones_are_undecided_for_their_own_reasons() -> None:
    one = samples.analyzed({"A": {samples.ALONE: ["only"]}})
    empty = samples.analyzed({"A": {samples.ALONE: ["", "", ""]}})

    assert "fewer than two completions counted (A)" in told(one)
    assert "every completion was empty (A)" in told(empty)


def test_an_unfinished_run_says_so() -> None:
    assert "not finished" in told(replace(samples.agreed(), finished=False))


def test_many_names_are_cut_and_counted() -> None:
    assert listed(["A"]) == "A"
    assert listed(["A", "B"]) == "A and B"
    assert listed(["A", "B", "C"]) == "A, B and C"
    assert listed(list("ABCDEFGH")) == "A, B, C, D, E, F and 2 more"


def test_the_first_stricter_level_that_breaks_is_told_where_the_text_does_not() -> None:
    prompt = samples.agreed().prompts[0]

    def level(**distinct: int) -> str | None:
        return deeper_level(replace(prompt, distinct=Distinct(**distinct)))

    assert (
        level(text=1, tokens=1, logprobs=4)
        == "One text, but 4 different logprobs: equal text is not equal computation."
    )
    assert "3 different token sequences" in str(level(text=1, tokens=3, logprobs=4))
    assert level(text=1, tokens=1, logprobs=1) is None
    assert level(text=2, tokens=2, logprobs=2) is None
    assert level(text=1) is None
