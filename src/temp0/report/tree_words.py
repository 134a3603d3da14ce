"""What a reduction tree looks like, in words: chains, lanes, blocks, and how they are joined.

Words are for the eye and may leave details out; the tree itself is exact. What has no name here is called irregular.
"""

from __future__ import annotations

from collections.abc import Sequence

from temp0.core.reduction_tree import (
    ReductionTree,
    contracted,
    heights,
    lowest_summands,
    notation,
    sizes,
    subtree,
    summands,
)
from temp0.report.tree_part import Parts, chains, equal_parts, even_step

_DEEPEST = 4
_LONGEST = 240
_MOST_RESTS = 64
_MOST_CHAINS = 256
_FEW = 12
_ORDER_SHOWN = 8


def tree_words(tree: ReductionTree) -> str:
    """The tree in one phrase.

    >>> from temp0.core.reduction_tree import reduction_tree
    >>> tree_words(reduction_tree(4, [(0, 1), (2, 4), (3, 5)]))
    'one chain of 4, added in order'
    """
    if tree.leaves == 1:
        return "one summand, nothing to add"
    told = _told(tree, _DEEPEST)
    return told if len(told) <= _LONGEST else _irregular(tree)


def _told(tree: ReductionTree, deep: int) -> str:
    if (joint := joint_words(tree)) is not None:
        return _of_summands(tree, joint)
    if (order := chain_order(tree)) is not None:
        shown = ", ".join(map(str, order[:_ORDER_SHOWN])) + (", ..." if len(order) > _ORDER_SHOWN else "")
        return f"one chain of {tree.leaves}, in the order {shown}"
    if deep:
        for way in (_chains_told, _equal_told, _small_told, _nested_told, _rest_told, _two_told):
            if (told := way(tree, deep - 1)) is not None:
                return told
    return _small_told(tree, 0) or _irregular(tree)


def _irregular(tree: ReductionTree) -> str:
    return f"an irregular tree of {tree.leaves}, {tree.depth} additions deep"


def joint_words(tree: ReductionTree) -> str | None:
    """How the summands of a simple tree are joined, or `None` where it is none of the simple ones."""
    chain = chain_order(tree)
    if chain is not None:
        step = even_step(chain)
        if step == 1:
            return "added in order" if tree.leaves > 2 else "added"
        return "added from last to first" if step == -1 else None
    strides = _strides(tree)
    if strides is not None:
        if strides == sorted(strides):
            return "then neighbours in pairs"
        if strides == sorted(strides, reverse=True):
            return "then halving"
        return f"then each with the one {' away, then '.join(map(str, strides))} away"
    if _is_in_halves(tree):
        return "then in halves"
    if len(tree.nodes) == 1:
        return f"added in one step of {tree.leaves} terms"
    return _steps_told(tree)


def chain_order(tree: ReductionTree) -> list[int] | None:
    """The order in which a chain takes its summands, one with each addition, or `None` where it is no chain.

    The first two have no order: they are given so that the rest goes on from them where it can.
    """
    order: list[int] = []
    node = tree.root
    while node >= tree.leaves:
        children = tree.children(node)
        leaves = [child for child in children if child < tree.leaves]
        inner = [child for child in children if child >= tree.leaves]
        if len(children) != 2 or not leaves:
            return None
        if not inner:
            turned = order and abs(leaves[0] - order[-1]) < abs(leaves[1] - order[-1])
            order.extend(leaves if turned else reversed(leaves))
            break
        order.append(leaves[0])
        node = inner[0]
    return order[::-1] or None


def _of_summands(tree: ReductionTree, joint: str) -> str:
    if joint.startswith("added in one"):
        return f"{tree.leaves} summands {joint}"
    if joint.startswith("added"):
        return f"one chain of {tree.leaves}, {joint}"
    return f"{tree.leaves} summands, {joint.removeprefix('then ')}"


def _parts_told(parts: Parts, deep: int) -> str:
    size, inner = parts.part.leaves, joint_words(parts.part)
    if inner in {"added in order", "added"}:
        if parts.are_lanes:
            return f"{parts.count} lanes of {size} (every {_ordinal(parts.count)} summand)"
        if parts.stride == 1:
            return f"{parts.count} chains of {size}"
    apart = "" if parts.stride == 1 else " interleaved"
    return f"{parts.count}{apart} blocks of {size} (each {_told(parts.part, deep)})"


def _equal_told(tree: ReductionTree, deep: int) -> str | None:
    """Equal parts in a simple joint: the most parts there are."""
    for parts in equal_parts(tree):
        if (joint := joint_words(parts.joining)) is not None:
            return f"{_parts_told(parts, deep)}, {joint}"
    return None


def _small_told(tree: ReductionTree, _: int) -> str | None:
    return f"{tree.leaves} summands added as {notation(tree)}" if tree.leaves <= _FEW else None


def _nested_told(tree: ReductionTree, deep: int) -> str | None:
    """Equal parts in a joint that has parts itself: the fewest, whose joint is the smaller riddle."""
    ways = list(equal_parts(tree))
    return f"{_parts_told(ways[-1], deep)}; joined as {_told(ways[-1].joining, deep)}" if ways else None


def _chains_told(tree: ReductionTree, _: int) -> str | None:
    """Chains in a simple joint, of unlike lengths where the blocks or lanes do not divide the whole."""
    parts = chains(tree)
    joint = joint_words(contracted(tree, [node for node, _ in parts])) if 1 < len(parts) <= _MOST_CHAINS else None
    if joint is None:
        return None
    lengths = [len(chain) for _, chain in parts]
    steps = {even_step(chain) for _, chain in parts if len(chain) > 1}
    if steps == {1} and min(lengths) > 1 and (len(set(lengths)) == 1 or len(parts) <= _FEW):
        return f"{len(parts)} chains of {_in_a_row(lengths)}, {joint}"
    if steps == {len(parts)}:
        told = " or ".join(map(str, sorted(set(lengths), reverse=True)))
        return f"{len(parts)} lanes of {told} (every {_ordinal(len(parts))} summand), {joint}"
    return None


def _rest_told(tree: ReductionTree, deep: int) -> str | None:
    """A regular core that remainders join one after another: the last few of an uneven number."""
    count = sizes(tree)
    node, rest = tree.root, list[int]()
    while len(rest) < _MOST_RESTS and len(tree.children(node)) == 2:
        small, large = sorted(tree.children(node), key=count.__getitem__)
        rest.append(small)
        node = large
        if 2 * count[node] < tree.leaves:
            break
        core = subtree(tree, node)
        if joint_words(core) is not None or next(equal_parts(core), None) or _chains_told(core, deep):
            return f"{_span(tree, node)}: {_told(core, deep)}; then {_remainder(tree, rest[::-1], deep)}"
    return None


def _two_told(tree: ReductionTree, deep: int) -> str | None:
    """The two sides of the last addition, each by itself."""
    sides = tree.children(tree.root)
    if len(sides) != 2 or min(sides) < tree.leaves:
        return None
    told = " and ".join(f"{_span(tree, side)} ({_told(subtree(tree, side), deep)})" for side in sides)
    return None if "irregular" in told else f"2 parts, {told}, added"


def _in_a_row(numbers: Sequence[int]) -> str:
    if len(set(numbers)) == 1:
        return str(numbers[0])
    return f"{', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def _remainder(tree: ReductionTree, rest: Sequence[int], deep: int) -> str:
    if len(rest) == 1:
        if rest[0] < tree.leaves:
            return f"summand {rest[0]}"
        return f"{_span(tree, rest[0])} ({_told(subtree(tree, rest[0]), deep)})"
    if all(one < tree.leaves for one in rest):
        return f"{len(rest)} more one by one ({_listed(rest)})"
    spans = [_span(tree, one) for one in rest]
    return f"{len(rest)} more parts one by one ({', '.join(spans[:4])}{', ...' if len(spans) > 4 else ''})"


def _span(tree: ReductionTree, node: int) -> str:
    return _listed(summands(tree, node))


def _listed(numbers: Sequence[int]) -> str:
    """Summands in short: a range where they are neighbours, with its step where that is even."""
    if len(numbers) < 3:
        return ", ".join(map(str, numbers))
    step = even_step(numbers)
    if step is None:
        return f"{len(numbers)} of {min(numbers)} to {max(numbers)}"
    return f"{numbers[0]} to {numbers[-1]}" + ("" if step == 1 else f" by {step}")


def _strides(tree: ReductionTree) -> list[int] | None:
    """The distances over which a tree of 2^k summands joins, level by level, the same all over each level."""
    lowest, height = lowest_summands(tree), heights(tree)
    at_height: dict[int, set[int]] = {}
    for node, children in enumerate(tree.nodes, start=tree.leaves):
        if len(children) != 2 or height[children[0]] != height[children[1]]:
            return None
        at_height.setdefault(height[node], set()).add(lowest[children[1]] - lowest[children[0]])
    if any(len(distances) != 1 for distances in at_height.values()):
        return None
    return [at_height[level].pop() for level in sorted(at_height)]


def _is_in_halves(tree: ReductionTree) -> bool:
    """Whether every node joins two neighbouring ranges of which neither is more than twice as long as the other."""
    count, lowest, highest = sizes(tree), lowest_summands(tree), list(range(tree.leaves))
    for node, children in enumerate(tree.nodes, start=tree.leaves):
        highest.append(max(highest[child] for child in children))
        if len(children) != 2 or highest[node] - lowest[node] + 1 != count[node]:
            return False
        if max(count[child] for child in children) > 2 * min(count[child] for child in children):
            return False
    return True


def _steps_told(tree: ReductionTree) -> str | None:
    """A chain that takes several summands with each addition, as fused accumulators do."""
    taken: set[int] = set()
    node = tree.root
    while True:
        leaves = [child for child in tree.children(node) if child < tree.leaves]
        inner = [child for child in tree.children(node) if child >= tree.leaves]
        if not inner:
            break
        taken.add(len(leaves))
        if len(inner) != 1:
            return None
        node = inner[0]
    if len(taken) != 1 or taken == {1} or taken == {0}:
        return None
    return f"added {taken.pop()} at a time, each step in one addition"


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
