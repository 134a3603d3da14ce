"""What was found of reduction trees: kernels, and for each the classes of places that add alike.

A class without a tree says why it has none; one whose tree no replay matched says so, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from temp0.core.reduction_tree import ReductionTree

Way = Literal["fused", "separate", "either", "mixed", "additions"]
Absence = Literal["exact", "nothing-lost", "no-tree", "not-repeatable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Every one of `rows` by every one of `columns` of the result, in batches of `batch_size` rows; all from 0."""

    batch_size: int
    rows: tuple[int, ...]
    columns: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeClass:
    """Places that add in one tree and round alike.

    `bits` is a digest of the bits they made of the same numbers: those of different batch sizes and numbers of columns
    can be compared, those of another K, dtype or seed cannot.

    `replayed` is the way of adding along the tree in software that gave every bit of `replays` random sums, with
    partial sums in `accumulator`: products rounded before they are added (`separate`), one in each addition of a
    product not (`fused`), some (`mixed`), both the same (`either`, as where every product is exact), or no products at
    all (`additions`); `rounded` lists the products that are rounded where only some are, and `products` is the format
    that they are rounded to. `wide` lists the ids of the nodes whose sums are kept in float64 where the others are in
    `accumulator`. `replayed` is `None` where no way did, or no tree is there: then `why` has the reason, and `absence`
    the kind of the latter; `not-repeatable` where the same call gave other bits.
    """

    places: tuple[Places, ...]
    bits: str
    tree: ReductionTree | None
    absence: Absence | None = None
    replayed: Way | None = None
    accumulator: str | None = None
    rounded: tuple[int, ...] | None = None
    products: str | None = None
    wide: tuple[int, ...] | None = None
    replays: int = 0
    why: str | None = None

    @property
    def batch_sizes(self) -> tuple[int, ...]:
        """The batch sizes in which some place belongs to the class, in ascending order."""
        return tuple(sorted({one.batch_size for one in self.places}))


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelTrees:
    """One kernel with K = `k` summands and N = `n` columns: its classes over the batch sizes looked into so far.

    In the batch sizes `mixing`, what a place holds changed another place; there one place at a time was probed.
    """

    name: str
    dtype: str
    k: int
    n: int
    batch_sizes: tuple[int, ...]
    classes: tuple[TreeClass, ...]
    is_lone: bool = False
    mixing: tuple[int, ...] = ()

    @property
    def unrepeatable(self) -> tuple[int, ...]:
        """The batch sizes at which the same call gave other bits, ascending."""
        sizes = (size for one in self.classes if one.absence == "not-repeatable" for size in one.batch_sizes)
        return tuple(sorted(set(sizes)))

    @property
    def is_invariant(self) -> bool:
        """Whether every place of every batch size adds alike."""
        return len(self.classes) <= 1 and not self.mixing and not self.unrepeatable


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A kernel that was asked for together with others and cannot be looked into here, and why."""

    name: str
    dtype: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TreesMachine:
    """Where it was found: orders differ between machines, libraries and numbers of threads."""

    processor: str
    features: tuple[str, ...]
    cores: int
    thread_variables: tuple[tuple[str, str], ...]
    libraries: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TreesRecord:
    """Everything one look into kernels found; `finished` unless it was interrupted."""

    kernels: tuple[KernelTrees, ...]
    machine: TreesMachine
    skipped: tuple[Skipped, ...] = ()
    finished: bool = True

    @property
    def exit_code(self) -> int:
        """0 done, 3 nothing was found, 4 not all of it was looked into."""
        if not any(kernel.classes for kernel in self.kernels):
            return 3
        return 0 if self.finished else 4
