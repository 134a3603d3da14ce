"""The first sentences a person reads say what was seen and how far it reaches."""

from __future__ import annotations

import re
from dataclasses import replace

import analysis_samples as samples
import pytest
import reason_samples as reasons

from temp0.core.analysis import Analysis, Tally, TotalAgreement
from temp0.core.plan import Condition
from temp0.core.run import Failure
from temp0.report.figure import UNBROKEN
from temp0.report.headline import headline, total_agreement


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


def test_differences_that_do_not_count_are_told_beside_an_agreement() -> None:
    text = told(reasons.uncounted())

    assert "The prompt gave one answer under both conditions that count." in text
    assert "With logprobs asked for, A got other answers, too; plain attempts decide." in text
    assert "Streamed and whole answers differ for A; that is told, but does not count." in text
    assert "under “alone”, with 5 blocks" in text


def test_differences_that_do_not_count_are_told_beside_an_open_end() -> None:
    texts = {samples.ALONE: ["one"], reasons.ASKED: ["one", "two"]}

    assert told(samples.analyzed({"A": texts})).startswith("No two answers that count differed, but")


def test_an_observed_run_names_its_only_condition_that_counts() -> None:
    assert told(reasons.observed()).startswith("The prompt gave one answer (alone). With logprobs asked for, haiku got")


@pytest.mark.parametrize(
    ("failures", "sentence"),
    [
        (["http-500"] * 10, "10 of 32 judged requests failed (http-500) and were left out."),
        (["timeout"], "1 of 23 judged requests failed (timeout) and was left out."),
        (
            ["http-500"] * 3 + ["timeout"] * 7,
            "10 of 32 judged requests failed (most often timeout, 7 times) and were left out.",
        ),
    ],
)
def test_failures_are_told_with_the_verdict_and_their_commonest_reason(failures: list[str], sentence: str) -> None:
    lost = [Failure(reason=reason, message="") for reason in failures]
    analysis = samples.analyzed({"A": {samples.ALONE: ["one"] * 22 + lost}})

    assert headline(analysis).reach[0] == sentence


def test_excluded_answers_are_told_with_the_verdict() -> None:
    prompt = samples.agreed().prompts[0]
    replayed = Tally(reason="replayed", count=19, message="")
    one = replace(prompt.conditions[0], excluded=(replayed,))
    analysis = replace(samples.agreed(), prompts=(replace(prompt, conditions=(one,)),))

    assert headline(analysis).reach[0] == "19 of 30 judged requests got an answer that does not count (replayed)."


def test_where_every_request_counts_none_is_told_as_lost() -> None:
    assert "judged request" not in told(samples.agreed()) + told(samples.five_prompts())


def test_conditions_undecided_alike_are_told_together() -> None:
    text = told(reasons.load_missed())

    assert "Under “company 4” and “company 8” the server was not shown to have run requests together (A and B)." in text
    assert "Under “company 128” company fell short of what was asked (A and B)." in text


def test_conditions_of_one_block_are_told_together() -> None:
    answers = {samples.ALONE: ["one"] * 6} | {Condition(company=k): ["one"] * k for k in (4, 8)}

    assert "“company 4” and “company 8” ran as one block each: no bound." in told(samples.analyzed({"A": answers}))


def test_total_agreement_keeps_each_share_with_its_condition() -> None:
    blank = {"\u00a0": " "}

    def total(analysis: Analysis) -> str:
        return total_agreement(analysis).translate(str.maketrans(blank))

    assert total(samples.five_prompts()) == "TARr@20: 100 % (alone), 40 % (company 8)"
    assert total(samples.lined_up()) == "TARr@4 100 % (alone), TARr@16 100 % (company 8)"
    assert total(samples.nothing()) == ""


def test_total_agreement_of_many_conditions_is_told_by_the_least_and_the_most() -> None:
    text = total_agreement(reasons.crossed()).replace(UNBROKEN, " ")

    assert re.fullmatch(r"TARr@32: from 33.3 % \(company \d+, .*\) to 100 % \(.*\)", text)


def test_a_range_whose_ends_are_alike_is_one_figure() -> None:
    conditions = [samples.ALONE, Condition(company=2), Condition(company=4), samples.COMPANY]
    even = samples.analyzed({"A": {one: ["one"] * 16 for one in conditions}})
    uneven = samples.analyzed({"A": {one: ["one"] * (16 + 8 * place) for place, one in enumerate(conditions)}})

    assert total_agreement(even).replace(UNBROKEN, " ") == "TARr@16: 100 % under all 4 conditions"
    assert total_agreement(uneven).replace(UNBROKEN, " ") == "TARr@N: 100 % under all 4 conditions (N from 16 to 40)"


def test_shares_that_differ_are_never_told_as_one_figure() -> None:
    totals = tuple(
        TotalAgreement(condition=name, n=20, prompts=3000, value=1 - place / 3000)
        for place, name in enumerate(("alone", "company 2", "company 4", "company 8"))
    )
    text = total_agreement(replace(samples.agreed(), total_agreement=totals)).replace(UNBROKEN, " ")

    assert text == "TARr@20: from 99.9 % (company 8) to 100 % (alone)"


def test_the_cause_stands_in_the_sentence_of_the_verdict() -> None:
    company, agreed = samples.five_prompts(), samples.agreed()
    suspected = replace(company, causes=tuple(replace(cause, certainty="suspected") for cause in company.causes))

    assert headline(company).with_cause.endswith("one answer: the answer depends on what runs beside it.")
    assert headline(suspected).with_cause.endswith("one answer; perhaps the answer depends on what runs beside it.")
    assert headline(agreed).with_cause == headline(agreed).sentence
    assert headline(replace(company, causes=())).with_cause == headline(company).sentence
    some = headline(reasons.explained()).with_cause
    assert some.endswith("one answer: in C and D the answer depends on what runs beside it.")
