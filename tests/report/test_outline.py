"""The shown part of a fork tree, and its picture: bounded, and nothing uncounted."""

from __future__ import annotations

import re

import analysis_samples as samples
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from temp0.core.analysis import ForkTree, PromptAnalysis
from temp0.core.fork import Leaf, fork_tree
from temp0.core.text import sha256
from temp0.report.outline import Outline, fork_of_each, outline
from temp0.report.picture import ROW, Picture, picture, shared


def tree_of(counts: dict[str, int]) -> ForkTree:
    leaves = [Leaf(text=text, sha256=sha256(text), count=count, finishes=()) for text, count in counts.items()]
    tree = fork_tree(leaves)
    assert tree is not None
    return tree


def counted(shown: Outline) -> int:
    return shown.others_count + sum(counted(limb.fork) if limb.fork else limb.count for limb in shown.limbs)


def deepest(shown: Outline) -> int:
    return 1 + max((deepest(limb.fork) for limb in shown.limbs if limb.fork), default=0)


TEXTS = st.dictionaries(st.text("ab ", max_size=8), st.integers(1, 50), min_size=2, max_size=60)


@settings(max_examples=60)
@given(TEXTS)
def test_an_outline_is_bounded_and_counts_every_completion(counts: dict[str, int]) -> None:
    tree = tree_of(counts)
    assert tree.fork is not None

    shown = outline(tree.fork, tree.text)

    assert counted(shown) == sum(counts.values())
    assert shown.rows <= 24
    assert deepest(shown) <= 8


@settings(max_examples=40)
@given(TEXTS)
def test_each_text_has_one_last_fork(counts: dict[str, int]) -> None:
    tree = tree_of(counts)
    assert tree.fork is not None

    places = [(digest, fork.char, branch.text) for digest, fork, branch in fork_of_each(tree.fork)]

    by_hash = {sha256(text): text for text in counts}
    assert sorted(digest for digest, _, _ in places) == sorted(by_hash)
    assert all(by_hash[digest][char:] == text for digest, char, text in places)


def test_the_largest_branches_are_opened_first() -> None:
    big = {f"A{letter}{end}": 50 for letter in "0123456789" for end in "xyz"}
    small = {f"B{letter}": 1 for letter in "0123456789"}
    tree = tree_of(big | small)
    assert tree.fork is not None

    large, little = outline(tree.fork, tree.text).limbs

    assert large.fork is not None
    assert little.folded
    assert sum(limb.folded for limb in large.fork.limbs) == 4


def test_branches_beyond_the_bound_are_counted() -> None:
    tree = tree_of({f"{chr(0x41 + number)} x": 100 - number for number in range(40)})
    assert tree.fork is not None

    shown = outline(tree.fork, tree.text)

    assert (len(shown.limbs), shown.others) == (12, 28)
    assert counted(shown) == tree.count


def test_a_word_is_not_shown_twice_where_a_fork_splits_it() -> None:
    prompt = samples.five_prompts().prompts[4]
    drawn = drawn_of(prompt)

    texts = ["".join(piece.text for piece in row.pieces) for row in drawn.rows]

    assert "depends on the load of the server, which nobody outside can see." in texts
    assert "depends on the load of the server, which no client controls." in texts


def test_the_start_of_a_word_that_forks_again_is_shown_once() -> None:
    answers = ["Thin ice"] * 2 + ["That one", "This one", "Torn paper"]
    drawn = drawn_of(samples.analyzed({"A": {samples.ALONE: answers}}).prompts[0])

    assert sorted("".join(piece.text for piece in row.pieces) for row in drawn.rows) == sorted(set(answers))


WORDS = st.lists(st.text("ab .—", max_size=6), min_size=2, max_size=12, unique=True)


@settings(max_examples=60)
@given(WORDS)
def test_each_row_reads_as_its_text_does(answers: list[str]) -> None:
    prompt = samples.analyzed({"A": {samples.ALONE: answers}}).prompts[0]
    drawn = drawn_of(prompt)
    text_of = {text.sha256: text.text for text in prompt.texts}

    for row in drawn.rows:
        if len(row.sha256) == 1 and not row.folded:
            shown = "".join(piece.text for piece in row.pieces).replace("␣", " ")
            text = text_of[row.sha256[0]]
            assert text.endswith(shown)
            assert len(shown) >= len(text) - drawn.joints[0].char


def drawn_of(prompt: PromptAnalysis) -> Picture:
    drawn = picture(prompt)
    assert drawn is not None
    return drawn


@pytest.mark.parametrize("make", samples.ALL)
def test_a_picture_counts_every_completion_and_stays_within_its_frame(make: samples.Maker) -> None:
    for prompt in make().prompts:
        drawn = picture(prompt)
        if drawn is None:
            assert prompt.distinct.text <= 1
            continue
        assert sum(row.count for row in drawn.rows) == drawn.total == sum(text.count for text in prompt.texts)
        assert drawn.height == ROW * len(drawn.rows)
        assert drawn.width <= 420
        for flow in drawn.flows:
            numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", flow.path)]
            assert all(0 <= number <= max(drawn.width, drawn.height) for number in numbers)
        for joint in drawn.joints:
            assert 0 < joint.x < drawn.width
            assert 0 < joint.top < joint.bottom < drawn.height


def test_lines_are_as_thick_as_their_share() -> None:
    drawn = drawn_of(samples.ended().prompts[0])

    trunk, *leaves = sorted((flow.thickness for flow in drawn.flows), reverse=True)

    assert sum(leaves) == pytest.approx(trunk)
    assert leaves[0] / leaves[1] == pytest.approx(6 / 4, rel=0.01)


def test_the_commonest_text_runs_straight_along_the_top() -> None:
    drawn = drawn_of(samples.five_prompts().prompts[4])

    assert drawn.rows[0].count == max(row.count for row in drawn.rows)
    assert all("C" not in flow.path for flow in drawn.flows if flow.is_mode)


def test_only_the_way_to_the_commonest_text_is_drawn_as_its_own() -> None:
    drawn = drawn_of(samples.five_prompts().prompts[4])

    assert sum(flow.is_mode for flow in drawn.flows) == len(["trunk", "at 229", "at 244", "at 280"])


def test_lines_leave_a_fork_side_by_side() -> None:
    drawn = drawn_of(samples.ended().prompts[0])
    fork_x = f"M{drawn.joints[0].x:.1f} "

    leaving = sorted(
        (float(re.split("[ CH]", flow.path)[1]), flow.thickness) for flow in drawn.flows if flow.path.startswith(fork_x)
    )

    (upper, thick), (lower, thin) = leaving
    assert lower - upper == pytest.approx((thick + thin) / 2, abs=0.11)


def test_a_row_says_which_conditions_its_completions_came_from() -> None:
    drawn = drawn_of(samples.five_prompts().prompts[4])

    assert drawn.rows[0].conditions == (("alone", 30), ("company 8", 14))
    assert all(sum(count for _, count in row.conditions) == row.count for row in drawn.rows)


def test_a_long_shared_text_keeps_its_end() -> None:
    text = shared("start " + "x" * 10_000 + " the end")

    assert text.startswith("start ")
    assert text.endswith(" the end")
    assert len(text) < 500
