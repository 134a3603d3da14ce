"""Trees in a terminal: the sentence first, then who adds how at which batch size; what was not tried is not claimed."""

from __future__ import annotations

from dataclasses import replace

import tree_records as samples

from temp0.core.tree_record import TreesRecord
from temp0.report import rendered
from temp0.report.tree_finding import conclusion, findings, replay_words
from temp0.report.tree_group import tree_groups
from temp0.report.tree_screen import trees_terminal


def screen(record: TreesRecord) -> str:
    return rendered(trees_terminal(record), width=80)


def flat(text: str) -> str:
    return " ".join(text.split())


def test_a_kernel_that_changes_its_order_leads_to_the_sentence() -> None:
    told = flat(screen(samples.WHOLE))
    assert told.startswith("The same kernel adds in a different order when the batch has another size")
    assert "numpy.matmul, float32, K = 576: 2 orders of addition at batch sizes 1, 4, 5; inside one batch of 5" in told
    assert "kernels.linear, bfloat16, K = 8: one order of addition at batch sizes 1, 4, 5, at every row" in told


def test_the_table_has_a_letter_for_every_batch_size() -> None:
    lines = [line.split() for line in screen(samples.WHOLE).splitlines()]
    assert ["batch", "size", "1", "4", "5"] in lines
    assert ["N", "=", "4", "A", "B", "AB"] in lines
    assert ["N", "=", "9", "B", "B", "B"] in lines
    assert "N = 4, batch size 5: A has row 4" in screen(samples.WHOLE)


def test_letters_mean_one_tree_for_every_number_of_columns() -> None:
    (group, *_) = tree_groups(samples.WHOLE)
    assert [kind.letter for kind in group.kinds] == ["A", "B"]
    assert group.kinds[1].one.replays == 128
    assert group.letters(samples.WIDER, 1) == "B"
    assert group.letters(samples.WIDER, 64) == ""


def test_trees_are_named_drawn_and_said_to_be_replayed() -> None:
    told = screen(samples.WHOLE)
    assert "B  3 chains of 192, added in order" in told
    assert "└─ 384 … 575  (192 summands)" in told
    assert "fused multiply-adds, partial sums in float32" in flat(told)
    assert "not replayed: odd" in told
    assert "no tree: the sum is exact" in told
    assert "skipped: numpy.sum in bfloat16: numpy has none" in told
    assert max(map(len, told.splitlines())) <= 80


def test_no_change_is_no_proof() -> None:
    steady = samples.record(samples.WIDER, samples.STEADY)
    assert "proves nothing about those" in str(conclusion(steady))
    assert conclusion(samples.record(samples.EXACT)) is None
    assert findings(samples.record(samples.EXACT)) == []


def test_a_place_that_looks_at_others_is_said() -> None:
    mixing = samples.record(replace(samples.WIDER, mixing=(4,)))
    assert "at 4 rows a place depends on what other places hold" in findings(mixing)[0]
    assert conclusion(mixing) != conclusion(samples.record(samples.WIDER))


def test_an_interrupted_look_says_so() -> None:
    assert "Interrupted: this is what was found by then." in screen(samples.record(samples.STEADY, finished=False))


def test_mixed_rounding_is_counted() -> None:
    (one,) = samples.STEADY.classes
    mixed = replace(one, replayed="mixed", rounded=(0, 5))
    assert "2 products rounded before they are added, the others fused" in replay_words(mixed)


def test_partial_sums_kept_wide_are_counted() -> None:
    (one,) = samples.MIXED.classes
    assert replay_words(one).endswith("partial sums in float32, 2 of them in float64")


def test_a_call_that_gives_other_bits_is_no_order_and_no_change_of_order() -> None:
    told = flat(screen(samples.record(samples.UNREPEATABLE)))
    assert "at 1, 4 rows the same call gives other bits" in told
    assert "no tree: the same call gives other bits" in told
    assert "The same kernel adds in a different order" not in told
    assert "one order of addition" not in told
    assert "No kernel changed its order" not in told
