"""Keys and values of every running request, in pages of a pool of fixed size.

A request holds one slot and, from admission to its end, every page it can ever need; a page has one holder.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from temp0 import kernels
from temp0.engine.checkpoint import Array, Settings
from temp0.errors import UsageError

PAGE_TOKENS = 16


class KvCache:
    """Room for the keys and values of `tokens` positions in all and of `slots` requests at once.

    `keys[layer]` and `values[layer]` are float32 [pages, PAGE_TOKENS, kv_heads, head_dim]; `tables[slot]` lists the
    pages of a slot in order of position. Memory is touched page by page as it is first used. UsageError when there is
    no room for one page or one slot.
    """

    def __init__(self, settings: Settings, *, tokens: int, slots: int) -> None:
        if tokens < PAGE_TOKENS:
            raise UsageError(f"kv_tokens is {tokens}, expected at least {PAGE_TOKENS}, the size of a page")
        if slots < 1:
            raise UsageError(f"max_running is {slots}, expected at least 1")
        pages = tokens // PAGE_TOKENS
        shape = (settings.layers, pages, PAGE_TOKENS, settings.kv_heads, settings.head_dim)
        self.keys = kernels.aligned_zeros(shape)
        self.values = kernels.aligned_zeros(shape)
        self.tables = np.zeros((slots, min(pages, pages_of(settings.context))), dtype=np.int32)
        # Last in, first out: a page that was just given back is still in the processor's cache.
        self._free_pages = list(range(pages))[::-1]
        self._free_slots = list(range(slots))[::-1]
        self._held: dict[int, list[int]] = {}
        self.capacity_tokens = pages * PAGE_TOKENS

    @property
    def free_tokens(self) -> int:
        """Positions that no request holds."""
        return len(self._free_pages) * PAGE_TOKENS

    def can_hold(self, tokens: int) -> bool:
        """Whether a slot and the pages for that many positions are free now."""
        return bool(self._free_slots) and pages_of(tokens) <= len(self._free_pages)

    def hold(self, tokens: int) -> int:
        """Take a slot with pages for that many positions, which `can_hold` must have allowed; returns the slot."""
        slot = self._free_slots.pop()
        held = [self._free_pages.pop() for _ in range(pages_of(tokens))]
        self.tables[slot, : len(held)] = held
        self._held[slot] = held
        return slot

    def release(self, slot: int) -> None:
        """Give a slot and its pages back."""
        self._free_pages += reversed(self._held.pop(slot))
        self._free_slots.append(slot)

    def places(self, slots: NDArray[np.int32], positions: NDArray[np.int32]) -> NDArray[np.int64]:
        """Where each row's key and value lie in the pool, counted in positions [M]."""
        pages = self.tables[slots, positions // PAGE_TOKENS].astype(np.int64)
        return pages * PAGE_TOKENS + positions % PAGE_TOKENS

    def write(self, layer: int, places: NDArray[np.int64], keys: Array, values: Array) -> None:
        """Store keys and values [M, kv_heads, head_dim] at their places."""
        for pool, rows in ((self.keys[layer], keys), (self.values[layer], values)):
            pool.reshape(-1, *pool.shape[2:])[places] = rows


def pages_of(tokens: int) -> int:
    """Pages that hold that many positions."""
    return -(-tokens // PAGE_TOKENS)
