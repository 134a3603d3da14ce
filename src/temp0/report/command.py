"""Commands and flags inside a sentence: told apart from its words, and commands of ours kept in one line.

Only what looks like a command of ours, or a long flag of anybody's, counts; a sentence without any comes out as it is.
"""

from __future__ import annotations

import re

from temp0.report.figure import UNBROKEN

_OURS = r"\btemp0 [a-z]+(?: URL)?(?: --[\w-]+(?: [\w,]+)?)*"
_VALUE = r"(?:both|on|off|cold|warm|repeatable|company|cache|everything|\d+(?:,\d+)*)\b"
_FLAG = rf"(?<![\w-])--[a-z][\w-]+(?: {_VALUE})?"
_EITHER = re.compile(rf"({_OURS}|{_FLAG})")


def held(text: str) -> str:
    r"""The text with no-break spaces where a command of ours, or a p and its value, should not part.

    >>> held("p = 0.5; try temp0 probe URL --ask company")
    'p\xa0=\xa00.5; try temp0\xa0probe\xa0URL\xa0--ask\xa0company'
    """
    text = re.sub(r"\bp [=<] ", lambda found: found[0].replace(" ", UNBROKEN), text)
    return re.sub(_OURS, lambda found: found[0].replace(" ", UNBROKEN), text)


def parted(text: str) -> list[tuple[str, bool]]:
    """The text in pieces, each with whether it is a command or a flag.

    >>> parted("raise --max-tokens to see further")
    [('raise ', False), ('--max-tokens', True), (' to see further', False)]
    >>> parted("--ask cache asks cold")
    [('--ask cache', True), (' asks cold', False)]
    """
    pieces = _EITHER.split(text.replace(UNBROKEN, " "))
    return [(piece, place % 2 == 1) for place, piece in enumerate(pieces) if piece]
