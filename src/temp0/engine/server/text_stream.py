"""Turns emitted tokens into text, by bytes, and ends it at a stop string.

Invariant: the joined pieces do not depend on how the text was cut into tokens. A character whose bytes are not all
there is held back, and so is text that may yet become a stop string; of several stop strings the one that is
complete first ends the text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from temp0.engine.request import Emission
from temp0.engine.tokenizer import TextDecoder


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """Why the text ended: the model's own end, the token limit, or one of the client's stop strings."""

    reason: Literal["stop", "length", "stop_sequence"]
    stop: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Text that is final, with the emissions whose text begins in it; `ending` is there on the last piece.

    An end token belongs to the last piece, though it has no text. Tokens of a stop string belong to none.
    """

    text: str
    emissions: tuple[Emission, ...]
    ending: Ending | None = None


def joined(pieces: Sequence[Piece]) -> Piece:
    """All pieces of an answer as one."""
    return Piece(
        text="".join(piece.text for piece in pieces),
        emissions=tuple(emission for piece in pieces for emission in piece.emissions),
        ending=pieces[-1].ending,
    )


class TextStream:
    """The text of one answer as it grows."""

    def __init__(self, bytes_of: Callable[[int], bytes], stops: tuple[str, ...] = ()) -> None:
        self._bytes_of = bytes_of
        self._stops = stops
        self._decoder = TextDecoder()
        self._held = ""
        self._released = 0
        self._waiting: list[tuple[int, Emission]] = []  # with the character at which its text begins

    def push(self, emission: Emission) -> Piece:
        """Take one emission and give what became final by it, which may be nothing yet."""
        self._waiting.append((self._released + len(self._held), emission))
        self._held += self._decoder.push(self._bytes_of(emission.token))
        if emission.finish:
            self._held += self._decoder.finish()
        hit = _first_stop(self._held, self._stops)
        if hit:
            start, stop = hit
            return self._piece(start, Ending(reason="stop_sequence", stop=stop))
        if emission.finish:
            return self._last(Ending(reason=emission.finish))
        return self._piece(len(self._held) - _stop_prefix_length(self._held, self._stops), None)

    def _piece(self, length: int, ending: Ending | None) -> Piece:
        text, self._held = self._held[:length], self._held[length:]
        self._released += length
        begun = [emission for start, emission in self._waiting if start < self._released]
        self._waiting = [(start, emission) for start, emission in self._waiting if start >= self._released]
        return Piece(text=text, emissions=tuple(begun), ending=ending)

    def _last(self, ending: Ending) -> Piece:
        emissions = tuple(emission for _, emission in self._waiting)
        return Piece(text=self._held, emissions=emissions, ending=ending)


def _first_stop(text: str, stops: tuple[str, ...]) -> tuple[int, str] | None:
    """The start of the stop string that is complete first (the longer one where two end together), and itself."""
    found = [(text.find(stop), stop) for stop in stops]
    hits = [(start + len(stop), start, stop) for start, stop in found if start >= 0]
    return min(hits)[1:] if hits else None


def _stop_prefix_length(text: str, stops: tuple[str, ...]) -> int:
    """How many of the last characters may be the beginning of a stop string."""
    longest = max((len(stop) - 1 for stop in stops), default=0)
    for length in range(min(longest, len(text)), 0, -1):
        if any(stop.startswith(text[-length:]) for stop in stops):
            return length
    return 0
