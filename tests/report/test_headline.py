"""The first sentences a person reads say what was seen and how far it reaches."""

from __future__ import annotations

from dataclasses import replace

import analysis_samples as samples
import pytest

from temp0.core.analysis import Analysis, Cause, Distinct
from temp0.report.headline import again, deeper_level, headline, limits, listed, why


def told(analysis: Analysis) -> str:
    found = headline(analysis)
    return " ".join([found.sentence, *found.reach])


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
            ["Nothing was measured: no completion counted.", "10 times HTTP 401", "The first said: the server said"],
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


def test_the_weakest_bound_is_the_one_that_is_told() -> None:
    uneven = samples.analyzed({"A": {samples.ALONE: ["one"] * 30}, "B": {samples.ALONE: ["two"] * 10}})

    assert "with as few as 10 blocks per condition, another answer in up to 25.9 %" in told(uneven)


def test_few_completions_and_empty_ones_are_undecided_for_their_own_reasons() -> None:
    one = samples.analyzed({"A": {samples.ALONE: ["only"]}})
    empty = samples.analyzed({"A": {samples.ALONE: ["", "", ""]}})

    assert "fewer than two completions counted (A)" in told(one)
    assert "every completion was empty (A)" in told(empty)


def test_an_unfinished_run_says_so_and_how_to_finish_it() -> None:
    cut_short = replace(samples.agreed(), finished=False)

    assert "not finished" in told(cut_short)
    assert again(cut_short)[0][0] == "temp0 probe --resume 01k4x9w2vq"
    assert [command.split()[1] for command, _ in again(samples.agreed())] == ["show", "report"]


def test_notes_do_not_explain_a_difference() -> None:
    note = Cause(cause="finish", certainty="found", evidence="", remedy="", prompts=())

    assert why(replace(samples.ended(), causes=(note,))) == ("Why", "No cause of the difference was found in this run.")
    assert why(samples.five_prompts()) == ("Why", None)
    assert why(replace(samples.agreed(), causes=(note,))) == ("What to know", None)
    assert why(samples.agreed()) == ("What to know", "There is no difference to explain.")


def test_what_cannot_be_told_follows_from_what_was_asked() -> None:
    assert any("strangers" in sentence for sentence in limits(samples.agreed()))
    assert any("bounded, never proved" in sentence for sentence in limits(samples.agreed()))
    assert not any("bounded" in sentence for sentence in limits(samples.ended()))
    assert not any("strangers" in sentence for sentence in limits(samples.one_block()))


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
