"""Looks into one kernel at batch size after batch size, and keeps together the places that add alike.

Nothing is assumed of rows, columns or batch sizes: each batch size is sorted into classes, and each class gets its own
tree and its own replay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from temp0.core.reduction_tree import ReductionTree
from temp0.core.tree_record import KernelTrees, Places, TreeClass, Way
from temp0.lab.kernel import Kernel
from temp0.lab.place import (
    PlaceClass,
    Rectangle,
    is_repeatable,
    place_classes,
    places_are_independent,
    wild_numbers,
)
from temp0.lab.precision import Floats
from temp0.lab.probe import PlaceProbe, Shape
from temp0.lab.replay import Rounded, matching_replay
from temp0.lab.tree_search import NoTreeError, revealed_tree

_REPLAYS = 64
_CALLS_IN_DOUBT = 256
_NO_WAY = (
    "added along this tree in software, with products rounded or not, the random sums had other bits: the kernel may "
    "round in a way that is not known here, compensate, add in an order that depends on the numbers, or do more"
)
_OTHER_BITS = "the same call on the same numbers gave other bits, so it adds in no order that could be shown"
_MANY_TERMS = "; how a machine rounds an addition of more than two terms is not known here"
_EXACT = "the sum is rounded once, at its end, so no order leaves a trace"
_NOTHING_LOST = (
    "nothing was rounded away beside a huge number, and yet the sum is not exact: it is compensated, or kept wider "
    "than the masks can show"
)

OnSummands = Callable[[int, int], None]
"""Told, while a tree is built, how many summands have found their place, and of how many."""


@dataclass(frozen=True, slots=True)
class _Draw:
    """Random sums of one class: their factors [P, K] and what the kernel made of them [P]."""

    rows: Floats
    weights: Floats | None
    sums: Floats


def looked_into(
    kernel: Kernel,
    *,
    k: int,
    n: int,
    batch_sizes: Sequence[int],
    seed: int = 0,
    on_summands: OnSummands | None = None,
) -> Iterator[KernelTrees]:
    """What is known of the kernel after each batch size, its last value knowing all of them.

    A lone kernel is looked into once, and a kernel that is a sum has one column.
    """
    found = KernelTrees(
        name=kernel.name,
        dtype=kernel.dtype,
        k=k,
        n=1 if kernel.is_sum or kernel.is_lone else n,
        batch_sizes=(),
        classes=(),
        is_lone=kernel.is_lone,
    )
    for batch_size in (1,) if kernel.is_lone else dict.fromkeys(batch_sizes):
        shape = Shape(rows=batch_size, columns=found.n, summands=k)
        is_independent, seen = _seen(kernel, shape, seed=seed, on_summands=on_summands)
        classes = found.classes
        for one in seen:
            classes = _with(classes, one)
        mixing = found.mixing if is_independent else (*found.mixing, batch_size)
        found = replace(found, batch_sizes=(*found.batch_sizes, batch_size), classes=classes, mixing=mixing)
        yield found


def _seen(
    kernel: Kernel, shape: Shape, *, seed: int, on_summands: OnSummands | None
) -> tuple[bool, tuple[TreeClass, ...]]:
    """Whether places of one batch size do not mix, and its classes; a doubtful one is asked again for its bits."""
    if not is_repeatable(kernel, shape, seed=seed):
        return True, (_unrepeatable(shape),)
    is_independent = places_are_independent(kernel, shape, seed=seed)
    classes = tuple(
        tree_class(kernel, shape, alike, is_independent=is_independent, seed=seed, on_summands=on_summands)
        for alike in place_classes(kernel, shape, seed=seed)
    )
    is_doubtful = not is_independent or any(one.replayed is None for one in classes)
    if is_doubtful and not is_repeatable(kernel, shape, calls=_CALLS_IN_DOUBT, seed=seed):
        return True, (_unrepeatable(shape),)
    return is_independent, classes


def _unrepeatable(shape: Shape) -> TreeClass:
    """All places of a product, in one class that has no tree."""
    whole = Places(batch_size=shape.rows, rows=tuple(range(shape.rows)), columns=tuple(range(shape.columns)))
    return TreeClass(places=(whole,), bits="", tree=None, absence="not-repeatable", why=_OTHER_BITS)


def tree_class(
    kernel: Kernel,
    shape: Shape,
    alike: PlaceClass,
    *,
    is_independent: bool,
    seed: int = 0,
    on_summands: OnSummands | None = None,
) -> TreeClass:
    """The tree of places that are known to add alike, replayed on random sums at places all over the class."""
    rectangles = alike.rectangles
    largest = max(rectangles, key=lambda one: max(len(one.rows), len(one.columns)))
    probe = PlaceProbe(kernel, shape, largest.rows, largest.columns, independent=is_independent)
    places = tuple(Places(batch_size=shape.rows, rows=one.rows, columns=one.columns) for one in rectangles)
    draw = _draw(kernel, shape, rectangles, seed)
    try:
        probe.check_units()
        tree = revealed_tree(
            probe.meeting_sizes,
            shape.summands,
            seed=seed,
            on_round=None if on_summands is None else lambda done: on_summands(done, shape.summands),
        )
    except NoTreeError as error:
        if not error.is_exact:
            return TreeClass(places=places, bits=alike.bits, tree=None, absence="no-tree", why=str(error))
        if _is_exact(draw, kernel) and probe.is_exact():
            return TreeClass(places=places, bits=alike.bits, tree=None, absence="exact", why=_EXACT)
        return TreeClass(places=places, bits=alike.bits, tree=None, absence="nothing-lost", why=_NOTHING_LOST)
    claimed = TreeClass(places=places, bits=alike.bits, tree=tree, replays=len(draw.sums))
    return _replayed(claimed, tree, draw, probe, kernel)


def _replayed(claimed: TreeClass, tree: ReductionTree, draw: _Draw, probe: PlaceProbe, kernel: Kernel) -> TreeClass:
    replay = matching_replay(
        tree,
        draw.rows,
        draw.weights,
        draw.sums,
        gives=kernel.gives,
        takes=kernel.takes,
        measured=lambda: (_rounded(probe, tree, kernel), probe.wide_nodes(tree)),
    )
    if replay is None:
        has_many = any(len(node) > 2 for node in tree.nodes)
        return replace(claimed, why=_NO_WAY + (_MANY_TERMS if has_many else ""))
    way: Way = "additions" if kernel.is_sum else replay.way
    return replace(
        claimed,
        replayed=way,
        accumulator=replay.accumulator.name,
        rounded=None if replay.rounded is None else tuple(np.flatnonzero(replay.rounded).tolist()),
        products=None if replay.product is None else replay.product.name,
        wide=None if replay.wide is None else tuple((tree.leaves + np.flatnonzero(replay.wide)).tolist()),
    )


def _rounded(probe: PlaceProbe, tree: ReductionTree, kernel: Kernel) -> Rounded:
    return np.ones(tree.leaves, np.bool_) if kernel.is_sum else probe.rounded_products(tree)


def _draw(kernel: Kernel, shape: Shape, rectangles: Sequence[Rectangle], seed: int) -> _Draw:
    """At least 64 random sums, from as many products as that takes, spread over the class."""
    random = np.random.default_rng((seed, 1))
    rows, columns = _spread(rectangles)
    drawn: list[tuple[Floats, Floats, Floats]] = []
    while sum(len(one[2]) for one in drawn) < _REPLAYS:
        x, w = (wild_numbers((side, shape.summands), kernel.takes, random) for side in (shape.rows, shape.columns))
        drawn.append((x[rows], w[columns], kernel.multiply(x.copy(), w.copy())[rows, columns]))
    factors, weights, sums = (np.concatenate(parts) for parts in zip(*drawn, strict=True))
    return _Draw(factors, None if kernel.is_sum else weights, sums)


def _spread(rectangles: Sequence[Rectangle]) -> tuple[list[int], list[int]]:
    """Up to 64 places of each rectangle, its corners among them."""
    rows: list[int] = []
    columns: list[int] = []
    for one in rectangles:
        some_rows, some_columns = _some(one.rows), _some(one.columns)
        rows += [row for row in some_rows for _ in some_columns]
        columns += some_columns * len(some_rows)
    return rows, columns


def _some(places: Sequence[int], most: int = 8) -> list[int]:
    return [places[round(step)] for step in np.linspace(0, len(places) - 1, min(most, len(places)))]


def _is_exact(draw: _Draw, kernel: Kernel) -> bool:
    weights = np.ones_like(draw.rows) if draw.weights is None else draw.weights
    exact = [
        float(sum(Fraction(a) * Fraction(b) for a, b in zip(row, weight, strict=True)))
        for row, weight in zip(draw.rows.tolist(), weights.tolist(), strict=True)
    ]
    return bool((kernel.gives.rounded(np.array(exact)) == draw.sums).all())


def _with(classes: tuple[TreeClass, ...], seen: TreeClass) -> tuple[TreeClass, ...]:
    """The classes with another one, joined to the one that adds alike if there is one."""
    for place, one in enumerate(classes):
        if replace(seen, places=one.places, replays=one.replays) == one:
            joined = replace(one, places=one.places + seen.places, replays=one.replays + seen.replays)
            return (*classes[:place], joined, *classes[place + 1 :])
    return (*classes, seen)
