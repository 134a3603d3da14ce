"""Pages have one holder each, and all of them come back."""

from __future__ import annotations

import numpy as np
import pytest
from float64_model import SETTINGS
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.engine.kv_cache import PAGE_TOKENS, KvCache, pages_of
from temp0.errors import UsageError


def small_cache(*, pages: int = 6, slots: int = 3) -> KvCache:
    return KvCache(SETTINGS, tokens=pages * PAGE_TOKENS, slots=slots)


def test_a_cache_states_whole_pages_and_never_more_than_it_was_given() -> None:
    assert KvCache(SETTINGS, tokens=PAGE_TOKENS * 3 - 1, slots=1).capacity_tokens == PAGE_TOKENS * 2


@pytest.mark.parametrize(("tokens", "pages"), [(1, 1), (PAGE_TOKENS, 1), (PAGE_TOKENS + 1, 2)])
def test_a_started_page_counts_whole(tokens: int, pages: int) -> None:
    assert pages_of(tokens) == pages


def test_no_room_in_pages_or_in_slots_means_no() -> None:
    cache = small_cache(pages=6, slots=2)
    assert cache.can_hold(6 * PAGE_TOKENS)
    assert not cache.can_hold(6 * PAGE_TOKENS + 1)
    cache.hold(5 * PAGE_TOKENS)
    assert not cache.can_hold(2 * PAGE_TOKENS)
    cache.hold(1)
    assert not cache.can_hold(1)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.integers(1, 3 * PAGE_TOKENS), st.just(0)), max_size=30))
def test_holders_never_share_a_page_and_every_page_comes_back(moves: list[int]) -> None:
    """A move above 0 holds that many positions where there is room; 0 releases the oldest holder."""
    cache = small_cache()
    held: dict[int, int] = {}
    for tokens in moves:
        if tokens and cache.can_hold(tokens):
            held[cache.hold(tokens)] = tokens
        elif not tokens and held:
            oldest = next(iter(held))
            cache.release(oldest)
            del held[oldest]
        pages = [page for slot, count in held.items() for page in cache.tables[slot, : pages_of(count)]]
        assert len(set(pages)) == len(pages)
        assert cache.free_tokens == cache.capacity_tokens - len(pages) * PAGE_TOKENS
    for slot in held:
        cache.release(slot)
    assert cache.free_tokens == cache.capacity_tokens


def test_what_is_written_for_a_position_lies_in_its_page() -> None:
    cache = small_cache()
    cache.hold(1)
    slot = cache.hold(2 * PAGE_TOKENS)
    positions = np.array([0, PAGE_TOKENS - 1, PAGE_TOKENS, PAGE_TOKENS + 5], np.int32)
    rows = np.arange(4 * 2 * 8, dtype=np.float32).reshape(4, 2, 8)
    cache.write(1, cache.places(np.full(4, slot, np.int32), positions), rows, -rows)
    for row, position in zip(rows, positions, strict=True):
        page = cache.tables[slot, position // PAGE_TOKENS]
        np.testing.assert_array_equal(cache.keys[1, page, position % PAGE_TOKENS], row)
        np.testing.assert_array_equal(cache.values[1, page, position % PAGE_TOKENS], -row)
    assert not cache.keys[0].any()


@pytest.mark.parametrize(("tokens", "slots", "name"), [(15, 1, "kv_tokens"), (16, 0, "max_running")])
def test_a_cache_without_room_for_anything_is_refused(tokens: int, slots: int, name: str) -> None:
    with pytest.raises(UsageError, match=name):
        KvCache(SETTINGS, tokens=tokens, slots=slots)
