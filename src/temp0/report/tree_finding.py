"""What was found of trees, in sentences.

A kernel without another order at another batch size is only that at the sizes tried, and the words say so.
"""

from __future__ import annotations

from temp0.core.tree_record import KernelTrees, TreeClass, TreesRecord
from temp0.report.figure import some
from temp0.report.tree_group import TreeGroup, tree_groups
from temp0.report.tree_place import ranges
from temp0.report.tree_words import tree_words

_STOCK = ("numpy.", "torch.", "engine.")


def class_words(one: TreeClass) -> str:
    """How a class adds, or why no tree shows."""
    if one.tree is not None:
        return tree_words(one.tree)
    if one.absence == "exact":
        return "no tree: the sum is exact"
    if one.absence == "nothing-lost":
        return "no tree shows: nothing is rounded away"
    if one.absence == "not-repeatable":
        return "no tree: the same call gives other bits"
    return "no tree"


def replay_words(one: TreeClass) -> str:
    """Whether the tree was replayed, and which way gave the kernel's bits."""
    if one.tree is None:
        return one.why or ""
    if one.replayed is None:
        return f"not replayed: {one.why}"
    way = {
        "fused": "fused multiply-adds",
        "separate": "products rounded before they are added",
        "either": "products are exact, so fused or not is the same",
        "mixed": f"{some(len(one.rounded or ()), 'product')} rounded before they are added, the others fused",
        "additions": "additions only",
    }[one.replayed]
    if one.products and one.replayed != "fused" and one.products != one.accumulator:
        way += f" (to {one.products})"
    wide = f", {len(one.wide):,} of them in float64" if one.wide else ""
    return f"replayed: {one.replays} random sums, every bit the same; {way}, partial sums in {one.accumulator}{wide}"


def findings(record: TreesRecord) -> list[str]:
    """A sentence for each group of kernels that take batches."""
    return [_finding(group) for group in tree_groups(record) if group.batch_sizes]


def conclusion(record: TreesRecord) -> str | None:
    """What follows, in one sentence; nothing where no kernel was looked into at two batch sizes."""
    batched = [kernel for kernel in record.kernels if len(kernel.batch_sizes) > 1]
    if any(len(kernel.classes) - bool(kernel.unrepeatable) > 1 or kernel.mixing for kernel in batched):
        return (
            "The same kernel adds in a different order when the batch has another size: the same row of numbers then "
            "gives other last bits, and where two tokens are nearly tied, another text."
        )
    if any(kernel.name.startswith(_STOCK) for kernel in batched) and not any(one.unrepeatable for one in batched):
        return (
            "No kernel changed its order with the batch size here. On another machine, with another library, size or "
            "number of threads one may: this look proves nothing about those."
        )
    return None


def _finding(group: TreeGroup) -> str:
    sizes = group.batch_sizes
    tried = f"batch sizes {ranges(sizes)}" if len(sizes) > 1 else f"batch size {sizes[0]}"
    mixing = sorted({size for kernel in group.kernels for size in kernel.mixing})
    if unrepeatable := sorted({size for kernel in group.kernels for size in kernel.unrepeatable}):
        return f"{group.title}: at {ranges(unrepeatable)} rows the same call gives other bits; {tried}."
    if mixing:
        return f"{group.title}: at {ranges(mixing)} rows a place depends on what other places hold; {tried}."
    if len(group.kinds) == 1:
        return f"{group.title}: one order of addition at {tried}, at every row and column."
    orders = len({kind.one.tree for kind in group.kinds})
    ways = "" if orders == len(group.kinds) else f", in {len(group.kinds)} ways of rounding,"
    split = sorted({size for kernel in group.kernels for size in _split(kernel)})
    inside = f"; inside one batch of {ranges(split)} places differ" if split else ""
    return f"{group.title}: {some(orders, 'order')} of addition{ways} at {tried}{inside}."


def _split(kernel: KernelTrees) -> list[int]:
    """The batch sizes of which places add in different ways."""
    return [size for size in kernel.batch_sizes if sum(size in one.batch_sizes for one in kernel.classes) > 1]
