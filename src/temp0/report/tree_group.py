"""One kernel at several numbers of columns, side by side: the kinds of tree it has, each with a letter, and where.

A letter means the same tree and the same rounding in every row of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from temp0.core.tree_record import KernelTrees, TreeClass, TreesRecord
from temp0.report.tree_place import letter, partial_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One way of adding: `one` has its tree and its replays; its places are not looked at."""

    letter: str
    one: TreeClass


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeGroup:
    """Kernels of one name, dtype and K, by number of columns; the kinds of all of them."""

    kernels: tuple[KernelTrees, ...]
    kinds: tuple[Kind, ...]

    @property
    def title(self) -> str:
        """The kernel with its dtype and the number of summands."""
        first = self.kernels[0]
        return f"{first.name}, {first.dtype}, K = {first.k:,}"

    @property
    def batch_sizes(self) -> tuple[int, ...]:
        """Every batch size looked into, ascending; none where the kernel takes no batch."""
        sizes = {size for kernel in self.kernels for size in kernel.batch_sizes if not kernel.is_lone}
        return tuple(sorted(sizes))

    def letters(self, kernel: KernelTrees, batch_size: int) -> str:
        """The kinds seen at one batch size: several where places of one batch differ, none where nobody looked."""
        seen = (one for one in kernel.classes if batch_size in one.batch_sizes)
        return "".join(sorted(self.letter_of(one) for one in seen))

    def letter_of(self, one: TreeClass) -> str:
        """The letter of a class."""
        return next(kind.letter for kind in self.kinds if _way(kind.one) == _way(one))

    def partings(self) -> list[str]:
        """Where places of one batch differ: which rows and columns have which letter."""
        return [
            f"N = {kernel.n:,}, batch size {size}: {self.letter_of(one)} has {told}"
            for kernel in self.kernels
            for size in kernel.batch_sizes
            for one in kernel.classes
            if (told := partial_words(kernel, one, size))
        ]


def tree_groups(record: TreesRecord) -> tuple[TreeGroup, ...]:
    """The kernels of a record in groups, in the order in which they were looked into."""
    found: dict[tuple[str, str, int], list[KernelTrees]] = {}
    for kernel in record.kernels:
        if kernel.classes:
            found.setdefault((kernel.name, kernel.dtype, kernel.k), []).append(kernel)
    return tuple(TreeGroup(kernels=tuple(kernels), kinds=_kinds(kernels)) for kernels in found.values())


def _kinds(kernels: Sequence[KernelTrees]) -> tuple[Kind, ...]:
    kinds: dict[TreeClass, int] = {}
    for one in (one for kernel in kernels for one in kernel.classes):
        kinds[_way(one)] = kinds.get(_way(one), 0) + one.replays
    return tuple(
        Kind(letter=letter(place), one=replace(one, replays=replays))
        for place, (one, replays) in enumerate(kinds.items())
    )


def _way(one: TreeClass) -> TreeClass:
    return replace(one, places=(), replays=0)
