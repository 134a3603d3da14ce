"""Commands and flags inside a sentence: told apart from its words, kept in one line, and made to fit an endpoint.

Only what looks like a command of ours, or a long flag of anybody's, counts; a sentence without any comes out as it is.
"""

from __future__ import annotations

import re
import shlex

from temp0.core.run import Address
from temp0.report.figure import UNBROKEN

_OURS = r"\btemp0 [a-z]+(?: URL)?(?: --[\w-]+(?: [\w,]+)?)*"
_VALUE = r"(?:both|on|off|cold|warm|repeatable|company|cache|everything|\d+(?:,\d+)*)\b"
_FLAG = rf"(?<![\w-])--[a-z][\w-]+(?: {_VALUE})?"
# Our own remedies end so. Nothing else may follow, since a remedy may quote what a server said.
_AGAIN = re.compile(r"\btemp0 probe URL(?P<plan> --ask [a-z]+(?: --exclusive)?)$")
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


def measured_again(remedy: str, address: Address) -> tuple[str, str | None]:
    """A remedy without the command that ends it, and that command for the endpoint at an address, if there is one.

    The command can be pasted into a shell. An address holds no secret, since an endpoint with one in its URL is never
    opened; nor does it say from which variable the key came, or what a header of the user's own held.
    """
    found = _AGAIN.search(remedy)
    endpoint = _endpoint(address)
    if not found or not endpoint:
        return remedy, None
    return remedy[: found.start()].rstrip(), f"temp0 probe {shlex.join(endpoint)}{found['plan']}"


def addressed(remedy: str, address: Address) -> str:
    """A remedy whose command, if it ends in one, names the endpoint at an address."""
    return " ".join(part for part in measured_again(remedy, address) if part)


def can_be_asked(address: Address) -> bool:
    """Whether there is anybody to ask again, which an imported run does not have."""
    return bool(_endpoint(address))


def _endpoint(address: Address) -> list[str]:
    """The arguments that address an endpoint; none where nothing could be asked there, as of an imported run."""
    scheme = address.url.partition(":")[0]
    if scheme == "builtin" or (scheme == "fake" and address.model == "fake"):
        return [address.url]
    if scheme == "fake":
        return [address.url, "--model", address.model]
    if scheme in {"http", "https"}:
        extra = ["--extra-json", address.extra] if address.extra else []
        headers = [part for name in address.headers.split() for part in ("--header", f"{name}: ...")]
        return [address.url, "--model", address.model, "--api", address.api, *extra, *headers]
    return []
