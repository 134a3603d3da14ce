"""A tree is cut where it shows most: boxes hold every summand once, and what is folded is said to be."""

from __future__ import annotations

import pytest
import tree_records as samples
from tree_records import blocks, chain, lanes, pairs, strided, tree_of

from temp0.core.reduction_tree import ReductionTree
from temp0.report.tree_cut import cut, text_drawing

TREES = {
    "small": tree_of(pairs(range(8))),
    "chains": samples.CHAINS,
    "lanes": samples.LANES,
    "nested": tree_of(chain(blocks(18, 32, lambda part: chain([chain(part[::2]), chain(part[1::2])])))),
    "a chain": tree_of(chain(range(600))),
    "many blocks": tree_of(pairs(blocks(128, 4, pairs))),
    "irregular": tree_of((chain([(place * 7) % 50 for place in range(50)]), pairs(range(50, 90)))),
    "one": tree_of(0),
}


@pytest.mark.parametrize("most", [6, 12, 32])
@pytest.mark.parametrize("name", TREES)
def test_boxes_hold_every_summand_once_and_are_not_too_many(name: str, most: int) -> None:
    shown = cut(TREES[name], most=most)
    assert sum(shown.counts) == TREES[name].leaves
    assert len(shown.nodes) == len(shown.labels) == shown.above.leaves <= most


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("small", ["0", "1", "2", "3", "4", "5", "6", "7"]),
        ("chains", ["0 … 191", "192 … 383", "384 … 575"]),
        ("lanes", [f"{lane}, {lane + 8} … {lane + 568}" for lane in range(8)]),
        ("a chain", ["0 … 594", "595", "596", "597", "598", "599"]),
    ],
)
def test_chains_are_boxes_with_their_summands_on_them(name: str, labels: list[str]) -> None:
    shown = cut(TREES[name], most=12)
    assert list(shown.labels) == labels
    assert not any(shown.folded)


def test_equal_boxes_that_are_no_chains_have_an_inside() -> None:
    shown = cut(TREES["nested"], most=32)
    assert shown.labels[0] == "0 … 31"
    assert shown.inside == tree_of(chain([chain(range(0, 32, 2)), chain(range(1, 32, 2))]))
    assert cut(TREES["many blocks"], most=32).above.leaves == 32


def test_a_box_that_hides_something_is_folded() -> None:
    shown = cut(TREES["irregular"], most=8)
    assert any(shown.folded)
    assert any("folded" in line for line in text_drawing(TREES["irregular"], most=8))


@pytest.mark.parametrize(
    ("tree", "lines"),
    [
        (
            samples.CHAINS,
            [
                "sum of 576",
                "├─ sum of 384",
                "│  ├─ 0 … 191  (192 summands)",
                "│  └─ 192 … 383  (192 summands)",
                "└─ 384 … 575  (192 summands)",
            ],
        ),
        (
            tree_of(((0, 2), (1, 3))),
            ["sum of 4", "├─ sum of 2", "│  ├─ 0", "│  └─ 2", "└─ sum of 2", "   ├─ 1", "   └─ 3"],
        ),
        (tree_of((0, 1, 2)), ["sum of 3", "├─ 0", "├─ 1", "└─ 2"]),
        (tree_of(0), ["0"]),
    ],
)
def test_a_tree_is_drawn_as_text(tree: ReductionTree, lines: list[str]) -> None:
    assert text_drawing(tree) == lines


def test_lanes_that_meet_in_halves_are_drawn_in_the_order_they_meet() -> None:
    tree = tree_of(strided(lanes(4, 30), 2, 1))
    assert [line.split("─ ")[-1] for line in text_drawing(tree)][2:4] == [
        "0, 4 … 116  (30 summands)",
        "2, 6 … 118  (30 summands)",
    ]
