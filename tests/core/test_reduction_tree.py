"""Reduction trees as values: equal trees are equal however they were written, and what is no tree is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.core.reduction_tree import (
    ReductionTree,
    contracted,
    heights,
    notation,
    reduction_tree,
    sizes,
    subtree,
    summands,
)


@st.composite
def merges(draw: st.DrawFn) -> tuple[int, list[list[int]]]:
    """A random tree, multiway nodes among them, as nodes in the order in which they were joined."""
    leaves = draw(st.integers(1, 24))
    loose, nodes = list(range(leaves)), list[list[int]]()
    while len(loose) > 1:
        taken = draw(st.integers(2, min(4, len(loose))))
        node = [loose.pop(draw(st.integers(0, len(loose) - 1))) for _ in range(taken)]
        loose.append(leaves + len(nodes))
        nodes.append(node)
    return leaves, nodes


def test_equal_trees_are_equal_however_their_nodes_are_ordered() -> None:
    first = reduction_tree(6, [(0, 1), (2, 3), (6, 7), (4, 5), (8, 9)])
    second = reduction_tree(6, [(5, 4), (3, 2), (1, 0), (7, 8), (6, 9)])
    assert first == second
    assert hash(first) == hash(second)
    assert first != reduction_tree(6, [(0, 2), (1, 3), (6, 7), (4, 5), (8, 9)])


@given(merges(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_the_canonical_tree_does_not_depend_on_the_order_of_children(
    given_tree: tuple[int, list[list[int]]], random: object
) -> None:
    leaves, nodes = given_tree
    turned = [random.sample(node, len(node)) for node in nodes]  # type: ignore[attr-defined]
    tree = reduction_tree(leaves, nodes)
    assert reduction_tree(leaves, turned) == tree
    assert reduction_tree(leaves, tree.nodes) == tree
    assert summands(tree, tree.root) == list(range(leaves))
    assert sizes(tree)[-1] == leaves


@pytest.mark.parametrize(
    "nodes", [[(0, 1)], [(0, 1), (0, 2)], [(0, 1, 2), (3,)], [(0, 4), (1, 2)], [(0, 1), (2, 3), (4, 5)], []]
)
def test_what_is_no_tree_over_three_summands_is_refused(nodes: list[tuple[int, ...]]) -> None:
    with pytest.raises(ValueError, match="are no tree"):
        reduction_tree(3, nodes)


def test_one_summand_is_a_tree_without_additions() -> None:
    tree = reduction_tree(1, [])
    assert (tree.root, tree.depth, tree.children(0)) == (0, 0, ())


def test_a_chain_as_long_as_a_model_is_wide_is_kept_and_compared() -> None:
    def chain(leaves: int) -> ReductionTree:
        return reduction_tree(leaves, [(0, 1), *((leaves + place, place + 2) for place in range(leaves - 2))])

    assert chain(20_000) == chain(20_000)
    assert chain(20_000).depth == 19_999
    assert heights(chain(5)) == [0, 0, 0, 0, 0, 1, 2, 3, 4]


def test_parts_can_be_taken_out_and_contracted() -> None:
    tree = reduction_tree(6, [(0, 2), (6, 4), (1, 3), (8, 5), (7, 9)])
    lanes = tree.children(tree.root)
    assert [summands(tree, lane) for lane in lanes] == [[0, 2, 4], [1, 3, 5]]
    assert notation(subtree(tree, lanes[1])) == "((0+1)+2)"
    assert notation(contracted(tree, lanes)) == "(0+1)"
    assert notation(contracted(tree, range(6))) == notation(tree)
