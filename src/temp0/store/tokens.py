"""Tokens as one compact byte string, and back, equal to the last bit.

A packed string is: the length of the head (4 bytes, little-endian), the head (JSON), one float64 for each entry,
and the bytes of all entries. An entry is a token or one of its alternatives, each token followed by its own. Floats
are kept as their eight bytes, not as decimals, so that even what JSON refuses (an infinite logprob) comes back.
"""

from __future__ import annotations

import json
import struct
from itertools import accumulate, islice, pairwise

from temp0.core.run import Alternative, Token
from temp0.store.record import records

Entry = tuple[bytes, float]

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
    chosen, others = _entries(data, _LENGTH.size + head_size, head["lengths"], head["tops"])
    logprobs: list[float | None] = [logprob for _, logprob in chosen]
    for place in head["untold"]:
        logprobs[place] = None
    alternatives = iter(
        records(
            Alternative,
            len(others),
            bytes=[each for each, _ in others],
            logprob=[logprob for _, logprob in others],
        )
    )
    made = records(
        Token,
        len(chosen),
        bytes=[each for each, _ in chosen],
        id=head["ids"],
        logprob=logprobs,
        top=[tuple(islice(alternatives, top)) for top in head["tops"]],
    )
    return tuple(made)


def _entries(data: bytes, start: int, lengths: list[int], tops: list[int]) -> tuple[list[Entry], list[Entry]]:
    """The entries of the tokens themselves, and those of all alternatives."""
    logprobs = struct.unpack_from(f"<{len(lengths)}d", data, start)
    ends = accumulate(lengths, initial=start + 8 * len(lengths))
    entries = iter([(data[begin:end], logprob) for (begin, end), logprob in zip(pairwise(ends), logprobs, strict=True)])
    chosen: list[Entry] = []
    others: list[Entry] = []
    for top in tops:
        chosen.append(next(entries))
        others += islice(entries, top)
    return chosen, others
