"""Tokens as one compact byte string, and back, equal to the last bit.

A packed string is: the length of the head (4 bytes, little-endian), the head (JSON), one float64 for each entry,
and the bytes of all entries. An entry is a token or one of its alternatives, each token followed by its own. Floats
are kept as their eight bytes, not as decimals, so that even what JSON refuses (an infinite logprob) comes back.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from itertools import islice

from temp0.core.run import Alternative, Token

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
    entries = _entries(data, _LENGTH.size + head_size, head["lengths"])
    untold = set(head["untold"])
    return tuple(
        _token(entries, token_id, top, is_told=place not in untold)
        for place, (token_id, top) in enumerate(zip(head["ids"], head["tops"], strict=True))
    )


def _entries(data: bytes, start: int, lengths: list[int]) -> Iterator[tuple[bytes, float]]:
    logprobs = struct.unpack_from(f"<{len(lengths)}d", data, start)
    position = start + 8 * len(lengths)
    for length, logprob in zip(lengths, logprobs, strict=True):
        yield data[position : position + length], logprob
        position += length


def _token(entries: Iterator[tuple[bytes, float]], token_id: int | None, top: int, *, is_told: bool) -> Token:
    chosen, logprob = next(entries)
    alternatives = tuple(Alternative(bytes=each, logprob=known) for each, known in islice(entries, top))
    return Token(bytes=chosen, id=token_id, logprob=logprob if is_told else None, top=alternatives)
