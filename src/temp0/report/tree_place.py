"""Where in which batches a tree was seen, in words.

A batch size alone means every row and every column of it; anything less is said.
"""

from __future__ import annotations

from collections.abc import Sequence

from temp0.core.tree_record import KernelTrees, Places, TreeClass

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MOST_PARTS = 3


def partial_words(kernel: KernelTrees, one: TreeClass, batch_size: int) -> str:
    """The rows and columns of a class in batches of that size; nothing where it has all of them, or none."""
    here = [places for places in one.places if places.batch_size == batch_size]
    if sum(len(places.rows) * len(places.columns) for places in here) in {0, batch_size * kernel.n}:
        return ""
    parts = [_part(kernel, places) for places in here[:_MOST_PARTS]]
    return "; ".join(parts) + ("; and more" if len(here) > _MOST_PARTS else "")


def letter(place: int) -> str:
    """The name of a class by its place: A to Z, then numbers."""
    return _LETTERS[place] if place < len(_LETTERS) else f"({place + 1})"


def ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers in short.

    >>> ranges([0, 1, 2, 5, 8, 9])
    '0 to 2, 5, 8, 9'
    """
    told = []
    for first, last in spans(numbers):
        told += [f"{first} to {last}"] if last - first > 1 else [str(number) for number in range(first, last + 1)]
    return ", ".join(told)


def spans(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """The runs of neighbours in ascending numbers, as first and last.

    >>> spans([0, 1, 2, 5])
    [(0, 2), (5, 5)]
    """
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def _part(kernel: KernelTrees, places: Places) -> str:
    told = []
    if len(places.rows) < places.batch_size:
        told.append(f"{'row' if len(places.rows) == 1 else 'rows'} {ranges(places.rows)}")
    if len(places.columns) < kernel.n:
        told.append(f"{'column' if len(places.columns) == 1 else 'columns'} {ranges(places.columns)}")
    return ", ".join(told)
