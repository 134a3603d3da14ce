"""Which pages hold which beginnings of texts, so that a later request need not compute them again.

A page is found by the page before it and its own tokens, all of them compared: so by its exact text from position 0
on. Pages that nobody holds rest here until they are wanted for something else, the one unused for longest first. That
is never a page before another kept one: whoever holds a page holds all before it, and lets go of them after it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence

from temp0.engine.page import PAGE_TOKENS

# The page before, None where a text begins, and the tokens of the page itself.
_Place = tuple[int | None, tuple[int, ...]]


class PrefixCache:
    """Full pages by their text, and which of them are idle: held by nobody."""

    def __init__(self) -> None:
        self._pages: dict[_Place, int] = {}
        self._places: dict[int, _Place] = {}
        self._idle: OrderedDict[int, None] = OrderedDict()

    def __contains__(self, page: int) -> bool:
        return page in self._places

    @property
    def idle(self) -> int:
        """Pages that are kept and held by nobody."""
        return len(self._idle)

    def find(self, text: Sequence[int], *, after: Sequence[int] = ()) -> Iterator[int]:
        """The pages of a text that are known, in order, up to the first that is not.

        `after` lists the pages of its beginning that are found already. The page with the last token is never
        among them, since that token has to be computed for its logits.
        """
        before = after[-1] if after else None
        for start in range(len(after) * PAGE_TOKENS, len(text) - PAGE_TOKENS, PAGE_TOKENS):
            page = self._pages.get((before, tuple(text[start : start + PAGE_TOKENS])))
            if page is None:
                return
            yield page
            before = page

    def add(self, page: int, tokens: Sequence[int], *, before: int | None) -> int:
        """Enter a full page that somebody holds; returns the page that stands for that text, the first one entered."""
        place = (before, tuple(tokens))
        first = self._pages.setdefault(place, page)
        if first == page:
            self._places[page] = place
        return first

    def rest(self, page: int) -> None:
        """Keep a page that nobody holds any more."""
        self._idle[page] = None

    def wake(self, page: int) -> None:
        """Somebody holds an idle page again."""
        del self._idle[page]

    def evict(self) -> int:
        """Forget the page that has been idle for longest, and return it."""
        page, _ = self._idle.popitem(last=False)
        del self._pages[self._places.pop(page)]
        return page

    def clear(self) -> list[int]:
        """Forget everything; returns the pages that were idle."""
        idle = list(self._idle)
        self._pages.clear()
        self._places.clear()
        self._idle.clear()
        return idle
