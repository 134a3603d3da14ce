"""The order of addition: each tree adds as it says, and the command prints what the lab measured."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from temp0.cli.sums import sums as command
from temp0.lab.sums import (
    HAND_CALCULATION,
    TREES,
    Floats,
    SumsResult,
    Tree,
    TreeSums,
    exact,
    halving,
    one_by_one,
    one_by_one_in_float64,
    order_experiment,
    pairwise,
)

float32_rows = arrays(
    np.float32,
    st.tuples(st.integers(1, 4), st.integers(1, 200)),
    elements=st.floats(-1000, 1000, width=32),
)


def by_name(result: SumsResult) -> dict[str, TreeSums]:
    return {sums.tree.name: sums for sums in result.trees}


def halved(row: list[np.float32]) -> np.float32:
    middle = len(row) // 2
    return halved(row[:middle]) + halved(row[middle:]) if middle else row[0]


def test_two_trees_give_two_valid_answers_to_one_sum() -> None:
    rows = np.array([[1e8, 1, -1e8, 1]], dtype=np.float32)
    assert one_by_one(rows).item() == 1.0
    assert halving(rows).item() == 0.0
    assert exact(rows).item() == 2.0


@given(rows=float32_rows)
@settings(max_examples=30, deadline=None)
def test_one_by_one_equals_a_plain_loop_bit_for_bit(rows: Floats) -> None:
    expected = [list(itertools.accumulate(row, initial=np.float32(0)))[-1] for row in rows]
    assert one_by_one(rows).tobytes() == np.array(expected, dtype=np.float32).tobytes()


@given(rows=float32_rows)
@settings(max_examples=30, deadline=None)
def test_halving_equals_recursion_on_one_row_bit_for_bit(rows: Floats) -> None:
    expected = np.array([halved(list(row)) for row in rows], dtype=np.float32)
    assert halving(rows).tobytes() == expected.tobytes()


@given(rows=float32_rows)
@settings(max_examples=30, deadline=None)
def test_adding_many_rows_at_once_uses_the_tree_of_np_sum_on_one_row(rows: Floats) -> None:
    expected = np.array([np.sum(row) for row in rows], dtype=np.float32)
    assert pairwise(rows).tobytes() == expected.tobytes()


@given(rows=float32_rows)
@settings(max_examples=30, deadline=None)
def test_a_wider_total_equals_a_loop_of_python_floats(rows: Floats) -> None:
    expected = [list(itertools.accumulate(row.tolist(), initial=0.0))[-1] for row in rows]
    assert one_by_one_in_float64(rows).tolist() == expected


def test_the_tree_decides_how_many_answers_there_are() -> None:
    trees = by_name(order_experiment())
    chain, pairs, halves = (trees[f"float32, {how}"] for how in ("one by one", "numpy's pairwise", "halving"))
    assert chain.distinct > pairs.distinct > halves.distinct > 1
    assert chain.spread > pairs.spread > halves.spread > 0


def test_the_exact_sum_has_one_answer_in_every_order() -> None:
    sums = by_name(order_experiment())["float32, exact"]
    assert (sums.distinct, sums.spread) == (1, 0.0)
    assert sums.min == sums.exact == 100 * float(np.float32(1e-8))


def test_a_wider_total_is_no_cure_once_the_summands_are_as_wide() -> None:
    trees = by_name(order_experiment())
    assert trees["float32, float64 total"].distinct == 1
    assert trees["float64, one by one"].distinct > 100
    assert trees["float64, one by one"].exact == math.fsum(HAND_CALCULATION)


def test_every_sum_lies_around_the_exact_one() -> None:
    for sums in order_experiment(seed=3).trees:
        assert sums.min <= sums.exact <= sums.max, sums.tree.name


def test_the_same_seed_gives_the_same_result_and_another_seed_another() -> None:
    assert order_experiment(seed=5, orders=50) == order_experiment(seed=5, orders=50)
    assert order_experiment(seed=5, orders=50).trees != order_experiment(seed=6, orders=50).trees


def test_a_reader_can_try_a_tree_of_their_own() -> None:
    seen: list[Floats] = []

    def by_magnitude(rows: Floats) -> Floats:
        seen.append(rows)
        return one_by_one(np.take_along_axis(rows, np.argsort(np.abs(rows), axis=1), axis=1))

    sorted_tree = Tree(name="small ones first", add=by_magnitude)
    result = order_experiment([1.0, 1e-8, 2.0], orders=20, trees=[sorted_tree])
    assert seen[0].shape == (20, 3)
    assert seen[0].dtype == np.float32
    assert len({row.tobytes() for row in seen[0]}) > 1
    assert result.trees[0].distinct == 1


def test_one_order_has_no_spread() -> None:
    assert {(sums.distinct, sums.spread) for sums in order_experiment(orders=1).trees} == {(1, 0.0)}


def test_the_hand_calculation_is_done_in_a_thousand_orders() -> None:
    result = order_experiment()
    assert (result.orders, len(result.summands), sum(result.summands[100:])) == (1000, 102, 0.0)


def test_json_is_one_document_with_what_the_lab_measured() -> None:
    printed = CliRunner().invoke(command, ["--json", "--seed", "4", "--orders", "60"])
    document = json.loads(printed.stdout)
    measured = order_experiment(seed=4, orders=60)
    assert (document["schema"], document["version"]) == ("temp0/sums", 1)
    assert (document["seed"], document["orders"]) == (4, 60)
    assert document["summands"] == [
        {"value": 1e-8, "count": 100},
        {"value": 1.0, "count": 1},
        {"value": -1.0, "count": 1},
    ]
    assert [(tree["name"], tree["distinct"], tree["spread"]) for tree in document["trees"]] == [
        (sums.tree.name, sums.distinct, sums.spread) for sums in measured.trees
    ]
    assert [entry["tie"] for entry in document["formats"]] == [False, True, True]


def test_the_tables_show_every_tree_and_every_format() -> None:
    printed = CliRunner().invoke(command, ["--orders", "40"]).stdout
    for name in [tree.name for tree in TREES] + ["fp32", "fp16", "bf16"]:
        assert name in printed
    assert max(len(line) for line in printed.splitlines()) <= 80


@pytest.mark.parametrize("arguments", [["--orders", "0"], ["--seed", "-1"], ["--orders", "many"]])
def test_a_flag_that_cannot_be_right_is_a_usage_error(arguments: list[str]) -> None:
    assert CliRunner().invoke(command, arguments).exit_code == 2
