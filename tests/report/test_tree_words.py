"""What a tree looks like is named as a person would name it; nothing is called regular that is not."""

from __future__ import annotations

import pytest
import tree_records as samples
from tree_records import Nested, blocks, chain, lanes, pairs, strided, tree_of

from temp0.report.tree_words import tree_words

REST = (96, 97, 98, 99)


def steps_of(count: int, at_once: int) -> Nested:
    """A total that takes several summands with each addition."""
    total: Nested = tuple(range(at_once))
    for start in range(at_once, count, at_once):
        total = (total, *range(start, start + at_once))
    return total


SAID = {
    "one chain of 576, added in order": chain(range(576)),
    "one chain of 12, added from last to first": chain(range(11, -1, -1)),
    "one chain of 12, in the order 0, 1, 3, 2, 5, 4, 7, 6, ...": chain([0, 1, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10]),
    "one chain of 2, added": (0, 1),
    "one summand, nothing to add": 0,
    "3 chains of 192, added in order": chain(blocks(3, 192)),
    "2 chains of 288, added": chain(blocks(2, 288)),
    "4 chains of 448, 448, 320 and 320, added in order": chain(
        [chain(range(a, b)) for a, b in ((0, 448), (448, 896), (896, 1216), (1216, 1536))]
    ),
    "8 lanes of 96 (every 8th summand), then halving": strided(lanes(8, 96), 4, 2, 1),
    "8 lanes of 12 (every 8th summand), then neighbours in pairs": strided(lanes(8, 12), 1, 2, 4),
    "4 lanes of 5 (every 4th summand), added in order": chain(lanes(4, 5)),
    "2 lanes of 30 (every 2nd summand), added": chain(lanes(2, 30)),
    "8 lanes of 9 (every 8th summand), then each with the one 4 away, then 1 away, then 2 away": strided(
        lanes(8, 9), 4, 1, 2
    ),
    "16 lanes of 3 or 2 (every 16th summand), then halving": strided(
        [chain(range(lane, 40, 16)) for lane in range(16)], 8, 4, 2, 1
    ),
    "64 summands, neighbours in pairs": pairs(range(64)),
    "64 summands, halving": strided(range(64), 32, 16, 8, 4, 2, 1),
    "6 summands, in halves": (((0, 1), 2), ((3, 4), 5)),
    "8 blocks of 72 (each 8 lanes of 9 (every 8th summand), then neighbours in pairs), then neighbours in pairs": pairs(
        [
            strided([chain(range(start + lane, start + 72, 8)) for lane in range(8)], 1, 2, 4)
            for start in range(0, 576, 72)
        ]
    ),
    "0 to 95: 8 lanes of 12 (every 8th summand), then neighbours in pairs; then 4 more one by one (96 to 99)": chain(
        [strided(lanes(8, 12), 1, 2, 4), *REST]
    ),
    "0 to 95: 3 chains of 32, added in order; then summand 96": (chain(blocks(3, 32)), 96),
    "32 summands added in one step of 32 terms": tuple(range(32)),
    "one chain of 64, added 4 at a time, each step in one addition": steps_of(64, 4),
}


@pytest.mark.parametrize("said", SAID)
def test_a_shape_has_its_name(said: str) -> None:
    assert tree_words(tree_of(SAID[said])) == said


def test_a_tree_without_a_name_is_called_irregular_or_written_out() -> None:
    odd = ((((0, 5), 3), (1, 7)), ((2, 6), 4))
    assert tree_words(tree_of(odd)) == "8 summands added as ((((0+5)+3)+(1+7))+((2+6)+4))"
    shuffled = [(number * 7) % 40 for number in range(40)]
    odd_tree = tree_of(((chain(shuffled[:9]), chain(shuffled[9:22])), pairs(shuffled[22:])))
    assert "irregular" in tree_words(odd_tree)


def test_unequal_blocks_are_not_called_equal() -> None:
    assert "blocks of" not in tree_words(tree_of((chain(range(5)), chain(range(5, 12)))))


def test_a_chain_as_long_as_a_model_is_wide_has_its_name() -> None:
    assert tree_words(tree_of(chain(range(16_384)))) == "one chain of 16384, added in order"
    assert tree_words(samples.CHAINS) == "3 chains of 192, added in order"
