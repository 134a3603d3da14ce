"""A stand-in for keys and values: every position of a page remembers the whole text that it was computed from."""

from __future__ import annotations

from collections.abc import Sequence

from temp0.engine.kv_cache import KvCache
from temp0.engine.page import PAGE_TOKENS, pages_of


class GhostMemory:
    """What a model would find in the pages of a cache."""

    def __init__(self, cache: KvCache) -> None:
        self._cache = cache
        self._texts: dict[tuple[int, int], tuple[int, ...]] = {}

    def pages(self, slot: int, tokens: int) -> list[int]:
        return self._cache.tables[slot, : pages_of(tokens)].tolist()

    def compute(self, slot: int, text: Sequence[int], *, start: int, end: int) -> None:
        """Positions `start` to `end`, as a forward pass would: it needs all earlier ones to be there."""
        assert self.has(slot, text[:start])
        for position in range(start, end):
            self._texts[self._place(slot, position)] = tuple(text[: position + 1])

    def has(self, slot: int, text: Sequence[int]) -> bool:
        """Whether every position of the text is there, computed from that text and no other."""
        return all(
            self._texts.get(self._place(slot, position)) == tuple(text[: position + 1]) for position in range(len(text))
        )

    def _place(self, slot: int, position: int) -> tuple[int, int]:
        return int(self._cache.tables[slot, position // PAGE_TOKENS]), position % PAGE_TOKENS
