"""Numbers in words: never rounded to perfection, never 0 for what nobody measured."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.core.analysis import Cause, Company, Comparison, Estimate, Margin, Verdict
from temp0.report import command, figure, naming, visible, word


def blank(text: str) -> str:
    """The text with plain blanks, for claims about its words."""
    return text.replace(figure.UNBROKEN, " ")


@pytest.mark.parametrize("module", [command, figure, naming, visible, word])
def test_the_examples_in_the_docstrings_hold(module: object) -> None:
    assert doctest.testmod(module).failed == 0


@settings(max_examples=300)
@given(st.floats(min_value=0, max_value=1, exclude_min=True, exclude_max=True))
def test_no_share_is_rounded_to_nothing_or_to_everything(share: float) -> None:
    shown = blank(figure.percent(share))

    assert shown not in {"0 %", "100 %", "-0 %"}
    assert not shown.startswith("100")


@settings(max_examples=200)
@given(st.floats(min_value=0.001, max_value=0.999))
def test_a_percentage_is_near_its_share(share: float) -> None:
    assert float(blank(figure.percent(share)).removesuffix(" %")) == pytest.approx(100 * share, abs=0.051)


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0, "0 %"),
        (1, "100 %"),
        (1 - 0.05 ** (1 / 10), "25.9 %"),
        (1 - 0.05 ** (1 / 30), "9.5 %"),
        (1 - 0.05 ** (1 / 100), "2.95 %"),
        (0.99999, "99.999 %"),
        (1 - 1e-12, "> 99.999999 %"),
        (1e-12, "< 0.000001 %"),
        (5e-324, "< 0.000001 %"),
        (None, figure.UNKNOWN),
    ],
)
def test_percentages_read_so(share: float | None, shown: str) -> None:
    assert blank(figure.percent(share)) == shown


@pytest.mark.parametrize(
    ("estimate", "shown"),
    [
        (Estimate(value=1, low=0.819, high=1, n=30, sides=1), "100 % (≥ 81.9)"),
        (Estimate(value=0.605, low=0.385, high=0.9, n=3, sides=2), "60.5 % (38.5\N{EN DASH}90)"),
        (Estimate(value=0.5, low=0.50012, high=0.50018, n=900, sides=2), "50 % (50.01\N{EN DASH}50.02)"),
        (Estimate(value=0.5, low=0.5, high=0.5, n=9, sides=2), "50 % (50)"),
        (Estimate(value=0.5, low=None, high=None, n=1, sides=2), "50 % (1 block)"),
        (None, figure.UNKNOWN),
    ],
)
def test_an_interval_stands_beside_its_value(estimate: Estimate | None, shown: str) -> None:
    assert blank(figure.interval(estimate)) == shown


@pytest.mark.parametrize(
    ("asked", "reached", "measured_by", "shown"),
    [
        (8, 7.9, "server", "7.9 of 8"),
        (8, 1.0, "server", "1 of 8"),
        (128, 100.0, "server", "100 of 128"),
        (8, 3.14, "speed-up", "≥ 3.14 of 8"),
        (8, 0.97, "speed-up", "not shown"),
        (8, None, None, "not shown"),
        (1, 1.0, "speed-up", figure.UNKNOWN),
        (1, 1.0, "server", "1 of 1"),
        (1, 3.0, "server", "3 of 1"),
    ],
)
def test_company_reached_stands_beside_what_was_asked(asked, reached, measured_by, shown) -> None:
    assert blank(figure.company(Company(asked=asked, reached=reached, measured_by=measured_by))) == shown


@pytest.mark.parametrize(
    ("p", "shown"),
    [
        (1.0, "p = 1"),
        (0.9999, "p = 0.999"),
        (0.0404, "p = 0.040"),
        (0.0006, "p = 0.0006"),
        (1.3e-9, "p < 0.0001"),
        (None, "p unknown"),
    ],
)
def test_a_p_value_is_never_rounded_to_nothing(p: float | None, shown: str) -> None:
    assert blank(figure.probability(p)) == shown


@pytest.mark.parametrize(
    ("p", "adjusted", "tested", "shown"),
    [
        (1 / 15, 1 / 3, 5, "p = 0.067; 0.333 adjusted for 5 prompts"),
        (0.04, 0.04, 5, "p = 0.040; 0.040 adjusted for 5 prompts"),
        (1 / 15, 1 / 15, 1, "p = 0.067"),
        (1.0, 1.0, 5, "p = 1"),
        (None, None, 0, "p unknown"),
    ],
)
def test_an_adjusted_p_says_for_what(p: float | None, adjusted: float | None, tested: int, shown: str) -> None:
    pair = Comparison(a="alone", b="company 8", verdict=Verdict.DIVERGED, p=p, p_adjusted=adjusted)

    assert blank(figure.p_values(pair, tested)) == shown


def test_no_figure_can_break_before_its_sign() -> None:
    estimate = Estimate(value=0.605, low=0.385, high=0.9, n=3, sides=2)

    for shown in (figure.percent(0.5), figure.percent(1e-12), figure.interval(estimate), figure.probability(0.04)):
        assert not any(part in shown for part in (" %", " =", "= ", "< "))


def test_an_unknown_margin_says_why() -> None:
    assert figure.margin(Margin(value=None, kind="unknown", reason="no logprobs")) == "unknown: no logprobs"
    assert figure.margin(Margin(value=0.0031, kind="near")) == "0.0031 (near)"
    assert figure.margin(Margin(value=0.0031, kind="near", shift=0.01274)) == "0.0031 (near), shift 0.0127"
    assert figure.margin(Margin(value=0.0, kind="exact-tie")) == "0 (exact-tie)"


@pytest.mark.parametrize(
    ("p", "adjusted", "shown"),
    [
        (0.0021, 0.0042, "p = 0.004 adjusted for all causes tested"),
        (0.0021, 0.0021, ""),
        (0.0021, None, ""),
        (None, None, ""),
    ],
)
def test_an_adjusted_p_of_a_cause_is_told_where_it_says_more(p, adjusted, shown) -> None:
    cause = Cause(cause="company", certainty="found", evidence="", remedy="", prompts=(), p=p, p_adjusted=adjusted)

    assert blank(figure.adjusted(cause)) == shown


def test_a_moment_is_told_in_utc_to_the_second() -> None:
    assert figure.moment("2026-03-01T10:30:00.9+01:00") == "2026-03-01 09:30:00 UTC"
    assert figure.moment("2026-03-01T09:30:00Z") == "2026-03-01 09:30:00 UTC"
    assert figure.moment("2026-03-01T09:30:00") == "2026-03-01 09:30:00 UTC"
    assert figure.moment("yesterday") == "yesterday"
