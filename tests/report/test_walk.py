"""The tree to be walked: every branch with its words and counts, bounded, and readable without the script."""

from __future__ import annotations

import analysis_samples as samples
from analysis_samples import ALONE, analyzed

from temp0.report import html
from temp0.report.walk import Step, walk


def leaves(step: Step) -> list[Step]:
    return [leaf for one in step.below for leaf in leaves(one)] if step.below else [step]


def texts(step: Step, before: str = "") -> list[str]:
    whole = before + step.text
    return [text for one in step.below for text in texts(one, whole)] if step.below else [whole]


def test_the_ways_down_the_tree_are_the_texts_and_their_counts() -> None:
    prompt = samples.five_prompts().prompts[4]
    root = walk(prompt, 100_000)

    assert root is not None
    assert sorted(texts(root)) == sorted(text.text for text in prompt.texts)
    assert {leaf.sha256: leaf.count for leaf in leaves(root)} == {text.sha256: text.count for text in prompt.texts}
    assert root.below[0].conditions == (("alone", 30), ("company 8", 25))
    assert sum(one.count for one in root.below) == root.count == 60


def test_answers_that_never_part_have_nothing_to_walk() -> None:
    assert walk(samples.agreed().prompts[0], 1000) is None
    assert 'class="walk"' not in html(samples.agreed())


def test_a_huge_tree_is_bounded_and_says_what_it_leaves_out() -> None:
    wide = analyzed({"A": {ALONE: [f"{chr(0x4E00 + number)}." for number in range(40)]}}).prompts[0]
    root, deep = walk(wide, 1000), walk(samples.crowded().prompts[0], 1000)

    assert root is not None
    assert deep is not None
    assert len(root.below) + root.others == root.others_count + len(root.below) == 40
    assert len(leaves(deep)) <= 81
    assert any(leaf.folded for leaf in leaves(deep))


def test_long_branches_are_elided_to_the_room_there_is() -> None:
    root = walk(analyzed({"A": {ALONE: ["a" * 100_000, "b" * 100_000]}}).prompts[0], 900)

    assert root is not None
    assert all(len(leaf.text) < 400 and "characters left out" in leaf.text for leaf in leaves(root))


def test_every_branch_can_be_read_without_the_script() -> None:
    page = html(samples.five_prompts())
    still = page[: page.index("<script>")]

    assert "<button" not in still
    for text in samples.five_prompts().prompts[4].texts:
        assert text.text[-12:] in still


def test_a_branch_is_headed_by_its_whole_first_word() -> None:
    root = walk(analyzed({"A": {ALONE: ["a small line", "a silent line", "a silent line", "a s"]}}).prompts[0], 1000)

    assert root is not None
    assert [one.head for one in root.below] == ["silent line", "", "small line"]
    assert [one.text for one in root.below] == ["ilent line", "", "mall line"]
