"""A price for a terminal: the sentence that follows, the figures beside it, and what to mind."""

import re
from collections.abc import Callable

import pytest
import tax_samples as samples

from temp0.core.tax import Spread, Tax
from temp0.report import rendered
from temp0.report.figure import UNKNOWN
from temp0.report.tax_figure import listed_levels, signed, tax_range, tax_with_rounds, with_rounds
from temp0.report.tax_finding import direction
from temp0.report.tax_screen import tax_terminal


def shown(tax: Tax, width: int = 100) -> str:
    return rendered(tax_terminal(tax), width=width)


def prose(tax: Tax) -> str:
    """The text with its line breaks taken out, so that sentences can be looked for."""
    return " ".join(shown(tax).split())


def test_a_faster_side_costs_less_than_nothing_and_is_called_faster() -> None:
    assert prose(samples.made()).startswith(
        "Here invariance costs -50 % time per token at 1 and 8 in flight: it is faster."
    )


def test_a_slower_side_costs_what_it_costs() -> None:
    text = prose(samples.theirs())
    assert text.startswith("Here B, against A, costs +34 % time per token at 1 and 8 in flight.")
    assert "it is faster" not in text


def test_a_difference_that_not_every_round_showed_is_none() -> None:
    text = prose(samples.made(speeds=(0.95, 1.0, 1.1), equal_bytes=()))
    assert text.startswith("Here invariance makes no difference beyond the scatter at 1 and 8 in flight (0 %")


def test_both_raw_figures_stand_beside_every_ratio() -> None:
    text = shown(samples.made())
    assert re.search(r"  1 +40 \(40.40\) +80 \(76\.9.83\.3\) +-50 % \(-52 to -48\)", text)
    assert re.search(r"  8, fp32 both +22\.6 \(.*\) +37\.7 \(36\.3.39\.3\) +-40 % \(-42 to -38\)", text)


def test_the_terms_are_stated() -> None:
    text = prose(samples.made())
    for stated in (
        "SmolLM2-135M-Instruct",
        "stock with fp32 weights, invariant with bf16 weights",
        "activations bf16, 2 threads",
        "5 prompts, 8 tokens an answer, prefix cache off, 3 rounds",
        "A Processor, 2 cores, load 0.4",
        "prompt of 512 tokens",
    ):
        assert stated in text


def test_the_texts_of_both_sides_are_counted() -> None:
    text = prose(samples.made())
    assert "To all 5 prompts, over all numbers in flight, stock gave 10 different texts and invariant 5." in text


def test_equal_bytes_have_a_sentence_of_their_own() -> None:
    assert "With fp32 weights in both, so that both read the same bytes, it costs -40 %" in prose(samples.made())


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            samples.failed_at_eight,
            "8 in flight was measured no further: invariant: HTTP 429: slow",
        ),
        (samples.nothing, "Nothing was measured from here on: stock: cannot connect to 127.0.0.1:9"),
        (samples.interrupted, "Interrupted: each row holds the rounds that were whole by then, of 1 planned."),
        (samples.interrupted, "One round shows no scatter"),
        (samples.busy, "The machine was busy before anything began (load 5.2 on 2 cores)"),
        (samples.without_full_length, "ignore_eos was refused, so it was sent to neither side"),
        (samples.without_full_length, "A gave 90 tokens and B 90, of 120 asked for: not the same work"),
        (samples.in_one_piece, "answers came in one piece"),
        (samples.broken_promise, "what it promises does not hold here"),
        (lambda: samples.made(stock_texts=1), "Stock gave every prompt one text, too"),
        (lambda: samples.made(is_estimate=True), "tokens are an estimate"),
        (lambda: samples.made(cached=4), "The prefix cache should be off, and"),
        (lambda: samples.made(speeds=(0.4, 0.5, 0.8)), "The rounds disagree by more than 25 % at 1 and 8 in flight"),
    ],
)
def test_what_to_mind_is_said_where_it_holds_and_nowhere_else(make: Callable[[], Tax], said: str) -> None:
    assert said in prose(make())
    assert said not in prose(samples.made())


def test_a_servers_words_cannot_command_the_terminal() -> None:
    text = prose(samples.failed_at_eight())
    assert "\x1b" not in text
    assert "ESC" in text


def test_nothing_measured_shows_no_table_and_no_limits() -> None:
    text = shown(samples.nothing())
    assert text.startswith("Nothing was measured.")
    assert "Tokens a second" not in text
    assert "What this cannot tell" not in text


@pytest.mark.parametrize("make", samples.ALL)
def test_it_reads_at_80_columns_and_loses_nothing(make: Callable[[], Tax]) -> None:
    text = shown(make(), width=80)
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text


def test_the_widest_figures_fit_80_columns() -> None:
    text = shown(samples.made(speeds=(0.001237, 0.001212, 1.118)), width=80)
    assert "…" not in text
    assert "\x1b" not in text


def test_a_tax_is_rounded_to_nothing_only_where_it_is_nothing() -> None:
    assert signed(0.0) == "0\xa0%"
    assert signed(1e-9) == "+<0.001\xa0%"
    assert signed(-1e-9) == "-<0.001\xa0%"
    assert signed(None) == UNKNOWN


def test_a_range_of_one_value_is_that_value() -> None:
    assert tax_range([0.1, 0.1]) == "+10\xa0%"
    assert listed_levels([1, 4, 8]) == "1, 4 and 8"


def test_a_single_round_stands_without_brackets() -> None:
    lone = Spread(median=0.5, low=None, high=None)
    assert with_rounds(lone) == "0.5"
    assert tax_with_rounds(lone) == "+50\xa0%"
    assert direction(lone) == "slower"


def test_a_spread_that_reaches_nothing_is_no_direction() -> None:
    assert direction(Spread(median=-0.1, low=-0.2, high=0.0)) == "unclear"
    assert direction(Spread(median=-0.1, low=-0.2, high=-0.01)) == "faster"
