"""Where a reduction tree is cut so that it can be drawn: above the cut it is drawn whole, below it there are boxes.

The boxes hold every summand once. A small tree is not cut at all.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from temp0.core.reduction_tree import ReductionTree, contracted, lowest_summands, sizes, subtree, summands
from temp0.report.figure import some
from temp0.report.tree_part import chains, equal_parts, even_step

_LAST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A tree above a cut: `above` has the boxes as its summands, and box b stands for `nodes[b]` of the whole tree.

    `inside` is one box of equal ones; without it, a box that is neither a chain nor one summand is `folded`.
    """

    above: ReductionTree
    nodes: tuple[int, ...]
    labels: tuple[str, ...]
    counts: tuple[int, ...]
    folded: tuple[bool, ...]
    inside: ReductionTree | None = None


def cut(tree: ReductionTree, *, most: int) -> Cut:
    """The tree cut into at most `most` (6 or more) boxes: chains if they suffice, else equal parts, else large ones."""
    if tree.leaves <= most:
        return _cut(tree, range(tree.leaves))
    found = [node for node, _ in chains(tree)]
    if 1 < len(found) <= most:
        return _cut(tree, found)
    for parts in equal_parts(tree):
        if parts.count <= most:
            return _cut(tree, parts.nodes, inside=parts.part)
    return _cut(tree, _largest_opened(tree, min(most, _LAST + 1) if len(found) == 1 else most))


def box_label(numbers: Sequence[int]) -> str:
    """The summands of a box in short.

    >>> box_label([7]), box_label([0, 8, 16]), box_label(range(192)), box_label([0, 1, 8, 9])
    ('7', '0, 8 … 16', '0 … 191', '4 of 0 … 9')
    """
    if len(numbers) < 3:
        return ", ".join(map(str, numbers))
    step = even_step(numbers)
    if step is None:
        return f"{len(numbers)} of {numbers[0]} … {numbers[-1]}"
    return f"{numbers[0]}{'' if step == 1 else f', {numbers[1]}'} … {numbers[-1]}"


def text_drawing(tree: ReductionTree, *, most: int = 12) -> list[str]:
    """The tree as a few lines of text, the whole sum first, what is added indented below it."""
    shown = cut(tree, most=most)
    count = sizes(tree)
    lines: list[str] = []
    inner = _inner_ids(tree, shown)
    waiting = [(shown.above.root, "", "")]
    while waiting:
        node, lead, branch = waiting.pop()
        if node < shown.above.leaves:
            folded = ", folded" if shown.folded[node] else ""
            told = "" if shown.counts[node] == 1 else f"  ({some(shown.counts[node], 'summand')}{folded})"
            lines.append(f"{lead}{branch}{shown.labels[node]}{told}")
            continue
        lines.append(f"{lead}{branch}sum of {count[inner[node]]}")
        below = lead + {"": "", "├─ ": "│  ", "└─ ": "   "}[branch]
        children = shown.above.children(node)
        waiting.extend(
            (child, below, "└─ " if place == len(children) - 1 else "├─ ")
            for place, child in reversed(list(enumerate(children)))
        )
    return lines


def _inner_ids(tree: ReductionTree, shown: Cut) -> dict[int, int]:
    """The id in the whole tree of every node above the cut."""
    whole = dict(enumerate(shown.nodes))
    parents = {child: node for node in range(tree.leaves, tree.root + 1) for child in tree.children(node)}
    for node, children in enumerate(shown.above.nodes, start=shown.above.leaves):
        whole[node] = parents[whole[children[0]]]
    return whole


def _cut(tree: ReductionTree, nodes: Sequence[int], *, inside: ReductionTree | None = None) -> Cut:
    held = [summands(tree, node) for node in nodes]
    whole = {node for node, _ in chains(tree)} | set(range(tree.leaves))
    return Cut(
        above=contracted(tree, nodes),
        nodes=tuple(nodes),
        labels=tuple(map(box_label, held)),
        counts=tuple(map(len, held)),
        folded=tuple(inside is None and not _is_chain(tree, node, whole) for node in nodes),
        inside=inside,
    )


def _is_chain(tree: ReductionTree, node: int, whole: Collection[int]) -> bool:
    """Whether a node is a summand, a chain, or the beginning of one."""
    return node in whole or len(chains(subtree(tree, node))) == 1


def _largest_opened(tree: ReductionTree, most: int) -> list[int]:
    """Start from the whole and open the largest box until there are as many as may be."""
    count = sizes(tree)
    boxes = [tree.root]
    while len(boxes) < most:
        largest = max(boxes, key=count.__getitem__)
        children = tree.children(largest)
        if not children or len(boxes) - 1 + len(children) > most:
            break
        boxes.remove(largest)
        boxes.extend(children)
    return sorted(boxes, key=lowest_summands(tree).__getitem__)
