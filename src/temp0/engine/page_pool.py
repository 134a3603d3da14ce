"""Who holds which page: free, held by one or more, or kept by the prefix cache until it is wanted.

Every page is in exactly one of these states, and a page is free only once its last holder has let go of it.
"""

from __future__ import annotations

from temp0.engine.prefix_cache import PrefixCache


class PagePool:
    """`pages` pages by number, each with the count of its holders."""

    def __init__(self, pages: int) -> None:
        self.prefixes = PrefixCache()
        # Last in, first out: a page that was just given back is still in the processor's cache.
        self._free = list(range(pages))[::-1]
        self._holders = [0] * pages

    @property
    def available(self) -> int:
        """Pages that `take` can give: the free ones and the idle ones of the prefix cache."""
        return len(self._free) + self.prefixes.idle

    def is_held(self, page: int) -> bool:
        """Whether anybody holds it."""
        return self._holders[page] > 0

    def take(self) -> int:
        """A page for one holder to write to: a free one, or else the one that the prefix cache misses least."""
        page = self._free.pop() if self._free else self.prefixes.evict()
        self._holders[page] = 1
        return page

    def share(self, page: int) -> None:
        """Give a page of the prefix cache one holder more, to read only."""
        if not self._holders[page]:
            self.prefixes.wake(page)
        self._holders[page] += 1

    def drop(self, page: int) -> None:
        """One holder lets go; after the last one the page is kept if the prefix cache knows it, else free."""
        self._holders[page] -= 1
        if self._holders[page]:
            return
        if page in self.prefixes:
            self.prefixes.rest(page)
        else:
            self._free.append(page)

    def forget_prefixes(self) -> None:
        """Empty the prefix cache; a page that is held is free once it is let go."""
        self._free += self.prefixes.clear()
