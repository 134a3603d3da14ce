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


def listed(names: Sequence[str], most: int = _LISTED) -> str:
    """Names in a row, cut after some.

    >>> listed(["A"]), listed(["A", "B", "C"]), listed(list("ABCDEFGH"), 2)
    ('A', 'A, B and C', 'A, B and 6 more')
    """
    shown = [beginning(name, _LONGEST) for name in names[:most]]
    more = len(names) - len(shown)
    if more:
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
    return listed([f"“{name}”" for name in conditions], _QUOTED)
