"""Makes many values of a frozen dataclass at once, in a third of the time of its constructor.

Only for plain records, whose constructor does nothing but keep its arguments: it is passed by here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import fields
from itertools import repeat
from typing import TypeVar

from temp0.core.run import Alternative, Attempt, Completion, Token

Record = TypeVar("Record", Alternative, Attempt, Completion, Token)


def records(kind: type[Record], count: int, **columns: Iterable[object]) -> list[Record]:
    """So many values of that kind; `columns` holds a column of as many values for each of its fields."""
    made: list[Record] = list(map(object.__new__, repeat(kind, count)))
    for field in fields(kind):
        keep = getattr(kind, field.name).__set__
        deque(map(keep, made, columns.pop(field.name)), maxlen=0)  # runs the map in C, and keeps nothing
    if columns:
        raise TypeError(f"{kind.__name__} has no field {', '.join(columns)}")
    return made
