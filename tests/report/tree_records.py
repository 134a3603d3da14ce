"""Records of trees, made by hand: a kernel that changes its order, one that does not, and what has no tree."""

from __future__ import annotations

from collections.abc import Sequence

from temp0.core.reduction_tree import ReductionTree, reduction_tree
from temp0.core.tree_record import KernelTrees, Places, Skipped, TreeClass, TreesMachine, TreesRecord

Nested = int | tuple["Nested", ...]

MACHINE = TreesMachine(
    processor="A <processor> & more",
    features=("AVX2", "FMA3"),
    cores=2,
    thread_variables=(("OMP_NUM_THREADS", "1"),),
    libraries=(("numpy", "9.9"),),
)


def tree_of(nested: Nested) -> ReductionTree:
    """A tree written in brackets."""
    found: list[tuple[Nested, ...]] = []
    waiting, leaves = [nested], 0
    while waiting:
        one = waiting.pop()
        if isinstance(one, int):
            leaves += 1
        else:
            found.append(one)
            waiting.extend(one)
    number = {id(one): leaves + place for place, one in enumerate(reversed(found))}
    return reduction_tree(
        leaves, [[child if isinstance(child, int) else number[id(child)] for child in one] for one in reversed(found)]
    )


def chain(parts: Sequence[Nested]) -> Nested:
    total, *others = parts
    for part in others:
        total = (total, part)
    return total


def pairs(parts: Sequence[Nested]) -> Nested:
    while len(parts) > 1:
        parts = [tuple(parts[i : i + 2]) if i + 1 < len(parts) else parts[i] for i in range(0, len(parts), 2)]
    return parts[0]


def strided(parts: Sequence[Nested], *strides: int) -> Nested:
    """Part i with part i + stride, level by level; what was joined is known by its first part."""
    left = dict(enumerate(parts))
    for stride in strides:
        for place in list(left):
            if place in left and place + stride in left:
                left[place] = (left[place], left.pop(place + stride))
    (whole,) = left.values()
    return whole


def lanes(count: int, size: int) -> list[Nested]:
    return [chain(range(lane, count * size, count)) for lane in range(count)]


def blocks(count: int, size: int, inner: object = chain) -> list[Nested]:
    return [inner(range(start, start + size)) for start in range(0, count * size, size)]  # type: ignore[operator]


CHAINS = tree_of(chain(blocks(3, 192)))
LANES = tree_of(strided(lanes(8, 72), 4, 2, 1))


def places(batch_size: int, rows: Sequence[int] | None = None, columns: Sequence[int] = range(4)) -> Places:
    return Places(
        batch_size=batch_size, rows=tuple(range(batch_size) if rows is None else rows), columns=tuple(columns)
    )


def of(tree: ReductionTree | None, *where: Places, bits: str = "00", **more: object) -> TreeClass:
    told = {"replayed": "fused", "accumulator": "float32", "rounded": (0,), "replays": 64} if tree else {}
    return TreeClass(places=where, tree=tree, bits=bits, **{**told, **more})  # type: ignore[arg-type]


CHANGING = KernelTrees(
    name="numpy.matmul", dtype="float32", k=576, n=4, batch_sizes=(1, 4, 5),
    classes=(
        of(LANES, places(1), places(5, [4]), bits="aa"),
        of(CHAINS, places(4), places(5, range(4)), bits="bb"),
    ),
)  # fmt: skip
WIDER = KernelTrees(
    name="numpy.matmul", dtype="float32", k=576, n=9, batch_sizes=(1, 4, 5),
    classes=(of(CHAINS, *(places(size, columns=range(9)) for size in (1, 4, 5)), bits="bb"),),
)  # fmt: skip
STEADY = KernelTrees(
    name="kernels.linear", dtype="bfloat16", k=8, n=4, batch_sizes=(1, 4, 5),
    classes=(of(tree_of(pairs(range(8))), places(1), places(4), places(5), replayed="either", rounded=None),),
)  # fmt: skip
EXACT = KernelTrees(
    name="python.fsum", dtype="float64", k=8, n=1, batch_sizes=(1,), is_lone=True,
    classes=(of(None, places(1, columns=[0]), absence="exact", why="the sum is rounded once"),),
)  # fmt: skip
MIXED = KernelTrees(
    name="numpy.dot", dtype="float32", k=9, n=1, batch_sizes=(1,), is_lone=True,
    classes=(of(tree_of(chain(range(9))), places(1, columns=[0]), products="float32", wide=(16, 17)),),
)  # fmt: skip
UNREPEATABLE = KernelTrees(
    name="numpy.matmul", dtype="float32", k=8, n=4, batch_sizes=(1, 4),
    classes=(of(None, places(1), places(4), absence="not-repeatable", why="other bits"),),
)  # fmt: skip
UNREPLAYED = KernelTrees(
    name="numpy.dot", dtype="float32", k=8, n=1, batch_sizes=(1,), is_lone=True,
    classes=(
        of(tree_of(chain(range(8))), places(1, columns=[0]), replayed=None, accumulator=None, rounded=None, why="odd"),
    ),
)  # fmt: skip


def record(*kernels: KernelTrees, finished: bool = True, skipped: tuple[Skipped, ...] = ()) -> TreesRecord:
    return TreesRecord(kernels=kernels, machine=MACHINE, skipped=skipped, finished=finished)


WHOLE = record(
    CHANGING, WIDER, STEADY, EXACT, UNREPLAYED,
    skipped=(Skipped(name="numpy.sum", dtype="bfloat16", why="numpy has none"),),
)  # fmt: skip
