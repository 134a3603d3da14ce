"""A reduction tree: which summands are added to which, and in what order partial sums meet.

Equal trees are equal values: addition commutes, so children come by their lowest summand, and a node after all that
is under it. The tree is flat, so that a chain of any length can be kept, compared and written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ReductionTree:
    """The tree over summands 0 to `leaves` - 1.

    `nodes[n]` are the two or more children of the node with the id `leaves + n`; ids below `leaves` are summands. The
    last node is the whole sum; more than two children are added in one step, with nothing known of an order among
    them. Made by `reduction_tree`, which puts nodes in their one canonical order.
    """

    leaves: int
    nodes: tuple[tuple[int, ...], ...]

    @property
    def root(self) -> int:
        """The id of the whole sum."""
        return self.leaves + len(self.nodes) - 1

    @property
    def depth(self) -> int:
        """How many additions the result is away from the summand that passes most of them."""
        return heights(self)[-1]

    def children(self, node: int) -> tuple[int, ...]:
        """The ids that a node adds; none for a summand."""
        return () if node < self.leaves else self.nodes[node - self.leaves]


def reduction_tree(leaves: int, nodes: Iterable[Sequence[int]]) -> ReductionTree:
    """The canonical tree of `nodes`, each a sequence of ids that come before it.

    >>> reduction_tree(4, [(3, 2), (1, 0), (4, 5)]).nodes
    ((0, 1), (2, 3), (4, 5))

    Raises `ValueError` where the nodes are no tree over `leaves` summands.
    """
    given = [tuple(node) for node in nodes]
    used = sorted(child for node in given for child in node)
    whole = leaves >= 1 and used == list(range(leaves + len(given) - 1)) and all(len(node) >= 2 for node in given)
    if not whole or any(child >= leaves + place for place, node in enumerate(given) for child in node):
        raise ValueError(f"{len(given)} nodes over {leaves} summands are no tree")
    lowest = list(range(leaves))
    for node in given:
        lowest.append(min(lowest[child] for child in node))
    return _in_order(leaves, given, lowest)


def sizes(tree: ReductionTree) -> list[int]:
    """How many summands are under each id."""
    found = [1] * tree.leaves
    for node in tree.nodes:
        found.append(sum(found[child] for child in node))
    return found


def heights(tree: ReductionTree) -> list[int]:
    """How many additions deep each id is."""
    found = [0] * tree.leaves
    for node in tree.nodes:
        found.append(1 + max(found[child] for child in node))
    return found


def lowest_summands(tree: ReductionTree) -> list[int]:
    """The lowest summand under each id."""
    found = list(range(tree.leaves))
    for node in tree.nodes:
        found.append(found[node[0]])
    return found


def summands(tree: ReductionTree, node: int) -> list[int]:
    """The summands under a node, in ascending order."""
    found, waiting = [], [node]
    while waiting:
        one = waiting.pop()
        if one < tree.leaves:
            found.append(one)
        else:
            waiting.extend(tree.children(one))
    return sorted(found)


def contracted(tree: ReductionTree, parts: Sequence[int]) -> ReductionTree:
    """The tree that remains when each of `parts` (ids that cover every summand once) becomes one summand."""
    number = {part: place for place, part in enumerate(parts)}
    nodes: list[list[int]] = []
    waiting, above = [tree.root], []
    while waiting:
        one = waiting.pop()
        if one not in number:
            above.append(one)
            waiting.extend(tree.children(one))
    for one in sorted(above):
        nodes.append([number[child] for child in tree.children(one)])
        number[one] = len(parts) + len(nodes) - 1
    return reduction_tree(len(parts), nodes)


def subtree(tree: ReductionTree, node: int) -> ReductionTree:
    """What is under a node, its summands numbered from 0 in ascending order."""
    number = {leaf: place for place, leaf in enumerate(summands(tree, node))}
    inside, waiting = [], [node]
    while waiting:
        one = waiting.pop()
        if one >= tree.leaves:
            inside.append(one)
            waiting.extend(tree.children(one))
    leaves = len(number)
    nodes: list[list[int]] = []
    for one in sorted(inside):
        nodes.append([number[child] for child in tree.children(one)])
        number[one] = leaves + len(nodes) - 1
    return reduction_tree(leaves, nodes)


def notation(tree: ReductionTree) -> str:
    """The tree in brackets, for the eye: use it for few summands.

    >>> notation(reduction_tree(4, [(0, 2), (1, 3), (4, 5)]))
    '((0+2)+(1+3))'
    """
    texts = [str(leaf) for leaf in range(tree.leaves)]
    for node in tree.nodes:
        texts.append(f"({'+'.join(texts[child] for child in node)})")
    return texts[-1]


def _in_order(leaves: int, given: Sequence[tuple[int, ...]], lowest: Sequence[int]) -> ReductionTree:
    """Number nodes as a walk meets them that ends a node after its children, the one with the lowest summand first."""
    number = {leaf: leaf for leaf in range(leaves)}
    nodes: list[tuple[int, ...]] = []
    waiting = [(leaves + len(given) - 1, False)]
    while waiting:
        one, is_done = waiting.pop()
        if one < leaves:
            continue
        children = sorted(given[one - leaves], key=lowest.__getitem__)
        if is_done:
            number[one] = leaves + len(nodes)
            nodes.append(tuple(number[child] for child in children))
        else:
            waiting.append((one, True))
            waiting.extend((child, False) for child in reversed(children))
    return ReductionTree(leaves=leaves, nodes=tuple(nodes))
