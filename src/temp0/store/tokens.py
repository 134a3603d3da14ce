"""Tokens as one compact byte string, and back, equal to the last bit.

A packed string is: the length of the head (4 bytes, little-endian), the head (JSON), one float64 for each entry,
and the bytes of all entries. An entry is a token or one of its alternatives, each token followed by its own. Floats
are kept as their eight bytes, not as decimals, so that even what JSON refuses (an infinite logprob) comes back.
"""

from __future__ import annotations

import json
import struct
from itertools import accumulate, pairwise

from temp0.core.run import Alternative, Token
from temp0.store.record import records

_LENGTH = struct.Struct("<I")


def packed(tokens: tuple[Token, ...]) -> bytes:
    """The byte string of `tokens`: equal tokens, to the bit, make equal strings."""
    entries: list[Token | Alternative] = []
    for token in tokens:
        entries += (token, *token.top)
    head = {
        "ids": [token.id for token in tokens],
        "tops": [len(token.top) for token in tokens],
        "untold": [place for place, token in enumerate(tokens) if token.logprob is None],
        "lengths": [len(entry.bytes) for entry in entries],
    }
    head_bytes = json.dumps(head, separators=(",", ":"), allow_nan=False).encode("ascii")
    logprobs = [0.0 if entry.logprob is None else entry.logprob for entry in entries]
    floats = struct.pack(f"<{len(logprobs)}d", *logprobs)
    return b"".join((_LENGTH.pack(len(head_bytes)), head_bytes, floats, *(entry.bytes for entry in entries)))


def unpacked(data: bytes) -> tuple[Token, ...]:
    """The tokens that `packed` made `data` from."""
    (head_size,) = _LENGTH.unpack_from(data)
    head = json.loads(data[_LENGTH.size : _LENGTH.size + head_size])
    lengths, tops = head["lengths"], head["tops"]
    start = _LENGTH.size + head_size
    logprobs = struct.unpack_from(f"<{len(lengths)}d", data, start)
    ends = accumulate(lengths, initial=start + 8 * len(lengths))
    texts = [data[begin:end] for begin, end in pairwise(ends)]
    entries = records(Alternative, len(texts), bytes=texts, logprob=logprobs)
    places = [*accumulate((1 + top for top in tops), initial=0)]  # of each token among all entries, and the end
    chosen: list[float | None] = [logprobs[place] for place in places[:-1]]
    for place in head["untold"]:
        chosen[place] = None
    made = records(
        Token,
        len(tops),
        bytes=[texts[place] for place in places[:-1]],
        id=head["ids"],
        logprob=chosen,
        top=[tuple(entries[place + 1 : end]) for place, end in pairwise(places)],
    )
    return tuple(made)
