"""The page with an explanation: conclusions, the two trees, growth by layer and forks by margin, where measured."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree.ElementTree import fromstring

import analysis_samples as samples
from test_second_pass_words import DESCENT, FORK
from tree_records import chain, pairs, tree_of

from temp0.core.descent import LayerDifference
from temp0.core.detail import Position
from temp0.core.junction import bins
from temp0.core.second_pass import SecondPass
from temp0.core.tree_record import TreeClass
from temp0.report import html
from temp0.report.bottom import bottom, growth_figure, junction_figure

AT = Position(prompt="C", char=56, token=15, text=" cache", rival=" make", margin=0.02, has_forked=True)
POSITIONS = (AT, replace(AT, char=60, has_forked=False), replace(AT, char=70, margin=3.0, has_forked=False))
SECOND = SecondPass(first="01k4x9w2vq", second="bbbb", forks=(FORK,), positions=POSITIONS)
TREES = tuple(
    TreeClass(places=(), bits="", tree=tree_of(nested), replayed="fused", accumulator="float32", replays=8)
    for nested in (chain(range(8)), pairs(range(8)))
)
GROWN = tuple(
    LayerDifference(layer=layer, share=layer / 30, relative=0.0 if layer < 2 else 1e-4 * 2**layer, largest=0.1)
    for layer in range(8)
)
FOLLOWED = replace(DESCENT, trees=(TREES[0], TREES[1]), layers=GROWN)


def test_a_page_without_an_explanation_has_no_such_section() -> None:
    assert "Looked at again" not in html(samples.five_prompts())


def test_conclusions_and_the_descent_are_told_in_the_same_sentences() -> None:
    page = html(samples.five_prompts(), second=SECOND, descents=(FOLLOWED,))

    assert "kept as run <code>bbbb</code>" in page
    assert "A near tie: under “alone, logprobs”, “ cache” leads “ make” by 0.0200 nats" in page
    assert "U+00A0" not in page
    assert "It begins in layer 1, at token 42 of prompt and answer" in page
    assert "Content-Security-Policy\" content=\"default-src 'none'" in page


def test_the_two_trees_are_drawn_with_their_words_and_without_a_style_of_their_own() -> None:
    page = html(samples.five_prompts(), second=SECOND, descents=(FOLLOWED,))

    trees = re.findall(r'<svg class="plot sum".*?</svg>', page, re.DOTALL)
    assert len(trees) == 2
    assert "How the sum is added alone: one chain of 8, added in order." in trees[0]
    assert "How the sum is added in a company of 8: " in trees[1]
    assert all("<style" not in tree for tree in trees)
    assert all(len(fromstring(tree).findall(".//circle")) == 7 for tree in trees)


def test_a_descent_without_trees_or_layers_draws_neither() -> None:
    (floor,) = bottom(SECOND, (replace(DESCENT, trees=None, layers=()),)).floors

    assert floor.trees == ()
    assert floor.growth is None
    assert growth_figure([replace(GROWN[0], layer=layer) for layer in range(5)]) is None


def test_growth_has_a_point_for_each_layer_that_differs() -> None:
    figure = growth_figure(GROWN)

    assert figure is not None
    (dots,) = [one for one in fromstring(figure).findall("path") if one.get("fill") == "var(--c0)"]
    assert dots.attrib["d"].count("M") == 6
    assert "after layer 2: 0.0004, after layer 7: 0.013" in figure


def test_forks_by_margin_are_bars_with_their_counts() -> None:
    figure = junction_figure(bins(POSITIONS))

    assert figure is not None
    assert junction_figure(bins([])) is None
    told = [one.text for one in fromstring(figure).iter("text")]
    assert "1 of 2" in told
    assert "0 of 1" in told


def test_every_look_at_a_fork_has_its_lead_its_likeliest_tokens_and_its_ways() -> None:
    page = html(samples.five_prompts(), second=SECOND)
    table = page[page.index("What was seen again of") :].partition("</table>")[0]

    assert table.count('<th scope="row"') == len(FORK.looks)
    for look in FORK.looks:
        assert f"{look.reached} of {look.completions}" in table
    assert "<code>␣cache</code></bdi>&nbsp;" in table
    assert " as “" in table
