"""Pages are written by one holder, shared only when full, and all of them come back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from float64_model import SETTINGS
from ghost_memory import GhostMemory
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from temp0.engine.kv_cache import KvCache
from temp0.engine.page import PAGE_TOKENS, pages_of
from temp0.errors import UsageError

PAGES, SLOTS = 8, 3
TEXT = list(range(3 * PAGE_TOKENS))


def small_cache(*, pages: int = PAGES, slots: int = SLOTS) -> KvCache:
    return KvCache(SETTINGS, tokens=pages * PAGE_TOKENS, slots=slots)


def filled(cache: KvCache, text: list[int]) -> int:
    """A slot that shares and whose text is computed to its last token but one, as a finished request leaves it."""
    slot = cache.hold(shares=True)
    cache.adopt(slot, text)
    cache.grow(slot, len(text) - 1)
    cache.publish(slot, text, len(text) - 1)
    return slot


def known(cache: KvCache, text: list[int]) -> int:
    """How much of a text the prefix cache has."""
    slot = cache.hold(shares=True)
    tokens = cache.adopt(slot, text)
    cache.release(slot)
    return tokens


def test_a_cache_states_whole_pages_and_never_more_than_it_was_given() -> None:
    assert KvCache(SETTINGS, tokens=PAGE_TOKENS * 3 - 1, slots=1).capacity_tokens == PAGE_TOKENS * 2


@pytest.mark.parametrize(("tokens", "pages"), [(0, 0), (1, 1), (PAGE_TOKENS, 1), (PAGE_TOKENS + 1, 2)])
def test_a_started_page_counts_whole(tokens: int, pages: int) -> None:
    assert pages_of(tokens) == pages


def test_no_room_in_pages_or_in_slots_means_no() -> None:
    cache = small_cache(pages=6, slots=2)
    assert cache.can_hold(6 * PAGE_TOKENS)
    assert not cache.can_hold(6 * PAGE_TOKENS + 1)
    assert not cache.can_hold(5 * PAGE_TOKENS, beside=2)
    cache.hold(5 * PAGE_TOKENS)
    assert not cache.can_hold(2 * PAGE_TOKENS)
    cache.hold(1)
    assert not cache.can_hold(0)


def test_a_slot_grows_page_by_page_as_far_as_pages_can_be_had() -> None:
    cache = small_cache(pages=3)
    slot, other = cache.hold(1), cache.hold(1)
    assert cache.reach(slot) == 2 * PAGE_TOKENS
    cache.grow(slot, PAGE_TOKENS)
    assert cache.free_tokens == PAGE_TOKENS
    cache.grow(slot, PAGE_TOKENS + 1)
    assert (cache.free_tokens, cache.reach(other)) == (0, PAGE_TOKENS)


def test_a_kept_page_is_shared_and_the_last_token_never_is() -> None:
    cache = small_cache()
    cache.release(filled(cache, TEXT))
    lengths = (16, 17, 32, 33, 48)
    assert [known(cache, TEXT[:length]) for length in lengths] == [0, 16, 16, 32, 32]
    assert cache.kept_tokens == 2 * PAGE_TOKENS


def test_a_page_is_known_by_everything_before_it_and_not_by_itself() -> None:
    cache = small_cache()
    filled(cache, TEXT)
    assert known(cache, [99, *TEXT[1:]]) == 0
    assert known(cache, TEXT[PAGE_TOKENS:] + TEXT[:PAGE_TOKENS]) == 0
    assert known(cache, [*TEXT[: 2 * PAGE_TOKENS - 1], 99, 98]) == PAGE_TOKENS


def test_a_running_request_shares_what_another_has_just_computed() -> None:
    cache = small_cache()
    ahead, behind = cache.hold(shares=True), cache.hold(shares=True)
    cache.grow(ahead, 20)
    cache.grow(behind, 3)
    cache.publish(ahead, TEXT, 20)
    assert cache.adopt(behind, TEXT) == PAGE_TOKENS
    assert cache.tables[behind, 0] == cache.tables[ahead, 0]
    assert cache.free_tokens == (PAGES - 2) * PAGE_TOKENS, "the page that was begun came back"


def test_two_who_computed_the_same_page_keep_one_copy() -> None:
    cache = small_cache()
    first, second = filled(cache, TEXT), cache.hold(len(TEXT), shares=True)
    cache.publish(second, TEXT, 2 * PAGE_TOKENS)
    assert cache.tables[first, :2].tolist() == cache.tables[second, :2].tolist()
    assert cache.tables[first, 2] != cache.tables[second, 2]
    assert cache.free_tokens == (PAGES - 4) * PAGE_TOKENS


def test_a_slot_that_does_not_share_neither_reads_nor_feeds_the_prefix_cache() -> None:
    cache = small_cache()
    cold = cache.hold(len(TEXT))
    cache.publish(cold, TEXT, len(TEXT))
    assert known(cache, TEXT) == 0
    cache.release(filled(cache, TEXT))
    assert cache.adopt(cold, TEXT) == 0


@pytest.mark.parametrize(("pages", "left"), [(2, (32, 32)), (3, (32, 16)), (4, (32, 0)), (5, (16, 0)), (6, (0, 0))])
def test_the_text_unused_for_longest_is_evicted_first_and_from_its_end(pages: int, left: tuple[int, int]) -> None:
    cache = small_cache(pages=6)
    other = [50 + token for token in TEXT]
    for text in (TEXT, other, TEXT):
        cache.release(filled(cache, text))
    assert cache.kept_tokens == 4 * PAGE_TOKENS
    cache.hold(pages * PAGE_TOKENS)
    assert (known(cache, TEXT), known(cache, other)) == left


def test_what_is_held_is_never_evicted() -> None:
    cache = small_cache(pages=4)
    reader = filled(cache, TEXT)
    cache.release(filled(cache, TEXT))
    assert cache.kept_tokens == 0
    assert cache.reach(reader) == 4 * PAGE_TOKENS
    assert not cache.can_hold(PAGE_TOKENS + 1)


def test_pages_that_somebody_holds_already_cost_a_newcomer_nothing() -> None:
    cache = small_cache(pages=4)
    slot = filled(cache, TEXT)
    assert cache.free_tokens == PAGE_TOKENS
    assert cache.can_hold(len(TEXT), text=TEXT)
    assert not cache.can_hold(len(TEXT), text=TEXT, beside=1)
    assert not cache.can_hold(len(TEXT))
    cache.release(slot)
    assert cache.can_hold(len(TEXT) + PAGE_TOKENS, text=TEXT)
    assert not cache.can_hold(len(TEXT) + PAGE_TOKENS + 1, text=TEXT), "kept pages are not there twice"


def test_a_forgotten_prefix_stays_with_its_holder_and_with_nobody_else() -> None:
    cache = small_cache()
    holder = filled(cache, TEXT)
    table = cache.tables[holder].copy()
    cache.forget_prefixes()
    newcomer = cache.hold(shares=True)
    assert cache.adopt(newcomer, TEXT) == 0
    cache.publish(holder, TEXT, len(TEXT))
    assert cache.adopt(newcomer, TEXT) == 0
    np.testing.assert_array_equal(cache.tables[holder], table)
    for slot in (holder, newcomer):
        cache.release(slot)
    assert (cache.kept_tokens, cache.free_tokens) == (0, cache.capacity_tokens)


@dataclass
class Reader:
    """A request as the cache sees it."""

    slot: int
    text: list[int]
    computed: int = 0


PAGE_TEXTS = st.sampled_from([(0,) * PAGE_TOKENS, (1,) * PAGE_TOKENS])


class CacheMachine(RuleBasedStateMachine):
    """Requests of texts that begin alike come, read, decode and go; the prefix cache may be emptied meanwhile."""

    readers = Bundle("readers")

    def __init__(self) -> None:
        super().__init__()
        self.cache = small_cache(pages=5)
        self.memory = GhostMemory(self.cache)
        self.running: list[Reader] = []

    @rule(target=readers, pages=st.lists(PAGE_TEXTS, max_size=3), rest=st.integers(1, 17), shares=st.booleans())
    def come(self, pages: list[tuple[int, ...]], rest: int, shares: bool) -> object:
        text = [token for page in pages for token in page] + [0] * rest
        if not self.cache.can_hold(0, text=text):
            return multiple()
        reader = Reader(slot=self.cache.hold(shares=shares), text=text)
        reader.computed = self.cache.adopt(reader.slot, text)
        self.running.append(reader)
        return reader

    @rule(counts=st.lists(st.integers(0, 40), min_size=SLOTS, max_size=SLOTS))
    def step(self, counts: list[int]) -> None:
        """Everybody reads on, as far as there are pages, and only then are full pages opened to others."""
        ends = [self.prepare(reader, count) for reader, count in zip(self.running, counts, strict=False)]
        for reader, end in zip(self.running, ends, strict=True):
            self.memory.compute(reader.slot, reader.text, start=reader.computed, end=end)
            reader.computed = end
        for reader in self.running:
            self.cache.publish(reader.slot, reader.text, reader.computed)
            if reader.computed == len(reader.text):
                reader.text.append(0)

    def prepare(self, reader: Reader, count: int) -> int:
        reader.computed = max(reader.computed, self.cache.adopt(reader.slot, reader.text))
        assert reader.computed < len(reader.text)
        end = min(reader.computed + count, len(reader.text), self.cache.reach(reader.slot))
        self.cache.grow(reader.slot, end)
        to_write = set(self.memory.pages(reader.slot, end)[reader.computed // PAGE_TOKENS :]) if count else set()
        for other in self.running:
            assert other is reader or not to_write & set(self.memory.pages(other.slot, other.computed))
        return end

    @rule(reader=consumes(readers))
    def go(self, reader: Reader) -> None:
        self.running.remove(reader)
        self.cache.release(reader.slot)

    @rule()
    def forget(self) -> None:
        self.cache.forget_prefixes()
        assert self.cache.kept_tokens == 0

    @invariant()
    def everyone_finds_their_own_text(self) -> None:
        for reader in self.running:
            assert self.memory.has(reader.slot, reader.text[: reader.computed])

    @invariant()
    def every_page_is_free_held_or_kept(self) -> None:
        held = {page for reader in self.running for page in self.memory.pages(reader.slot, reader.computed)}
        assert self.cache.free_tokens == self.cache.capacity_tokens - len(held) * PAGE_TOKENS
        assert 0 <= self.cache.kept_tokens <= self.cache.free_tokens

    def teardown(self) -> None:
        for reader in self.running:
            self.cache.release(reader.slot)
        slot = self.cache.hold(self.cache.capacity_tokens)
        assert sorted(self.memory.pages(slot, self.cache.capacity_tokens)) == list(range(5))
        assert (self.cache.free_tokens, self.cache.kept_tokens) == (0, 0)


TestCacheMachine = CacheMachine.TestCase
TestCacheMachine.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)


def test_a_place_counts_positions_of_the_whole_pool() -> None:
    cache = small_cache()
    cache.hold(1)
    slot = cache.hold(2 * PAGE_TOKENS)
    positions = np.array([0, PAGE_TOKENS - 1, PAGE_TOKENS, PAGE_TOKENS + 5], np.int32)
    places = cache.places(np.full(4, slot, np.int32), positions)
    assert places.dtype == np.int32
    for place, position in zip(places, positions, strict=True):
        assert divmod(place, PAGE_TOKENS) == (
            cache.tables[slot, position // PAGE_TOKENS],
            position % PAGE_TOKENS,
        )


@pytest.mark.parametrize(("tokens", "slots", "name"), [(15, 1, "kv_tokens"), (16, 0, "max_running")])
def test_a_cache_without_room_for_anything_is_refused(tokens: int, slots: int, name: str) -> None:
    with pytest.raises(UsageError, match=name):
        KvCache(SETTINGS, tokens=tokens, slots=slots)
