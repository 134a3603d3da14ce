"""How prompts and conditions are named in a sentence: all of them where they are few, else some and a count.

Names come from outside, so each is made visible and cut.
"""

from __future__ import annotations

from collections.abc import Sequence

from temp0.report.figure import some
from temp0.report.visible import beginning

_LISTED = 6
_QUOTED = 3
_LONGEST = 40
_LONGEST_CONDITION = 60


def listed(names: Sequence[str], most: int = _LISTED) -> str:
    """Names in a row, cut after some.

    >>> listed(["A"]), listed(["A", "B", "C"]), listed(list("ABCDEFGH"), 2)
    ('A', 'A, B and C', 'A, B and 6 more')
    """
    return _row([beginning(name, _LONGEST) for name in names[:most]], len(names) - most)


def _row(shown: Sequence[str], more: int) -> str:
    if more > 0:
        return f"{', '.join(shown)} and {more:,} more"
    return " and ".join([*([", ".join(shown[:-1])] if shown[1:] else []), *shown[-1:]])


def who(ids: Sequence[str]) -> str:
    """Prompts by name where they are few, else their number."""
    return listed(ids) if len(ids) <= _LISTED else some(len(ids), "prompt")


def quoted(conditions: Sequence[str]) -> str:
    """Conditions by name, in marks that hold a name's own commas together.

    >>> quoted(["alone", "company 8, stream"])
    '“alone” and “company 8, stream”'
    """
    shown = [f"“{beginning(name, _LONGEST_CONDITION)}”" for name in conditions[:_QUOTED]]
    return _row(shown, len(conditions) - _QUOTED)
