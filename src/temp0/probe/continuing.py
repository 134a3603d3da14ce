"""Which endpoints can be had to go on from a given beginning of an answer: a last message of the assistant's.

Whether one really does is seen in what it answers: nothing here is a promise of the server's.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from temp0.core.run import Address
from temp0.probe.dialect import DIALECTS
from temp0.probe.host import KNOWN_HOSTS


def continues(address: Address) -> bool:
    """Whether to try: the dialect can say it, and it is no hosted API that takes such a message for another turn."""
    dialect = DIALECTS.get(address.api)
    if dialect is None or not dialect.continues:
        return False
    return address.api != "openai-chat" or urlsplit(address.url).hostname not in KNOWN_HOSTS
