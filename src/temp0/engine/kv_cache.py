"""Keys and values of every running request, in pages of a pool of fixed size.

A request holds one slot, and pages as far as it has come. A page is written by one holder; once it is full, the
prefix cache may share it, and from then on it is only read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from temp0 import kernels
from temp0.engine.checkpoint import Settings
from temp0.engine.page import PAGE_TOKENS, pages_of
from temp0.engine.page_pool import PagePool
from temp0.errors import UsageError


@dataclass(slots=True, kw_only=True)
class _Holding:
    """A slot's pages in order of position; `shared` of them, from the first on, are in the prefix cache.

    `shared` is None for a request that takes no part in it.
    """

    shared: int | None
    pages: list[int] = field(default_factory=list)


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
        self.capacity_tokens = pages * PAGE_TOKENS
        self._pool = PagePool(pages)
        self._free_slots = list(range(slots))[::-1]
        self._held: dict[int, _Holding] = {}

    @property
    def free_tokens(self) -> int:
        """Positions that no request holds, those included that the prefix cache keeps."""
        return self._pool.available * PAGE_TOKENS

    @property
    def kept_tokens(self) -> int:
        """Positions that the prefix cache keeps and no request holds."""
        return self._pool.prefixes.idle * PAGE_TOKENS

    def can_hold(self, tokens: int, *, text: Sequence[int] = (), beside: int = 0) -> bool:
        """Whether a slot is free, and pages for that many positions when `beside` pages are left alone.

        Pages of `text` that the prefix cache knows and somebody holds already cost nothing.
        """
        if not self._free_slots:
            return False
        shared = sum(self._pool.is_held(page) for page in self._pool.prefixes.find(text))
        return pages_of(tokens) - shared + beside <= self._pool.available

    def hold(self, tokens: int = 0, *, shares: bool = False) -> int:
        """Take a slot with pages for that many positions, which `can_hold` must have allowed; returns the slot.

        A slot that `shares` reads and feeds the prefix cache; any other has pages of its own only.
        """
        slot = self._free_slots.pop()
        self._held[slot] = _Holding(shared=0 if shares else None)
        self.grow(slot, tokens)
        return slot

    def lacking(self, slot: int, tokens: int) -> int:
        """Pages that a slot would have to take to reach that many positions."""
        return max(0, pages_of(tokens) - len(self._held[slot].pages))

    def reach(self, slot: int) -> int:
        """Positions that a slot could have if it took every page that can be had."""
        return (len(self._held[slot].pages) + self._pool.available) * PAGE_TOKENS

    def grow(self, slot: int, tokens: int) -> None:
        """Take the pages that a slot lacks for that many positions, which must be within its `reach`."""
        for _ in range(self.lacking(slot, tokens)):
            self._put(slot, len(self._held[slot].pages), self._pool.take())

    def adopt(self, slot: int, text: Sequence[int]) -> int:
        """Share what the prefix cache knows of the slot's text, and return how many of its positions it now has.

        The last token's page is never shared. A page of its own that the slot had begun is given up for a whole one.
        0 for a slot that takes no part in the prefix cache.
        """
        held = self._held[slot]
        if held.shared is None:
            return 0
        for page in self._pool.prefixes.find(text, after=held.pages[: held.shared]):
            self._pool.share(page)
            self._put(slot, held.shared, page)
            held.shared += 1
        return held.shared * PAGE_TOKENS

    def publish(self, slot: int, text: Sequence[int], computed: int) -> None:
        """Enter the slot's full pages among its first `computed` positions of `text` in the prefix cache.

        Where another request was first with the same text, the slot shares that page and gives its own back.
        """
        held = self._held[slot]
        while held.shared is not None and (end := (held.shared + 1) * PAGE_TOKENS) <= computed:
            own = held.pages[held.shared]
            before = held.pages[held.shared - 1] if held.shared else None
            page = self._pool.prefixes.add(own, text[end - PAGE_TOKENS : end], before=before)
            if page != own:
                self._pool.share(page)
                self._put(slot, held.shared, page)
            held.shared += 1

    def release(self, slot: int) -> None:
        """Give a slot and its pages back, the last page first, as the prefix cache wants them."""
        for page in reversed(self._held.pop(slot).pages):
            self._pool.drop(page)
        self._free_slots.append(slot)

    def forget_prefixes(self) -> None:
        """Empty the prefix cache; slots that share keep their pages and take no further part in it."""
        self._pool.forget_prefixes()
        for held in self._held.values():
            held.shared = None

    def places(self, slots: NDArray[np.int32], positions: NDArray[np.int32]) -> NDArray[np.int32]:
        """Where each row's key and value lie in the pool, counted in positions [M]."""
        return self.tables[slots, positions // PAGE_TOKENS] * PAGE_TOKENS + positions % PAGE_TOKENS

    def _put(self, slot: int, index: int, page: int) -> None:
        """Make a page that was taken or shared the slot's `index`th, and let go of the one it replaces."""
        pages = self._held[slot].pages
        for replaced in pages[index : index + 1]:
            self._pool.drop(replaced)
        pages[index : index + 1] = [page]
        self.tables[slot, index] = page
