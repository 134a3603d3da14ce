"""The survival curve: counted from the fork tree, equal to counting pairs of texts one by one."""

from __future__ import annotations

from itertools import combinations, pairwise, product
from xml.etree.ElementTree import fromstring

import analysis_samples as samples
import pytest
import reason_samples as reasons
from analysis_samples import ALONE, COMPANY, analyzed

from temp0.core.plan import Condition
from temp0.report.survival import Curve, survival, survival_figure

TEXTS = ["abcd", "abcd", "abxd", "abx", "q", "abcd!"]


def equal_pairs(texts: list[str], char: int) -> float:
    """The share of pairs that are equal up to and with a character, or ended alike before it."""
    pairs = list(combinations(texts, 2))
    return sum(a[: char + 1] == b[: char + 1] for a, b in pairs) / len(pairs)


def share_at(curve: Curve, char: int) -> float:
    return next((share for at, share in reversed(curve.steps) if at <= char), 1.0)


def test_the_closed_form_equals_counting_pairs() -> None:
    (curve,) = survival(analyzed({"A": {ALONE: TEXTS}}).prompts[0])

    for char in range(8):
        assert share_at(curve, char) == pytest.approx(equal_pairs(TEXTS, char)), char


def test_each_condition_has_its_own_curve_which_ends_at_its_agreement() -> None:
    prompt = analyzed({"A": {ALONE: ["one"] * 6, COMPANY: ["one"] * 5 + ["once"] * 3}}).prompts[0]
    alone, company, _ = survival(prompt)

    assert (alone.name, alone.steps) == ("alone", ())
    assert company.steps == ((2, pytest.approx(1 - 15 / 28)),)
    ends = [one.agreement.value for one in prompt.conditions if one.agreement]
    assert [alone.end, company.end] == pytest.approx(ends)


def test_the_pairs_between_two_conditions_have_a_curve_that_equals_counting_them() -> None:
    ours, theirs = ["abcd", "abcd", "abxd"], ["abcd", "abx", "q", "abcd!"]
    across = survival(analyzed({"A": {ALONE: ours, COMPANY: theirs}}).prompts[0])[-1]

    assert across.name == "alone \N{MULTIPLICATION SIGN} company 8"
    assert across.pairs == 12
    for char in range(8):
        equal = sum(a[: char + 1] == b[: char + 1] for a, b in product(ours, theirs))
        assert share_at(across, char) == pytest.approx(equal / 12), char


def test_one_text_alone_and_another_in_company_is_seen_only_between_them() -> None:
    curves = survival(analyzed({"A": {ALONE: ["one"] * 6, COMPANY: ["once"] * 8}}).prompts[0])

    assert [curve.end for curve in curves] == [1, 1, 0]


def test_answers_that_never_part_have_no_curve() -> None:
    assert survival(samples.agreed().prompts[0]) == ()
    assert survival_figure(samples.agreed().prompts[0]) is None


def test_many_conditions_share_one_curve() -> None:
    (curve,) = survival(reasons.crossed().prompts[1])

    assert curve.name == "all 20 conditions"


def test_the_figure_says_in_words_what_it_draws() -> None:
    figure = survival_figure(samples.five_prompts().prompts[2])

    assert figure is not None
    assert "company 8: 60.5\u00a0% of 190 pairs to the end" in figure
    curves = [one for one in fromstring(figure).findall("path") if one.get("stroke") == "var(--c1)"]
    assert len(curves) == 2
    assert all(one.get("stroke-dasharray") for one in curves)


def test_curves_that_end_at_one_height_have_names_that_stand_apart_and_unlike_dashes() -> None:
    levels = [Condition(company=company) for company in (1, 2, 4, 8)]
    prompt = analyzed({"A": {level: ["one"] * 5 + ["two"] * 3 for level in levels}}).prompts[0]
    figure = survival_figure(prompt)

    assert figure is not None
    tree = fromstring(figure)
    named = [float(one.attrib["y"]) for one in tree.findall("text") if one.get("fill") == "var(--ink)"]
    assert len(named) == 5
    assert all(below - above >= 13 for above, below in pairwise(named))
    dashes = {one.get("stroke-dasharray") for one in tree.findall("path") if one.get("stroke", "")[:7] == "var(--c"}
    assert len(dashes) == 5
