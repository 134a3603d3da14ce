"""Seeded disorder for a conformance test: any JSON value, one change in a value, and bytes cut or changed anywhere.

The same random source gives the same disorder, so that a fault that was found can be found again.
"""

from __future__ import annotations

from random import Random

_NAMES = ("text", "content", "type", "error", "message", "choices", "delta", "index", "id", "usage", "finish_reason")
_TEXTS = ("", "a", "\x00", "\n\ndata: x", "\u2028", "\U0001f378", "\ud83c", "e\u0301", "error", "stop", "[DONE]")
_NUMBERS = (0, -1, 1, 2**63, 10**30, 0.5, -9999.0, float("nan"), float("-inf"), True, False, None)
_DEEPEST = 3


def any_value(random: Random, depth: int = 0) -> object:
    """Any JSON value, numbers that JSON has no word for included."""
    kind = random.randrange(2 if depth == _DEEPEST else 4)
    if kind == 0:
        return random.choice(_NUMBERS)
    if kind == 1:
        return random.choice(_TEXTS)
    inner = [any_value(random, depth + 1) for _ in range(random.randrange(4))]
    return inner if kind == 2 else {random.choice(_NAMES): value for value in inner}


def changed_value(random: Random, value: object) -> object:
    """The same value with another one somewhere in it, or without one of its members."""
    steps = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    if not steps or not random.randrange(6):
        return any_value(random)
    step = random.choice(steps)
    copy = dict(value) if isinstance(value, dict) else dict(enumerate(value))  # type: ignore[arg-type]
    if random.randrange(6):
        copy[step] = changed_value(random, copy[step])
    else:
        del copy[step]
    return copy if isinstance(value, dict) else list(copy.values())


def changed_bytes(random: Random, data: bytes) -> bytes:
    """The data with a few bytes of it changed, left out or repeated."""
    changed = bytearray(data)
    for _ in range(random.randrange(1, 4)):
        start = random.randrange(len(changed) + 1)
        end = min(len(changed), start + random.randrange(40))
        new = (b"", bytes(changed[start:end]) * 2, random.randbytes(3), b"\n\n", b"\xff", b"{", b'"')
        changed[start:end] = random.choice(new)
    return bytes(changed)


def pieces(random: Random, data: bytes) -> list[bytes]:
    """The data cut in a few places, also in the middle of a character or between CR and LF."""
    cuts = sorted(random.randrange(len(data) + 1) for _ in range(random.randrange(1, 12)))
    return [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
